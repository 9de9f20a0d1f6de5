"""`trials` in a config: its values, and the messages about mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import EvalFileError
from proctor.files.eval_sets.file_problems import check_file
from proctor.files.eval_sets.load import load_config
from proctor.schema.format.config import EvalConfig, TrialsConfig
from proctor.schema.results.score import TrialRule

CRITERIA = {"response_match_score": 0.8}


def written(folder: Path, trials: Any) -> Path:
    path = folder / "test_config.json"
    path.write_text(json.dumps({"criteria": CRITERIA, "trials": trials}), encoding="utf-8")
    return path


def refused(folder: Path, trials: Any) -> str:
    with pytest.raises(EvalFileError) as caught:
        load_config(written(folder, trials))
    return str(caught.value)


@pytest.mark.parametrize(
    ("trials", "num_runs", "rule"),
    [
        (None, None, None),
        ({}, None, None),
        ({"num_runs": 5}, 5, None),
        ({"min_pass_rate": 0.8}, None, TrialRule(0.8)),
        ({"min_pass_rate": 1}, None, TrialRule(1.0)),
        ({"pass_k": 3, "num_runs": 3}, 3, TrialRule(1.0, 3)),
        ({"numRuns": 5, "minPassRate": 0.9, "passK": 2, "confidence": 0.95}, 5, TrialRule(0.9, 2, 0.95)),
        ({"num_runs": 5, "min_pass_rate": 0.9, "pass_k": None, "confidence": None}, 5, TrialRule(0.9)),
        ({"num_runs": 3, "min_pass_rate": 0.5, "pass_k": 9, "confidence": 0.9}, 3, TrialRule(0.5, 9, 0.9)),
        ({"num_runs": 2, "_comment": "more at night"}, 2, None),
    ],
    ids=repr,
)
def test_valid_values(tmp_path: Path, trials: Any, num_runs: int | None, rule: TrialRule | None) -> None:
    config, warnings = load_config(written(tmp_path, trials))
    assert config.rule == rule
    assert (config.trials.num_runs if config.trials else None) == num_runs
    assert warnings == []


@pytest.mark.parametrize(
    ("trials", "message"),
    [
        ({"num_run": 5}, "trials.num_run: unknown key; nothing reads it (did you mean `num_runs`?)"),
        ({"min_passrate": 0.5}, "trials.min_passrate: unknown key; nothing reads it (did you mean `min_pass_rate`?)"),
        ({"retries": 5}, "trials.retries: unknown key; nothing reads it (known: num_runs, min_pass_rate, pass_k,"),
        (5, "trials: expected an object, got the number 5"),
        ({"num_runs": 0}, "trials.num_runs: expected greater than or equal to 1, got the number 0"),
        ({"num_runs": 10**9}, "trials.num_runs: expected less than or equal to 1000000, got the number 1000000000"),
        ({"num_runs": True}, "trials.num_runs: expected a number, got true"),
        ({"num_runs": "many"}, "trials.num_runs: expected a whole number, got the text"),
        ({"num_runs": 2.5}, "trials.num_runs: expected a whole number, got the number 2.5"),
        ({"pass_k": 0}, "trials.pass_k: expected greater than or equal to 1, got the number 0"),
        ({"min_pass_rate": 0}, "trials.min_pass_rate: expected a share above 0: what is asked for could never fail, got the number 0"),
        ({"min_pass_rate": 90}, "trials.min_pass_rate: expected a share of at most 1, such as 0.9: more could never pass, got the number 90"),
        ({"min_pass_rate": 0.9, "confidence": 95}, "trials.confidence: expected null or a number between 0 and 1, such as 0.95, got the number 95"),
        ({"min_pass_rate": 0.9, "confidence": 0}, "trials.confidence: expected null or a number between 0 and 1, such as 0.95, got the number 0"),
        (
            {"confidence": 0.95},
            "trials: expected a `min_pass_rate` below 1 with `confidence`, got none: no number of trials shows that all would pass",
        ),
        (
            {"min_pass_rate": 1.0, "confidence": 0.95},
            "trials: expected a `min_pass_rate` below 1 with `confidence`, got 1: no number of trials shows that all would pass",
        ),
        ({"num_runs": 3, "pass_k": 5}, "trials: expected a `pass_k` of at most `num_runs` (3), got 5: it needs that many trials"),
    ],
    ids=lambda value: "" if isinstance(value, str) else json.dumps(value),
)  # fmt: skip
def test_what_cannot(tmp_path: Path, trials: Any, message: str) -> None:
    assert message in refused(tmp_path, trials)


def test_mistake_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "test_config.json"
    path.write_text(
        '{\n  "criteria": {"response_match_score": 0.8},\n  "trials": {\n    "num_run": 5\n  }\n}'
    )
    with pytest.raises(EvalFileError, match=r"test_config\.json:4:5: error: trials\.num_run: unknown key"):
        load_config(path)
    assert not check_file(path).readable


@pytest.mark.parametrize("key", ["trial", "trails", "Trials"])
def test_a_slip_of_the_key_itself_is_an_error(tmp_path: Path, key: str) -> None:
    path = tmp_path / "test_config.json"
    path.write_text(json.dumps({"criteria": CRITERIA, key: {"num_runs": 5}}), encoding="utf-8")
    with pytest.raises(
        EvalFileError, match=rf"{key}: unknown key; nothing reads it \(did you mean `trials`\?\)"
    ):
        load_config(path)


@pytest.mark.parametrize("key", ["num_runs", "min_pass_rate", "pass_k", "confidence"])
def test_misplaced_key_of_trials_is_reported(tmp_path: Path, key: str) -> None:
    path = tmp_path / "test_config.json"
    path.write_text(json.dumps({"criteria": CRITERIA, key: 1}), encoding="utf-8")
    _, warnings = load_config(path)
    assert [(warning.message, warning.hint) for warning in warnings] == [
        ("unknown key; nothing reads it", "put it into `trials`")
    ]


def test_a_config_without_trials_is_written_as_before() -> None:
    written = EvalConfig(criteria=CRITERIA).model_dump(mode="json", exclude_none=True)
    assert written == {"criteria": {"response_match_score": 0.8}}


def test_trials_read_back_as_they_were_written() -> None:
    config = EvalConfig(criteria=CRITERIA, trials=TrialsConfig(num_runs=5, min_pass_rate=0.9))
    assert EvalConfig.model_validate_json(config.model_dump_json()) == config


@pytest.mark.needs_adk
def test_google_adk_reads_the_config_and_ignores_trials(tmp_path: Path) -> None:
    from google.adk.evaluation.eval_config import get_evaluation_criteria_or_default

    path = written(tmp_path, {"num_runs": 5, "min_pass_rate": 0.9, "confidence": None})
    read = get_evaluation_criteria_or_default(str(path))
    assert read.model_dump(exclude_none=True) == {"criteria": CRITERIA}
