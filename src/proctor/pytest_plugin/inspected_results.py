"""Results that record whether a test has inspected them."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Awaitable, Callable, Generator, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from proctor.schema.analysis.comparison import Comparison
from proctor.schema.results.run_result import RunResult
from proctor.schema.results.score import MetricVerdict, MetricVerdicts

Answer = TypeVar("Answer")
_PACKAGE = str(Path(__file__).parents[1])
_PYTHON = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))


class _Inspected:
    """A result that records whether any of its attributes, including its truth value, was read."""

    __slots__ = ()
    _is_inspected: bool

    def __getattribute__(self, name: str) -> object:
        value = object.__getattribute__(self, name)  # an unknown name raises before the flag is set
        if not name.startswith("_"):
            object.__setattr__(self, "_is_inspected", True)
        return value

    def _uninspected(self, reader: Callable[[Any], Answer]) -> Answer:
        """Return what `reader` returns: printing does not inspect, and asyncio calls `repr`, too."""
        was_inspected = self._is_inspected
        answer = reader(self)
        object.__setattr__(self, "_is_inspected", was_inspected)
        return answer


class Evaluated(_Inspected, RunResult):
    """A run result that records its inspection; awaiting it returns the result itself."""

    __slots__ = ("_is_inspected",)

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return self._uninspected(RunResult.__repr__)

    def __await__(self) -> Generator[object, object, Evaluated]:
        return self
        yield  # makes the function a generator, which returns immediately


class InspectedComparison(_Inspected, Comparison):
    """A comparison that records its inspection."""

    __slots__ = ("_is_inspected",)

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return self._uninspected(Comparison.__repr__)


class InspectedVerdicts(_Inspected, MetricVerdicts):
    """The verdicts of `score`, which record their inspection."""

    _is_inspected = False

    def __getitem__(self, name: str) -> MetricVerdict:
        verdict = super().__getitem__(name)
        self._is_inspected = True
        return verdict

    def __iter__(self) -> Iterator[str]:
        self._is_inspected = True
        return super().__iter__()

    def __bool__(self) -> bool:
        self._is_inspected = True
        return super().__bool__()

    def __eq__(self, other: object) -> bool:
        self._is_inspected = True
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # a dict is not hashable


InspectableResult = Evaluated | InspectedComparison | InspectedVerdicts


def inspectable(result: object) -> Any:
    """Return a copy of a result that records its inspection; return other objects unchanged."""
    if isinstance(result, MetricVerdicts):
        return InspectedVerdicts(dict(result))
    pairs: tuple[tuple[type, type], ...] = ((RunResult, Evaluated), (Comparison, InspectedComparison))
    base, kind = next((pair for pair in pairs if isinstance(result, pair[0])), (None, None))
    if base is None or kind is None:
        return result
    copy = kind(**{field.name: getattr(result, field.name) for field in fields(base)})
    object.__setattr__(copy, "_is_inspected", False)
    return copy


def caller_location() -> str:
    """Return `file:line` of the nearest caller that belongs neither to Proctor nor to the standard library."""
    frame = sys._getframe(1)  # noqa: SLF001 - `inspect.stack` reads the source of every frame
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_PACKAGE, *_PYTHON, "<")):
            return f"{_short_path(file)}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]  # `None` ends the loop
    return "an unknown place"


def _short_path(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def passed(result: InspectableResult) -> bool:
    """Return the verdict of a result, without marking it as inspected."""
    if isinstance(result, InspectedVerdicts):
        return MetricVerdicts(dict.items(result)).__bool__()
    return result._uninspected(bool)  # noqa: SLF001 - of a class in this module


def is_inspected(result: object) -> bool:
    """Return whether a result was inspected; printing it does not count."""
    return bool(getattr(result, "_is_inspected", True))  # a copy lacks the flag: its creator read the result


class Pending:
    """Awaitable that `evaluate(…)` returns in an async test; it has no result before it is awaited."""

    def __init__(self, run: Callable[[], Awaitable[Evaluated]]) -> None:
        """Set the coroutine function that evaluates and records the result."""
        self._run = run
        self._result: Evaluated | None = None
        self._awaited = False

    def __await__(self) -> Generator[object, object, Evaluated]:
        return self._answer().__await__()

    async def _answer(self) -> Evaluated:
        if self._result is None:
            try:
                self._result = await self._run()
            except Exception:
                self._awaited = True  # the exception reaches the test
                raise
        self._awaited = True  # only now: an unawaited task is cancelled when the test ends
        return self._result

    def __repr__(self) -> str:
        return "<evaluation that was not awaited>"

    def __bool__(self) -> bool:
        raise TypeError(NOT_AWAITED)

    def __getattr__(self, name: str) -> NoReturn:
        raise TypeError(NOT_AWAITED)


NOT_AWAITED = "`evaluate` is awaited in an async test: result = await evaluate(…)"
