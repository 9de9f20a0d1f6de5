"""The routes of Proctor's own API: one module per subject, each with a `router`."""

ROUTES = (
    "eval_sets",
    "chat",
    "about",
    "runs",
    "labels",
    "manage_runs",
    "bless",
    "live_runs",
    "analysis",
    "audits",
)
"""The modules of this package; the server adds their routes under `/api`."""
