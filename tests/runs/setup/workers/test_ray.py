"""`--on ray:…`: the trials of a run on workers that Ray places, with a real cluster on this machine."""

import os
import signal
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import proctor
from benchmarks.workers import processes_of
from tests.agents.frameworks.environments import python_of, variables_with_bytecode
from tests.cli.project import case, make_project
from tests.runs.setup.workers.test_processes import Project, comparable

PYTHON = python_of("ray")
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not PYTHON.exists(), reason="the environment of ray is not installed: make ray"),
    pytest.mark.timeout(600),
]


def new_project(folder: Path, count: int, on: str = "ray:local") -> Project:
    return Project(folder, *(f"n{number}" for number in range(count)), on=on, python=str(PYTHON))


def wait_until_stored(project: Project, least: int, head: "subprocess.Popen[str]") -> None:
    """Wait until so many trials are stored; a busy machine takes a minute to start a cluster."""
    until = time.monotonic() + 240
    while not project.has_stored(least):
        assert head.poll() is None, head.communicate()[0]
        assert time.monotonic() < until
        time.sleep(0.2)


def test_evidence_and_verdicts_are_those_of_a_run_in_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_project(
        tmp_path,
        case("hello", "hello"),
        case("letters", "caf\u00e9 \U0001f30d"),
        case("crash", "crash"),
        case("print", "print"),
        case("no call", "no call"),
        case("too long", "sleep 30"),
    )
    here = proctor.evaluate_sync("agent.py", "cases.evalset.json", timeout=2.0, store="here.db")
    command = [
        "-m", "proctor", "eval", "agent.py", "cases.evalset.json", "--timeout", "2", "--store", "there.db",
        "--on", "ray:local", "--workers", "2",
    ]  # fmt: skip
    there = subprocess.run(
        [str(PYTHON), *command], capture_output=True, text=True, check=False, env=variables_with_bytecode()
    )
    assert there.returncode == here.exit_code, there.stderr
    loaded = proctor.load_run("latest", store="there.db")
    assert comparable(loaded) == comparable(proctor.load_run("latest", store="here.db"))


def test_workers_are_killed_and_no_finished_trial_is_lost_or_repeated(tmp_path: Path) -> None:
    kills = 4
    project = new_project(tmp_path, 10 + 8 * kills)
    head = project.eval()
    finished: Counter[str] = Counter()
    for kill in range(kills):
        wait_until_stored(project, 4 + 8 * kill, head)
        stored, begun = project.stored(), project.begun()
        finished.update({text: begun[text] for text in stored - finished.keys()})
        for words in ("trial_server", "ray::HostedWorker")[kill % 2 :]:
            if found := processes_of(head.pid, words):
                os.kill(found[-1], signal.SIGKILL)
                break
    output, _ = head.communicate(timeout=240)
    assert head.returncode == 0, output
    begun = project.begun()
    assert len(project.stored()) == len(begun) == 10 + 8 * kills
    assert {text: begun[text] for text in finished} == finished
    assert begun.total() <= len(begun) + 2 * kills
    assert "lost and replaced" in output


def test_the_head_is_killed_and_resume_on_the_cluster_repeats_no_finished_trial(tmp_path: Path) -> None:
    project = new_project(tmp_path, 30)
    head = project.eval()
    wait_until_stored(project, 6, head)
    head.kill()
    head.communicate()
    stored, before = project.stored(), project.begun()
    output, _ = (second := project.start("resume")).communicate(timeout=240)
    assert second.returncode == 0, output
    begun = project.begun()
    assert len(project.stored()) == 30
    assert {text: begun[text] for text in stored} == {text: before[text] for text in stored}
    assert begun.total() <= 30 + 4


TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "a-token-of-this-test-only-0123456789"}


@pytest.fixture(scope="module")
def cluster_with_token(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a cluster that requires a token, and return its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["start", "--head", "--block", f"--port={port}", "--include-dashboard=false", "--num-cpus=1"]
    folder = tmp_path_factory.getbasetemp().parent / "ray"  # a socket in it has a short path
    for _ in range(4):  # Ray gives a cluster 30 seconds to start
        head = subprocess.Popen(
            [str(PYTHON.with_name("ray")), *words, f"--temp-dir={folder}", "--disable-usage-stats"],
            env=variables_with_bytecode() | TOKEN, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert head.stdout is not None
        if any("Ray runtime started" in line for line in head.stdout):
            yield f"127.0.0.1:{port}"
            head.terminate()
            head.communicate(timeout=60)
            return
        head.communicate()
    raise AssertionError("Ray has started no cluster")


@pytest.mark.parametrize(
    "token", [{}, TOKEN | {"RAY_AUTH_TOKEN": "not-the-token-of-the-cluster-012345"}], ids=["missing", "wrong"]
)
def test_a_missing_or_wrong_token_is_one_message_before_the_run(
    tmp_path: Path, cluster_with_token: str, token: dict[str, str]
) -> None:
    make_project(tmp_path, case("hello", "hello"))
    refused = subprocess.run(
        [str(PYTHON), "-m", "proctor", "eval", "agent.py", "cases.evalset.json", "--on", "ray:auto", "--store", "runs.db"],
        cwd=tmp_path, env=variables_with_bytecode() | token | {"RAY_ADDRESS": cluster_with_token},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert refused.returncode == 2
    assert TOKEN["RAY_AUTH_TOKEN"] not in refused.stdout + refused.stderr
    # other lines are warnings of Ray: one for each attempt to connect
    (line,) = [line for line in refused.stderr.splitlines() if line.startswith("error: ")]
    assert line.startswith("error: on: the cluster of Ray at ray:auto cannot be used: ")
    assert line.endswith("if it requires a token, that RAY_AUTH_MODE=token and RAY_AUTH_TOKEN are set")
