"""The simulated user of a trial: its scenario, the usage of each message, and how the conversation ended."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.reports.content.summary import dollars
from proctor.reports.content.text_blocks import Cause, RecordedFact, Section, TrialEvidence
from proctor.schema.evidence.simulated_user import FaultKind, NextStatus, SimulatedUser, UserFault, UserReply
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.case import ConversationScenario

_SIGNAL = "</finished>"


def simulator_name(trial: Trial) -> str:
    """Return the simulator or its model; empty for a recorded user."""
    simulated_user = trial.played_user
    if simulated_user is None:
        return ""
    after = f" after {simulated_user.opening} recorded turns" if simulated_user.opening else ""
    call = "()" if simulated_user.simulator == "function" and simulated_user.model else ""
    return f"simulated user: {simulated_user.model or simulated_user.simulator}{call}{after}"


def ending_of(trial: Trial) -> str:
    """Return how a simulated conversation ended; empty if it is recorded or failed."""
    simulated_user = trial.played_user
    if simulated_user is None or trial.failure is not None:
        return ""
    last = simulated_user.replies[-1] if simulated_user.replies else None
    if last is None or last.status is not NextStatus.STOP_SIGNAL_DETECTED:
        return f"at the limit of {len(trial.turns)} turns; the user had not finished"
    left = last.text.strip()
    return "by the user" if left.lower() in ("", _SIGNAL) else f"by the user, who did not send: {left}"


def add_simulator_facts(evidence: TrialEvidence, trial: Trial | None, *, full: bool) -> None:
    """Add the facts about the simulated user to the evidence of a trial.

    `full`: the usage of each message, and how the conversation ended. Else only exceptions: that the conversation reached
    its limit, and the last answer before the simulator failed.
    """
    if trial is None or (simulated_user := trial.played_user) is None:
        return
    turns = len(trial.turns)
    if full:
        _add_usage(evidence, simulated_user, turns)
    _add_ending(evidence, trial, simulated_user, full=full)
    if full:
        _add_faults(evidence, simulated_user, turns)
    is_users = bool(simulated_user.faults) if trial.failure is None else trial.failure.where == "simulator"
    if not is_users:
        return
    evidence.sections = [each for each in evidence.sections if not _never_was(each, turns)]
    if not full:
        _add_last_answer(evidence, trial)


def _add_ending(evidence: TrialEvidence, trial: Trial, simulated_user: SimulatedUser, *, full: bool) -> None:
    """Add how the conversation ended; if the user ended it, only with `full`."""
    ends_itself = (
        bool(simulated_user.replies) and simulated_user.replies[-1].status is NextStatus.STOP_SIGNAL_DETECTED
    )
    ended = ending_of(trial)
    if not ended or (ends_itself and not full):
        return
    took = _took(simulated_user.replies[-1]) if ends_itself else ""
    _add(evidence, None, RecordedFact("ended", f"{ended} ({took})" if took else ended))


def _add_last_answer(evidence: TrialEvidence, trial: Trial) -> None:
    """Add the last answer before the simulator failed."""
    if trial.turns and trial.failure is not None:
        answered = trial.invocations[-1].final_response
        text = answered.joined_text() if answered else "(none)"
        _add(evidence, len(trial.turns) - 1, RecordedFact("answer", text))


def _add_usage(evidence: TrialEvidence, simulated_user: SimulatedUser, turns: int) -> None:
    for reply in simulated_user.replies:
        if reply.turn < turns and (took := _took(reply)):
            _add(evidence, reply.turn, RecordedFact("played", took))


def _add_faults(evidence: TrialEvidence, simulated_user: SimulatedUser, turns: int) -> None:
    for fault in simulated_user.faults:
        if fault.kind is not FaultKind.NO_MESSAGE:  # that is the failure of the trial
            turn = fault.turn if fault.turn < turns else None
            _add(evidence, turn, RecordedFact("at fault", _fault_text(fault)))


def scenario_facts(scenario: ConversationScenario) -> Iterator[tuple[str, str]]:
    """Return the parts of a scenario, each with its label."""
    yield "start", scenario.starting_prompt.strip()
    yield "plan", scenario.conversation_plan.strip()
    if (persona := scenario.user_persona) is not None:
        yield "persona", f"{persona.id}: {persona.description}"


def _fault_text(fault: UserFault) -> str:
    judge = " (found by a judge)" if fault.found_by == "judge" else ""
    return f"{fault.kind.words}: {fault.why}{judge}"


def _took(reply: UserReply) -> str:
    """Return the usage of a message of a model; empty for a function."""
    if not reply.model:
        return ""
    tokens = (reply.input_tokens or 0) + (reply.output_tokens or 0)
    parts = [
        reply.model,
        f"{tokens:,} tokens" if tokens else "",
        dollars(reply.cost) if reply.cost is not None else "",
        f"{reply.seconds:.1f} s",
        f"prompt {reply.prompt}",
    ]
    return ", ".join(each for each in parts if each)


def _never_was(section: Section, turns: int) -> bool:
    """Return whether a section is about a turn that did not begin, without a location in the code."""
    places = [block.place for block in section.blocks if isinstance(block, Cause)]
    return section.turn == turns and len(places) == len(section.blocks) and not any(places)


def _add(evidence: TrialEvidence, turn: int | None, fact: RecordedFact) -> None:
    section = evidence.section(turn)
    if fact not in section.blocks:
        section.blocks.append(fact)
