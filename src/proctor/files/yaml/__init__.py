"""Eval sets in YAML: parsing, the short forms of cases, turns and calls, and writing.

Start with `cases`, which converts a document to cases; `nodes` is the tree with positions.
"""
