"""As `google.adk.cli.cli_eval`: what scripts around evaluations import of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from proctor.agents.import_user_code import import_folder
from proctor.common.async_tools import settle
from proctor.compat.adk.argument_errors import a_model, a_path, setup_error
from proctor.compat.adk.case_printing import print_case_result
from proctor.compat.adk.evaluation.eval_sets_manager import EvalSetsManager
from proctor.compat.adk.evaluation.local_eval_sets_manager import LocalEvalSetsManager
from proctor.files.eval_sets.selectors import split_selectors
from proctor.schema.format.criterion import PrebuiltMetrics
from proctor.schema.format.result import EvalCaseResult

__all__ = [
    "DEFAULT_CRITERIA",
    "EVAL_SESSION_ID_PREFIX",
    "FINAL_RESPONSE_MATCH_V2",
    "RESPONSE_EVALUATION_SCORE_KEY",
    "RESPONSE_MATCH_SCORE_KEY",
    "SAFETY_V1_KEY",
    "TOOL_TRAJECTORY_SCORE_KEY",
    "get_app_or_root_agent",
    "get_eval_sets_manager",
    "get_root_agent",
    "parse_and_get_evals_to_run",
    "pretty_print_eval_result",
    "try_get_reset_func",
]

TOOL_TRAJECTORY_SCORE_KEY = PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE.value
RESPONSE_MATCH_SCORE_KEY = PrebuiltMetrics.RESPONSE_MATCH_SCORE.value
SAFETY_V1_KEY = PrebuiltMetrics.SAFETY_V1.value
FINAL_RESPONSE_MATCH_V2 = PrebuiltMetrics.FINAL_RESPONSE_MATCH_V2.value
RESPONSE_EVALUATION_SCORE_KEY = PrebuiltMetrics.RESPONSE_EVALUATION_SCORE.value

EVAL_SESSION_ID_PREFIX = "adk-eval-session-"
"""What the ids of sessions begin with that google-adk makes for evaluations."""

DEFAULT_CRITERIA = {TOOL_TRAJECTORY_SCORE_KEY: 1.0, RESPONSE_MATCH_SCORE_KEY: 0.8}
"""What applies without a config."""


async def get_app_or_root_agent(agent_module_file_path: str) -> tuple[Any, Any]:
    """Return the app of the agent in a folder, or `None`, and its root agent.

    Raises:
        ValueError: the folder is not a package, or its module exposes no agent.
    """
    module = _agent_module(agent_module_file_path)
    app: Any = getattr(module, "app", None)
    apps = sys.modules.get("google.adk.apps.app")  # the agent's module has imported it if `app` is an `App`
    if apps is not None and isinstance(app, apps.App):
        return app, app.root_agent
    if hasattr(module, "root_agent"):
        return None, module.root_agent
    if hasattr(module, "get_agent_async"):
        agent, _ = await settle(module.get_agent_async())
        return None, agent
    raise setup_error(
        f"{agent_module_file_path}: expected `app`, `root_agent` or `get_agent_async` in its module, got none"
    )


async def get_root_agent(agent_module_file_path: str) -> Any:
    """Return the root agent in a folder. Raises ValueError as `get_app_or_root_agent`."""
    return (await get_app_or_root_agent(agent_module_file_path))[1]


def try_get_reset_func(agent_module_file_path: str) -> Any:
    """Return `reset_data` of the agent's module, or `None`. Raises ValueError: the folder is not a package."""
    return getattr(_agent_module(agent_module_file_path), "reset_data", None)


def _agent_module(agent_folder: str | os.PathLike[str]) -> ModuleType:
    """Import an agent's folder; return its submodule `agent` where there is one."""
    folder = Path(a_path(agent_folder, "agent_module_file_path"))
    if not (folder / "__init__.py").is_file():
        raise setup_error(f"agent_module_file_path: expected a folder with an __init__.py, got {folder}")
    package = import_folder(folder)
    module = getattr(package, "agent", None)
    if not isinstance(module, ModuleType) and (folder / "agent.py").is_file():
        module = import_folder(folder, "agent")
    return module if isinstance(module, ModuleType) else package


def parse_and_get_evals_to_run(evals_to_run_info: Sequence[str]) -> dict[str, list[str]]:
    """Return sets and their cases as a command line names them: `set`, or `set:case_1,case_2`."""
    return split_selectors(evals_to_run_info)


def pretty_print_eval_result(eval_result: EvalCaseResult) -> None:
    """Print the result of a case: its metrics, and the messages and tool calls of each invocation."""
    print_case_result(a_model(EvalCaseResult, eval_result, "eval_result"))


def get_eval_sets_manager(
    eval_storage_uri: str | None, agents_dir: str | os.PathLike[str]
) -> EvalSetsManager:
    """Return the manager of the sets in a bucket (`gs://BUCKET`, `s3://BUCKET`), or in the agents' folders.

    Raises:
        ValueError: the address is of another kind, the bucket is not there, or the package for it is missing.
    """
    if not eval_storage_uri:
        return LocalEvalSetsManager(agents_dir)
    scheme, _, rest = eval_storage_uri.partition("://")
    bucket = rest.partition("/")[0]
    if scheme == "gs" and bucket:
        from proctor.compat.adk.evaluation.gcs_eval_sets_manager import GcsEvalSetsManager

        return GcsEvalSetsManager(bucket)
    if scheme == "s3" and bucket:
        from proctor.compat.adk.evaluation.s3_eval_sets_manager import S3EvalSetsManager

        return S3EvalSetsManager(bucket)
    raise setup_error(f"eval_storage_uri: expected gs://BUCKET or s3://BUCKET, got {eval_storage_uri!r}")
