"""Metrics of structure: JSON Schema, declared tools, and what sub-agents said on the way."""
