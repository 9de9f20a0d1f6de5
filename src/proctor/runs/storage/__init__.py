"""Runs in a store: listing, finding, loading, exporting and pruning them, and the cases that failed in them.

Start with `queries`; `lookup` finds one case of a run.
"""
