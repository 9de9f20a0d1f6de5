"""Comparing two runs: pairing of cases, significance, the outcome, interim looks, baselines.

`compare_runs` compares two runs of a store: start there. `compare_cases` tests their cases and decides the outcome.
"""
