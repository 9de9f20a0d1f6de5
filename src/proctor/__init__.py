"""Proctor evaluates AI agents."""
