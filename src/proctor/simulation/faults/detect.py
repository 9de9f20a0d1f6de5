"""The rules for faults of simulated users; `find_faults` applies all of them to one conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from proctor.schema.evidence.simulated_user import UserFault
from proctor.simulation.faults.conversation import UserConversation
from proctor.simulation.faults.ignored_question import ignored_question
from proctor.simulation.faults.invented_fact import invented_fact
from proctor.simulation.faults.leaked_answer import leaked_answer
from proctor.simulation.faults.left_plan import left_plan
from proctor.simulation.faults.repeated_itself import repeated_itself
from proctor.simulation.faults.stopped_early import stopped_early

RULES: Sequence[Callable[[UserConversation], Iterator[UserFault]]] = (
    left_plan,
    leaked_answer,
    stopped_early,
    invented_fact,
    repeated_itself,
    ignored_question,
)


def find_faults(conversation: UserConversation) -> list[UserFault]:
    """Return the faults in the order of the turns. A leaked value is not reported as an invented one too."""
    faults = [fault for rule in RULES for fault in rule(conversation)]
    leaked = {fault.turn for fault in faults if fault.kind == "leaked_answer"}
    faults = [fault for fault in faults if not (fault.kind == "invented_fact" and fault.turn in leaked)]
    return sorted(faults, key=lambda fault: fault.turn)
