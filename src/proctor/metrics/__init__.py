"""Metrics: what is measured of a trial, and how a criterion configures it.

`base` holds the contract and `builtin` the table of names. Each metric is one module: `trajectory/`, `expectations/` and `rules/`
measure tool calls, `text/` and `structure/` answers, `judged/` asks LLM judges, `custom/` calls functions of users.
"""
