"""Runs from OpenTelemetry traces: receive, match with cases, score.

Start with `score`.
"""
