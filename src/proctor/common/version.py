"""The version, where all can see it at no cost: asking for that of the installed package takes 10 ms."""

__version__ = "0.1.0"
