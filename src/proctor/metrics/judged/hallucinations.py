"""The metric `hallucinations_v1`: whether the agent's context supports every sentence of its answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from proctor.common.safe_text import one_line
from proctor.judges.base import AnswerForm, Passage, Question
from proctor.judges.injection_signs import warning_of
from proctor.judges.votes import is_majority_settled, majority
from proctor.metrics.base import CaseView, MetricFacts, prohibition
from proctor.metrics.judged.base import UNDECIDED, BallotOutcome, LlmJudgeMetric, case_score, joined_ballots
from proctor.metrics.judged.checklist import in_number_order, list_of, object_of, text_field, word_field
from proctor.metrics.judged.passages import (
    SAID,
    SOURCES,
    AgentStep,
    agents_of,
    answer_text,
    earlier_turns,
    numbered_passages,
    steps_of_turn,
    user_message,
)
from proctor.metrics.judged.sentences import sentences
from proctor.schema.format.criterion import HallucinationsCriterion
from proctor.schema.results.score import MetricScore, Score, mean

LABELS = ("supported", "unsupported", "contradictory", "disputed", "not_applicable")
_GROUNDED = frozenset({"supported", "not_applicable"})


class SentenceVerdict(TypedDict):
    """The verdict of one vote on one sentence."""

    number: int
    label: str
    rationale: str
    supporting_excerpt: str
    contradicting_excerpt: str


Sentences = list[SentenceVerdict]
"""The verdicts of one vote on all sentences of a question, in their order."""

_TEXTS = {
    "supporting_excerpt": "The words of the context that bear it out, copied; empty if there are none.",
    "contradicting_excerpt": "The words of the context that speak against it, copied; empty if there are none.",
    "rationale": "Why, in one or two sentences.",
}


def sentence_form(count: int) -> AnswerForm[Sentences]:
    """Return the form of an answer about `count` sentences: each once, in any order."""
    item = object_of(
        number={"type": "integer", "description": "The number of the sentence."},
        **{name: text_field(meaning) for name, meaning in _TEXTS.items()},
        label=word_field(*LABELS),
    )

    def read(data: Any) -> Sentences:
        items = in_number_order(data["sentences"], count, "sentence")
        return [_verdict(number, item) for number, item in enumerate(items, 1)]

    schema = object_of(sentences=list_of(item, f"One entry for each sentence: {count} in all."))
    return AnswerForm("sentence_labels", schema, read)


def _verdict(number: int, item: Mapping[str, str]) -> SentenceVerdict:
    return {
        "number": number,
        "label": item["label"],
        "rationale": item["rationale"].strip(),
        "supporting_excerpt": item["supporting_excerpt"].strip(),
        "contradicting_excerpt": item["contradicting_excerpt"].strip(),
    }


def counts_for_answer(label: str) -> bool:
    """Return whether a sentence counts in favour of the answer: it is supported, or makes no claim."""
    return label in _GROUNDED


def grounded_share(labels: Sequence[str]) -> float | None:
    """Return the share of sentences that are supported or make no claim; `None` without sentences."""
    return sum(map(counts_for_answer, labels)) / len(labels) if labels else None


def _sides(verdicts: Iterable[SentenceVerdict]) -> list[bool]:
    return [counts_for_answer(each["label"]) for each in verdicts]


def sentences_are_final(votes: Sequence[Sentences], left: int) -> bool:
    """Return whether `left` more votes cannot change the side of any sentence."""
    return bool(votes) and all(is_majority_settled(_sides(each), left) for each in zip(*votes, strict=True))


@dataclass(frozen=True, slots=True)
class SentenceResult:
    """The result of the votes on one sentence."""

    sentence: str
    label: str
    verdict: SentenceVerdict
    """The first vote with this label."""
    agreement: float
    """The share of the votes on the same side."""

    def as_data(self) -> dict[str, object]:
        """Return the data for reports; an empty excerpt is null."""
        return {
            "sentence": self.sentence,
            "label": self.label,
            "rationale": self.verdict["rationale"],
            "supporting_excerpt": self.verdict["supporting_excerpt"] or None,
            "contradicting_excerpt": self.verdict["contradicting_excerpt"] or None,
            "agreement": self.agreement,
        }


def findings(texts: Sequence[str], votes: Sequence[Sentences]) -> list[SentenceResult]:
    """Count votes per sentence: the side of the majority, a tie counting against the sentence; then its most frequent label."""
    if not votes:
        return []
    return [_finding(text, each) for text, each in zip(texts, zip(*votes, strict=True), strict=True)]


def _finding(text: str, about: Sequence[SentenceVerdict]) -> SentenceResult:
    grounded = majority(_sides(about))
    side = [each for each in about if counts_for_answer(each["label"]) is grounded]
    [(label, _)] = Counter(each["label"] for each in side).most_common(1)
    first = next(each for each in side if each["label"] == label)
    return SentenceResult(text, label, first, len(side) / len(about))


def count_invented_quotes(results: Iterable[SentenceResult], context: Iterable[Passage]) -> int:
    """Return how many supported sentences have an excerpt that is not in the context, comparing letters and digits."""
    text = _alphanumeric(" ".join(passage.text for passage in context))
    return sum(
        not _is_quoted(each.verdict["supporting_excerpt"], text)
        for each in results
        if each.label == "supported"
    )


def _is_quoted(excerpt: str, text: str) -> bool:
    return all(_alphanumeric(piece) in text for piece in re.split(r"\.\.\.|…|\[…\]", excerpt))


def _alphanumeric(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


AT_ONCE = 25
"""The number of sentences in one question. The judge's answer about more could exceed its length limit."""
NO_TEXT = "the agent gave no text in this turn"


@dataclass(slots=True)
class AnswerInContext:
    """A text of the agent, and the context that it had."""

    text: str
    context: list[Passage]
    outcomes: list[BallotOutcome[Sentences]] = field(default_factory=list)
    found: list[SentenceResult] = field(default_factory=list)

    def batches(self) -> Iterator[list[str]]:
        """Yield its sentences, at most `AT_ONCE` at a time."""
        all_sentences = sentences(self.text)
        for start in range(0, len(all_sentences), AT_ONCE):
            yield all_sentences[start : start + AT_ONCE]

    def add(self, batch: Sequence[str], outcome: BallotOutcome[Sentences]) -> None:
        """Add the result of the question about a batch; undecided votes do not count."""
        self.outcomes.append(outcome)
        if outcome.failure is None:
            self.found += findings(batch, outcome.votes)


class Hallucinations(LlmJudgeMetric[HallucinationsCriterion]):
    """The share of sentences that the context supports, or that make no claim; for a turn, the mean over its answers.

    Each sentence has a number and must get a label; a judge answer without all labels is unusable. The context is what the
    agent received up to that answer: instructions, the user's messages, tool results, and the turns before.

    A judge is asked once, as in google-adk, unless the criterion states `num_samples`.
    """

    facts: MetricFacts = MetricFacts(
        name="hallucinations_v1",
        description="The share of sentences in the answers that the agent's context supports, by a judge model.",
        kind="judge",
        default_threshold=0.8,
        needs=frozenset({"judge"}),
        statement=prohibition,
        options={
            "evaluate_intermediate_nl_responses": "true: also judge the texts between tool calls, each with the context "
            "before it"
        },
        example={"hallucinations_v1": {"threshold": 0.8, "evaluate_intermediate_nl_responses": True}},
        source="google-adk's metric of this name; prompt, splitting and votes are Proctor's",
    )
    kind = HallucinationsCriterion

    @property
    def _samples(self) -> int | None:
        return None if "num_samples" in self._stated else 1

    async def score(self, case: CaseView) -> MetricScore:
        """Ask about every sentence of every answer, all concurrently."""
        answers = [[*self._answers(case, index)] for index in range(len(case.actual))]
        batches = [
            (answer, turn, batch)
            for turn, of_turn in enumerate(answers)
            for answer in of_turn
            for batch in answer.batches()
        ]
        outcomes = await self._ask([self._question(*each) for each in batches], sentences_are_final)
        for (answer, _, batch), each in zip(batches, outcomes, strict=True):
            answer.add(batch, each)
        return case_score([*map(_turn_score, answers)], [each.failure for each in outcomes])

    def _answers(self, case: CaseView, index: int) -> Iterator[AnswerInContext]:
        turn = case.actual[index]
        before = [
            *agents_of([turn]),
            *earlier_turns(case.actual[:index], with_steps=True),
            user_message(turn),
        ]
        steps = steps_of_turn(turn)
        if self._criterion.evaluate_intermediate_nl_responses:
            yield from _intermediate_answers(steps, before)
        text = answer_text(turn, thoughts=self._adk)
        if sentences(text):
            yield AnswerInContext(text, [*before, *(step.passage() for step in steps)])

    def _question(self, answer: AnswerInContext, turn: int, batch: Sequence[str]) -> Question[Sentences]:
        passages = [*answer.context, Passage("answer", answer.text), *numbered_passages("sentence", batch)]
        return self._make_question(passages, sentence_form(len(batch)), turn=turn)


def _turn_score(answers: Sequence[AnswerInContext]) -> Score:
    """Return the score of a turn from those of its answers."""
    if not answers:
        return Score(reason=NO_TEXT, not_applicable=True)
    outcomes = [each for answer in answers for each in answer.outcomes]
    results = [each for answer in answers for each in answer.found]
    details = _details(outcomes, results)
    if failure := next(filter(None, (each.failure for each in outcomes)), None):
        return Score(None, f"{UNDECIDED}: {failure.message}", details)
    shares = [share for each in answers if (share := _share(each.found)) is not None]
    return Score(mean(shares), _reason(results), details, warning="; ".join(_warnings(answers)))


def _details(
    outcomes: Iterable[BallotOutcome[Sentences]], results: Sequence[SentenceResult]
) -> dict[str, object]:
    agreements = [each.agreement for each in results]
    agreement = sum(agreements) / len(agreements) if agreements else None
    return {
        "sentences": [each.as_data() for each in results],
        "ballot": joined_ballots([each.ballot for each in outcomes], agreement=agreement),
    }


def _share(results: Iterable[SentenceResult]) -> float | None:
    return grounded_share([each.label for each in results])


def _reason(results: Sequence[SentenceResult]) -> str:
    unsupported = [each for each in results if not counts_for_answer(each.label)]
    if not unsupported:
        sentence = "the sentence" if len(results) == 1 else f"all {len(results)} sentences"
        return f"the context supports {sentence}"
    reasons = "; ".join(
        f'"{one_line(each.sentence, 80)}" is {each.label}: {each.verdict["rationale"]}'
        for each in unsupported
    )
    return f"{len(unsupported)} of {len(results)} sentences not supported: {reasons}"


def _warnings(answers: Iterable[AnswerInContext]) -> Iterator[str]:
    signs = [sign for answer in answers for each in answer.outcomes for sign in each.ballot.signs]
    if signs:
        yield warning_of([*dict.fromkeys(signs)])
    if count := sum(count_invented_quotes(each.found, each.context) for each in answers):
        yield f"the judge's quotations for {count} sentence(s) are not in the context"


def _intermediate_answers(steps: Sequence[AgentStep], before: Sequence[Passage]) -> Iterator[AnswerInContext]:
    """Yield the texts between tool calls, each with the steps before it and the sources of its own event."""
    for place, step in enumerate(steps):
        if step.label == SAID and sentences(step.said):
            sources = [each for each in steps[place:] if each.label == SOURCES and each.event == step.event]
            known = [each.passage() for each in (*steps[:place], *sources)]
            yield AnswerInContext(step.said, [*before, *known])
