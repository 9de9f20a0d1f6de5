"""Turns in the YAML form, in the words of the format."""

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
from proctor.files.yaml.tool_calls import CallForm
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.rubric import stable_rubric_id

_DATA_KEYS = {
    "tools": "tool_uses",
    "tool_responses": "tool_responses",
    "intermediate_responses": "intermediate_responses",
}


class TurnForm(CallForm):
    """Reads turns, and the rubrics of turns and cases."""

    def turn(self, node: Node, path: Path_) -> Map:
        """One turn as an Invocation."""
        if not isinstance(node, Map):
            self.problem(
                node.place, path, f"expected a turn, got {kind_of_node(node)}", "a turn is `- ask: …`"
            )
            return Map(node.place)
        before = len(self.problems)
        found = self.fields(node, path, TURN_KEYS, "a turn")
        return self.invocation(found, node.place, path, complain=len(self.problems) == before)

    def invocation(self, found: Fields, place: Place, path: Path_, *, complain: bool) -> Map:
        """The Invocation that the entries of a turn say; `complain` when `ask` is missing, and no slip explains it."""
        made = Map(place)
        if "user_content" not in found and complain:
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
            made.put("intermediate_data", self.whole(found, "intermediate_data", given, "the calls", path))
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
            items = self.calls(self.items(node, here, "tool calls"), here)
        else:
            items = [_said(item) for item in self.items(node, here, "texts")]
        return Seq(node.place, items)

    # --- rubrics ---

    def rubrics(self, node: Node, path: Path_) -> Node:
        """Texts, or objects with `text`, as rubrics; other objects are the format's own."""
        if is_null(node):
            return node
        items = self.items(node, path, "rubrics")
        return Seq(node.place, [self._rubric(item, (*path, index)) for index, item in enumerate(items)])

    def _rubric(self, node: Node, path: Path_) -> Node:
        if isinstance(node, Word) and not is_null(node):
            return rubric(node.text, node.place, stable_rubric_id(node.text), [_about_answers(node.place)])
        if not isinstance(node, Map) or "text" not in node.values:
            if isinstance(node, Map) and _FULL_RUBRIC.isdisjoint(node.values):
                self.problem(node.place, path, "`text` is missing", "what must every answer be, or do?")
            return _with_type(node)
        found = self.fields(node, path, RUBRIC_KEYS, "a rubric")
        if "text" not in found or (text := self.text(found["text"][1], (*path, "text"))) is None:
            return Map(node.place)
        rubric_id: str | None = stable_rubric_id(text)
        if "rubric_id" in found:
            rubric_id = self.text(found["rubric_id"][1], (*path, "id"))
        rest: list[tuple[str, Node]] = [
            (name, found[name][1]) for name in ("description", "type") if name in found
        ]
        if "type" not in found:
            rest.append(_about_answers(node.values["text"].place))
        return rubric(text, node.values["text"].place, rubric_id or "", rest)


def _with_type(node: Node) -> Node:
    """A rubric of the form `criterion`, `points` is about the answers, too, unless it says otherwise."""
    if not isinstance(node, Map) or "criterion" not in node.values or node.values.keys() - _WEIGHTED:
        return node  # with an id or a type it is the format's own
    name, value = _about_answers(node.place)
    return replace(node, values={**node.values, name: value}, keys={**node.keys, name: node.place})


_FULL_RUBRIC = frozenset({"rubric_id", "rubricId", "rubric_content", "rubricContent", "criterion"})
"""Keys of a rubric in the format's own words."""
_WEIGHTED = {"criterion", "points", "description"}


def _about_answers(place: Place) -> tuple[str, Node]:
    return "type", text_node(RUBRIC_TYPE, place)


def rubric(text: str, place: Place, rubric_id: str, rest: Sequence[tuple[str, Node]]) -> Map:
    """A rubric in the words of the format."""
    body = map_node(place, [("text_property", text_node(text, place))])
    return map_node(place, [("rubric_id", text_node(rubric_id, place)), ("rubric_content", body), *rest])


def content(text: str, place: Place, role: str) -> Map:
    """A message of one text."""
    part = map_node(place, [("text", text_node(text, place))])
    return map_node(place, [("parts", Seq(place, [part])), ("role", text_node(role, place))])


def _said(node: Node) -> Node:
    """A text that the agent said on the way, without its author; everything else is the format's own."""
    if not isinstance(node, Word) or is_null(node):
        return node
    part = map_node(node.place, [("text", text_node(node.text, node.place))])
    return Seq(node.place, [text_node("", node.place), Seq(node.place, [part])])
