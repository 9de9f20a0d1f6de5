"""The version of Proctor. Reading it from the metadata of the installed package takes 10 ms."""

__version__ = "0.1.0"
