"""What rules find in planted conversations, counted; and what becomes of the agent's figures when users get worse."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import proctor
from proctor.schema.evidence.simulated_user import FaultKind
from proctor.schema.results.case_result import FaultRates, user_faults
from proctor.schema.results.run_result import CaseResult
from tests.simulation.planted_conversations import Conversation, conversations

KINDS = tuple(kind.value for kind in FaultKind)


def played(one: Conversation) -> CaseResult:
    """Play a conversation through the engine, with a scripted agent and a scripted user."""
    decided = {"criteria": {}} if one.state else {"criteria": {"hallucinations_v1": {"threshold": 0.5}}}
    run = proctor.evaluate_sync(
        one.play_agent,
        {"eval_set_id": one.source, "eval_cases": [one.case]},
        config=decided,
        user=one.model(),
        judge=lambda _messages: "",  # its answer does not matter here
    )
    return run.cases[0]


@dataclass
class Found:
    """What was found of one kind."""

    planted: int = 0
    right: int = 0
    """Conversations with this fault in which it was found."""
    wrong: list[str] = field(default_factory=list)
    """Conversations without it in which it was found all the same."""
    missed: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """The share of the planted that were found."""
        return self.right / self.planted

    @property
    def precision(self) -> float:
        """The share of the found that were planted."""
        total = self.right + len(self.wrong)
        return self.right / total if total else 1.0


@dataclass
class Figures:
    """What was found in many conversations."""

    kinds: dict[str, Found]
    clean: int = 0
    accused: list[str] = field(default_factory=list)
    """Clean conversations in which anything was found."""
    spoiled: int = 0
    """Conversations with a planted fault in which any was found."""
    planted: int = 0


def figures(some: Iterable[Conversation]) -> Figures:
    """Play conversations and hold what was found against what was planted."""
    found = Figures({kind: Found() for kind in KINDS})
    for one in some:
        kinds = {fault.kind.value for fault in user_faults(played(one), 0)}
        if one.kind:
            found.planted += 1
            found.spoiled += bool(kinds)
            _count(found.kinds[one.kind], one, is_found=one.kind in kinds)
        else:
            found.clean += 1
            found.accused += [one.name] * bool(kinds)
        for kind in kinds - {one.kind}:
            found.kinds[kind].wrong.append(one.name)
    return found


def _count(found: Found, one: Conversation, *, is_found: bool) -> None:
    found.planted += 1
    found.right += is_found
    found.missed += [] if is_found else [one.name]


# --- users that get worse ----------------------------------------------------------------------------------------------

FAULTY = 0.25
"""Return the share of conversations in which the agent claims to be done, and is not."""


def degraded(rate: float, *, each: int, seed: int = 7) -> tuple[FaultRates, Counter[str]]:
    """Let the same agent talk to users of whom a share of `rate` is at fault, `each` times with every scenario.

    Which conversations the agent itself fails in depends on the seed alone, so that it is the same agent at every rate.
    Returns the rates, and how many users were made to be at fault, by kind.
    """
    by_scenario: dict[str, list[Conversation]] = defaultdict(list)
    for one in conversations():
        if one.state and one.is_reached:
            by_scenario[one.scenario["conversation_plan"]].append(one)
    found, planted = FaultRates(), Counter[str]()
    for number, several in enumerate(by_scenario.values()):
        for repeat in range(each):
            one = _chosen(several, rate, random.Random(f"user {seed} {number} {repeat}"))
            planted[one.kind] += 1
            is_faulty = random.Random(f"agent {seed} {number} {repeat}").random() < FAULTY
            found.add(played(replace(one, is_reached=False) if is_faulty else one))
    return found, planted


def _chosen(several: Sequence[Conversation], rate: float, dice: Any) -> Conversation:
    at_fault = dice.random() < rate
    chosen: Conversation = dice.choice([one for one in several if bool(one.kind) is at_fault])
    return chosen
