"""Agents behind an endpoint of OpenAI's shape: chat completions and Responses.

Start with `agent`, which chooses between the two.
"""
