"""Stores of runs. Start in `base.py`, the contract; `open.py` opens a store by its URL, `sqlite/` is the default store."""
