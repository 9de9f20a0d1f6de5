"""The keys of the YAML form, and the base of all its readers: known and misspelled keys, problems with positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from pydantic.alias_generators import to_camel, to_snake

from proctor.files.text.problems import Path_, Place, Problem, SourceText, field_name, quote
from proctor.files.text.validation_messages import near_key
from proctor.files.yaml.nodes import Map, Node, Seq, Word, is_null
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.wire_model import WireModel

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


Fields = dict[str, tuple[str, Node]]
"""The entries of an object: the format's name -> the key in the file, and the value."""

_EMPTY = {
    "tools": "`tools: []` asserts that no tool is called; leave the key out to assert nothing about calls",
    "ask": 'an empty text is `""`',
    "expect": 'an empty text is `""`; leave the key out when no answer is stated',
}


class Form:
    """Reads the form. Errors are collected in `problems`, and unreadable parts are left out."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.problems: list[Problem] = []

    # --- objects, texts, lists ---

    def problem(self, place: Place, path: Path_, message: str, hint: str = "") -> None:
        """Report an error at a position."""
        self.problems.append(Problem("error", self.source.name, *place, field_name(path), message, hint))

    def whole(self, entries: Fields, name: str, parts: list[str], content: str, path: Path_) -> Node:
        """Return the entry `name`, which excludes entries for its `parts`; `content` names them in the message."""
        key, node = entries[name]
        if parts:
            message = (
                f"`{key}` and `{entries[parts[0]][0]}` exclude each other: `{key}` contains {content}, too"
            )
            self.problem(node.place, (*path, key), message, "use only one of them")
        return node

    def fields(self, node: Map, path: Path_, table: dict[str, str], what: str) -> Fields:
        """Return the entries of an object by the names of the format."""
        entries: Fields = {}
        for key, value in node.values.items():
            known = known_key(key, table)
            if known is None:
                self._unknown(node.keys[key], (*path, key), table, what)
            elif table[known] in entries:
                other = entries[table[known]][0]
                self.problem(
                    node.keys[key], (*path, key), f"`{key}` and `{other}` are the same key", "remove one"
                )
            elif is_null(value) and known in NEVER_EMPTY:
                self.problem(
                    node.keys[key],
                    (*path, key),
                    f"`{key}:` has no value",
                    _EMPTY.get(key, "leave the key out"),
                )
            else:
                entries[table[known]] = (key, value)
        return entries

    def _unknown(self, place: Place, path: Path_, table: dict[str, str], what: str) -> None:
        key = str(path[-1])
        meant = meant_key(key, table)
        hint = f"did you mean `{meant}`?" if meant else "custom keys belong under `extra:`"
        self.problem(
            place, path, f"{what} has no key {quote(key, 40)}", hint if EXTRA in table or meant else ""
        )

    def text(self, node: Node, path: Path_) -> str | None:
        """Return a text as written: `42` and `yes` are texts here."""
        if isinstance(node, Word) and not is_null(node):
            return node.text
        self.problem(node.place, path, f"expected text, got {kind_of_node(node)}")
        return None

    def items(self, node: Node, path: Path_, what: str) -> list[Node]:
        """Return the elements of a list."""
        if isinstance(node, Seq):
            return node.items
        self.problem(
            node.place,
            path,
            f"expected a list of {what}, got {kind_of_node(node)}",
            "write each on a separate line, after `- `",
        )
        return []

    def add_extra(
        self, result: Map, entries: Fields, path: Path_, model: type[WireModel], also: tuple[str, ...] = ()
    ) -> None:
        """Add the keys under `extra` to the object that they belong to."""
        if EXTRA not in entries:
            return
        key, node = entries[EXTRA]
        if not isinstance(node, Map):
            self.problem(node.place, (*path, key), f"expected an object, got {kind_of_node(node)}")
            return
        names = {name: name for name in (*model.model_fields, *also)}
        for name, value in node.values.items():
            if known_key(name, names):
                where = (*path, key, name)
                self.problem(
                    node.keys[name], where, f"`{name}` is a key of the format", "write it outside of `extra`"
                )
            else:
                result.put(name, value, node.keys[name])


def kind_of_node(node: Node) -> str:
    """Describe a node for a message."""
    if isinstance(node, Map):
        return "an object" if node.values else "an empty object"
    if isinstance(node, Seq):
        return "a list" if node.items else "an empty list"
    if is_null(node):
        return "nothing"
    return f"the text {quote(node.text, 40)}" if node.text else "an empty text"
