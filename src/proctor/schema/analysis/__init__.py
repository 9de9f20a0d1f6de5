"""Results about several runs: comparisons, histories, calibrations, labels, baselines, power plans.

One model per module; `analysis` computes them.
"""
