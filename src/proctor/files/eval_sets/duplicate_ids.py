"""Cases of one set with the same id: refused with both places, or told apart by new ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.files.eval_sets.case_reader import SAID, Cases
from proctor.files.text.problems import Path_, Problem
from proctor.files.text.validation_messages import Finding


def rename_duplicates(ids: Sequence[str | None]) -> dict[int, str]:
    """New ids for the cases whose id is taken: the second `x` becomes `x#2`, unless a case has that id already."""
    taken = set(ids)
    counts: dict[str, int] = {}
    renamed: dict[int, str] = {}
    for index, name in enumerate(ids):
        if name is None:  # a case that cannot be read
            continue
        counts[name] = counts.get(name, 0) + 1
        if counts[name] == 1:
            continue
        while f"{name}#{counts[name]}" in taken:
            counts[name] += 1
        renamed[index] = f"{name}#{counts[name]}"
        taken.add(renamed[index])
    return renamed


def duplicate_problems(cases: Cases, ids: Sequence[str | None], renamed: Mapping[int, str]) -> list[Problem]:
    """A problem for each case whose id is taken: a warning that says its new id, an error when it has none."""
    first: dict[str, int] = {}
    doubles: list[tuple[int, int]] = []  # a case, and the earlier one with its id
    for index, name in enumerate(ids):
        if name is not None and first.setdefault(name, index) != index and len(doubles) < SAID:
            doubles.append((index, first[name]))
    places = cases.problems([(before, [Finding((cases.id_key(before),), "")]) for _, before in doubles])
    found = [
        (index, [_finding((cases.id_key(index),), str(ids[index]), place, renamed.get(index))])
        for (index, _), place in zip(doubles, places, strict=True)
    ]
    return cases.problems(found, "warning" if renamed else "error")


def _finding(path: Path_, name: str, before: Problem, fresh: str | None) -> Finding:
    message = f"the id {name!r} is already that of the case at {before.line}:{before.column}"
    if fresh is not None:
        return Finding(path, f"{message}; it runs as {fresh!r}")
    return Finding(path, message, "rename one, or run with --allow-duplicate-ids")
