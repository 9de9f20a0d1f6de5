"""The scores of a case or a metric over many runs.

Start with `history`.
"""
