"""Memory sizes as users write them: `512MB`, `2GB`."""

from __future__ import annotations

import re

EXPECTED = "a size of at least 64MB, such as 512MB or 2GB"

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(K|M|G|T)?(?:i?B)?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_LEAST = 64 * 2**20


def read_size(size: object) -> int | None:
    """Return a size in bytes, from a whole number or a text with a unit (1 KB is 1,024 bytes); `None` if it is not valid.

    A size below 64 MB is not valid: Python does not start with less.
    """
    if isinstance(size, bool) or not isinstance(size, int | str):
        return None
    match = _SIZE.fullmatch(str(size).strip())
    if match is None:
        return None
    count = float(match[1]) * _FACTORS[(match[2] or "").lower()]
    return int(count) if _LEAST <= count < 2**62 else None


def size_text(size: int) -> str:
    """Return a number of bytes as text: `2 GB`."""
    for unit, factor in (("TB", 2**40), ("GB", 2**30), ("MB", 2**20)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size:,} bytes"
