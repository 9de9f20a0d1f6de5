"""`hallucinations_v1`: is every sentence of the answers borne out by what the agent was given?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.common.prompts import read_prompt
from proctor.judges.base import Passage, Question
from proctor.judges.injection_signs import warning_of
from proctor.metrics.base import CaseView, MetricFacts
from proctor.metrics.judged.base import UNDECIDED, Asked, JudgedMetric
from proctor.metrics.judged.grounding_context import (
    Finding,
    Sentences,
    findings,
    grounded_share,
    is_grounded,
    not_quoted,
    sentence_form,
    sentences_settled,
)
from proctor.metrics.judged.passages import (
    SAID,
    SOURCES,
    agents_of,
    answer_text,
    earlier_turns,
    numbered,
    taken,
    user_message,
)
from proctor.metrics.judged.sentences import sentences
from proctor.metrics.judged.votes import concluded, joined_ballots
from proctor.metrics.statements import prohibition
from proctor.schema.format.criterion import BaseCriterion, HallucinationsCriterion
from proctor.schema.results.score import MetricScore, Score, mean

__all__ = ["Hallucinations"]

AT_ONCE = 25
"""Sentences of one question. An answer about more would itself be cut off at its greatest length."""
NO_TEXT = "the agent said nothing in words in this turn"


@dataclass(slots=True)
class Answer:
    """A text that the agent said, and what it had to go by."""

    text: str
    context: list[Passage]
    asked: list[Asked[Sentences]] = field(default_factory=list)
    found: list[Finding] = field(default_factory=list)

    def batches(self) -> Iterator[list[str]]:
        """Its sentences, at most `AT_ONCE` together."""
        found = sentences(self.text)
        for start in range(0, len(found), AT_ONCE):
            yield found[start : start + AT_ONCE]


class Hallucinations(JudgedMetric[HallucinationsCriterion]):
    """The share of sentences that the context bears out, or that claim nothing; of a turn, the mean over its answers.

    Each sentence is numbered and must come back with a label; an answer of the judge that leaves one out is none. The
    context is what the agent was told, asked, and got from its tools, up to that answer, and the turns before.

    A judge is asked once, as in google-adk, unless the criterion states `num_samples`.
    """

    facts: MetricFacts = MetricFacts(
        name="hallucinations_v1",
        description="The share of sentences in the answers that the agent's context bears out, by a judge model.",
        kind="judge",
        default_threshold=0.8,
        needs=frozenset({"judge"}),
        statement=prohibition,
        options={
            "evaluate_intermediate_nl_responses": "true: judge what the agent said on the way, too, each text by what was "
            "known before it"
        },
        example={"hallucinations_v1": {"threshold": 0.8, "evaluate_intermediate_nl_responses": True}},
        source="google-adk's metric of this name; prompt, splitting and votes are Proctor's",
    )
    kind = HallucinationsCriterion

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        super().__init__(criterion)
        self._prompt = read_prompt("proctor.metrics.judged.prompts", f"{self.facts.name}.md")

    @property
    def _samples(self) -> int | None:
        return None if "num_samples" in self._stated else 1

    async def score(self, case: CaseView) -> MetricScore:
        """Ask about every sentence of every answer, all at once."""
        answers = [[*self._answers(case, index)] for index in range(len(case.actual))]
        asked = [
            (answer, turn, batch)
            for turn, each in enumerate(answers)
            for answer in each
            for batch in answer.batches()
        ]
        questions = [self._question(*one) for one in asked]
        for (answer, _, batch), found in zip(
            asked, await self._ask(questions, sentences_settled), strict=True
        ):
            answer.asked.append(found)
            if found.failure is None:
                answer.found += findings(batch, found.votes)
        failures = [one.failure for each in answers for answer in each for one in answer.asked]
        return concluded([_scored(each) for each in answers], failures)

    def _answers(self, case: CaseView, index: int) -> Iterator[Answer]:
        turn = case.actual[index]
        before = [
            *agents_of([turn]),
            *earlier_turns(case.actual[:index], with_steps=True),
            user_message(turn),
        ]
        steps = taken(turn)
        if self._criterion.evaluate_intermediate_nl_responses:
            for place, step in enumerate(steps):
                if step.label == SAID and sentences(step.said):
                    sources = [
                        one for one in steps[place:] if one.label == SOURCES and one.event == step.event
                    ]
                    known = [one.passage() for one in (*steps[:place], *sources)]
                    yield Answer(step.said, [*before, *known])
        text = answer_text(turn, thoughts=self._adk)
        if sentences(text):
            yield Answer(text, [*before, *(step.passage() for step in steps)])

    def _question(self, answer: Answer, turn: int, batch: Sequence[str]) -> Question[Sentences]:
        return Question(
            metric=self.facts.name,
            prompt=self._prompt,
            passages=[*answer.context, Passage("answer", answer.text), *numbered("sentence", batch)],
            form=sentence_form(len(batch)),
            turn=turn,
        )


def _scored(answers: Sequence[Answer]) -> Score:
    """The score of a turn, of those of its answers."""
    if not answers:
        return Score(reason=NO_TEXT, not_applicable=True)
    asked = [one for answer in answers for one in answer.asked]
    found = [each for answer in answers for each in answer.found]
    same = sum(each.agreement for each in found) / len(found) if found else None
    details: dict[str, Any] = {
        "sentences": [each.as_data() for each in found],
        "ballot": joined_ballots([one.ballot for one in asked], agreed=same),
    }
    if failure := next((one.failure for one in asked if one.failure), None):
        return Score(None, f"{UNDECIDED}: {failure.message}", details)
    shares = [share for each in answers if (share := _share(each.found)) is not None]
    return Score(mean(shares), _reason(found), details, warning="; ".join(_warnings(answers)))


def _share(found: Iterable[Finding]) -> float | None:
    return grounded_share([each.label for each in found])


def _reason(found: Sequence[Finding]) -> str:
    missed = [each for each in found if not is_grounded(each.label)]
    if not missed:
        return (
            f"the context bears out all {len(found)} sentences"
            if len(found) > 1
            else "the context bears it out"
        )
    told = "; ".join(
        f'"{_short(each.sentence)}" is {each.label}: {each.verdict["rationale"]}' for each in missed
    )
    return f"{len(missed)} of {len(found)} sentences not borne out: {told}"


def _short(sentence: str, longest: int = 80) -> str:
    line = " ".join(sentence.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _warnings(answers: Iterable[Answer]) -> Iterator[str]:
    signs = [sign for answer in answers for one in answer.asked for sign in one.ballot.signs]
    if signs:
        yield warning_of([*dict.fromkeys(signs)])
    if count := sum(not_quoted(each.found, each.context) for each in answers):
        yield f"what the judge quotes for {count} sentence(s) does not stand in the context"
