"""Pages of the Python API: each public name with its signature and docstring, from the source."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import Enum
from pkgutil import resolve_name
from textwrap import dedent
from typing import Any

from tests.docs.reference.docstrings import first_sentence, markdown, table
from tests.docs.reference.python_names import PAGES

FOLDER = "reference/python"
WIDTH = 88
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Entry:
    """One public name."""

    name: str
    module: str
    """The module that users import it from."""
    page: str
    anchor: str

    @property
    def value(self) -> Any:
        return resolve_name(f"{self.module}:{self.name}")

    @property
    def link(self) -> str:
        return f"{self.page}#{self.anchor}" if self.anchor else self.page


def entries() -> dict[str, Entry]:
    """Return every entry by its name; the names of `proctor.types` have a page without headings."""
    found: dict[str, Entry] = {}
    for page, (_, _, groups) in PAGES.items():
        anchors: set[str] = set()
        for module, names in groups.values():
            for name in names.split():
                anchor = "" if name.lower() in anchors else name.lower()
                anchors.add(name.lower())
                found.setdefault(name, Entry(name, module, page, anchor))
    return found


def pages() -> dict[str, str]:
    """Return the text of every page by its path in `docs`."""
    known = entries()
    texts = {f"{FOLDER}/{page}": "\n".join(_page(page, known)) for page in PAGES}
    return {f"{FOLDER}/index.md": "\n".join(_index(known)), **texts}


INTRODUCTION = """# Python API

`make reference` writes this page and the pages to which it links from the signatures and docstrings of the source.

Everything that a command does has an equivalent in Python. Import the names from `proctor`, unless the page shows another module. A name that
ends in `_sync` is the synchronous form of a coroutine, for scripts. `proctor.types` replaces `google.genai.types`, and
[`proctor.compat.adk`](../adk/names.md) for google-adk's own modules.
"""


def _index(known: dict[str, Entry]) -> Iterator[str]:
    yield INTRODUCTION
    for title, _, groups in PAGES.values():
        yield f"## {title}\n"
        listed = [known[name] for _, names in groups.values() for name in names.split()]
        rows = [[f"[`{entry.name}`]({entry.link})", first_sentence(_summary(entry))] for entry in listed]
        yield table(["name", "description"], rows)


def _summary(entry: Entry) -> str:
    value = entry.value
    return _doc(value) if inspect.isclass(value) or callable(value) else "All checks."


def _doc(value: Any) -> str:
    """Return a docstring; of a synchronous form the first line, because its page describes the coroutine, too."""
    text = inspect.getdoc(value) or ""
    return text.partition("\n")[0] if _is_sync_form(value) else text


def _is_sync_form(value: Any) -> bool:
    return inspect.iscoroutinefunction(inspect.unwrap(value)) and not inspect.iscoroutinefunction(value)


def _page(page: str, known: dict[str, Entry]) -> Iterator[str]:
    title, introduction, groups = PAGES[page]
    links = {entry.name: entry.link.removeprefix(page) for entry in known.values()}
    yield f"# {title}\n"
    if introduction:
        yield f"{introduction}\n"
    for heading, (module, names) in groups.items():
        yield f"## {heading}\n"
        for name in names.split():
            yield f"### {name}\n"
            yield from _entry(Entry(name, module, page, ""), links)


def _entry(entry: Entry, links: dict[str, str]) -> Iterator[str]:
    value = entry.value
    head = f"from {entry.module} import {entry.name}\n\n" if entry.module != "proctor" else ""
    if inspect.isclass(value):
        yield from _class(value, head, links)
    elif callable(value):
        yield _code(head + signature(_tree(value)))
        yield markdown(_doc(value), links)
    else:
        yield _code(head.rstrip())
        yield table(["check", "shows"], [[f"`{check.name}`", check.shows] for check in value])


def _code(text: str) -> str:
    return f"```python no-run: a signature\n{text}\n```\n"


def _tree(value: Any) -> Any:
    tree: Any = ast.parse(dedent(inspect.getsource(inspect.unwrap(value)))).body[0]
    if _is_sync_form(value):
        return ast.FunctionDef(**dict(ast.iter_fields(tree)) | {"name": value.__name__})
    return tree


def signature(node: Function, *, is_method: bool = False) -> str:
    """Return `def name(…) -> …` on one line, or with one parameter a line."""
    keyword = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    names = list(_parameters(node.args))
    static = any(ast.unparse(one) == "staticmethod" for one in node.decorator_list)
    names = names[1:] if is_method and not static else names
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{keyword} {node.name}({', '.join(names)}){result}"
    if len(line) <= WIDTH or not names:
        return line
    return "\n".join([f"{keyword} {node.name}(", *(f"    {name}," for name in names), f"){result}"])


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    positional = [*arguments.posonlyargs, *arguments.args]
    without = len(positional) - len(arguments.defaults)
    for index, one in enumerate(positional):
        yield _parameter(one, arguments.defaults[index - without] if index >= without else None)
        if arguments.posonlyargs and index == len(arguments.posonlyargs) - 1:
            yield "/"
    if arguments.vararg:
        yield f"*{_parameter(arguments.vararg, None)}"
    elif arguments.kwonlyargs:
        yield "*"
    for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(one, default)
    if arguments.kwarg:
        yield f"**{_parameter(arguments.kwarg, None)}"


def _parameter(one: ast.arg, default: ast.expr | None) -> str:
    if one.annotation is None:
        return one.arg + (f"={ast.unparse(default)}" if default else "")
    return f"{one.arg}: {ast.unparse(one.annotation)}" + (f" = {ast.unparse(default)}" if default else "")


# --- Classes ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Field:
    """An attribute of a class, a property, or a value of an enumeration."""

    name: str
    type: str
    default: str
    text: str


def _class(cls: type, head: str, links: dict[str, str]) -> Iterator[str]:
    bases = [base.__name__ for base in cls.__bases__ if base.__name__ in links or issubclass(base, Exception)]
    inherited = f"({', '.join(bases)})" if bases else ""
    yield _code(f"{head}class {cls.__name__}{inherited}")
    own = inspect.getdoc(cls) if cls.__doc__ else ""
    yield markdown(own or "", links)
    fields, methods = _members(cls, links)
    if fields and issubclass(cls, Enum):
        yield table(
            ["name", "value", "meaning"], [[f"`{one.name}`", f"`{one.default}`", one.text] for one in fields]
        )
    elif fields:
        yield table(["attribute", "type", "default", "meaning"], [_row(one) for one in fields])
    for node in methods:
        yield f"#### {cls.__name__}.{node.name}\n"
        yield _code(signature(node, is_method=True))
        if text := ast.get_docstring(node):
            yield markdown(text, links)


def _row(one: Field) -> list[str]:
    return [f"`{one.name}`", *(f"`{text}`" if text else "" for text in (one.type, one.default)), one.text]


def _members(cls: type, known: Collection[str]) -> tuple[list[Field], list[Function]]:
    """Return the public attributes and methods, with those of base classes that have no section."""
    fields: dict[str, Field] = {}
    methods: dict[str, Function] = {}
    for base in reversed(cls.__mro__):
        is_elsewhere = base is not cls and base.__name__ in known
        if is_elsewhere or base.__name__ == "WireModel" or not base.__module__.startswith("proctor."):
            continue
        for node, text in _statements(base):
            if isinstance(node, ast.AnnAssign | ast.Assign):
                field = _attribute(node, text)
                fields[field.name] = field
            elif "property" in _decorators(node):
                result = ast.unparse(node.returns) if node.returns else ""
                fields[node.name] = Field(node.name, result, "", ast.get_docstring(node) or "")
            else:
                methods[node.name] = node
    shown = [one for one in fields.values() if not one.name.startswith("_")]
    return shown, [node for name, node in methods.items() if not name.startswith("_")]


def _decorators(node: Function) -> set[str]:
    return {ast.unparse(one).rpartition(".")[2] for one in node.decorator_list}


def _statements(cls: type) -> Iterator[tuple[ast.AnnAssign | ast.Assign | Function, str]]:
    """Yield each attribute and method of the class's source, an attribute with the text below it."""
    try:
        body = _tree(cls).body
    except (OSError, TypeError):
        return
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, Function) and not _decorators(node) & {"setter", "overload"}:
            yield node, ""
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            has_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            yield node, inspect.cleandoc(str(after.value.value)) if has_text else ""


def _attribute(node: ast.AnnAssign | ast.Assign, text: str) -> Field:
    target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
    kind = ast.unparse(node.annotation).strip("'") if isinstance(node, ast.AnnAssign) else ""
    kind = kind.removeprefix("ClassVar[").removesuffix("]") if kind.startswith("ClassVar[") else kind
    return Field(ast.unparse(target), kind, _default(node.value), text)


_EMPTY = {"list": "[]", "dict": "{}", "tuple": "()", "set": "set()"}


def _default(value: ast.expr | None) -> str:
    """Return a default as text; the factory of a `field(…)` as the value that it makes."""
    if value is None:
        return ""
    if not (isinstance(value, ast.Call) and ast.unparse(value.func) in {"field", "Field"}):
        return ast.unparse(value)
    given = {word.arg: ast.unparse(word.value) for word in value.keywords}
    factory = given.get("default_factory", "")
    positional = ast.unparse(value.args[0]) if value.args else ""
    return given.get("default", positional) or _EMPTY.get(factory, f"{factory}()" if factory else "")
