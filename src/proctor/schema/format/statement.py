"""What a case states for a metric."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Statement"]


class Statement(IntEnum):
    """The strongest statement that a metric finds in a case."""

    NONE = 0
    NEGATIVE = 1
    """An agent that does nothing satisfies it."""
    POSITIVE = 2
