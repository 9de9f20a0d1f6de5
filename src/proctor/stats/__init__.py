"""Statistics without a model of an evaluation: intervals, paired tests, the bootstrap, sample sizes, agreement.

Each module names the source of its method. `analysis` applies them to runs; start with `intervals`.
"""
