"""The commands for eval sets: `check`, `convert`, `record`, `bless`, `eval-set` and others.

One module per command.
"""
