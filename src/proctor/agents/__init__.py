"""Agents under test: the contract, and one file per kind."""
