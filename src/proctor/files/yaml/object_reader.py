"""The base of all readers of the YAML form: known and misspelled keys, and problems with positions."""

from __future__ import annotations

from proctor.files.text.problems import Path_, Place, Problem, SourceText, field_name, quote
from proctor.files.yaml.keys import EXTRA, NEVER_EMPTY, known_key, meant_key
from proctor.files.yaml.nodes import Map, Node, Seq, Word, is_null
from proctor.schema.format.wire_model import WireModel

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
        self, made: Map, entries: Fields, path: Path_, model: type[WireModel], also: tuple[str, ...] = ()
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
                made.put(name, value, node.keys[name])


def kind_of_node(node: Node) -> str:
    """Describe a node for a message."""
    if isinstance(node, Map):
        return "an object" if node.values else "an empty object"
    if isinstance(node, Seq):
        return "a list" if node.items else "an empty list"
    if is_null(node):
        return "nothing"
    return f"the text {quote(node.text, 40)}" if node.text else "an empty text"
