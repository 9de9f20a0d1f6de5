"""Dice and primes (the folder layout that google-adk expects of an agent)."""

from . import agent as agent
