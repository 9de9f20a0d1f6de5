"""Reports as plain lines, for logs and for terminals without colours.

Start with `run`.
"""
