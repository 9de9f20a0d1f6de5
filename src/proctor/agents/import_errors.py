"""Messages for failed imports: the exception, the line of the user's code, and a hint."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from proctor.agents.reference import Reference, find_module, shorten
from proctor.common.error_text import safe_str
from proctor.common.registry import AGENTS
from proctor.common.secrets import hide_secrets
from proctor.errors import AgentLoadError, SetupError, did_you_mean

_EXTRAS = {
    "google": "adk",
    "pydantic_ai": "pydantic-ai",
    "agents": "openai-agents",
    "langgraph": "langgraph",
    "langchain_core": "langgraph",
}
"""Packages that users' agents import -> the extra that brings them."""

_OURS = str(Path(__file__).resolve().parent)


@contextmanager
def import_error_context(reference: Reference) -> Iterator[None]:
    """Convert exceptions of an import to an AgentLoadError with the cause; Ctrl-C passes through."""
    try:
        yield
    except (SetupError, KeyboardInterrupt):
        raise
    except ModuleNotFoundError as error:
        if reference.module and error.name and f"{reference.module}.".startswith(f"{error.name}."):
            raise AgentLoadError(_no_module(reference, error.name)) from error
        raise AgentLoadError(_message(reference, error)) from error
    except BaseException as error:  # SystemExit too: a script that ends itself when imported
        raise AgentLoadError(_message(reference, error)) from error


def _message(reference: Reference, error: BaseException) -> str:
    lines = [f"The agent {reference.label} cannot be loaded: {type(error).__name__}: {_text(error)}"]
    if (place := _place(error, reference)) is not None:
        file, line = place
        code = linecache.getline(file, line).strip()
        lines.append(f"  at {_short(file)}:{line}" + (f": {code}" if code else ""))
    if hint := _hint(error, reference):
        lines.append(f"  {hint}")
    return hide_secrets("\n".join(lines))


def _text(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return error.msg  # its text repeats file and line
    return safe_str(error) or "no message"


def _place(error: BaseException, reference: Reference) -> tuple[str, int] | None:
    """Return the last line of the agent's own code that the import reached, else of any code but Python's and ours."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return error.filename, error.lineno
    lines = [place for place in _lines(error.__traceback__) if not _is_machinery(place[0])]
    root = reference.folder
    own = [place for place in lines if root is not None and Path(place[0]).is_relative_to(root)]
    chosen = own or lines
    return chosen[-1] if chosen else None


def _lines(traceback: TracebackType | None) -> Iterator[tuple[str, int]]:
    while traceback is not None:
        yield traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next


def _is_machinery(file: str) -> bool:
    return file.startswith(("<frozen ", _OURS)) or "importlib" in Path(file).parts


def _short(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def _hint(error: BaseException, reference: Reference) -> str:
    if isinstance(error, SystemExit):
        return "It ends the program when it is imported; put that under: if __name__ == '__main__'."
    if isinstance(error, ImportError) and "beyond top-level package" in str(error):
        return "Name it as a dotted module, from the folder of its topmost package: package.subpackage.agent"
    if (
        isinstance(error, ImportError)
        and "partially initialized module" in str(error)
        and _imports_itself(error)
    ):
        name = reference.file.stem if reference.file is not None else reference.label
        return f"Is there a package called {name}, too? Then this file hides it: rename the file."
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return ""
    first = error.name.partition(".")[0]
    folder = reference.folder
    if folder is not None and (
        (folder / f"{first}.py").is_file() or (folder / first / "__init__.py").is_file()
    ):
        return f"{first} is in the agent's own folder: write `from . import {first}`."
    if first in _EXTRAS:
        return f"Run: pip install 'proctor[{_EXTRAS[first]}]'"
    return f"Install what brings {first!r} into the Python that runs Proctor ({Path(sys.executable).name})."


def _imports_itself(error: ImportError) -> bool:
    """Whether a file met itself under the name of a package; modules that import each other are another mistake."""
    where = [file for file, _ in _lines(error.__traceback__) if not _is_machinery(file)]
    return error.path is None or bool(where and where[-1] == error.path)


def _no_module(reference: Reference, missing: str) -> str:
    """Return the hint if the agent's module itself is missing: the missing part of its name, and similar names."""
    parent, _, name = missing.rpartition(".")
    if hasattr(sys.modules.get(parent), name):
        return f"The agent {reference.text!r} is not there: {name} is not a module. Write {parent}:{name}."
    where = f"in the package {parent}" if parent else f"in {Path.cwd()} and among the installed packages"
    paths = getattr(sys.modules.get(parent), "__path__", None) if parent else [str(Path.cwd())]
    from pkgutil import iter_modules  # needed for this message only

    if parent and find_module(parent) is not None and (file := find_module(missing)) is not None:
        return f"The agent {reference.text!r} is not there: {parent} is another package. Write {_short(str(file))}."
    near = [found.name for found in iter_modules(paths)] if paths else []
    if not parent:
        near += [entry.name for entry in Path.cwd().iterdir() if (entry / "agent.py").is_file()]
        near += AGENTS.names()
    prefix = f", and no prefix {name}:" if reference.attribute and name == reference.module else ""
    return (
        f"The agent {shorten(reference.text)!r} is not there: no module or folder {shorten(name)!r} {where}{prefix}."
        f"{did_you_mean(name, near)}"
    )
