"""Expected values: plain ones, and values with matchers in any place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from proctor.metrics.matchers.base import ABSENT, Matcher, ask
from proctor.metrics.matchers.kinds import Exact
from proctor.metrics.reason_text import show_name, show_value

__all__ = ["Items", "Matched", "OneOf", "Plain", "Shape", "Template"]

EXACT = Exact()


class Template(Protocol):
    """An expected value."""

    @property
    def source(self) -> Any:
        """The JSON as it was written."""

    def fits(self, actual: Any) -> bool:
        """Return whether a value, or `ABSENT`, is the expected one."""

    def tell(self) -> str:
        """Return what is expected, in words."""


@dataclass(frozen=True, slots=True)
class Plain:
    """One value, compared as JSON."""

    source: Any

    def fits(self, actual: Any) -> bool:
        """Compare."""
        return EXACT.fits(self.source, actual)

    def tell(self) -> str:
        """Return the value."""
        return show_value(self.source)


@dataclass(frozen=True, slots=True)
class Matched:
    """A value that a matcher compares."""

    source: Any
    matcher: Matcher
    value: Any = ABSENT

    def fits(self, actual: Any) -> bool:
        """Compare with the matcher."""
        return ask(self.matcher, self.value, actual)

    def tell(self) -> str:
        """Return the description of the matcher."""
        return self.matcher.tell(self.value)


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several expected values."""

    source: Any
    options: Sequence[Template]

    def fits(self, actual: Any) -> bool:
        """Return whether one of them fits."""
        return any(option.fits(actual) for option in self.options)

    def tell(self) -> str:
        """Return all of them."""
        return f"one of {', '.join(option.tell() for option in self.options)}"


@dataclass(frozen=True, slots=True)
class Shape:
    """An object with exactly these keys."""

    source: Any
    keys: Mapping[str, Template]

    def fits(self, actual: Any) -> bool:
        """Compare key by key."""
        return (
            isinstance(actual, Mapping)
            and actual.keys() <= self.keys.keys()
            and all(template.fits(actual.get(key, ABSENT)) for key, template in self.keys.items())
        )

    def tell(self) -> str:
        """Return the keys with their values."""
        inside = ", ".join(f"{show_name(key)}: {template.tell()}" for key, template in self.keys.items())
        return f"{{{inside}}}"


@dataclass(frozen=True, slots=True)
class Items:
    """A list of these elements in this order."""

    source: Any
    elements: Sequence[Template]

    def fits(self, actual: Any) -> bool:
        """Compare element by element."""
        return (
            isinstance(actual, list | tuple)
            and len(actual) == len(self.elements)
            and all(template.fits(item) for template, item in zip(self.elements, actual, strict=True))
        )

    def tell(self) -> str:
        """Return the elements."""
        return f"[{', '.join(template.tell() for template in self.elements)}]"
