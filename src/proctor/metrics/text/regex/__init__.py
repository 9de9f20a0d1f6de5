"""The metric `regex_match`, and the limits that keep a pattern from running without end.

Start with `regex_match`.
"""
