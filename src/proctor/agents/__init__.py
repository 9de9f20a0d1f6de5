"""Agents under test: the contract and one adapter for each kind of agent.

Start at `base` (the contract), `load` (an AGENT string) and `adapt` (an object). `adk`, `frameworks`, `process` and
`remote` contain the adapters.
"""
