"""Detection of scoring functions that use the classes of google-adk, from their code and that of the functions they call."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

__all__ = ["uses_adk_classes"]

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
    modules = set(_modules_used(function))
    if isinstance(function, type):
        modules |= {base.__module__ for base in function.__mro__}
    if any(_is_below(_EVALUATION, name) for name in modules):
        return True
    if ADK not in sys.modules or any(_is_below(_MIRROR, name) for name in modules):
        return False
    return any(_is_below(_GENAI, name) for name in modules)


def _is_below(package: str, name: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def _modules_used(function: Callable[..., Any]) -> Iterator[str]:
    """Yield the modules of all names in a function, and in the functions of the project that it calls."""
    waiting, seen = list(_functions_of(function)), set[int]()
    while waiting and len(seen) < _MOST_FUNCTIONS:
        function = waiting.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        names = set(_names_in(function.__code__)) | set(_names_in_annotations(function))
        yield from (name for name in names if _is_below(ADK, name) or _is_below(_GENAI, name))
        for value in (function.__globals__[name] for name in names if name in function.__globals__):
            module = _module_of(value)
            yield module
            if module == ADK and "evaluation" in names:
                yield _EVALUATION  # adk.evaluation.eval_case..., of `from google import adk`
            if _is_of_a_project(module):
                waiting += _functions_of(value)


def _functions_of(value: Any) -> Iterator[FunctionType]:
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


def _module_of(value: Any) -> str:
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return name if isinstance(name, str) else ""


def _is_of_a_project(module: str) -> bool:
    """Return whether a module belongs to the user: not to Python, Proctor or Google, and not installed."""
    top = module.partition(".")[0]
    if not top or top in sys.stdlib_module_names or top in {"google", "proctor"}:
        return False
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return "site-packages" not in file and "dist-packages" not in file
