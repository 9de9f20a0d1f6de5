"""Changing a JSON text where it is to change, and nowhere else: every other byte stays, comments and layout too."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from proctor.files.edit.text_edits import Comment, SplicedText

_COMMENT = re.compile(r"(?://|#)[^\n]*")
_SIDE_COMMENT = re.compile(r"[ \t]*(,?)[ \t]*(?://|#)[^\r\n]*")
_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|#[^\n]*)*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_WORD = re.compile(r"[^\s{}\[\]:,\"#/]+")
_INDENT = re.compile(r"\n([ \t]*)$")


@dataclass(slots=True, eq=False)
class JsonNode:
    """One value of a text: from `start` to `end`; what an object or a list holds."""

    start: int
    end: int = 0
    members: dict[str, JsonNode] | None = None
    """By key, of an object; of a key that stands there twice the last one, which counts."""
    items: list[JsonNode] | None = None
    keys: dict[str, int] = field(default_factory=dict)
    """Where the key of each member starts."""

    @property
    def children(self) -> list[JsonNode]:
        """What it holds, in order."""
        return list(self.members.values()) if self.members is not None else self.items or []

    def at(self, *path: str | int) -> JsonNode | None:
        """Return the value at a path, `None` where there is none."""
        node: JsonNode | None = self
        for step in path:
            if node is None:
                return None
            if isinstance(step, str):
                node = (node.members or {}).get(step)
            else:
                node = node.items[step] if node.items and step < len(node.items) else None
        return node


class JsonEdit(SplicedText):
    """A text that is read without fault, and the changes to it.

    Changes are collected and made at once by `text()`; they must not overlap. What is written anew takes the layout of
    its surroundings: their indentation, their line ends, all on one line where they are.
    """

    def __init__(self, text: str, start: int = 0, known: Mapping[int, int] | None = None) -> None:
        """Read a text from `start` on; `known`: where values end that begin there, and need not be looked into."""
        super().__init__(text)
        self._at = start
        self._known = known or {}
        self._gaps: list[tuple[int, int]] = []
        """Where comments stand, among other things."""
        self.root = self._value()
        self._ascii = text.isascii() and "\\u" in text
        self._line_end = "\r\n" if "\r\n" in text else "\n"

    def raw(self, node: JsonNode) -> str:
        """Return the text of a value."""
        return self.source[node.start : node.end]

    def value(self, node: JsonNode) -> Any:
        """Return a value as data."""
        if node.members is not None:
            return {key: self.value(child) for key, child in node.members.items()}
        if node.items is not None:
            return [self.value(child) for child in node.items]
        return json.loads(self.raw(node))

    # --- changes ---

    def replace(self, node: JsonNode, value: Any) -> None:
        """Put another value in the place of one; nothing happens where they are equal."""
        if _same(self.value(node), value):
            return
        self.replace_text(node, self._instead(node, value))

    def replace_text(self, node: JsonNode, text: str) -> None:
        """Put JSON text in the place of a value."""
        self._splices.append((node.start, node.end, text))

    def remove_text(self, start: int, end: int) -> None:
        """Take out what stands between two characters."""
        self._splices.append((start, end, ""))

    def put(self, node: JsonNode, key: str, value: Any, *, after: str | None = None) -> None:
        """Give an object a member, or its member another value; a new one stands behind `after`, or last."""
        members = node.members if node.members is not None else {}
        if key in members:
            self.replace(members[key], value)
            return
        if not members:
            self.replace_text(node, self.render({key: value}, self.indent_at(node.start), one_line=False))
            return
        before = members[after] if after in members else node.children[-1]
        gap = self._gap_of(node)
        named = f"{json.dumps(key, ensure_ascii=self._ascii)}: "
        if not gap and '": ' not in self.raw(node):
            named = named[:-1]
        text = self.render(value, gap.rpartition("\n")[2], one_line="\n" not in gap)
        self._splices.append((before.end, before.end, f",{gap}{named}{text}"))

    def append(self, node: JsonNode, values: Sequence[Any]) -> None:
        """Give a list further items, at its end."""
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
        if not comment[1]:  # no comma is there: one comes before the comment, which is about the last item
            self._splices.append((last.end, last.end, ","))
        end, more = comment.end(), f",{gap}".join(texts)
        self._splices.append((end, end, f"{gap}{more}{comment[1]}"))

    def replace_items(self, node: JsonNode, texts: Sequence[str]) -> None:
        """Put other items into a list, given as JSON text; nothing happens where they are those that are there."""
        if [self.raw(item) for item in node.items or ()] == list(texts):
            return
        if not node.items or not texts:
            self.replace(node, [json.loads(text) for text in texts])
            return
        first, last = node.items[0], node.items[-1]
        text = f",{self._gap_of(node)}".join(texts)
        self._splices.append((first.start, last.end, text))

    def remove_items(self, node: JsonNode, indexes: Collection[int]) -> None:
        """Take items out of a list, each with the comma before it."""
        items = node.items or []
        kept = [index for index in range(len(items)) if index not in indexes]
        if len(kept) == len(items):
            return
        if not kept:
            self._splices.append((node.start + 1, node.end - 1, ""))
            return
        start, head = self._beginning(items, kept[0])
        pieces = [head, self.raw(items[kept[0]])]
        for before, index in pairwise(kept):
            pieces += [self._tail(items, before), self._head(items, index), self.raw(items[index])]
        end, tail = self._ending(items, kept[-1])
        self._splices.append((start, end, "".join([*pieces, tail])))

    def _beginning(self, items: list[JsonNode], first: int) -> tuple[int, str]:
        """Where what goes begins, and what stands there before the first item that stays."""
        start, head = items[0].start, self._head(items, first) if first else ""
        if "\n" not in head:
            return start, head.lstrip()
        return len(self.source[:start].rstrip(" \t\r\n")), head

    def _ending(self, items: list[JsonNode], last: int) -> tuple[int, str]:
        """Where what goes ends, and what stands there behind the last item that stays; its comma goes."""
        end = items[-1].end
        if last + 1 == len(items):
            return end, ""
        tail = self._tail(items, last)
        if self.source[end : end + 1] == ",":  # one too many, in a layout that has it
            end += 1
        else:
            tail = tail.replace(",", "", 1)
        line = self._end_of_line(end)
        is_commented = self.source[end:line].lstrip(" \t").startswith(("//", "#"))
        return line if is_commented else end, tail

    def _tail(self, items: list[JsonNode], index: int) -> str:
        """What stands behind an item: its comma, and a comment on the line."""
        return self.source[items[index].end : self._border(items, index)]

    def _head(self, items: list[JsonNode], index: int) -> str:
        """What stands before an item: the lines between the one before it and it, comments among them."""
        return self.source[self._border(items, index - 1) : items[index].start]

    def _border(self, items: list[JsonNode], index: int) -> int:
        """Where the surroundings of an item end and those of the next begin: the end of its line, or its comma."""
        gap = _GAP.match(self.source, items[index].end)
        comma = (gap.end() if gap else items[index].end) + 1
        line = self._end_of_line(comma)
        return line if line < items[index + 1].start else comma

    def _end_of_line(self, offset: int) -> int:
        found = self.source.find("\n", offset)
        end = len(self.source) if found < 0 else found
        return end - (self.source[end - 1 : end] == "\r")

    # --- layout ---

    def raw_with(self, node: JsonNode, key: str, value: Any) -> str:
        """Return the text of an object with another value for one of its members."""
        member = (node.members or {})[key]
        before, after = self.source[node.start : member.start], self.source[member.end : node.end]
        return f"{before}{self._instead(member, value)}{after}"

    def _instead(self, node: JsonNode, value: Any) -> str:
        one_line = "\n" not in self.raw(node) and (bool(node.children) or self._is_on_one_line(node))
        return self.render(value, self.indent_at(node.start), one_line=one_line)

    def render(self, value: Any, indent: str, *, one_line: bool) -> str:
        """Return JSON text for a value whose first line stands behind `indent`."""
        if one_line or not isinstance(value, dict | list) or not value:
            tight = '":' in self.source and '": ' not in self.source
            separators = (",", ":") if tight else None
            return json.dumps(value, ensure_ascii=self._ascii, separators=separators)
        text = json.dumps(value, ensure_ascii=self._ascii, indent=self._unit())
        return text.replace("\n", f"{self._line_end}{indent}")

    def _unit(self) -> str:
        """One step of indentation: what stands before the first thing that is indented at all."""
        found = re.search(r"\n([ \t]+)\S", self.source)
        return found[1] if found else "  "

    def indent_at(self, offset: int) -> str:
        """Return the white space that the line of a character begins with."""
        start = self.source.rfind("\n", 0, offset) + 1
        line = self.source[start:offset]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _gap_of(self, node: JsonNode) -> str:
        """What stands between two children of a container: a line end and an indentation, a space, or nothing."""
        first = node.children[0].start if node.items else min(node.keys.values())
        found = _INDENT.search(self.source[node.start + 1 : first])
        if found:
            return f"{self._line_end}{found[1]}"
        return " " if ", " in self.raw(node) or '": ' in self.raw(node) else ""

    def _is_on_one_line(self, node: JsonNode) -> bool:
        """Whether a text of several values has them all on one line."""
        return "\n" not in self.source.strip() or isinstance(self.value(node), str | int | float)

    # --- reading ---

    def comments(self) -> Iterator[Comment]:
        """Return the comments of the old text."""
        for start, end in self._gaps:
            for found in _COMMENT.finditer(self.source, start, end):
                yield Comment(found.start(), found[0].rstrip())

    def _skip(self) -> str:
        """Step over white space and comments; the character behind them."""
        gap = _GAP.match(self.source, self._at)
        if gap and gap[0].strip():
            self._gaps.append(gap.span())
        self._at = gap.end() if gap else self._at
        return self.source[self._at : self._at + 1]

    def _value(self) -> JsonNode:
        sign = self._skip()
        node = JsonNode(self._at)
        if (end := self._known.get(self._at)) is not None:
            self._at = end
        elif sign == "{":
            self._members(node)
        elif sign == "[":
            self._items(node)
        else:
            self._at = self._end_of(_STRING if sign == '"' else _WORD)
        node.end = self._at
        return node

    def _end_of(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self.source, self._at)
        if found is None:
            raise ValueError(f"no JSON at character {self._at}")
        return found.end()

    def _members(self, node: JsonNode) -> None:
        node.members = {}
        self._at += 1
        while self._skip() != "}":
            start = self._at
            self._at = self._end_of(_STRING)
            key = json.loads(self.source[start : self._at])
            self._skip()
            self._at += 1  # the colon
            node.members.pop(key, None)  # the last one counts, and stands where it stands
            node.members[key], node.keys[key] = self._value(), start
            self._comma()
        self._at += 1

    def _items(self, node: JsonNode) -> None:
        node.items = []
        self._at += 1
        while self._skip() != "]":
            node.items.append(self._value())
            self._comma()
        self._at += 1

    def _comma(self) -> None:
        if self._skip() == ",":
            self._at += 1


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same in JSON: unlike in Python, `true` is not 1, and 1 is not 1.0."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
