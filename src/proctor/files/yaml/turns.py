"""Turns in the YAML form, converted to the keys of the format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from proctor.files.text.problems import Path_, Place
from proctor.files.yaml.keys import (
    RUBRIC_KEYS,
    RUBRIC_TYPE,
    TURN_KEYS,
)
from proctor.files.yaml.nodes import Map, Node, Seq, Word, is_null, map_node, text_node
from proctor.files.yaml.object_reader import Fields, kind_of_node
from proctor.files.yaml.tool_calls import ExpectationForm
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.rubric import stable_rubric_id

_DATA_KEYS = {
    "tools": "tool_uses",
    "tool_responses": "tool_responses",
    "intermediate_responses": "intermediate_responses",
}


class TurnForm(ExpectationForm):
    """Reads turns, and the rubrics of turns and cases."""

    def turn(self, node: Node, path: Path_) -> Map:
        """Return one turn as an Invocation."""
        if not isinstance(node, Map):
            self.problem(
                node.place, path, f"expected a turn, got {kind_of_node(node)}", "a turn is `- ask: …`"
            )
            return Map(node.place)
        before = len(self.problems)
        entries = self.fields(node, path, TURN_KEYS, "a turn")
        return self.invocation(entries, node.place, path, complain=len(self.problems) == before)

    def invocation(self, entries: Fields, place: Place, path: Path_, *, complain: bool) -> Map:
        """Return the Invocation of a turn's entries; `complain` if `ask` is missing and no misspelling explains it."""
        made = Map(place)
        if "user_content" not in entries and complain:
            self.problem(place, path, "`ask` is missing", "what does the user say in this turn?")
        for name in Invocation.model_fields:
            if name == "intermediate_data":
                self._intermediate_data(made, entries, path)
            elif name in entries:
                key, node = entries[name]
                made.put(name, self._turn_value(name, key, node, (*path, key)), node.place)
        self.add_extra(made, entries, path, Invocation)
        return made

    def _turn_value(self, name: str, key: str, node: Node, path: Path_) -> Node:
        if key == "ask":
            return self._message(node, path, "user")
        if key == "expect":
            return self._message(node, path, "model")
        return self.rubrics(node, path) if name == "rubrics" else node

    def _message(self, node: Node, path: Path_, role: str) -> Node:
        """Return a text as a message of one part; an object with `parts` already has the long form."""
        if isinstance(node, Map) and "parts" in node.values:
            return node
        if not isinstance(node, Word):
            self.problem(
                node.place, path, f"expected text, or an object with `parts`, got {kind_of_node(node)}"
            )
        return content(node.text if isinstance(node, Word) else "", node.place, role)

    # --- steps before the answer ---

    def _intermediate_data(self, made: Map, entries: Fields, path: Path_) -> None:
        short = [name for name in _DATA_KEYS if name in entries]
        if "intermediate_data" in entries:
            made.put("intermediate_data", self.whole(entries, "intermediate_data", short, "the calls", path))
        elif short:
            place = entries[short[0]][1].place
            data = ((_DATA_KEYS[name], self._data(name, *entries[name], path)) for name in short)
            made.put("intermediate_data", map_node(place, data))

    def _data(self, name: str, key: str, node: Node, path: Path_) -> Node:
        here = (*path, key)
        if name == "tool_responses":
            return node
        if name == "tools":
            items = self.calls(self.items(node, here, "tool calls"), here)
        else:
            items = [_intermediate_response(item) for item in self.items(node, here, "texts")]
        return Seq(node.place, items)

    # --- rubrics ---

    def rubrics(self, node: Node, path: Path_) -> Node:
        """Return texts, or objects with `text`, as rubrics; other objects already have the long form."""
        if is_null(node):
            return node
        items = self.items(node, path, "rubrics")
        return Seq(node.place, [self._rubric(item, (*path, index)) for index, item in enumerate(items)])

    def _rubric(self, node: Node, path: Path_) -> Node:
        if isinstance(node, Word) and not is_null(node):
            return rubric(node.text, node.place, stable_rubric_id(node.text), [_answer_type(node.place)])
        if not isinstance(node, Map) or "text" not in node.values:
            if isinstance(node, Map) and _FULL_RUBRIC.isdisjoint(node.values):
                self.problem(node.place, path, "`text` is missing", "what must every answer contain or do?")
            return _with_type(node)
        entries = self.fields(node, path, RUBRIC_KEYS, "a rubric")
        if "text" not in entries or (text := self.text(entries["text"][1], (*path, "text"))) is None:
            return Map(node.place)
        rubric_id: str | None = stable_rubric_id(text)
        if "rubric_id" in entries:
            rubric_id = self.text(entries["rubric_id"][1], (*path, "id"))
        rest: list[tuple[str, Node]] = [
            (name, entries[name][1]) for name in ("description", "type") if name in entries
        ]
        if "type" not in entries:
            rest.append(_answer_type(node.values["text"].place))
        return rubric(text, node.values["text"].place, rubric_id or "", rest)


def _with_type(node: Node) -> Node:
    """Add the default type to a rubric of the form `criterion`, `points`."""
    if not isinstance(node, Map) or "criterion" not in node.values or node.values.keys() - _WEIGHTED:
        return node  # with an id or a type it already has the long form
    name, value = _answer_type(node.place)
    return replace(node, values={**node.values, name: value}, keys={**node.keys, name: node.place})


_FULL_RUBRIC = frozenset({"rubric_id", "rubricId", "rubric_content", "rubricContent", "criterion"})
"""Keys of a rubric in the long form."""
_WEIGHTED = {"criterion", "points", "description"}


def _answer_type(place: Place) -> tuple[str, Node]:
    return "type", text_node(RUBRIC_TYPE, place)


def rubric(text: str, place: Place, rubric_id: str, rest: Sequence[tuple[str, Node]]) -> Map:
    """Return a rubric in the long form."""
    body = map_node(place, [("text_property", text_node(text, place))])
    return map_node(place, [("rubric_id", text_node(rubric_id, place)), ("rubric_content", body), *rest])


def content(text: str, place: Place, role: str) -> Map:
    """Return a message of one text."""
    part = map_node(place, [("text", text_node(text, place))])
    return map_node(place, [("parts", Seq(place, [part])), ("role", text_node(role, place))])


def _intermediate_response(node: Node) -> Node:
    """Return an intermediate text without an author as a pair; other values already have the long form."""
    if not isinstance(node, Word) or is_null(node):
        return node
    part = map_node(node.place, [("text", text_node(node.text, node.place))])
    return Seq(node.place, [text_node("", node.place), Seq(node.place, [part])])
