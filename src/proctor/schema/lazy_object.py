"""Objects that compute their content on first access, because it is rarely read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["LazyObject"]


class LazyObject:
    """Mixin for a subclass whose objects become plain objects of the base class on first access.

    `class _LazyScore(LazyObject, Score): __slots__ = ()` needs a `settle`, which fills in the missing attributes, unless
    another thread has done so, and sets `__class__`. Set no attribute on a lazy object. Two threads may settle an object at
    the same time: both must compute the same. (It is a separate class because attribute access is slow for every object
    whose class has `__getattr__`.)
    """

    __slots__ = ()

    def settle(self) -> None:
        """Fill in the missing attributes, and become a plain object."""
        raise NotImplementedError

    if not TYPE_CHECKING:  # otherwise a type checker would assume that every attribute exists

        def __getattr__(self, name: str) -> Any:
            _settle(self)
            return object.__getattribute__(self, name)

    def __eq__(self, other: object) -> bool:
        _settle(self)
        return self == other

    __hash__ = None  # type: ignore[assignment]  # as for any mutable object with `__eq__`

    def __repr__(self) -> str:
        _settle(self)
        return repr(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        _settle(self)
        return self.__reduce_ex__(protocol)


def _settle(one: LazyObject) -> None:
    kind = type(one)  # read once: another thread may change it
    if issubclass(kind, LazyObject):
        kind.settle(one)
