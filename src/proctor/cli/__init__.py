"""The command-line interface: one module per command, imported when the command runs."""
