"""OpenTelemetry traces as an eval set that expects what the agent did."""

from __future__ import annotations

from pathlib import Path

from proctor.authoring.record import case_of
from proctor.runs.traces.match_cases import ids_of
from proctor.runs.traces.score import TracesLike, read_traces
from proctor.runs.traces.to_trials import session_of, trial_of
from proctor.schema.format.case import EvalSet


def eval_set_of(traces: TracesLike, eval_set_id: str = "traces") -> tuple[EvalSet, list[str]]:
    """Return the conversations of some traces as a set that expects what was done; and those that could not be taken.

    A conversation that ended in an error or is incomplete is left out.

    Raises:
        EvalFileError: a trace cannot be read, or no agent's span is in any.
    """
    paths = [traces] if isinstance(traces, str | Path) else list(traces)
    left: list[str] = []
    cases = []
    found = read_traces(paths).conversations
    for name, conversation in zip(ids_of(found), found, strict=True):
        if conversation.failure is not None:
            left.append(f"{name}: {conversation.failure.cause}")
            continue
        trial = trial_of(conversation, None, eval_set_id)
        if trial.failure is not None:
            left.append(f"{name}: {trial.failure.cause}")
            continue
        cases.append(case_of(name, trial.invocations, session_input=session_of(conversation)))
    return EvalSet(eval_set_id=eval_set_id, eval_cases=cases), left
