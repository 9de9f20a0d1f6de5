"""The commands about stored runs: `show`, `runs`, `compare`, `history`, `export`, `import` and others.

One module per command.
"""
