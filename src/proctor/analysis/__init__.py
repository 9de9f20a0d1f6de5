"""What several runs say together: comparison, history, calibration of judges, sample sizes.

Each folder holds the computation and its text; `stats` holds the mathematics.
"""
