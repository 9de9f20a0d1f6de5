"""`regex_match`: does the answer match a regular expression?"""

from __future__ import annotations

import asyncio
import re
import warnings
from collections.abc import Awaitable, Iterator, Sequence
from typing import Annotated, Any, Literal
from unicodedata import normalize

from pydantic import Field

from proctor.errors import CriterionError, MetricError
from proctor.metrics.base import CaseView, MetricFacts
from proctor.metrics.expected_turns import nothing_recorded
from proctor.metrics.reason_text import and_more, show_text
from proctor.metrics.statements import reference_answers
from proctor.metrics.text.answer import NO_ANSWER, TURNS, AnswerMetric, Expected, Texts
from proctor.metrics.text.normal_form import BLANKS, IGNORING
from proctor.metrics.text.regex.match_bound import slip_in
from proctor.metrics.text.regex.search import Search, Span, find, find_safely, is_cheap, show_pattern
from proctor.metrics.text.visible import folded, is_blank, trimmed
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Explanation, MetricScore, Score, mean_score

__all__ = ["RegexMatch"]

NOTHING_SAID = "the agent gave no answer text, so nothing in it could match what is forbidden"


class RegexCriterion(BaseCriterion):
    """Patterns that an answer must match, how many of them, and those that it must not."""

    pattern: Texts | None = None
    forbidden: Texts | None = None
    require: Literal["all", "any"] = "all"
    match: Literal["search", "full"] = "search"
    ignore_case: bool = False
    ignore_whitespace: bool = False
    seconds: Annotated[float, Field(gt=0, le=3600)] = 5.0
    turns: Literal["all", "last"] = "all"


class RegexMatch(AnswerMetric[RegexCriterion]):
    """The share of the patterns that the final answer matches; with `require: "any"` 1.0 where it matches one.

    Patterns are Python's (`re`), and match anywhere unless `match: "full"`. White space at both ends of the answer does
    not count. A match of a forbidden pattern makes the score 0. Where the criterion has no pattern, the case's
    reference answer is one.
    """

    facts = MetricFacts(
        name="regex_match",
        description="Whether the final answer matches the regular expressions that it must, and none that it must not.",
        default_threshold=1.0,
        example={"regex_match": {"threshold": 1.0, "pattern": "\\d+ degrees"}},
        needs=frozenset({"expected"}),
        statement=reference_answers,
        options={
            "match": "full (the whole answer must match) or search (the default: some part of it)",
            "require": "any (one of the patterns is enough) or all (the default: the score is the share that match)",
            "pattern": "a regular expression, or a list of them, instead of the case's reference answer",
            "forbidden": "a pattern, or a list of them, that must not match: the score is 0 if one does",
            "ignore_case": IGNORING["ignore_case"],
            "ignore_whitespace": IGNORING["ignore_whitespace"] + " in the answer",
            "seconds": "how long a pattern that may take very long may search the answers of one case (default 5)",
            **TURNS,
        },
        source="Python's re",
    )
    kind = RegexCriterion

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        super().__init__(criterion)
        self._forbidden = self._compiled("forbidden")

    def given(self) -> Expected | None:
        """The patterns of the criterion; where only some are forbidden, nothing else is asked."""
        if self.criterion.pattern is None:
            return None if self.criterion.forbidden is None else ()
        return self._compiled("pattern")

    def asks(self, expected: Expected) -> bool:
        """A forbidden pattern alone is something to look for."""
        return bool(expected or self._forbidden)

    def read(self, reference: str) -> Expected:
        """The reference answer as a pattern.

        Raises:
            MetricError: it is none that could tell one answer from another.
        """
        if is_blank(reference):
            return []
        try:
            return [self._compile(reference.strip(), full=self.criterion.match == "full")]
        except ValueError as error:
            raise MetricError(f"the reference answer is no pattern to match: {error}") from error

    def check(self, case: EvalCase) -> Iterator[str]:
        """Which reference answers are none of that kind."""
        return self.unreadable(case)

    def score(self, case: CaseView) -> MetricScore | Awaitable[MetricScore]:
        """Search turn by turn; patterns that could take long are searched for elsewhere, within their time."""
        if self._given is None and case.expected is None:
            return nothing_recorded(case)
        plan = [self._plan(case, index) for index in range(len(case.actual))]
        searches = [search for turn in plan if not isinstance(turn, Score) for search in turn]
        if is_cheap(searches):
            return self._scored(plan, find(searches))
        return self._search_elsewhere(plan, searches)

    def compare(self, expected: Expected, answer: str) -> Score:
        """Search one answer, here and now."""
        searches = self._searches(expected, answer)
        return self._judged(searches, find(searches))

    def tell(self, expected: Expected, answer: str) -> Explanation:
        """Said with the score: what matched is known then."""
        return self._told(self.compare(expected, answer))

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """Which patterns match where, and which do not."""
        given = score.per_invocation[index]
        if given.not_applicable:
            return Explanation(given.reason)
        explanation = self._told(given)
        if is_blank(self.text(case.actual[index])) and given.value == 0:
            explanation.reason = NO_ANSWER
        return explanation

    async def _search_elsewhere(
        self, plan: Sequence[Score | list[Search]], searches: list[Search]
    ) -> MetricScore:
        return self._scored(plan, await asyncio.to_thread(find_safely, searches, self.criterion.seconds))

    def _plan(self, case: CaseView, index: int) -> Score | list[Search]:
        """What to search in the answer of a turn, or why nothing is."""
        expected = self.expected_of(case, index)
        return (
            expected
            if isinstance(expected, Score)
            else self._searches(expected, self.text(case.actual[index]))
        )

    def _searches(self, expected: Expected, answer: str) -> list[Search]:
        text = trimmed(normalize("NFC", answer))
        if self.criterion.ignore_whitespace:
            text = BLANKS.sub(" ", text)
        wanted = [Search(pattern, self.criterion.match == "full", text) for pattern in expected]
        # what is forbidden is looked for in the text as it is, and as a person reads it
        shown = dict.fromkeys([text, trimmed(folded(text))])
        return [*wanted, *(Search(pattern, False, each) for each in shown for pattern in self._forbidden)]

    def _count_wanted(self, searches: Sequence[Search]) -> int:
        """How many of the searches are for what must be there; they come first."""
        views = 1 if searches[-1].text == searches[0].text else 2
        return len(searches) - views * len(self._forbidden)

    def _scored(self, plan: Sequence[Score | list[Search]], spans: Sequence[Span]) -> MetricScore:
        found = iter(spans)
        return mean_score(
            [
                turn if isinstance(turn, Score) else self._judged(turn, [next(found) for _ in turn])
                for turn in plan
            ]
        )

    def _judged(self, searches: Sequence[Search], spans: Sequence[Span]) -> Score:
        wanted = self._count_wanted(searches)
        checks = [
            {
                "pattern": one.pattern.pattern,
                "found": span and one.text[slice(*span)],
                "forbidden": index >= wanted,
            }
            for index, (one, span) in enumerate(zip(searches, spans, strict=True))
        ]
        hits = [span is not None for span in spans[:wanted]]
        empty = not searches[0].text
        score = Score(
            self._value(hits), details={"checks": checks}, warning=NOTHING_SAID if empty and not hits else ""
        )
        if any(span is not None for span in spans[wanted:]):
            score.value = 0.0
        return score

    def _value(self, hits: list[bool]) -> float:
        if self.criterion.require == "any" and hits:
            return 1.0 if any(hits) else 0.0
        return sum(hits) / len(hits) if hits else 1.0

    def _told(self, score: Score) -> Explanation:
        checks = (score.details or {}).get("checks", ())
        return Explanation("; ".join(self._sentences(checks, score.value)), score.details, score.warning)

    def _sentences(self, checks: Sequence[dict[str, Any]], value: float | None) -> Iterator[str]:
        forbidden = [each for each in checks if each["forbidden"] and each["found"] is not None]
        if forbidden:
            yield f"forbidden, and in the answer: {_list(each['found'] for each in forbidden)}"
        missing = [each["pattern"] for each in checks if not each["forbidden"] and each["found"] is None]
        if missing and value != 1:
            what = (
                "the whole answer does not match"
                if self.criterion.match == "full"
                else "nothing in the answer matches"
            )
            yield f"{what} {_patterns(missing)}"
        if value == 1:
            found = [each["found"] for each in checks if not each["forbidden"] and each["found"] is not None]
            yield f"matched: {_list(found)}" if found else "nothing in the answer matches what is forbidden"

    def _compiled(self, option: str) -> list[re.Pattern[str]]:
        """The patterns of one option.

        Raises:
            CriterionError: one is no regular expression, or cannot tell one text from another.
        """
        full = option == "pattern" and self.criterion.match == "full"
        try:
            return [self._compile(text, full=full) for text in getattr(self.criterion, option) or ()]
        except ValueError as error:
            raise CriterionError(
                f"The criterion of 'regex_match' does not fit: {option}: {error}."
            ) from error

    def _compile(self, text: str, *, full: bool) -> re.Pattern[str]:
        """Compile one pattern.

        Raises:
            ValueError: it is no regular expression, matches every text, or none; says what is wrong and where.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of syntax that may mean something else in another Python
                flags = re.IGNORECASE if self.criterion.ignore_case else 0
                compiled = re.compile(normalize("NFC", text), flags)
        except re.error as error:
            place = "" if error.pos is None else f" at position {error.pos}"
            raise ValueError(f"{show_pattern(text)} is no regular expression: {error.msg}{place}") from error
        except (OverflowError, RecursionError) as error:
            raise ValueError(f"{show_pattern(text)} is too large: {error}") from error
        except ValueError as error:  # flags that contradict each other
            raise ValueError(f"{show_pattern(text)} is no regular expression: {error}") from error
        if slip := slip_in(compiled, full=full):
            raise ValueError(f"{show_pattern(text)} {slip}")
        return compiled


def _list(texts: Iterator[str] | Sequence[str]) -> str:
    return ", ".join(and_more([show_text(text) for text in texts]))


def _patterns(patterns: Sequence[str]) -> str:
    return ", ".join(and_more([show_pattern(pattern) for pattern in patterns]))
