"""Secrets, kept out of what is written down about a run: its command line, the URLs in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

HIDDEN = "***"

_NAME = r"(?:api[-_]?key|key|token|secret|passw(?:or)?d|credentials?|auth(?:orization)?|bearer|cookie)"
_OPTION = re.compile(rf"--?[\w-]*{_NAME}[\w-]*", re.IGNORECASE)
_ASSIGNED = re.compile(rf"([\w.-]*{_NAME}[\w.-]*\s*[=:]\s*)\S+", re.IGNORECASE)
_USER_INFO = re.compile(r"(\w[\w+.-]*://)[^/@\s]+@")
_KNOWN = re.compile(
    r"\b(?:sk|pk|rk|gh[opsu]|xox[abp])[-_][\w-]{12,}|\bAIza[\w-]{20,}|\bAKIA[A-Z0-9]{12,}|\beyJ[\w-]{10,}\.[\w.-]+"
)


def redacted(arguments: Sequence[str]) -> list[str]:
    """Return a command line without its secrets: values of options that are named like one, keys, passwords in URLs."""
    return list(_redacted(arguments))


def _redacted(arguments: Sequence[str]) -> Iterator[str]:
    hide_next = False
    for argument in arguments:
        if hide_next and not argument.startswith("-"):
            hide_next = False
            yield HIDDEN
            continue
        hide_next = _OPTION.fullmatch(argument) is not None
        yield redacted_text(argument)


def redacted_text(text: str) -> str:
    """Return `text` with what looks like a secret hidden."""
    text = _USER_INFO.sub(rf"\1{HIDDEN}@", text)
    text = _ASSIGNED.sub(rf"\1{HIDDEN}", text)
    return _KNOWN.sub(HIDDEN, text)
