"""W1: what an installation takes on disk, with everything that it needs: ours, and those of peers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.measuring import ROOT
from benchmarks.table import OURS, Budget, Row

TOOLS = ("pip", "setuptools", "wheel", "_distutils_hack", "distutils-precedence.pth")
"""What an environment has before anything is installed into it."""
BUDGETS = [Budget(30, size="30 MB"), Budget(30 / 16, "pydantic-evals")]


def rows(folder: Path, peers: Mapping[str, Path]) -> Iterator[Row]:
    """The sum of all files: what was downloaded, which the budget is about, and with the byte code that pip writes."""
    what = "installed size, core"
    try:
        found = {OURS: sizes(_install(folder / "installed"))}
    except subprocess.CalledProcessError as failed:
        lines = failed.stderr.strip().splitlines() or ["pip failed"]
        yield Row("W1", f"{what} (not measured: {lines[-1]})", "MB", {}, BUDGETS)
        return
    found |= {peer: sizes(_packages_of(python)) for peer, python in peers.items()}
    yield Row("W1", what, "MB", {name: plain for name, (plain, _) in found.items()}, BUDGETS)
    compiled = {name: plain + code for name, (plain, code) in found.items()}
    yield Row("W1", f"{what}, with its byte code", "MB", compiled)


def sizes(folder: Path) -> tuple[float, float]:
    """Return the MB of all files but byte code, and of byte code."""
    plain = code = 0
    for path in folder.rglob("*"):
        if path.is_file() and not path.relative_to(folder).parts[0].startswith(TOOLS):
            if path.suffix == ".pyc":
                code += path.stat().st_size
            else:
                plain += path.stat().st_size
    return plain / 1e6, code / 1e6


def _install(target: Path) -> Path:
    """Install this tree and what it needs, each as locked."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for what in (
        ["--require-hashes", "-r", "requirements/run.txt"],
        ["--no-deps", "--no-build-isolation", "--upgrade", "."],
    ):
        words = [*pip, "--target", str(target), *what]
        subprocess.run(words, check=True, capture_output=True, text=True, cwd=ROOT)
    return target


def _packages_of(python: Path) -> Path:
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    done = subprocess.run([str(python), "-c", asked], check=True, capture_output=True, text=True)
    return Path(done.stdout.strip())
