"""Search engines other than our own, behind one interface."""
