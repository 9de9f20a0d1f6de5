"""Conformance checks for agents: for `proctor agent check`, and for tests of agent adapters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from proctor.common.error_text import safe_str
from proctor.common.process_exit import contained_exits
from proctor.errors import ProctorError, SetupError, unknown_name
from proctor.runs.arguments import AgentLike
from proctor.runs.conformance.conversation import (
    ConformanceError,
    NotApplicableError,
    Subject,
    call_optional,
    case_with_messages,
)
from proctor.runs.conformance.requirements import CHECKS, Check
from proctor.runs.load import load_agent, load_eval_set
from proctor.schema.format.case import EvalCase

__all__ = ["CHECKS", "Check", "Finding", "Fit", "check_agent", "run_check"]

MESSAGES = ("Hello!", "What can you do?")
"""The user messages if no conversations are given."""

TURN_SECONDS = 60.0
"""The time limit of one turn."""
_MOST_CASES = 5


class Fit(StrEnum):
    """The result of a check."""

    OK = "ok"
    FAILED = "failed"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True)
class Finding:
    """The finding of one check."""

    name: str
    shows: str
    fit: Fit
    evidence: str = ""
    """What the agent did instead, or why the check does not apply."""


async def check_agent(
    agent: AgentLike,
    *,
    messages: Sequence[str] = MESSAGES,
    eval_set: str | Path | None = None,
    failing: str | None = None,
    timeout: float = TURN_SECONDS,  # noqa: ASYNC109 - of one turn, not of this call
    only: Sequence[str] = (),
) -> list[Finding]:
    """Run every check against an agent; the agent is opened again for each check.

    `messages` are the user messages, one per turn; with an `eval_set` its first conversations, up to five, replace them. `failing` is a
    message that makes the agent fail. `timeout` is for one turn, in seconds. `only` names the checks to run.

    Raises:
        AgentLoadError: the agent cannot be loaded or opened.
        SetupError: no check has this name, or the eval set has no conversation.
    """
    cases = conversations(messages, eval_set)
    for name in only:
        if name not in (known := [check.name for check in CHECKS]):
            raise unknown_name("check", name, known)
    chosen = [check for check in CHECKS if not only or check.name in only]
    return [await run_check(check, agent, cases, failing=failing, timeout=timeout) for check in chosen]


def conversations(messages: Sequence[str], eval_set: str | Path | None) -> list[EvalCase]:
    """Return the conversations for the checks: those of a set, else one of the messages.

    Raises:
        SetupError: the set has no conversation.
    """
    if eval_set is None:
        return [case_with_messages(messages)]
    cases = [case for case in load_eval_set(eval_set).eval_cases if case.conversation]
    if not cases:
        raise SetupError(f"{eval_set} has no case with a conversation, and scenarios are not played here")
    return cases[:_MOST_CASES]


async def run_check(
    check: Check,
    agent: AgentLike,
    cases: Sequence[EvalCase],
    *,
    failing: str | None = None,
    timeout: float = TURN_SECONDS,  # noqa: ASYNC109 - of one turn, not of this call
) -> Finding:
    """Open the agent and run one check against it.

    Raises:
        AgentLoadError: the agent cannot be loaded or opened.
    """
    loaded = load_agent(agent)
    await call_optional(loaded, "open")
    fit, evidence = Fit.OK, ""
    try:
        with contained_exits():
            await check.run(Subject(loaded, cases, timeout, failing))
    except NotApplicableError as why:
        fit, evidence = Fit.NOT_APPLICABLE, str(why)
    except ConformanceError as why:
        fit, evidence = Fit.FAILED, str(why)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - any exception of the agent is the finding
        fit = Fit.FAILED
        evidence = (
            safe_str(error)
            if isinstance(error, ProctorError)
            else f"{type(error).__name__}: {safe_str(error)}"
        )
        evidence = ", ".join([evidence, *getattr(error, "__notes__", ())])
    finally:
        await call_optional(loaded, "close")
    return Finding(check.name, check.shows, fit, evidence)
