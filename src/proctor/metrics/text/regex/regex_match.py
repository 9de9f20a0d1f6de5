"""The metric `regex_match`: whether the answer matches regular expressions."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal
from unicodedata import normalize

from pydantic import Field

from proctor.errors import CriterionError, MetricError
from proctor.metrics.base import CaseView, comparison_facts, no_recording_score
from proctor.metrics.reason_text import and_more, shown_texts
from proctor.metrics.text.answer import TURNS, AnswerMetric, Expected, Texts
from proctor.metrics.text.normal_form import BLANKS, IGNORING
from proctor.metrics.text.regex.search import Search, Span, compile_pattern, search_texts, show_pattern
from proctor.metrics.text.regex.trivial_patterns import trivial_pattern_problem
from proctor.metrics.text.visible_text import folded, is_blank, trimmed
from proctor.metrics.text.word_overlap import NO_ANSWER
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Explanation, MetricScore, Score, mean_score

NO_TEXT_TO_SEARCH = "the agent gave no answer text, so no forbidden pattern could match"


class RegexCriterion(BaseCriterion):
    """Patterns that an answer must match, and patterns that it must not match."""

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

    facts = comparison_facts(
        "regex_match",
        "Whether the final answer matches the regular expressions that it must, and none that it must not.",
        "Python's re",
        example={"threshold": 1.0, "pattern": "\\d+ degrees"},
        options={
            "match": "full (the whole answer must match) or search (the default: some part of it)",
            "require": "any (one of the patterns is enough) or all (the default: the score is the share that match)",
            "pattern": "a regular expression, or a list of them, instead of the case's reference answer",
            "forbidden": "a pattern, or a list of them, that must not match: the score is 0 if one does",
            "ignore_case": IGNORING["ignore_case"],
            "ignore_whitespace": IGNORING["ignore_whitespace"] + " in the answer",
            "seconds": "time limit in seconds for searching the answers of one case (default 5)",
            **TURNS,
        },
    )
    kind = RegexCriterion

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        super().__init__(criterion)
        self._forbidden = self._compile_option("forbidden")

    def expected_by_criterion(self) -> Expected | None:
        """Return the patterns of the criterion; none are required if it only has forbidden ones."""
        if self.criterion.pattern is None:
            return None if self.criterion.forbidden is None else ()
        return self._compile_option("pattern")

    def asks(self, expected: Expected) -> bool:
        """Return whether there is a pattern to search for, required or forbidden."""
        return bool(expected or self._forbidden)

    def parse_reference(self, reference: str) -> Expected:
        """Return the reference answer as a pattern.

        Raises:
            MetricError: it is not a regular expression, or cannot distinguish one answer from another.
        """
        if is_blank(reference):
            return []
        try:
            return [self._compile(reference.strip(), full=self.criterion.match == "full")]
        except ValueError as error:
            raise MetricError(f"the reference answer is not a usable pattern: {error}") from error

    def check(self, case: EvalCase) -> Iterator[str]:
        """Yield which reference answers are not usable patterns."""
        return self.unreadable(case)

    async def score(self, case: CaseView) -> MetricScore:
        """Search the answers of all turns in a thread, which waits for the process that searches."""
        if self._expected is None and case.expected is None:
            return no_recording_score(case)
        turns = [self._turn_searches(case, index) for index in range(len(case.actual))]
        searches = [search for turn in turns if not isinstance(turn, Score) for search in turn]
        spans = iter(await asyncio.to_thread(search_texts, searches, self.criterion.seconds))
        return mean_score(
            [
                turn if isinstance(turn, Score) else self._turn_score(turn, [next(spans) for _ in turn])
                for turn in turns
            ]
        )

    def compare(self, expected: Expected, answer: str) -> Score:
        """Search one answer."""
        searches = self._searches(expected, answer)
        return self._turn_score(searches, search_texts(searches, self.criterion.seconds))

    def explain_answer(self, expected: Expected, answer: str) -> Explanation:
        """Explain the score of one answer."""
        return self._explanation(self.compare(expected, answer))

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """Return which patterns match, where, and which do not."""
        turn_score = score.per_invocation[index]
        if turn_score.not_applicable:
            return Explanation(turn_score.reason)
        explanation = self._explanation(turn_score)
        if is_blank(self.text(case.actual[index])) and turn_score.value == 0:
            explanation.reason = NO_ANSWER
        return explanation

    def _turn_searches(self, case: CaseView, index: int) -> list[Search] | Score:
        """Return what to search in the answer of a turn, or the score of a turn without anything to search."""
        expected = self.expected_of(case, index)
        if isinstance(expected, Score):
            return expected
        return self._searches(expected, self.text(case.actual[index]))

    def _searches(self, expected: Expected, answer: str) -> list[Search]:
        """Return one search for each required pattern, then those for the forbidden patterns."""
        text = trimmed(normalize("NFC", answer))
        if self.criterion.ignore_whitespace:
            text = BLANKS.sub(" ", text)
        required = [Search(pattern, self.criterion.match == "full", text) for pattern in expected]
        # forbidden patterns are searched in the unchanged text and in the text that a person sees
        readings = dict.fromkeys([text, trimmed(folded(text))])
        return [
            *required,
            *(Search(pattern, False, reading) for reading in readings for pattern in self._forbidden),
        ]

    def _count_required(self, searches: Sequence[Search]) -> int:
        """Return how many of the searches are for required patterns; they come first."""
        readings = 1 if searches[-1].text == searches[0].text else 2
        return len(searches) - readings * len(self._forbidden)

    def _turn_score(self, searches: Sequence[Search], spans: Sequence[Span]) -> Score:
        required = self._count_required(searches)
        checks = [
            {
                "pattern": search.pattern.pattern,
                "found": span and search.text[slice(*span)],
                "forbidden": index >= required,
            }
            for index, (search, span) in enumerate(zip(searches, spans, strict=True))
        ]
        hits = [span is not None for span in spans[:required]]
        is_violated = any(span is not None for span in spans[required:])
        return Score(
            0.0 if is_violated else self._value(hits),
            details={"checks": checks},
            warning=NO_TEXT_TO_SEARCH if not hits and not searches[0].text else "",
        )

    def _value(self, hits: list[bool]) -> float:
        if self.criterion.require == "any" and hits:
            return 1.0 if any(hits) else 0.0
        return sum(hits) / len(hits) if hits else 1.0

    def _explanation(self, score: Score) -> Explanation:
        checks = (score.details or {}).get("checks", ())
        return Explanation("; ".join(self._sentences(checks, score.value)), score.details, score.warning)

    def _sentences(self, checks: Sequence[dict[str, Any]], value: float | None) -> Iterator[str]:
        violations = _matches(checks, forbidden=True)
        matches = _matches(checks, forbidden=False)
        missing = [check["pattern"] for check in checks if check["found"] is None and not check["forbidden"]]
        if violations:
            yield f"the answer matches a forbidden pattern: {shown_texts(violations)}"
        if missing and value != 1:
            part = (
                "the whole answer does not match"
                if self.criterion.match == "full"
                else "nothing in the answer matches"
            )
            yield f"{part} {', '.join(and_more([*map(show_pattern, missing)]))}"
        if value == 1:
            yield f"matched: {shown_texts(matches)}" if matches else "no forbidden pattern matches"

    def _compile_option(self, option: str) -> list[re.Pattern[str]]:
        """Return the compiled patterns of one option.

        Raises:
            CriterionError: one is not a regular expression, or cannot distinguish one text from another.
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
            ValueError: it is not a regular expression, or matches every text or none; the message has the position.
        """
        try:
            flags = re.IGNORECASE if self.criterion.ignore_case else 0
            compiled = compile_pattern(normalize("NFC", text), flags)
        except re.error as error:
            place = "" if error.pos is None else f" at position {error.pos}"
            raise ValueError(
                f"{show_pattern(text)} is not a regular expression: {error.msg}{place}"
            ) from error
        except (OverflowError, RecursionError) as error:
            raise ValueError(f"{show_pattern(text)} is too large: {error}") from error
        except ValueError as error:  # flags that contradict each other
            raise ValueError(f"{show_pattern(text)} is not a regular expression: {error}") from error
        if problem := trivial_pattern_problem(compiled, full=full):
            raise ValueError(f"{show_pattern(text)} {problem}")
        return compiled


def _matches(checks: Sequence[Mapping[str, Any]], *, forbidden: bool) -> list[str]:
    """Return the texts that the required patterns match, or those that the forbidden ones match."""
    return [
        check["found"] for check in checks if check["forbidden"] == forbidden and check["found"] is not None
    ]
