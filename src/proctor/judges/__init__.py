"""Accountable LLM judges: they send a language model a question with fenced material and count its votes.

Start at `base` (the contract) and `pool` (the judges of a run); `ask` requests one vote, `votes` counts them.
"""
