"""The base class of rubric metrics: the rubrics of each turn, one question per turn, and the scores from the votes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from math import isfinite
from typing import ClassVar

from proctor.errors import MetricError
from proctor.judges.base import Passage, Question
from proctor.metrics.base import CaseView, MetricFacts, Survey
from proctor.metrics.criterion_check import misfit
from proctor.metrics.judged.base import LlmJudgeMetric, case_score
from proctor.metrics.judged.checklist import (
    Checked,
    ItemVotes,
    agreement_of,
    checklist_form,
    checklist_is_final,
    tally_items,
)
from proctor.metrics.judged.passages import numbered_passages
from proctor.schema.format.case import EvalCase, Statement
from proctor.schema.format.criterion import BaseCriterion, RubricsBasedCriterion
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.rubric import Rubric
from proctor.schema.results.score import MetricScore, Score, mean


@dataclass(frozen=True, slots=True)
class LocatedRubric:
    """A rubric and where it is written: `criterion.rubrics[0]`, `rubrics[1]`, `conversation[0].rubrics[0]`."""

    rubric: Rubric
    where: str

    @property
    def rubric_id(self) -> str:
        """Its name in results."""
        return self.rubric.rubric_id

    @property
    def text(self) -> str:
        """The property that must hold."""
        return (self.rubric.rubric_content.text_property or "").strip()

    @property
    def points(self) -> float:
        """Its weight: `points`, or 1."""
        points = (self.rubric.model_extra or {}).get("points", 1)
        return float(points)


def with_places(rubrics: Iterable[Rubric] | None, where: str) -> list[LocatedRubric]:
    """Return rubrics with their places."""
    return [LocatedRubric(rubric, f"{where}[{index}]") for index, rubric in enumerate(rubrics or ())]


def for_turn(
    common: Sequence[LocatedRubric],
    of_case: Sequence[LocatedRubric],
    of_turn: Sequence[LocatedRubric],
    kind: str,
) -> list[LocatedRubric]:
    """Return the rubrics of one turn: all of the criterion, then those of case and turn with this type."""
    return [*common, *(each for each in (*of_case, *of_turn) if each.rubric.type == kind)]


def lists_of_case(
    case: EvalCase, common: Sequence[LocatedRubric], kind: str
) -> Iterator[list[LocatedRubric]]:
    """Yield the rubrics of each turn of a case; for a scenario, those of its opening and of an unknown turn."""
    of_case = with_places(case.rubrics, "rubrics")
    turns: list[Invocation] | None = case.conversation
    if turns is None:
        yield for_turn(common, of_case, (), kind)
    key, turns = ("conversation", turns) if turns is not None else ("opening", case.opening or [])
    for index, turn in enumerate(turns):
        yield for_turn(common, of_case, with_places(turn.rubrics, f"{key}[{index}].rubrics"), kind)


def problems_of_list(rubrics: Sequence[LocatedRubric]) -> Iterator[str]:
    """Yield the problems of one list: a repeated id, a rubric without text, invalid points."""
    first_by_id: dict[str, LocatedRubric] = {}
    for each in rubrics:
        if (other := first_by_id.setdefault(each.rubric_id, each)) is not each:
            yield (
                f"{each.where}: the rubric_id {each.rubric_id!r} is already used by {other.where}; a turn is judged by "
                "both, so each needs a different id"
            )
        if not each.text:
            yield f"{each.where}: the rubric {each.rubric_id!r} has no text (`rubric_content.text_property`)"
        if problem := _points_problem(each.rubric):
            yield f"{each.where}.points: {problem}"


def _points_problem(rubric: Rubric) -> str:
    points = (rubric.model_extra or {}).get("points", 1)
    if isinstance(points, bool) or not isinstance(points, int | float) or not isfinite(points) or points <= 0:
        return f"expected a number above 0, the weight of the rubric, got {points!r}"
    return ""


OPTIONS = {
    "rubrics": "properties that must hold, for every case: `rubric_id`, `rubric_content.text_property`; or `criterion`, "
    "with `points` as its weight; or the text alone"
}
SOURCE = "google-adk's metric of this name; prompt, answers and votes are Proctor's"


def rubric_facts(name: str, description: str, *, rubric_id: str, text: str) -> MetricFacts:
    """Return the facts of a rubric metric, with one rubric as its example."""
    rubric = {"rubric_id": rubric_id, "rubric_content": {"text_property": text}}
    return MetricFacts(
        name=name,
        description=description,
        kind="judge",
        default_threshold=0.8,
        needs=frozenset({"judge", "rubrics"}),
        options=OPTIONS,
        example={name: {"threshold": 1.0, "rubrics": [rubric]}},
        source=SOURCE,
    )


NO_TURNS = "the conversation has no turns"
NO_RUBRICS = "no rubric is about this turn"


class RubricMetric(LlmJudgeMetric[RubricsBasedCriterion]):
    """The share of rubrics that hold, weighted by points; for a turn those of the turn, for a case those of all turns."""

    kind = RubricsBasedCriterion
    rubric_type: ClassVar[str]
    """The `type` of the rubrics of cases and turns that this metric reads."""

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        super().__init__(criterion)
        self._common = with_places(self._criterion.rubrics, "rubrics")
        if problems := [*problems_of_list(self._common)]:
            raise misfit(self.facts.name, problems)
        self.facts = replace(self.facts, statement=self._statement)

    # --- before the run ---

    def check(self, case: EvalCase) -> list[str]:
        """Return the problems of the rubrics that a case is judged by."""
        lists = self._lists(case)
        problems = dict.fromkeys(problem for each in lists for problem in problems_of_list(each))
        return [*problems] or ([] if any(lists) else [self._missing(case)])

    def survey(self) -> Survey:
        """Return the survey for rounded thresholds, and for rubrics that no metric reads."""
        return RubricSurvey(self._criterion.threshold, self.rubric_type, self._lists)

    def _statement(self, case: EvalCase) -> Statement:
        """Find a rubric that this metric reads."""
        return Statement.POSITIVE if any(self._lists(case)) else Statement.NONE

    def _lists(self, case: EvalCase) -> list[list[LocatedRubric]]:
        in_criterion = [LocatedRubric(each.rubric, f"criterion.{each.where}") for each in self._common]
        return [*lists_of_case(case, in_criterion, self.rubric_type)]

    def _missing(self, case: EvalCase) -> str:
        others = _stated_rubrics(case)
        kinds = ", ".join(sorted({each.type or "none" for each in others}))
        count = f"there are {len(others)}" if len(others) > 1 else "there is one"
        hint = f"; {count}, of type {kinds}" if others else ""
        return (
            f"{self.facts.name} has no rubrics: state some in the criterion, or in the case or its turns "
            f'with "type": "{self.rubric_type}"{hint}'
        )

    # --- scoring ---

    async def score(self, case: CaseView) -> MetricScore:
        """Ask about each turn with rubrics; a turn without any is not applicable."""
        if not case.actual:
            return MetricScore(reason=NO_TURNS, not_applicable=True)
        lists = self._rubrics_of_turns(case)
        turns = [index for index, rubrics in enumerate(lists) if rubrics]
        questions = [self._question(case, index, lists[index]) for index in turns]
        outcomes = dict(zip(turns, await self._ask(questions, checklist_is_final), strict=True))
        results = {index: rubric_results(lists[index], each.votes) for index, each in outcomes.items()}
        scores = [Score(reason=NO_RUBRICS, not_applicable=True) for _ in lists]
        for index, each in outcomes.items():
            turn_results = results[index]
            agreement = agreement_of([result.tally for result in turn_results])
            scores[index] = each.score(
                share(turn_results), rubrics_reason(turn_results), agreement, rubrics=details_of(turn_results)
            )
        overall = share(chain.from_iterable(results.values()))
        score = case_score(scores, [each.failure for each in outcomes.values()], value=overall)
        score.details = {"overall_rubrics": by_id(results.values())}
        return score

    @abstractmethod
    def _passages(self, case: CaseView, index: int) -> Iterable[Passage]:
        """Return what the judge sees, without the rubrics."""

    def _rubrics_of_turns(self, case: CaseView) -> list[list[LocatedRubric]]:
        lists = [self._rubrics_of_turn(case, index) for index in range(len(case.actual))]
        if not any(lists):
            raise MetricError(f"there are no rubrics of type {self.rubric_type} for any turn")
        return lists

    def _rubrics_of_turn(self, case: CaseView, index: int) -> list[LocatedRubric]:
        """Return the rubrics of a turn: from the criterion, the case, and the turn as recorded and as made."""
        own: dict[tuple[str, str | None], Rubric] = {}
        for turns in (case.expected or case.opening, case.actual):
            for rubric in (turns[index].rubrics or ()) if index < len(turns) else ():
                own.setdefault((rubric.rubric_id, rubric.rubric_content.text_property), rubric)
        where = "opening" if index < len(case.opening) else "conversation"
        of_turn = with_places(own.values(), f"{where}[{index}].rubrics")
        rubrics = for_turn(self._common, with_places(case.rubrics, "case.rubrics"), of_turn, self.rubric_type)
        if problems := [*problems_of_list(rubrics)]:
            raise MetricError("; ".join(problems))
        return rubrics

    def _question(self, case: CaseView, index: int, rubrics: Sequence[LocatedRubric]) -> Question[Checked]:
        texts = numbered_passages("rubric", (each.text for each in rubrics))
        form = checklist_form("rubric_verdicts", len(rubrics))
        return self._make_question([*self._passages(case, index), *texts], form, turn=index)


# --- Warnings about a criterion, with all cases in view: a rounded threshold, rubrics that no metric reads ---


_LARGEST = 9
"""The largest denominator of a fraction that an author may have rounded."""

Lists = Callable[[EvalCase], Iterable[list[LocatedRubric]]]


class RubricSurvey(Survey):
    """Finds thresholds that no possible score reaches, and rubrics without type. A problem of a list is reported with its case."""

    def __init__(self, threshold: float, kind: str, lists: Lists) -> None:
        self._threshold, self._kind, self._lists = threshold, kind, lists
        self._totals: dict[int, None] = {}
        self._untyped = 0

    def add_case(self, case: EvalCase) -> None:
        """Record the rubrics of one case."""
        weights = [rubric.points for each in self._lists(case) for rubric in each]
        if weights and len({*weights}) == 1:
            self._totals[len(weights)] = None
        self._untyped += any(rubric.type is None for rubric in _stated_rubrics(case))

    def warnings(self) -> Iterator[str]:
        """Yield a threshold above the fraction that it was rounded from, and rubrics without `type`."""
        fractions = (excluded_fraction(self._threshold, total) for total in self._totals)
        for fraction in dict.fromkeys(each for each in fractions if each is not None):
            met, of = fraction.numerator, fraction.denominator
            yield (
                f"threshold {self._threshold:g} is above {met}/{of} ({met / of:.4f}), so {met} of {of} rubrics do not "
                f'reach it; write "{met}/{of}" if they should'
            )
        if self._untyped:
            yield (
                f"{self._untyped} case(s) state rubrics without `type`, which are ignored (as in google-adk); "
                f'those for this metric have "type": "{self._kind}"'
            )


def _stated_rubrics(case: EvalCase) -> list[Rubric]:
    """Return the rubrics of a case and of its turns."""
    turns = case.conversation or case.opening or ()
    return [*(case.rubrics or ()), *(rubric for turn in turns for rubric in turn.rubrics or ())]


def excluded_fraction(threshold: float, total: int) -> Fraction | None:
    """Return the share of `total` rubrics of equal weight that `threshold` was rounded from and that it excludes.

    Only if the threshold has two decimals or more, and the share is one that people round (2/3, 5/6 …).
    """
    decimals = len(repr(threshold).partition(".")[2])
    if decimals < 2 or threshold >= 1:
        return None
    below = Fraction(int(threshold * total), total)
    rounds_up = float(below) < threshold and round(float(below), decimals) == threshold
    return below if rounds_up and below.denominator <= _LARGEST else None


# --- From votes on rubrics to scores ---


@dataclass(frozen=True, slots=True)
class RubricResult:
    """The result for one rubric in one turn."""

    rubric_id: str
    text: str
    points: float
    tally: ItemVotes

    @property
    def score(self) -> float | None:
        """1 if the rubric holds, 0 if it does not."""
        return None if self.tally.met is None else float(self.tally.met)


def rubric_results(rubrics: Sequence[LocatedRubric], votes: Sequence[Checked]) -> list[RubricResult]:
    """Return the result for each rubric of a turn."""
    tallies = tally_items(votes, len(rubrics))
    return [
        RubricResult(each.rubric_id, each.text, each.points, tally)
        for each, tally in zip(rubrics, tallies, strict=True)
    ]


def share(results: Iterable[RubricResult]) -> float | None:
    """Return the share of the points that hold; `None` if no rubric has a verdict.

    Rubrics without a verdict are not counted, as in google-adk; there are none if the judge decided.
    """
    decided = [each for each in results if each.score is not None]
    total = sum(each.points for each in decided)
    return sum(each.points for each in decided if each.tally.met) / total if total else None


def by_id(turns: Iterable[Sequence[RubricResult]]) -> list[dict[str, object]]:
    """Return the data of each rubric over all turns in which it was judged."""
    results: dict[str, list[RubricResult]] = {}
    for turn in turns:
        for each in turn:
            results.setdefault(each.rubric_id, []).append(each)
    return [_over_turns(rubric_id, of_rubric) for rubric_id, of_rubric in results.items()]


def _over_turns(rubric_id: str, results: Sequence[RubricResult]) -> dict[str, object]:
    scores = [each.score for each in results if each.score is not None]
    shares = [each.tally.agreement for each in results if each.tally.agreement is not None]
    met = sum(score == 1 for score in scores)
    rationale = results[0].tally.rationale if len(results) == 1 else f"met in {met} of {len(scores)} turns"
    return {
        "rubric_id": rubric_id,
        "text": results[0].text,
        "score": mean(scores) if scores else None,
        "rationale": rationale,
        "agreement": mean(shares) if shares else None,
    }


def details_of(results: Iterable[RubricResult]) -> list[dict[str, object]]:
    """Return the results of one turn as data for reports."""
    return [
        {
            "rubric_id": each.rubric_id,
            "text": each.text,
            "score": each.score,
            "rationale": each.tally.rationale,
            "agreement": each.tally.agreement,
            **({"points": each.points} if each.points != 1 else {}),
        }
        for each in results
    ]


def rubrics_reason(results: Sequence[RubricResult]) -> str:
    """Return which rubrics do not hold, with the judge's rationale."""
    missed = [each for each in results if each.tally.met is False]
    if not missed:
        return f"all {len(results)} rubrics are met" if len(results) > 1 else "the rubric is met"
    reasons = "; ".join(f"{each.rubric_id}: {each.tally.rationale or 'no reason given'}" for each in missed)
    count = f"{len(missed)} of {len(results)} rubrics" if len(results) > 1 else "the rubric is"
    return f"{count} not met: {reasons}"
