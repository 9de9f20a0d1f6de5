"""Everything that is decided before the first call of the agent, and every configuration error.

Start with `plan`, which holds the cases, criteria and options of a run.
"""
