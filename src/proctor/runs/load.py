"""Load eval sets, configs and agents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.runs.argument_types import AgentLike
from proctor.runs.setup.working_folder import agent_code
from proctor.schema.format.case import EvalSet
from proctor.schema.format.config import EvalConfig

if TYPE_CHECKING:
    from proctor.agents.base import Agent


def load_eval_set(
    path: str | Path | EvalSet | Mapping[str, Any], *, allow_duplicate_ids: bool = False
) -> EvalSet:
    """Load a whole eval set: a file (JSON or YAML, any version of the format), or a dict in any form that a file may have.

    Raises:
        EvalFileError: the problems of the file, each with its location.
        SetupError: two cases of an `EvalSet` share an id.
    """
    if not isinstance(path, str | os.PathLike):
        from proctor.runs.setup.inline_eval_sets import given_eval_set

        return given_eval_set(path, allow_duplicate_ids=allow_duplicate_ids)
    from proctor.files.eval_sets.source import load_eval_set as load

    return load(path, allow_duplicate_ids=allow_duplicate_ids)


def load_config(path: str | Path) -> EvalConfig:
    """Read a `test_config.json`.

    Raises:
        EvalFileError: the file is missing or is not a config; each problem has its location.
    """
    from proctor.files.eval_sets.load import load_config as load

    return load(path)[0]


def load_agent(
    ref: AgentLike,
    *,
    agent_name: str | None = None,
    isolate: bool = False,
    isolate_memory: str | int | None = None,
) -> Agent:
    """Load an agent under test from an AGENT string or an object of any recognised kind.

    With `isolate`, worker processes load a Python agent when it is opened, and this process does not. `isolate_memory` is the
    memory limit of each worker (`"2GB"`) and implies `isolate`.

    Raises:
        AgentLoadError: the agent cannot be loaded (the message has the cause), or it is to be isolated and is not a string.
        MissingExtraError: the agent needs an optional package.
    """
    if isolate or isolate_memory is not None:
        from proctor.agents.process.worker_agent import isolated_agent

        return isolated_agent(ref, agent_name=agent_name, memory=isolate_memory)
    from proctor.agents.load import load_agent as load

    with agent_code():
        return load(ref, agent_name=agent_name)


def forget_changed(folder: Path) -> None:
    """Discard the imported modules of an agent whose files have changed, so that the next load imports them again."""
    from proctor.agents.import_user_code import forget_outdated_imports as forget

    forget(folder)
