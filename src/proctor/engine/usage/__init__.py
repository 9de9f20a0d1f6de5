"""Tokens and dollars of agents and models, and the budget that ends a run.

Start with `budget`.
"""
