"""Metrics that grade by rubrics with an LLM judge.

Start with `base`, which calls the judge and counts; the other modules select the rubrics that apply.
"""
