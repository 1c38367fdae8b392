"""The command line: one file per sub-command, with nothing heavy imported before one runs."""
