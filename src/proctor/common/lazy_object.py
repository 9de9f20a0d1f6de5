"""Objects that wait: what hardly anybody looks at is worked out when somebody does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["Waiting"]


class Waiting:
    """Makes a subclass of some class whose objects wait, and become plain objects of that class when they are looked at.

    `class _WaitingScore(Waiting, Score): __slots__ = ()` needs a `settle`, which fills in what is missing, if nobody did
    yet, and sets `__class__`. Nothing may be set on an object that waits. Two threads that look at once may both work
    it out: both must come to the same. (A class of its own, because reading an object whose class has `__getattr__` is
    slow, always.)
    """

    __slots__ = ()

    def settle(self) -> None:
        """Work out what is missing, and become a plain object."""
        raise NotImplementedError

    if not TYPE_CHECKING:  # a type checker would take it that every attribute exists

        def __getattr__(self, name: str) -> Any:
            _settle(self)
            return object.__getattribute__(self, name)

    def __eq__(self, other: object) -> bool:
        _settle(self)
        return self == other

    __hash__ = None  # type: ignore[assignment]  # as of any object that is compared by what it holds

    def __repr__(self) -> str:
        _settle(self)
        return repr(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        _settle(self)
        return self.__reduce_ex__(protocol)


def _settle(one: Waiting) -> None:
    kind = type(one)  # asked once: another thread may be about to change it
    if issubclass(kind, Waiting):
        kind.settle(one)
