"""Reports are written case by case: a large run takes the memory of a small one."""

import gc
import tracemalloc
from collections.abc import Iterator, Sequence
from typing import Any, TextIO, cast, overload

import pytest

from proctor.common.registry import REPORTS
from proctor.reports.base import load_report
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult, SetSummary
from tests.reports.sample_runs import crashed, good, wrong_covers


class _Cases(Sequence[CaseResult]):
    """Cases that are created on access, as those of a stored run are read."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> CaseResult: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[CaseResult]: ...
    def __getitem__(self, index: int | slice) -> Any:
        raise AssertionError("a report reads from first to last")

    def __iter__(self) -> Iterator[CaseResult]:
        for number in range(self._count):
            made = wrong_covers() if number % 4 == 1 else crashed() if number % 4 == 2 else good("x", 2)
            made.eval_id = f"case_{number}"
            yield made

    def counts(self) -> dict[Outcome, int]:
        fourth = self._count // 4
        return {Outcome.PASSED: 2 * fourth, Outcome.FAILED: fourth, Outcome.ERROR: fourth}


class _Nowhere:
    """Takes text and keeps none."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        return len(text)

    def writelines(self, lines: Any) -> None:
        for _ in lines:
            pass

    def flush(self) -> None:
        pass


def peak_of(name: str, count: int) -> int:
    """The most memory, in bytes, that writing a run of `count` cases takes."""
    result = RunResult("agent", _Cases(count), [SetSummary("booking", "b.json", "config", count)], num_runs=2)
    report = load_report(name)
    gc.set_threshold(700, 10, 10)  # as Python begins: what dies in circles is not what is kept
    tracemalloc.start()
    report.write([result], cast("TextIO", _Nowhere()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


NEW = ["adk-rs", "github", "junit", "markdown"]
OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in ("csv", "json", "jsonl", "svg", "text")]


@pytest.mark.nightly(check=1)
@pytest.mark.slow  # measures memory
@pytest.mark.parametrize("name", [*NEW, *OTHERS])
def test_three_times_the_cases_take_no_more_memory(name: str) -> None:
    peak_of(name, 20)  # what is loaded once
    small, large = peak_of(name, 260), peak_of(name, 780)
    assert large < 1.2 * small + 100_000


def test_no_report_is_forgotten() -> None:
    # one reads a run of one set, two are the same by another name, and the page has a row of every case at hand
    twins = {"adk", "csv-raw", "md", "html"}
    assert {*REPORTS.names()} - twins == {*NEW, *(str(each.values[0]) for each in OTHERS)}
