"""Keys that people write instead of the keys of this format, from the YAML form, the old formats and other tools.

Other tools: agents-cli and the Gen AI evaluation service, trpc-agent, adk-go, DeepEval, LangSmith, promptfoo, Ragas,
OpenAI evals, MLflow, Braintrust, Inspect, pydantic-evals.
"""

from __future__ import annotations

import re

CALLS, ANSWER, END, START = "calls", "answer", "state at the end", "state at the start"
"""Kinds of statements; each object of the format has a sentence for each of them."""

_TEXT = 'a text is `"parts": [{"text": "…"}]`'
_PART_TEXT = "a text is `text`"
_ARGUMENTS = "the arguments of a call are `args`"
_TURNS = "the turns are `conversation`"
_CASES = "the cases of a set are `eval_cases`"
_CONFIG = "this is read from a config (`test_config.json`, `--config`)"
_RULES = "rules over the calls are `trajectory_rules` in JSON"
_CALLS_IN_ROW = (
    'expected a list of calls, `[{"tool_name": …, "tool_input": {…}}]`; to ignore arguments, use '
    '`"expectations": {"calls": [{"tool": …}]}` and the metric `tool_expectations`'
)
_CALL_LIST = ("tools", "tool_calls", "tool_use", "tool_uses", "calls", "function_calls", "tools_called", "tool_trajectory",
              "trajectory")  # fmt: skip
_ANSWERS = (
    "expect", "expects", "expected", "answer", "answers", "response", "responses", "output", "outputs", "reply",
    "assistant", "completion", "agent_response", "model_response", "assistant_response", "bot_response", "final_answer",
    "final_output", "final_text",
)  # fmt: skip
_CALL_PARTS = ("tool_name", "tool_input", "tool_args", "args", "arguments")
_REQUIREMENTS: dict[str, str] = {
    "limits": "it belongs to `expectations`",
    **dict.fromkeys(("never", "only_after", "implies_later"), _RULES),
    **dict.fromkeys(("metrics", "eval_metrics", "threshold", "thresholds"), _CONFIG),
    **dict.fromkeys(("output_schema", "answer_schema"), "a schema of the answer is `response_schema`"),
    **dict.fromkeys(("golden", "target", "targets"), ANSWER),
}
"""Keys that state requirements of a case or turn, in a place where nothing reads them."""
_FINAL_STATE = ("final_state", "end_state", "end_session_state", "final_session")

OWN_WORDS: dict[str, dict[str, str]] = {
    "set": {
        **dict.fromkeys(
            ("cases", "test_cases", "tests", "evals", "evaluations", "examples", "samples"), _CASES
        ),
        **_REQUIREMENTS,
        **dict.fromkeys(_FINAL_STATE, END),
        **dict.fromkeys(("initial_state", "session_state", "initial_session"), START),
        **dict.fromkeys(_CALL_LIST, CALLS),
        **dict.fromkeys(_ANSWERS, ANSWER),
    },
    "case": {
        **_REQUIREMENTS,
        **dict.fromkeys(_FINAL_STATE, END),
        **dict.fromkeys(("state", "initial_state", "session_state", "initial_session"), START),
        **dict.fromkeys(("turns", "messages", "dialog", "dialogue", "invocations"), _TURNS),
        **dict.fromkeys((*_CALL_LIST, *_CALL_PARTS), CALLS),
        **dict.fromkeys(_ANSWERS, ANSWER),
    },
    "row": {
        **_REQUIREMENTS,
        "reference": 'expected a text, `{"parts": [{"text": …}]}`, or one of the two under `response`',
        "reference_trajectory": _CALLS_IN_ROW,
        "expected_tools": _CALLS_IN_ROW,
        **dict.fromkeys(_FINAL_STATE, END),
        **dict.fromkeys(("state", "initial_state", "session_state", "initial_session"), START),
        **dict.fromkeys((*_CALL_LIST, *_CALL_PARTS), CALLS),
        **dict.fromkeys(_ANSWERS, ANSWER),
    },
    "old case": {
        **_REQUIREMENTS,
        **dict.fromkeys(_FINAL_STATE, END),
        **dict.fromkeys(("state", "initial_state", "session_state"), START),
        **dict.fromkeys((*_CALL_LIST, *_CALL_PARTS), CALLS),
        **dict.fromkeys(_ANSWERS, ANSWER),
    },
    "turn": {
        **_REQUIREMENTS,
        **dict.fromkeys(_FINAL_STATE, END),
        **dict.fromkeys((*_CALL_LIST, *_CALL_PARTS), CALLS),
        **dict.fromkeys(_ANSWERS, ANSWER),
    },
    "old turn": {
        **_REQUIREMENTS,
        **dict.fromkeys(_FINAL_STATE, END),
        **dict.fromkeys((*_CALL_LIST, *_CALL_PARTS), CALLS),
        **dict.fromkeys(_ANSWERS, ANSWER),
    },
    "intermediate data": {
        **dict.fromkeys((*_CALL_LIST[:2], *_CALL_LIST[4:], "expected_tools"), "calls are `tool_uses`"),
        **dict.fromkeys(("events", "invocation_event"), "events are `invocation_events`"),
        "sub_agent_uses": "calls are expected in `tool_uses`",
    },
    "call": {
        **dict.fromkeys(
            (
                "args",
                "arguments",
                "params",
                "parameters",
                "inputs",
                "kwargs",
                "tool_args",
                "tool_arguments",
                "tool_params",
                "tool_parameters",
                "tool_inputs",
                "function_args",
                "function_arguments",
                "call_args",
            ),
            _ARGUMENTS,
        ),
        **dict.fromkeys(("tool", "function_name"), "the tool of a call is `name`"),
        "function": "the tool of a call is `name`, its arguments are `args`; of an object `function`, `name` and `arguments` are read",
    },
    "content": dict.fromkeys(("text", "texts", "content", "contents", "message", "value"), _TEXT),
    "part": dict.fromkeys(("txt", "content", "value", "string", "body", "markdown"), _PART_TEXT),
    "session": {
        **dict.fromkeys(
            _FINAL_STATE, "the state at the end is expected in `final_session_state` of the case"
        ),
        **dict.fromkeys(("initial_state", "session_state"), "the state in which a case starts is `state`"),
    },
    "rubric": {"text": "the text of a rubric is `rubric_content.text_property`"},
    "rubric content": dict.fromkeys(("text", "content"), "the text of a rubric is `text_property`"),
    "scenario": {"persona": "the persona is `user_persona`"},
}
"""The meanings of keys, by object."""

OTHER_WORDS: dict[str, str] = {
    "expected_tool_use": CALLS,
    "expected_tool_calls": CALLS,
    "reference": ANSWER,
    "expected_response": ANSWER,
    "expected_response_contains": "",
    "expected_keywords": "",
    "sub_agent_uses": CALLS,
    "rules": _RULES,
    "ground_truth": ANSWER,
    "ground_truths": ANSWER,
    "groundtruth": ANSWER,
    "ideal": ANSWER,
    "golden": ANSWER,
    "gold": ANSWER,
    "success_criteria": "", "acceptance_criteria": "", "pass_criteria": "", "rubric": "rubrics are a list, `rubrics`",
    "rubric_groups": "rubrics are a list, `rubrics`", "contains": "", "not_contains": "", "checks": "",
    "evaluators": _CONFIG, "graders": _CONFIG, "scorers": _CONFIG, "guidelines": "rubrics are a list, `rubrics`",
}  # fmt: skip
"""The meanings of keys in every object; a meaning may be a hint instead of a kind of statement."""

EXPECTS = re.compile(
    r"expected[a-z]+|(?:expect(?:s|ed|ing|ation|ations)?|references?|assert(?:s|ion|ions|ed)?|ground_truths?|must|should|forbidden|prohibited|"
    r"disallowed|final_response(?=_)|tool_uses(?=_)|final_session_state(?=_)|required_(?:tool|call|text|keyword|phrase)s?|"
    r"(?:gold|golden|ideal|desired|correct|target)_(?:answer|response|output|text|result|tool|call|trajectory|label)s?)"
    r"(?=_|$)(?!_(?:url|link|id|doc)s?$)"
)
"""The beginning of another tool's key for an expectation; a link to a document is not an expectation."""

FIRST_WORDS = (
    "expect", "expects", "expected", "expectation", "expectations", "reference", "references", "assertion", "assertions", "ground",
    "golden", "forbidden", "prohibited", "disallowed", "required", "desired", "correct", "target",
)  # fmt: skip
"""Words with which such keys begin; used to find misspellings."""

WHOLE_ANSWER = re.compile(
    r"(?:^|_|^expected)(?:expect|expects|expected|references?|ground_truths?|answer|response|output|reply|text|result)s?$"
)
"""The end of such a key if it means the whole answer."""


def kind_of_expectation(name: str) -> str:
    """Return the kind of expectation of a key that matches `EXPECTS`; empty if it is none of the four kinds."""
    if re.search(r"tool|call|trajector|function|agent_use", name):
        return CALLS
    if "state" in name:
        return END
    return ANSWER if WHOLE_ANSWER.search(name) else ""


EXPECTATIONS = frozenset({CALLS, ANSWER, END, START, "", _ARGUMENTS, _CALLS_IN_ROW})
"""Meanings that state something about the agent."""

NO_EXPECTATION: dict[str, str] = dict.fromkeys(
    ("eval_mode", "actual_conversation"),
    "Proctor runs the agent; recorded traces are scored from Python, with `proctor.score`",
)
"""Keys of other tools that state no expectation."""

HARMLESS = frozenset(
    "comment comments note notes name title description tag metadata meta category categories difficulty priority author "
    "authors owner source sources version label labels language lang group topic domain severity level type kind status id "
    "uid uuid index order created_at updated_at date timestamp skip enabled weight link url ticket issue documentation "
    "agent model scenario test_case_id case_id turn_id session_id conversation_id conversation_type user_id app_name "
    "user_context summary goal task".split()
)
"""Descriptive keys, which state nothing that a verdict depends on."""

INERT = frozenset(
    {
        "eval_set_id", "eval_id", "name", "description", "tags", "creation_timestamp", "duration", "model_duration", "tool_duration",
        "invocation_id", "app_name", "user_id", "session_id", "role",
    }
)  # fmt: skip
"""Known keys whose misspellings change no verdict."""

_IN_CASE = "it belongs to the case"
_IN_TURN = "it belongs to a turn of `conversation`"
_IN_DATA = "it belongs to `intermediate_data` of a turn"

MISPLACED: dict[str, str] = {
    "eval_cases": "it belongs to the set",
    **dict.fromkeys(
        ("conversation", "conversation_scenario", "session_input", "final_session_state", "opening"), _IN_CASE
    ),
    **dict.fromkeys(("expectations", "trajectory_rules", "response_schema"), f"{_IN_CASE}, or to its `session_input`"),
    "rubrics": "it belongs to the case or to a turn of it",
    **dict.fromkeys(("user_content", "final_response", "intermediate_data"), _IN_TURN),
    **dict.fromkeys(("tool_uses", "tool_responses", "intermediate_responses", "invocation_events"), _IN_DATA),
    **dict.fromkeys(("starting_prompt", "conversation_plan", "user_persona"), "it belongs to `conversation_scenario`"),
    "state": "the state in which a case starts is `session_input.state`",
    **dict.fromkeys(("function_call", "function_response"), "it belongs to a part of `content.parts`"),
    **dict.fromkeys(("criteria", "custom_metrics", "user_simulator_config"), _CONFIG),
}  # fmt: skip
"""Keys of the format that decide verdicts, each with the object that it belongs to."""
