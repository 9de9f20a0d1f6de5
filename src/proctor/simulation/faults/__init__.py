"""Faults of played users that rules can tell: one module for each kind, pure functions over a finished conversation."""
