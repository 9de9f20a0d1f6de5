"""The keys of the YAML form, with their meaning in the format, and the probable meaning of misspelled ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from pydantic.alias_generators import to_camel, to_snake

from proctor.files.text.validation_messages import near_key
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.invocation import Invocation

EXTRA = "extra"
"""Contains custom keys, which the format keeps and Proctor does not read."""

SET_KEYS: dict[str, str] = {
    "eval_set": "eval_set_id", "id": "eval_set_id", "cases": "eval_cases", EXTRA: EXTRA,
    **{name: name for name in EvalSet.model_fields},
}  # fmt: skip

TURN_KEYS: dict[str, str] = {
    "ask": "user_content", "expect": "final_response",
    "tools": "tools", "tool_responses": "tool_responses", "intermediate_responses": "intermediate_responses",
    EXTRA: EXTRA,
    **{name: name for name in Invocation.model_fields},
}  # fmt: skip

SESSION_KEYS = {"app": "app_name", "user": "user_id", "session": "session_id", "state": "state"}
SCENARIO_KEYS = {"start": "starting_prompt", "plan": "conversation_plan", "persona": "user_persona"}

ONE_TURN_KEYS = {
    key: name for key, name in TURN_KEYS.items() if name not in EvalCase.model_fields and key != EXTRA
}
"""Keys of a turn that a case with a single turn may have itself."""

CASE_KEYS: dict[str, str] = {
    "case": "eval_id", "id": "eval_id", "turns": "conversation", "final_state": "final_session_state", "tags": "tags",
    "expectations": "expectations", "rules": "trajectory_rules", "trajectory_rules": "trajectory_rules",
    "response_schema": "response_schema",
    EXTRA: EXTRA,
    **SESSION_KEYS,
    **SCENARIO_KEYS,
    **ONE_TURN_KEYS,
    **{name: name for name in EvalCase.model_fields},
}  # fmt: skip

EXPECTATION_KEYS = ("expectations", "trajectory_rules", "response_schema")
"""Keys of a case that Proctor's metrics read, and that the format does not have."""

CALL_KEYS: dict[str, str] = {
    "name": "name", "args": "args", "id": "id", "partial_args": "partial_args", "will_continue": "will_continue",
    "tool_name": "name", "tool_input": "args", "arguments": "args", "function": "function",
}  # fmt: skip

RUBRIC_TYPE = "FINAL_RESPONSE_QUALITY"
"""The default type of a rubric in the short form: it concerns the answer."""
RUBRIC_KEYS = {"id": "rubric_id", "text": "text", "description": "description", "type": "type"}

SHORT_CASE_KEYS = frozenset(
    ("case", "turns", "final_state", *SESSION_KEYS, *SCENARIO_KEYS, "ask", "expect", "tools")
)
"""Keys that identify the short form of a case; the format has none of them."""

SHORT_TURN_KEYS = frozenset(("ask", "expect", "tools"))

NEVER_EMPTY = frozenset((
    "eval_set", "cases", "case", "turns", "tags", "final_state", "expectations", "rules", "trajectory_rules",
    "response_schema", EXTRA, "ask", "expect", "tools", "text",
    *SESSION_KEYS, *SCENARIO_KEYS,
))  # fmt: skip
"""Keys that need a value; to state nothing, the key is left out."""

# Keys of other tools and of the old formats.
_MEANT = {
    "ask": ("query", "input", "prompt", "user", "question", "message", "request"),
    "expect": (
        "reference",
        "answer",
        "response",
        "output",
        "expected",
        "expected_response",
        "reply",
        "assistant",
    ),
    "tools": ("expected_tool_use", "tool_calls", "calls", "tool_uses", "trajectory", "expected_tool_calls"),
    "turns": ("data", "messages", "steps", "dialog"),
    "case": ("name", "case_id", "eval_case_id", "title"),
    "cases": ("tests", "test_cases", "evals", "examples"),
    "state": ("initial_state", "session_state", "initial_session"),
    "final_state": ("expected_state", "end_state"),
    "plan": ("scenario", "instructions"),
    "persona": ("user_persona",),
}


def known_key(key: str, table: Mapping[str, str]) -> str | None:
    """Return the key of `table` that `key` is, in either spelling, or `None`."""
    if key in table:
        return key
    snake = to_snake(key)
    return snake if snake in table and to_camel(snake) == key else None


def meant_key(key: str, table: Iterable[str]) -> str:
    """Return the key that was probably intended, or an empty string."""
    known = list(table)
    word = next((name for name in known if to_snake(key) in _MEANT.get(name, ())), "")
    close = get_close_matches(key.lower(), known, n=1, cutoff=0.6)  # low: the keys are short
    return word or near_key(key, known) or (close[0] if close else "")
