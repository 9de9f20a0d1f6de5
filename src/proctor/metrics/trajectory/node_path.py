"""`graph_trajectory_strict_match`: whether the expected agents, or nodes of a graph, acted in the expected order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import ClassVar

from proctor.metrics.base import CaseView, MetricFacts, no_recording_score, paired
from proctor.metrics.criterion_check import check_criterion
from proctor.metrics.reason_text import show_name
from proctor.metrics.trajectory.alignment import StepKind, align
from proctor.metrics.trajectory.call_matching import NAMES
from proctor.schema.format.case import EvalCase, Statement
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation, InvocationEvents
from proctor.schema.results.score import Explanation, MetricScore, Score, mean_score

NOT_STATED = "the case does not state who worked in this turn (it takes `invocation_events` with authors)"
NOT_RECORDED = "the record of this turn does not name the agents that worked in it"
MOST_SHOWN = 12


class NodePathCriterion(BaseCriterion):
    """The criterion: what counts as a step."""

    count_repeats: bool = False


@dataclass(frozen=True, slots=True)
class _Node:
    """A step of the path, with the interface of a call so that paths can be aligned like calls."""

    name: str | None
    args: dict[str, object] = field(default_factory=dict)


def _expected_path(case: EvalCase) -> Statement:
    """Return the statement of a case: whether a turn states its authors; without an author it is negative."""
    event_data = [
        data
        for turn in case.conversation or ()
        if isinstance(data := turn.intermediate_data, InvocationEvents)
    ]
    if any(event.author.lower() != "user" for data in event_data for event in data.invocation_events):
        return Statement.POSITIVE
    return Statement.NEGATIVE if event_data else Statement.NONE


class NodePath:
    """1 where the authors of a turn's events are the expected ones in their order, else 0.

    Authors are agents, sub-agents, or nodes of a graph (`sub:node`, `__interrupt__`, as the agent's framework names them);
    the user is none. Consecutive events of one author are one step, unless `count_repeats` is true, as in agentevals.
    """

    kind = NodePathCriterion
    """The criterion class."""
    facts: ClassVar[MetricFacts] = MetricFacts(
        name="graph_trajectory_strict_match",
        description="Whether the agents or graph nodes that worked in a turn are the expected ones, in order.",
        default_threshold=1.0,
        needs=frozenset({"expected"}),
        statement=_expected_path,
        options={"count_repeats": "true: each event is a step, also several of one author in a row"},
        source="agentevals' metric of this name",
    )

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        self._count_repeats = check_criterion(self.facts, criterion, self.kind).count_repeats

    def applies(self, case: EvalCase) -> bool:
        """Return whether any turn states its authors."""
        return any(self._path(turn) is not None for turn in case.conversation or ())

    def reason_not_applicable(self, case: EvalCase) -> str:
        """Return what the case lacks if the metric does not apply."""
        return "no turn of the case states who works in it (`invocation_events` with authors)"

    def score(self, case: CaseView) -> MetricScore:
        """Compare turn by turn; a scenario has no expected path."""
        if case.expected is None:
            return no_recording_score(case)
        return mean_score([self._compare(expected, actual) for actual, expected in paired(case)])

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """Return both paths, and which authors are missing, extra or out of order."""
        turn_score = score.per_invocation[index]
        expected, actual = self._path((case.expected or [])[index]), self._path(case.actual[index])
        if expected is None or actual is None:
            return Explanation(turn_score.reason)
        alignment = align([*map(_Node, expected)], [*map(_Node, actual)], NAMES)
        if turn_score.value:
            return Explanation(f"the path is {_shown(expected)}", alignment.to_details())
        missing, extra = alignment.count(StepKind.MISSING), alignment.count(StepKind.EXTRA)
        counted = [f"{missing} missing"] * bool(missing) + [f"{extra} more"] * bool(extra)
        aside = f" ({', '.join(counted)})" if counted else " (another order)"
        return Explanation(
            f"the path is {_shown(actual)}, expected {_shown(expected)}{aside}", alignment.to_details()
        )

    def _compare(self, expected: Invocation, actual: Invocation) -> Score:
        expected_path, actual_path = self._path(expected), self._path(actual)
        if expected_path is None:
            return Score(reason=NOT_STATED, not_applicable=True)
        if actual_path is None:
            return Score(reason=NOT_RECORDED, not_applicable=True)
        return Score(1.0 if expected_path == actual_path else 0.0)

    def _path(self, invocation: Invocation) -> list[str] | None:
        data = invocation.intermediate_data
        if not isinstance(data, InvocationEvents):
            return None
        authors = [event.author for event in data.invocation_events if event.author.lower() != "user"]
        return authors if self._count_repeats else [author for author, _ in groupby(authors)]


def _shown(path: Sequence[str]) -> str:
    names = [show_name(name) for name in path]
    if len(names) > MOST_SHOWN:
        names = [*names[:MOST_SHOWN], f"… ({len(names)} steps)"]
    return " → ".join(names) or "(nobody)"
