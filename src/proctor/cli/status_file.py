"""Machine-readable status for the program that started this process: the run that began, or the configuration errors.

A program that starts `proctor eval` names a file in the environment variable PROCTOR_TELL. Proctor appends one JSON document
per line: `{"run": ID, "trials": N}` for each run that begins, or `{"problems": [{"message", "kind", "file", "path"}]}` if
nothing was run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from proctor.errors import SetupError

VARIABLE = "PROCTOR_TELL"

_file: list[str] = []


def listen_to_environment() -> None:
    """Read the file name and remove the variable, so that child processes of the agent do not write to the file."""
    _file[:] = [name] if (name := os.environ.pop(VARIABLE, "")) else []


def tell_run(run_id: str, trials: int) -> None:
    """Report that a run has begun."""
    _tell({"run": run_id, "trials": trials})


def tell_problems(problems: Iterable[SetupError]) -> None:
    """Report configuration errors; nothing was run."""
    if _file:
        _tell({"problems": [_as_data(problem) for problem in problems]})


def _as_data(problem: SetupError) -> dict[str, Any]:
    path = [str(part) for part in problem.path]
    return {"message": str(problem), "kind": type(problem).__name__, "file": problem.file, "path": path}


def _tell(said: dict[str, Any]) -> None:
    if not _file:
        return
    import json

    with suppress(OSError), Path(_file[0]).open("a", encoding="utf-8") as file:  # the reader may have ended
        file.write(json.dumps(said) + "\n")
