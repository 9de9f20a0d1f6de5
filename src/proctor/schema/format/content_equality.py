"""Equality between Proctor's content models and those of `google.genai.types`, in both directions.

Metrics compare an agent's calls (Proctor's models) with calls in their own code (often google-genai's). pydantic returns
`False` for two models of different classes, so such a metric would fail silently. `ContentModel` implements `ours == theirs`.
For `theirs == ours`, google-genai's classes are patched once to defer to ours, when other code imports `google.genai.types`.
This module never imports it.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from enum import Enum
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from proctor.schema.format.wire_model import WireModel, to_camel

GENAI_TYPES = "google.genai.types"
_OTHER_NAMES = {"UsageMetadata": "GenerateContentResponseUsageMetadata"}
"""Proctor's classes whose counterpart in google-genai has a different name."""


class ContentModel(WireModel):  # noqa: PLW1641 - as pydantic's models, it can change and has no hash
    """A model that equals the model of google-genai with the same name and the same content."""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, BaseModel) and not isinstance(other, WireModel):
            return _are_counterparts(type(self), type(other)) and _content_of(self) == _content_of(other)
        return super().__eq__(other)


def genai_name(kind: type[ContentModel]) -> str:
    """Return the name of a model's counterpart in `google.genai.types`."""
    return _OTHER_NAMES.get(kind.__name__, kind.__name__)


def _are_counterparts(ours: type[ContentModel], theirs: type[BaseModel]) -> bool:
    names = {genai_name(kind) for kind in ours.__mro__ if issubclass(kind, ContentModel)}
    return any(kind.__module__ == GENAI_TYPES and kind.__name__ in names for kind in theirs.__mro__)


def _content_of(value: Any) -> Any:
    """Return a model's content: its non-null fields in one spelling, with enum members as their values."""
    if isinstance(value, BaseModel):
        fields = [*value.__dict__.items(), *(value.model_extra or {}).items()]
        return {to_camel(name): _content_of(item) for name, item in fields if item is not None}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {key: _content_of(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_content_of(item) for item in value]
    return value


# --- theirs == ours --------------------------------------------------------------------------------------------------


def _all_kinds(kind: type[ContentModel]) -> Iterable[type[ContentModel]]:
    for each in kind.__subclasses__():
        yield each
        yield from _all_kinds(each)


def _defer_to_ours(types: ModuleType) -> None:
    """Let google-genai's models return `NotImplemented` for Proctor's, so that Python asks Proctor's model."""
    for name in {genai_name(kind) for kind in _all_kinds(ContentModel)}:
        theirs = getattr(types, name, None)
        if isinstance(theirs, type) and not hasattr(theirs.__eq__, "defers_to"):
            theirs.__eq__ = _deferring(theirs.__eq__)  # type: ignore[method-assign]  # see the module's docstring


def _deferring(equals: Any) -> Any:
    def __eq__(self: Any, other: object) -> Any:  # noqa: N807 - it becomes the method
        return NotImplemented if isinstance(other, ContentModel) else equals(self, other)

    __eq__.defers_to = ContentModel  # type: ignore[attr-defined]  # functions take attributes
    return __eq__


class _AfterImport:
    """A finder that patches the classes of `google.genai.types` after its import."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> Any:
        """Find that module through the other finders; ignore other modules."""
        if fullname != GENAI_TYPES:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_change(module: ModuleType) -> None:
            execute(module)
            _defer_to_ours(module)

        spec.loader.exec_module = execute_and_change  # type: ignore[method-assign]  # of this one loader
        return spec


def defer_equality() -> None:
    """Patch google-genai's classes now if they are loaded, or else on import; called once, after Proctor's models exist."""
    if (types := sys.modules.get(GENAI_TYPES)) is not None:
        _defer_to_ours(types)
    else:
        sys.meta_path.insert(0, _AfterImport())
