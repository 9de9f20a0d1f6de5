"""Agents behind the A2A protocol, in each of its versions.

Start with `agent`; `versions` knows how the versions differ.
"""
