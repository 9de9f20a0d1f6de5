"""The identity of a function or an object: its code, its values, and the modules that it imports."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from proctor.common.project_code import is_project_module, module_of, project_code

_DEEPEST = 4
"""Objects of installed packages are described to this depth; below it by their class."""
_DEEPEST_OF_ALL = 50
_MOST_PARTS = 100_000
_PLAIN = (str, int, float, complex, bytes)
_GENERATED = frozenset(
    f"__{name}__"
    for name in (
        "init",
        "repr",
        "eq",
        "hash",
        "lt",
        "le",
        "gt",
        "ge",
        "setattr",
        "delattr",
        "getstate",
        "setstate",
    )
)
"""Methods that `dataclass` compiles from the class itself."""
_UNWRAPPED = {classmethod: ("__func__",), staticmethod: ("__func__",), property: ("fget", "fset", "fdel")}


@dataclass(frozen=True, slots=True)
class CodeIdentity:
    """Hashes of a value and of its code."""

    held: str
    """Hash of the names of its code and of its values."""
    modules: str
    """Hash of the project's modules that it uses."""
    is_complete: bool
    """Whether everything is known. Otherwise an equal identity does not mean equal behaviour."""


def identify(value: object) -> CodeIdentity:
    """Return the identity of a function, a class, an object or plain data.

    The identity of a function covers its position in its module, its closure, defaults, attributes and bound object. The
    identity of an object covers its class and attributes. Both include the modules of these and the modules that those import
    from the project.
    """
    description = _Description()
    description.add(value, 0)
    code = project_code(description.modules.values())
    digest = blake2b("\0".join(description.parts).encode("utf-8", "replace"), digest_size=16).hexdigest()
    return CodeIdentity(digest, code.hash, description.is_complete and code.is_complete)


class _Description:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.modules: dict[int, ModuleType] = {}
        self.is_complete = True
        self._open: set[int] = set()
        self._classes: set[type] = set()

    def add(self, value: object, depth: int) -> None:
        """Describe a value; `depth` is its level of nesting."""
        if value is None or type(value) in _PLAIN or isinstance(value, bool):
            self.parts.append(repr(value))
        elif id(value) in self._open:
            self.parts.append("...")  # a cyclic reference
        elif depth > _DEEPEST_OF_ALL or len(self.parts) > _MOST_PARTS:
            self.is_complete = False
        else:
            self._open.add(id(value))
            self._add_structure(value, depth)
            self._open.discard(id(value))

    def _add_structure(self, value: object, depth: int) -> None:
        if isinstance(value, partial):
            self.add((value.func, value.args, value.keywords), depth)
        elif isinstance(value, ModuleType):
            self._add_module(value, value.__name__)
        elif isinstance(value, type):
            self._add_class(value, depth)
        elif inspect.isroutine(value):
            self._add_function(value, depth)
        elif isinstance(value, CodeType):
            self.parts.append(_place(value))
        else:
            self._add_items(value, depth)
            if type(value).__module__ != "builtins":
                self._add_object(value, depth)

    def _add_items(self, value: object, depth: int) -> None:
        if isinstance(value, _PLAIN):
            self.parts.append(repr(value))
        elif isinstance(value, set | frozenset):
            self.parts.extend(sorted(self._text(item, depth) for item in value))
        elif isinstance(value, Mapping):
            for key in value:
                self.add(key, depth + 1)
                self.add(value[key], depth + 1)
        elif isinstance(value, tuple | list):
            for item in value:
                self.add(item, depth + 1)
        elif type(value).__module__ == "builtins":
            self._add_text(value)

    def _text(self, item: object, depth: int) -> str:
        parts, self.parts = self.parts, []
        self.add(item, depth + 1)
        parts, self.parts = self.parts, parts
        return "\0".join(parts)

    def _add_text(self, value: Any) -> None:
        """Describe a value without attributes, such as a date, a path or an array, by its bytes or its text."""
        try:
            self.parts.append(blake2b(memoryview(value).tobytes(), digest_size=16).hexdigest())
        except (TypeError, ValueError, NotImplementedError):  # it has no buffer
            text = repr(value)
            self.parts.append("" if hex(id(value)) in text else text)  # a repr with a memory address

    def _add_function(self, function: Any, depth: int) -> None:
        self._add_code(function)
        code = getattr(function, "__code__", None)
        if isinstance(code, CodeType):
            self.parts.append(_place(code))
            if code.co_name not in _GENERATED and not _is_in_file(code, module_of(function)):
                self.is_complete = False
        for cell in getattr(function, "__closure__", None) or ():
            try:
                content = cell.cell_contents
            except ValueError:  # an empty cell
                continue
            self.add(content, depth + 1)
        for name in ("__defaults__", "__kwdefaults__", "__dict__", "__self__"):
            self.add(getattr(function, name, None) or None, depth + 1)

    def _add_object(self, value: object, depth: int) -> None:
        self._add_class(type(value), depth)
        is_of_project = is_project_module(module_of(type(value)))
        if depth > _DEEPEST and not is_of_project:
            return
        slots = _slots(type(value))
        attributes = {
            **{name: getattr(value, name, None) for name in slots},
            **getattr(value, "__dict__", {}),
        }
        for name, attribute in attributes.items():
            self.parts.append(name)
            self.add(attribute, depth + 1)
        if not attributes and not hasattr(value, "__dict__"):
            self._add_text(value)

    def _add_class(self, kind: type, depth: int) -> None:
        for one in kind.__mro__:
            self._add_code(one)
            if one not in self._classes and is_project_module(module_of(one)):
                self._classes.add(one)
                self._add_attributes(one, depth)

    def _add_attributes(self, kind: type, depth: int) -> None:
        for name, value in list(vars(kind).items()):
            inner = [getattr(value, part) for part in _UNWRAPPED.get(type(value), ())] or [value]
            for one in inner:
                if inspect.isfunction(one):
                    self._add_function(one, depth + 1)
                elif not name.startswith("__") and isinstance(
                    one, (*_PLAIN, list, tuple, dict, set, frozenset)
                ):
                    self.parts.append(name)
                    self.add(one, depth + 1)

    def _add_code(self, code: Any) -> None:
        self.parts.append(f"{getattr(code, '__module__', '')}.{getattr(code, '__qualname__', '')}")
        self._add_module(module_of(code), getattr(code, "__module__", None))

    def _add_module(self, module: ModuleType | None, name: str | None) -> None:
        if module is not None:
            self.modules[id(module)] = module
        elif name is not None:
            self.is_complete = False  # no longer in `sys.modules`


def _place(code: CodeType) -> str:
    """Return the position of code in its file. It differs for two functions of one name and for two lambdas in one line."""
    columns = [(line, start, end) for line, _, start, end in code.co_positions() if line and start and end]
    return f"{code.co_firstlineno} {min(columns, default='')} {max(columns, default='')}"


def _is_in_file(code: CodeType, module: ModuleType | None) -> bool:
    """Return whether code was compiled from its module's file, not from a text without a file."""
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and Path(code.co_filename).resolve() == Path(file).resolve()


def _slots(kind: type) -> list[str]:
    """Return the slots of a class and its bases, without those of the standard library."""
    slot_names = [
        getattr(one, "__slots__", ())
        for one in kind.__mro__
        if one.__module__.partition(".")[0] not in sys.stdlib_module_names
    ]
    return [name for names in slot_names for name in ([names] if isinstance(names, str) else names)]
