"""Doors in the shape of other tools: their names and signatures, over Proctor's engine and verdicts."""
