"""Commands that write or read a set without a run report the cases that a run would refuse because they assert nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.authoring.edit_eval_set import add_cases, new_case
from proctor.authoring.edit_text import check_text, read_set_text
from proctor.authoring.eval_set_files import ListedFile
from tests.cli.project import case, in_this_process, write_set

NOTHING = "asserts nothing, so an agent that does nothing passes it"
NEGATIVE = "negative only: an agent that does nothing passes it"
REMEDY = "`proctor record` or `proctor bless` the answers and calls of a run"
SET = "cases.evalset.json"


def turn(**stated: Any) -> dict[str, Any]:
    return {"user_content": {"parts": [{"text": "hi"}]}, **stated}


BARE = {"eval_id": "bare", "conversation": [turn()]}
BARE_TOO = {"eval_id": "bare_too", "conversation": [turn(intermediate_data={})]}
NO_CALLS = {"eval_id": "no_calls", "conversation": [turn(intermediate_data={"tool_uses": []})]}
SESSION = {"events": [{"author": "user", "content": {"parts": [{"text": "hi"}]}}]}
OLD = [{"query": "hi"}, {"query": "and now?"}]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_set(Path(SET), BARE, BARE_TOO, NO_CALLS, case("sound", "hello"))
    Path("session.json").write_text(json.dumps(SESSION))
    (tmp_path / "old").mkdir()
    Path("old/old.json").write_text(json.dumps(OLD))
    (tmp_path / "agent").mkdir()
    Path("agent/agent.py").write_text("def root_agent(message):\n    return 'hi'\n")


ADD = ("eval-set", "add-case", "new.evalset.yaml", "--id", "new", "--ask", "hi")
COMMANDS: dict[str, tuple[tuple[str, ...], list[str]]] = {
    "convert": (
        ("convert", SET, "new.evalset.yaml"),
        [f"new.evalset.yaml:{{}}: case 'bare' (and 1 more of cases: 'bare_too'): {NOTHING}; a run refuses it", f"new.evalset.yaml:{{}}: case 'no_calls': {NEGATIVE}"],
    ),
    "eval-set add-case": (ADD, [f"new.evalset.yaml:{{}}: case 'new': {NOTHING}"]),
    "eval-set add-case --no-tools": ((*ADD, "--no-tools"), [f"new.evalset.yaml:{{}}: case 'new': {NEGATIVE}"]),
    "eval-set add-case --expect": ((*ADD, "--expect", "hello"), []),
    "eval-set add-case --from": (("eval-set", "add-case", "new.evalset.json", "--from", f"{SET}:bare"), [f"new.evalset.json:{{}}: case 'bare': {NOTHING}"]),
    "eval-set create": (("eval-set", "create", "new.evalset.json"), []),
    "record": (("record", "--from-session", "session.json", "--into", "new.evalset.json", "--id", "r"), [f"new.evalset.json:{{}}: case 'r': {NEGATIVE}"]),
    "migrate": (("migrate", "old/old.json", "new.evalset.json"), [f"old/old.json:{{}}: case 'old': {NOTHING}; in new.evalset.json it runs as negative only"]),
    "adopt": (("adopt", "."), [f"cases.evalset.json:{{}}: case 'bare' (and 1 more of cases: 'bare_too'): {NOTHING}", f"cases.evalset.json:{{}}: case 'no_calls': {NEGATIVE}"]),
}  # fmt: skip


@pytest.mark.parametrize(("words", "expected"), COMMANDS.values(), ids=COMMANDS)
def test_it_is_a_warning_with_the_place_and_the_remedies(words: tuple[str, ...], expected: list[str]) -> None:
    done = in_this_process(*words)
    assert done.returncode == 0, done.stderr
    lines = [
        line.strip() for line in (done.stdout + done.stderr).splitlines() if "agent that does nothing" in line
    ]
    assert len(lines) == len(expected), lines
    for line, message in zip(lines, expected, strict=True):
        assert ": warning: " in line
        place, _, rest = re.sub(r" warning: (?:eval_cases\[\d+\]: )?", " ", line).partition(": ")
        assert re.fullmatch(r"[\w/.]+:\d+:\d+", place)
        assert f"{place.split(':')[0]}:{{}}: {rest}".startswith(message)
        assert (REMEDY in line) is (NOTHING in message)


def test_the_config_of_the_project_decides() -> None:
    Path("test_config.json").write_text(json.dumps({"criteria": {"safety_v1": 0.8}}))
    assert NOTHING not in in_this_process("convert", SET, "new.evalset.yaml").stderr


def test_the_settings_allow_such_cases() -> None:
    Path("proctor.toml").write_text("allow_unasserted = true\n")
    done = in_this_process("convert", SET, "new.evalset.yaml")
    assert "it is skipped and not counted" in done.stderr
    assert "a run refuses it" not in done.stderr


def test_from_python_what_is_added_has_the_warnings() -> None:
    added = add_cases("new.evalset.yaml", [new_case("new", "hi"), new_case("sound", "hi", expect="hello")])
    (warning,) = added.warnings
    assert (warning.severity, NOTHING in warning.message, "sound" in warning.message) == (
        "warning",
        True,
        False,
    )


LOOKS: dict[str, Callable[[ListedFile], Any]] = {
    "unchanged": read_set_text,
    "converted": lambda file: check_text(file, Path(SET).read_text()),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_the_text_editor_of_the_page_shows_them(look: Callable[[ListedFile], Any]) -> None:
    problems = look(ListedFile("cases", Path(SET).resolve(), SET)).problems
    messages = [one.message for one in problems if "agent that does nothing" in one.message]
    assert [NOTHING in message for message in messages] == [True, False]
    assert {one.file for one in problems} == {SET}


def test_what_is_warned_about_is_what_a_run_refuses() -> None:
    with pytest.raises(proctor.SetupError) as refused:
        proctor.evaluate_sync("agent/agent.py", SET, store="memory:")
    assert str(refused.value).count(NOTHING) == 2
