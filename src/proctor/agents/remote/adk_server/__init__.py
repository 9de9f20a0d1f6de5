"""Agents behind an ADK server (`adk+http:`).

Start with `agent`; `sessions` creates and reads the sessions of the server.
"""
