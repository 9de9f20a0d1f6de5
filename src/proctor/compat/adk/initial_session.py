"""What runs start from: an agent with services of google-adk, and for old lists of turns the session in a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.agents.adapt import using
from proctor.agents.base import Agent
from proctor.agents.load import describe_ref
from proctor.compat.adk.argument_errors import setup_error
from proctor.engine.planning.plan import Plan
from proctor.engine.planning.set_plan import CaseSource
from proctor.files.eval_sets.convert import read_initial_session
from proctor.files.eval_sets.documents import DocumentKind
from proctor.runs.load import load_agent
from proctor.schema.format.case import EvalCase, SessionInput


def load_with_services(ref: Any, agent_name: str | None, services: Mapping[str, Any]) -> Agent:
    """Load an agent of google-adk that is to run with these services.

    Raises:
        AgentLoadError: it cannot be loaded, or is not an agent of google-adk.
    """
    return using(load_agent(ref, agent_name=agent_name), services, label=describe_ref(ref))


def start_in(plan: Plan, initial_session_file: str | os.PathLike[str]) -> None:
    """Let every case of the plan start in the session of this file.

    Raises:
        SetupError: the file is not a session, or a set of the plan is not a list of turns: other sets contain their own sessions.
    """
    data = {"app_name": "", "user_id": "", **(read_initial_session(Path(initial_session_file)) or {})}
    session = SessionInput.model_validate(data)
    for planned_set in plan.sets:
        if (kind := getattr(planned_set.source, "kind", None)) is not DocumentKind.OLD_TURNS:
            name = planned_set.source.label or planned_set.source.eval_set_id
            message = (
                f"initial_session_file: it is for old lists of turns, and {name} is an {kind or 'eval set'}"
            )
            raise setup_error(f"{message}, which has its sessions in its cases; leave it out")
        planned_set.source = _StartingIn(planned_set.source, session)


class _StartingIn:
    """A source of cases with another session to start in."""

    def __init__(self, source: CaseSource, session: SessionInput) -> None:
        self._source, self._session = source, session
        self.eval_set_id, self.label = source.eval_set_id, source.label
        self.kind = DocumentKind.OLD_TURNS

    def ids(self) -> Sequence[str]:
        """The ids of all cases, in order."""
        return self._source.ids()

    def case(self, index: int) -> EvalCase:
        """Read one case."""
        return self._source.case(index).model_copy(update={"session_input": self._session})

    def where(self, index: int) -> str:
        """`file:line` of a case."""
        return self._source.where(index)

    def __iter__(self) -> Iterator[EvalCase]:
        """Read every case, in order."""
        return map(self.case, range(len(self.ids())))
