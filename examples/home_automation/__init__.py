"""A house to talk to (the folder layout that google-adk expects of an agent)."""

from . import agent as agent
