"""Related formats that can be read without guessing: their keys are converted to those of the format."""

from __future__ import annotations

from typing import Any

from proctor.files.text.problems import Path_

ROW_IDS = ("eval_id", "evalId", "eval_case_id", "evalCaseId", "id", "case_id", "caseId")
ROW_KEYS = ("prompt", "reference", "reference_trajectory", "expected_tools")
"""The keys of a row of a data set that are read, except for its id."""
CALL_INPUTS = ("tool_input", "args", "arguments", "tool_parameters", "parameters")


def adapt_case(value: object) -> dict[str, object] | None:
    """Convert a row of a data set (`prompt`, maybe `reference` and `reference_trajectory`) to a case of one turn.

    The data sets of agents-cli and of the Gen AI evaluation service have such rows. `expected_tools` replaces
    `reference_trajectory` if it lists calls with their arguments. Other keys of the row are kept. Returns `None` for other
    values.
    """
    if not isinstance(value, dict) or not {"conversation", "conversation_scenario"}.isdisjoint(value):
        return None
    prompt = _content(value.get("prompt"), "user")
    eval_id = _row_id(value)
    if prompt is None or eval_id is None:
        return None
    return _case_of_row(value, eval_id, prompt)


def _case_of_row(row: dict[str, object], eval_id: str, prompt: dict[str, object]) -> dict[str, object]:
    turn: dict[str, object] = {"user_content": prompt}
    used = {"prompt", *(key for key in ROW_IDS if row.get(key) == eval_id)}
    reference = _reference(row.get("reference"))
    if reference is not None:
        turn["final_response"] = reference
        used.add("reference")
    if key := _calls_key(row):
        turn["intermediate_data"] = {"tool_uses": row[key]}
        used.add(key)
    rest = {key: item for key, item in row.items() if key not in used}
    return {"eval_id": eval_id, "conversation": [turn], **rest}


def _row_id(row: dict[str, object]) -> str | None:
    """Return the first text under a key for the id of a row."""
    return next((value for key in ROW_IDS if isinstance(value := row.get(key), str)), None)


def _calls_key(row: dict[str, object]) -> str:
    """Return the key of a row that lists the expected calls; empty if there is none."""
    if isinstance(row.get("reference_trajectory"), list):
        return "reference_trajectory"
    calls = row.get("expected_tools")
    return "expected_tools" if isinstance(calls, list) and all(map(_is_whole_call, calls)) else ""


def _is_whole_call(call: object) -> bool:
    """Whether a call has the name of its tool and arguments; without arguments the expectation would be unknown."""
    return (
        isinstance(call, dict)
        and any(isinstance(call.get(key), str) for key in ("name", "tool_name"))
        and any(isinstance(call.get(key), dict) for key in CALL_INPUTS[:3])
    )


def row_path(path: Path_, row: Any) -> Path_:
    """Convert a path in the case that was made from a row to the path in the row."""
    if path[:2] != ("conversation", 0):
        return path
    if path[2:3] == ("user_content",):
        return ("prompt", *path[3:])
    if path[2:3] == ("final_response",):
        nested = isinstance(row["reference"], dict) and "response" in row["reference"]
        return ("reference", *(("response",) if nested else ()), *path[3:])
    if path[2:4] == ("intermediate_data", "tool_uses"):
        return (_calls_key(row), *path[4:])
    return path


def _reference(value: object) -> dict[str, object] | None:
    if isinstance(value, dict) and "response" in value:
        value = value["response"]
    return _content(value, "model")


def _content(value: object, role: str) -> dict[str, object] | None:
    if isinstance(value, str):
        return {"parts": [{"text": value}], "role": role}
    return value if isinstance(value, dict) and isinstance(value.get("parts"), list) else None
