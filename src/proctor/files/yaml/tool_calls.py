"""Tool calls in the YAML form: as text, as `name: {arguments}`, or as the format writes them."""

from __future__ import annotations

import json
from typing import Any

from proctor.files.text.problems import Path_, Place, shown
from proctor.files.yaml.call_syntax import NAME, CallError, parse_call
from proctor.files.yaml.keys import CALL_KEYS, known_key
from proctor.files.yaml.nodes import Map, Node, Seq, Word, map_node, text_node
from proctor.files.yaml.object_reader import Form, kind_of_node


class CallForm(Form):
    """Reads the calls of a turn."""

    def calls(self, items: list[Node], path: Path_) -> list[Node]:
        """The calls of a list."""
        return [self._call(item, (*path, index)) for index, item in self.whole_calls(items)]

    def whole_calls(self, items: list[Node]) -> list[tuple[int, Node]]:
        """The elements of a list and where they stand; calls that YAML has split at their commas are whole again."""
        made: list[tuple[int, Node]] = []
        skip_to = 0
        for index, item in enumerate(items):
            if index < skip_to:
                continue
            skip_to = _cut_until(items, index)
            made.append((index, self._rejoined(items[index:skip_to]) if skip_to else item))
        return made

    def _rejoined(self, pieces: list[Node]) -> Node:
        """The call that YAML has split at its commas: what stands in the file from the first piece to the last."""
        first, last = pieces[0], pieces[-1]
        if not (isinstance(first, Word) and isinstance(last, Word)) or first.start < 0:
            return first
        return Word(first.place, self.source.text[first.start : last.end], True, first.start, last.end)

    def _call(self, node: Node, path: Path_) -> Node:
        if isinstance(node, Word):
            return self.call_of_text(node, path)
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

    def call_of_text(self, node: Word, path: Path_) -> Map:
        """The call that a text is; an empty object where it is none."""
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


def _cut_until(items: list[Node], first: int) -> int:
    """Where the pieces end of a call that YAML has split at its commas; 0: the call at `first` is whole."""
    for index in range(first, len(items)):
        item = items[index]
        text = item.text if isinstance(item, Word) and item.plain else ""
        if ("(" in text) is not (index == first) or (index == first and ")" in text):
            return 0
        if text.endswith(")"):
            return index + 1
    return 0


def value_node(value: Any, place: Place) -> Node:
    """A value that was read from inside a text, as a node."""
    if isinstance(value, dict):
        return map_node(place, ((key, value_node(item, place)) for key, item in value.items()))
    if isinstance(value, list):
        return Seq(place, [value_node(item, place) for item in value])
    return Word(place, value) if isinstance(value, str) else Word(place, json.dumps(value), plain=True)


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
