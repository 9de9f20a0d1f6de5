"""The metrics `final_response_match_v1` and `token_set_f1`: how other implementations of the format match answers."""

from __future__ import annotations

import re
from abc import abstractmethod
from unicodedata import normalize

from proctor.metrics.base import CaseView, comparison_facts
from proctor.metrics.text.answer import EXPECTED, TURNS, AnswerMetric, Expected, TextCriterion
from proctor.metrics.text.visible_text import is_blank
from proctor.metrics.text.word_overlap import Counted, explain_shared_words
from proctor.schema.results.score import Explanation, Score

WHITE_SPACE = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
"""Unicode's White_Space. `str.split` also splits at U+001C to U+001F."""
OUTSIDE_WORDS = re.compile(r"[^A-Za-z0-9_]+")

NO_TOKENS = "the reference has no words for this metric (it only counts ASCII letters, digits and _)"


class _TokenMatch(AnswerMetric[TextCriterion]):
    """Compares tokens; the best of several references counts."""

    kind = TextCriterion

    @staticmethod
    @abstractmethod
    def tokens(text: str) -> list[str]:
        """Return the tokens that are compared."""

    @staticmethod
    @abstractmethod
    def rule(expected: list[str], actual: list[str]) -> float:
        """Return how well the tokens agree, 0 to 1."""

    def parse_reference(self, reference: str) -> Expected:
        """Return the reference; the original implementations also compare with an empty one."""
        return [reference] if self.as_in_adk or not is_blank(reference) else []

    def compare(self, expected: Expected, answer: str) -> Score:
        """Return the value for the best reference."""
        return Score(max(self._share(reference, answer) for reference in expected))

    def explain_answer(self, expected: Expected, answer: str) -> Explanation:
        """Return the missing and the additional tokens."""
        reference = max(expected, key=lambda each: self._share(each, answer))
        reference_tokens, answer_tokens = self._tokens(reference), self._tokens(answer)
        reason, details = explain_shared_words(
            Counted(reference_tokens, reference_tokens), Counted(answer_tokens, answer_tokens), once=True
        )
        if not reference_tokens:
            reason = NO_TOKENS
        return Explanation(reason, {"text": {"expected": reference, "actual": answer}, **details})

    def _share(self, reference: str, answer: str) -> float:
        return self.rule(self._tokens(reference), self._tokens(answer))

    def _tokens(self, text: str) -> list[str]:
        """Return the same tokens for canonically equal texts, which the original implementations do not."""
        return self.tokens(text if self.as_in_adk else normalize("NFC", text))


class FinalResponseMatch(_TokenMatch):
    """The share of the reference's words that are in the answer: adk-rs's token recall.

    Words are separated by blanks, in lower case, punctuation included. One occurrence in the answer covers all of
    the reference's, and a longer answer costs nothing. `compat: "adk"` reproduces adk-rs exactly: thoughts belong to the
    answer, a turn without reference text scores 1 (here: not applicable), and é in two characters is not é in one.
    """

    facts = comparison_facts(
        "final_response_match_v1",
        "The share of the reference answer's words that the final answer has, with any other words.",
        "adk-rs's metric of this name (google-adk's final_response_match_v1.py holds response_match_score)",
        threshold=0.8,
        options={**TURNS, **EXPECTED},
    )

    @staticmethod
    def tokens(text: str) -> list[str]:
        """Split at blanks."""
        return [token for token in WHITE_SPACE.split(text.lower()) if token]

    @staticmethod
    def rule(expected: list[str], actual: list[str]) -> float:
        """Return the recall; any equal token covers an expected one."""
        tokens = set(actual)
        return sum(token in tokens for token in expected) / len(expected) if expected else 1.0


class TokenSetF1(_TokenMatch):
    """F1 over the sets of words of answer and reference: `response_match_score` of ADK for TypeScript (@iqai/adk).

    Words are runs of ASCII letters, digits and `_`, in lower case: accents break words, other scripts have none, and
    how often a word occurs does not count. It reproduces their figures; `rouge_1` is more precise. `compat: "adk"`
    reproduces them exactly: thoughts belong to the answer, an empty reference scores 0, a turn without answer is not
    applicable.
    """

    facts = comparison_facts(
        "token_set_f1",
        "The overlap of the sets of ASCII words of the final answer and the reference answer (F1).",
        "@iqai/adk's response_match_score",
        threshold=0.8,
        options={**TURNS, **EXPECTED},
    )

    @staticmethod
    def tokens(text: str) -> list[str]:
        """Return the runs of ASCII word characters, each once."""
        return [*dict.fromkeys(token for token in OUTSIDE_WORDS.split(text.lower()) if token)]

    @staticmethod
    def rule(expected: list[str], actual: list[str]) -> float:
        """Return F1 of two sets."""
        shared = len({*expected} & {*actual})
        return 2 * shared / (len(expected) + len(actual)) if shared else 0.0

    def expected_of(self, case: CaseView, index: int) -> Expected | Score:
        """Return the expected value; with `compat: "adk"` a turn without an answer on either side is not scored."""
        turns = [case.actual[index], *(case.expected or [])[index : index + 1]]
        if self.as_in_adk and any(turn.final_response is None for turn in turns):
            return Score(reason="one of the answers is absent", not_applicable=True)
        return super().expected_of(case, index)
