"""Metrics that ask a language model: one file each, its prompt beside it."""
