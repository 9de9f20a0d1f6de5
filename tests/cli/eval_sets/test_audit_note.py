"""The audit of cases that were just written, in one or two lines; nothing where it is not possible."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.cli.file_changes import audit_note

Json = dict[str, Any]


def case(eval_id: str, answer: str | None) -> Json:
    final = {} if answer is None else {"final_response": {"parts": [{"text": answer}]}}
    return {"eval_id": eval_id, "conversation": [{"user_content": {"parts": [{"text": "Do it"}]}, **final}]}


SEATS, DONE = case("seats", "The ship has 42 seats."), case("done", "Your request has been completed today.")
TALK = {"eval_id": "talk", "conversation_scenario": {"starting_prompt": "Hi", "conversation_plan": "Ask."}}
WORDS = {"response_match_score": 0.7}
CUSTOM = {"custom_metrics": {"own": {"code_config": {"name": "own.metric"}}}}


@pytest.mark.parametrize(
    ("cases", "config", "beginnings"),
    [
        pytest.param([SEATS], {"criteria": WORDS}, ["audit: catches ", "next: `proctor audit "], id="survivors"),
        pytest.param([SEATS], {"criteria": {"exact_match": 1, "tool_trajectory_avg_score": 1}}, ["audit: catches "], id="nothing survives"),
        pytest.param(
            [SEATS, DONE], {"criteria": WORDS}, ["audit: ", "warning: an agent that does nothing passes done", "next: "],
            id="an agent that does nothing passes",
        ),
        pytest.param([case("empty", None)], {"criteria": WORDS}, [], id="nothing is asserted"),
        pytest.param([TALK], {"criteria": WORDS}, ["audit: 1 of 1 cases not audited: a scenario: nothing is recorded"], id="a scenario"),
        pytest.param([SEATS], {"criteria": {"no_such_metric": 1}}, [], id="a config that cannot be used"),
        pytest.param([SEATS], {"criteria": {**WORDS, "own": 1}, **CUSTOM}, [], id="code is not called unasked"),
    ],
)  # fmt: skip
def test_what_the_written_cases_catch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cases: list[Json], config: Json, beginnings: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("a b.evalset.json")
    path.write_text(
        json.dumps({"eval_set_id": "a", "eval_cases": [*cases, case("older", "It has 7 doors.")]})
    )
    Path("test_config.json").write_text(json.dumps(config))
    lines = audit_note(path, [one["eval_id"] for one in cases])
    assert [line.startswith(start) for line, start in zip(lines, beginnings, strict=True)] == [True] * len(
        lines
    )
    assert all("'a b.evalset.json'" in line for line in lines if line.startswith("next"))


def test_a_missing_file_is_no_failure(tmp_path: Path) -> None:
    assert audit_note(tmp_path / "none.evalset.json", ["a"]) == []
