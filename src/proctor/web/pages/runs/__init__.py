"""The data of the list of runs and of one run's page.

Start with `run`; `load` reads it from a store.
"""
