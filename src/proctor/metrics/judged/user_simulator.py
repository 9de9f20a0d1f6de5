"""`per_turn_user_simulator_quality_v1`: did the played user keep to its plan, turn by turn?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from proctor.common.prompts import read_prompt
from proctor.judges.base import Passage, Question
from proctor.judges.votes import is_majority_settled, majority
from proctor.metrics.base import CaseView, MetricFacts
from proctor.metrics.judged.base import Asked, JudgedMetric
from proctor.metrics.judged.checklist import Checked, checklist_form, tallied
from proctor.metrics.judged.passages import earlier_turns, user_message
from proctor.metrics.judged.votes import concluded, joined_ballots
from proctor.metrics.judged.whole_conversation import points_data
from proctor.metrics.statements import prohibition
from proctor.schema.evidence.played_user import NextStatus
from proctor.schema.evidence.simulator_fault import USER_FAULTS, FaultKind, UserFault
from proctor.schema.format.content import text_of
from proctor.schema.format.criterion import BaseCriterion, LlmBackedUserSimulatorCriterion
from proctor.schema.format.persona import UserBehavior
from proctor.schema.format.scenario import ConversationScenario
from proctor.schema.results.score import MetricScore, Score

__all__ = ["UserSimulatorQuality"]

POINTS = (
    "follows_the_plan", "ends_in_time", "one_thing_at_a_time", "gives_up_in_time", "responds", "corrects_the_agent",
    "talks_like_a_person",
)  # fmt: skip
"""What the points of the prompt are called, in its order."""
NO_SCENARIO = "the case has no conversation scenario"
NO_TURNS = "the conversation has no turns"
AS_PLANNED = "the conversation begins with the starting prompt of the scenario"
NOT_AS_PLANNED = "the conversation does not begin with the starting prompt of the scenario"
RECORDED = "this turn is of the recorded opening: nobody played its user"
ENDED_WRONGLY = "when the conversation ended, the played user should have gone on"


class UserSimulatorQuality(JudgedMetric[LlmBackedUserSimulatorCriterion]):
    """The share of turns in which the played user did as its scenario says.

    The first message (behind a recorded opening, which nobody played) must be the starting prompt; no judge is asked about
    it. Each later one is judged by the points of
    the prompt, or by the behaviours of the scenario's persona, and is right when most votes find every point kept. At
    the end the judge is asked whether it was time to stop; if not, that is a fault of the last turn.
    """

    facts: MetricFacts = MetricFacts(
        name="per_turn_user_simulator_quality_v1",
        description="The share of turns in which the played user kept to its scenario, by a judge model.",
        kind="judge",
        default_threshold=0.8,
        needs=frozenset({"judge", "scenario"}),
        statement=prohibition,
        options={"stop_signal": "what the played user says to end the conversation (</finished>)"},
        source="google-adk's metric of this name; prompts and votes are Proctor's",
    )
    kind = LlmBackedUserSimulatorCriterion

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        super().__init__(criterion)
        name = self.facts.name
        self._plain = read_prompt("proctor.metrics.judged.prompts", f"{name}.md")
        self._with_persona = read_prompt("proctor.metrics.judged.prompts", f"{name}_persona.md")

    async def score(self, case: CaseView) -> MetricScore:
        """Hold the first message against the scenario, and ask about each later one and about the end, all at once."""
        scenario = case.scenario
        if scenario is None or not case.actual:
            reason = NO_TURNS if scenario else NO_SCENARIO
            scores = [Score(reason=reason, not_applicable=True) for _ in case.actual]
            return MetricScore(per_invocation=scores, reason=reason, not_applicable=True)
        begins = min(len(case.opening), len(case.actual))
        is_given = begins < len(case.actual) and (not begins or bool(scenario.starting_prompt.strip()))
        first = [_first(case, scenario, begins)] if is_given else []
        later = [
            self._question(case, scenario, index) for index in range(begins + len(first), len(case.actual))
        ]
        end = self._question(case, scenario, len(case.actual))
        *asked, ended = await self._ask([*later, end], _settled)
        names = self._names(scenario)
        scores = [*_unplayed(begins), *first, *(_scored(each, names) for each in asked)]
        broken = list(_broken(case, begins + len(first), asked, ended, names))
        scores[-1] = _with_end(scores[-1], ended, names, [each.ballot for each in (*asked[-1:], ended)])
        found = concluded(scores, [each.failure for each in (*asked, ended)])
        if is_given and not first[0].value:
            broken.insert(0, _fault(FaultKind.LEFT_PLAN, case, begins, NOT_AS_PLANNED))
        if broken and found.failure is None:
            found.details = {USER_FAULTS: broken}
        return found

    def _question(self, case: CaseView, scenario: ConversationScenario, index: int) -> Question[Checked]:
        """About the message of turn `index`; after the last turn, about a message that ends the conversation."""
        is_end = index == len(case.actual)
        signal = self._criterion.stop_signal
        message = Passage("user message", signal) if is_end else user_message(case.actual[index])
        behaviors = _behaviors(scenario)
        return Question(
            metric=self.facts.name,
            prompt=self._with_persona if behaviors else self._plain,
            passages=[
                Passage("plan of the user", scenario.conversation_plan),
                *_persona(scenario, signal),
                Passage("stop signal", signal),
                *earlier_turns(case.actual[:index], with_steps=False),
                message,
            ],
            form=checklist_form(
                "points", len(behaviors) or len(POINTS), "behaviour" if behaviors else "point"
            ),
            turn=min(index, len(case.actual) - 1),
        )

    @staticmethod
    def _names(scenario: ConversationScenario) -> Sequence[str]:
        return [each.name for each in _behaviors(scenario)] or POINTS


def _unplayed(turns: int) -> list[Score]:
    return [Score(reason=RECORDED, not_applicable=True) for _ in range(turns)]


def _first(case: CaseView, scenario: ConversationScenario, index: int) -> Score:
    said = text_of(case.actual[index].user_content, thoughts=False)
    same = said.strip() == scenario.starting_prompt.strip()
    return Score(float(same), AS_PLANNED if same else NOT_AS_PLANNED)


def _broken(
    case: CaseView, start: int, asked: Sequence[Asked[Checked]], ended: Asked[Checked], names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """The turns that most votes find wrong, and an end that was, as faults of the played user: they spoil the trial."""
    for turn, each in enumerate(asked, start):
        if each.failure is None and not majority(_valid(each.votes)):
            name, why = _most_broken(each, names)
            yield _fault(_KINDS.get(name, FaultKind.LEFT_PLAN), case, turn, why)
    if ended.failure is None and _ended_by_user(case) and not majority(_valid(ended.votes)):
        why = f"{ENDED_WRONGLY}: {_most_broken(ended, names)[1]}"
        yield _fault(FaultKind.STOPPED_EARLY, case, len(case.actual), why)


def _ended_by_user(case: CaseView) -> bool:
    """Whether the user wanted to end it: a conversation that reached its limit of turns ended by nobody's fault."""
    played = case.trial.played_user if case.trial is not None else None
    return (
        played is None or not played.replies or played.replies[-1].status is NextStatus.STOP_SIGNAL_DETECTED
    )


_KINDS = {"responds": FaultKind.IGNORED_QUESTION}
"""Points that say which kind of fault it is; the others are about keeping to the plan."""


def _most_broken(asked: Asked[Checked], names: Sequence[str]) -> tuple[str, str]:
    """The point that most votes find broken, and why."""
    no = [item for vote in asked.votes for item in vote if item["verdict"] == "no"]
    number = Counter(item["number"] for item in no).most_common(1)[0][0]
    name = names[number - 1]
    return name, f"{name}: {next(item['rationale'] for item in no if item['number'] == number)}"


def _fault(kind: FaultKind, case: CaseView, turn: int, why: str) -> dict[str, Any]:
    said = text_of(case.actual[turn].user_content, thoughts=False) if turn < len(case.actual) else ""
    return UserFault(kind=kind, turn=turn, evidence=said, why=why, found_by="judge").model_dump(mode="json")


def _valid(votes: Iterable[Checked]) -> list[bool]:
    """Which votes find every point kept."""
    return [all(item["verdict"] == "yes" for item in vote) for vote in votes]


def _settled(votes: Sequence[Checked], left: int) -> bool:
    return is_majority_settled(_valid(votes), left)


def _scored(asked: Asked[Checked], names: Sequence[str]) -> Score:
    if asked.failure is not None:
        return asked.score(None, "")
    valid = _valid(asked.votes)
    kept = majority(valid)
    data = points_data(names, tallied(asked.votes, len(names)))
    broken = [item for vote in asked.votes for item in vote if item["verdict"] == "no"]
    told = dict.fromkeys(f"{names[item['number'] - 1]}: {item['rationale']}" for item in broken)
    reason = f"all {len(names)} points are kept" if kept else "; ".join(told)
    return asked.score(float(kept), reason, valid.count(kept) / len(valid), rubrics=data)


def _with_end(last: Score, ended: Asked[Checked], names: Sequence[str], ballots: Sequence[Any]) -> Score:
    """The last turn's score, once the end of the conversation was judged: a wrong end takes its place."""
    end = _scored(ended, names)
    details = {**(last.details or {}), "ballot": joined_ballots(ballots)}
    if end.value is None or last.value is None:
        return Score(None, end.reason if end.value is None else last.reason, details)
    if end.value:
        return Score(last.value, last.reason, details)
    return Score(0.0, f"{ENDED_WRONGLY}: {end.reason}", {**(end.details or {}), "ballot": details["ballot"]})


# --- personas ----------------------------------------------------------------------------------------------------------


def _behaviors(scenario: ConversationScenario) -> Sequence[UserBehavior]:
    return scenario.user_persona.behaviors if scenario.user_persona else ()


def _persona(scenario: ConversationScenario, signal: str) -> Iterator[Passage]:
    """Who the user is meant to be, and each behaviour by itself."""
    persona = scenario.user_persona
    if persona is None:
        return
    yield Passage("persona of the user", _filled(persona.description, signal))
    for number, each in enumerate(persona.behaviors, 1):
        lines = [each.name, each.description, "What the user is told:", *_listed(each.behavior_instructions)]
        lines += ["What breaks it:", *_listed(each.violation_rubrics)]
        yield Passage(f"behaviour {number}", _filled("\n".join(lines), signal))


def _listed(texts: Iterable[str]) -> list[str]:
    return [f"* {text}" for text in texts]


def _filled(text: str, signal: str) -> str:
    """The text of a persona with its one placeholder filled; anything else in braces stays as it is."""
    return re.sub(r"\{\{\s*stop_signal\s*\}\}", lambda _: signal, text)
