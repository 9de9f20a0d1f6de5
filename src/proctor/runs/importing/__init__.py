"""Runs made of results of other tools.

Start with `import_runs`.
"""
