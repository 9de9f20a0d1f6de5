"""Metrics and comparisons of answers that are JSON.

Start with `json_equal`, the metric.
"""
