"""The command line: a file a sub-command, nothing heavy imported before one runs."""
