"""The shell: options that commands share, the console, and the registry of commands."""
