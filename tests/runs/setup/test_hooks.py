"""Hooks as a run records them: by the name that leads to them in another process. Without such a name they must be given again."""

import sys
from functools import partial, wraps
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import proctor
from proctor.runs.setup.judge_and_user import AN_OBJECT, function_reference, load_function
from tests.cli.project import case, in_this_process, make_project

HOOKS = """
import functools

calls = []

def note():
    calls.append("note")

def twice(function):
    @functools.wraps(function)
    def both():
        function()
        function()
    return both

@twice
def decorated():
    calls.append("decorated")

note_twice = twice(note)
unnamed = [twice(note)]
shorthand = lambda: calls.append("shorthand")
bound = functools.partial(calls.append, "bound")

class Database:
    @staticmethod
    def clear():
        calls.append("clear")

    def fill(self):
        calls.append("fill")

database = Database()
"""


@pytest.fixture
def hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    make_project(tmp_path, case("one", "one", answer="wrong"), case("two", "two", answer="wrong"))
    (tmp_path / "some_hooks.py").write_text(HOOKS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "some_hooks", raising=False)
    import some_hooks  # type: ignore[import-not-found]  # written above

    return some_hooks


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("note", "note"),
        ("decorated", "decorated"),
        ("note_twice", "note_twice"),
        ("shorthand", "shorthand"),
        ("Database.clear", "Database.clear"),
        ("database.fill", None),
        ("unnamed[0]", None),
        ("bound", None),
    ],
)
def test_a_recorded_name_leads_to_the_same_function(
    hooks: ModuleType, expression: str, name: str | None
) -> None:
    function = eval(expression, vars(hooks))
    reference = function_reference(function)
    assert reference == (AN_OBJECT if name is None else f"some_hooks:{name}")
    if name is not None:
        assert load_function(reference, "setup") is function


@pytest.mark.parametrize("name", ["database.fill", "bound"])
def test_a_hook_that_was_given_by_name_is_recorded_by_that_name(hooks: ModuleType, name: str) -> None:
    function = load_function(f"some_hooks:{name}", "setup")
    assert function_reference(function) == f"some_hooks:{name}"


def stop_early(**options: Any) -> str:
    """Run one of two cases; return the id of the run, which is not finished."""
    run = proctor.evaluate_sync(
        "agent.py", "cases.evalset.json", store="runs.db", concurrency=1, fail_fast=True, **options
    )
    return run.run_id


@pytest.mark.slow
def test_resume_calls_the_decorated_hook(hooks: Any) -> None:
    run = stop_early(setup=hooks.note_twice)
    assert hooks.calls == ["note"] * 2
    assert in_this_process("resume", run, "--store", "runs.db").returncode == 1
    assert hooks.calls == ["note"] * 4


@pytest.mark.slow
def test_a_hook_without_a_name_is_given_again(hooks: Any) -> None:
    run = stop_early(setup=hooks.unnamed[0], teardown=hooks.note)
    refused = in_this_process("resume", run, "--store", "runs.db")
    assert refused.returncode == 2
    assert (
        "setup: the function of this run was an object in Python that no name in a module leads to: give it again, "
        "resume(run, setup=…) or --setup MODULE:FUNCTION"
    ) in refused.stderr
    assert hooks.calls == ["note"] * 3
    assert (
        in_this_process("resume", run, "--store", "runs.db", "--setup", "some_hooks:note_twice").returncode
        == 1
    )
    assert hooks.calls == ["note"] * 6


@pytest.mark.slow
def test_another_hook_than_that_of_the_run_is_a_change(hooks: Any) -> None:
    run = stop_early(setup=hooks.note)
    with pytest.raises(proctor.SetupError) as refused:
        proctor.resume_sync(run, store="runs.db", setup=hooks.decorated)
    assert "the hook before each trial (setup) was some_hooks:note and is some_hooks:decorated" in str(
        refused.value
    )


def test_parts_of_a_run_refuse_a_hook_without_a_name(hooks: Any) -> None:
    with pytest.raises(
        proctor.SetupError, match="join: setup is an object in Python that no name in a module leads to"
    ):
        proctor.evaluate_sync(
            "agent.py",
            "cases.evalset.json",
            store="runs.db",
            setup=partial(hooks.note),
            shard="1/2",
            join="night",
        )


def test_workers_refuse_a_hook_without_a_name(hooks: Any) -> None:
    unnamed = wraps(hooks.note)(lambda: None)  # its name leads to the function without the decorator
    with pytest.raises(proctor.SetupError, match=r"setup: workers \(--on\) cannot load"):
        proctor.evaluate_sync("agent.py", "cases.evalset.json", on="processes", setup=unnamed)
