"""`--warnings-as-errors`: any warning about the set-up is a configuration error (exit 2), and nothing is run."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.authoring.check_files import check_files
from proctor.errors import SetupProblems
from proctor.runs.setup.prepare import prepare
from tests.cli.project import case, in_this_process, make_project

FLAG = "--warnings-as-errors"


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def set_warning(folder: Path) -> None:
    edit(folder / "cases.evalset.json", lambda document: document.pop("eval_set_id"))


def config_warning(folder: Path) -> None:
    edit(folder / "test_config.json", lambda document: document.update(colour="red"))


def plan_warning(folder: Path) -> None:
    rules = {"trajectory_rules": [{"call": "look", "at_most": 3}]}
    edit(folder / "cases.evalset.json", lambda document: document["eval_cases"][0].update(rules))


def same_name_warning(folder: Path) -> None:
    (folder / "again.evalset.json").write_text((folder / "cases.evalset.json").read_text())


WARNINGS: dict[str, tuple[Callable[[Path], None], str]] = {
    "of an eval set": (set_warning, "cases.evalset.json:1:1: `eval_set_id` is missing"),
    "of a config": (config_warning, "colour: unknown key"),
    "of the plan": (plan_warning, "1 case(s) state `trajectory_rules`, which nothing reads"),
    "of several sets": (same_name_warning, "are both called 'cases'"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return make_project(tmp_path, case("hello", "hello"), case("bye", "bye"))


@pytest.fixture(params=WARNINGS)
def message(request: pytest.FixtureRequest, folder: Path) -> str:
    """The warning that the project in the working folder has."""
    make, text = WARNINGS[request.param]
    make(folder)
    return text


def sets(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.evalset.json"))


def test_eval_only_warns_without_the_option(folder: Path, message: str) -> None:
    ran = in_this_process("eval", "agent.py", *sets(folder), "--store", "memory:")
    assert ran.returncode == 0
    assert message in ran.stdout


def test_eval_refuses_every_warning(folder: Path, message: str) -> None:
    ran = in_this_process("eval", "agent.py", *sets(folder), "--store", "runs.sqlite3", FLAG)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert message in ran.stderr
    assert f"(a warning, refused because {FLAG} is set)" in ran.stderr
    assert "no runs" in in_this_process("runs", "--store", "runs.sqlite3").stderr


def test_the_setting_does_the_same(folder: Path, message: str) -> None:
    (folder / "proctor.toml").write_text("warnings_as_errors = true\n")
    ran = in_this_process("eval", "agent.py", *sets(folder), "--store", "memory:")
    assert ran.returncode == 2
    assert message in ran.stderr


def test_all_warnings_are_reported_at_once(folder: Path) -> None:
    set_warning(folder)
    config_warning(folder)
    ran = in_this_process("eval", "agent.py", "cases.evalset.json:hallo", FLAG)
    assert ran.returncode == 2
    for text in ("`eval_set_id` is missing", "colour: unknown key", "no case 'hallo'"):
        assert text in ran.stderr


@pytest.mark.parametrize("shard", ["1/2", "2/2"])
def test_note_about_a_shard_is_not_a_warning(folder: Path, shard: str) -> None:
    ran = in_this_process("eval", "agent.py", *sets(folder), "--store", "memory:", "--shard", shard, FLAG)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("change", [config_warning, plan_warning], ids=["config", "plan"])
def test_score_refuses_warnings(folder: Path, change: Callable[[Path], None]) -> None:
    change(folder)
    where = ("--store", "runs.sqlite3")
    assert in_this_process("eval", "agent.py", *sets(folder), *where).returncode == 0
    assert in_this_process("score", *where).returncode == 0
    refused = in_this_process("score", *where, FLAG)
    assert refused.returncode == 2
    assert "a warning, refused" in refused.stderr
    (folder / "proctor.toml").write_text("warnings_as_errors = true\n")
    assert in_this_process("score", *where, "--config", "test_config.json").returncode == 2


@pytest.mark.parametrize("how", ["option", "setting"])
def test_check_turns_warnings_into_errors(folder: Path, message: str, how: str) -> None:
    del message
    names = [*sets(folder), "test_config.json"]
    words = [FLAG] if how == "option" else []
    if how == "setting":
        (folder / "proctor.toml").write_text("warnings_as_errors = true\n")
    lax = in_this_process("check", *names) if how == "option" else None
    strict = in_this_process("check", *names, *words)
    warned = "warning:" in lax.stdout if lax is not None else "error:" in strict.stdout
    assert strict.returncode == (2 if warned else 0)
    assert "warning:" not in strict.stdout


class TestFromPython:
    def test_evaluate(self, folder: Path, message: str) -> None:
        with pytest.raises(SetupProblems) as refused:
            proctor.evaluate_sync("agent.py", sets(folder), warnings_as_errors=True)
        assert message in str(refused.value)

    def test_rescore(self, folder: Path) -> None:
        config_warning(folder)
        run = proctor.evaluate_sync("agent.py", sets(folder), store="runs.sqlite3")
        with pytest.raises(SetupProblems, match="colour: unknown key"):
            proctor.rescore_sync(run, store="runs.sqlite3", warnings_as_errors=True)

    def test_check_files(self, folder: Path) -> None:
        set_warning(folder)
        (report, *_) = check_files(["cases.evalset.json"], warnings_as_errors=True)
        assert not report.usable

    def test_it_takes_true_or_false_alone(self, folder: Path) -> None:
        with pytest.raises(SetupProblems, match="warnings_as_errors must be True or False"):
            proctor.evaluate_sync("agent.py", sets(folder), warnings_as_errors="no")  # type: ignore[arg-type]  # the mistake

    def test_a_warning_that_is_added_before_the_run_is_refused_too(self, folder: Path) -> None:
        prepared = prepare("agent.py", sets(folder), {"warnings_as_errors": True})
        prepared.warnings.append("a later one")
        with pytest.raises(SetupProblems, match="a later one"):
            asyncio.run(_carry_out(prepared))


async def _carry_out(prepared: Any) -> None:
    from proctor.runs.evaluate import carry_out

    await carry_out(prepared, None, None)
