"""`scripted:FILE`: answers out of a JSON file, for demos and tests."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.errors import SetupError
from proctor.models.base import Message, ModelError, ModelOptions, Reply
from proctor.models.load import load_model


def ask(path: Path, *texts: str) -> Reply:
    model = load_model(f"scripted:{path}")
    messages = [Message("user", text) for text in texts]
    return asyncio.run(model.complete(messages, options=ModelOptions(schema={"type": "object"})))


def script(path: Path, *entries: Any) -> Path:
    path.write_text(json.dumps(entries))
    return path


def test_first_entry_with_all_its_texts_in_the_prompt_answers(tmp_path: Path) -> None:
    path = script(
        tmp_path / "s.json",
        {"when": ["rain", "sun"], "say": {"n": 1}},
        {"when": "(rain)", "say": {"n": 2}},
        {"when": ["rain"], "say": {"n": 3}},
        {"when": ["rain"], "say": {"n": 4}},
    )
    assert [ask(path, *texts).structured for texts in (["sun\n", "rain"], ["(rain)"], ["a rain"])] == [
        {"n": 1}, {"n": 2}, {"n": 3},
    ]  # fmt: skip
    with pytest.raises(ModelError, match="none of the 3 texts"):
        ask(path, "snow")


@pytest.mark.slow
def test_it_costs_nothing_so_that_a_limit_of_dollars_is_never_reached(tmp_path: Path) -> None:
    path = script(
        tmp_path / "judge.json", {"when": "?", "say": {"rationale": "the same", "verdict": "valid"}}
    )
    turn = {"user_content": {"parts": [{"text": "?"}]}, "final_response": {"parts": [{"text": "yes"}]}}
    result = proctor.evaluate_sync(
        lambda text: "yes",
        {"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [turn]}]},
        config={"criteria": {"final_response_match_v2": 1.0}},
        judge=f"scripted:{path}",
        max_cost=0.01,
    )
    assert result.passed
    assert [one.cost for one in result.spent] == [0.0]


def test_another_script_is_another_model(tmp_path: Path) -> None:
    names = {
        load_model(f"scripted:{script(tmp_path / 's.json', {'when': 'a', 'say': reply})}").name
        for reply in ("b", "c")
    }
    assert len(names) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "expected a list"),
        ("{}", "expected a list"),
        ("[1]", r"\[0\]\.when: expected"),
        ('[{"when": [], "say": "x"}]', r"\[0\]\.when: expected"),
        ('[{"when": "a"}]', r"\[0\]\.say: expected"),
    ],
)
def test_invalid_script_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "s.json"
    path.write_text(text)
    with pytest.raises(SetupError, match=message):
        load_model(f"scripted:{path}")


def test_a_script_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="cannot be read"):
        load_model(f"scripted:{tmp_path / 's.json'}")
