"""A configuration error that pytest finds while it collects counts as an attempt: `latest` is older than it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import proctor
from proctor.errors import SetupError
from tests.pytest_plugin.sample_project import GOOD, Sandbox

pytest_plugins = ["pytester"]

IN_CODE = """
import pytest

@pytest.mark.proctor("gone.evalset.json")
def test_it(evaluate, eval_case):
    assert evaluate().passed
"""
IN_A_FIXTURE = """
def test_it(evaluate):
    assert evaluate("gone.evalset.json").passed
"""


@pytest.fixture
def ran(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """Two green runs in the store that the settings name."""
    sandbox.cases(GOOD)
    sandbox.write("proctor.toml", 'store = "runs.sqlite3"\n')
    for _ in range(2):
        sandbox.run("cases.evalset.json").assert_outcomes(passed=1)
    monkeypatch.chdir(sandbox.path)
    return sandbox


def _config(sandbox: Sandbox) -> list[str]:
    sandbox.write("test_config.json", {"criteria": {"no_such_metric": 1}})
    return ["cases.evalset.json"]


def _settings(sandbox: Sandbox) -> list[str]:
    sandbox.ini("proctor_num_runs = none")
    return ["cases.evalset.json"]


def _agent(sandbox: Sandbox) -> list[str]:
    sandbox.write("bot.py", "raise ValueError")
    return ["cases.evalset.json"]


def _in_code(sandbox: Sandbox) -> list[str]:
    sandbox.write("test_it.py", IN_CODE)
    return ["test_it.py"]


def _in_a_fixture(sandbox: Sandbox) -> list[str]:
    sandbox.write("test_it.py", IN_A_FIXTURE)
    return ["test_it.py"]


@pytest.mark.nightly(check=1)
@pytest.mark.slow  # starts pytest
@pytest.mark.parametrize("spoil", [_config, _settings, _agent, _in_code, _in_a_fixture])
def test_latest_is_refused_after_a_session_that_ran_nothing(
    ran: Sandbox, spoil: Callable[[Sandbox], list[str]]
) -> None:
    assert ran.run(*spoil(ran)).ret != 0
    store = Path("runs.sqlite3")
    assert len(proctor.list_runs(store)) == 2
    with pytest.raises(SetupError, match=r"the last attempt, `.* ended with a configuration error: "):
        proctor.compare_sync(store=store)


@pytest.mark.nightly
def test_the_record_names_the_session(ran: Sandbox) -> None:
    ran.run(*_config(ran))
    record = json.loads((ran.path / "runs.sqlite3.attempt.json").read_text())
    assert record["what"].startswith("pytest ")
    assert "cases.evalset.json" in record["what"]
    assert "no_such_metric" in record["problem"]


@pytest.mark.slow  # starts pytest
def test_a_session_that_only_collects_attempts_nothing(ran: Sandbox) -> None:
    assert ran.run("--collect-only", *_config(ran)).ret != 0
    assert not (ran.path / "runs.sqlite3.attempt.json").exists()


@pytest.mark.slow
def test_a_session_without_a_store_leaves_no_record(sandbox: Sandbox) -> None:
    sandbox.cases(GOOD)
    assert sandbox.run(*_config(sandbox)).ret != 0
    assert [path.name for path in sandbox.path.rglob("*attempt*")] == []
