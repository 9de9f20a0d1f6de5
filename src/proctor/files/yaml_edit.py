"""Changing a YAML text where it is to change, and nowhere else: every other byte stays, comments and layout too."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

import yaml

from proctor.errors import EvalFileError
from proctor.files.splices import SplicedText
from proctor.files.yaml_emit import emit


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

    def put(self, node: yaml.Node, key: str, value: Any, *, after: str) -> None:
        """Give an object an entry, or its entry another value; a new one stands behind the entry `after`."""
        self._check_lines(node)
        entries = {name.value: (name, held) for name, held in node.value}
        written = self._indented(emit({key: value}), node.start_mark.column)
        if key in entries:
            name, held = entries[key]
            self._splices.append((name.start_mark.index, self._end_of(held), written.strip()))
            return
        end = self._end_of(entries[after][1])
        self._splices.append((end, end, f"\n{' ' * node.start_mark.column}{written.rstrip()}"))

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
            after = self.source[end:]
            if after[:1] == "\n":  # one of the blank lines around it
                end += 1
            self._splices.append((start, end, ""))

    # --- layout ---

    def _check_list(self, node: yaml.Node) -> None:
        if not isinstance(node, yaml.SequenceNode):
            raise EvalFileError(
                f"{self.name}: this is a single case, not a set: `proctor convert` makes it one"
            )

    def _check_lines(self, node: yaml.Node) -> None:
        if not isinstance(node, yaml.CollectionNode) or node.flow_style or not node.value:
            line = node.start_mark.line + 1
            raise EvalFileError(f"{self.name}:{line}: this stands on one line, and is changed by hand")

    def _stands_apart(self, node: yaml.Node) -> bool:
        if len(node.value) < 2:
            return False
        before, last = node.value[-2:]
        return "\n\n" in self.source[self._end_of(before) : last.start_mark.index]

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
