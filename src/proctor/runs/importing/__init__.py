"""Import of result files from other tools as runs.

Start with `import_runs`.
"""
