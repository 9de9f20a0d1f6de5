"""Edit a JSON text in place: every byte outside of the changes is kept, comments and layout included."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

from proctor.common.json_values import sorted_json
from proctor.files.edit.text_edits import Comment, SplicedText
from proctor.files.text.json_tree import JsonNode, JsonTree

_COMMENT = re.compile(r"(?://|#)[^\n]*")
_SIDE_COMMENT = re.compile(r"[ \t]*(,?)[ \t]*(?://|#)[^\r\n]*")
_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|#[^\n]*)*")
_INDENT = re.compile(r"\n([ \t]*)$")


class JsonLayout(NamedTuple):
    """The layout of a JSON text, which new text follows."""

    is_ascii: bool
    """Whether other characters are written as escapes."""
    line_end: str
    indent: str
    """One step of indentation: that of the first indented line."""
    is_tight: bool
    """Whether no space follows a colon."""
    is_one_line: bool

    @classmethod
    def of(cls, text: str) -> JsonLayout:
        """Return the layout of a text."""
        indented = re.search(r"\n([ \t]+)\S", text)
        return cls(
            is_ascii=text.isascii()
            and "\\" in text
            and "\\u" in text,  # one character is found sooner than two
            line_end="\r\n" if "\r" in text and "\r\n" in text else "\n",
            indent=indented[1] if indented else "  ",
            is_tight='":' in text and '": ' not in text,
            is_one_line="\n" not in text.strip(),
        )


class JsonEdit(SplicedText):
    """A readable JSON text, and the changes to it.

    `text()` applies all collected changes, which must not overlap. New text follows the layout around it: indentation,
    line ends, one line or several.
    """

    def __init__(
        self,
        text: str,
        start: int = 0,
        ends: Mapping[int, int] | None = None,
        layout: JsonLayout | None = None,
    ) -> None:
        """Read a text from `start` on; `ends` maps the starts of values that need not be parsed to their ends.

        `layout`: that of the whole text, if `text` is a part of one.
        """
        super().__init__(text)
        tree = JsonTree(text, start, ends=ends)
        self.root = tree.root
        self._gaps = tree.gaps
        self._layout = layout or JsonLayout.of(text)

    def raw(self, node: JsonNode) -> str:
        """Return the text of a value."""
        return self.source[node.start : node.end]

    def value(self, node: JsonNode) -> Any:
        """Return a value as data."""
        with suppress(ValueError):  # comments are not JSON
            return json.loads(self.raw(node))
        if node.members is not None:
            return {key: self.value(child) for key, child in node.members.items()}
        if node.items is not None:
            return [self.value(child) for child in node.items]
        return json.loads(self.raw(node))

    # --- changes ---

    def replace(self, node: JsonNode, value: object) -> None:
        """Replace a value by another one; equal values are not changed."""
        if same_json(self.value(node), value):
            return
        self.replace_text(node, self._render_at(node, value))

    def replace_text(self, node: JsonNode, text: str) -> None:
        """Replace the text of a value."""
        self._splices.append((node.start, node.end, text))

    def remove_text(self, start: int, end: int) -> None:
        """Remove the text between two offsets."""
        self._splices.append((start, end, ""))

    def put(self, node: JsonNode, key: str, value: object, *, after: str | None = None) -> None:
        """Set a member of an object; a new one is inserted after `after`, or at the end."""
        members = node.members if node.members is not None else {}
        if key in members:
            self.replace(members[key], value)
            return
        if not members:
            self.replace_text(node, self.render({key: value}, self.indent_at(node.start), one_line=False))
            return
        before = members[after] if after in members else node.children[-1]
        gap = self._gap_of(node)
        key_text = f"{json.dumps(key, ensure_ascii=self._layout.is_ascii)}: "
        if not gap and '": ' not in self.raw(node):
            key_text = key_text[:-1]
        text = self.render(value, gap.rpartition("\n")[2], one_line="\n" not in gap)
        self._splices.append((before.end, before.end, f",{gap}{key_text}{text}"))

    def append(self, node: JsonNode, values: Sequence[object]) -> None:
        """Append items to a list."""
        if not values:
            return
        if not node.items:
            self.replace_text(node, self.render(list(values), self.indent_at(node.start), one_line=False))
            return
        gap, last = self._gap_of(node), node.items[-1]
        indent, one_line = gap.rpartition("\n")[2], "\n" not in gap
        texts = [self.render(value, indent, one_line=one_line) for value in values]
        comment = _SIDE_COMMENT.match(self.source, last.end)
        if comment is None or one_line:
            self._splices.append((last.end, last.end, "".join(f",{gap}{text}" for text in texts)))
            return
        if not comment[1]:  # insert the missing comma before the comment, which belongs to the last item
            self._splices.append((last.end, last.end, ","))
        end, more = comment.end(), f",{gap}".join(texts)
        self._splices.append((end, end, f"{gap}{more}{comment[1]}"))

    def replace_items(self, node: JsonNode, texts: Sequence[str]) -> None:
        """Replace the items of a list by items given as JSON text; equal items are not changed."""
        if [self.raw(item) for item in node.items or ()] == list(texts):
            return
        if not node.items or not texts:
            self.replace(node, [json.loads(text) for text in texts])
            return
        first, last = node.items[0], node.items[-1]
        text = f",{self._gap_of(node)}".join(texts)
        self._splices.append((first.start, last.end, text))

    def remove_items(self, node: JsonNode, indexes: Collection[int]) -> None:
        """Remove items from a list, each with the comma before it."""
        items = node.items or []
        remaining = [index for index in range(len(items)) if index not in indexes]
        if len(remaining) == len(items):
            return
        if not remaining:
            self._splices.append((node.start + 1, node.end - 1, ""))
            return
        start, head = self._beginning(items, remaining[0])
        pieces = [head, self.raw(items[remaining[0]])]
        for before, index in pairwise(remaining):
            pieces += [self._tail(items, before), self._head(items, index), self.raw(items[index])]
        end, tail = self._ending(items, remaining[-1])
        self._splices.append((start, end, "".join([*pieces, tail])))

    def _beginning(self, items: list[JsonNode], first: int) -> tuple[int, str]:
        """Return the start of the replaced text, and the text before the first remaining item."""
        start, head = items[0].start, self._head(items, first) if first else ""
        if "\n" not in head:
            return start, head.lstrip()
        return len(self.source[:start].rstrip(" \t\r\n")), head

    def _ending(self, items: list[JsonNode], last: int) -> tuple[int, str]:
        """Return the end of the replaced text, and the text after the last remaining item, without its comma."""
        end = items[-1].end
        if last + 1 == len(items):
            return end, ""
        tail = self._tail(items, last)
        if self.source[end : end + 1] == ",":  # a trailing comma of the old text
            end += 1
        else:
            tail = tail.replace(",", "", 1)
        line = self._end_of_line(end)
        is_commented = self.source[end:line].lstrip(" \t").startswith(("//", "#"))
        return line if is_commented else end, tail

    def _tail(self, items: list[JsonNode], index: int) -> str:
        """Return the text after an item on its line: its comma and a comment."""
        return self.source[items[index].end : self._border(items, index)]

    def _head(self, items: list[JsonNode], index: int) -> str:
        """Return the lines between an item and the one before it, including comments."""
        return self.source[self._border(items, index - 1) : items[index].start]

    def _border(self, items: list[JsonNode], index: int) -> int:
        """Return where the tail of an item ends and the head of the next begins: the end of its line, or its comma."""
        gap = _GAP.match(self.source, items[index].end)
        comma = (gap.end() if gap else items[index].end) + 1
        line = self._end_of_line(comma)
        return line if line < items[index + 1].start else comma

    def _end_of_line(self, offset: int) -> int:
        line_end = self.source.find("\n", offset)
        end = len(self.source) if line_end < 0 else line_end
        return end - (self.source[end - 1 : end] == "\r")

    # --- layout ---

    def _render_at(self, node: JsonNode, value: object) -> str:
        one_line = "\n" not in self.raw(node) and (bool(node.children) or self._is_on_one_line(node))
        return self.render(value, self.indent_at(node.start), one_line=one_line)

    def render(self, value: object, indent: str, *, one_line: bool) -> str:
        """Return JSON text for a value whose first line is preceded by `indent`."""
        if one_line or not isinstance(value, dict | list) or not value:
            separators = (",", ":") if self._layout.is_tight else None
            return json.dumps(value, ensure_ascii=self._layout.is_ascii, separators=separators)
        text = json.dumps(value, ensure_ascii=self._layout.is_ascii, indent=self._layout.indent)
        return text.replace("\n", f"{self._layout.line_end}{indent}")

    def indent_at(self, offset: int) -> str:
        """Return the indentation of the line of a character."""
        start = self.source.rfind("\n", 0, offset) + 1
        line = self.source[start:offset]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _gap_of(self, node: JsonNode) -> str:
        """Return the text between two children of a container: a line end and an indentation, a space, or nothing."""
        first = node.children[0].start if node.items else min(node.keys.values())
        match = _INDENT.search(self.source[node.start + 1 : first])
        if match:
            return f"{self._layout.line_end}{match[1]}"
        return " " if ", " in self.raw(node) or '": ' in self.raw(node) else ""

    def _is_on_one_line(self, node: JsonNode) -> bool:
        """Whether the whole text is on one line, or the value is a scalar."""
        return self._layout.is_one_line or isinstance(self.value(node), str | int | float)

    def comments(self) -> Iterator[Comment]:
        """Return the comments of the old text."""
        for start, end in self._gaps:
            for match in _COMMENT.finditer(self.source, start, end):
                yield Comment(match.start(), match[0].rstrip())


def same_json(one: object, other: object) -> bool:
    """Whether two values are the same JSON, except for the order of keys: `true` is not 1, and 1 is not 1.0."""
    return sorted_json(one) == sorted_json(other)


# --- change a value to another one, with as few edits as possible -----------------------------------------------------


def change_value(edit: JsonEdit, node: JsonNode, value: object) -> None:
    """Change the value at `node` to `value`; equal parts are unchanged, and keys keep their order."""
    old = edit.value(node)
    if not same_json(old, value):
        _change(edit, node, old, value)


def _change(edit: JsonEdit, node: JsonNode, old: Any, value: object) -> None:
    """Change the value at `node`, which is `old`, to a different one."""
    if node.members and isinstance(value, dict) and not node.members.keys().isdisjoint(value):
        _change_object(edit, node, old, value)
    elif node.items and isinstance(value, list) and value:
        _change_list(edit, node, old, value)
    else:
        edit.replace(node, value)


# --- objects -----------------------------------------------------------------------------------------------------------


def _change_object(edit: JsonEdit, node: JsonNode, old: dict[str, Any], value: dict[str, object]) -> None:
    members = node.members or {}
    for key, member in members.items():
        if key in value and not same_json(old[key], value[key]):
            _change(edit, member, old[key], value[key])
    after = [key for key in members if key in value][-1]
    for key, new in value.items():
        if key in members:
            after = key
        else:
            edit.put(node, key, new, after=after)
    if not members.keys() <= value.keys():
        for start, end in _removed_ranges(node, value):
            edit.remove_text(start, end)


def _removed_ranges(node: JsonNode, value: dict[str, object]) -> Iterator[tuple[int, int]]:
    """Return the ranges of the removed members, each with the comma before it, or with the next one at the beginning."""
    members = list((node.members or {}).items())
    first = next(index for index, (key, _) in enumerate(members) if key in value)
    for index, (key, member) in enumerate(members):
        if key in value:
            continue
        if index < first:
            yield node.keys[key], node.keys[members[index + 1][0]]
        else:
            yield members[index - 1][1].end, member.end


# --- lists -------------------------------------------------------------------------------------------------------------


def _change_list(edit: JsonEdit, node: JsonNode, old: list[Any], value: list[object]) -> None:
    items = node.items or []
    before, after = [*map(sorted_json, old)], [*map(sorted_json, value)]
    removed = _removed_items(before, after)
    if removed and len(removed) < len(before):
        edit.remove_items(node, removed)
    elif len(after) >= len(before) and _keep_positions(before, after):
        for index, item in enumerate(items):
            if before[index] != after[index]:
                _change(edit, item, old[index], value[index])
        edit.append(node, value[len(items) :])
    else:
        edit.replace_items(node, [*_texts(edit, node, before, value, after)])


def _keep_positions(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether common items have the same positions in both lists: nothing was moved or inserted."""
    same = sum(before == after for before, after in zip(old, new, strict=False))
    return same == (Counter(old) & Counter(new)).total()


def _removed_items(old: Sequence[str], new: Sequence[str]) -> set[int] | None:
    """Return the indexes of the removed items if `new` is `old` without some items, else `None`."""
    removed, matched = set[int](), 0
    for index, text in enumerate(old):
        if matched < len(new) and text == new[matched]:
            matched += 1
        else:
            removed.add(index)
    return removed if matched == len(new) else None


def _texts(
    edit: JsonEdit, node: JsonNode, before: Sequence[str], value: Sequence[object], after: Sequence[str]
) -> Iterator[str]:
    """Return the text of every item of a list; an item that was there before keeps its text."""
    unused: dict[str, list[JsonNode]] = {}
    for text, item in zip(before, node.items or (), strict=True):
        unused.setdefault(text, []).append(item)
    indent = edit.indent_at((node.items or [node])[0].start)
    one_line = "\n" not in edit.raw(node)
    for text, new in zip(after, value, strict=True):
        known = unused.get(text)
        yield edit.raw(known.pop(0)) if known else edit.render(new, indent, one_line=one_line)
