"""A ticket router, and a scripted optimiser that overfits."""

from . import agent as agent
