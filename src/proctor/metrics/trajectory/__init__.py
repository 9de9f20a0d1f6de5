"""Metrics of the tool calls of each turn, compared with the expected calls.

Start with `base`, the base class, or `tool_trajectory`, the format's own metric. `call_matching` defines when calls are the same,
and `alignment` explains how two lists of calls differ.
"""
