"""The commands that evaluate: `eval`, `resume`, `score`, and the options that they share.

Start with `command`.
"""
