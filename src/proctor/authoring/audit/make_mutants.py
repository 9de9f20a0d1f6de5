"""The list of mutation operators, their selection by name, and the sample of mutants that each makes of a case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

from proctor.authoring.audit import answer_mutants, call_mutants, course_mutants, null_agents, wrong_facts
from proctor.authoring.audit.mutant import Events, Operator, PlantedFault, Recording
from proctor.errors import UnknownNameError, did_you_mean
from proctor.schema.analysis.audit_result import AGENTS
from proctor.schema.evidence.convert_events import text_parts

OPERATORS: dict[str, Operator] = {
    operator.name: operator
    for operators in (
        null_agents.OPERATORS,
        call_mutants.OPERATORS,
        wrong_facts.OPERATORS,
        answer_mutants.OPERATORS,
        course_mutants.OPERATORS,
    )
    for operator in operators
}
"""Name -> mutation operator, in the order of the report."""

FAMILIES = tuple(dict.fromkeys(operator.family for operator in OPERATORS.values()))

MOST = 3
"""Mutants that an operator makes of one case. If it could make more, the seed and the id of the case choose."""


def select_operators(names: Sequence[str] | None) -> list[Operator]:
    """Return the operators with these names, or of families with these names, and the agents that must fail; by default all.

    Raises:
        UnknownNameError: there is no operator or family of that name.
    """
    if names is None:
        return list(OPERATORS.values())
    known = [*FAMILIES, *OPERATORS]
    for name in names or [""]:
        if name not in known:
            raise UnknownNameError(
                f"unknown mutants {name!r}.{did_you_mean(name, known)} Expected names of families "
                f"({', '.join(FAMILIES)}) or of mutation operators: {', '.join(OPERATORS)}."
            )
    selection = {*names, AGENTS}
    return [each for each in OPERATORS.values() if selection & {each.name, each.family}]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A recorded conversation with one planted fault."""

    operator: Operator
    turn: int | None
    """The turn of the fault, from 0; `None`: every turn, or the final state."""
    fault: str
    """The fault in a few words."""
    turns: Sequence[Events]
    state: dict[str, Any] | None

    def answer(self, turn: int) -> str:
        """Return the text of its final response in a turn."""
        events = self.turns[turn]
        return (
            "".join(part.text or "" for part in text_parts(events[-1]) if not part.thought) if events else ""
        )


def mutants_of(recording: Recording, operator: Operator, seed: int) -> Iterator[Mutant]:
    """Yield the mutants that an operator makes of a case; they depend on the case and the seed alone."""
    random = Random(f"{seed}\0{recording.case.eval_id}\0{operator.name}")  # noqa: S311 - it only samples
    changes = [*operator.find(recording, random)]
    chosen = changes if len(changes) <= MOST else random.sample(changes, MOST)
    for change in chosen:
        yield _mutant(recording, operator, change)


def _mutant(recording: Recording, operator: Operator, change: PlantedFault) -> Mutant:
    events = change.events()
    turns = [events.get(index, turn) for index, turn in enumerate(recording.turns)]
    state = recording.state
    if change.state is not None:
        state = change.state(deepcopy(state or {}))
    return Mutant(operator, change.turn, change.text, turns, state)
