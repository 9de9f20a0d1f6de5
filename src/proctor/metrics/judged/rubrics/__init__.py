"""Metrics that grade by rubrics with an LLM judge.

Start with `base`, which asks and counts; the other modules say which rubrics apply to what.
"""
