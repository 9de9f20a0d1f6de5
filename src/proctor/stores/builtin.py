"""The stores of this room by the scheme of their URL: each is called with the URL and returns a `Store`."""

STORES: dict[str, str] = {
    "sqlite": "proctor.stores.sqlite:open_store",
    "memory": "proctor.stores.sqlite:open_store",
}
