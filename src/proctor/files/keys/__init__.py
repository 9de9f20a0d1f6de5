"""Keys that no model of the format knows: what each one probably means, and which of them are errors.

Start with `unknown_keys`; `meaning` decides whether a key is misspelled, misplaced or a key of another tool.
"""
