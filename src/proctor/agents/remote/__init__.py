"""Agents that live elsewhere and are reached by HTTP: one client, and one file per protocol."""
