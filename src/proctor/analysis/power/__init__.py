"""How many cases and trials a run needs to detect a difference.

Start with `plan`.
"""
