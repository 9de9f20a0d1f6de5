"""What a case expects beyond a list of calls, in the YAML form: the JSON of `docs/metrics.md`, with calls as text as well.

`book(covers=2)` is `{tool: book, args: {covers: 2}}`; a name alone is a call with whatever arguments, as in the JSON.
"""

from __future__ import annotations

from proctor.files.text.problems import Path_
from proctor.files.yaml.nodes import Map, Node, Seq, Word, map_node
from proctor.files.yaml.turns import TurnForm

_LISTS = ("calls", "forbidden", "limits", "any_of", "any_order", "in_order")
_CALLS = ("never", "call", "only_after", "implies_later", "no", "before")


class ExpectationForm(TurnForm):
    """Reads the keys `expectations` and `rules` of a case. What else is wrong with them is said before a run."""

    def expectations(self, node: Node, path: Path_) -> Node:
        """One expectation, or a list of them."""
        if isinstance(node, Seq):
            return Seq(node.place, [self._group(each, (*path, i)) for i, each in enumerate(node.items)])
        return self._group(node, path)

    def rules(self, node: Node, path: Path_) -> Node:
        """A list of rules."""
        items = self.items(node, path, "rules")
        return Seq(node.place, [self._rule(each, (*path, index)) for index, each in enumerate(items)])

    def _group(self, node: Node, path: Path_) -> Node:
        if not isinstance(node, Map):
            return node
        made = Map(node.place)
        for key, value in node.values.items():
            is_list = key in _LISTS and isinstance(value, Seq)
            made.put(key, self._list(value, (*path, key)) if is_list else value, node.keys[key])
        return made

    def _list(self, node: Node, path: Path_) -> Node:
        pieces = self.whole_calls(node.items) if isinstance(node, Seq) else []
        return Seq(node.place, [self._item(each, (*path, index)) for index, each in pieces])

    def _item(self, node: Node, path: Path_) -> Node:
        """A call, a group of calls, or a list of calls in their order."""
        if isinstance(node, Seq):
            return self._list(node, path)
        if isinstance(node, Map) and "tool" not in node.values:
            return self._group(node, path)
        return self._one(node, path)

    def _rule(self, node: Node, path: Path_) -> Node:
        if not isinstance(node, Map):
            return node
        made = Map(node.place)
        for key, value in node.values.items():
            made.put(key, self._one(value, (*path, key)) if key in _CALLS else value, node.keys[key])
        return made

    def _one(self, node: Node, path: Path_) -> Node:
        """A call: as text with its arguments, or as an object whose `tool` is such a text."""
        if isinstance(node, Word) and "(" in node.text:
            return self._written(node, path)
        if isinstance(node, Map) and "args" not in node.values:
            tool = node.values.get("tool")
            if isinstance(tool, Word) and "(" in tool.text:
                made = self._written(tool, (*path, "tool"))
                for key, value in node.values.items():
                    if key != "tool":
                        made.put(key, value, node.keys[key])
                return made
        return node

    def _written(self, node: Word, path: Path_) -> Map:
        call = self.call_of_text(node, path)
        keys = {"name": "tool", "args": "args"}
        return map_node(node.place, ((keys[key], value) for key, value in call.values.items()))
