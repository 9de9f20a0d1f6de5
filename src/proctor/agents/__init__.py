"""Agents under test: the contract and one adapter for each kind of agent.

Start at `base` (the contract) and `load` (from an AGENT string or an object to an agent). `adk`, `frameworks`, `process` and
`remote` contain the adapters.
"""
