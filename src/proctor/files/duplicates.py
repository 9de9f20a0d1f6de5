"""Cases of one set with the same id: refused with both places, or told apart by new ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.files.base import Place, Problem
from proctor.files.cases import SAID, Cases
from proctor.files.explain import Finding


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
    problems: list[Problem] = []
    for index, name in enumerate(ids):
        if name is None or first.setdefault(name, index) == index or len(problems) >= SAID:
            continue
        before = _place_of_id(cases, first[name])
        message = f"the id {name!r} is already that of the case at {before.line}:{before.column}"
        if index in renamed:
            finding = Finding(("eval_id",), f"{message}; it runs as {renamed[index]!r}")
            problems += cases.problems(index, [finding], "warning")
        else:
            finding = Finding(("eval_id",), message, "rename one, or run with --allow-duplicate-ids")
            problems += cases.problems(index, [finding])
    return problems


def _place_of_id(cases: Cases, index: int) -> Place:
    problem = cases.problems(index, [Finding(("eval_id",), "")])[0]
    return Place(problem.line, problem.column)
