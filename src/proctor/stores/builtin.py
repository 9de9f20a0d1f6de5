"""The built-in stores by the scheme of their URL: each entry is called with the URL and returns a `Store`."""

STORES: dict[str, str] = {
    "sqlite": "proctor.stores.sqlite.file:open_store",
    "postgres": "proctor.stores.postgres.server:open_store",
    "postgresql": "proctor.stores.postgres.server:open_store",
    "memory": "proctor.stores.sqlite.file:open_store",
}
