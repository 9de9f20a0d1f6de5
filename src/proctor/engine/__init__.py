"""The engine: plan, run, score, decide."""
