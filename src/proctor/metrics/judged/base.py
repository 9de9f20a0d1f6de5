"""The base classes of judge metrics: for any question, for one question per answer, and for one about the conversation.

A judge metric has a criterion and a judge, asks its questions concurrently, and computes scores from ballots.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from pydantic.alias_generators import to_camel, to_snake

from proctor.common.async_tools import gather_all
from proctor.common.prompts import Prompt, read_prompt
from proctor.errors import MetricError, did_you_mean
from proctor.judges.base import AnswerForm, Ballot, Judge, JudgeSource, Passage, Question, Settled, V
from proctor.judges.injection_signs import warning_of
from proctor.judges.votes import ballot_details, undecided_failure
from proctor.metrics.base import CaseView, MetricFacts, is_adk_compatible
from proctor.metrics.criterion_check import check_criterion, misfit
from proctor.metrics.judged.checklist import (
    Checked,
    ItemVotes,
    agreement_of,
    checklist_form,
    checklist_is_final,
    tally_items,
)
from proctor.metrics.judged.passages import (
    agents_of,
    answer_text,
    earlier_turns,
    final_answer,
    turns_of,
    user_message,
)
from proctor.schema.evidence.trial import Failure
from proctor.schema.format.criterion import BaseCriterion, JudgeModelOptions, LlmAsAJudgeCriterion
from proctor.schema.results.score import MetricScore, Score, mean_score

OPTIONS = "judge_model_options"
UNDECIDED = "the judge could not decide"

C = TypeVar("C", bound=BaseCriterion)


@dataclass(slots=True)
class BallotOutcome(Generic[V]):
    """A question's ballot, and the reason if it is undecided."""

    ballot: Ballot[V]
    failure: Failure | None

    @property
    def votes(self) -> list[V]:
        """The verdicts of the votes; after a failure they do not count."""
        return self.ballot.verdicts

    def score(
        self, value: float | None, reason: str, agreement: float | None = None, **details: object
    ) -> Score:
        """Return a turn's score with its ballot; without value if the votes cannot decide."""
        details = {**details, "ballot": ballot_details(self.ballot, agreed=agreement)}
        warning = warning_of(self.ballot.signs)
        if self.failure is not None:
            return Score(None, f"{UNDECIDED}: {self.failure.message}", details, warning=warning)
        return Score(value, reason, details, warning=warning)


class LlmJudgeMetric(Generic[C]):
    """Base of the metrics that ask a judge; a subclass asks the questions and computes scores from the votes."""

    facts: MetricFacts
    kind: ClassVar[type[Any]] = LlmAsAJudgeCriterion
    """The type of its criterion."""

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        self._criterion: C = check_criterion(self.facts, criterion, self.kind)
        options: JudgeModelOptions = getattr(self._criterion, OPTIONS)
        known = JudgeModelOptions.model_fields
        problems = [
            f"{OPTIONS}.{name}: unknown option.{did_you_mean(name, known)} It takes: {', '.join(known)}"
            for name in options.model_extra or ()
        ]
        if problems:
            raise misfit(self.facts.name, problems)
        self._adk = is_adk_compatible(self._criterion)
        self._stated = stated_options(criterion)
        # only the options that the criterion states, not the defaults of a typed criterion
        self._options = JudgeModelOptions.model_validate(options.model_dump(include={*self._stated}))
        self._prompt = read_prompt("proctor.metrics.judged.prompts", f"{self.facts.name}.md")
        self._judge: Judge | None = None

    def use(self, judges: JudgeSource) -> None:
        """Select the judge that the criterion names, or the run's."""
        self._judge = judges.judge(self.facts.name, self._options, stated="judge_model" in self._stated)

    @property
    def _samples(self) -> int | None:
        """The number of votes; `None`: as the criterion states."""
        return None

    def _make_question(
        self, passages: Sequence[Passage], form: AnswerForm[V], *, turn: int, prompt: Prompt | None = None
    ) -> Question[V]:
        """Return a question with the prompt of this metric, or another one."""
        return Question(
            metric=self.facts.name, prompt=prompt or self._prompt, passages=passages, form=form, turn=turn
        )

    async def _ask(self, questions: Sequence[Question[V]], is_settled: Settled[V]) -> list[BallotOutcome[V]]:
        """Ask all questions concurrently; an undecided ballot has a failure."""
        judge = self._judge
        if judge is None:
            raise MetricError(f"{self.facts.name} has no judge to ask")
        ballots = await gather_all(
            [judge.ask(each, samples=self._samples, settled=is_settled) for each in questions]
        )
        return [
            BallotOutcome(ballot, None if ballot.is_decided else undecided_failure(ballot, question.turn))
            for question, ballot in zip(questions, ballots, strict=True)
        ]


def stated_options(criterion: BaseCriterion | None) -> frozenset[str]:
    """Return the names of the judge's options that a criterion states itself."""
    options = getattr(criterion, OPTIONS, None) or getattr(criterion, to_camel(OPTIONS), None)
    if isinstance(options, JudgeModelOptions):
        return frozenset(options.model_fields_set)
    return frozenset(map(to_snake, options)) if isinstance(options, Mapping) else frozenset()


# --- From votes to scores, in addition to `proctor.judges.votes` ---


def lower_median(grades: Sequence[int]) -> int:
    """Return the middle grade; of two in the middle the lower one."""
    return sorted(grades)[(len(grades) - 1) // 2]


def median_is_final(grades: Sequence[int], left: int) -> bool:
    """Return whether up to `left` more grades cannot change the lower median."""
    ordered, total = sorted(grades), len(grades)
    for more in range(left + 1):
        middle = (total + more - 1) // 2
        # any number of the further grades may be below the present ones
        if middle < more or middle >= total or ordered[middle - more] != ordered[middle]:
            return False
    return bool(grades)


def case_score(
    scores: list[Score], failures: Sequence[Failure | None], *, value: float | None = None
) -> MetricScore:
    """Return the score of a case: an error if a turn is undecided, else `value`, or the mean of its turns."""
    failure = next((each for each in failures if each is not None), None)
    if failure is not None:
        return MetricScore(per_invocation=scores, reason=failure.message, failure=failure)
    return mean_score(scores) if value is None else MetricScore(value, scores)


def joined_ballots(ballots: Sequence[Ballot[Any]], *, agreement: float | None = None) -> dict[str, Any]:
    """Return several questions about one turn as one ballot, for reports and for the cost."""
    details = [ballot_details(each, agreed=agreement) for each in ballots]
    return {
        **details[0],
        "planned": sum(each["planned"] for each in details),
        "asked": sum(each["asked"] for each in details),
        "votes": [vote for each in details for vote in each["votes"]],
    }


# --- One question about each final answer ---


NO_TEXT = "the agent gave no answer text"


class LlmJudgeAnswerMetric(LlmJudgeMetric[LlmAsAJudgeCriterion]):
    """Judges each final answer with the user's message and the turns before; for a case, the mean over its turns."""

    form: ClassVar[AnswerForm[Any]]

    async def score(self, case: CaseView) -> MetricScore:
        """Ask about each final answer; a turn without answer text is not applicable."""
        with_steps = self._criterion.include_intermediate_responses_in_final
        texts = [answer_text(turn, thoughts=self._adk, with_steps=with_steps) for turn in case.actual]
        about = [index for index, text in enumerate(texts) if text.strip()]
        questions = [self._question(case, index, texts[index]) for index in about]
        outcomes = await self._ask(questions, self._is_final)
        scores = [Score(reason=NO_TEXT, not_applicable=True) for _ in texts]
        for index, each in zip(about, outcomes, strict=True):
            scores[index] = each.score(None, "") if each.failure is not None else self._score(each)
        return case_score(scores, [each.failure for each in outcomes])

    def _question(self, case: CaseView, index: int, text: str) -> Question[Any]:
        turn = case.actual[index]
        before = earlier_turns(case.actual[:index], with_steps=False)
        passages = [*before, user_message(turn), final_answer(text)]
        return self._make_question(passages, self.form, turn=index)

    @staticmethod
    @abstractmethod
    def _is_final(votes: Sequence[Any], left: int) -> bool:
        """Return whether `left` more votes cannot change the outcome."""

    @abstractmethod
    def _score(self, outcome: BallotOutcome[Any]) -> Score:
        """Return the score of one answer, whose votes decide."""


# --- One question about the whole conversation ---


AT_THE_END = "the conversation is judged as a whole, at its last turn"
NO_TURNS = "the conversation has no turns"


class ConversationMetric(LlmJudgeMetric[LlmAsAJudgeCriterion]):
    """The share of points that hold for the whole conversation; each is decided by the majority of the votes."""

    points: ClassVar[Sequence[str]]
    """The names of the points in the prompt, in its order."""

    async def score(self, case: CaseView) -> MetricScore:
        """Ask once about the whole conversation."""
        if not case.actual:
            return MetricScore(reason=NO_TURNS, not_applicable=True)
        [outcome] = await self._ask([self._question(case)], checklist_is_final)
        return self._case_score(case, outcome)

    def _question(self, case: CaseView) -> Question[Checked]:
        # in a recorded conversation, the goal of the user is only known from the messages
        plan = [Passage("plan of the user", case.scenario.conversation_plan)] if case.scenario else []
        passages = [*agents_of(case.actual), *plan, *turns_of(case.actual)]
        form = checklist_form("points", len(self.points), "point")
        return self._make_question(passages, form, turn=len(case.actual) - 1)

    def _case_score(self, case: CaseView, outcome: BallotOutcome[Checked]) -> MetricScore:
        """Return the score of the case, which is that of its last turn."""
        tallies = tally_items(outcome.votes, len(self.points))
        data = points_data(self.points, tallies)
        missed = [each for each in data if each["score"] == 0]
        reasons = "; ".join(f"{each['rubric_id']}: {each['rationale']}" for each in missed)
        last = outcome.score(
            (len(data) - len(missed)) / len(data),
            reasons or f"all {len(data)} points hold",
            agreement_of(tallies),
            rubrics=data,
        )
        earlier = [Score(reason=AT_THE_END, not_applicable=True) for _ in case.actual[:-1]]
        result = case_score([*earlier, last], [outcome.failure])
        result.details = {"overall_rubrics": data}
        return result


def points_data(points: Sequence[str], tallies: Sequence[ItemVotes]) -> list[dict[str, object]]:
    """Return the verdict on each point of a prompt, in the form of rubrics."""
    return [
        {
            "rubric_id": name,
            "text": name.replace("_", " "),
            "score": None if tally.met is None else float(tally.met),
            "rationale": tally.rationale,
            "agreement": tally.agreement,
        }
        for name, tally in zip(points, tallies, strict=True)
    ]
