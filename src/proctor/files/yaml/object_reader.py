"""What all objects of the YAML form share: keys told by name, misspelled ones found, problems with their places."""

from __future__ import annotations

from proctor.files.text.problems import Path_, Place, Problem, SourceText, field_name, shown
from proctor.files.yaml.keys import EXTRA, NEVER_EMPTY, known_key, meant_key
from proctor.files.yaml.nodes import Map, Node, Seq, Word, is_null
from proctor.schema.format.wire_model import WireModel

Fields = dict[str, tuple[str, Node]]
"""What an object says: the format's name -> the key as it is written, and the value."""

_EMPTY = {
    "tools": "`tools: []` asserts that no tool is called; leave the key out to assert nothing about calls",
    "ask": 'an empty text is `""`',
    "expect": 'an empty text is `""`; leave the key out when no answer is stated',
}


class Form:
    """Reads the form; what is wrong is collected in `problems`, and what cannot be read is left out."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.problems: list[Problem] = []

    # --- the pieces that all objects share ---

    def problem(self, place: Place, path: Path_, message: str, hint: str = "") -> None:
        """Note what is wrong at a place."""
        self.problems.append(Problem("error", self.source.name, *place, field_name(path), message, hint))

    def whole(self, found: Fields, name: str, parts: list[str], holds: str, path: Path_) -> Node:
        """The entry `name`, which may not stand beside its own `parts`; `holds` is what it holds of theirs."""
        key, node = found[name]
        if parts:
            message = f"`{key}` beside `{found[parts[0]][0]}`: it holds {holds}, too"
            self.problem(node.place, (*path, key), message, "write all of it in one")
        return node

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


def kind_of_node(node: Node) -> str:
    """A node as a message names it."""
    if isinstance(node, Map):
        return "an object" if node.values else "an empty object"
    if isinstance(node, Seq):
        return "a list" if node.items else "an empty list"
    if is_null(node):
        return "nothing"
    return f"the text {shown(node.text, 40)}" if node.text else "an empty text"
