"""`intermediate_response_match`: did the sub-agents say on the way what was expected of them?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from proctor.errors import CriterionError
from proctor.metrics.base import CaseView, MetricFacts
from proctor.metrics.criterion_check import check_criterion
from proctor.metrics.expected_turns import nothing_recorded, paired
from proctor.metrics.reason_text import and_more, show_name, show_text
from proctor.metrics.structure.agent_messages import Said, names_nobody, said_on_the_way
from proctor.metrics.text.rouge import rouge_1
from proctor.metrics.trajectory.min_cost_assignment import assign
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.statement import Statement
from proctor.schema.results.score import Explanation, MetricScore, Score, mean_score

__all__ = ["IntermediateResponseMatch"]

NOTHING_EXPECTED = "the case states no intermediate responses for this turn"
MICRO = 1_000_000
"""Steps in which likeness is counted where the best partners are sought in any order."""


class IntermediateCriterion(BaseCriterion):
    """How responses on the way are compared."""

    text: Literal["rouge", "exact", "ignore"] = "rouge"
    authors: bool = True
    order: bool = True
    measure: Literal["recall", "precision", "f"] = "recall"


class Pair(NamedTuple):
    """An expected response with the one that was given for it, and how alike they are (above 0, up to 1)."""

    expected: int
    actual: int
    likeness: float


def _expected_responses(case: EvalCase) -> Statement:
    """Find an intermediate response that a turn states."""
    turns = case.conversation or ()
    return Statement.POSITIVE if any(map(said_on_the_way, turns)) else Statement.NONE


class IntermediateResponseMatch:
    """How much of what agents were expected to say before the final response was said, by the author expected.

    Each expected response gets at most one partner, of the same author and in the same order, so that the likenesses
    (ROUGE-1 F, as in `response_match_score`) sum up to the most; the sum over the number of expected responses is the
    score of the turn, the mean over turns that of the case. Thoughts, calls and their results are not compared.
    """

    kind = IntermediateCriterion
    """The class of its criterion."""
    facts = MetricFacts(
        name="intermediate_response_match",
        description="How much of the expected responses of agents on the way to the answer was given, and by whom.",
        default_threshold=0.8,
        needs=frozenset({"expected"}),
        statement=_expected_responses,
        options={
            "text": "exact (white space at both ends aside), ignore (authors only) or rouge (the default)",
            "authors": "false: whoever said it",
            "order": "false: in any order",
            "measure": "precision (the share of what was said that was expected), f, or recall (the default)",
        },
        source="Proctor; the field is google-adk's `intermediate_responses`; C.-Y. Lin, ROUGE (2004)",
        example={"intermediate_response_match": {"threshold": 0.7, "text": "rouge", "order": False}},
    )

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        self.criterion = check_criterion(self.facts, criterion, self.kind)
        if self.criterion.text == "ignore" and not self.criterion.authors:
            raise CriterionError(
                "The criterion of 'intermediate_response_match' does not fit: with text \"ignore\" and authors false "
                "nothing would be compared."
            )

    def applies(self, case: EvalCase) -> bool:
        """Whether any turn states intermediate responses."""
        return any(said_on_the_way(turn) for turn in case.conversation or [])

    def why_not(self, case: EvalCase) -> str:
        """What the case lacks where it does not apply."""
        return "no turn of the case states intermediate responses"

    def score(self, case: CaseView) -> MetricScore:
        """Compare turn by turn."""
        if case.expected is None:
            return nothing_recorded(case)
        return mean_score([self._turn(*turns) for turns in paired(case)])

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """Which responses were given, are missing, or differ."""
        if case.expected is None:
            return Explanation(score.per_invocation[index].reason)
        made, wanted = paired(case)[index]
        expected, actual = said_on_the_way(wanted), said_on_the_way(made)
        if not expected:
            return Explanation(NOTHING_EXPECTED)
        steps = _steps(expected, actual, self._pairs(expected, actual))
        wrong = [_sentence(step, actual) for step in steps if step["kind"] in self._told()]
        details = {
            "responses": steps,
            "text": {
                "expected": "\n".join(map(str, expected)),
                "actual": "\n".join(map(str, actual)),
            },
        }
        return Explanation(
            "; ".join(and_more(wrong)) or "every expected intermediate response was given", details
        )

    def _told(self) -> set[str]:
        always = {"missing", "differs"}
        return always if self.criterion.measure == "recall" else always | {"extra"}

    def _turn(self, made: Invocation, wanted: Invocation) -> Score:
        expected = said_on_the_way(wanted)
        if not expected:
            return Score(reason=NOTHING_EXPECTED, not_applicable=True)
        actual = said_on_the_way(made)
        total = sum(pair.likeness for pair in self._pairs(expected, actual))
        out_of = {"recall": len(expected), "precision": len(actual), "f": (len(expected) + len(actual)) / 2}
        return Score(min(1.0, total / max(out_of[self.criterion.measure], 0.5)))

    def _pairs(self, expected: Sequence[Said], actual: Sequence[Said]) -> list[Pair]:
        likeness = [[self._likeness(wanted, made) for made in actual] for wanted in expected]
        pairs = _in_order(likeness) if self.criterion.order else _in_any_order(likeness)
        return [pair for pair in pairs if pair.likeness > 0]

    def _likeness(self, wanted: Said, made: Said) -> float:
        if self.criterion.authors and not names_nobody(wanted.author) and wanted.author != made.author:
            return 0.0
        if self.criterion.text == "ignore" or wanted.text.strip() == made.text.strip():
            return 1.0
        return 0.0 if self.criterion.text == "exact" else rouge_1(wanted.text, made.text).fmeasure


def _in_order(likeness: Sequence[Sequence[float]]) -> list[Pair]:
    """The pairs without crossings whose likenesses sum up to the most; the earlier ones where several do."""
    rows, columns = len(likeness), len(likeness[0]) if likeness else 0
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], likeness[i][j] + best[i + 1][j + 1])
    pairs = []
    i = j = 0
    while i < rows and j < columns:
        if likeness[i][j] > 0 and best[i][j] == likeness[i][j] + best[i + 1][j + 1]:
            pairs.append(Pair(i, j, likeness[i][j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i][j + 1]:
            j += 1
        else:
            i += 1
    return pairs


def _in_any_order(likeness: Sequence[Sequence[float]]) -> list[Pair]:
    """The pairs whose likenesses sum up to the most."""
    costs = [[round((1 - each) * MICRO) for each in row] for row in likeness]
    return [Pair(i, j, likeness[i][j]) for i, j in assign(costs)]


def _steps(expected: Sequence[Said], actual: Sequence[Said], pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Expected responses in their order, then those that nobody expected."""
    partner = {pair.expected: pair for pair in pairs}
    steps = []
    for index, wanted in enumerate(expected):
        pair = partner.get(index)
        if pair is None:
            steps.append({"kind": "missing", "expected": wanted._asdict(), "actual": None, "likeness": 0.0})
            continue
        kind = "matched" if pair.likeness == 1 else "differs"
        made = actual[pair.actual]._asdict()
        steps.append({"kind": kind, "expected": wanted._asdict(), "actual": made, "likeness": pair.likeness})
    taken = {pair.actual for pair in pairs}
    extra = [made for index, made in enumerate(actual) if index not in taken]
    none = {"kind": "extra", "expected": None, "likeness": 0.0}
    return [*steps, *({**none, "actual": made._asdict()} for made in extra)]


def _sentence(step: Mapping[str, Any], actual: Sequence[Said]) -> str:
    if step["kind"] == "extra":
        return f"{_told(step['actual'])} was not expected"
    wanted = step["expected"]
    if step["kind"] == "differs":
        said, asked = show_text(step["actual"]["text"]), show_text(wanted["text"])
        return f"{show_name(step['actual']['author'])} said {said}, expected {asked} ({step['likeness']:.2f} alike)"
    others = [made for made in actual if made.text.strip() == wanted["text"].strip()]
    if not others:
        return f"{_told(wanted)} is missing"
    if all(made.author != wanted["author"] for made in others) and not names_nobody(wanted["author"]):
        by = show_name(others[0].author)
        return f"{show_text(wanted['text'])} was said by {by}, expected of {show_name(wanted['author'])}"
    return f"{_told(wanted)} was said in another place, or not as often"


def _told(said: Mapping[str, str]) -> str:
    who = "" if names_nobody(said["author"]) else f" of {show_name(said['author'])}"
    return f"the response {show_text(said['text'])}{who}"
