"""Runs in a store: list, find, load, export and prune them, look up their cases, and record failed attempts.

Start with `queries`; `lookup` finds one case of a run.
"""
