"""Edit a YAML text in place: every byte outside of the changes is kept, comments and layout included."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import yaml

from proctor.errors import EvalFileError
from proctor.files.edit.text_edits import Comment, SplicedText
from proctor.files.edit.yaml_nodes import children, compose, entry_keys, is_in_brackets, shared_nodes
from proctor.files.yaml.object_reader import CASE_KEYS, ONE_TURN_KEYS
from proctor.files.yaml.writer import emit, emit_alike, emit_on_one_line, write_case
from proctor.schema.format.case import EvalCase
from proctor.schema.format.wire_model import to_camel

_COMMENT = re.compile(r"#(?<![^\s]#)[^\n]*")
_LINE_END = re.compile(r"\r?\n")
_SIDE_COMMENT = re.compile(r"[ \t]+#[^\r\n]*")

Object = dict[str, Any]


class YamlEdit(SplicedText):
    """A readable YAML text, and the changes to it, which `text()` applies.

    A part of a value in brackets is written in brackets, on one line.

    Raises:
        EvalFileError: the changed part shares its line with something else.
    """

    def __init__(self, name: str, text: str, excerpt: str | None = None) -> None:
        """`excerpt`: the text to read instead, with the same offsets; parts that do not change may be comments in it."""
        super().__init__(text)
        self.name = name
        root = compose(text if excerpt is None else excerpt)
        if root is None:
            raise EvalFileError(f"{name}: the file is empty")
        self.root: yaml.Node = root
        self._shared = shared_nodes(root)

    def at(self, node: yaml.Node, *path: str | int) -> yaml.Node | None:
        """Return the value at a path, `None` if there is none."""
        value: yaml.Node | None = node
        for step in path:
            if isinstance(value, yaml.MappingNode):
                value = next((item for key, item in value.value if key.value == step), None)
            elif isinstance(value, yaml.SequenceNode) and isinstance(step, int) and step < len(value.value):
                value = value.value[step]
            else:
                return None
        return value

    @property
    def case_list(self) -> yaml.Node:
        """The list of cases of a set, or the document itself if it has no such key."""
        keys = ("cases", "eval_cases", "evalCases")
        return next((node for key in keys if (node := self.at(self.root, key)) is not None), self.root)

    @property
    def cases(self) -> list[yaml.Node]:
        """The cases of a set; empty where the document is a single case."""
        case_list = self.case_list
        return list(case_list.value) if isinstance(case_list, yaml.SequenceNode) else []

    # --- changes ---

    def put(self, node: yaml.Node, key: str, value: object, *, after: str, before: object = None) -> None:
        """Set an entry of an object; a new one is inserted after the entry `after`.

        `before` is the present value. If it has as many items or the same keys as `value`, only the differences are written.
        """
        self._check_lines(node)
        self._check_not_shared(node, key)
        entries = {name.value: (name, item) for name, item in node.value}
        name, item = entries.get(key, (None, None))
        if item is not None and self._put_parts(item, before, value):
            return
        if is_in_brackets(node):
            self._put_in_brackets(item, key, value, self._end_of(entries[after][1]))
            return
        text = self._indent(emit({key: value}), node.start_mark.column)
        if item is not None:
            self._splices.append((name.start_mark.index, self._end_of(item), text.strip()))
            return
        end = self._end_with_comment(entries[after][1])
        self._splices.append((end, end, f"\n{' ' * node.start_mark.column}{text.rstrip()}"))

    def _put_in_brackets(self, present: yaml.Node | None, key: str, value: object, end: int) -> None:
        """Write an entry of an object in brackets: over its present value, or as a new one at `end`."""
        if present is None:
            self._splices.append((end, end, f", {emit_on_one_line({key: value})[1:-1]}"))
            return
        start = present.start_mark.index
        space = "" if self.source[start - 1].isspace() else " "
        self._splices.append((start, self._end_of(present), space + emit_on_one_line([value])[1:-1]))

    def replace_value(self, node: yaml.Node, value: object) -> None:
        """Replace an item of a list, or the whole document."""
        if node in self._shared:
            self._check_not_shared(node, "")
        if node is self.root:
            self._splices.append((node.start_mark.index, self._end_of(node), emit(value).rstrip()))
            return
        self._replace_item(node, value, in_brackets=is_in_brackets(node))

    def _replace_item(self, node: yaml.Node, value: object, *, in_brackets: bool) -> None:
        if in_brackets:
            text = emit_on_one_line([value])[1:-1]
        else:
            text = self._indent(emit([value]), node.start_mark.column - 2)[2:].rstrip()
        self._splices.append((node.start_mark.index, self._end_of(node), text))

    def remove_entry(self, node: yaml.Node, key: str) -> None:
        """Remove an entry from an object, with its lines; at least one entry must remain."""
        self._check_lines(node)
        self._check_not_shared(node, key)
        index = next(index for index, (name, _) in enumerate(node.value) if name.value == key)
        name, item = node.value[index]
        if index == 0:  # its line may begin with the dash of a list
            self._splices.append((name.start_mark.index, node.value[1][0].start_mark.index, ""))
            return
        if is_in_brackets(node):  # with the comma before it
            self._splices.append((self._end_of(node.value[index - 1][1]), self._end_of(item), ""))
            return
        start = self.source.rfind("\n", 0, name.start_mark.index) + 1
        self._splices.append((start, self._line_end(self._end_of(item)), ""))

    def change_entries(
        self, node: yaml.Node, before: Mapping[str, object], after: Mapping[str, object], *, first: str = ""
    ) -> None:
        """Change the entries of an object that are in `before` or `after`; all others stay.

        A new entry follows the one before it in `after`, or the entry `first`.

        Raises:
            EvalFileError: no entry would remain.
        """
        present = entry_keys(node)
        remaining = [key for key in present if key in after or key not in before]
        if not remaining:
            raise EvalFileError(
                f"{self.name}:{node.start_mark.line + 1}: no key of this object would remain; edit it by hand"
            )
        last = first or remaining[0]
        for key, value in after.items():
            if key in present:
                last = key
            if key not in before or not emit_alike(before[key], value):
                self.put(node, key, value, after=last, before=before.get(key))
        self._keep_entries(node, remaining)

    def _keep_entries(self, node: yaml.Node, keys: Collection[str]) -> None:
        for key in entry_keys(node):
            if key not in keys:
                self.remove_entry(node, key)

    def _put_parts(self, node: yaml.Node, before: object, value: object) -> bool:
        """Write the items or entries of a value that differ; return false if it must be written whole."""
        if isinstance(node, yaml.SequenceNode) and isinstance(before, list) and isinstance(value, list):
            return len(node.value) == len(before) == len(value) and self._put_items(node, before, value)
        if not (isinstance(before, Mapping) and isinstance(value, Mapping)):
            return False
        if {*entry_keys(node)} != before.keys() or before.keys().isdisjoint(value):
            return False
        self.change_entries(node, before, value)
        return True

    def _put_items(self, node: yaml.Node, before: list[object], values: list[object]) -> bool:
        for item, old, new in zip(node.value, before, values, strict=True):
            if not emit_alike(old, new) and not self._put_parts(item, old, new):
                self._replace_item(item, new, in_brackets=is_in_brackets(node))
        return True

    def append(self, node: yaml.Node, values: Sequence[object]) -> None:
        """Append items to a list, separated by a blank line if the last two items are."""
        self._check_list(node)
        if not node.value:
            items = [self._indent(emit([value]), 2).rstrip() for value in values]
            start = len(self.source[: node.start_mark.index].rstrip(" "))
            self._splices.append((start, node.end_mark.index, "".join(f"\n  {item}" for item in items)))
            return
        self._check_lines(node)
        last = node.value[-1]
        dash = self.source.rfind("-", 0, last.start_mark.index)
        column = dash - (self.source.rfind("\n", 0, dash) + 1)
        blank = "\n" if self._ends_after_blank_line(node) else ""
        pad = " " * column
        items = [self._indent(emit([value]), column).rstrip() for value in values]
        end = self._end_with_comment(last)
        self._splices.append((end, end, "".join(f"\n{blank}{pad}{item}" for item in items)))

    def remove_items(self, node: yaml.Node, indexes: Collection[int]) -> None:
        """Remove items from a list, with their lines.

        Raises:
            EvalFileError: no item would remain.
        """
        self._check_list(node)
        self._check_lines(node)
        if len(indexes) >= len(node.value):
            raise EvalFileError(f"{self.name}: a set needs at least one case: delete the file instead")
        for index in indexes:
            start = self.source.rfind("\n", 0, node.value[index].start_mark.index) + 1
            end = self._line_end(self._end_of(node.value[index]))
            if blank := _LINE_END.match(self.source, end):  # one of the blank lines around the item
                end = blank.end()
            self._splices.append((start, end, ""))

    def text(self, original: str | None = None) -> str:
        """Return the text, or another one with the same offsets, with all changes and with its own line ends."""
        if "\r\n" in self.source:
            self._splices = [(start, end, _LINE_END.sub("\r\n", new)) for start, end, new in self._splices]
        return super().text(original)

    def comments(self) -> Iterator[Comment]:
        """Return the comments of the original text, from the first change to the last: `#` outside of all values."""
        starts, ends = zip(*sorted(self._scalars(self.root)), strict=True)
        first, last = self.splices[0][0], self.splices[-1][1]
        for match in _COMMENT.finditer(self.source, first, self._line_end(last)):
            if match.start() >= last:
                return
            before = bisect_right(starts, match.start()) - 1
            if before < 0 or match.start() >= ends[before]:
                yield Comment(match.start(), match[0].rstrip())

    def _scalars(self, node: yaml.Node) -> Iterator[tuple[int, int]]:
        if isinstance(node, yaml.ScalarNode):
            yield node.start_mark.index, node.end_mark.index
        for child in children(node):
            yield from self._scalars(child)

    # --- layout ---

    def _check_list(self, node: yaml.Node) -> None:
        if not isinstance(node, yaml.SequenceNode):
            raise EvalFileError(
                f"{self.name}: this is a single case, not a set: use `proctor convert` to make it one"
            )

    def _check_not_shared(self, node: yaml.Node, key: str) -> None:
        item = next((value for name, value in node.value if name.value == key), node)
        if node in self._shared or item in self._shared:
            raise EvalFileError(
                f"{self.name}:{node.start_mark.line + 1}: `{key}` is used in several places (an anchor `&` and its "
                "`*`), and would change in all of them. Nothing was written; edit it by hand, or use `proctor convert` "
                "first"
            )

    def _check_lines(self, node: yaml.Node) -> None:
        is_row = is_in_brackets(node) and isinstance(node, yaml.SequenceNode)
        if not isinstance(node, yaml.CollectionNode) or is_row or not node.value:
            line = node.start_mark.line + 1
            raise EvalFileError(f"{self.name}:{line}: this value is on one line: edit it by hand")

    def _ends_after_blank_line(self, node: yaml.Node) -> bool:
        if len(node.value) < 2:
            return False
        before, last = node.value[-2:]
        between = self.source[self._end_of(before) : last.start_mark.index]
        return "\n\n" in between.replace("\r", "")

    def _end_of(self, node: yaml.Node) -> int:
        """Return the end of the last character of a value, without the line ends and comments after a block."""
        if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            return self._end_of(last[1] if isinstance(last, tuple) else last)
        start, end = node.start_mark.index, node.end_mark.index
        if isinstance(node, yaml.ScalarNode) and node.style in {"|", ">"}:
            return int(start + len(self.source[start:end].rstrip()))
        return int(end)

    def _end_with_comment(self, node: yaml.Node) -> int:
        """Return the end of a value and of a comment on its last line."""
        end = self._end_of(node)
        comment = _SIDE_COMMENT.match(self.source, end)
        return comment.end() if comment else end

    def _line_end(self, offset: int) -> int:
        line_end = self.source.find("\n", offset)
        return len(self.source) if line_end < 0 else line_end + 1

    @staticmethod
    def _indent(text: str, column: int) -> str:
        return re.sub(r"\n(?=[^\n])", f"\n{' ' * column}", text)


# --- a case -------------------------------------------------------------------------------------------------------------


def change_yaml_case(
    edit: YamlEdit, index: int, before: EvalCase, after: EvalCase, values: tuple[Object, Object] | None
) -> None:
    """Change the case at `index` to `after`; equal entries keep their bytes, comments and layout.

    `values`: the JSON of both cases; with it, turns with the keys of the format keep them. Otherwise they are written
    again in the short form.

    Raises:
        EvalFileError: the case shares an anchor or a line with something else.
    """
    cases = edit.cases
    node = cases[index] if cases else edit.root
    present = entry_keys(node)
    old, new = _with_keys_of(present, write_case(before)), _with_keys_of(present, write_case(after))
    has_derived_id = "case" in old and "case" not in present
    if has_derived_id and before.eval_id == after.eval_id:
        del old["case"], new["case"]
    if emit_alike(old, new):
        return
    if values is not None and _has_long_turns(edit, node):
        _change_long_case(edit, node, old, new, values)
    elif old.keys() == {*present} and not old.keys().isdisjoint(new):
        edit.change_entries(node, old, new)
    else:
        edit.replace_value(node, new)


def _has_long_turns(edit: YamlEdit, case: yaml.Node) -> bool:
    """Whether a case has recorded turns with the keys of the format instead of `ask` and `expect`."""
    lists = (edit.at(case, key) for key in ("turns", "conversation", "opening"))
    turns = next((each.value for each in lists if isinstance(each, yaml.SequenceNode)), None)
    if turns is None:
        return "user_content" in entry_keys(case)
    return any("ask" not in entry_keys(turn) for turn in turns if isinstance(turn, yaml.MappingNode))


def _change_long_case(
    edit: YamlEdit, node: yaml.Node, old: Object, new: Object, values: tuple[Object, Object]
) -> None:
    """Change a case whose turns have the keys of the format; `old` and `new`: the case in the short form."""
    _change_turns(edit, node, old, new, values)
    old, new = _without_turns(old), _without_turns(new)
    if not emit_alike(old, new):
        edit.change_entries(node, old, new)


def _turn_nodes(edit: YamlEdit, case: yaml.Node, key: str) -> list[yaml.Node]:
    """Return the turns of a case; a single turn may have no list."""
    turns = next((node for name in ("turns", key) if (node := edit.at(case, name)) is not None), None)
    return list(turns.value) if isinstance(turns, yaml.SequenceNode) else [case]


def _change_turns(
    edit: YamlEdit, case: yaml.Node, old: Object, new: Object, values: tuple[Object, Object]
) -> None:
    """Change the turns of a case, each in its own form."""
    before, after = values
    key = "conversation" if before.get("conversation") else "opening"
    nodes = _turn_nodes(edit, case, key)
    short = [
        _as_turns(entries).get("turns" if key == "conversation" else key) or [] for entries in (old, new)
    ]
    for place, (node, *turn) in enumerate(zip(nodes, before[key], after[key], strict=True)):
        if turn[0] == turn[1]:
            continue
        if not _SHORT_KEYS.isdisjoint(entry_keys(node)):
            edit.change_entries(node, short[0][place], short[1][place])
        else:
            _change_long_turn(edit, node, turn[0], turn[1])


def _change_long_turn(edit: YamlEdit, node: yaml.Node, old: Object, new: Object) -> None:
    """Change the entries of a turn that has the keys of the format; a new entry follows the user's message."""
    present = entry_keys(node)

    def spelled(name: str) -> str:
        camel = to_camel(name)
        return camel if camel in present and name not in present else name

    for name, value in new.items():
        if old.get(name) != value:
            edit.put(node, spelled(name), value, after=spelled("user_content"), before=old.get(name))


_SHORT_KEYS = frozenset({"ask", "expect", "tools"})


def _without_turns(entries: Object) -> Object:
    keys = {"turns", "opening", *ONE_TURN_KEYS}
    return {key: value for key, value in entries.items() if key not in keys}


_ALIASED_FIELDS = ("eval_id", "final_session_state", "trajectory_rules")
"""Fields that have several names, with the same value under each."""


def _with_keys_of(present: Sequence[str], entries: Object) -> Object:
    """Return the entries of a case under the names that the file uses: `rules` for `trajectory_rules`."""
    names = {CASE_KEYS[key]: key for key in present if CASE_KEYS.get(key) in _ALIASED_FIELDS}
    entries = {names.get(CASE_KEYS.get(key, key), key): value for key, value in entries.items()}
    return _as_turns(entries) if "turns" in present else entries


def _as_turns(entries: Object) -> Object:
    """Return a case of one turn with a list of turns."""
    turn = {key: value for key, value in entries.items() if key in ONE_TURN_KEYS}
    if not turn:
        return entries
    folded: Object = {}
    for key, value in entries.items():
        if key not in turn:
            folded[key] = value
        elif "turns" not in folded:
            folded["turns"] = [turn]
    return folded
