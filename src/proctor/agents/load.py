"""Load the agent under test from an AGENT string or an object."""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from difflib import get_close_matches
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, cast

from proctor.agents.adapt import as_agent, framework_of, is_adk_app
from proctor.agents.base import Agent
from proctor.agents.import_user_code import (
    import_error_context,
    import_folder,
    import_module_path,
    imported_late,
    read_anew_next_time,
)
from proctor.agents.reference import CONFIG_FILE, Reference, is_package, read_reference
from proctor.common.registry import AGENTS
from proctor.errors import AgentLoadError, did_you_mean

EXPOSED = ("root_agent", "get_agent_async", "app")
"""The names of the agent in a module; the first one that exists counts."""


def load_agent(ref: object, *, agent_name: str | None = None) -> Agent:
    """Load the agent under test.

    `ref` is an AGENT string or a path (a folder, a file, a dotted module, `module:attribute`, a plug-in's name), or
    an object: an Agent, a function, a google-adk agent or app, a module. `agent_name` picks a sub-agent by its name.
    For a string, `.env` in or above the agent's folder is read first.

    Raises:
        AgentLoadError: it does not exist, cannot be imported (the message has the cause), or is not an agent.
        MissingExtraError: it needs an optional package.
    """
    if not isinstance(ref, str | Path):
        target = _exported_agent(ref, describe_ref(ref)) if isinstance(ref, ModuleType) else ref
        return as_agent(target, label=describe_ref(ref), agent_name=agent_name)
    reference = read_reference(str(ref))
    if reference.plugin:
        return _plugin(reference, agent_name)
    folder = reference.folder
    if folder is not None:
        read_env_file(folder)
    with read_anew_next_time(folder):
        # a module's `__getattr__` is user code, too
        with import_error_context(reference):
            target = _find_agent(reference)
        return as_agent(target, label=reference.label, agent_name=agent_name)


def imports_of(ref: object) -> AbstractContextManager[None]:
    """Return a context in which the imports of the agent `ref` resolve from its own folders; no effect for an object."""
    if not isinstance(ref, str | Path):
        return imported_late()
    try:
        return imported_late(*read_reference(str(ref)).roots)
    except AgentLoadError:
        return imported_late()


def agent_folder(ref: object) -> Path | None:
    """Return the folder of an agent, for its `.env` and for the ids of eval sets in it; never raises.

    `None` for a plug-in, an object that was not defined in a file, or a missing file.
    """
    if isinstance(ref, str | Path):
        try:
            return read_reference(str(ref)).folder
        except AgentLoadError:
            return None
    try:
        file = inspect.getsourcefile(cast("Any", ref) if _has_code(ref) else type(ref))
    except (TypeError, OSError):  # OSError: a class of `python -c` or of a prompt
        return None
    library = not _has_code(ref) and (framework_of(ref) is not None or type(ref).__module__ == "builtins")
    return Path(file).resolve().parent if file and not library else None


def describe_ref(ref: object) -> str:
    """Return the printed name of an agent, which does not depend on the spelling of the reference; never raises."""
    if isinstance(ref, str | Path):
        try:
            return read_reference(str(ref)).label
        except AgentLoadError:
            return str(ref)
    if isinstance(ref, ModuleType):
        return ref.__name__.removesuffix(".agent")
    name = getattr(ref, "name", None) or getattr(ref, "__name__", None)
    return name if isinstance(name, str) else type(ref).__name__


def _has_code(ref: object) -> bool:
    return isinstance(ref, ModuleType) or inspect.isroutine(ref) or inspect.isclass(ref)


def _plugin(reference: Reference, agent_name: str | None) -> Agent:
    if agent_name is not None:
        raise AgentLoadError(
            f"The agent {reference.label} has no sub-agents; it was asked for {agent_name!r}."
        )
    agent: Agent = AGENTS.make(reference.plugin, reference.rest)
    return agent


# --- modules ---------------------------------------------------------------------------------------------------------


def _config_file(reference: Reference) -> Path | None:
    """Return the YAML file of a reference: the file itself, or one in a folder whose Python code exposes no agent."""
    file = reference.file
    if file is None or reference.attribute:
        return None
    if file.suffix in (".yaml", ".yml"):
        return file
    config = file / CONFIG_FILE
    if not config.is_file() or (file / "agent.py").is_file() or is_package(file / "agent"):
        return None
    return None if is_package(file) and _exposes(import_folder(file)) else config


def _find_agent(reference: Reference) -> object:
    """Return the object that a reference names."""
    if (config := _config_file(reference)) is not None:
        from proctor.agents.adk.agent import load_config_file

        return load_config_file(config)
    module = _import_dotted(reference) if reference.module else _import_file(reference)
    return _attribute(module, reference)


def _import_dotted(reference: Reference) -> ModuleType:
    """Import a dotted module, and its `agent` submodule if only that one has the agent."""
    module = import_module_path(reference.module)
    _reject_standard_module(module, reference)
    if not _exposes(module) and _has_submodule(module):
        import_module_path(f"{reference.module}.agent")
    return module


def _import_file(reference: Reference) -> ModuleType:
    """Import a file, or a folder and its `agent` submodule if only that one has the agent."""
    file, folder = reference.file, reference.folder
    if file is None or folder is None or (file.suffix != ".py" and file != folder):
        raise _no_such_file(reference)
    if file != folder and file.stem != "__init__":
        return import_folder(folder, file.stem)
    if not is_package(folder) and not (folder / "agent.py").is_file():
        raise _no_agent_in(folder)
    module = import_folder(folder)
    if not _exposes(module) and _has_submodule(module):
        import_folder(folder, "agent")
    return module


def _reject_standard_module(module: ModuleType, reference: Reference) -> None:
    """Reject a module of the standard library that was imported instead of the user's file of that name."""
    file = reference.file
    is_own = reference.module.partition(".")[0] in sys.stdlib_module_names
    if is_own and file is not None and Path.cwd() in file.parents and not _exposes(module):
        there = file.relative_to(Path.cwd())
        meant = f"{there}:{reference.attribute}" if reference.attribute else f"{there}"
        raise AgentLoadError(
            f"The agent {reference.text!r} is Python's own module {module.__name__}, and no agent. Write {meant}."
        )


def _exposes(module: object) -> bool:
    return any(hasattr(owner, name) for owner in (module, getattr(module, "agent", None)) for name in EXPOSED)


def _has_submodule(module: ModuleType) -> bool:
    """Return whether there is an `agent` submodule that the package did not import itself."""
    folders = [Path(folder) for folder in getattr(module, "__path__", ())]
    return any((folder / "agent.py").is_file() or is_package(folder / "agent") for folder in folders)


def _no_such_file(reference: Reference) -> AgentLoadError:
    path = reference.path or Path()
    if path.exists():
        return AgentLoadError(f"The agent {reference.text!r} is not a Python file, a YAML file or a folder.")
    missing = path
    while not missing.parent.is_dir():
        missing = missing.parent
    siblings = [entry.name for entry in missing.parent.iterdir()]
    return AgentLoadError(
        f"The agent {reference.text!r} is not there: no file or folder {missing}.{did_you_mean(missing.name, siblings)}"
    )


def _no_agent_in(folder: Path) -> AgentLoadError:
    inside = sorted(
        {entry.parent.name for name in ("agent.py", CONFIG_FILE) for entry in folder.glob(f"*/{name}")}
    )
    hint = f" There are agents in its folders {', '.join(inside)}: name one of them." if inside else ""
    return AgentLoadError(
        f"The folder {folder} is not an agent: it has neither agent.py nor __init__.py nor {CONFIG_FILE}.{hint}"
    )


def _attribute(module: ModuleType, reference: Reference) -> object:
    """Return the named attribute of the module, or the agent that the module exposes."""
    names = reference.attribute.split(".") if reference.attribute else []
    # google-adk's layout: the `agent` submodule has what the package does not have
    inner = getattr(module, "agent", None)
    is_inside = bool(names) and not hasattr(module, names[0]) and hasattr(inner, names[0])
    owner: object = inner if is_inside and isinstance(inner, ModuleType) else module
    for name in names:
        if not hasattr(owner, name):
            raise _no_attribute(owner, name, reference)
        owner = getattr(owner, name)
    return _exported_agent(owner, reference.label) if isinstance(owner, ModuleType) else owner


def _no_attribute(owner: object, name: str, reference: Reference) -> AgentLoadError:
    owner_name = owner.__name__ if isinstance(owner, ModuleType) else type(owner).__name__
    known = [known for known in dir(owner) if not known.startswith("_")]
    return AgentLoadError(
        f"The agent {reference.text!r} cannot be loaded: {owner_name} has no {name!r}.{did_you_mean(name, known)}"
    )


def _exported_agent(module: ModuleType, label: str) -> object:
    for owner in (module, getattr(module, "agent", None)):
        for name in EXPOSED:
            if (exposed := getattr(owner, name, None)) is not None:
                app = getattr(owner, "app", None)
                # an app of this root agent adds plug-ins and settings
                return app if is_adk_app(app) and getattr(app, "root_agent", None) is exposed else exposed
    raise _no_agent_error(module, label)


def _no_agent_error(module: ModuleType, label: str) -> AgentLoadError:
    candidates = _likely_agents(module)
    missing = f"The agent {label} has none of {', '.join(EXPOSED)}."
    if not candidates:
        return AgentLoadError(
            f"{missing} Define one: def root_agent(text): ... Or name the agent: module:attribute."
        )
    meant = " or ".join(map(repr, candidates[:3]))
    return AgentLoadError(
        f"{missing} Did you mean {meant}? Add the line `root_agent = {candidates[0]}` to the file, "
        f"or give {_module_spelling(module)}:{candidates[0]} as the agent."
    )


def _likely_agents(module: ModuleType) -> list[str]:
    """Return the names in a module that may be meant: agents of a framework, near spellings, or its own functions."""
    public = [name for name in vars(module) if not name.startswith("_")]
    agents = [name for name in public if framework_of(vars(module)[name]) is not None]
    close = agents or [near for name in EXPOSED for near in get_close_matches(name, public, n=1)]
    return close or _functions_that_may_answer(module, public)


def _functions_that_may_answer(module: ModuleType, names: Iterable[str]) -> list[str]:
    functions = [name for name in names if _may_answer(vars(module)[name], module)]
    return sorted(functions, key=_likeness_to_agent)


def _may_answer(value: object, module: ModuleType) -> bool:
    """Return whether a value is a function of the module that takes a message."""
    if not isinstance(value, FunctionType) or value.__module__ != module.__name__:
        return False
    return bool(inspect.signature(value).parameters)


_LIKELY_NAMES = ("agent", "answer", "reply", "respond", "chat", "run", "main", "bot")


def _likeness_to_agent(name: str) -> int:
    """Return the rank of a function's name: the names that agents often have come first."""
    return next((rank for rank, word in enumerate(_LIKELY_NAMES) if word in name.lower()), len(_LIKELY_NAMES))


def _module_spelling(module: ModuleType) -> str:
    """Return the spelling of a module in an AGENT string; its own name may not be importable."""
    file = Path(getattr(module, "__file__", None) or module.__name__)
    return str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)


# --- The `.env` file of an agent: keys and settings that the agent's own code reads from the environment --------------


_reported: set[str] = set()
"""Warnings that were given: an agent may be loaded many times."""


def read_env_file(folder: Path) -> Path | None:
    """Read `.env` in `folder` or the nearest folder above it; existing variables keep their values.

    Returns:
        The file that was read.

    Raises:
        AgentLoadError: it cannot be read.
    """
    file = next((file for place in (folder, *folder.parents) if (file := place / ".env").is_file()), None)
    if file is None:
        return None
    from dotenv import load_dotenv

    try:
        with _warnings_name(file):
            load_dotenv(file, override=False)
    except (OSError, ValueError) as error:
        raise AgentLoadError(f"{file} cannot be read: {error}") from error
    return file


@contextmanager
def _warnings_name(file: Path) -> Iterator[None]:
    """Add the name of the file to python-dotenv's warnings about invalid lines; give each warning once."""

    def rewrite(record: logging.LogRecord) -> bool:
        place = str(file).replace("%", "%%")
        record.msg = f"{place}:%s: expected NAME=value; the line is left out"
        message = record.getMessage()
        is_new = message not in _reported
        _reported.add(message)
        return is_new

    logger = logging.getLogger("dotenv.main")
    logger.addFilter(rewrite)
    try:
        yield
    finally:
        logger.removeFilter(rewrite)
