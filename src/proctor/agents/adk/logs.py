"""What google-adk logs about an agent that raised: the traceback, twice, which the trial's error has already."""

from __future__ import annotations

import logging
from functools import cache

_TOLD_TWICE = ("google_adk.google.adk.workflow._node_runner", "google_adk.google.adk.runners")


@cache
def say_it_once() -> None:
    """Keep these tracebacks off the terminal where nobody has set up logging; whoever has gets them as always."""
    for name in _TOLD_TWICE:
        logging.getLogger(name).addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    return not record.exc_info or logging.getLogger(record.name).hasHandlers()
