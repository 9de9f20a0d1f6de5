"""As `google.adk.evaluation.constants`."""

__all__ = ["DEFAULT_LIVE_TIMEOUT_SECONDS", "MISSING_EVAL_DEPENDENCIES_MESSAGE"]

DEFAULT_LIVE_TIMEOUT_SECONDS = 300
"""Seconds that a turn in live mode may take; Proctor has no live mode."""

MISSING_EVAL_DEPENDENCIES_MESSAGE = (
    'Google-adk\'s own evaluation needs its extra "eval": pip install "google-adk[eval]"'
)
