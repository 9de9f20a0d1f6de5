"""The metric `per_turn_user_simulator_quality_v1`: whether the simulated user followed its plan, turn by turn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from proctor.common.prompts import read_prompt
from proctor.judges.base import Ballot, Passage, Question
from proctor.judges.votes import is_majority_settled, majority
from proctor.metrics.base import CaseView, MetricFacts, prohibition
from proctor.metrics.judged.base import BallotOutcome, LlmJudgeMetric, case_score, joined_ballots, points_data
from proctor.metrics.judged.checklist import Checked, checklist_form, tally_items
from proctor.metrics.judged.passages import earlier_turns, user_message
from proctor.schema.evidence.simulated_user import USER_FAULTS, FaultKind, NextStatus, UserFault
from proctor.schema.format.case import ConversationScenario
from proctor.schema.format.content import text_of
from proctor.schema.format.criterion import BaseCriterion, LlmBackedUserSimulatorCriterion
from proctor.schema.format.persona import UserBehavior
from proctor.schema.results.score import MetricScore, Score

POINTS = (
    "follows_the_plan", "ends_in_time", "one_thing_at_a_time", "gives_up_in_time", "responds", "corrects_the_agent",
    "talks_like_a_person",
)  # fmt: skip
"""The names of the points in the prompt, in its order."""
NO_SCENARIO = "the case has no conversation scenario"
NO_TURNS = "the conversation has no turns"
AS_PLANNED = "the conversation begins with the starting prompt of the scenario"
NOT_AS_PLANNED = "the conversation does not begin with the starting prompt of the scenario"
RECORDED = "this turn is part of the recorded opening, without a simulated user"
ENDED_WRONGLY = "when the conversation ended, the simulated user should have continued"


class UserSimulatorQuality(LlmJudgeMetric[LlmBackedUserSimulatorCriterion]):
    """The share of turns in which the simulated user followed its scenario.

    The first message (after a recorded opening) must be the starting prompt; this needs no judge. Each later message is judged
    by the points of the prompt, or by the behaviours of the scenario's persona, and is right if most votes find that every
    point is met. Finally the judge is asked whether it was time to stop; if not, that is a fault of the last turn.
    """

    facts: MetricFacts = MetricFacts(
        name="per_turn_user_simulator_quality_v1",
        description="The share of turns in which the simulated user followed its scenario, by a judge model.",
        kind="judge",
        default_threshold=0.8,
        needs=frozenset({"judge", "scenario"}),
        statement=prohibition,
        options={"stop_signal": "the text with which the simulated user ends the conversation (</finished>)"},
        source="google-adk's metric of this name; prompts and votes are Proctor's",
    )
    kind = LlmBackedUserSimulatorCriterion

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        super().__init__(criterion)
        self._persona_prompt = read_prompt("proctor.metrics.judged.prompts", f"{self.facts.name}_persona.md")

    async def score(self, case: CaseView) -> MetricScore:
        """Compare the first message with the scenario, and ask about each later one and about the end, all concurrently."""
        scenario = case.scenario
        if scenario is None or not case.actual:
            return _not_applicable(case, NO_TURNS if scenario else NO_SCENARIO)
        opening = _opening_scores(case, scenario)
        rest = range(len(opening), len(case.actual) + 1)
        *outcomes, end = await self._ask([self._question(case, scenario, turn) for turn in rest], _is_final)
        names = self._names(scenario)
        scores = [*opening, *(_score(each, names) for each in outcomes)]
        scores[-1] = _with_end(scores[-1], end, names, [each.ballot for each in (*outcomes[-1:], end)])
        result = case_score(scores, [each.failure for each in (*outcomes, end)])
        faults = [*_faults(case, opening, outcomes, end, names)]
        if faults and result.failure is None:
            result.details = {USER_FAULTS: faults}
        return result

    def _question(self, case: CaseView, scenario: ConversationScenario, index: int) -> Question[Checked]:
        """Ask about the message of turn `index`; after the last turn, about a message that ends the conversation."""
        is_end = index == len(case.actual)
        signal = self._criterion.stop_signal
        message = Passage("user message", signal) if is_end else user_message(case.actual[index])
        behaviors = _behaviors(scenario)
        passages = [
            Passage("plan of the user", scenario.conversation_plan),
            *_persona(scenario, signal),
            Passage("stop signal", signal),
            *earlier_turns(case.actual[:index], with_steps=False),
            message,
        ]
        turn = min(index, len(case.actual) - 1)
        if not behaviors:
            return self._make_question(passages, checklist_form("points", len(POINTS), "point"), turn=turn)
        form = checklist_form("points", len(behaviors), "behaviour")
        return self._make_question(passages, form, turn=turn, prompt=self._persona_prompt)

    @staticmethod
    def _names(scenario: ConversationScenario) -> Sequence[str]:
        return [each.name for each in _behaviors(scenario)] or POINTS


def _not_applicable(case: CaseView, reason: str) -> MetricScore:
    scores = [Score(reason=reason, not_applicable=True) for _ in case.actual]
    return MetricScore(per_invocation=scores, reason=reason, not_applicable=True)


def _opening_scores(case: CaseView, scenario: ConversationScenario) -> list[Score]:
    """Return the scores that need no judge: of a recorded opening, and of the starting prompt after it."""
    begin = min(len(case.opening), len(case.actual))
    scores = [Score(reason=RECORDED, not_applicable=True) for _ in range(begin)]
    prompt = scenario.starting_prompt.strip()
    if begin < len(case.actual) and (prompt or not begin):
        is_same = text_of(case.actual[begin].user_content, thoughts=False).strip() == prompt
        scores.append(Score(float(is_same), AS_PLANNED if is_same else NOT_AS_PLANNED))
    return scores


def _faults(
    case: CaseView,
    opening: Sequence[Score],
    outcomes: Sequence[BallotOutcome[Checked]],
    end: BallotOutcome[Checked],
    names: Sequence[str],
) -> Iterator[dict[str, object]]:
    """Yield the wrong turns, and a wrong end, as simulator faults: they make the trial an error."""
    for turn, score in enumerate(opening):
        if score.value == 0:
            yield _fault(FaultKind.LEFT_PLAN, case, turn, NOT_AS_PLANNED)
    for turn, each in enumerate(outcomes, len(opening)):
        if each.failure is None and not majority(_valid(each.votes)):
            name, why = _most_broken(each, names)
            yield _fault(_KINDS.get(name, FaultKind.LEFT_PLAN), case, turn, why)
    if end.failure is None and ended_by_user(case) and not majority(_valid(end.votes)):
        why = f"{ENDED_WRONGLY}: {_most_broken(end, names)[1]}"
        yield _fault(FaultKind.STOPPED_EARLY, case, len(case.actual), why)


def ended_by_user(case: CaseView) -> bool:
    """Return whether the user ended the conversation, and not the limit of turns."""
    simulated_user = case.trial.played_user if case.trial is not None else None
    return (
        simulated_user is None
        or not simulated_user.replies
        or simulated_user.replies[-1].status is NextStatus.STOP_SIGNAL_DETECTED
    )


_KINDS = {"responds": FaultKind.IGNORED_QUESTION}
"""Points that identify the kind of fault; the others are about following the plan."""


def _most_broken(outcome: BallotOutcome[Checked], names: Sequence[str]) -> tuple[str, str]:
    """Return the point that most votes find broken, and the reason."""
    no = [item for vote in outcome.votes for item in vote if item["verdict"] == "no"]
    number = Counter(item["number"] for item in no).most_common(1)[0][0]
    name = names[number - 1]
    return name, f"{name}: {next(item['rationale'] for item in no if item['number'] == number)}"


def _fault(kind: FaultKind, case: CaseView, turn: int, why: str) -> dict[str, object]:
    message = text_of(case.actual[turn].user_content, thoughts=False) if turn < len(case.actual) else ""
    return UserFault(kind=kind, turn=turn, evidence=message, why=why, found_by="judge").model_dump(
        mode="json"
    )


def _valid(votes: Iterable[Checked]) -> list[bool]:
    """Return for each vote whether it finds every point met."""
    return [all(item["verdict"] == "yes" for item in vote) for vote in votes]


def _is_final(votes: Sequence[Checked], left: int) -> bool:
    return is_majority_settled(_valid(votes), left)


def _score(outcome: BallotOutcome[Checked], names: Sequence[str]) -> Score:
    if outcome.failure is not None:
        return outcome.score(None, "")
    valid = _valid(outcome.votes)
    is_met = majority(valid)
    data = points_data(names, tally_items(outcome.votes, len(names)))
    broken = [item for vote in outcome.votes for item in vote if item["verdict"] == "no"]
    reasons = dict.fromkeys(f"{names[item['number'] - 1]}: {item['rationale']}" for item in broken)
    reason = f"all {len(names)} points are met" if is_met else "; ".join(reasons)
    return outcome.score(float(is_met), reason, valid.count(is_met) / len(valid), rubrics=data)


def _with_end(
    last: Score, outcome: BallotOutcome[Checked], names: Sequence[str], ballots: Sequence[Ballot[Checked]]
) -> Score:
    """Return the last turn's score with the verdict on the end: a wrong end replaces it."""
    end = _score(outcome, names)
    details = {**(last.details or {}), "ballot": joined_ballots(ballots)}
    if end.value is None or last.value is None:
        return Score(None, end.reason if end.value is None else last.reason, details)
    if end.value:
        return Score(last.value, last.reason, details)
    return Score(0.0, f"{ENDED_WRONGLY}: {end.reason}", {**(end.details or {}), "ballot": details["ballot"]})


# --- personas ---


def _behaviors(scenario: ConversationScenario) -> Sequence[UserBehavior]:
    return scenario.user_persona.behaviors if scenario.user_persona else ()


def _persona(scenario: ConversationScenario, signal: str) -> Iterator[Passage]:
    """Yield the description of the user, and each behaviour."""
    persona = scenario.user_persona
    if persona is None:
        return
    yield Passage("persona of the user", _fill(persona.description, signal))
    for number, each in enumerate(persona.behaviors, 1):
        lines = [
            each.name,
            each.description,
            "The user's instructions:",
            *_bullets(each.behavior_instructions),
        ]
        lines += ["What breaks it:", *_bullets(each.violation_rubrics)]
        yield Passage(f"behaviour {number}", _fill("\n".join(lines), signal))


def _bullets(texts: Iterable[str]) -> list[str]:
    return [f"* {text}" for text in texts]


def _fill(text: str, signal: str) -> str:
    """Replace the one placeholder of a persona's text; other braces are left unchanged."""
    return re.sub(r"\{\{\s*stop_signal\s*\}\}", lambda _: signal, text)
