"""Stores of runs.

Start in `base.py`, the contract; `open.py` opens a store by its URL. `sql/` has the tables, `sqlite/` (the default store) and
`postgres/` the databases that they are in.
"""
