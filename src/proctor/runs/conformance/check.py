"""Whether an agent does what Proctor expects of agents: `proctor agent check`, and tests of whoever writes an adapter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from proctor.common.error_text import safe_str
from proctor.common.process_exit import contained_exits
from proctor.errors import ProctorError, SetupError, unknown_name
from proctor.runs.conformance.checks import CHECKS, Check
from proctor.runs.conformance.conversation import (
    ConformanceError,
    NotApplicableError,
    Subject,
    ask,
    case_of,
)
from proctor.runs.load import load_agent, load_eval_set
from proctor.runs.options import AgentLike
from proctor.schema.format.case import EvalCase

__all__ = ["CHECKS", "Check", "Finding", "Fit", "check_agent", "run_check"]

MESSAGES = ("Hello!", "What can you do?")
"""What is said where no conversations are given."""

_MOST_CASES = 5


class Fit(StrEnum):
    """What a check found."""

    OK = "ok"
    FAILED = "failed"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    name: str
    shows: str
    fit: Fit
    evidence: str = ""
    """What the agent did in place of what it should, or why a check has nothing to look at."""


async def check_agent(
    agent: AgentLike,
    *,
    messages: Sequence[str] = MESSAGES,
    eval_set: str | Path | None = None,
    failing: str | None = None,
    timeout: float = 60.0,  # noqa: ASYNC109 - of one turn, not of this call
    only: Sequence[str] = (),
) -> list[Finding]:
    """Check an agent against every rule, each with the agent opened anew.

    `messages` is what the user says, a turn each; or the first conversations of an `eval_set`, up to five. `failing` is a
    message that makes the agent fail. `timeout` is for one turn, in seconds. `only` names the checks to run.

    Raises:
        AgentLoadError: the agent cannot be loaded, or not be opened.
        SetupError: there is no such check, or the eval set has no conversation.
    """
    cases = conversations(messages, eval_set)
    for name in only:
        if name not in (known := [check.name for check in CHECKS]):
            raise unknown_name("check", name, known)
    chosen = [check for check in CHECKS if not only or check.name in only]
    return [await run_check(check, agent, cases, failing=failing, timeout=timeout) for check in chosen]


def conversations(messages: Sequence[str], eval_set: str | Path | None) -> list[EvalCase]:
    """Return what is talked about: the conversations of a set, else the messages.

    Raises:
        SetupError: the set has none.
    """
    if eval_set is None:
        return [case_of(messages)]
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
    timeout: float = 60.0,  # noqa: ASYNC109 - of one turn, not of this call
) -> Finding:
    """Run one check with the agent opened for it.

    Raises:
        AgentLoadError: it cannot be loaded, or not be opened.
    """
    loaded = load_agent(agent)
    await ask(loaded, "open")
    fit, evidence = Fit.OK, ""
    try:
        with contained_exits():
            await check.run(Subject(loaded, cases, timeout, failing))
    except NotApplicableError as why:
        fit, evidence = Fit.NOT_APPLICABLE, str(why)
    except ConformanceError as why:
        fit, evidence = Fit.FAILED, str(why)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever an agent raises is what the check found
        fit = Fit.FAILED
        evidence = (
            safe_str(error)
            if isinstance(error, ProctorError)
            else f"{type(error).__name__}: {safe_str(error)}"
        )
        evidence = ", ".join([evidence, *getattr(error, "__notes__", ())])
    finally:
        await ask(loaded, "close")
    return Finding(check.name, check.shows, fit, evidence)
