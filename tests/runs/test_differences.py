"""Matching of the cases of a plan and of a run: by set and id, and duplicates by their order."""

from collections import defaultdict, deque
from collections.abc import Sequence
from itertools import chain

from hypothesis import given, strategies as st

from proctor.runs.resume_changes import _PlannedCases
from proctor.schema.results.manifest import PlannedCase

names = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("12345")), max_size=12)


def planned(found: Sequence[tuple[str, str]]) -> list[PlannedCase]:
    return [PlannedCase(position, *name, "hash", "place") for position, name in enumerate(found)]


@given(names, names)
def test_the_nth_of_a_name_is_the_nth_of_that_name(
    run: list[tuple[str, str]], plan: list[tuple[str, str]]
) -> None:
    wanted: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)
    for position, name in enumerate(run):
        wanted[name].append(position)
    expected = [wanted[name].popleft() if wanted[name] else None for name in plan]
    there = _PlannedCases(iter(planned(run)))
    found = [there.take(case) for case in planned(plan)]
    assert [case.position if case else None for case in found] == expected
    assert sorted(case.position for case in there.left()) == sorted(chain(*wanted.values()))
    assert there.count == len(run)


def test_cases_that_come_in_the_runs_own_order_are_not_kept() -> None:
    read = []

    def reading() -> object:
        for case in planned([("a", str(number)) for number in range(100)]):
            read.append(case.position)
            yield case

    there = _PlannedCases(reading())  # type: ignore[arg-type]  # an iterator of cases
    for number, case in enumerate(planned([("a", str(number)) for number in range(50)])):
        assert there.take(case) == case
        assert read == list(range(number + 1))
    assert len(there.left()) == 50
