"""Keys that stand twice in one object: readers take the last one without a word."""

from __future__ import annotations

import json
from typing import Any

from proctor.files.base import Problem, SourceText
from proctor.files.documents import Document, JsonDocument

QUICK = 4 << 20
"""Bytes up to which every run looks for them; it nearly doubles the time of reading. `check` always looks."""


def doubled_keys(source: SourceText) -> list[Problem]:
    """Warnings for keys that stand twice in one object: readers take the last one without a word."""
    if not _has_doubled_keys(source.text):
        return []
    from proctor.files.scan import scan

    return [problem for problem in scan(source).problems if "twice" in problem.message]


def stated_twice(document: Document) -> list[Problem]:
    """The same for a document that was read without looking for them (YAML refuses them)."""
    if document.warnings or not isinstance(document, JsonDocument):  # then it was looked at already
        return []
    return doubled_keys(document.source)


def _has_doubled_keys(text: str) -> bool:
    doubled = False

    def notice(pairs: list[tuple[str, Any]]) -> None:
        nonlocal doubled
        doubled = doubled or len({key for key, _ in pairs}) < len(pairs)

    try:
        json.loads(text, object_pairs_hook=notice)
    except ValueError:  # comments: the scan has looked already
        return True
    return doubled
