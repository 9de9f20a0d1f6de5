"""Conversion of Proctor's models into google-adk's classes, for scoring functions that are written against those."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from pydantic import BaseModel, ValidationError

from proctor.schema.format.content_equality import GENAI_TYPES, ContentModel, genai_name
from proctor.schema.format.wire_model import WireModel

__all__ = ["to_adk"]

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


def _object_of(model: WireModel) -> Any:
    theirs = _counterpart(type(model))
    if theirs is None:
        return to_adk(model.model_dump(exclude_none=True))
    allows_any = theirs.model_config.get("extra") == "allow"
    known = {spelling for name, field in theirs.model_fields.items() for spelling in (name, field.alias)}
    fields = {**model.__dict__, **(model.model_extra or {})}
    stated = {
        name: _tools(value) if name == "tool_declarations" else to_adk(value)
        for name, value in fields.items()
        if value is not None and (allows_any or name in known)
    }
    return theirs(**stated)


@cache
def _counterpart(ours: type[WireModel]) -> type[BaseModel] | None:
    """Return the class of google-adk or google-genai with the same name as one of Proctor's or as one of its bases."""
    for kind in ours.__mro__:
        if not issubclass(kind, WireModel):
            continue
        if issubclass(kind, ContentModel):
            places, name = [GENAI_TYPES], genai_name(kind)
        else:
            places, name = (
                [*(f"google.adk.evaluation.{module}" for module in _MODULES), GENAI_TYPES],
                kind.__name__,
            )
        for place in places:
            counterpart = getattr(import_module(place), name, None)
            if isinstance(counterpart, type) and issubclass(counterpart, BaseModel):
                return counterpart
    return None


def _tools(declarations: list[Any]) -> list[Any]:
    """Return declarations as google-genai's `Tool`, which google-adk uses at run time; unchanged if they do not have its form."""
    tool: Any = import_module(GENAI_TYPES).Tool
    tools = []
    for declaration in declarations:
        try:
            tools.append(tool.model_validate(declaration))
        except ValidationError:
            tools.append(declaration)
    return tools
