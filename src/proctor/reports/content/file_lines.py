"""The lines of a file, as its line ends part them."""

from __future__ import annotations

__all__ = ["lines_of"]


def lines_of(text: str) -> list[str]:
    """Return the lines of a file: only line ends part them, not what Unicode takes for one (U+2028)."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]
