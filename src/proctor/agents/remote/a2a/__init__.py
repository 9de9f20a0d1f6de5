"""Agents behind the A2A protocol, in each of its versions.

Start with `agent`; `protocol` reads the agent card and converts between the versions.
"""
