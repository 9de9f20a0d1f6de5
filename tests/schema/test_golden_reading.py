"""What ADK reads we read the same; what ADK refuses we refuse, but for a list of things that can honestly be read."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from proctor import schema
from proctor.schema import Blob, EvalConfig, EvalSetResult
from tests.schema.golden import Vector, as_json, is_error, vectors

# Inputs that ADK refuses and Proctor reads: (model, where the difference is) -> why.
GENEROUS = {
    ("Invocation", "intermediate_data.zzz"): "unknown keys are kept",
    ("Invocation", "final_response.parts.0.zzz"): "unknown keys are kept",
    ("InvocationEvents", "zzz"): "unknown keys are kept",
    ("JudgeModelOptions", "zzz"): "unknown keys are kept",
    ("EvalCaseResult", "session_details.zzz"): "unknown keys are kept",
    ("EvalMetricResult", "eval_status"): "a status is read by name, too",
    ("EvalCase", "session_input"): "adk-rs writes an empty session",
}


def _at(document: Any, dotted: str) -> Any:
    for step in dotted.split("."):
        try:
            document = document[int(step) if isinstance(document, list) else step]
        except (KeyError, IndexError, TypeError):
            return None
    return document


def _is_generous(vector: Vector) -> bool:
    return any(
        model == vector["model"] and _at(vector["input"], where) in (1, "PASSED", {})
        for model, where in GENEROUS
    )


@pytest.mark.parametrize("vector", vectors("validation"))
def test_models_accept_and_refuse_as_adk(vector: Vector) -> None:
    model = getattr(schema, vector["model"])
    if vector["accepted"]:
        kept = {"zzz": 1} if "zzz" in vector["input"] else {}  # ADK drops what it does not know here
        assert as_json(model.model_validate(vector["input"])) == vector["parsed"] | kept
    elif _is_generous(vector):
        model.model_validate(vector["input"])
    else:
        with pytest.raises(ValidationError):
            model.model_validate(vector["input"])


@pytest.mark.parametrize("vector", vectors("validation"))
def test_text_reads_as_objects_do(vector: Vector) -> None:
    model = getattr(schema, vector["model"])
    try:
        expected = model.model_validate(vector["input"])
    except ValidationError:
        with pytest.raises(ValidationError):
            model.model_validate_json(json.dumps(vector["input"]))
    else:
        assert model.model_validate_json(json.dumps(vector["input"])) == expected


@pytest.mark.parametrize("vector", vectors("config"))
def test_configs_read_and_name_their_metrics_as_adk(vector: Vector) -> None:
    if is_error(vector["result"]):
        with pytest.raises(ValidationError):
            EvalConfig.model_validate(vector["input"])
        return
    config = EvalConfig.model_validate(vector["input"])
    written = as_json(config)
    assert written.pop("trials") is None  # Proctor's own key, which ADK does not know
    simulator = written.pop("user_simulator_config")
    if simulator is not None:
        written["user_simulator_config"] = as_json(config.user_simulator_config, exclude_none=True)
    assert written == vector["result"]["ok"]["config"]
    assert [as_json(metric) for metric in config.eval_metrics()] == vector["result"]["ok"]["metrics"]


@pytest.mark.parametrize("vector", vectors("bytes"))
def test_bytes_read_in_every_spelling_and_are_written_url_safe(vector: Vector) -> None:
    for form in vector["forms"].values():
        as_object = Blob.model_validate({"data": form["input"]})
        as_text = Blob.model_validate_json(json.dumps({"data": form["input"]}))
        assert as_object.data is not None
        assert as_object.data.hex() == form["result"]["ok"]
        assert as_text == as_object
    raw = bytes.fromhex(vector["hex"])
    assert Blob(data=raw).data == raw
    assert as_json(Blob(data=raw))["data"] == vector["written"]


def _decoded(text: str) -> Any:
    document = json.loads(text)
    while isinstance(document, str):  # older ADK stored JSON within JSON; files/ does this for real files
        document = json.loads(document)
    return document


@pytest.mark.parametrize("vector", vectors("result_reading"))
def test_results_read_as_adk_reads_them(vector: Vector) -> None:
    if not is_error(vector["result"]):
        assert as_json(EvalSetResult.model_validate(_decoded(vector["text"]))) == vector["result"]["ok"]
        return
    ours_too = vector["text"].startswith('"\\"') or '"final_eval_status": "FAILED"' in vector["text"]
    if ours_too:  # encoded more than twice; a status by name: both can honestly be read
        assert (
            EvalSetResult.model_validate(_decoded(vector["text"])).eval_case_results[0].final_eval_status == 2
        )
    else:
        with pytest.raises((ValidationError, json.JSONDecodeError)):
            EvalSetResult.model_validate(_decoded(vector["text"]))
