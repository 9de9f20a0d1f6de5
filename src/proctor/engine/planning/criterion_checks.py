"""What is amiss with criteria, seen beside all the cases of a run that they are to judge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from proctor.engine.planning.bound_metric import BoundMetric
from proctor.errors import CriterionError, SetupError
from proctor.metrics.base import Survey
from proctor.schema.format.case import EvalCase
from proctor.schema.format.config import EvalConfig

__all__ = ["Look", "Surveys"]


@dataclass(slots=True)
class Look:
    """One criterion's view of the cases that go by."""

    metric: BoundMetric
    survey: Survey
    source: str
    """The config that the criterion is in."""
    is_partial: bool = False
    """Whether cases were left out on purpose: what nobody states may be stated by one of those."""

    def see(self, case: EvalCase) -> None:
        """Look at a case, if it is one that the metric scores."""
        if self.metric.covers(scenario=case.conversation is None):
            self.survey.see(case)

    def problems(self) -> list[SetupError]:
        """What the survey refuses."""
        fit = f"The criterion of {self.metric.name!r} does not fit"
        return [self._error(said, f"{fit}: {said}.") for said in self.survey.problems()]

    def doubts(self) -> list[SetupError]:
        """What it finds doubtful; of a part of the cases, that is all that it says."""
        said = [*self.survey.doubts()]
        if self.is_partial:
            said = [f"{each} (of the cases that were chosen)" for each in (*self.survey.problems(), *said)]
        return [self._error(each, f"{self.metric.name}: {each}") for each in said]

    def _error(self, said: str, message: str) -> SetupError:
        error = CriterionError(f"{self.source}: {message}")
        error.file, error.path, error.parts = self.source, ("criteria", self.metric.name), [said]
        return error


class Surveys:
    """All that look; sets that share a config are looked at together."""

    def __init__(self) -> None:
        self._looks: dict[tuple[int, str], Look] = {}

    def of(
        self, config: EvalConfig, source: str, metrics: Iterable[BoundMetric], *, is_partial: bool
    ) -> list[Look]:
        """Those that are to see the cases of a set."""
        found = []
        for metric in metrics:
            survey = getattr(metric.metric, "survey", None)
            if survey is None or (made := survey()) is None:
                continue
            look = self._looks.setdefault((id(config), metric.name), Look(metric, made, source))
            look.is_partial |= is_partial
            found.append(look)
        return found

    def problems(self) -> list[SetupError]:
        """What no run can be meant by."""
        return [each for look in self._looks.values() if not look.is_partial for each in look.problems()]

    def doubts(self) -> list[SetupError]:
        """What a person should know before the run."""
        return [each for look in self._looks.values() for each in look.doubts()]
