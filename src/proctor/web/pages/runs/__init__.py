"""The models of the list of runs and of one run's page.

Start with `run_page`; `load_run` reads the pages from a store, with a cache.
"""
