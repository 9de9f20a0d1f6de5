"""The tables of a store, in SQL that SQLite and PostgreSQL both understand: its schema, its writer thread, its readers.

Start with `store`; `database` is the contract that each database fulfils, and `leases` keep two processes from writing the
same run.
"""
