"""The store in one SQLite file: its schema, its writer thread, its readers.

Start with `store`; `connection` migrates files of older versions, and `run_state` keeps two processes from writing the same cases.
"""
