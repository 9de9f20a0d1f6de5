"""The commands that evaluate: `eval`, `resume`, `score`, and the code that they share.

Start with `command`.
"""
