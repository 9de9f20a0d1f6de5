"""Changing a YAML text where it is to change, and nowhere else: every other byte stays, comments and layout too."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import yaml

from proctor.errors import EvalFileError
from proctor.files.edit.text_edits import Comment, SplicedText
from proctor.files.yaml.emitter import emit

_COMMENT = re.compile(r"(?<![^\s])#[^\n]*")
_LINE_END = re.compile(r"\r?\n")
_BESIDE = re.compile(r"[ \t]+#[^\r\n]*")


class YamlEdit(SplicedText):
    """A text that is read without fault, and the changes to it, made at once by `text()`.

    Only entries and items that stand on lines of their own are changed.

    Raises:
        EvalFileError: what is to change shares its line with something else.
    """

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is None:
            raise EvalFileError(f"{name}: the file is empty")
        self.root: yaml.Node = root
        self._shared = _used_twice(root)

    def at(self, node: yaml.Node, *path: str | int) -> yaml.Node | None:
        """Return the value at a path, `None` where there is none."""
        found: yaml.Node | None = node
        for step in path:
            if isinstance(found, yaml.MappingNode):
                found = next((value for key, value in found.value if key.value == step), None)
            elif isinstance(found, yaml.SequenceNode) and isinstance(step, int) and step < len(found.value):
                found = found.value[step]
            else:
                return None
        return found

    @property
    def case_list(self) -> yaml.Node:
        """The list of cases of a set; the document itself where it is one."""
        keys = ("cases", "eval_cases", "evalCases")
        return next((found for key in keys if (found := self.at(self.root, key)) is not None), self.root)

    @property
    def cases(self) -> list[yaml.Node]:
        """The cases of a set; empty where the document is a single case."""
        listed = self.case_list
        return list(listed.value) if isinstance(listed, yaml.SequenceNode) else []

    # --- changes ---

    def put(self, node: yaml.Node, key: str, value: Any, *, after: str, before: Any = None) -> None:
        """Give an object an entry, or its entry another value; a new one stands behind the entry `after`.

        Of a value that was `before` and has as many items, or the same keys, only the ones that differ are written.
        """
        self._check_lines(node)
        self._check_own(node, key)
        entries = {name.value: (name, held) for name, held in node.value}
        written = self._indented(emit({key: value}), node.start_mark.column)
        if key in entries:
            name, held = entries[key]
            if not self._put_parts(held, before, value):
                self._splices.append((name.start_mark.index, self._end_of(held), written.strip()))
            return
        end = self._end_of(entries[after][1])
        if beside := _BESIDE.match(self.source, end):
            end = beside.end()
        self._splices.append((end, end, f"\n{' ' * node.start_mark.column}{written.rstrip()}"))

    def replace_value(self, node: yaml.Node, value: Any) -> None:
        """Put another value in the place of an item of a list, or of the whole document."""
        if node in self._shared:
            self._check_own(node, "")
        if node is self.root:
            self._splices.append((node.start_mark.index, self._end_of(node), emit(value).rstrip()))
            return
        if isinstance(node, yaml.CollectionNode) and node.flow_style:
            self._check_lines(node)
        text = self._indented(emit([value]), node.start_mark.column - 2)
        self._splices.append((node.start_mark.index, self._end_of(node), text[2:].rstrip()))

    def remove_entry(self, node: yaml.Node, key: str) -> None:
        """Take an entry out of an object, with the lines that it stands in; one entry at least has to stay."""
        self._check_lines(node)
        self._check_own(node, key)
        index = next(place for place, (name, _) in enumerate(node.value) if name.value == key)
        name, held = node.value[index]
        if index == 0:  # it may share its line with the dash of a list
            self._splices.append((name.start_mark.index, node.value[1][0].start_mark.index, ""))
            return
        start = self.source.rfind("\n", 0, name.start_mark.index) + 1
        self._splices.append((start, self._line_end(self._end_of(held)), ""))

    def _put_parts(self, node: yaml.Node, before: Any, value: Any) -> bool:
        """Write the items or the entries of a value that differ; false where the value is to be written whole."""
        if not isinstance(node, yaml.CollectionNode) or node.flow_style:
            return False
        if isinstance(node, yaml.SequenceNode):
            same = isinstance(before, list) and isinstance(value, list)
            if same and len(node.value) == len(before) == len(value):
                self._put_items(node, before, value)
                return True
            return False
        keys = [name.value for name, _ in node.value]
        if not (
            isinstance(before, Mapping) and isinstance(value, Mapping) and keys == list(before) == list(value)
        ):
            return False
        for key in keys:
            if emit(before[key]) != emit(value[key]):
                self.put(node, key, value[key], after=key, before=before[key])
        return True

    def _put_items(self, node: yaml.Node, before: list[Any], values: list[Any]) -> None:
        for item, old, new in zip(node.value, before, values, strict=True):
            if emit(old) != emit(new) and not self._put_parts(item, old, new):
                text = self._indented(emit([new]), item.start_mark.column - 2)
                self._splices.append((item.start_mark.index, self._end_of(item), text[2:].rstrip()))

    def append(self, node: yaml.Node, values: Sequence[Any]) -> None:
        """Give a list further items, at its end; a blank line between them where there is one before the last."""
        self._check_list(node)
        if not node.value:
            items = [self._indented(emit([value]), 2).rstrip() for value in values]
            start = len(self.source[: node.start_mark.index].rstrip(" "))
            self._splices.append((start, node.end_mark.index, "".join(f"\n  {item}" for item in items)))
            return
        self._check_lines(node)
        last = node.value[-1]
        dash = self.source.rfind("-", 0, last.start_mark.index)
        column = dash - (self.source.rfind("\n", 0, dash) + 1)
        blank = "\n" if self._stands_apart(node) else ""
        pad = " " * column
        items = [self._indented(emit([value]), column).rstrip() for value in values]
        end = self._end_of(last)
        if beside := _BESIDE.match(self.source, end):  # a comment on its line stays there
            end = beside.end()
        self._splices.append((end, end, "".join(f"\n{blank}{pad}{item}" for item in items)))

    def remove_items(self, node: yaml.Node, indexes: Collection[int]) -> None:
        """Take items out of a list, with the lines that they stand in.

        Raises:
            EvalFileError: none would be left.
        """
        self._check_list(node)
        self._check_lines(node)
        if len(indexes) >= len(node.value):
            raise EvalFileError(f"{self.name}: a set keeps one case at least: delete the file instead")
        for index in indexes:
            start = self.source.rfind("\n", 0, node.value[index].start_mark.index) + 1
            end = self._line_end(self._end_of(node.value[index]))
            if blank := _LINE_END.match(self.source, end):  # one of the blank lines around it
                end = blank.end()
            self._splices.append((start, end, ""))

    def text(self) -> str:
        """Return the text with all changes made, in the line ends that it has."""
        if "\r\n" in self.source:
            self._splices = [(start, end, _LINE_END.sub("\r\n", new)) for start, end, new in self._splices]
        return super().text()

    def comments(self) -> Iterator[Comment]:
        """Return the comments of the old text: what begins with `#` and is in no value."""
        starts, ends = zip(*sorted(self._scalars(self.root)), strict=True)
        for found in _COMMENT.finditer(self.source):
            place = bisect_right(starts, found.start()) - 1
            if place < 0 or found.start() >= ends[place]:
                yield Comment(found.start(), found[0].rstrip())

    def _scalars(self, node: yaml.Node) -> Iterator[tuple[int, int]]:
        if isinstance(node, yaml.ScalarNode):
            yield node.start_mark.index, node.end_mark.index
        for child in _children(node):
            yield from self._scalars(child)

    # --- layout ---

    def _check_list(self, node: yaml.Node) -> None:
        if not isinstance(node, yaml.SequenceNode):
            raise EvalFileError(
                f"{self.name}: this is a single case, not a set: `proctor convert` makes it one"
            )

    def _check_own(self, node: yaml.Node, key: str) -> None:
        held = next((value for name, value in node.value if name.value == key), node)
        if node in self._shared or held in self._shared:
            raise EvalFileError(
                f"{self.name}:{node.start_mark.line + 1}: `{key}` is used in several places (an anchor `&` and its "
                "`*`), and would change in all of them. Nothing was written of it; change it by hand, or `proctor convert` "
                "the file first"
            )

    def _check_lines(self, node: yaml.Node) -> None:
        if not isinstance(node, yaml.CollectionNode) or node.flow_style or not node.value:
            line = node.start_mark.line + 1
            raise EvalFileError(f"{self.name}:{line}: this stands on one line, and is changed by hand")

    def _stands_apart(self, node: yaml.Node) -> bool:
        if len(node.value) < 2:
            return False
        before, last = node.value[-2:]
        between = self.source[self._end_of(before) : last.start_mark.index]
        return "\n\n" in between.replace("\r", "")

    def _end_of(self, node: yaml.Node) -> int:
        """Where the last character of a value stands: what follows in a block are line ends and comments."""
        if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            return self._end_of(last[1] if isinstance(last, tuple) else last)
        text = self.source[: node.end_mark.index]
        return (
            len(text.rstrip())
            if isinstance(node, yaml.ScalarNode) and node.style in {"|", ">"}
            else len(text)
        )

    def _line_end(self, offset: int) -> int:
        found = self.source.find("\n", offset)
        return len(self.source) if found < 0 else found + 1

    @staticmethod
    def _indented(text: str, column: int) -> str:
        return re.sub(r"\n(?=[^\n])", f"\n{' ' * column}", text)


def _used_twice(root: yaml.Node) -> set[yaml.Node]:
    """The values that stand behind an anchor and are used elsewhere, too, with all that is in them."""
    seen: set[yaml.Node] = set()
    shared: set[yaml.Node] = set()
    left = [root]
    while left:
        node = left.pop()
        if node in seen:
            shared.update(_all_in(node))
            continue
        seen.add(node)
        left += _children(node)
    return shared


def _all_in(node: yaml.Node) -> Iterator[yaml.Node]:
    yield node
    for child in _children(node):
        yield from _all_in(child)


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
