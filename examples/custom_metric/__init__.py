"""A unit converter, scored by custom metrics."""

from . import agent as agent
