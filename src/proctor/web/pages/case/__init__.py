"""The models of a case's page: its trials, turns, scores, LLM judges and spans.

Start with `case`; `load_case` reads it from a store.
"""
