"""The metric `intermediate_response_match`: whether sub-agents gave the expected texts before the final response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from proctor.errors import CriterionError
from proctor.metrics.base import CaseView, MetricFacts, no_recording_score, paired
from proctor.metrics.criterion_check import check_criterion
from proctor.metrics.reason_text import and_more, show_name, show_text
from proctor.metrics.structure.agent_messages import IntermediateText, has_no_author, intermediate_texts
from proctor.metrics.text.rouge import rouge_1
from proctor.metrics.trajectory.min_cost_assignment import assign
from proctor.schema.format.case import EvalCase, Statement
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.score import Explanation, MetricScore, Score, mean_score

NOTHING_EXPECTED = "the case states no intermediate responses for this turn"
MICRO = 1_000_000
"""The resolution of similarities where the best pairs in any order are computed."""


class IntermediateCriterion(BaseCriterion):
    """How intermediate responses are compared."""

    text: Literal["rouge", "exact", "ignore"] = "rouge"
    authors: bool = True
    order: bool = True
    measure: Literal["recall", "precision", "f"] = "recall"


class Pair(NamedTuple):
    """An expected response, the one that was given for it, and their similarity (above 0, up to 1)."""

    expected: int
    actual: int
    similarity: float


def _expected_responses(case: EvalCase) -> Statement:
    """Find an intermediate response that a turn states."""
    turns = case.conversation or ()
    return Statement.POSITIVE if any(map(intermediate_texts, turns)) else Statement.NONE


class IntermediateResponseMatch:
    """The share of the expected intermediate responses that were given, by the expected author.

    Each expected response has at most one partner, of the same author and in the same order, such that the sum of the
    similarities (ROUGE-1 F, as in `response_match_score`) is largest. The sum divided by the number of expected responses is
    the score of the turn; the score of the case is the mean. Thoughts, calls and their results are not compared.
    """

    kind = IntermediateCriterion
    """The type of its criterion."""
    facts = MetricFacts(
        name="intermediate_response_match",
        description="The share of the expected intermediate responses of agents that were given, by the expected author.",
        default_threshold=0.8,
        needs=frozenset({"expected"}),
        statement=_expected_responses,
        options={
            "text": "exact (ignoring white space at both ends), ignore (authors only) or rouge (the default)",
            "authors": "false: the author does not matter",
            "order": "false: in any order",
            "measure": "precision (the share of the given responses that was expected), f, or recall (the default)",
        },
        source="Proctor; the field is google-adk's `intermediate_responses`; C.-Y. Lin, ROUGE (2004)",
        example={"intermediate_response_match": {"threshold": 0.7, "text": "rouge", "order": False}},
    )

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        self.criterion = check_criterion(self.facts, criterion, self.kind)
        if self.criterion.text == "ignore" and not self.criterion.authors:
            raise CriterionError(
                "The criterion of 'intermediate_response_match' does not fit: with text \"ignore\" and authors false "
                "nothing is compared."
            )

    def applies(self, case: EvalCase) -> bool:
        """Return whether any turn states intermediate responses."""
        return any(intermediate_texts(turn) for turn in case.conversation or [])

    def reason_not_applicable(self, case: EvalCase) -> str:
        """Return what the case lacks."""
        return "no turn of the case states intermediate responses"

    def score(self, case: CaseView) -> MetricScore:
        """Compare turn by turn."""
        if case.expected is None:
            return no_recording_score(case)
        return mean_score([self._turn(*turns) for turns in paired(case)])

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """Return which responses were given, are missing, or differ."""
        if case.expected is None:
            return Explanation(score.per_invocation[index].reason)
        actual, expected = paired(case)[index]
        expected_texts, actual_texts = intermediate_texts(expected), intermediate_texts(actual)
        if not expected_texts:
            return Explanation(NOTHING_EXPECTED)
        steps = _steps(expected_texts, actual_texts, self._pairs(expected_texts, actual_texts))
        reported = {"missing", "differs", *(["extra"] if self.criterion.measure != "recall" else [])}
        wrong = [_sentence(step, actual_texts) for step in steps if step["kind"] in reported]
        details = {
            "responses": steps,
            "text": {
                "expected": "\n".join(map(str, expected_texts)),
                "actual": "\n".join(map(str, actual_texts)),
            },
        }
        return Explanation(
            "; ".join(and_more(wrong)) or "every expected intermediate response was given", details
        )

    def _turn(self, actual: Invocation, expected: Invocation) -> Score:
        expected_texts = intermediate_texts(expected)
        if not expected_texts:
            return Score(reason=NOTHING_EXPECTED, not_applicable=True)
        actual_texts = intermediate_texts(actual)
        total = sum(pair.similarity for pair in self._pairs(expected_texts, actual_texts))
        out_of = {
            "recall": len(expected_texts),
            "precision": len(actual_texts),
            "f": (len(expected_texts) + len(actual_texts)) / 2,
        }
        return Score(min(1.0, total / max(out_of[self.criterion.measure], 0.5)))

    def _pairs(self, expected: Sequence[IntermediateText], actual: Sequence[IntermediateText]) -> list[Pair]:
        similarity = [
            [self._similarity(expected_text, actual_text) for actual_text in actual]
            for expected_text in expected
        ]
        pairs = _ordered_pairs(similarity) if self.criterion.order else _unordered_pairs(similarity)
        return [pair for pair in pairs if pair.similarity > 0]

    def _similarity(self, expected: IntermediateText, actual: IntermediateText) -> float:
        if self.criterion.authors and not has_no_author(expected.author) and expected.author != actual.author:
            return 0.0
        if self.criterion.text == "ignore" or expected.text.strip() == actual.text.strip():
            return 1.0
        return 0.0 if self.criterion.text == "exact" else rouge_1(expected.text, actual.text).fmeasure


def _ordered_pairs(similarity: Sequence[Sequence[float]]) -> list[Pair]:
    """Return the pairs without crossings with the largest sum of similarities; of several solutions the earliest pairs."""
    rows, columns = len(similarity), len(similarity[0]) if similarity else 0
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], similarity[i][j] + best[i + 1][j + 1])
    pairs = []
    i = j = 0
    while i < rows and j < columns:
        if similarity[i][j] > 0 and best[i][j] == similarity[i][j] + best[i + 1][j + 1]:
            pairs.append(Pair(i, j, similarity[i][j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i][j + 1]:
            j += 1
        else:
            i += 1
    return pairs


def _unordered_pairs(similarity: Sequence[Sequence[float]]) -> list[Pair]:
    """Return the pairs with the largest sum of similarities."""
    costs = [[round((1 - each) * MICRO) for each in row] for row in similarity]
    return [Pair(i, j, similarity[i][j]) for i, j in assign(costs)]


def _steps(
    expected: Sequence[IntermediateText], actual: Sequence[IntermediateText], pairs: Sequence[Pair]
) -> list[dict[str, object]]:
    """Return the expected responses in their order, then those that were not expected."""
    partner = {pair.expected: pair for pair in pairs}
    steps: list[dict[str, object]] = []
    for index, expected_text in enumerate(expected):
        kind, actual_data, likeness = "missing", None, 0.0
        if pair := partner.get(index):
            kind = "matched" if pair.similarity == 1 else "differs"
            actual_data, likeness = actual[pair.actual]._asdict(), pair.similarity
        steps.append(
            {"kind": kind, "expected": expected_text._asdict(), "actual": actual_data, "likeness": likeness}
        )
    paired_indexes = {pair.actual for pair in pairs}
    for index, text in enumerate(actual):
        if index not in paired_indexes:
            steps.append({"kind": "extra", "expected": None, "likeness": 0.0, "actual": text._asdict()})
    return steps


def _sentence(step: Mapping[str, Any], actual: Sequence[IntermediateText]) -> str:
    if step["kind"] == "extra":
        return f"{_response_text(step['actual'])} was not expected"
    expected = step["expected"]
    if step["kind"] == "differs":
        text, expected_text = show_text(step["actual"]["text"]), show_text(expected["text"])
        author = show_name(step["actual"]["author"])
        return f"{author} responded {text}, expected {expected_text} (similarity {step['likeness']:.2f})"
    others = [other for other in actual if other.text.strip() == expected["text"].strip()]
    if not others:
        return f"{_response_text(expected)} is missing"
    if all(other.author != expected["author"] for other in others) and not has_no_author(expected["author"]):
        author = show_name(others[0].author)
        return (
            f"{show_text(expected['text'])} came from {author}, expected from {show_name(expected['author'])}"
        )
    return f"{_response_text(expected)} was given in another place, or not as often"


def _response_text(response: Mapping[str, str]) -> str:
    author = "" if has_no_author(response["author"]) else f" of {show_name(response['author'])}"
    return f"the response {show_text(response['text'])}{author}"
