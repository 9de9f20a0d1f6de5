"""Reports on a terminal, with colours and live progress.

Start with `run`.
"""
