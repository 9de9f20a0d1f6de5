"""Runs in a store: list, find, load, export and prune them, and look up their cases.

Start with `queries`; `lookup` finds one case of a run.
"""
