"""Values as they are expected: plain ones, and matchers in any place within them."""

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
    """A value as it is expected."""

    @property
    def source(self) -> Any:
        """As it was written (JSON)."""

    def fits(self, actual: Any) -> bool:
        """Whether a value, or `ABSENT`, is what is expected."""

    def tell(self) -> str:
        """What is expected, in words."""


@dataclass(frozen=True, slots=True)
class Plain:
    """One value and no other, as JSON values are equal."""

    source: Any

    def fits(self, actual: Any) -> bool:
        """Compare."""
        return EXACT.fits(self.source, actual)

    def tell(self) -> str:
        """The value."""
        return show_value(self.source)


@dataclass(frozen=True, slots=True)
class Matched:
    """What a matcher says."""

    source: Any
    matcher: Matcher
    value: Any = ABSENT

    def fits(self, actual: Any) -> bool:
        """Ask the matcher."""
        return ask(self.matcher, self.value, actual)

    def tell(self) -> str:
        """The matcher's words."""
        return self.matcher.tell(self.value)


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several."""

    source: Any
    options: Sequence[Template]

    def fits(self, actual: Any) -> bool:
        """Whether one fits."""
        return any(option.fits(actual) for option in self.options)

    def tell(self) -> str:
        """All of them."""
        return f"one of {', '.join(option.tell() for option in self.options)}"


@dataclass(frozen=True, slots=True)
class Shape:
    """An object with these keys and no others."""

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
        """Key by key."""
        inside = ", ".join(f"{show_name(key)}: {template.tell()}" for key, template in self.keys.items())
        return f"{{{inside}}}"


@dataclass(frozen=True, slots=True)
class Items:
    """A list of these elements in this order."""

    source: Any
    elements: Sequence[Template]

    def fits(self, actual: Any) -> bool:
        """Compare one by one."""
        return (
            isinstance(actual, list | tuple)
            and len(actual) == len(self.elements)
            and all(template.fits(item) for template, item in zip(self.elements, actual, strict=True))
        )

    def tell(self) -> str:
        """One by one."""
        return f"[{', '.join(template.tell() for template in self.elements)}]"
