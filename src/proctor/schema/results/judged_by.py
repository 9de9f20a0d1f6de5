"""The judge that gave the verdicts of a metric."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """The judge of a metric: a different model or prompt is a different judge."""

    metric: str
    model: str
    """The requested model name."""
    prompt: str
    """The hash of what it was told."""
