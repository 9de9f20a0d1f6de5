"""However a run is executed and wherever it is stored, its export is the same: all published eval sets at once, with a fault."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.agents.frameworks.environments import python_of, variables_with_bytecode
from tests.scenarios.corpus_replay import CONFIG, read_corpus
from tests.stores.postgres.server import PostgresServer, binaries, postgres_server

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1800)]

RAY = python_of("ray")
VOLATILE = {"run_id", "session_id", "started_at", "duration", "total_seconds", "invocation_duration_v1"}
"""Keys whose values differ between two runs of the same kind."""


@pytest.fixture(scope="module")
def folder(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the config, and a file with the options that name the sets."""
    folder = tmp_path_factory.mktemp("exports")
    corpus = shared / "corpus"
    sets = [
        one
        for one in read_corpus(corpus).published
        if one.recorded and not one.scenarios and not one.without_turns
    ]
    words = [*chain(*(["--set", str(corpus / one.file)] for one in sets))]
    (folder / "sets.json").write_text(json.dumps(words))
    (folder / "strict.json").write_text(json.dumps(CONFIG))
    return folder


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    programs = binaries()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    with postgres_server(programs) as running:
        yield running


def start(folder: Path, *words: str, python: str = sys.executable) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [python, "-m", "proctor", *words], cwd=folder, text=True, env=variables_with_bytecode(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def run(folder: Path, url: str, *options: str, python: str = sys.executable, parts: int = 1) -> Any:
    """Run all sets, in so many parts; return the export without what differs between two runs of the same kind."""
    sets = json.loads((folder / "sets.json").read_text())
    command = [
        "eval", "--agent", "replay:other-text", *sets, "--config", "strict.json", "--store", url,
        "--allow-duplicate-ids", "--allow-unknown-keys", "--allow-unasserted", *options,
    ]  # fmt: skip
    members = [
        start(folder, *command, *(["--shard", f"{part}/{parts}", "--join", "all"] if parts > 1 else []), python=python)
        for part in range(1, parts + 1)
    ]  # fmt: skip
    for member in members:
        output, errors = member.communicate(timeout=900)
        assert member.returncode == 1, output[-1000:] + errors[-3000:]
    exported = start(folder, "export", "latest", "--format", "jsonl", "--store", url)
    lines, errors = exported.communicate(timeout=300)
    assert exported.returncode == 0, errors
    return [constant(json.loads(line)) for line in lines.splitlines()]


def constant(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: constant(item) for key, item in value.items() if key not in VOLATILE}
    return [constant(item) for item in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def local(folder: Path) -> Any:
    """The export of a run in this process with a SQLite store."""
    return run(folder, "sqlite:local.db")


WAYS: dict[str, Callable[[Path], Any]] = {
    "again": lambda folder: run(folder, "sqlite:again.db"),
    "workers": lambda folder: run(folder, "sqlite:workers.db", "--on", "processes", "--workers", "2"),
    "parts": lambda folder: run(folder, "sqlite:parts.db", parts=3),
}


@pytest.mark.parametrize("way", WAYS)
def test_export_is_that_of_a_local_run(folder: Path, local: Any, way: str) -> None:
    assert WAYS[way](folder) == local


@pytest.mark.parametrize("parts", [1, 3])
def test_export_of_postgresql_is_that_of_sqlite(
    folder: Path, local: Any, server: PostgresServer, parts: int
) -> None:
    assert run(folder, server.new_url(), parts=parts) == local


@pytest.mark.skipif(not RAY.exists(), reason="no environment with Ray (make ray)")
def test_export_of_ray_is_that_of_a_local_run(folder: Path, local: Any) -> None:
    assert run(folder, "sqlite:ray.db", "--on", "ray:local", "--workers", "2", python=str(RAY)) == local
