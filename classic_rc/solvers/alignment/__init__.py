"""The alignment-ilp solver: alignment by integer programming."""
