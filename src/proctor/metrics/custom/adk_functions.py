"""Scoring functions that are written for google-adk: how they are detected, and the conversion of their arguments.

A function is recognised by its code and that of the functions that it calls.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any

from pydantic import BaseModel, ValidationError

from proctor.schema.format.content import GENAI_TYPES, ContentModel, genai_name
from proctor.schema.format.wire_model import WireModel

ADK = "google.adk"
_EVALUATION = "google.adk.evaluation"
_GENAI = "google.genai"
_MIRROR = "proctor"
_MOST_FUNCTIONS = 200
"""The number of functions that are examined for one metric."""


def uses_adk_classes(function: Callable[..., Any]) -> bool:
    """Return whether a function is written against `google.adk.evaluation`, and not against Proctor's mirror of it.

    Where google-adk is loaded, one that names `google.genai` alone counts too, because google-adk's classes hold google-genai's.
    Nothing is imported.
    """
    modules = set(_used_modules(function))
    if isinstance(function, type):
        modules |= {base.__module__ for base in function.__mro__}
    if any(_is_below(_EVALUATION, name) for name in modules):
        return True
    if ADK not in sys.modules or any(_is_below(_MIRROR, name) for name in modules):
        return False
    return any(_is_below(_GENAI, name) for name in modules)


def _is_below(package: str, name: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def _used_modules(function: Callable[..., Any]) -> Iterator[str]:
    """Yield the modules of all names in a function, and in the functions of the project that it calls."""
    waiting, known_ids = list(_functions_of(function)), set[int]()
    while waiting and len(known_ids) < _MOST_FUNCTIONS:
        function = waiting.pop()
        if id(function) in known_ids:
            continue
        known_ids.add(id(function))
        names = {*_names_in(function.__code__), *_names_in_annotations(function)}
        yield from (name for name in names if _is_below(ADK, name) or _is_below(_GENAI, name))
        values = [function.__globals__[name] for name in names if name in function.__globals__]
        modules = [_module_of(value) for value in values]
        yield from modules
        if ADK in modules and "evaluation" in names:
            yield _EVALUATION  # adk.evaluation.eval_case..., of `from google import adk`
        waiting += _functions_of_projects(values)


def _functions_of_projects(values: Iterable[object]) -> Iterator[FunctionType]:
    for value in values:
        if _is_of_a_project(_module_of(value)):
            yield from _functions_of(value)


def _functions_of(value: object) -> Iterator[FunctionType]:
    """Yield the plain functions behind a callable: itself, the wrapped one, those of a class or of an object's class."""
    if isinstance(value, functools.partial):
        yield from _functions_of(value.func)
    elif inspect.ismethod(value):
        yield from _functions_of(value.__func__)
    elif isinstance(value, FunctionType):
        unwrapped = inspect.unwrap(value)
        yield value
        if isinstance(unwrapped, FunctionType):
            yield unwrapped
    elif isinstance(value, type):
        methods = [getattr(each, "__func__", each) for each in vars(value).values()]
        yield from (each for each in methods if isinstance(each, FunctionType))
    elif callable(value):
        yield from _functions_of(type(value))


def _names_in(code: CodeType) -> Iterator[str]:
    """Yield the names in code, with the modules that it imports, nested functions included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _names_in_annotations(function: FunctionType) -> Iterator[str]:
    """Yield the names in a function's annotations, which may be texts or objects."""
    for annotation in function.__annotations__.values():
        text = annotation if isinstance(annotation, str) else repr(annotation)
        yield from text.replace("[", " ").replace("]", " ").replace(",", " ").replace("|", " ").split()
        if isinstance(annotation, type):
            yield annotation.__module__


def _module_of(value: object) -> str:
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return name if isinstance(name, str) else ""


def _is_of_a_project(module: str) -> bool:
    """Return whether a module belongs to the user: not to Python, Proctor or Google, and not installed."""
    top = module.partition(".")[0]
    if not top or top in sys.stdlib_module_names or top in {"google", "proctor"}:
        return False
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return "site-packages" not in file and "dist-packages" not in file


# --- Conversion of Proctor's models into google-adk's classes ---


_MODULES = ("eval_case", "app_details", "eval_rubrics", "eval_metrics", "conversation_scenarios")
"""The modules of `google.adk.evaluation` with the classes that a metric receives."""


def to_adk(value: Any) -> Any:
    """Return a Proctor model, or a list of them, as google-adk's; any other value unchanged.

    Keys that a class of google-adk does not allow are left out. Call it only if google-adk is loaded.
    """
    if isinstance(value, WireModel):
        return _object_of(value)
    if isinstance(value, list):
        return [to_adk(each) for each in value]
    if isinstance(value, tuple):
        return tuple(to_adk(each) for each in value)
    if isinstance(value, dict):
        return {key: to_adk(each) for key, each in value.items()}
    return value


def _object_of(model: WireModel) -> object:
    theirs = _counterpart(type(model))
    if theirs is None:
        return to_adk(model.model_dump(exclude_none=True))
    allows_any = theirs.model_config.get("extra") == "allow"
    known = {spelling for name, field in theirs.model_fields.items() for spelling in (name, field.alias)}
    fields = {**model.__dict__, **(model.model_extra or {})}
    arguments = {
        name: _tools(value) if name == "tool_declarations" else to_adk(value)
        for name, value in fields.items()
        if value is not None and (allows_any or name in known)
    }
    return theirs(**arguments)


@cache
def _counterpart(ours: type[WireModel]) -> type[BaseModel] | None:
    """Return the class of google-adk or google-genai with the same name as one of Proctor's or as one of its bases."""
    for kind in ours.__mro__:
        if not issubclass(kind, WireModel):
            continue
        if issubclass(kind, ContentModel):
            places, name = [GENAI_TYPES], genai_name(kind)
        else:
            places = [*(f"google.adk.evaluation.{module}" for module in _MODULES), GENAI_TYPES]
            name = kind.__name__
        for place in places:
            counterpart = getattr(import_module(place), name, None)
            if isinstance(counterpart, type) and issubclass(counterpart, BaseModel):
                return counterpart
    return None


def _tools(declarations: list[object]) -> list[object]:
    """Return declarations as google-genai's `Tool`, which google-adk uses at run time; unchanged if they do not have its form."""
    tool = import_module(GENAI_TYPES).Tool
    tools = []
    for declaration in declarations:
        try:
            tools.append(tool.model_validate(declaration))
        except ValidationError:
            tools.append(declaration)
    return tools
