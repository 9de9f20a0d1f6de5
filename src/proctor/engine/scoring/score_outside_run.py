"""Score one conversation outside of a run; a metric that does not end is given up as in a run."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.engine.execution.executor import LocalExecutor
from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.scoring.score_trial import (
    explain,
    order_of_asking,
    score_and_judge,
    scores_of_stuck_trial,
)
from proctor.engine.trial.deadlines import Slot
from proctor.metrics.base import CaseView
from proctor.schema.results.score import MetricScore


async def score_alone(
    metrics: Sequence[BoundMetric], view: CaseView, seconds: float | None
) -> list[MetricScore]:
    """Score one conversation with every metric, with explanations; each may take `seconds` (`None`: no limit).

    Calls of judges have their own deadlines. A metric that raises or does not end gets a score with the failure.
    """
    known: list[MetricScore] = []
    done: list[MetricScore] = []

    async def work(view: CaseView, slot: Slot | None) -> list[MetricScore]:
        scores = await score_and_judge(metrics, view, slot=slot, seconds=seconds, scores=known)
        for metric, scored in zip(metrics, scores, strict=True):
            if slot is not None:
                slot.begin_turn(seconds)
            explain(metric, view, scored, everything=True)
        return scores

    def abandoned(_: CaseView, __: Slot) -> list[MetricScore]:
        return _without_the_stuck(metrics, known, seconds)

    if not any(_may_hang(bound) for bound in metrics):
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


def _may_hang(bound: BoundMetric) -> bool:
    return not bound.is_quick and not bound.judge


def _without_the_stuck(
    metrics: Sequence[BoundMetric], known: Sequence[MetricScore], seconds: float | None
) -> list[MetricScore]:
    asked = order_of_asking(metrics)
    said = scores_of_stuck_trial(asked, known, seconds)
    by_name = {bound.name: score for bound, score in zip(asked, said, strict=True)}
    return [by_name[bound.name] for bound in metrics]
