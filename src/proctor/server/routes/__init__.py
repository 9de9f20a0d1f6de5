"""Our own API, one module a subject; each has a `router`."""

ROUTES = ("about", "runs", "cases", "case", "labels")
"""The modules of this package whose routes are served under `/api`."""
