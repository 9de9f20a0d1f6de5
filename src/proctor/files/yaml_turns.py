"""Turns in the YAML form, in the words of the format."""

from __future__ import annotations

import json
from typing import Any

from proctor.files.base import Path_, Place, Problem, SourceText, field_name, shown
from proctor.files.yaml_calls import NAME, CallError, parse_call
from proctor.files.yaml_keys import (
    CALL_KEYS,
    EXTRA,
    NEVER_EMPTY,
    RUBRIC_KEYS,
    TURN_KEYS,
    known_key,
    meant_key,
)
from proctor.files.yaml_nodes import Map, Node, Seq, Word, is_null, map_node, text_node
from proctor.schema.base import WireModel
from proctor.schema.invocation import Invocation
from proctor.schema.rubric import stable_rubric_id

Fields = dict[str, tuple[str, Node]]
"""What an object says: the format's name -> the key as it is written, and the value."""

_DATA_KEYS = {
    "tools": "tool_uses",
    "tool_responses": "tool_responses",
    "intermediate_responses": "intermediate_responses",
}


class Speech:
    """Reads the form; what is wrong is collected in `problems`, and what cannot be read is left out."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.problems: list[Problem] = []

    # --- the pieces that all objects share ---

    def problem(self, place: Place, path: Path_, message: str, hint: str = "") -> None:
        """Note what is wrong at a place."""
        self.problems.append(Problem("error", self.source.name, *place, field_name(path), message, hint))

    def fields(self, node: Map, path: Path_, table: dict[str, str], what: str) -> Fields:
        """The entries of an object by the names of the format."""
        found: Fields = {}
        for key, value in node.values.items():
            known = known_key(key, table)
            if known is None:
                self._unknown(node.keys[key], (*path, key), table, what)
            elif table[known] in found:
                other = found[table[known]][0]
                self.problem(
                    node.keys[key], (*path, key), f"`{key}` and `{other}` say the same", "remove one"
                )
            elif is_null(value) and known in NEVER_EMPTY:
                self.problem(
                    node.keys[key],
                    (*path, key),
                    f"nothing stands after `{key}:`",
                    _EMPTY.get(key, "leave the key out"),
                )
            else:
                found[table[known]] = (key, value)
        return found

    def _unknown(self, place: Place, path: Path_, table: dict[str, str], what: str) -> None:
        key = str(path[-1])
        meant = meant_key(key, table)
        hint = f"did you mean `{meant}`?" if meant else "a key of your own goes under `extra:`"
        self.problem(
            place, path, f"{what} has no key {shown(key, 40)}", hint if EXTRA in table or meant else ""
        )

    def text(self, node: Node, path: Path_) -> str | None:
        """A text as it is written: `42` and `yes` are texts here."""
        if isinstance(node, Word) and not is_null(node):
            return node.text
        self.problem(node.place, path, f"expected text, got {kind_of_node(node)}")
        return None

    def items(self, node: Node, path: Path_, what: str) -> list[Node]:
        """The elements of a list."""
        if isinstance(node, Seq):
            return node.items
        self.problem(
            node.place,
            path,
            f"expected a list of {what}, got {kind_of_node(node)}",
            "each goes on its own line, after `- `",
        )
        return []

    def add_extra(
        self, made: Map, found: Fields, path: Path_, model: type[WireModel], also: tuple[str, ...] = ()
    ) -> None:
        """Put the keys under `extra` into the object that they belong to."""
        if EXTRA not in found:
            return
        key, node = found[EXTRA]
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
                made.put(name, value, node.keys[name])

    # --- turns ---

    def turn(self, node: Node, path: Path_) -> Map:
        """One turn as an Invocation."""
        if not isinstance(node, Map):
            self.problem(
                node.place, path, f"expected a turn, got {kind_of_node(node)}", "a turn is `- ask: …`"
            )
            return Map(node.place)
        return self.invocation(self.fields(node, path, TURN_KEYS, "a turn"), node.place, path)

    def invocation(self, found: Fields, place: Place, path: Path_) -> Map:
        """The Invocation that the entries of a turn say."""
        made = Map(place)
        if "user_content" not in found:
            self.problem(place, path, "`ask` is missing", "what does the user say in this turn?")
        for name in Invocation.model_fields:
            if name == "intermediate_data":
                self._intermediate_data(made, found, path)
            elif name in found:
                key, node = found[name]
                made.put(name, self._turn_value(name, key, node, (*path, key)), node.place)
        self.add_extra(made, found, path, Invocation)
        return made

    def _turn_value(self, name: str, key: str, node: Node, path: Path_) -> Node:
        if key == "ask":
            return self._message(node, path, "user")
        if key == "expect":
            return self._message(node, path, "model")
        return self.rubrics(node, path) if name == "rubrics" else node

    def _message(self, node: Node, path: Path_, role: str) -> Node:
        """A text as a message of one part; an object with `parts` is the format's own."""
        if isinstance(node, Map) and "parts" in node.values:
            return node
        if not isinstance(node, Word):
            self.problem(
                node.place, path, f"expected text, or an object with `parts`, got {kind_of_node(node)}"
            )
        return content(node.text if isinstance(node, Word) else "", node.place, role)

    # --- what the agent does before it answers ---

    def _intermediate_data(self, made: Map, found: Fields, path: Path_) -> None:
        given = [name for name in _DATA_KEYS if name in found]
        if "intermediate_data" in found:
            key, node = found["intermediate_data"]
            if given:
                other = found[given[0]][0]
                self.problem(
                    node.place,
                    (*path, key),
                    f"`{key}` beside `{other}`: it holds the calls, too",
                    "write all of it in one",
                )
            made.put("intermediate_data", node)
        elif given:
            first = found[given[0]][1].place
            data = map_node(
                first, ((_DATA_KEYS[name], self._data(name, *found[name], path)) for name in given)
            )
            made.put("intermediate_data", data)

    def _data(self, name: str, key: str, node: Node, path: Path_) -> Node:
        here = (*path, key)
        if name == "tool_responses":
            return node
        if name == "tools":
            items = self._calls(self.items(node, here, "tool calls"), here)
        else:
            items = [_said(item) for item in self.items(node, here, "texts")]
        return Seq(node.place, items)

    def _calls(self, items: list[Node], path: Path_) -> list[Node]:
        """The calls of a list; of one that YAML has cut to pieces at its commas, the first piece is spoken of."""
        made: list[Node] = []
        open_since: Word | None = None
        for index, item in enumerate(items):
            text = item.text if isinstance(item, Word) and item.plain else ""
            if open_since is None and "(" in text and ")" not in text and isinstance(item, Word):
                open_since = item
            if open_since is None:
                made.append(self._call(item, (*path, index)))
            elif text.endswith(")") or index == len(items) - 1:
                message = (
                    f"{shown(open_since.text, 40)} is not a whole call: in `[ ]` YAML splits texts at commas"
                )
                self.problem(
                    open_since.place, path, message, "put the call in quotes, or on its own line after `- `"
                )
                open_since = None
        return made

    def _call(self, node: Node, path: Path_) -> Node:
        if isinstance(node, Word):
            return self._call_text(node, path)
        if isinstance(node, Map) and len(node.values) == 1:
            name, arguments = next(iter(node.values.items()))
            if known_key(name, CALL_KEYS) is None:
                return self._named_call(name, arguments, node, path)
        if not isinstance(node, Map):
            self.problem(
                node.place,
                path,
                f"expected a tool call, got {kind_of_node(node)}",
                "as in `get_weather(city=Paris)`",
            )
            return node
        found = self.fields(node, path, CALL_KEYS, "a tool call")
        if not {"name", "function"} & found.keys():
            self.problem(node.place, path, "the tool's `name` is missing", "as in `get_weather(city=Paris)`")
        return node

    def _named_call(self, name: str, arguments: Node, node: Map, path: Path_) -> Node:
        """`get_weather: {city: Paris}`."""
        place = node.keys[name]
        if not NAME.fullmatch(name):
            hint = "YAML splits texts at `: `, and in `[ ]` and `{ }` at commas; put the whole call in quotes"
            self.problem(place, path, f"{shown(name, 40)} is no tool's name", hint)
        elif not isinstance(arguments, Map):
            message = f"expected the arguments of `{name}` as an object, got {kind_of_node(arguments)}"
            self.problem(
                arguments.place,
                (*path, name),
                message,
                f"as in `{name}: {{city: Paris}}`; without any: `{name}()`",
            )
        return map_node(node.place, [("name", text_node(name, place)), ("args", arguments)])

    def _call_text(self, node: Word, path: Path_) -> Node:
        try:
            name, arguments = parse_call(node.text)
        except CallError as error:
            self.problem(self._inside(node, error.offset), path, error.message, error.hint)
            return map_node(node.place, [])
        pairs = ((key, value_node(value, node.place)) for key, value in arguments.items())
        return map_node(
            node.place, [("name", text_node(name, node.place)), ("args", map_node(node.place, pairs))]
        )

    def _inside(self, node: Word, offset: int) -> Place:
        """Where a character of a text stands in the file."""
        if node.start < 0:
            return node.place
        return self.source.place(
            node.start + offset_in(self.source.text[node.start : node.end], node.text, offset)
        )

    # --- rubrics ---

    def rubrics(self, node: Node, path: Path_) -> Node:
        """Texts, or objects with `text`, as rubrics; other objects are the format's own."""
        if is_null(node):
            return node
        items = self.items(node, path, "rubrics")
        return Seq(node.place, [self._rubric(item, (*path, index)) for index, item in enumerate(items)])

    def _rubric(self, node: Node, path: Path_) -> Node:
        if isinstance(node, Word) and not is_null(node):
            return rubric(node, text_node(stable_rubric_id(node.text), node.place), [])
        if not isinstance(node, Map) or "text" not in node.values:
            return node
        found = self.fields(node, path, RUBRIC_KEYS, "a rubric")
        if "text" not in found or (text := self.text(found["text"][1], (*path, "text"))) is None:
            return Map(node.place)
        place = node.values["text"].place
        default = ("", text_node(stable_rubric_id(text), place))
        rest: list[tuple[str, Node]] = [
            (name, found[name][1]) for name in ("description", "type") if name in found
        ]
        return rubric(text_node(text, place), found.get("rubric_id", default)[1], rest)


_EMPTY = {
    "tools": "`tools: []` says that no calls are expected; leave the key out when that is not stated",
    "ask": 'an empty text is `""`',
    "expect": 'an empty text is `""`; leave the key out when no answer is stated',
}


def rubric(text: Node, rubric_id: Node, rest: list[tuple[str, Node]]) -> Map:
    """A rubric in the words of the format."""
    body = map_node(text.place, [("text_property", text)])
    return map_node(text.place, [("rubric_id", rubric_id), ("rubric_content", body), *rest])


def content(text: str, place: Place, role: str) -> Map:
    """A message of one text."""
    part = map_node(place, [("text", text_node(text, place))])
    return map_node(place, [("parts", Seq(place, [part])), ("role", text_node(role, place))])


def _said(node: Node) -> Node:
    """A text that the agent said on the way, without its author; everything else is the format's own."""
    if not isinstance(node, Word):
        return node
    part = map_node(node.place, [("text", text_node(node.text, node.place))])
    return Seq(node.place, [text_node("", node.place), Seq(node.place, [part])])


def value_node(value: Any, place: Place) -> Node:
    """A value that was read from inside a text, as a node."""
    if isinstance(value, dict):
        return map_node(place, ((key, value_node(item, place)) for key, item in value.items()))
    if isinstance(value, list):
        return Seq(place, [value_node(item, place) for item in value])
    return Word(place, value) if isinstance(value, str) else Word(place, json.dumps(value), plain=True)


def kind_of_node(node: Node) -> str:
    """A node as a message names it."""
    if isinstance(node, Map):
        return "an object" if node.values else "an empty object"
    if isinstance(node, Seq):
        return "a list" if node.items else "an empty list"
    if is_null(node):
        return "nothing"
    return f"the text {shown(node.text, 40)}" if node.text else "an empty text"


def offset_in(raw: str, text: str, offset: int) -> int:
    """The offset in the YAML text `raw` of the character at `offset` of the text that it stands for.

    Quotes, doubled quotes, escapes, indents and folded lines are stepped over; an escaped line end may put it a little off.
    """
    at = raw.find("\n") + 1 if raw[:1] in {"|", ">"} else int(raw[:1] in {'"', "'"})
    for char in text[:offset]:
        if not char.isspace():
            at = _skip_space(raw, at)
        if raw[:1] == '"' and raw[at : at + 1] == "\\":
            at += {"x": 4, "u": 6, "U": 10}.get(raw[at + 1 : at + 2], 2)
        else:
            at += 2 if raw[0] == "'" and raw[at : at + 2] == "''" else 1
    if not text[offset : offset + 1].isspace():
        at = _skip_space(raw, at)
    return min(at, len(raw))


def _skip_space(raw: str, at: int) -> int:
    while raw[at : at + 1].isspace():
        at += 1
    return at
