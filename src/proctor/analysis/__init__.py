"""Results that concern several runs: comparison, history, calibration of judges, sample sizes.

Each folder holds the computation and its text; `stats` holds the mathematics.
"""
