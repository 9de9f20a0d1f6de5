"""Whom the metrics of a run ask: the model that was named, an object, a function; made when the first one asks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from proctor.errors import SetupError

if TYPE_CHECKING:
    from proctor.engine.usage.budget import RunBudget
    from proctor.judges.base import AnswerCache
    from proctor.judges.pool import ModelJudge, RunJudges
    from proctor.models.base import Budget
    from proctor.schema.format.criterion import JudgeModelOptions
    from proctor.schema.results.manifest import Manifest
    from proctor.schema.results.model_usage import Spent

VARIABLE = "PROCTOR_JUDGE_MODEL"
"""The environment variable that names the judge of criteria that name none."""


def judge_named(given: Any, setting: str | None = None) -> Any:
    """Return whom to ask where a criterion names nobody: what was given, else the environment, else the setting."""
    return given if given is not None else os.environ.get(VARIABLE, "").strip() or setting


def judge_again(given: Any, run: Manifest, setting: str | None = None) -> Any:
    """Return whom to ask when a run is judged again: what was given, else whom the run asked, else as `judge_named`."""
    return judge_named(given if given is not None else run.options.get("judge"), setting)


def budget_of(options: Mapping[str, Any]) -> RunBudget | None:
    """Return what keeps the caps on calls and dollars that a run is given; `None` where it is given none."""
    limits = {"max_calls": options.get("max_judge_calls"), "max_cost": options.get("max_cost")}
    if all(limit is None for limit in limits.values()):
        return None
    from proctor.engine.usage.budget import RunBudget

    return RunBudget(**limits)


def _never_asked(_messages: object) -> str:
    """Stand for a judge that was refused: nothing is run."""
    raise NotImplementedError


class JudgesOnDemand:
    """The judges of a run (see `Judges`): nothing of them is loaded before a metric wants one.

    `judge` is a model's name, which holds for criteria that name none themselves; or a `ChatModel`, or a plain or
    async function from messages to a text or to the answer as data, which take the place of every judge.
    """

    def __init__(self, judge: Any = None, *, budget: Budget | None = None) -> None:
        self._given = judge_named(judge)
        self._budget = budget
        self.made: RunJudges | None = None
        """The judges, once any metric has asked for one: what they spent stands there."""

    def problems(self) -> list[SetupError]:
        """Return what is wrong with what was given, whether or not anything asks it: it is none, or has no such name."""
        if self._given is None:
            return []
        from proctor.common.registry import MODELS
        from proctor.models.load import as_model
        from proctor.models.names import parse_name

        try:
            if isinstance(self._given, str):
                parse_name(self._given, MODELS.names())
            else:
                as_model(self._given)
        except SetupError as problem:
            self._given = _never_asked  # it is said once, and not by every metric again
            return [SetupError(f"judge: {problem}")]
        return []

    def judge(self, metric: str, options: JudgeModelOptions, *, stated: bool) -> ModelJudge:
        """Return the judge of a criterion.

        Raises:
            SetupError: no such model, no key for it, an extra that is missing.
        """
        if self.made is None:
            self.made = self._make()
        return self.made.judge(metric, options, stated=stated)

    def remember(self, cache: AnswerCache) -> None:
        """Look there for answers before a model is asked, and keep there what it answers."""
        if self.made is not None:
            self.made.remember(cache)

    def spending(self) -> list[Spent]:
        """Return what they took so far, by model."""
        return self.made.spending() if self.made is not None else []

    def listen(self, tell: Callable[[str], None]) -> None:
        """Have `tell` called with the reason when a judge will not be asked any more."""
        if self.made is not None:
            self.made.listen(tell)

    async def close(self) -> None:
        """Let go of connections, when the run is over."""
        if self.made is not None:
            await self.made.close()

    def _make(self) -> RunJudges:
        from proctor.judges.pool import RunJudges
        from proctor.models.load import as_model, load_model
        from proctor.schema.format.criterion import JudgeModelOptions

        by_name = isinstance(self._given, str) or self._given is None
        return RunJudges(
            find=lambda name, limiter: load_model(name, limiter=limiter),
            default=(self._given if by_name else None) or JudgeModelOptions().judge_model,
            only=None if by_name else as_model(self._given),
            budget=self._budget,
        )
