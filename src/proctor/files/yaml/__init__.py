"""Eval sets in YAML: parsing, the short forms of cases, turns and calls, and writing.

Start with `cases`, which turns a document into cases; `nodes` is the tree with positions.
"""
