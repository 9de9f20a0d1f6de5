"""Runs that are kept, from Python: where, which there are, loading one, forgetting some."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.errors import SetupError, StoreError, UnknownNameError
from proctor.runs.storage.open import store_url
from proctor.schema.results.manifest import RunState

SET: dict[str, Any] = {
    "eval_set_id": "greetings",
    "eval_cases": [
        {
            "eval_id": name,
            "conversation": [
                {"user_content": {"parts": [{"text": name}]}, "final_response": {"parts": [{"text": answer}]}}
            ],
        }
        for name, answer in (("hello", "You sent hello."), ("bye", "So long."))
    ],
}
CONFIG = {"criteria": {"response_match_score": 0.9}}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with three runs, all of one set: failed, passed, failed."""
    path = tmp_path / "runs.sqlite3"
    for only in (None, {"greetings": ["hello"]}, None):
        proctor.evaluate_sync(lambda text: f"You sent {text}.", SET, config=CONFIG, store=path, only=only)
    return path


def outcomes(**wanted: Any) -> list[str | None]:
    return [run.summary.outcome and run.summary.outcome.value for run in proctor.list_runs(**wanted)]


def test_runs_are_listed_newest_first(store: Path) -> None:
    assert outcomes(store=store) == ["failed", "passed", "failed"]
    times = [run.created_at for run in proctor.list_runs(store)]
    assert times == sorted(times, reverse=True)


NOW = datetime.now(tz=UTC)


@pytest.mark.nightly(check=4)
@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        ({"limit": 2}, 2),
        ({"outcome": "passed"}, 1),
        ({"outcome": proctor.Outcome.FAILED, "limit": 1}, 1),
        ({"state": "finished"}, 3),
        ({"state": RunState.UNFINISHED}, 0),
        ({"limit": 0}, 0),
        ({"eval_set": "greet*"}, 3),
        ({"eval_set": "partings"}, 0),
        ({"agent": "*"}, 3),
        ({"agent": "nobody"}, 0),
        ({"since": NOW - timedelta(hours=1)}, 3),
        ({"since": NOW + timedelta(days=1)}, 0),
        ({"until": NOW - timedelta(hours=1)}, 0),
    ],
    ids=[
        "limit", "passed", "failed and limit", "finished", "unfinished", "limit 0", "set", "no such set", "agent",
        "no such agent", "since an hour ago", "since tomorrow", "until an hour ago",
    ],
)  # fmt: skip
def test_a_list_can_be_narrowed(store: Path, wanted: dict[str, Any], count: int) -> None:
    assert len(proctor.list_runs(store, **wanted)) == count


SLIPS: list[tuple[dict[str, Any], str]] = [
    (
        {"outcome": "pased"},
        "No outcome named 'pased'. Did you mean 'passed'? Known: passed, failed, error, inconclusive, not_run.",
    ),
    ({"outcome": "informational"}, "No outcome named 'informational'."),
    ({"outcome": ""}, "No outcome named ''."),
    (
        {"state": "finish"},
        "No state named 'finish'. Did you mean 'finished'? Known: running, unfinished, finished",
    ),
    ({"limit": -1}, "limit must be at least 0, got -1"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("wanted", "message"), SLIPS, ids=str)
def test_a_slip_is_named_with_what_there_is(store: Path, wanted: dict[str, Any], message: str) -> None:
    with pytest.raises(SetupError) as refused:
        proctor.list_runs(store, **wanted)
    assert str(refused.value).startswith(message)


def test_where_nothing_is_kept_there_are_no_runs(tmp_path: Path) -> None:
    assert proctor.list_runs(tmp_path / "none.sqlite3") == []
    with pytest.raises(StoreError, match="no runs yet"):
        proctor.load_run(store=tmp_path / "none.sqlite3")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_run_is_loaded_unchanged(store: Path) -> None:
    run_id = proctor.list_runs(store)[0].run_id
    for name in ("latest", run_id, run_id[:6]):
        run = proctor.load_run(name, store)
        assert run.run_id == run_id
        assert [case.outcome.value for case in run.cases] == ["passed", "failed"]
        assert run.case("bye").trials[0].trial is not None
    with pytest.raises(UnknownNameError, match="nothing"):
        proctor.load_run("nothing", store)


def test_a_store_stays_open_for_several(store: Path) -> None:
    opened = proctor.open_store(store)
    assert len(proctor.list_runs(opened)) == 3
    assert proctor.load_run(store=opened).cases[0].passed
    opened.close()


def test_former_names_of_a_scoring_are_accepted(store: Path) -> None:
    run = proctor.load_run(store=store, judging=1)  # type: ignore[call-arg]  # a former name, which only works at run time
    assert (run.judging_duration, run.scoring_duration) == (None, None)
    with pytest.raises(UnknownNameError, match="has no scoring 2"):
        proctor.load_run(store=store, judging=2)  # type: ignore[call-arg]  # a former name, which only works at run time
    with pytest.raises(TypeError, match="'judging' and 'scoring', of which it is the former name"):
        proctor.load_run(store=store, judging=1, scoring=1)  # type: ignore[call-arg]  # a former name, which only works at run time
    record = proctor.list_runs(store)[0]
    assert (record.judgings, record.judging) == (record.scorings, record.scoring) == (1, 1)


@pytest.mark.slow
def test_each_scoring_can_be_loaded(store: Path) -> None:
    again = proctor.rescore_sync("latest", store=store, config={"criteria": {"response_match_score": 0.0001}})
    assert not again.passed  # none of its words was in the answer
    assert proctor.load_run(store=store, scoring=1).cases[1].metrics["response_match_score"].threshold == 0.9
    assert proctor.load_run(store=store).cases[1].metrics["response_match_score"].threshold == 0.0001


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ({"keep": 1}, 1),
        ({"keep": 5}, 3),
        ({"keep": 0}, 0),
        ({"older_than": timedelta(hours=1)}, 3),
        ({"older_than": timedelta(0)}, 0),
        ({"older_than": timedelta(0), "keep": 2}, 2),
        ({"runs": ["latest"]}, 2),
        ({"keep": 0, "dry_run": True}, 3),
    ],
    ids=str,
)
def test_what_is_forgotten(store: Path, asked: dict[str, Any], left: int) -> None:
    time.sleep(0.01)
    gone = proctor.prune_runs(store, **asked)
    assert len(proctor.list_runs(store)) == left
    assert len(gone) == (3 - left if "dry_run" not in asked else 3)


@pytest.mark.slow
def test_nothing_is_forgotten_by_accident(store: Path) -> None:
    with pytest.raises(SetupError, match="no selection of the runs to delete"):
        proctor.prune_runs(store)
    assert len(proctor.list_runs(store)) == 3


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("", "{root}/.proctor/store.sqlite3"),
        ('store = "memory:"', "memory:"),
        ('store = "kept.sqlite3"', "{root}/kept.sqlite3"),
        ('store = "sqlite:///kept.sqlite3"', "sqlite:///{root}/kept.sqlite3"),
        ('store = "sqlite:////srv/kept.sqlite3"', "sqlite:////srv/kept.sqlite3"),
        ('store = ["adk:agents", "kept.sqlite3"]', "{root}/kept.sqlite3"),
        ('store = "adk:agents"', "{root}/.proctor/store.sqlite3"),
    ],
)
def test_where_runs_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str, expected: str
) -> None:
    (tmp_path / "proctor.toml").write_text(settings)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert store_url() == expected.format(root=tmp_path)


def test_a_place_for_results_holds_no_runs(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="and no runs"):
        proctor.list_runs(f"adk:{tmp_path}")
