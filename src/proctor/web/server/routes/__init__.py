"""Our own API, one module a subject; each has a `router`."""

ROUTES = (
    "eval_sets",
    "eval_set_texts",
    "chat",
    "about",
    "runs",
    "cases",
    "case",
    "labels",
    "judges",
    "bless",
    "live",
    "start",
    "compare",
    "history",
)
"""The modules of this package whose routes are served under `/api`."""
