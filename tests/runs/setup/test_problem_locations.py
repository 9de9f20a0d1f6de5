"""Errors of a config are reported with line and column."""

import json
from pathlib import Path

import pytest

import proctor

SET = {"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [{"user_content": {"parts": [{"text": "hi"}]}}]}]}  # fmt: skip
JSON = """{
  "criteria": {"exact_match": 0,
    "exact_mach": 1,
    "contains": {"threshold": 1, "exepcted": "x"}}
}"""
YAML = "criteria:\n  exact_match: 0\n  exact_mach: 1\n  contains: {threshold: 1, exepcted: x}\n"


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        ("config.json", JSON, ["2:16", "3:5", "4:5"]),
        ("config.json", "// mine\n" + JSON, ["3:16", "4:5", "5:5"]),
        ("config.yaml", YAML, ["2:3", "3:3", "4:3"]),
    ],
)
def test_each_criterion_that_is_refused_has_its_place(
    tmp_path: Path, name: str, text: str, places: list[str]
) -> None:
    config = tmp_path / name
    config.write_text(text)
    with pytest.raises(proctor.SetupProblems) as refused:
        proctor.evaluate_sync(lambda text: "ho", SET, config=config)
    messages = str(refused.value).splitlines()
    assert [line.split(": ")[0].rpartition(name)[2] for line in messages] == [f":{place}" for place in places]
    assert "threshold 0 cannot fail" in messages[0]
    assert "Did you mean 'exact_match'?" in messages[1]
    assert "Did you mean 'expected'?" in messages[2]


def test_a_config_made_in_python_has_none() -> None:
    with pytest.raises(
        proctor.SetupProblems, match=r"^a config object in Python: No metric named 'exact_mach'"
    ):
        proctor.evaluate_sync(lambda text: "ho", SET, config=json.loads('{"criteria": {"exact_mach": 1}}'))
