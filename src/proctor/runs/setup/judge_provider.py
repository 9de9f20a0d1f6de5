"""Provider of the judges of a run: a named model, an object or a function, created when the first metric needs it."""

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
    """Return the default judge: the given one, else that of the environment, else the setting."""
    return given if given is not None else os.environ.get(VARIABLE, "").strip() or setting


def judge_again(given: Any, run: Manifest, setting: str | None = None) -> Any:
    """Return the default judge for re-scoring: the given one, else the run's, else that of `judge_named`."""
    return judge_named(given if given is not None else run.options.get("judge"), setting)


def budget_of(options: Mapping[str, Any]) -> RunBudget | None:
    """Return the budget for the limits on calls and cost; `None` if none is given."""
    limits = {"max_calls": options.get("max_judge_calls"), "max_cost": options.get("max_cost")}
    if all(limit is None for limit in limits.values()):
        return None
    from proctor.engine.usage.budget import RunBudget

    return RunBudget(**limits)


def _never_asked(_messages: object) -> str:
    """Replace a judge that was refused: nothing is run."""
    raise NotImplementedError


class JudgesOnDemand:
    """The judges of a run (see `Judges`), loaded when the first metric needs one.

    `judge` is the name of a model for criteria that name none themselves; or a `ChatModel`, or a plain or
    async function from messages to the answer as text or as data, which replaces every judge.
    """

    def __init__(self, judge: Any = None, *, budget: Budget | None = None) -> None:
        self._given = judge_named(judge)
        self._budget = budget
        self.made: RunJudges | None = None
        """The judges and their usage, once a metric has requested one."""

    def problems(self) -> list[SetupError]:
        """Return the problems of the given judge, whether or not a metric needs it: its type is invalid, or its name unknown."""
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
            self._given = _never_asked  # report it once, not again for every metric
            return [SetupError(f"judge: {problem}")]
        return []

    def judge(self, metric: str, options: JudgeModelOptions, *, stated: bool) -> ModelJudge:
        """Return the judge of a criterion.

        Raises:
            SetupError: the model is unknown, it has no key, or an extra is missing.
        """
        if self.made is None:
            self.made = self._make()
        return self.made.judge(metric, options, stated=stated)

    def remember(self, cache: AnswerCache) -> None:
        """Look up answers in `cache` before a model is called, and store its answers there."""
        if self.made is not None:
            self.made.remember(cache)

    def spending(self) -> list[Spent]:
        """Return the usage of the judges so far, by model."""
        return self.made.spending() if self.made is not None else []

    def listen(self, tell: Callable[[str], None]) -> None:
        """Call `tell` with the reason when a judge is not called any more."""
        if self.made is not None:
            self.made.listen(tell)

    async def close(self) -> None:
        """Close connections at the end of the run."""
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
