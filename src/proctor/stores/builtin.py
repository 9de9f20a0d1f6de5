"""The built-in stores by the scheme of their URL: each entry is called with the URL and returns a `Store`."""

STORES: dict[str, str] = {
    "sqlite": "proctor.stores.sqlite.store:open_store",
    "memory": "proctor.stores.sqlite.store:open_store",
}
