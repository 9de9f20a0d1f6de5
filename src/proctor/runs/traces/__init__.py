"""Runs made of OpenTelemetry traces: receiving, matching with cases, scoring.

Start with `score`.
"""
