"""Outcomes and their combination."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from proctor.schema.format.result import EvalStatus


class Outcome(StrEnum):
    """How something ended. Only *passed* is green."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    """Something needed for the verdict could not be computed."""
    INCONCLUSIVE = "inconclusive"
    SKIPPED = "skipped"
    """Left out on purpose."""
    NOT_RUN = "not_run"
    """Not reached."""
    NOT_APPLICABLE = "not_applicable"
    """For a metric: there was nothing to compare with."""
    INFORMATIONAL = "informational"
    """For a metric: reported, but never decides."""

    __hash__ = str.__hash__  # Enum's __hash__ is a Python function, and outcomes are dict keys for every case

    def __bool__(self) -> bool:
        """Return whether it is a pass, so that `assert outcome` fails for everything else.

        Raises:
            TypeError: it is neither a pass nor a failure: not applicable, or informational.
        """
        if self is Outcome.NOT_APPLICABLE or self is Outcome.INFORMATIONAL:
            raise TypeError(
                f"{self!r} is neither a pass nor a failure; compare it: `outcome is Outcome.{self.name}`"
            )
        return self is Outcome.PASSED

    @property
    def status(self) -> EvalStatus:
        """The outcome as ADK's EvalStatus: passed 1, failed 2, informational 4, everything else NOT_EVALUATED (3)."""
        return _STATUS.get(self, EvalStatus.NOT_EVALUATED)


_STATUS = {
    Outcome.PASSED: EvalStatus.PASSED,
    Outcome.FAILED: EvalStatus.FAILED,
    Outcome.INFORMATIONAL: EvalStatus.INFORMATIONAL,
}


def refuse_truth(result: object) -> bool:
    """Raise in place of `__bool__` for objects that report values and have no verdict.

    Raises:
        TypeError: always; an `assert result` must not pass by accident.
    """
    raise TypeError(
        f"{type(result).__name__} has no verdict that `bool` could return; compare one of its values"
    )


_WORST_FIRST = (Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.NOT_RUN, Outcome.PASSED)
_ALL_IS_WELL = [Outcome.PASSED]


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Combine outcomes: failed before error before inconclusive before not run; only *passed* with a pass in it.

    No outcome at all, or none that decides, is an *error*: an empty result never passes.
    """
    found = [*outcomes]
    if found == _ALL_IS_WELL:  # the only metric of a case that passes, most often
        return found[0]
    for outcome in _WORST_FIRST:
        if outcome in found:
            return outcome
    return Outcome.ERROR


def outcome_of_run(cases: Iterable[Outcome], *, set_missing: bool, broken_off: bool) -> Outcome:
    """Combine the outcomes of a run's cases: skipped cases do not count, a set that was not run is an error.

    A run that ended by a failure (`broken_off`) is an *error*, whatever the outcomes of its cases are.
    """
    if broken_off:
        return Outcome.ERROR
    found = [outcome for outcome in cases if outcome is not Outcome.SKIPPED]
    return worst([*found, Outcome.ERROR] if set_missing else found)
