"""What a metric says beside its number, made fit to be kept: within bounds, and text that every store holds.

A metric may be anybody's code, and what it says may come from a model. As with what agents say, which `intake` takes
in, whatever is cut or replaced says so, here behind the words themselves.
"""

from __future__ import annotations

from typing import Any

from proctor.common.error_text import safe_repr
from proctor.engine.trial.evidence_limits import Caps, Intake
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.score import Explanation, MetricScore, Score


def fit_to_keep(score: MetricScore) -> MetricScore:
    """Return a score all of whose words can be kept, and that says what was changed in them."""
    _fit(score)
    for one in score.per_invocation:
        _fit(one)
        if one.warning:
            one.warning = _Words("warning").taken(one.warning)
    if score.failure is not None:
        fit_failure(score.failure)
    return score


def fit_explanation(said: Explanation) -> Explanation:
    """Return an explanation all of whose words can be kept, and that says what was changed in them."""
    _fit(said)
    said.warning = _Words("warning").taken(said.warning)
    return said


def fit_failure(failure: Failure) -> Failure:
    """Return a failure all of whose words can be kept, and that says what was changed in them."""
    if failure.traceback is not None:
        failure.traceback = _Words("traceback").taken(failure.traceback)
    failure.message = _Words("error message").taken(failure.message)
    return failure


def fit_text(reason: str) -> str:
    """Return a reason as it can be kept, with what was changed behind it."""
    return _Words("reason").taken(reason)


def _fit(one: Score | MetricScore | Explanation) -> None:
    if one.reason:
        one.reason = fit_text(one.reason)
    if one.details:
        words = _Words("details")
        one.details = words.object(one.details, "")
        one.reason += words.changes


class _Words(Intake):
    """Takes in one text, or the details of a score."""

    __slots__ = ()

    def __init__(self, place: str) -> None:
        super().__init__(_CAPS, [])
        self.begin(place)

    def taken(self, text: str) -> str:
        """Return `text` as it can be kept, with what was changed behind it."""
        return self.text(text, "") + self.changes

    @property
    def changes(self) -> str:
        """What was changed, to be put behind a text; empty where nothing was."""
        return f" [{'; '.join(self.notes)}]" if self.notes else ""

    def value(self, value: Any, what: str, _depth: int = 0) -> Any:
        """Return a copy of a JSON value; what is none, or too deep, becomes text."""
        try:
            return super().value(value, what, _depth)
        except Exception:  # noqa: BLE001 - whatever a foreign object does when it is looked at
            self._note(f"{type(value).__name__} kept as text", what)
            return self.text(safe_repr(value), what)


_CAPS = Caps()
