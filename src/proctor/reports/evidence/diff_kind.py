"""How two sides of a difference relate."""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """How the two sides of one line relate."""

    SAME = "same"
    DIFFERS = "differs"
    MISSING = "missing"
    """Expected, and not there."""
    EXTRA = "extra"
    """There, and not expected."""
    MOVED = "moved"
