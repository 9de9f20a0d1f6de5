"""What the rubric metrics share: whose rubrics count, one question a turn, and the scores that the votes come to."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from proctor.common.prompts import read_prompt
from proctor.errors import MetricError
from proctor.judges.base import Passage, Question
from proctor.metrics.base import CaseView, Survey
from proctor.metrics.criterion_check import misfit
from proctor.metrics.judged.base import Asked, JudgedMetric
from proctor.metrics.judged.checklist import (
    Checked,
    Tally,
    agreed,
    checklist_form,
    checklist_settled,
    tallied,
)
from proctor.metrics.judged.passages import numbered
from proctor.metrics.judged.rubrics.lists import (
    Placed,
    for_turn,
    lists_of_case,
    placed,
    problems_of_list,
    weights_of,
)
from proctor.metrics.judged.votes import concluded
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion, RubricsBasedCriterion
from proctor.schema.format.rubric import Rubric
from proctor.schema.format.statement import Statement
from proctor.schema.results.score import MetricScore, Score, mean

__all__ = [
    "OPTIONS",
    "SOURCE",
    "Found",
    "RubricMetric",
    "RubricSurvey",
    "by_id",
    "details_of",
    "found_for",
    "pooled",
    "reason_of",
    "share",
    "shut_out",
]

OPTIONS = {
    "rubrics": "properties that must hold, for every case: `rubric_id`, `rubric_content.text_property`; or `criterion`, "
    "with `points` as its weight; or the text alone"
}
SOURCE = "google-adk's metric of this name; prompt, answers and votes are Proctor's"
NO_TURNS = "the conversation has no turns"
NO_RUBRICS = "no rubric is about this turn"


class RubricMetric(JudgedMetric[RubricsBasedCriterion]):
    """The share of rubrics that hold, by points. A turn's score is about its own list; a case's about all of them."""

    kind = RubricsBasedCriterion
    rubric_type: ClassVar[str]
    """The `type` of those rubrics of cases and turns that are for this metric."""

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        super().__init__(criterion)
        self._common = placed(self._criterion.rubrics, "rubrics")
        self._prompt = read_prompt("proctor.metrics.judged.prompts", f"{self.facts.name}.md")
        if problems := [*problems_of_list(self._common)]:
            raise misfit(self.facts.name, problems)
        self.facts = replace(self.facts, statement=self._statement)

    # --- before anything runs ---

    def check(self, case: EvalCase) -> list[str]:
        """What is wrong with the rubrics that a case is judged by."""
        lists = self._lists(case)
        problems = dict.fromkeys(problem for each in lists for problem in problems_of_list(each))
        return [*problems] or ([] if any(lists) else [self._missing(case)])

    def survey(self) -> Survey:
        """Look for thresholds that were rounded, and for rubrics that nothing reads."""
        return RubricSurvey(self._criterion.threshold, self.rubric_type, self._lists)

    def _statement(self, case: EvalCase) -> Statement:
        """Find a rubric that this metric reads."""
        return Statement.POSITIVE if any(self._lists(case)) else Statement.NONE

    def _lists(self, case: EvalCase) -> list[list[Placed]]:
        in_criterion = [Placed(each.rubric, f"criterion.{each.where}") for each in self._common]
        return [*lists_of_case(case, in_criterion, self.rubric_type)]

    def _missing(self, case: EvalCase) -> str:
        turns = case.conversation or case.opening or ()
        others = [*(case.rubrics or ()), *(rubric for turn in turns for rubric in turn.rubrics or ())]
        kinds = ", ".join(sorted({each.type or "none" for each in others}))
        count = f"there are {len(others)}" if len(others) > 1 else "there is one"
        but = f"; {count}, of type {kinds}" if others else ""
        return (
            f"{self.facts.name} has no rubrics to judge it by: state some in the criterion, or in the case or its turns "
            f'with "type": "{self.rubric_type}"{but}'
        )

    # --- scoring ---

    async def score(self, case: CaseView) -> MetricScore:
        """Ask about each turn that has rubrics; a turn without any is not applicable."""
        if not case.actual:
            return MetricScore(reason=NO_TURNS, not_applicable=True)
        lists = [self._of_turn(case, index) for index in range(len(case.actual))]
        if not any(lists):
            raise MetricError(f"there are no rubrics of type {self.rubric_type} for any turn")
        about = [index for index, rubrics in enumerate(lists) if rubrics]
        asked = await self._ask(
            [self._question(case, index, lists[index]) for index in about], checklist_settled
        )
        by_turn = dict(zip(about, asked, strict=True))
        found = {index: _found(lists[index], each) for index, each in by_turn.items()}
        scores = [
            _scored(by_turn[index], found[index])
            if index in by_turn
            else Score(reason=NO_RUBRICS, not_applicable=True)
            for index in range(len(lists))
        ]
        score = concluded(scores, [each.failure for each in asked], value=pooled(found.values()))
        score.details = {"overall_rubrics": by_id(found.values())}
        return score

    @abstractmethod
    def _passages(self, case: CaseView, index: int) -> Iterable[Passage]:
        """What the judge looks at, but for the rubrics."""

    def _of_turn(self, case: CaseView, index: int) -> list[Placed]:
        """The list of a turn: those of the criterion, the case, and the turn as recorded and as made."""
        own: dict[tuple[str, str | None], Rubric] = {}
        for turns in (case.expected or case.opening, case.actual):
            for rubric in (turns[index].rubrics or ()) if index < len(turns) else ():
                own.setdefault((rubric.rubric_id, rubric.rubric_content.text_property), rubric)
        where = "opening" if index < len(case.opening) else "conversation"
        of_turn = placed(own.values(), f"{where}[{index}].rubrics")
        rubrics = for_turn(self._common, placed(case.rubrics, "case.rubrics"), of_turn, self.rubric_type)
        if problems := [*problems_of_list(rubrics)]:
            raise MetricError("; ".join(problems))
        return rubrics

    def _question(self, case: CaseView, index: int, rubrics: Sequence[Placed]) -> Question[Checked]:
        return Question(
            metric=self.facts.name,
            prompt=self._prompt,
            passages=[*self._passages(case, index), *numbered("rubric", (each.text for each in rubrics))],
            form=checklist_form("rubric_verdicts", len(rubrics)),
            turn=index,
        )


def _found(rubrics: Sequence[Placed], asked: Asked[Checked]) -> list[Found]:
    return found_for(rubrics, tallied(asked.votes, len(rubrics)))


def _scored(asked: Asked[Checked], found: Sequence[Found]) -> Score:
    same = agreed([each.tally for each in found])
    return asked.score(share(found), reason_of(found), same, rubrics=details_of(found))


# --- What is doubtful about a criterion with rubrics, seen beside the cases: a rounded threshold, rubrics that nothing reads ---


_LARGEST = 9
"""The largest denominator of a fraction that somebody may have rounded."""

Lists = Callable[[EvalCase], Iterable[list[Placed]]]


class RubricSurvey:
    """Looks at what the scores of cases can be, and at rubrics that state no type."""

    def __init__(self, threshold: float, kind: str, lists: Lists) -> None:
        self._threshold, self._kind, self._lists = threshold, kind, lists
        self._totals: dict[int, None] = {}
        self._untyped = 0

    def see(self, case: EvalCase) -> None:
        """Look at one case."""
        weights = [weight for each in self._lists(case) for weight in weights_of(each)]
        if weights and len({*weights}) == 1:
            self._totals[len(weights)] = None
        stated = [
            *(case.rubrics or ()),
            *(r for turn in case.conversation or case.opening or () for r in turn.rubrics or ()),
        ]
        self._untyped += any(rubric.type is None for rubric in stated)

    def problems(self) -> Iterable[str]:
        """Nothing: what is wrong with a list is wrong with its case."""
        return ()

    def doubts(self) -> Iterator[str]:
        """A threshold that shuts out what it was rounded from; rubrics without `type`."""
        found = (shut_out(self._threshold, total) for total in self._totals)
        for fraction in dict.fromkeys(each for each in found if each is not None):
            met, of = fraction.numerator, fraction.denominator
            yield (
                f"threshold {self._threshold:g} is above {met}/{of} ({met / of:.4f}), so {met} of {of} rubrics do not "
                f'reach it; write "{met}/{of}" if they should'
            )
        if self._untyped:
            yield (
                f"{self._untyped} case(s) state rubrics without `type`, which are left out (google-adk does so, too); "
                f'those for this metric have "type": "{self._kind}"'
            )


def shut_out(threshold: float, total: int) -> Fraction | None:
    """The share of `total` rubrics of equal weight that `threshold` was rounded from, and that it is above.

    Only where the threshold has two decimals or more, and the share is one that people round (2/3, 5/6 …).
    """
    decimals = len(repr(threshold).partition(".")[2])
    if decimals < 2 or threshold >= 1:
        return None
    below = Fraction(int(threshold * total), total)
    rounds_up = float(below) < threshold and round(float(below), decimals) == threshold
    return below if rounds_up and below.denominator <= _LARGEST else None


# --- From votes on rubrics to scores: of a turn the share of points that hold, of a case that of all its turns together ---


@dataclass(frozen=True, slots=True)
class Found:
    """What was found for one rubric in one turn."""

    rubric_id: str
    text: str
    points: float
    tally: Tally

    @property
    def score(self) -> float | None:
        """1 where it holds, 0 where it does not."""
        return None if self.tally.met is None else float(self.tally.met)


def found_for(rubrics: Sequence[Placed], tallies: Sequence[Tally]) -> list[Found]:
    """What was found for each rubric."""
    return [
        Found(each.rubric_id, each.text, each.points, tally)
        for each, tally in zip(rubrics, tallies, strict=True)
    ]


def share(found: Iterable[Found]) -> float | None:
    """The share of the points that hold; `None` where no rubric has a verdict.

    Rubrics without a verdict count on neither side, as in google-adk; there are none where the judge decided.
    """
    decided = [each for each in found if each.score is not None]
    total = sum(each.points for each in decided)
    return sum(each.points for each in decided if each.tally.met) / total if total else None


def pooled(turns: Iterable[Sequence[Found]]) -> float | None:
    """The share over all turns: every verdict counts alike, so that a turn with more rubrics weighs more."""
    return share(each for turn in turns for each in turn)


def by_id(turns: Iterable[Sequence[Found]]) -> list[dict[str, Any]]:
    """What each rubric came to over all turns that it was judged in, as data."""
    of: dict[str, list[Found]] = {}
    for turn in turns:
        for each in turn:
            of.setdefault(each.rubric_id, []).append(each)
    return [_over_turns(rubric_id, found) for rubric_id, found in of.items()]


def _over_turns(rubric_id: str, found: Sequence[Found]) -> dict[str, Any]:
    scores = [each.score for each in found if each.score is not None]
    shares = [each.tally.agreement for each in found if each.tally.agreement is not None]
    held = sum(score == 1 for score in scores)
    rationale = found[0].tally.rationale if len(found) == 1 else f"met in {held} of {len(scores)} turns"
    return {
        "rubric_id": rubric_id,
        "text": found[0].text,
        "score": mean(scores) if scores else None,
        "rationale": rationale,
        "agreement": mean(shares) if shares else None,
    }


def details_of(found: Iterable[Found]) -> list[dict[str, Any]]:
    """What was found in one turn, as data that reports draw."""
    return [
        {
            "rubric_id": each.rubric_id,
            "text": each.text,
            "score": each.score,
            "rationale": each.tally.rationale,
            "agreement": each.tally.agreement,
            **({"points": each.points} if each.points != 1 else {}),
        }
        for each in found
    ]


def reason_of(found: Sequence[Found]) -> str:
    """Which rubrics do not hold, and why the judge says so."""
    missed = [each for each in found if each.tally.met is False]
    if not missed:
        return f"all {len(found)} rubrics are met" if len(found) > 1 else "the rubric is met"
    told = "; ".join(f"{each.rubric_id}: {each.tally.rationale or 'no reason given'}" for each in missed)
    count = f"{len(missed)} of {len(found)} rubrics" if len(found) > 1 else "the rubric is"
    return f"{count} not met: {told}"
