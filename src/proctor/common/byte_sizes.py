"""Sizes of memory as people write them: `512MB`, `2GB`."""

from __future__ import annotations

import re

EXPECTED = "a size of at least 64MB, such as 512MB or 2GB"

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(K|M|G|T)?(?:i?B)?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_LEAST = 64 * 2**20


def read_size(size: object) -> int | None:
    """Return the bytes that `size` means: a whole number, or text with a unit (1 KB are 1,024); `None`: it is no size.

    Less than 64 MB is no size either: no Python starts in it.
    """
    if isinstance(size, bool) or not isinstance(size, int | str):
        return None
    found = _SIZE.fullmatch(str(size).strip())
    if found is None:
        return None
    count = float(found[1]) * _FACTORS[(found[2] or "").lower()]
    return int(count) if _LEAST <= count < 2**62 else None


def size_text(size: int) -> str:
    """Return so many bytes as text: `2 GB`."""
    for unit, factor in (("TB", 2**40), ("GB", 2**30), ("MB", 2**20)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size:,} bytes"
