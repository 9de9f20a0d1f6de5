"""The store in a PostgreSQL database, for teams and for runs of several machines. Start with `server`; the tables are in `sql/`."""
