"""The built-in stores by the scheme of their URL: each entry is called with the URL and returns a `Store`."""

STORES: dict[str, str] = {
    "sqlite": "proctor.stores.sqlite.file:open_sqlite_store",
    "postgres": "proctor.stores.postgres.server:open_postgres_store",
    "postgresql": "proctor.stores.postgres.server:open_postgres_store",
    "memory": "proctor.stores.sqlite.file:open_sqlite_store",
}
