"""Scoring outside of a run: one conversation, in which a metric that never answers is given up as it is in a run."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.engine.execution.executor import LocalExecutor
from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.scoring.judge_scheduling import in_order, score_and_judge
from proctor.engine.scoring.score_trial import explain, given_up
from proctor.engine.trial.deadlines import Slot
from proctor.metrics.base import CaseView
from proctor.schema.results.score import MetricScore


async def score_alone(
    metrics: Sequence[BoundMetric], view: CaseView, seconds: float | None
) -> list[MetricScore]:
    """Score one conversation with every metric and say why; each may take so many `seconds` (`None`: no limit).

    Calls to judges have deadlines of their own. What a metric raises, and that it did not end, are in its score.
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
        on_done=lambda _, scores: done.extend(scores),
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
    asked = in_order(metrics)
    said = given_up(asked, known, seconds)
    by_name = {bound.name: score for bound, score in zip(asked, said, strict=True)}
    return [by_name[bound.name] for bound in metrics]
