"""Agents that are written as YAML files (`root_agent.yaml`): google-adk builds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from proctor.agents.import_user_code import load_in_folder
from proctor.common.error_text import safe_str
from proctor.common.optional_packages import import_extra
from proctor.errors import AgentLoadError


def load_config_file(file: Path) -> Any:
    """Return the agent that a YAML file describes; Python names in it are imported from its folder's package.

    Raises:
        AgentLoadError: the file is not YAML, or does not describe an agent; the message has every problem.
        MissingExtraError: google-adk is not installed.
    """
    reading = import_extra(
        "google.adk.agents.config_agent_utils", extra="adk", feature="An agent that is a YAML file"
    )
    try:
        return load_in_folder(file.parent, lambda: reading.from_config(str(file)))
    except (ImportError, AttributeError) as error:
        raise AgentLoadError(
            f"The agent {file} cannot be loaded: it names something in Python, and {type(error).__name__}: "
            f"{safe_str(error)}\n  Names begin at the agent's folder: {file.parent.name}.tools.my_tool"
        ) from error
    except Exception as error:
        raise AgentLoadError(f"The agent {file} cannot be loaded: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """Return google-adk's message, with one line for each location if it has locations."""
    if (mark := getattr(error, "problem_mark", None)) is not None:
        problem = getattr(error, "problem", None) or "not valid YAML"
        return f"{problem} (line {mark.line + 1}, column {mark.column + 1})"
    if hasattr(error, "errors"):  # pydantic's
        problems = [f"{_place(one['loc'])}: {one['msg']}" for one in error.errors(include_url=False)]
        return "\n  ".join(["it does not describe an agent:", *problems])
    said = safe_str(error)
    if (cause := error.__cause__) is not None and safe_str(cause) not in said:
        said += f" ({type(cause).__name__}: {safe_str(cause)})"
    return said or type(error).__name__


def _place(steps: tuple[object, ...]) -> str:
    return ".".join(map(str, steps)) or "the file"
