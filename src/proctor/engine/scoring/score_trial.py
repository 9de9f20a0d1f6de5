"""Score one trial: ask every metric, and record its errors as failures."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from proctor.common.async_tools import forget_cancellation, gather_all
from proctor.common.error_text import safe_repr, safe_str
from proctor.engine.execution.executor import LocalExecutor
from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.trial.deadlines import LoopBlocked, TrialSlot, is_running
from proctor.engine.trial.evidence_limits import EvidenceLimiter, TurnCaps
from proctor.engine.trial.failure_attribution import failure_from, timed_out
from proctor.metrics.base import CaseView
from proctor.schema.evidence.convert_events import RecordedInvocations
from proctor.schema.evidence.trial import Failure, FailureKind, Trial
from proctor.schema.format.case import EvalCase, all_extensions
from proctor.schema.results.score import EXPECTED_SCORE, Explanation, MetricScore, Score, is_score


def view_of(case: EvalCase, trial: Trial) -> CaseView:
    """Return what metrics may read of a trial."""
    return CaseView(
        eval_id=case.eval_id,
        actual=RecordedInvocations(trial.turns, trial.app_details),
        expected=case.conversation,
        scenario=case.conversation_scenario,
        opening=case.opening or (),
        rubrics=case.rubrics or (),
        expected_state=case.final_session_state or None,
        actual_state=trial.final_state,
        trial=trial,
        extra=all_extensions(case) if case.__pydantic_extra__ or case.session_input is not None else None,
    )


async def score_trial(
    metrics: Sequence[BoundMetric],
    view: CaseView,
    *,
    slot: TrialSlot | None = None,
    seconds: float | None = None,
    scores: list[MetricScore] | None = None,
) -> list[MetricScore]:
    """Score one trial with every metric, in order. A metric that raises gives a score with its failure.

    Each metric may take `seconds` if there is a `slot` (quick metrics in a row share them). Each score is appended to
    `scores` when it is computed. A metric that combines others finds their scores in `view.scores`.
    """
    scored = [] if scores is None else scores
    clocked = False  # whether a quick metric started the clock, which the next quick metric shares
    for bound in metrics:
        if bound.only_counts:
            try:
                scored.append(bound.score(view))  # type: ignore[arg-type]  # a built-in metric that is not async
            except BaseException as error:  # noqa: BLE001 - evidence that cannot be counted is a failure of the metric
                scored.append(MetricScore(failure=_blame(error, slot, seconds)))
            continue
        if slot is not None and not (clocked and bound.is_quick):
            slot.begin_turn(seconds)
        if bound.parts:
            known = {each.name: score for each, score in zip(metrics, scored, strict=False)}
            view.scores = {**view.scores, **known}
        outcome = _call_metric(bound, view, slot, seconds)
        if type(outcome) is MetricScore:
            clocked = bound.is_quick and outcome.failure is None
        else:
            outcome = await _await_score(bound, outcome, slot, seconds)
            clocked = False
        scored.append(outcome)
    return scored


def scores_of_stuck_trial(
    metrics: Sequence[BoundMetric], scores: Sequence[MetricScore], seconds: float | None
) -> list[MetricScore]:
    """Return the scores of a trial whose next metric ignored its cancellation; the metrics after it were not asked."""
    stuck, *others = metrics[len(scores) :]
    what = f"{_LATE}, and it ignored its cancellation: it was left behind"
    rest = f"was not asked: {stuck.name} before it did not end"
    failures = [timed_out(what, seconds, where="metric")]
    failures += [Failure(where="metric", kind=FailureKind.CANCELLED, message=rest) for _ in others]
    return [*scores, *(MetricScore(failure=failure) for failure in failures)]


_LATE = "no score within the time of one turn"


def _call_metric(bound: BoundMetric, view: CaseView, slot: TrialSlot | None, seconds: float | None) -> object:
    """Return the metric's score, or the awaitable that yields it."""
    if not bound.covered[view.scenario is not None]:
        kind = "scenario" if view.scenario is not None else "recorded"
        return MetricScore(not_applicable=True, reason=f"does not apply to {kind} cases")
    try:
        scored = bound.score(view)
        if type(scored) is MetricScore:
            value = scored.value
            if type(value) is float and is_score(value) and (slot is None or not slot.expired):
                return scored if bound.is_quick else fit_to_keep(scored)
        elif inspect.isawaitable(scored):
            return scored
    except BaseException as error:  # noqa: BLE001 - any error of a metric is its failure
        return MetricScore(failure=_blame(error, slot, seconds))
    if slot is not None and slot.expired:  # it swallowed its cancellation
        return MetricScore(failure=_timed_out(seconds))
    return fit_to_keep(_check_score(bound, scored))


async def _await_score(
    bound: BoundMetric, answer: Any, slot: TrialSlot | None, seconds: float | None
) -> MetricScore:
    task = asyncio.current_task()
    try:
        scored = await answer
    except BaseException as error:
        if isinstance(error, GeneratorExit) and not is_running(task):
            raise  # the interpreter closes this coroutine; nothing may be awaited now
        return MetricScore(failure=_blame(error, slot, seconds))
    if slot is not None and slot.expired:  # it swallowed its cancellation
        return MetricScore(failure=_timed_out(seconds))
    return fit_to_keep(_check_score(bound, scored))


def _timed_out(seconds: float | None) -> Failure:
    forget_cancellation()
    return timed_out(_LATE, seconds, where="metric")


def _blame(error: BaseException, slot: TrialSlot | None, seconds: float | None) -> Failure:
    if isinstance(error, LoopBlocked):
        return timed_out("it blocked the event loop and was interrupted", seconds, where="metric")
    if slot is not None and slot.expired:
        return _timed_out(seconds)
    if isinstance(error, asyncio.CancelledError):
        if _stops_the_run(slot):
            raise error
        forget_cancellation()  # the metric cancelled its own task
    return fit_failure(failure_from(error, where="metric"))


def _stops_the_run(slot: TrialSlot | None) -> bool:
    if slot is not None:
        return slot.stopping
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _check_score(bound: BoundMetric, scored: object) -> MetricScore:
    """Make a score that is not a number an error, never a pass or a 0."""
    if not isinstance(scored, MetricScore):
        return MetricScore(failure=_unusable(f"returned {type(scored).__name__}, not a MetricScore"))
    value = scored.value
    if scored.failure is not None or scored.not_applicable:
        return scored
    if is_score(value):
        return scored
    if value is None and not bound.facts.gates:
        return scored
    scored.failure = _unusable(f"returned {value!r} as its score; {EXPECTED_SCORE}")
    scored.value = None
    return scored


def _unusable(what: str) -> Failure:
    return Failure(where="metric", kind=FailureKind.UNUSABLE_ANSWER, message=what)


def add_explanations(bound: BoundMetric, view: CaseView, scored: MetricScore, *, everything: bool) -> None:
    """Add explanations to the invocations below the threshold, or to all; the parts of a combination come first."""
    if not hasattr(bound.metric, "explain"):
        return
    for index, score in enumerate(scored.per_invocation):
        if not (everything or bound.is_missed_by(score)):
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
    except BaseException as error:  # noqa: BLE001 - the score counts without its explanation
        why = f"(no explanation: {type(error).__name__}: {safe_str(error)})"
        score.reason = score.reason or fit_text(why)
        return
    if not bound.is_quick:
        fit_explanation(explanation)
    score.reason, score.details = explanation.reason, explanation.details
    score.warning = explanation.warning or score.warning


# --- Limits of reasons, warnings and details before they are stored ---------------------------------------------------


def fit_to_keep(score: MetricScore) -> MetricScore:
    """Limit the texts of a score; each text that is changed has a note."""
    _fit(score)
    for one in score.per_invocation:
        _fit(one)
        if one.warning:
            one.warning = _TextLimiter("warning").fit(one.warning)
    if score.failure is not None:
        fit_failure(score.failure)
    return score


def fit_explanation(explanation: Explanation) -> Explanation:
    """Limit the texts of an explanation; each text that is changed has a note."""
    _fit(explanation)
    explanation.warning = _TextLimiter("warning").fit(explanation.warning)
    return explanation


def fit_failure(failure: Failure) -> Failure:
    """Limit the texts of a failure; each text that is changed has a note."""
    if failure.traceback is not None:
        failure.traceback = _TextLimiter("traceback").fit(failure.traceback)
    failure.message = _TextLimiter("error message").fit(failure.message)
    return failure


def fit_text(reason: str) -> str:
    """Limit a reason, and append what was changed."""
    return _TextLimiter("reason").fit(reason)


def _fit(one: Score | MetricScore | Explanation) -> None:
    if one.reason:
        one.reason = fit_text(one.reason)
    if one.details:
        words = _TextLimiter("details")
        one.details = words.object(one.details, "")
        one.reason += words.changes


class _TextLimiter(EvidenceLimiter):
    """Limits one text, or the details of a score."""

    __slots__ = ()

    def __init__(self, place: str) -> None:
        super().__init__(_CAPS, [])
        self.begin(place)

    def fit(self, text: str) -> str:
        """Limit `text`, and append what was changed."""
        return self.text(text, "") + self.changes

    @property
    def changes(self) -> str:
        """The changes, as the end of a text; empty without changes."""
        return f" [{'; '.join(self.notes)}]" if self.notes else ""

    def value(self, value: Any, what: str, _depth: int = 0) -> Any:
        """Return a copy of a JSON value; other values and values that are nested too deep become text."""
        try:
            return super().value(value, what, _depth)
        except Exception:  # noqa: BLE001 - reading a foreign object may raise anything
            self._note(f"{type(value).__name__} kept as text", what)
            return self.text(safe_repr(value), what)


_CAPS = TurnCaps()


# --- Metrics that ask judges ------------------------------------------------------------------------------------------


def before_judges(metrics: Sequence[BoundMetric]) -> list[BoundMetric]:
    """Return the metrics that need no judge, nor the score of one."""
    return _split(metrics)[0]


def order_of_asking(metrics: Sequence[BoundMetric]) -> list[BoundMetric]:
    """Return metrics in the order of asking: without judges, with judges, then those that need the judges' scores."""
    first, judges, last = _split(metrics)
    return [*first, *judges, *last]


async def score_and_judge(
    metrics: Sequence[BoundMetric],
    view: CaseView,
    *,
    slot: TrialSlot | None = None,
    seconds: float | None = None,
    scores: list[MetricScore] | None = None,
    aside: Callable[[TrialSlot], None] | None = None,
) -> list[MetricScore]:
    """Score one trial as `score_trial` does, but ask the metrics with judges concurrently, after those without.

    They have no deadline here: every call of a judge has its own, and may wait for the rate limit of its provider.
    While they wait, `aside` gives the trial's place to another. `scores` fills in the order of `order_of_asking`.
    """
    first, judges, last = _split(metrics)
    scored = [] if scores is None else scores
    await score_trial(first, view, slot=slot, seconds=seconds, scores=scored)
    if slot is not None:
        slot.begin_turn(None)
        if aside is not None:
            aside(slot)
    for judged in await gather_all([score_trial([bound], view, slot=slot) for bound in judges]):
        scored += judged
    if last:
        view.scores = {
            **view.scores,
            **{bound.name: score for bound, score in zip([*first, *judges], scored, strict=True)},
        }
        scored += await score_trial(last, view, slot=slot, seconds=seconds)
    by_name = {bound.name: score for bound, score in zip([*first, *judges, *last], scored, strict=True)}
    return [by_name[bound.name] for bound in metrics]


def _split(
    metrics: Sequence[BoundMetric],
) -> tuple[list[BoundMetric], list[BoundMetric], list[BoundMetric]]:
    judges = [bound for bound in metrics if bound.judge]
    waiting = set(_waiting(metrics, {bound.name for bound in judges}))
    first = [bound for bound in metrics if not bound.judge and bound.name not in waiting]
    return first, judges, [bound for bound in metrics if bound.name in waiting]


def _waiting(metrics: Sequence[BoundMetric], needed: set[str]) -> Iterator[str]:
    """Yield the names of metrics that need scores of judges, directly or through others; they follow what they need."""
    for bound in metrics:
        if not bound.judge and any(part.name in needed for part in bound.parts):
            needed.add(bound.name)
            yield bound.name


# --- Score one conversation outside of a run; a metric that does not end is given up as in a run ----------------------


async def score_alone(
    metrics: Sequence[BoundMetric], view: CaseView, seconds: float | None
) -> list[MetricScore]:
    """Score one conversation with every metric, with explanations; each may take `seconds` (`None`: no limit).

    Calls of judges have their own deadlines. A metric that raises or does not end gets a score with the failure.
    """
    known: list[MetricScore] = []
    done: list[MetricScore] = []

    async def work(view: CaseView, slot: TrialSlot | None) -> list[MetricScore]:
        scores = await score_and_judge(metrics, view, slot=slot, seconds=seconds, scores=known)
        for metric, scored in zip(metrics, scores, strict=True):
            if slot is not None:
                slot.begin_turn(seconds)
            add_explanations(metric, view, scored, everything=True)
        return scores

    def abandoned(_: CaseView, __: TrialSlot) -> list[MetricScore]:
        return _without_the_stuck(metrics, known, seconds)

    if all(bound.is_quick or bound.judge for bound in metrics):
        # nothing to watch: that would take longer than the scores
        return await work(view, None)
    executor = LocalExecutor(
        work,
        abandoned=abandoned,
        on_done=done.extend,
        concurrency=1,
        shortest_timeout=seconds,
    )
    await executor.run(iter([view]))
    return done


def _without_the_stuck(
    metrics: Sequence[BoundMetric], known: Sequence[MetricScore], seconds: float | None
) -> list[MetricScore]:
    ordered_metrics = order_of_asking(metrics)
    scores = scores_of_stuck_trial(ordered_metrics, known, seconds)
    by_name = {bound.name: score for bound, score in zip(ordered_metrics, scores, strict=True)}
    return [by_name[bound.name] for bound in metrics]
