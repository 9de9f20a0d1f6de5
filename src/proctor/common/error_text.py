"""Texts of exceptions and foreign objects, even if their `__str__` or `__repr__` raises."""

from __future__ import annotations

import traceback

from proctor.common.safe_text import cut_text

_LONGEST = 2_000
_LONGEST_TRACEBACK = 50_000


def safe_repr(value: object, limit: int = 120) -> str:
    """Describe `value` as `type repr`, cut to `limit` characters; never raises, even if its `__repr__` does."""
    kind = type(value).__name__
    try:
        text = repr(value)
    except BaseException as error:  # noqa: BLE001 - a foreign repr may raise anything
        return f"{kind} (its repr raised {type(error).__name__})"
    text = cut_text(text, limit)
    return text if text.startswith((kind, "<")) else f"{kind} {text}"


def safe_str(error: BaseException) -> str:
    """Return the text of an exception, cut to 2,000 characters; never raises."""
    try:
        text = str(error)
    except BaseException as inner:  # noqa: BLE001 - a foreign __str__ may raise anything
        return f"(its text cannot be read: str() raised {type(inner).__name__})"
    if isinstance(error, BaseExceptionGroup):
        inside = "; ".join(f"{type(e).__name__}: {safe_str(e)}" for e in error.exceptions[:5])
        text = f"{text}: {inside}"
    return cut_text(text, _LONGEST)


def traceback_text(error: BaseException, *, limit: int = 20) -> str:
    """Return the last `limit` frames of an exception's traceback as text; never raises."""
    try:
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=-limit))
        return cut_text(text, _LONGEST_TRACEBACK)
    except BaseException:  # noqa: BLE001 - formatting reads foreign code, too
        frames = traceback.format_tb(error.__traceback__, limit=-limit)
        return "".join([*frames, type(error).__name__])
