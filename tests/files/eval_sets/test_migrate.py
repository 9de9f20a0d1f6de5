"""Old list formats to the new schema, as ADK's helper writes them; with the differences that are meant."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import EvalFileError
from proctor.files.eval_sets.convert import migrate
from proctor.files.eval_sets.source import load_eval_set
from proctor.files.text.problems import Problem


def vectors(shared: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        (shared / "golden" / "migration.json").read_text(encoding="utf-8")
    )["vectors"]
    assert len(found) > 40
    return found


def difference(vector: dict[str, Any]) -> str:
    """Why we read what ADK refuses; empty: we refuse it, too.

    ADK refuses for the criteria of a config (which is not part of the file), for what a first turn does not state, and
    for keys that it does not know.
    """
    document = vector["input"]
    if isinstance(document, dict):
        return "unknown key"
    if (
        vector["format"] != "test.json"
        or not document
        or not all(isinstance(turn, dict) for turn in document)
    ):
        return ""
    criteria = (vector["test_config"] or {}).get("criteria", {})
    if any(name.endswith("_v2") for name in criteria):
        return "criteria"
    return "not stated" if "query" in document[0] else ""


def normalised(value: Any) -> Any:
    """Random ids and times as the recording has them."""
    names: dict[str, str] = {}

    def replace(item: Any, key: str = "") -> Any:
        if isinstance(item, dict):
            return {name: replace(inner, name) for name, inner in item.items()}
        if isinstance(item, list):
            return [replace(inner) for inner in item]
        if key == "creation_timestamp" and item:
            return "<time>"
        if isinstance(item, str) and re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", item):
            return names.setdefault(item, f"<uuid-{len(names) + 1}>")
        return item

    return replace(value)


def written(vector: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(folder)
    name = vector.get("file") or f"{vector['eval_set_id']}.evalset.json"
    old = Path(name)
    old.parent.mkdir(exist_ok=True)
    old.write_text(json.dumps(vector["input"]), encoding="utf-8")
    session = None
    if vector.get("initial_session") is not None:
        session = Path("initial.session.json")
        session.write_text(json.dumps(vector["initial_session"]), encoding="utf-8")
    migrate(name, "new.json", initial_session=session)
    return json.loads(Path("new.json").read_text(encoding="utf-8"))


def test_every_recorded_migration(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {"equal": 0, "refused": 0, "criteria": 0, "not stated": 0, "unknown key": 0}
    for number, vector in enumerate(vectors(shared)):
        folder = tmp_path / str(number)
        folder.mkdir()
        result = vector["result"]
        if "ok" in result:
            assert normalised(written(vector, folder, monkeypatch)) == result["ok"]
            seen["equal"] += 1
        elif reason := difference(vector):
            assert written(vector, folder, monkeypatch)["eval_cases"]
            seen[reason] += 1
        else:
            with pytest.raises(EvalFileError) as caught:
                written(vector, folder, monkeypatch)
            assert caught.value.problems
            seen["refused"] += 1
    assert seen == {"equal": 32, "refused": 10, "criteria": 4, "not stated": 2, "unknown key": 1}


def test_a_migrated_file_is_laid_out_as_adk_writes_it(tmp_path: Path) -> None:
    (tmp_path / "o.test.json").write_text('[{"query": "q"}]')
    migrate(tmp_path / "o.test.json", tmp_path / "n.json")
    text = (tmp_path / "n.json").read_text()
    assert text.startswith('{\n  "eval_set_id": "')
    assert '\n  "description": null,\n' in text
    assert not text.endswith("\n")
    assert load_eval_set(tmp_path / "n.json").eval_cases[0].eval_id == str(tmp_path / "o.test.json")


def test_new_file_is_written_as_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "o.json").write_text(
        '{"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": []}]}'
    )
    migrate(tmp_path / "o.json", tmp_path / "n.json")
    assert load_eval_set(tmp_path / "n.json").eval_cases[0].eval_id == "a"


@pytest.mark.parametrize(
    ("old", "session", "message"),
    [
        (
            '{"eval_set_id": "s", "eval_cases": []}',
            "{}",
            "belongs to a list of turns, but this is an eval set",
        ),
        ('[{"name": "a", "data": []}]', "{}", "belongs to a list of turns, but this is an old eval set"),
        ('[{"query": "q"}]', "[]", "expected an initial session"),
        (
            '[{"query": "q"}]',
            '{"state": 3}',
            "s.json:1:11: error: state: expected an object, got the number 3",
        ),
        ('[{"query": "q"}, {"reference": "r"}]', None, "1:18: error: [1]: expected `query`"),
        ('{"criteria": {}}', None, "eval config"),
    ],
)
def test_what_cannot_be_migrated_is_refused_and_nothing_written(
    tmp_path: Path, old: str, session: str | None, message: str
) -> None:
    (tmp_path / "o.json").write_text(old)
    if session is not None:
        (tmp_path / "s.json").write_text(session)
    with pytest.raises(EvalFileError, match=re.escape(message)):
        migrate(
            tmp_path / "o.json",
            tmp_path / "n.json",
            initial_session=tmp_path / "s.json" if session is not None else None,
        )
    assert not (tmp_path / "n.json").exists()


def test_an_initial_session_in_camel_case(tmp_path: Path) -> None:
    (tmp_path / "old.test.json").write_text('[{"query": "q"}]', encoding="utf-8")
    session = tmp_path / "s.json"
    session.write_text('{"appName": "house", "userId": "ada", "state": {"lamp": "off"}}', encoding="utf-8")
    (case,) = migrate(tmp_path / "old.test.json", tmp_path / "new.json", initial_session=session).eval_cases
    assert case.session_input is not None
    assert (case.session_input.app_name, case.session_input.user_id) == ("house", "ada")


def test_values_dropped_as_by_adk_are_reported(tmp_path: Path) -> None:
    call = {"tool_name": "f", "tool_input": {}, "mock_tool_output": 1}
    turns = [{"query": "q", "mood": "good", "expected_tool_use": [call, call]}, {"query": "r"}]
    old, session = tmp_path / "old.test.json", tmp_path / "s.json"
    old.write_text(json.dumps(turns, indent=1), encoding="utf-8")
    session.write_text('{"app_name": "a", "user": "u", "state": {}}', encoding="utf-8")
    warnings: list[Problem] = []
    migrate(old, tmp_path / "new.json", initial_session=session, warnings=warnings)
    assert [(warning.line, warning.field, warning.message, warning.hint) for warning in warnings] == [
        (4, "[0].mood", "dropped", "as by ADK's own helper; `proctor convert` keeps it"),
        (9, "[0].expected_tool_use[0].mock_tool_output", "dropped, 2 times", "as by ADK's own helper; `proctor convert` keeps it"),
        (1, "user", "dropped", "did you mean `user_id`?"),
    ]  # fmt: skip


def test_lost_comments_and_names_that_a_run_refuses_are_reported(tmp_path: Path) -> None:
    old, new = tmp_path / "old.evalset.json", tmp_path / "new.json"
    case = '{"name": "a", "data": [{"query": "q"}]}'
    old.write_text(f"[{case}, // mine\n {case}]", encoding="utf-8")
    warnings: list[Problem] = []
    assert len(migrate(old, new, warnings=warnings).eval_cases) == 2
    assert [(warning.line, warning.field, warning.message, warning.hint) for warning in warnings] == [
        (1, "", f"the comments of this file are not in {new}", ""),
        (2, "[1].name", "the case [0] has this name, too", "a run refuses the set: rename one"),
    ]


def test_lossless_migration_reports_nothing(tmp_path: Path) -> None:
    session = {"appName": "a", "userId": "u", "state": {"lamp": "off"}}
    turn = {"query": "q", "expectedToolUse": [{"toolName": "f", "toolInput": {}}], "reference": "r"}
    (tmp_path / "o.json").write_text(
        json.dumps([{"name": "a", "data": [turn], "initialSession": session}]), encoding="utf-8"
    )
    warnings: list[Problem] = []
    migrate(tmp_path / "o.json", tmp_path / "n.json", warnings=warnings)
    assert warnings == []
