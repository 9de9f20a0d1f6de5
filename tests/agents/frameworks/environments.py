"""Where frameworks are installed: in an environment in addition to the main one, made by `make frameworks`.

`ENVIRONMENT-NAME` is filled from `requirements/NAME.txt`. What the main environment has (pydantic-ai, for the judges) and
google-adk (`make adk`) need none. google-adk[eval] does not resolve together with the others (`make adk-eval`).
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FRAMEWORKS, ADK_EVAL = "frameworks", "adk-eval"
"""Of `requirements/NAME.txt`, and targets of the Makefile."""


def python_of(environment: str) -> Path:
    """Return the interpreter of an environment; that of the main one for an empty name. It may not be there."""
    return Path(f"{sys.prefix}-{environment}" if environment else sys.prefix, "bin", "python")


def skip_without(environment: str) -> None:
    """Skip a test whose environment is not there (under PROCTOR_REQUIRE_ALL that is a failure)."""
    if not python_of(environment).exists():
        pytest.skip(f"the environment of {environment} is not installed: make {environment}")


def is_installed(module: str) -> bool:
    """True where this interpreter has a module, which may be one of a package."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def variables_with_bytecode() -> dict[str, str]:
    """Return the variables of a process that may write bytecode, for those that follow: the installation wrote none."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def run_in(
    environment: str, *arguments: str, cwd: Path = ROOT, seconds: float = 480
) -> subprocess.CompletedProcess[str]:
    """Run `python ARGUMENTS` there, with this repository's code and nothing else of this process's path."""
    return subprocess.run(
        [str(python_of(environment)), *arguments],
        cwd=cwd,
        env={**variables_with_bytecode(), "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
