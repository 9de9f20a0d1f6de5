"""`proctor resume` and `score`: finished trials are not run again, for any end of the run."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from proctor import list_runs, load_run, resume_sync
from proctor.cli.eval import execution
from proctor.engine.execution.run_control import StopRequest
from proctor.runs.storage.open import open_runs
from proctor.schema.results.run_result import Outcome
from proctor.stores.base import Caps
from tests.cli.project import case, hear, in_this_process, make_project, proctor

EVAL = ("eval", "agent.py", "cases.evalset.json")
RESULT = ("--report", "json=out.json")

AGENT = """
import asyncio
from pathlib import Path

async def root_agent(message):
    with open("ledger", "a") as ledger:
        ledger.write(message + "\\n")
    if message.startswith("wait"):
        while not Path("gate").exists():
            await asyncio.sleep(0.01)
    if message == "weather" and not Path("repaired").exists():
        raise ConnectionError("no route to the weather")
    return {"tool_calls": [{"name": "look", "args": {"at": message}}], "text": f"You sent {message}."}
"""


SLOW = """
import time

def root_agent(message):
    with open("ledger", "a") as ledger:
        ledger.write(message + "\\n")
    if message.startswith("wait"):
        time.sleep(0.4)
    return {"tool_calls": [{"name": "look", "args": {"at": message}}], "text": f"You sent {message}."}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Eight cases, of which those from the fourth on wait until there is a file `gate`."""
    return make(tmp_path / "here" / "bot", monkeypatch)


def make(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder.mkdir(parents=True)
    messages = ["one", "two", "three", *(f"wait {n}" for n in range(5))]
    make_project(folder, *(case(message.replace(" ", "_"), message) for message in messages))
    (folder / "agent.py").write_text(AGENT)
    monkeypatch.chdir(folder)
    return folder


def calls(folder: Path) -> list[str]:
    """What the agent was asked, in order."""
    return (folder / "ledger").read_text().splitlines()


def wait_for_calls(folder: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while not (folder / "ledger").exists() or len(calls(folder)) < count:
        assert time.monotonic() < deadline, "the agent was never asked"
        time.sleep(0.02)


def run_until(folder: Path, count: int, *more: str, kept: int | None = None) -> subprocess.Popen[str]:
    """Begin a run and return it when the agent has been asked so often, and all but the last two, or `kept` cases, are done."""
    process = subprocess.Popen(
        [sys.executable, "-m", "proctor", *EVAL, "--concurrency", "2", *more],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_calls(folder, count)
    wait_until_kept(count - 2 if kept is None else kept)
    return process


def wait_until_kept(count: int) -> None:
    deadline = time.monotonic() + 60
    while load_run().counts.get(Outcome.PASSED, 0) < count:
        assert time.monotonic() < deadline, "what is done was never kept"
        time.sleep(0.02)


def killed(folder: Path, *more: str) -> None:
    """Run until three cases are done and two are under way, then kill it."""
    process = run_until(folder, 5, *more)
    process.kill()
    process.communicate()


def report(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out.json").read_text())
    return found


def stable(value: Any) -> Any:
    """A report without what differs from run to run: times and ids."""
    if isinstance(value, dict):
        passing = {
            "run_id",
            "started_at",
            "duration",
            "judging_duration",
            "session_id",
            "invocation_duration_v1",
            "timestamp",
            "id",
        }
        return {key: stable(item) for key, item in value.items() if key not in passing}
    return [stable(item) for item in value] if isinstance(value, list) else value


def undisturbed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The report of the same project, run in one go."""
    calm = make(folder.parents[1] / "calm" / folder.name, monkeypatch)
    (calm / "gate").touch()
    in_this_process(*EVAL, *RESULT)
    monkeypatch.chdir(folder)
    return report(calm)


# --- stopped, and taken up again -------------------------------------------------------------------------------------

SIGNALS = {"Ctrl-C": (signal.SIGINT, 130), "SIGTERM": (signal.SIGTERM, 143), "SIGHUP": (signal.SIGHUP, 129)}


@pytest.mark.slow
@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(("number", "code"), SIGNALS.values(), ids=SIGNALS)
def test_what_is_under_way_may_finish_and_the_rest_can_be_resumed(
    project: Path, number: signal.Signals, code: int
) -> None:
    process = run_until(project, 5, *RESULT)
    process.send_signal(number)
    heard = hear(process, "(Ctrl-C again stops at once)")
    (project / "gate").touch()
    stdout, stderr = process.communicate(timeout=60)
    stderr = heard + stderr
    assert process.returncode == code, stderr
    run_id = load_run().run_id
    assert "stopping: running trials get 10 seconds to finish (Ctrl-C again stops at once)\n" in stderr
    assert "stopped: 5 of 8 cases are complete; the others were not run\n" in stderr
    assert f"`proctor resume {run_id}` resumes it\n" in stderr
    assert "Traceback" not in stderr
    assert f"run={run_id}" in stdout
    found = report(project)
    assert (found["exit_code"], found["runs"][0]["exit_code"]) == (code, 3)
    assert found["runs"][0]["interrupted"] is True
    done = in_this_process("resume", run_id)
    assert done.returncode == 0, done.stderr
    assert sorted(calls(project)) == sorted(set(calls(project)))
    assert len(calls(project)) == 8


@pytest.mark.nightly
def test_interrupted_run_of_several_trials_counts_trials_and_cases(project: Path) -> None:
    process = run_until(project, 11, "--trials", "3", kept=3)
    process.send_signal(signal.SIGINT)
    heard = hear(process, "(Ctrl-C again stops at once)")
    (project / "gate").touch()
    stderr = heard + process.communicate(timeout=60)[1]
    assert "stopped: 11 of 24 trials are done, 3 of 8 cases are complete; the others were not run\n" in stderr


@pytest.mark.slow
def test_second_interrupt_stops_at_once_with_the_resume_command(project: Path) -> None:
    process = run_until(project, 5)
    process.send_signal(signal.SIGINT)
    hear(process, "(Ctrl-C again stops at once)")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr.endswith(f"`proctor resume {load_run().run_id}` resumes it\n")
    (project / "gate").touch()
    assert in_this_process("resume").returncode == 0
    assert sorted(calls(project))[:3] == ["one", "three", "two"]
    assert len(calls(project)) == 8 + 2  # those that were under way


def test_second_signal_during_the_first_handler_ends_the_process_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A handler inside another one cannot write: the first may hold the lock of stderr."""
    events: list[str] = []
    monkeypatch.setattr(execution, "end_now", lambda code: events.append(f"end with {code}"))
    request = StopRequest()

    def signal_again(*_: object) -> None:
        stop(signal.SIGINT, None)
        events.append("stop requested")

    request.listen(signal_again)
    stop = execution.Stop(request, has_begun=lambda: True, farewell=lambda: events.append("farewell"))
    stop(signal.SIGINT, None)
    for thread in threading.enumerate():  # the time limit of the first signal, which ends the process
        if isinstance(thread, threading.Timer):
            thread.cancel()
    assert events == ["stop requested", "farewell", "end with 130"]


@pytest.mark.slow
def test_ctrl_c_and_resume_give_the_result_of_one_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "proctor", *EVAL, "--concurrency", "2"]
    process = subprocess.Popen(
        command, cwd=project, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        preexec_fn=_take_terminal,  # noqa: PLW1509 - this test has one thread
        env={**os.environ, "TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(theirs)
    wait_for_calls(project, 5)
    os.write(ours, b"\x03")
    seen = _all_of(ours, until="Ctrl-C again")
    (project / "gate").touch()
    seen += _all_of(ours)
    assert process.wait(60) == 130
    assert f"`proctor resume {load_run().run_id}` resumes it" in seen
    assert "Traceback" not in seen
    assert in_this_process("resume", *RESULT).returncode == 0
    assert stable(report(project)) == stable(undisturbed(project, monkeypatch))
    assert len(calls(project)) == 8


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _all_of(terminal: int, until: str = "") -> str:
    """What is seen there until some words; without them until the other end is closed."""
    seen = b""
    while not until or until.encode() not in seen:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            piece = b""
        if not piece:
            os.close(terminal)
            break
        seen += piece
    return seen.decode(errors="replace")


@pytest.mark.slow
def test_after_a_kill_only_what_was_under_way_is_run_again(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(project)
    (run,) = json.loads(in_this_process("runs", "--json").stdout)["runs"]
    assert (run["state"], run["outcome"], run["counts"]) == ("unfinished", None, {"passed": 3, "not_run": 5})
    (project / "gate").touch()
    assert in_this_process("resume", *RESULT).returncode == 0
    assert sorted(calls(project)) == sorted(
        ["one", "two", "three", *(f"wait {n}" for n in range(5)), "wait 0", "wait 1"]
    )
    assert stable(report(project)) == stable(undisturbed(project, monkeypatch))


@pytest.mark.slow
def test_a_run_under_way_is_left_to_its_process(project: Path) -> None:
    process = run_until(project, 5)
    run_id = load_run().run_id
    assert json.loads(in_this_process("runs", "--json").stdout)["runs"][0]["state"] == "running"
    for command in (["resume", run_id], ["prune", "--run", run_id, "--yes"]):
        done = in_this_process(*command)
        assert done.returncode == 2, done.stdout
        assert run_id in done.stderr
    others = in_this_process("prune", "--keep", "0", "--yes")
    assert (others.returncode, others.stderr) == (0, "nothing to delete\n")
    (project / "gate").touch()
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert load_run().passed


@pytest.mark.nightly
def test_closed_reader_of_the_report(project: Path) -> None:
    (project / "gate").touch()
    command = f"{sys.executable} -m proctor {' '.join(EVAL)} -v | head -c 10; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=project, capture_output=True, text=True, check=False)
    assert done.stdout.endswith("0\n")
    assert not [line for line in done.stderr.splitlines() if " trials (" not in line]  # it is under way
    assert load_run().passed


LIMITS = {
    "--max-time": (["--max-time", "1"], "max_time"),
    "--max-failures": (["--max-failures", "1", "--config", "strict.json"], "max_failures"),
    "-x": (["-x", "--config", "strict.json"], "fail_fast"),
}


@pytest.mark.nightly(check=1)
@pytest.mark.slow  # starts the command line
@pytest.mark.parametrize(("limit", "said"), LIMITS.values(), ids=LIMITS)
def test_a_limit_leaves_the_rest_to_resume(project: Path, limit: list[str], said: str) -> None:
    (project / "strict.json").write_text('{"criteria": {"response_match_score": 1.0}}')
    text = (project / "cases.evalset.json").read_text()
    (project / "cases.evalset.json").write_text(text.replace("You sent two.", "Nothing at all."))
    (project / "agent.py").write_text(SLOW)
    done = proctor(*EVAL, "--concurrency", "1", *limit, cwd=project)
    assert done.returncode in {1, 3}, done.stderr
    assert f"stopped by {said}" in done.stdout
    run_id = load_run().run_id
    assert done.stderr.endswith(f"`proctor resume {run_id}` resumes it\n")
    again = in_this_process("resume")
    assert again.returncode == 1
    assert "stopped by" not in again.stdout
    assert len(calls(project)) == 8


@pytest.mark.slow
def test_the_printed_command_names_a_store_that_is_not_the_projects(project: Path) -> None:
    (project / "gate").touch()
    (project / "strict.json").write_text('{"criteria": {"response_match_score": 1.0}}')
    text = (project / "cases.evalset.json").read_text()
    (project / "cases.evalset.json").write_text(text.replace("You sent", "Never sent"))
    limited = ["--concurrency", "1", "--max-failures", "1", "--config", "strict.json"]
    done = in_this_process(*EVAL, *limited, "--store", "runs.db")
    (run,) = list_runs("runs.db")
    command = f"proctor resume {run.run_id} --store=runs.db"
    assert f"`{command}` resumes it" in done.stderr
    shown = in_this_process("show", "--store", "runs.db")
    assert f"`proctor resume {run.run_id[:6]} --store=runs.db` resumes it" in shown.stderr
    assert in_this_process(*command.split()[1:]).returncode == 1


# --- what the run wrote besides -----------------------------------------------------------------------------------------


def stopped_by_a_limit(project: Path, *more: str) -> None:
    """Run about three of eight cases."""
    (project / "agent.py").write_text(SLOW)
    (project / "agents").mkdir(exist_ok=True)
    assert in_this_process(*EVAL, "--concurrency", "1", "--max-time", "1", *more).returncode == 3


def test_the_limits_of_a_killed_run_replace_those_of_the_settings(project: Path) -> None:
    (project / "gate").touch()
    (project / "strict.json").write_text('{"criteria": {"response_match_score": 1.0}}')
    text = (project / "cases.evalset.json").read_text()
    (project / "cases.evalset.json").write_text(text.replace("You sent", "Never sent"))
    in_this_process(*EVAL, "--concurrency", "1", "--max-failures", "1", "--config", "strict.json")
    with closing(open_runs()) as store:
        killed: Any = store
        killed.set_caps(next(iter(store.runs())).run_id, Caps(max_judge_calls=5))
    (project / "proctor.toml").write_text("max_judge_calls = 50\nmax_cost = 7")
    resumed = in_this_process("resume").stdout
    assert (
        "resumed after a kill within the limits of the whole run: max_judge_calls 5; what was spent"
        in resumed
    )
    assert "max_cost: the agent reports no token usage" in resumed  # this limit is only in the settings


def adk_results(project: Path, agents: str = "agents") -> list[list[int]]:
    """Of each of google-adk's result files the status of every case."""
    files = sorted((project / agents).rglob("*.evalset_result.json"))
    entries = [json.loads(file.read_text())["eval_case_results"] for file in files]
    return [[entry["final_eval_status"] for entry in of_file] for of_file in entries]


@pytest.mark.nightly
@pytest.mark.slow  # starts and interrupts runs
def test_a_report_and_google_adks_results_are_whole_in_the_end(project: Path) -> None:
    stopped_by_a_limit(project, *RESULT, "--store", "adk:agents?app=bot", "--store", "runs.db")
    assert report(project)["outcome"] == "not_run"
    ((*first,),) = adk_results(project)
    assert (len(first), set(first)) == (8, {1, 3})
    done = in_this_process("resume", "--store", "runs.db")
    assert done.returncode == 0, done.stderr
    assert (report(project)["outcome"], report(project)["runs"][0]["counts"]) == ("passed", {"passed": 8})
    assert adk_results(project) == [[1] * 8]


@pytest.mark.slow  # starts and interrupts runs
def test_report_on_stdout_is_for_the_first_process(project: Path) -> None:
    stopped_by_a_limit(project, "--format", "json")
    assert in_this_process("resume").stdout.startswith("RUN  ")


OTHERS = {
    "a report of the same name": (
        ["--report", "json=other.json"],
        {"other.json": True, "out.json": False, "out.csv": True},
    ),
    "a report of another name": (
        ["--report", "jsonl=out.jsonl"],
        {"out.jsonl": True, "out.json": True, "out.csv": True},
    ),
    "a report on stdout": (["--format", "json"], {"out.json": True, "out.csv": True}),
    "another report in the same place": (
        ["--report", "jsonl=out.csv", "--overwrite"],
        {"out.json": True, "out.csv": True},
    ),
}


@pytest.mark.nightly(check=1)
@pytest.mark.slow  # starts the command line
@pytest.mark.parametrize(("now", "whole"), OTHERS.values(), ids=OTHERS)
def test_what_is_asked_for_now_wins(project: Path, now: list[str], whole: dict[str, bool]) -> None:
    stopped_by_a_limit(project, *RESULT, "--report", "csv=out.csv")
    assert in_this_process("resume", *now).returncode == 0
    found = {file.name: _passed(file.read_text()) for file in project.glob("o*.*")}
    assert {name: count == 8 for name, count in found.items()} == whole


def _passed(text: str) -> int:
    if text.startswith('"agent"'):
        return text.count('"passed","passed"')
    if '"proctor_report"' in text:
        return int(json.loads(text)["runs"][0]["counts"]["passed"])
    return sum(json.loads(line)["outcome"] == "passed" for line in text.splitlines())


@pytest.mark.slow  # starts and interrupts runs
def test_other_folders_of_google_adk_take_the_place_of_those_before(project: Path) -> None:
    stopped_by_a_limit(project, "--store", "adk:agents")
    (project / "others").mkdir()
    done = in_this_process("resume", "--store", "adk:others")
    assert done.returncode == 0, done.stderr
    assert adk_results(project, "others") == [[1] * 8]
    assert 3 in adk_results(project)[0]


@pytest.mark.nightly
@pytest.mark.slow  # starts and interrupts runs
def test_python_resumes_google_adks_results_too(project: Path) -> None:
    stopped_by_a_limit(project, "--store", "adk:agents")
    assert resume_sync().passed
    assert adk_results(project) == [[1] * 8]


def test_missing_location_is_reported_before_the_run(project: Path) -> None:
    stopped_by_a_limit(project, "--store", "adk:agents", *RESULT)
    asked = len(calls(project))
    shutil.rmtree(project / "agents")
    (project / "out.json").unlink()
    (project / "out.json").mkdir()
    done = in_this_process("resume")
    assert done.returncode == 2
    assert "out.json is a folder" in done.stderr
    assert "(it was asked for when the run was begun; --report names another place)" in done.stderr
    again = in_this_process("resume", "--report", "json=other.json")
    assert again.returncode == 2
    assert "no such folder" in again.stderr
    assert "--store names another place" in again.stderr
    assert len(calls(project)) == asked


@pytest.mark.slow  # starts and interrupts runs
def test_a_secret_in_a_place_is_not_kept(project: Path) -> None:
    stopped_by_a_limit(project, "--report", "json=out?token=hunter2")
    with closing(open_runs()) as store:
        kept = store.manifest(load_run().run_id).options["outputs"]
    assert "hunter2" not in json.dumps(kept)
    done = in_this_process("resume")
    assert done.returncode == 2
    assert "what is hidden there was not kept: name it with --report" in done.stderr
    assert in_this_process("resume", "--report", "json=out.json").returncode == 0


def test_of_a_finished_run_nothing_is_written_again(project: Path) -> None:
    (project / "gate").touch()
    in_this_process(*EVAL, *RESULT)
    (project / "out.json").write_text("a later one")
    assert in_this_process("resume", "latest").returncode == 0
    assert (project / "out.json").read_text() == "a later one"


def test_report_of_several_agents_is_not_a_report_of_one(project: Path) -> None:
    (project / "gate").touch()
    (project / "other.py").write_text(AGENT)
    in_this_process("eval", "--agent", "agent.py", "--agent", "other.py", "cases.evalset.json", *RESULT)
    with closing(open_runs()) as store:
        assert store.manifest(load_run().run_id).options["outputs"] == {"reports": [], "results": []}


# --- what resume will and will not do --------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", [0, 1])
def test_of_a_finished_run_nothing_is_left(project: Path, outcome: int) -> None:
    (project / "gate").touch()
    if outcome:
        (project / "test_config.json").write_text('{"criteria": {"response_match_score": 1.0}}')
        text = (project / "cases.evalset.json").read_text()
        (project / "cases.evalset.json").write_text(text.replace("You sent two.", "Nothing at all."))
    in_this_process(*EVAL)
    done = in_this_process("resume", "latest")
    assert (done.returncode, done.stderr) == (outcome, "nothing to do: the run is finished\n")
    assert "VERDICT" in done.stdout
    assert len(calls(project)) == 8
    without = in_this_process("resume")
    assert without.returncode == 2
    assert without.stderr.startswith("error: nothing to resume: no run is unfinished")


CHANGES = {
    "the set": ("cases.evalset.json", "wait 4", "wait 9", "1 case of the set is changed: wait_4"),
    "the config": ("test_config.json", "0.8", "0.7", "the config of cases (test_config.json) has changed"),
    "the agent": ("agent.py", "You sent", "You say", "the source of the agent"),
}


@pytest.mark.slow
@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(("file", "before", "after", "said"), CHANGES.values(), ids=CHANGES)
def test_change_since_the_start_is_named_and_not_mixed(
    project: Path, file: str, before: str, after: str, said: str
) -> None:
    killed(project)
    (project / "gate").touch()
    text = (project / file).read_text()
    (project / file).write_text(text.replace(before, after))
    done = in_this_process("resume")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "--force" in done.stderr
    assert len(calls(project)) == 5
    forced = in_this_process("resume", "--force")
    assert forced.returncode in {0, 1}
    assert f"WARNING  resumed although {said}" in forced.stdout
    assert len(calls(project)) == 10


def test_errors_are_tried_again_when_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_project(tmp_path, case("one", "one"), case("weather", "weather"))
    (tmp_path / "agent.py").write_text(AGENT)
    monkeypatch.chdir(tmp_path)
    assert in_this_process(*EVAL).returncode == 3
    (tmp_path / "repaired").touch()
    assert in_this_process("resume", "latest").returncode == 3
    done = in_this_process("resume", "latest", "--retry-errors")
    assert done.returncode == 0, done.stderr
    assert "nothing to do" not in done.stderr
    assert calls(tmp_path).count("one") == 1
    assert calls(tmp_path).count("weather") == 2
    told = in_this_process("show", "latest", "weather").stdout
    assert "attempt 1 of 2: agent raised in turn 1: ConnectionError: no route to the weather" in told
    (kept,) = json.loads(in_this_process("show", "latest", "weather", "--json").stdout)["earlier_attempts"]
    assert (kept["trial"], kept["evidence"]["failure"]["type"]) == (0, "ConnectionError")


def test_what_was_cut_is_run_again_with_more_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_project(tmp_path, case("long", "x" * 60), case("short", "x"))
    (tmp_path / "proctor.toml").write_text("max_text = 40")
    monkeypatch.chdir(tmp_path)
    done = in_this_process(*EVAL)
    assert done.returncode == 3
    assert "`--max-text` (`max_text`) keeps more" in done.stdout
    assert in_this_process(*EVAL, "--max-text", "1000").returncode == 0
    first = list_runs()[1].run_id
    again = in_this_process("resume", first, "--retry-errors", "--max-text", "1000")
    assert again.returncode == 0, again.stdout


def test_endless_agent_is_stopped_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_project(tmp_path, case("one", "one"))
    monkeypatch.chdir(tmp_path)
    done = in_this_process(*EVAL, "--max-events", "1")
    assert done.returncode == 3
    assert "the agent emitted more than 1 events in one turn and was stopped" in done.stdout


# --- score -----------------------------------------------------------------------------------------------------------


def test_unchanged_config_gives_the_same_and_calls_no_agent(project: Path) -> None:
    (project / "gate").touch()
    before = in_this_process(*EVAL, *RESULT)
    first = report(project)
    (project / "agent.py").unlink()
    (project / "cases.evalset.json").unlink()
    done = in_this_process("score", *RESULT)
    assert done.returncode == before.returncode == 0
    assert done.stdout.splitlines()[-1] == "SCORING  2  every case came out as in scoring 1"
    assert stable(report(project)) == stable(first)
    assert len(calls(project)) == 8


@pytest.mark.slow
def test_another_config_reports_its_changes_and_the_history_stays(project: Path) -> None:
    (project / "gate").touch()
    text = (project / "cases.evalset.json").read_text()
    (project / "cases.evalset.json").write_text(text.replace("You sent two.", "You sent something."))
    assert in_this_process(*EVAL).returncode == 1
    (project / "mild.json").write_text('{"criteria": {"response_match_score": 0.5}}')
    done = in_this_process("score", "latest", "--config", "mild.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == [
        "CHANGED  cases/two  failed -> passed  response_match_score=0.67>=0.5",
        "SCORING  2  1 of 8 cases came out differently than in scoring 1",
    ]
    shown = in_this_process("show", "latest", "two").stdout.splitlines()
    assert shown[0].startswith("CASE  cases/two  passed")
    assert [line.split("  ")[:3] for line in shown if line.startswith("SCORING")] == [
        ["SCORING", "1", "failed"],
        ["SCORING", "2", "passed"],
    ]
    assert in_this_process("show", "latest", "two", "--scoring", "1").stdout.startswith(
        "CASE  cases/two  failed"
    )
    assert "VERDICT  failed" in in_this_process("show", "--scoring", "1").stdout
    assert len(calls(project)) == 8


def test_a_config_that_does_not_fit_is_refused(project: Path) -> None:
    (project / "gate").touch()
    in_this_process(*EVAL)
    (project / "odd.json").write_text('{"criteria": {"response_match_scor": 0.5}}')
    done = in_this_process("score", "--config", "odd.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean 'response_match_score'?" in done.stderr
    assert len(in_this_process("show", "latest", "one").stdout.split("SCORING")) == 2


STRICT = {"criteria": {"response_match_score": 1.0}}
"""An answer that differs from the expected one fails."""


def listed(run_id: str) -> dict[str, Any]:
    runs: list[dict[str, Any]] = json.loads(in_this_process("runs", "--json").stdout)["runs"]
    return next(run for run in runs if run["run_id"] == run_id)


@pytest.mark.nightly
@pytest.mark.slow  # starts and interrupts runs
def test_run_scored_with_other_criteria_resumes(project: Path) -> None:
    """The whole way that the message points out; lists, pages and exit codes speak of the newest complete verdicts."""
    text = (project / "cases.evalset.json").read_text()
    (project / "cases.evalset.json").write_text(text.replace("You sent two.", "You sent two, or so."))
    (project / "test_config.json").write_text('{"criteria": {"response_match_score": 0.5}}')
    (project / "strict.json").write_text(json.dumps(STRICT))
    stopped_by_a_limit(project)
    run_id = load_run().run_id
    strict = ("score", run_id, "--config", "strict.json")
    again = in_this_process(*strict)
    assert (again.returncode, listed(run_id)["judging"]) == (1, 2)
    assert again.stderr.endswith(f"not all of it was run: `proctor resume {run_id}` resumes it\n")
    assert listed(run_id)["counts"]["failed"] == 1
    refused = in_this_process("resume", run_id)
    assert refused.returncode == 2
    assert "the run was re-scored by other criteria (scoring 2: strict.json)." in refused.stderr
    way_on = f"`proctor {' '.join(strict)}` re-scores all of it by the other criteria"
    assert way_on in refused.stderr
    assert "--force" in refused.stderr
    forced = in_this_process("resume", run_id, "--force")
    assert forced.returncode == 0, forced.stderr
    assert "WARNING  resumed although the run was re-scored by other criteria" in forced.stdout
    assert (listed(run_id)["outcome"], listed(run_id)["judging"]) == ("passed", 1)
    shown = in_this_process("show", run_id)
    assert "scoring 1 of 2" in shown.stdout
    assert "scoring 2 does not count: it was interrupted, or the run was resumed after it." in shown.stderr
    assert in_this_process("resume", run_id).returncode == 0
    whole = in_this_process(*strict)
    assert whole.returncode == 1
    assert all(" trials (" in line for line in whole.stderr.splitlines()), (
        "nothing but progress, on a busy machine"
    )
    assert (listed(run_id)["outcome"], listed(run_id)["judging"]) == ("failed", 3)
    last = in_this_process("show", run_id)
    assert (last.returncode, last.stderr) == (0, "")
    assert "scoring 3 of 3" in last.stdout
    assert "WARNING  resumed although the run was re-scored by other criteria" in last.stdout
    assert in_this_process("resume", run_id).returncode == 1


@pytest.mark.nightly
@pytest.mark.slow  # starts and interrupts runs
def test_a_run_keeps_its_time_and_its_warnings_when_it_is_judged_again(project: Path) -> None:
    """The warnings about the criteria go with the criteria."""
    (project / "test_config.json").write_text('{"criteria": {"response_match_score": 0.5}, "nonsense": 1}')
    (project / "other.json").write_text('{"criteria": {"response_match_score": 0.6}}')
    stopped_by_a_limit(project)
    (project / "agent.py").write_text(SLOW + "\n# another one\n")
    assert in_this_process("resume", "--force").returncode == 0
    before = listed(load_run().run_id)
    of_the_run, of_the_criteria = sorted(before["warnings"])
    assert of_the_run.startswith("resumed although the source of the agent")
    assert "nonsense" in of_the_criteria
    same = in_this_process("score", "latest")
    assert sorted(listed(load_run().run_id)["warnings"]) == sorted(before["warnings"])
    other = in_this_process("score", "latest", "--config", "other.json", *RESULT)
    after = listed(load_run().run_id)
    assert after["warnings"] == [of_the_run]
    assert after["duration"] == before["duration"] > 1
    assert 0 < after["judging_duration"] < before["duration"]
    assert before["judging_duration"] is None
    assert re.search(r"judged_in=\d", same.stdout)
    assert re.search(r"judged_in=(\d+ms|\d\.\d)", other.stdout)
    assert report(project)["runs"][0]["judging_duration"] == pytest.approx(after["judging_duration"])
    assert load_run().duration == load_run(scoring=1).duration
