"""Metrics of the final answer's text: one file for each, and what they share."""
