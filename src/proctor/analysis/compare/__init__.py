"""Comparing two runs: pairing of cases, significance, the outcome, interim looks, baselines.

Start with `compare_runs`, then `compare`.
"""
