"""A unit converter judged by metrics of our own."""

from . import agent as agent
