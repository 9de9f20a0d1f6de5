"""Metrics that ask a judge: which one they are given, and how a trial is scored while others have its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from proctor.common.async_tools import gather_all
from proctor.common.prompts import Prompt, read_prompt
from proctor.errors import CriterionError, SetupError
from proctor.schema.evidence.serialize import content_hash
from proctor.schema.format.criterion import JudgeModelOptions
from proctor.schema.results.manifest import UNKNOWN_MODULES
from proctor.schema.results.score import MetricScore

if TYPE_CHECKING:
    from proctor.engine.planning.bound_metric import BoundMetric
    from proctor.engine.trial.deadlines import Slot
    from proctor.judges.base import AnswerCache, Judge, Judges
    from proctor.metrics.base import CaseView
    from proctor.schema.results.model_usage import Spent


@dataclass(frozen=True, slots=True)
class GivenJudge:
    """Whom a metric asks."""

    model: str
    """As users name it."""
    code: str
    """Hash of its code, as `MetricManifest.judge_code` has it."""
    notes: list[str]
    """What is to be known of it."""


def given_judge(metric: Any, judges: Judges | None) -> GivenJudge:
    """Give a metric the judges of the run; return whom it asks.

    Raises:
        SetupError: there is none, or the one that it names cannot be asked.
    """
    if judges is None:
        raise CriterionError(
            f"The metric {metric.facts.name!r} asks a language model, and none may be asked here."
        )
    noting = _Noting(judges)
    try:
        metric.use(noting)
    except SetupError as problem:
        if type(problem) is SetupError:  # a key that is not set: the file that names the judge is right
            problem.is_mistake = False
        raise
    model = " ".join(dict.fromkeys(noting.models)) or "?"
    return GivenJudge(model, noting.code(), list(dict.fromkeys(noting.notes)))


def prompts_of(metric: Any) -> dict[str, str]:
    """Return the hashes of the prompts that a metric asks with (those it holds), and of what every judge is told."""
    held = [
        one
        for value in getattr(metric, "__dict__", {}).values()
        for one in _several(value)
        if isinstance(one, Prompt)
    ]
    return {prompt.name: prompt.hash for prompt in [*held, read_prompt("proctor.judges", "instructions.md")]}


def _several(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else [value]


class _Noting:
    """Judges that remember whom they gave."""

    def __init__(self, judges: Judges) -> None:
        self._judges = judges
        self.models: list[str] = []
        self.codes: list[str | None] = []
        self.notes: list[str] = []

    def judge(self, metric: str, options: JudgeModelOptions, *, stated: bool) -> Judge:
        judge = self._judges.judge(metric, options, stated=stated)
        self.models.append(judge.model)
        self.codes.append(getattr(judge, "code", ""))
        self.notes += judge.notes
        return judge

    def code(self) -> str:
        """Return one hash for the code of all of them."""
        if None in self.codes:
            return UNKNOWN_MODULES
        known = [code for code in dict.fromkeys(self.codes) if code]
        return content_hash("\0".join(known).encode()) if known else ""

    def remember(self, cache: AnswerCache) -> None:
        self._judges.remember(cache)

    def spending(self) -> list[Spent]:
        return self._judges.spending()

    def listen(self, tell: Callable[[str], None]) -> None:
        self._judges.listen(tell)

    async def close(self) -> None:
        await self._judges.close()


def in_order(metrics: Sequence[BoundMetric]) -> list[BoundMetric]:
    """Return metrics in the order in which they are asked: those without judges, judges, those that need their scores."""
    first, judges, last = _split(metrics)
    return [*first, *judges, *last]


async def score_and_judge(
    metrics: Sequence[BoundMetric],
    view: CaseView,
    *,
    slot: Slot | None = None,
    seconds: float | None = None,
    scores: list[MetricScore] | None = None,
    aside: Callable[[Slot], None] | None = None,
) -> list[MetricScore]:
    """Score one trial as `score_trial` does; metrics that ask a judge are asked together, when the others are done.

    They have no deadline here: every call to a judge has its own, and may have to wait until its provider is willing.
    While they wait, `aside` gives the trial's place to another. `scores` fills in the order of `in_order`.
    """
    from proctor.engine.scoring.score_trial import score_trial

    first, judges, last = _split(metrics)
    found = [] if scores is None else scores
    await score_trial(first, view, slot=slot, seconds=seconds, scores=found)
    if slot is not None:
        slot.begin_turn(None)
        if aside is not None:
            aside(slot)
    for judged in await gather_all([score_trial([bound], view, slot=slot) for bound in judges]):
        found += judged
    if last:
        view.scores = {
            **view.scores,
            **{bound.name: score for bound, score in zip([*first, *judges], found, strict=True)},
        }
        found += await score_trial(last, view, slot=slot, seconds=seconds)
    by_name = {bound.name: score for bound, score in zip([*first, *judges, *last], found, strict=True)}
    return [by_name[bound.name] for bound in metrics]


def _split(
    metrics: Sequence[BoundMetric],
) -> tuple[list[BoundMetric], list[BoundMetric], list[BoundMetric]]:
    judges = [bound for bound in metrics if bound.judge]
    waiting = set(_waiting(metrics, {bound.name for bound in judges}))
    first = [bound for bound in metrics if not bound.judge and bound.name not in waiting]
    return first, judges, [bound for bound in metrics if bound.name in waiting]


def _waiting(metrics: Sequence[BoundMetric], needed: set[str]) -> Iterator[str]:
    """The names of metrics that need scores of judges, or of such metrics; they stand behind what they need."""
    for bound in metrics:
        if not bound.judge and any(part.name in needed for part in bound.parts):
            needed.add(bound.name)
            yield bound.name
