"""The store in one SQLite file: its schema, its writer thread, its readers.

Start with `store`; `connection` migrates files of older versions, and `leases` keeps two runs from writing the same cases.
"""
