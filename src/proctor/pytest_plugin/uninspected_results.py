"""Results that record whether a test has inspected them, and the errors for tests that ignore a failed result."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Generator, Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from proctor.common.safe_text import clean
from proctor.pytest_plugin.collection import item_name
from proctor.pytest_plugin.failures import case_text, line_of
from proctor.schema.analysis.comparison import Comparison
from proctor.schema.results.run_result import RunResult
from proctor.schema.results.score import MetricVerdict, MetricVerdicts

if TYPE_CHECKING:
    from proctor.pytest_plugin.fixtures import Origin
    from proctor.pytest_plugin.session_watch import Watch

_PACKAGE = str(Path(__file__).parents[1])
_PYTHON = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
_MOST = 3
"""Maximum number of cases shown for one result."""


class _Inspected:
    """A result that records whether any of its attributes, including its truth value, was read."""

    __slots__ = ()
    _looked_at: bool

    def __getattribute__(self, name: str) -> Any:
        value = object.__getattribute__(self, name)  # an unknown name raises before the flag is set
        if not name.startswith("_"):
            object.__setattr__(self, "_looked_at", True)
        return value


class Evaluated(_Inspected, RunResult):
    """A run result that records its inspection; awaiting it returns the result itself."""

    __slots__ = ("_looked_at",)

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        looked_at = self._looked_at
        said = RunResult.__repr__(self)
        object.__setattr__(
            self, "_looked_at", looked_at
        )  # printing does not inspect, and asyncio calls `repr`, too
        return said

    def __await__(self) -> Generator[Any, Any, Evaluated]:
        return self
        yield  # makes the function a generator, which returns immediately


class InspectedComparison(_Inspected, Comparison):
    """A comparison that records its inspection."""

    __slots__ = ("_looked_at",)

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        looked_at = self._looked_at
        text = Comparison.__repr__(self)
        object.__setattr__(self, "_looked_at", looked_at)
        return text


class InspectedVerdicts(MetricVerdicts):
    """The verdicts of `score`, which record their inspection."""

    _looked_at = False

    def __getattribute__(self, name: str) -> Any:
        value = object.__getattribute__(self, name)  # an unknown name raises before the flag is set
        if not name.startswith("_"):
            object.__setattr__(self, "_looked_at", True)
        return value

    def __getitem__(self, name: str) -> MetricVerdict:
        verdict = super().__getitem__(name)
        self._looked_at = True
        return verdict

    def __iter__(self) -> Iterator[str]:
        self._looked_at = True
        return super().__iter__()

    def __bool__(self) -> bool:
        self._looked_at = True
        return super().__bool__()

    def __eq__(self, other: object) -> bool:
        self._looked_at = True
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # a dict is not hashable


def inspected(result: Any) -> Any:
    """Return a copy of a result that records its inspection; return other objects unchanged."""
    if isinstance(result, MetricVerdicts):
        return InspectedVerdicts(dict(result))
    pairs: tuple[tuple[type, type], ...] = ((RunResult, Evaluated), (Comparison, InspectedComparison))
    base, kind = next((pair for pair in pairs if isinstance(result, pair[0])), (None, None))
    if base is None or kind is None:
        return result
    made = kind(**{field.name: getattr(result, field.name) for field in fields(base)})
    object.__setattr__(made, "_looked_at", False)
    return made


def place_of_caller() -> str:
    """Return `file:line` of the nearest caller that belongs neither to Proctor nor to the standard library."""
    frame = sys._getframe(1)  # noqa: SLF001 - `inspect.stack` reads the source of every frame
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_PACKAGE, *_PYTHON, "<")):
            return f"{_shown(file)}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]  # `None` ends the loop
    return "an unknown place"


def _shown(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def passed(result: Any) -> bool:
    """Return the verdict of a result, without marking it as inspected."""
    if isinstance(result, InspectedVerdicts):
        return MetricVerdicts(dict.items(result)).__bool__()
    looked_at = result._looked_at  # noqa: SLF001 - attribute of a class in this module
    verdict = bool(result)
    object.__setattr__(result, "_looked_at", looked_at)
    return verdict


def was_looked_at(result: Any) -> bool:
    """Return whether a result was inspected; printing it does not count."""
    return bool(getattr(result, "_looked_at", True))  # a copy lacks the flag: its creator read the result


class Pending:
    """Awaitable that `evaluate(…)` returns in an async test; it has no result before it is awaited."""

    def __init__(self, run: Callable[[], Any]) -> None:
        """Set the coroutine function that evaluates and records the result."""
        self._run = run
        self._result: Evaluated | None = None
        self._awaited = False

    def __await__(self) -> Generator[Any, Any, Evaluated]:
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
        raise TypeError(_FORGOTTEN)

    def __getattr__(self, name: str) -> Any:
        raise TypeError(_FORGOTTEN)


_FORGOTTEN = "`evaluate` is awaited in an async test: result = await evaluate(…)"


# --- Error messages ------------------------------------------------------------------------------------------------------


def said_of(watch: Watch, item: pytest.Item, *, is_over: bool) -> str:
    """Return why a test must fail, or an empty string; `is_over`: the test function has returned."""
    if any(not object.__getattribute__(one, "_awaited") for one in watch.pending):
        return f"nothing was run: {_FORGOTTEN}"
    overlooked = (one for one in watch.results if not was_looked_at(one) and not passed(one))
    said = "\n".join(line for result in overlooked for line in _overlooked(result, item))
    return said or (_not_evaluated(watch, item) if is_over else "")


def _overlooked(result: Any, item: pytest.Item) -> Iterator[str]:
    yield f"{clean(repr(result))} was not looked at: write `assert result`, or look at what else matters"
    if not isinstance(result, RunResult):
        return
    for case in [case for case in result.cases if not case.passed][:_MOST]:
        yield case_text(case, item.config) or line_of(case)


def _not_evaluated(watch: Watch, item: pytest.Item) -> str:
    from proctor.pytest_plugin.fixtures import origin_of
    from proctor.pytest_plugin.session_watch import given_case, is_to_evaluate

    if watch.has_evaluated or not is_to_evaluate(item):
        return ""
    case: Any = given_case(item)
    if case is None:
        return "its marker names eval sets, and none was evaluated: write `assert evaluate()`"
    origin: Origin | None = origin_of(case, item.config)
    if origin is None:
        return ""  # a parameter or a fixture of the test itself
    return (
        f"the case {item_name(case.eval_id)} was not evaluated: write `assert evaluate(eval_case)`. A test that only "
        f'reads cases takes them from proctor.load_eval_set("{clean(str(origin.path))}").eval_cases, with '
        "pytest.mark.parametrize"
    )
