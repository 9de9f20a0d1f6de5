"""What is given to a function of the Python API and cannot be what it takes is a configuration error, never a bare one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proctor as _proctor
from proctor.errors import SetupError, StoreError
from tests.cli.project import case, make_project

proctor: Any = _proctor
"""Untyped: a type checker refuses most of these calls."""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with one run."""
    monkeypatch.chdir(make_project(tmp_path, case("hello", "hello")))
    proctor.evaluate_sync("agent.py", "cases.evalset.json", store="s.sqlite3")
    return "s.sqlite3"


OF_A_RUN: dict[str, Callable[[Any, str], object]] = {
    "compare base": lambda run, store: proctor.compare_sync(run, "latest", store=store),
    "compare candidate": lambda run, store: proctor.compare_sync("latest", run, store=store),
    "load_run": proctor.load_run,
    "rescore": lambda run, store: proctor.rescore_sync(run, store=store),
    "plan": lambda run, store: proctor.plan_sync(run, store=store),
    "set_baseline": lambda run, store: proctor.set_baseline("main", run, store),
    "prune_runs": lambda run, store: proctor.prune_runs(store, runs=[run]),
    "export_run": lambda run, _: proctor.export_run(run, "json", "out.json"),
}


@pytest.mark.nightly(check=14)
@pytest.mark.parametrize("value", [None, 3, True, ["latest"]], ids=repr)
@pytest.mark.parametrize("function", OF_A_RUN.values(), ids=OF_A_RUN)
def test_what_names_no_run_is_refused(
    store: str, function: Callable[[Any, str], object], value: object
) -> None:
    with pytest.raises(SetupError, match=r"^run: expected .*, got (bool|int|list|NoneType) "):
        function(value, store)


OF_A_STORE: dict[str, Callable[[Any], object]] = {
    "evaluate": lambda store: proctor.evaluate_sync("agent.py", "cases.evalset.json", store=store),
    "load_run": lambda store: proctor.load_run(store=store),
    "rescore": lambda store: proctor.rescore_sync(store=store),
    "resume": lambda store: proctor.resume_sync(store=store),
    "compare": lambda store: proctor.compare_sync(store=store),
    "plan": lambda store: proctor.plan_sync(store=store),
    "list_runs": proctor.list_runs,
    "prune_runs": lambda store: proctor.prune_runs(store, keep=1),
    "open_store": proctor.open_store,
    "history": lambda store: proctor.history_sync(store=store),
    "set_baseline": lambda store: proctor.set_baseline("main", store=store),
    "list_baselines": proctor.list_baselines,
}


@pytest.mark.slow
@pytest.mark.nightly(check=7)
@pytest.mark.parametrize("value", [3, True, [], object, ""], ids=repr)
@pytest.mark.parametrize("function", OF_A_STORE.values(), ids=OF_A_STORE)
def test_invalid_store_is_refused(store: str, function: Callable[[Any], object], value: object) -> None:
    before = set(Path().iterdir())
    with pytest.raises(SetupError, match="store: expected a path"):
        function(value)
    assert set(Path().iterdir()) <= before


@pytest.mark.slow
def test_an_open_store_is_a_store(store: str) -> None:
    opened = proctor.open_store(store)
    assert proctor.load_run(store=opened).passed
    assert not issubclass(StoreError, TypeError)


@pytest.mark.slow
@pytest.mark.nightly(check=3)
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda store: proctor.prune_runs(store, keep=-1), "keep must be at least 0, got -1"),
        (lambda store: proctor.prune_runs(store, keep=1.5), "keep must be a whole number, got 1.5"),
        (
            lambda store: proctor.prune_runs(store, keep=2**63),
            "keep must be at most 2**63 - 1, got 9223372036854775808",
        ),
        (
            lambda store: proctor.prune_runs(store, older_than=30),
            "older_than must be a timedelta, got int 30",
        ),
        (lambda store: proctor.list_runs(store, limit=-1), "limit must be at least 0, got -1"),
        (lambda store: proctor.list_runs(store, limit="3"), "limit must be a whole number, got '3'"),
        (lambda store: proctor.list_runs(store, limit=10**30), "limit must be at most 2**63 - 1"),
        (lambda store: proctor.load_baseline(None, store), "No baseline"),
        (lambda store: proctor.set_baseline(None, store=store), "a baseline cannot be called None"),
        (
            lambda store: proctor.import_run(None, store),
            "expected the path of a file of results, got NoneType None",
        ),
    ],
)
def test_what_cannot_be_is_named(store: str, function: Callable[[str], object], message: str) -> None:
    with pytest.raises(SetupError) as refused:
        function(store)
    assert message in str(refused.value)
    assert len(proctor.list_runs(store)) == 1


@pytest.mark.slow
def test_one_name_is_a_list_of_one(store: str) -> None:
    assert len(proctor.prune_runs(store, runs="latest", dry_run=True)) == 1
