"""What the module of an agent exposes, as objects: for scripts that run google-adk's agents themselves."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from proctor.agents.import_user_code import import_folder
from proctor.common.async_tools import settle
from proctor.compat.adk.argument_errors import a_path, setup_error

__all__ = ["app_and_root_agent", "reset_function"]


async def app_and_root_agent(agent_folder: str | os.PathLike[str]) -> tuple[Any, Any]:
    """Return the app of an agent's package, or `None`, and its root agent.

    Raises:
        ValueError: the folder is not a package, or its module exposes no agent.
    """
    module = _agent_module(agent_folder)
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
        f"{agent_folder}: expected `app`, `root_agent` or `get_agent_async` in its module, got none"
    )


def reset_function(agent_folder: str | os.PathLike[str]) -> Any:
    """Return `reset_data` of an agent's module, or `None`. Raises ValueError: the folder is not a package."""
    return getattr(_agent_module(agent_folder), "reset_data", None)


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
