"""The commands for stored runs: `show`, `runs`, `compare`, `history`, `export`, `import` and others.

One module per command.
"""
