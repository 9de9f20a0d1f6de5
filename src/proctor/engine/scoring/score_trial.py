"""Scores for one trial: every metric asked, whatever it raises kept as data."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Sequence
from math import isfinite
from typing import Any

from proctor.common.error_text import safe_repr, safe_str
from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.trial.deadlines import LoopBlocked, Slot, forget_cancellation, is_running
from proctor.engine.trial.evidence_limits import Caps, Intake
from proctor.engine.trial.failure_attribution import failure_from, timed_out
from proctor.metrics.base import CaseView
from proctor.schema.evidence.to_invocations import Recorded
from proctor.schema.evidence.trial import Failure, FailureKind, Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.format.case_extensions import all_stated
from proctor.schema.results.score import Explanation, MetricScore, Score


def view_of(case: EvalCase, trial: Trial) -> CaseView:
    """Return what metrics may see of a trial."""
    fields = case.__dict__  # one look-up in place of one per field: this runs for every trial
    return CaseView(
        eval_id=fields["eval_id"],
        actual=Recorded(trial),
        expected=fields["conversation"],
        scenario=fields["conversation_scenario"],
        opening=fields["opening"] or (),
        rubrics=fields["rubrics"] or (),
        expected_state=fields["final_session_state"] or None,
        actual_state=trial.final_state,
        trial=trial,
        extra=all_stated(case) if case.__pydantic_extra__ or fields["session_input"] is not None else None,
    )


async def score_trial(
    metrics: Sequence[BoundMetric],
    view: CaseView,
    *,
    slot: Slot | None = None,
    seconds: float | None = None,
    scores: list[MetricScore] | None = None,
) -> list[MetricScore]:
    """Score one trial with every metric, in order. A metric that raises gives a score with its failure.

    Each metric may take so many `seconds`, where `slot` watches over it (quick ones in a row take them together). The
    scores are put into `scores` one by one. Those that need the scores of others find them in `view.scores`, beside
    what is there already.
    """
    found = [] if scores is None else scores
    clocked = False  # whether the clock that runs is that of a quick metric, which the next quick one shares
    for bound in metrics:
        if bound.only_counts:
            try:
                found.append(bound.score(view))  # type: ignore[arg-type]  # one of ours, and none of them is async
            except BaseException as error:  # noqa: BLE001 - evidence that cannot be counted is a failure of the metric
                found.append(MetricScore(failure=_blame(error, slot, seconds)))
            continue
        if slot is not None and not (clocked and bound.is_quick):
            slot.begin_turn(seconds)
        if bound.parts:
            known = {each.name: score for each, score in zip(metrics, found, strict=False)}
            view.scores = {**view.scores, **known}
        outcome = _ask(bound, view, slot, seconds)
        if type(outcome) is MetricScore:
            clocked = bound.is_quick and outcome.failure is None
        else:
            outcome = await _awaited(bound, outcome, slot, seconds)
            clocked = False
        found.append(outcome)
    return found


def given_up(
    metrics: Sequence[BoundMetric], scores: Sequence[MetricScore], seconds: float | None
) -> list[MetricScore]:
    """Return the scores of a trial whose next metric ignored its cancellation; those after it were not asked."""
    stuck, *others = metrics[len(scores) :]
    what = f"{_LATE}, and it went on when it was cancelled: it was left behind"
    rest = f"was not asked: {stuck.name} before it did not end"
    failures = [timed_out(what, seconds, where="metric")]
    failures += [Failure(where="metric", kind=FailureKind.CANCELLED, message=rest) for _ in others]
    return [*scores, *(MetricScore(failure=failure) for failure in failures)]


_LATE = "no score within the time of one turn"


def _ask(bound: BoundMetric, view: CaseView, slot: Slot | None, seconds: float | None) -> object:
    """What the metric says at once: its score, or what must be awaited for it."""
    if not bound.covered[view.scenario is not None]:
        kind = "scenario" if view.scenario is not None else "recorded"
        return MetricScore(not_applicable=True, reason=f"does not apply to {kind} cases")
    try:
        scored = bound.score(view)
        if type(scored) is MetricScore:
            value = scored.value
            if type(value) is float and isfinite(value) and (slot is None or not slot.expired):
                return scored if bound.is_quick else fit_to_keep(scored)
        elif inspect.isawaitable(scored):
            return scored
    except BaseException as error:  # noqa: BLE001 - whatever a metric raises is its failure
        return MetricScore(failure=_blame(error, slot, seconds))
    if slot is not None and slot.expired:  # it swallowed its cancellation
        return MetricScore(failure=_timed_out(seconds))
    return fit_to_keep(_checked(bound, scored))


async def _awaited(bound: BoundMetric, answer: Any, slot: Slot | None, seconds: float | None) -> MetricScore:
    task = asyncio.current_task()
    try:
        scored = await answer
    except BaseException as error:
        if isinstance(error, GeneratorExit) and not is_running(task):
            raise  # the interpreter closes this coroutine; nothing may be awaited now
        return MetricScore(failure=_blame(error, slot, seconds))
    if slot is not None and slot.expired:  # it swallowed its cancellation
        return MetricScore(failure=_timed_out(seconds))
    return fit_to_keep(_checked(bound, scored))


def _timed_out(seconds: float | None) -> Failure:
    forget_cancellation()
    return timed_out(_LATE, seconds, where="metric")


def _blame(error: BaseException, slot: Slot | None, seconds: float | None) -> Failure:
    if isinstance(error, LoopBlocked):
        return timed_out("it blocked the event loop and was interrupted", seconds, where="metric")
    if slot is not None and slot.expired:
        return _timed_out(seconds)
    if isinstance(error, asyncio.CancelledError):
        if _stops_the_run(slot):
            raise error
        forget_cancellation()  # the metric cancelled its own task
    return fit_failure(failure_from(error, where="metric"))


def _stops_the_run(slot: Slot | None) -> bool:
    if slot is not None:
        return slot.stopping
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _checked(bound: BoundMetric, scored: object) -> MetricScore:
    """A score that is not a number is an error, never a pass and never a 0."""
    if not isinstance(scored, MetricScore):
        return MetricScore(failure=_unusable(f"returned {type(scored).__name__}, not a MetricScore"))
    value = scored.value
    if scored.failure is not None or scored.not_applicable:
        return scored
    if isinstance(value, int | float) and isfinite(value):
        return scored
    if value is None and not bound.facts.gates:
        return scored
    scored.failure = _unusable(f"returned {value!r} as its score")
    scored.value = None
    return scored


def _unusable(what: str) -> Failure:
    return Failure(where="metric", kind=FailureKind.UNUSABLE_ANSWER, message=what)


def explain(bound: BoundMetric, view: CaseView, scored: MetricScore, *, everything: bool) -> None:
    """Fill in why: of the invocations below the threshold, or of all; before a combination, why its parts have their scores."""
    if not hasattr(bound.metric, "explain"):
        return
    for index, score in enumerate(scored.per_invocation):
        missed = score.value is not None and bound.threshold is not None and score.value < bound.threshold
        if not (everything or missed):
            continue
        for part in bound.parts:
            of_part = view.scores.get(part.name)
            if (
                of_part is not None
                and index < len(of_part.per_invocation)
                and not of_part.per_invocation[index].details
            ):
                _explain_one(part, view, of_part, index)
        _explain_one(bound, view, scored, index)


def _explain_one(bound: BoundMetric, view: CaseView, scored: MetricScore, index: int) -> None:
    explainer, score = getattr(bound.metric, "explain", None), scored.per_invocation[index]
    if explainer is None:
        return
    try:
        explanation = explainer(view, scored, index)
    except BaseException as error:  # noqa: BLE001 - the score stands without its explanation
        why = f"(no explanation: {type(error).__name__}: {safe_str(error)})"
        score.reason = score.reason or fit_text(why)
        return
    if not bound.is_quick:
        fit_explanation(explanation)
    score.reason, score.details = explanation.reason, explanation.details
    score.warning = explanation.warning or score.warning


# --- What a metric says beside its number, made fit to be kept: within bounds, and text that every store holds --------


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
