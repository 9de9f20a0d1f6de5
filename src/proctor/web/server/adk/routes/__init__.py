"""The routes of the ADK-compatible API: one module per subject, each with a `router`; `adk_router()` has all of them."""

from __future__ import annotations

from importlib import import_module

from fastapi import APIRouter

SUBJECTS = (
    "app_info",
    "sessions",
    "run",
    "eval_sets",
    "evaluating",
    "artifacts",
    "traces",
    "dev_ui_files",
    "unsupported",
)


def adk_router() -> APIRouter:
    """Return the routes of the ADK-compatible API, without a prefix, because clients use google-adk's own paths."""
    router = APIRouter()
    for name in SUBJECTS:
        router.include_router(import_module(f"{__name__}.{name}").router)
    return router
