"""Duplicate case ids in one set: refuse them, or give the later cases new ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.files.eval_sets.case_reader import MAX_REPORTED, Cases
from proctor.files.text.problems import Path_, Problem
from proctor.files.text.validation_messages import Finding


def rename_duplicates(ids: Sequence[str | None]) -> dict[int, str]:
    """Return new ids for the cases with a duplicate id: the second `x` becomes `x#2`, or the next free number."""
    used = set(ids)
    counts: dict[str, int] = {}
    renamed: dict[int, str] = {}
    for index, name in enumerate(ids):
        if name is None:  # a case that cannot be read
            continue
        counts[name] = counts.get(name, 0) + 1
        if counts[name] == 1:
            continue
        while f"{name}#{counts[name]}" in used:
            counts[name] += 1
        renamed[index] = f"{name}#{counts[name]}"
        used.add(renamed[index])
    return renamed


def duplicate_problems(cases: Cases, ids: Sequence[str | None], renamed: Mapping[int, str]) -> list[Problem]:
    """Return a problem for each case with a duplicate id: a warning with its new id, or an error if it has none."""
    first: dict[str, int] = {}
    duplicates: list[tuple[int, int]] = []  # a case, and the first one with its id
    for index, name in enumerate(ids):
        if name is not None and first.setdefault(name, index) != index and len(duplicates) < MAX_REPORTED:
            duplicates.append((index, first[name]))
    places = cases.problems([(before, [Finding((cases.id_key(before),), "")]) for _, before in duplicates])
    findings = [
        (index, [_finding((cases.id_key(index),), str(ids[index]), place, renamed.get(index))])
        for (index, _), place in zip(duplicates, places, strict=True)
    ]
    return cases.problems(findings, "warning" if renamed else "error")


def _finding(path: Path_, name: str, first: Problem, new_id: str | None) -> Finding:
    message = f"the id {name!r} is already used by the case at {first.line}:{first.column}"
    if new_id is not None:
        return Finding(path, f"{message}; it runs as {new_id!r}")
    return Finding(path, message, "rename one, or run with --allow-duplicate-ids")
