"""Match the conversations of traces with cases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from proctor.engine.planning.plan import Plan
from proctor.engine.planning.set_plan import CaseSource
from proctor.files.eval_sets.eval_set_file import rename_duplicates
from proctor.files.traces.conversations import TracedConversation
from proctor.files.traces.semantic_conventions import CASE
from proctor.runs.traces.to_trials import differing_turn, normalize_space
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.content import Content, text_of
from proctor.schema.format.invocation import Invocation
from proctor.schema.serialize import case_hash

_MOST_SAID = 10
_LONGEST_ID = 120

Where = tuple[int, int]
"""A case: the number of its set in the plan, and its index in the set."""


@dataclass(slots=True)
class CaseMatches:
    """The conversation of each case."""

    by_case: dict[Where, TracedConversation] = field(default_factory=dict)
    claimed: dict[Where, int] = field(default_factory=dict)
    """The number of conversations that match a case and also another one."""
    warnings: list[str] = field(default_factory=list)


def own_cases(conversations: Sequence[TracedConversation], eval_set_id: str = "traces") -> EvalSet:
    """Return a set with one case per conversation, in order; the cases expect nothing."""
    cases = []
    for eval_id, conversation in zip(ids_of(conversations), conversations, strict=True):
        turns = [Invocation(user_content=Content.model_validate(turn.asked)) for turn in conversation.turns]
        cases.append(EvalCase(eval_id=eval_id, conversation=turns))
    return EvalSet(eval_set_id=eval_set_id, eval_cases=cases)


def ids_of(conversations: Sequence[TracedConversation]) -> list[str]:
    """Return a name for each conversation: its case's, else its own id, in characters that a command line accepts."""
    names = [_readable_name(conversation.case_id or conversation.id) for conversation in conversations]
    renamed = rename_duplicates(names)
    return [renamed.get(index, name) for index, name in enumerate(names)]


def _readable_name(name: str) -> str:
    return re.sub(r"[^\w.@#+=-]+", "_", name)[:_LONGEST_ID].strip("_") or "conversation"


def match_own_cases(plan: Plan, conversations: Sequence[TracedConversation]) -> CaseMatches:
    """Match the cases of `own_cases` with the conversations that they were made from."""
    return CaseMatches({(0, index): conversations[index] for index in plan.sets[0].cases})


def match(plan: Plan, conversations: Sequence[TracedConversation]) -> CaseMatches:
    """Match each conversation with its case. A further one for the same case adds a case to the plan: `case#2` …"""
    matched = CaseMatches()
    finder = _Finder(plan)
    unmatched: list[str] = []
    for conversation in conversations:
        fitting, why = finder.cases_of(conversation)
        place = fitting[0] if len(fitting) == 1 else None
        if place is None:
            for each in fitting:
                matched.claimed[each] = matched.claimed.get(each, 0) + 1
            unmatched.append(
                f"{conversation.place}: the conversation {conversation.id!r} belongs to no case: {why}"
            )
            continue
        if place in matched.by_case:
            place = _repeat_case(plan, place)
        matched.by_case[place] = conversation
        case = plan.sets[place[0]].source.case(place[1])
        if (turn := differing_turn(conversation, case)) is not None:
            message = f"case {case.eval_id}: in turn {turn + 1} the user's message in the trace differs from the case"
            matched.warnings.append(message)
    matched.warnings = _some(unmatched) + _some(matched.warnings)
    return matched


def _some(messages: list[str]) -> list[str]:
    more = [f"… and {len(messages) - _MOST_SAID} more of that kind"] if len(messages) > _MOST_SAID else []
    return messages[:_MOST_SAID] + more


class _Finder:
    """Index of the cases of a plan by id, by session and by user messages."""

    def __init__(self, plan: Plan) -> None:
        self._by_id: dict[str, list[Where]] = {}
        self._by_session: dict[str, list[Where]] = {}
        self._by_texts: dict[tuple[str, ...], list[Where]] = {}
        self._by_first: dict[str, list[Where]] = {}
        self._names: dict[Where, str] = {}
        for where, case in _cases(plan):
            self._names[where] = case.eval_id
            self._by_id.setdefault(case.eval_id, []).append(where)
            if case.session_input is not None and case.session_input.session_id:
                self._by_session.setdefault(case.session_input.session_id, []).append(where)
            if texts := tuple(
                normalize_space(text_of(turn.user_content)) for turn in case.conversation or ()
            ):
                self._by_texts.setdefault(texts, []).append(where)
                self._by_first.setdefault(texts[0], []).append(where)

    def cases_of(self, conversation: TracedConversation) -> tuple[Sequence[Where], str]:
        """Return the cases that match a conversation, and the reason if it is not exactly one."""
        texts = tuple(normalize_space(turn.text) for turn in conversation.turns)
        if conversation.is_case_ours and conversation.case_id not in self._by_id:
            return (), f"its spans name the case {conversation.case_id!r} ({CASE}), which does not exist"
        looks = (
            self._by_id.get(conversation.case_id, ()),
            self._by_id.get(conversation.id, ()),
            self._by_session.get(conversation.id, ()),
            self._by_texts.get(texts, ()) if all(texts) else (),
        )
        for matches in looks:
            if matches:
                return (
                    matches,
                    f"it could be {self._names_text(matches)}; the attribute {CASE} on a span names it",
                )
        if not texts[0]:
            return (), "no case has its id, and the user's message is not in the trace"
        if begun := self._by_first.get(texts[0], ()):
            why = f"it only begins as {self._names_text(begun)}, and the user's later messages differ"
            return (), f"{why}; the attribute {CASE} on a span names the case"
        return (), "no case has its id or the same user messages"

    def _names_text(self, places: Sequence[Where]) -> str:
        return ", ".join(self._names[where] for where in places[:_MOST_SAID])


def _cases(plan: Plan) -> Iterator[tuple[Where, EvalCase]]:
    for number, chosen in enumerate(plan.sets):
        for index in chosen.cases:
            yield (number, index), chosen.source.case(index)


# --- additional cases -------------------------------------------------------------------------------------------------


class _Extended:
    """A set in which cases may occur several times, under additional ids."""

    def __init__(self, source: CaseSource) -> None:
        self._source = source
        self._base = len(source.ids())
        self._more: list[tuple[int, str]] = []

    @property
    def eval_set_id(self) -> str:
        """The id of the set."""
        return self._source.eval_set_id

    @property
    def label(self) -> str | None:
        """The origin of the set."""
        return self._source.label

    def add(self, index: int) -> int:
        """Add a case again; return its index."""
        ids = self.ids()
        name = self.case(index).eval_id
        self._more.append((index, rename_duplicates([*ids, name])[len(ids)]))
        return self._base + len(self._more) - 1

    def ids(self) -> Sequence[str]:
        """The ids of the cases, in order."""
        return [*self._source.ids(), *(name for _, name in self._more)]

    def case(self, index: int) -> EvalCase:
        """Read one case."""
        if index < self._base:
            return self._source.case(index)
        original, name = self._more[index - self._base]
        return self._source.case(original).model_copy(update={"eval_id": name})

    def where(self, index: int) -> str:
        """`file:line` of a case."""
        return self._source.where(index if index < self._base else self._more[index - self._base][0])

    def __iter__(self) -> Iterator[EvalCase]:
        """Read every case, in order."""
        return map(self.case, range(self._base + len(self._more)))


def _repeat_case(plan: Plan, place: Where) -> Where:
    """Add a case to the plan again; return its place in the plan."""
    number, index = place
    chosen = plan.sets[number]
    if not isinstance(chosen.source, _Extended):
        chosen.source = _Extended(chosen.source)
    again = chosen.source.add(index)
    chosen.cases.append(again)
    chosen.hashes += case_hash(chosen.source.case(again))
    chosen.summary.cases += 1
    return number, again
