"""From an exception to a `Failure`: attributed once, at the border it crossed."""

from __future__ import annotations

from collections.abc import Mapping

from proctor.common.error_text import safe_str, traceback_text
from proctor.common.infrastructure_errors import is_infrastructure, is_infrastructure_code
from proctor.common.secrets import hide_secrets
from proctor.errors import (
    AgentCrashedError,
    AgentError,
    AgentRaisedError,
    AgentTruncatedError,
    AgentUnreachableError,
    MetricError,
    MissingExtraError,
)
from proctor.schema.evidence.event import WaitingEvent
from proctor.schema.evidence.simulated_user import faults_in
from proctor.schema.evidence.trial import Failure, FailureKind, Trial, simulator_failure
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.config import EvalConfig
from proctor.schema.results.score import MetricScore
from proctor.simulation.base import WHERE as SIMULATOR, NoMessageError


def failure_from(error: BaseException, *, where: str, turn: int | None = None) -> Failure:
    """Describe what `error` was and where it happened; never raise, even if the exception raises when it is read."""
    if isinstance(error, ReportedError):
        return error.failure(where, turn)
    if isinstance(error, NoMessageError):
        return error.failure.model_copy(update={"turn": turn})
    kind = next((kind for known, kind in _TOLD.items() if isinstance(error, known)), None)
    is_explained = kind is not None or isinstance(error, MissingExtraError)
    return Failure(
        where=where,
        kind=kind or FailureKind.RAISED,
        type=_type_of(error, is_explained=kind is not None),
        message=hide_secrets(_message(error)),
        traceback=_traceback(error, is_explained=is_explained),
        turn=turn,
        infrastructure=is_infrastructure(error),
    )


def _message(error: BaseException) -> str:
    """Return the text of an exception with its notes: a custom metric notes the turn and the answer."""
    notes = getattr(error, "__notes__", None)
    noted = f" ({'; '.join(map(str, notes))})" if isinstance(notes, list) else ""
    return safe_str(error) + noted


def _traceback(error: BaseException, *, is_explained: bool) -> str | None:
    text = (
        (error.traceback if isinstance(error, AgentRaisedError) else None)
        if is_explained
        else traceback_text(error)
    )
    return None if text is None else hide_secrets(text)


def _type_of(error: BaseException, *, is_explained: bool) -> str:
    if isinstance(error, AgentRaisedError):
        return error.type
    return "" if is_explained else type(error).__name__


_TOLD: dict[type[BaseException], FailureKind] = {
    AgentUnreachableError: FailureKind.NOT_CONNECTED,
    AgentTruncatedError: FailureKind.TRUNCATED,
    AgentCrashedError: FailureKind.CRASHED,
    AgentRaisedError: FailureKind.RAISED,
    AgentError: FailureKind.BROKE_CONTRACT,
    MetricError: FailureKind.UNUSABLE_ANSWER,
}
"""Known errors, whose traceback does not help the user, and their kinds; the first that fits counts."""


class ReportedError(Exception):
    """The last event of a turn was an error: there is no answer to score."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message

    def failure(self, where: str, turn: int | None) -> Failure:
        """Return it as data."""
        return Failure(
            where=where,
            kind=FailureKind.UNUSABLE_ANSWER,
            type=self.code,
            message=hide_secrets(self.message),
            turn=turn,
            infrastructure=is_infrastructure_code(self.code),
        )


def reported_error(turn: Turn) -> ReportedError | None:
    """Return the error with which a turn ended, if its last event reports only an error."""
    events = turn.__dict__["events"]
    last = events[-1] if events else None
    if (
        last is None
        or type(last) is WaitingEvent
        or not last.error_code
        or (last.content is not None and last.content.parts)
    ):
        return None
    return ReportedError(last.error_code, last.error_message or "")


def is_retryable(failure: Failure) -> bool:
    """Return whether another attempt may succeed: the failure is an infrastructure error, not the agent's."""
    if failure.kind is FailureKind.NOT_ASKED:
        return False
    return failure.infrastructure or failure.where == SIMULATOR


def timed_out(what: str, seconds: float | None, *, where: str = "agent", turn: int | None = None) -> Failure:
    """Describe a deadline that ran out."""
    limit = f" ({seconds:g} s)" if seconds is not None else ""
    return Failure(
        where=where, kind=FailureKind.TIMED_OUT, message=f"{what}{limit}", turn=turn, infrastructure=True
    )


def user_failure(
    trial: Trial, config: EvalConfig, scores: Mapping[str, MetricScore] | None = None
) -> Failure | None:
    """Return the failure of a trial whose simulated user was at fault; `None` if it was not.

    Rules find faults when the conversation is over, and metrics in the details of their `scores`; the config's
    `user_simulator_config.faults` selects the kinds of faults that count.
    """
    if trial.played_user is None:
        return None
    by_metrics = [fault for score in (scores or {}).values() for fault in faults_in(score.details)]
    simulator = config.user_simulator_config
    faults = [
        fault
        for fault in (*trial.played_user.faults, *by_metrics)
        if simulator is None or simulator.counts(fault.kind)
    ]
    return simulator_failure(faults) if faults else None


def user_timed_out(turn: int | None = None, *, is_blocked: bool) -> Failure:
    """Return the failure of a simulated user that missed its deadline, or blocked the event loop."""
    return timed_out(_USER_BLOCKED if is_blocked else "no answer", None, where=SIMULATOR, turn=turn)


_USER_BLOCKED = (
    "the user's function blocked the event loop and was interrupted; write it as a plain `def` (it then runs in a "
    "thread), or await what it waits for"
)
