"""The routes of Proctor's own API: one module per subject, each with a `router`."""

ROUTES = (
    "eval_sets",
    "chat",
    "about",
    "runs",
    "run_cases",
    "bless",
    "active_runs",
    "start",
    "analysis",
)
"""The modules of this package; the server adds their routes under `/api`."""
