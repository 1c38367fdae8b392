"""The shell: options that commands share, their values, the console, and the registry of commands."""
