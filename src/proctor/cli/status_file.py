"""Telling whoever started this process how it went: which run began, or all that is wrong, as data.

A program that starts `proctor eval` names a file in the environment variable PROCTOR_TELL. One JSON document a line is
appended to it: `{"run": ID, "trials": N}` for each run that begins, `{"problems": [{"message", "kind", "file", "path"}]}`
where nothing was run.
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
    """Take the name of the file, so that no process that the agent starts takes it for its own."""
    _file[:] = [name] if (name := os.environ.pop(VARIABLE, "")) else []


def tell_run(run_id: str, trials: int) -> None:
    """Tell that a run has begun."""
    _tell({"run": run_id, "trials": trials})


def tell_problems(problems: Iterable[SetupError]) -> None:
    """Tell all that is wrong; nothing was run."""
    if _file:
        _tell({"problems": [_as_data(problem) for problem in problems]})


def _as_data(problem: SetupError) -> dict[str, Any]:
    path = [str(part) for part in problem.path]
    return {"message": str(problem), "kind": type(problem).__name__, "file": problem.file, "path": path}


def _tell(said: dict[str, Any]) -> None:
    if not _file:
        return
    import json

    with suppress(OSError), Path(_file[0]).open("a", encoding="utf-8") as file:  # whoever asked may have gone
        file.write(json.dumps(said) + "\n")
