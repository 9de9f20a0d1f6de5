"""The index queries over many runs agree with the full reads."""

from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.errors import StoreError, UnknownNameError
from proctor.runs.storage.open import open_store
from proctor.runs.storage.queries import RunFilter
from proctor.schema.results.run_result import CaseResult, Outcome
from proctor.stores.base import BriefVerdict, Store
from proctor.stores.sql.store import SqlStore
from proctor.web.pages.runs.load_run import runs_page
from proctor.web.pages.runs.selected_run import select_run

ODD = "a </script> \x1b é"


def eval_set(name: str) -> dict[str, Any]:
    cases = [
        {
            "eval_id": text,
            "conversation": [
                {"user_content": {"parts": [{"text": text}]}, "final_response": {"parts": [{"text": text}]}}
            ],
        }
        for text in ("right", "wrong", "break", ODD)
    ]
    return {"eval_set_id": name, "eval_cases": cases}


def answer(text: str) -> str:
    """Answer as the text requires."""
    if text == "break":
        raise RuntimeError("no answer")
    return "Pardon?" if text == "wrong" else text


def other(text: str) -> str:
    """Answer everything rightly."""
    return text


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite3"
    for name, agent, trials in (
        ("a", answer, 1),
        ("b", other, 2),
        ("a", answer, 2),
        ("a", other, 1),
        ("a", answer, 1),
    ):
        proctor.evaluate_sync(
            agent,
            eval_set(name),
            config={"criteria": {"response_match_score": 0.8}},
            num_runs=trials,
            store=path,
        )
    return path


@pytest.fixture
def opened(store: Path) -> Any:
    found = open_store(store)
    yield found
    found.close()


@pytest.mark.slow
def test_the_index_has_every_run_in_order_and_each_is_read_alone(opened: Store) -> None:
    runs = list(opened.runs())
    entries = opened.index()
    listed = [(one.run_id, one.created_at, one.agent, one.sets, one.complete) for one in entries]
    assert listed == [(run.run_id, run.created_at, run.agent, run.sets, True) for run in runs]
    assert [opened.record(one.run_id) for one in entries] == runs
    with pytest.raises(UnknownNameError):
        opened.record("nobody")


@pytest.mark.slow
def test_index_that_lacks_a_run_is_reported(opened: SqlStore) -> None:
    with opened._database.transaction() as raw:
        raw.execute("DELETE FROM runs WHERE seq = 2")
    with pytest.raises(StoreError, match="not all runs are there"):
        opened.index()


def _in_short(content_hash: str, case: CaseResult) -> BriefVerdict:
    trials = tuple(trial.outcome for trial in case.trials)
    metrics = {
        name: {
            "outcome": metric.outcome.value,
            **({"score": metric.score} if metric.score is not None else {}),
            **({"threshold": metric.threshold} if metric.threshold is not None else {}),
            **({} if metric.gate else {"gate": False}),
        }
        for name, metric in case.metrics.items()
    }
    reason = case.reason or case.missed
    return BriefVerdict(
        case.eval_set_id, case.eval_id, content_hash, case.place, case.outcome, trials, reason, metrics
    )


@pytest.mark.slow
def test_cases_in_short_are_as_at_length(opened: Store) -> None:
    wanted = {"outcome", "score", "threshold", "gate"}
    outcomes = set()
    for entry in opened.index():
        found = list(opened.briefly(entry.run_id))
        for one in found:
            one.metrics = {
                name: {k: v for k, v in row.items() if k in wanted} for name, row in one.metrics.items()
            }
            outcomes.add(one.outcome)
        assert found == [_in_short(*case) for case in opened.verdicts(entry.run_id)]
    assert {Outcome.PASSED, Outcome.FAILED, Outcome.ERROR} <= outcomes


@pytest.mark.slow
def test_changed_verdict_is_reported(opened: SqlStore) -> None:
    run_id = opened.index()[0].run_id
    with opened._database.transaction() as raw:
        raw.execute("UPDATE verdicts SET verdict = replace(verdict, 'passed', 'failed')")
    with pytest.raises(StoreError, match="damaged"):
        list(opened.briefly(run_id))


@pytest.mark.slow
@pytest.mark.nightly(check=3)
@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (RunFilter(), "43210"),
        (RunFilter(agent="other"), "31"),
        (RunFilter(eval_set="a"), "4320"),
        (RunFilter(outcome=[Outcome.PASSED]), "31"),
        (RunFilter(outcome=[Outcome.PASSED], eval_set="b"), "1"),
        (RunFilter(agent="nobody"), ""),
    ],
    ids=["all", "an agent", "a set", "an outcome", "an outcome and a set", "none"],
)
@pytest.mark.parametrize("limit", [1, 2, 5])
def test_pages_of_the_list_are_the_whole_list(
    opened: Store, wanted: RunFilter, expected: str, limit: int
) -> None:
    ids = [entry.run_id for entry in opened.index()][::-1]
    found, before = "", None
    while True:
        page = runs_page(opened, wanted, limit=limit, before=before)
        assert (len(page.items), page.total) == (min(limit, len(expected) - len(found)), 5)
        found += "".join(str(ids.index(row.run_id)) for row in page.items)
        before = page.next
        if before is None:
            break
    assert found == expected


@pytest.mark.slow
def test_a_page_has_the_trend_of_runs_beyond_it(opened: Store) -> None:
    (newest,) = runs_page(opened, RunFilter(), limit=1).items
    assert [(one.count, one.of) for one in newest.trend] == [(2, 4)] * 3
    (second,) = runs_page(opened, RunFilter(), limit=1, before=newest.run_id).items
    assert [(one.count, one.of) for one in second.trend] == [(4, 4)]


@pytest.mark.slow
def test_run_is_compared_with_the_previous_comparable_one(opened: Store) -> None:
    ids = [entry.run_id for entry in opened.index()][::-1]
    before = [select_run(opened, run_id).earlier for run_id in ids]
    assert [ids.index(one.run.run_id) if one else None for one in before] == [None, None, 0, None, 2]
