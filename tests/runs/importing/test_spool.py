"""Runs spooled until their start: any number of cases, unchanged, with a message when the disk is full."""

import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from proctor.runs.importing.spool import RunSpool, Spool
from proctor.schema.results.manifest import PlannedCase
from proctor.schema.results.run_result import TrialResult
from proctor.stores.base import Record, TrialRecord, VerdictRecord
from tests.stores.sample_runs import records, shown

ANY_TEXT = st.text(st.characters(codec=None), max_size=20)


@given(st.lists(st.lists(st.tuples(ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT), max_size=5), max_size=4))
def test_cases_come_back_as_they_were_and_in_order(runs: list[list[tuple[str, str, str, str]]]) -> None:
    with Spool() as spool:
        aside = []
        for cases in runs:
            aside.append(RunSpool(spool))
            for position, case in enumerate(cases):
                aside[-1].add(PlannedCase(position, *case), [])
        for _ in range(2):
            found = [list(one.planned()) for one in aside]
            assert found == [[PlannedCase(at, *case) for at, case in enumerate(cases)] for cases in runs]
        assert [list(one.records()) for one in aside] == [[[] for _ in cases] for cases in runs]


def record_content(record: Record) -> object:
    """Return the whole content of a record."""
    return shown(record.result) if isinstance(record, VerdictRecord) else record


def aside(position: int, of_case: list[Record]) -> list[Record]:
    """Records as they are put aside: the verdict is that on the last attempt, at its place."""
    trials = [record for record in of_case if isinstance(record, TrialRecord)]
    for record in of_case:
        if isinstance(record, VerdictRecord):
            (trial,), last = record.result.trials, trials[-1]
            record.result.place = f"file:{position}"
            record.result.trials = [
                TrialResult(0, trial.outcome, evidence=last.evidence, attempt=last.attempt)
            ]
    return of_case


def test_records_of_a_case_are_read_back_unchanged() -> None:
    """Evidence with line ends and brackets in it, several attempts, a case of which nothing is known."""
    odd = TrialRecord(1, 0, 0, b'{"eval_set_id": "basics",\n"eval_id": "case_1"}\n[[', failed=True)
    cases = [records(0, value=0.1), [odd, *records(1, attempt=1)], [], records(3, size=3000)]
    with Spool() as spool:
        run = RunSpool(spool)
        for position, of_case in enumerate(cases):
            case = PlannedCase(position, "basics", f"case_{position}", "", f"file:{position}")
            run.add(case, aside(position, of_case))
        found = list(run.records())
    assert [[record_content(one) for one in of_case] for of_case in found] == [
        [record_content(one) for one in of_case] for of_case in cases
    ]


@pytest.mark.nightly
@pytest.mark.slow  # measures memory
def test_thirty_thousand_cases_take_little_more_than_one_mebibyte() -> None:
    tracemalloc.start()
    try:
        with Spool() as spool:
            run = RunSpool(spool)
            for number in range(30_000):
                place = f"set.evalset.json:{number}"
                run.add(PlannedCase(number, "set", f"case_{number}", f"{number:032x}", place), [])
            assert sum(1 for _ in run.planned()) == 30_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5 << 19


FULL = """
import resource, signal, sys
sys.path.insert(0, sys.argv[1])
from proctor.runs.importing.spool import RunSpool, Spool
from proctor.schema.results.manifest import PlannedCase
from proctor.errors import StoreError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))
with Spool() as spool:
    run = RunSpool(spool)
    try:
        for number in range(1_000_000):
            run.add(PlannedCase(number, "set", "case", "hash", "place"), [])
    except StoreError as error:
        print(error)
"""


@pytest.mark.slow
def test_full_disk_is_reported(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(root / "src")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (
        "cases cannot be put aside there (File too large). Make room, or name another folder" in done.stdout
    )
    assert done.stderr == ""
