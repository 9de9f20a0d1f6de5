"""View models: the data of each page as pydantic models, for the server and for the single-file report.

A module named `load_…` reads a page from a store or from files; the others contain the models and build them from results.
"""
