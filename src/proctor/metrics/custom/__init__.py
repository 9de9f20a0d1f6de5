"""Metrics that users write as functions: registration, accepted signatures, results, and functions written for google-adk.

Start with `metric`, the decorator.
"""
