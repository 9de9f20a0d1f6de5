"""Secrets, kept out of what is written down about a run: its command line, the URLs in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

HIDDEN = "***"

_WORD = r"(?:api[-_]?key|key|token|secret|password|passwd|pwd|credentials?|auth|authorization|cookie)"
_NAME = rf"(?<![\w.-])-{{0,2}}(?:[A-Z0-9]+[-_.])*{_WORD}"  # its last word says that it is secret
_OPTION = re.compile(rf"--?(?:[A-Z0-9]+[-_.])*{_WORD}", re.IGNORECASE)
_ASSIGNED = re.compile(rf"({_NAME}\s*[=:]\s*)(?:(?:bearer|basic|token)\s+)?[^\s&;,'\"]+", re.IGNORECASE)
_USER_INFO = re.compile(r"(\w[\w+.-]*://)[^/@\s]+@")
_KNOWN = re.compile(
    r"\b(?:(?:sk|pk|rk|gh[opsu]|xox[abp])[-_](?=[\w-]*\d)[\w-]{12,}|AIza[\w-]{20,}|AKIA[A-Z0-9]{12,}|eyJ[\w-]{10,}\.[\w.-]+)"
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
