"""Agents behind an endpoint of OpenAI's API: chat completions and Responses.

Start with `agent`, which selects one of the two.
"""
