"""The data of a case's page: its trials, turns, scores, judges and spans.

Start with `case`; `load` reads it from a store.
"""
