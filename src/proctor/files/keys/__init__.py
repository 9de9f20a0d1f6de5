"""Unknown and duplicate keys: what each one probably means, and which of them are errors.

Start with `key_findings`; `unknown_key_meaning` decides whether a key is misspelled, misplaced or a key of another tool.
"""
