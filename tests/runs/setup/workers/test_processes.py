"""`--on processes`: the trials of a run in worker processes of this machine."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.runs.arguments import EvaluateOptions
from proctor.schema.results.run_result import Outcome, RunResult
from tests.agents.frameworks.environments import variables_with_bytecode
from tests.cli.project import case, in_this_process, make_project, write_set

pytestmark = pytest.mark.slow  # processes

LOGGING = """
import asyncio, contextlib, os, stat

async def root_agent(message):
    log = os.open("calls.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(log, f"{message} {os.getpid()}\\n".encode())
    await asyncio.sleep(0.1)
    if message == "poison":
        os.kill(os.getpid(), 9)
    if message == "exit":
        os._exit(0)
    if message == "stray":
        for number in range(3, 30):
            with contextlib.suppress(OSError):
                if stat.S_ISFIFO(os.fstat(number).st_mode):
                    os.write(number, b"stray ")
    os.write(log, f"{message} done\\n".encode())
    os.close(log)
    return f"You sent {message}."
"""
ANSWERS = {"response_match_score": 0.9}


class Project:
    """A folder with an agent that writes the beginning and the end of each call to a log."""

    def __init__(
        self, folder: Path, *messages: str, on: str = "processes", python: str = sys.executable
    ) -> None:
        self.on, self.python = on, python
        self.folder = make_project(folder, *(case(text, text) for text in messages), criteria=ANSWERS)
        (folder / "agent.py").write_text(LOGGING)
        self.store = f"sqlite:{folder / 'runs.db'}"

    def start(self, *command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.python, "-m", "proctor", *command, "--store", self.store, "--on", self.on, "--workers", "2"],
            cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            env=variables_with_bytecode(),
        )  # fmt: skip

    def eval(self) -> subprocess.Popen[str]:
        return self.start("eval", "agent.py", "cases.evalset.json", "--concurrency", "4")

    def log(self) -> list[tuple[str, str]]:
        """Return message and process of each call that began, and message and `done` of each that ended."""
        log = self.folder / "calls.log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [(text, end) for text, _, end in (line.partition(" ") for line in lines)]

    def begun(self) -> Counter[str]:
        return Counter(text for text, end in self.log() if end != "done")

    def listed(self) -> dict[str, Any]:
        """Return the run as `proctor runs` lists it."""
        (found,) = json.loads(in_this_process("runs", "--json", "--store", self.store).stdout)["runs"]
        return dict(found)

    def has_stored(self, least: int) -> bool:
        return len(self.stored()) >= least

    def stored(self) -> set[str]:
        store = proctor.open_store(self.store)
        try:
            return {
                one.eval_id
                for record in store.runs()
                for one in store.briefly(record.run_id)
                if one.outcome is not Outcome.NOT_RUN
            }
        finally:
            store.close()


def wait_until(is_so: Callable[[], object], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def comparable(result: RunResult) -> list[Any]:
    """Return all that a run holds but for times, ids and the frames of tracebacks."""
    found = []
    for one in result.cases:
        trials = []
        for trial in one.trials:
            assert trial.trial is not None
            data = trial.trial.model_dump(
                mode="json", exclude_none=True, exclude={"session_id", "started_at", "duration"}
            )
            for turn in data["turns"]:
                del turn["started_at"]
                turn.pop("duration", None)
            if traceback := (data.get("failure") or {}).get("traceback"):
                data["failure"]["traceback"] = traceback.strip().splitlines()[-2:]
            trials.append((trial.outcome, data))
        scores = {
            name: (verdict.outcome, verdict.score)
            for name, verdict in one.metrics.items()
            if name != "invocation_duration_v1"
        }
        found.append((one.eval_id, one.outcome, one.reason, scores, trials))
    return found


def test_evidence_scores_and_verdicts_are_those_of_a_run_in_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_set(tmp_path / "more.evalset.json", case("again", "again", answer="something else entirely"))
    make_project(
        tmp_path,
        case("hello", "hello"),
        case("letters", "caf\u00e9 \U0001f30d\n two lines\r\n\u2028 end"),
        case("crash", "crash"),
        case("print", "print"),
        case("no call", "no call"),
        case("too long", "sleep 30"),
        case("state", "state", final_session_state={"last": "state"}),
    )
    sets = ["cases.evalset.json", "more.evalset.json"]
    options: EvaluateOptions = {"num_runs": 2, "timeout": 1.0, "keep_evidence": "all"}
    here = proctor.evaluate_sync("agent.py", sets, **options)
    options |= {"on": "processes", "workers": 2}
    there = proctor.evaluate_sync("agent.py", sets, **options)
    assert comparable(there) == comparable(here)
    assert {one.outcome for one in here.cases} == {Outcome.PASSED, Outcome.FAILED, Outcome.ERROR}


@pytest.mark.parametrize("kills", [1, pytest.param(12, marks=pytest.mark.nightly)])
def test_workers_are_killed_and_no_finished_trial_is_lost_or_repeated(tmp_path: Path, kills: int) -> None:
    messages = [f"n{number}" for number in range(8 + 8 * kills)]
    project = Project(tmp_path, *messages)
    head = project.eval()
    finished: Counter[str] = Counter()
    for kill in range(kills):
        wait_until(partial(project.has_stored, 6 + 8 * kill))
        stored, begun = project.stored(), project.begun()
        finished.update({text: begun[text] for text in stored - finished.keys()})
        os.kill(int(next(end for _, end in reversed(project.log()) if end != "done")), signal.SIGKILL)
    output, _ = head.communicate(timeout=120)
    assert head.returncode == 0, output
    assert project.stored() == set(messages)
    begun = project.begun()
    assert {text: begun[text] for text in finished} == finished
    assert begun.total() <= len(messages) + 2 * kills  # a worker has two trials
    assert f"{kills} worker" in output
    assert "lost and replaced" in output
    assert in_this_process("show", "latest", "--store", project.store).stdout.count(f"{kills} worker") == 2
    listed = project.listed()
    assert (listed["in_flight"], listed["lost_workers"]) == (0, kills)
    assert (
        begun.total() - len(messages) <= listed["lost_attempts"] <= 2 * kills
    )  # some had not called the agent


@pytest.mark.nightly
def test_trials_in_flight_and_lost_workers_are_listed_while_the_run_is_executed(tmp_path: Path) -> None:
    project = Project(tmp_path, "n0", "n1", "n2")
    waiting = 'while not os.path.exists(message + ".go"):\n        await asyncio.sleep(0.02)'
    (tmp_path / "agent.py").write_text(LOGGING.replace("await asyncio.sleep(0.1)", waiting))
    head = project.eval()
    wait_until(lambda: len(project.begun()) == 3)
    os.kill(int(dict(project.log())["n2"]), signal.SIGKILL)
    wait_until(lambda: project.begun()["n2"] == 2)
    (tmp_path / "n0.go").touch()
    wait_until(lambda: project.has_stored(1))
    listed = project.listed()
    assert (listed["state"], listed["lost_workers"]) == ("running", 1)
    assert 2 <= listed["in_flight"] <= 3  # n0 until its commit is reported
    for name in ("n1", "n2"):
        (tmp_path / f"{name}.go").touch()
    output, _ = head.communicate(timeout=60)
    assert head.returncode == 0, output
    assert project.listed()["in_flight"] == 0


@pytest.mark.nightly
def test_the_head_is_killed_and_resume_repeats_no_finished_trial(tmp_path: Path) -> None:
    messages = [f"n{number}" for number in range(30)]
    project = Project(tmp_path, *messages)
    head = project.eval()
    wait_until(lambda: len(project.stored()) >= 8)
    head.kill()
    head.communicate()
    assert (project.listed()["state"], project.listed()["in_flight"]) == ("unfinished", 0)
    stored, before = project.stored(), project.begun()
    output, _ = (second := project.start("resume")).communicate(timeout=120)
    assert second.returncode == 0, output
    begun = project.begun()
    assert {text: begun[text] for text in stored} == {text: before[text] for text in stored}
    assert begun.total() <= len(messages) + 4
    pids = {int(end) for _, end in project.log() if end != "done"}
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))  # no worker outlives its run


def test_a_poisoned_trial_is_an_error_and_the_others_pass(tmp_path: Path) -> None:
    project = Project(tmp_path, "poison", *(f"n{number}" for number in range(6)))
    head = project.eval()
    output, _ = head.communicate(timeout=120)
    assert head.returncode == 3
    assert "3 workers ended while they ran this trial, the last one with no other trial" in output
    assert project.begun()["poison"] == 3
    assert sum(text != "poison" for text, end in project.log() if end == "done") == 6


def test_a_trial_that_exits_its_process_is_an_error_at_once_as_with_isolate(tmp_path: Path) -> None:
    project = Project(tmp_path, "exit")
    output, _ = (head := project.eval()).communicate(timeout=120)
    assert head.returncode == 3
    assert (
        "the process of its worker ended while it ran no other trial: a worker ended (exit code 0)" in output
    )
    assert project.begun()["exit"] == 1


@pytest.mark.nightly
def test_text_of_the_agent_in_the_pipe_of_a_worker_is_an_error_of_its_trial(tmp_path: Path) -> None:
    project = Project(tmp_path, "stray")
    output, _ = (head := project.eval()).communicate(timeout=120)
    assert head.returncode == 3
    assert "a worker wrote str 'stray 1 {" in output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--on", "the moon"], "on: expected processes"),
        (["--workers", "2"], "workers (--workers) needs on (--on)"),
        (["--per-worker", "2"], "per_worker (--per-worker) needs on (--on)"),
        (["--env", "KEY"], "env (--env) needs on (--on)"),
        (["--ramp", "20"], "ramp (--ramp) needs on (--on)"),
        (["--on", "processes", "--worker-cpu", "2"], "worker_cpu (--worker-cpu) is for a cluster of Ray"),
        (["--on", "ray:local"], "--on ray:local needs the package 'ray'. Run: pip install 'proctor[ray]'"),
        (
            ["--on", "processes", "--workers", "1", "--env", "NO_SUCH_KEY"],
            "the environment of the worker lacks NO_SUCH_KEY",
        ),
        (["--on", "processes", "--workers", "1"], "No module named 'not_there'"),
    ],
    ids=[
        "unknown",
        "workers alone",
        "per worker alone",
        "key alone",
        "ramp alone",
        "CPUs of processes",
        "ray is missing",
        "key is missing",
        "agent that cannot be loaded",
    ],
)
def test_bad_input_is_reported_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(make_project(tmp_path))
    if options[-1] == "1":
        (tmp_path / "agent.py").write_text("import not_there\n")
    run = in_this_process("eval", "agent.py", "cases.evalset.json", *options)
    assert run.returncode == 2
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def test_an_agent_without_a_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(make_project(tmp_path))
    with pytest.raises(proctor.SetupError, match="an object of this process, which no other one can load"):
        proctor.evaluate_sync(lambda text: text, "cases.evalset.json", on="processes")


PLAYS = {
    "eval_set_id": "plays",
    "eval_cases": [
        {
            "eval_id": f"play {count}",
            "conversation_scenario": {"starting_prompt": f"hi {count}", "conversation_plan": "ask"},
        }
        for count in range(3)
    ],
}


async def impatient_user(so_far: list[proctor.Invocation]) -> str | None:
    """Ask twice; give up the third conversation, and refuse the second."""
    first = so_far[0].user_content.parts or []
    if first[0].text == "hi 1":
        raise ValueError("the user is tired")
    return f"question {len(so_far)}" if len(so_far) < 3 else None


def test_simulated_users_of_trials_on_workers_are_played_in_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project(tmp_path, criteria={"known_tools": {"threshold": 0.5, "tools": ["look"]}})
    (tmp_path / "plays.evalset.json").write_text(json.dumps(PLAYS))
    monkeypatch.chdir(tmp_path)
    options: EvaluateOptions = {"user": impatient_user, "keep_evidence": "all", "retry_errors": 1}
    here = proctor.evaluate_sync("agent.py", "plays.evalset.json", **options)
    options |= {"on": "processes", "workers": 1}
    there = proctor.evaluate_sync("agent.py", "plays.evalset.json", **options)
    assert without_clocks(there) == without_clocks(here)
    assert [one.outcome for one in there.cases] == [Outcome.PASSED, Outcome.ERROR, Outcome.PASSED]


def without_clocks(result: RunResult) -> list[Any]:
    """Return what `comparable` does, without the times of the user's replies and of earlier attempts."""
    found = comparable(result)
    for *_, trials in found:
        for _, data in trials:
            for attempt in (data, *data["attempts"]):
                for reply in attempt["played_user"]["replies"]:
                    reply.pop("seconds", None)
                for turn in attempt["turns"]:
                    turn.pop("started_at", None)
                    turn.pop("duration", None)
                attempt.pop("duration", None)
                (attempt.get("failure") or {}).pop("traceback", None)
    return found
