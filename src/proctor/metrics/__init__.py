"""Metrics: the contract, and one file per metric."""
