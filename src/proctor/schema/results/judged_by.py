"""Who gave the verdicts of a metric."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """Who gave a metric's verdicts: another one of these is another judge."""

    metric: str
    model: str
    """As it was asked for."""
    prompt: str
    """The hash of what it was told."""
