"""Resume, in every corner: edited, moved, pruned or reconfigured runs, and two processes at once.

The numbers in brackets are of the fault catalogue. Runs are broken off with kill -9 (see `crashing.py`).
"""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.runs.storage.open import open_runs
from proctor.schema.results.manifest import RunState
from proctor.schema.results.run_result import Outcome
from tests.cli.fork_command import fork_command
from tests.scenarios.kill.crash_runs import (
    Blow,
    KilledRun,
    Ledger,
    Process,
    Project,
    differences,
    rows_of,
    stored,
    undisturbed,
)
from tests.scenarios.kill.test_kill import SEED, nightly
from tests.scenarios.test_record_then_score import CONFIG, Agent, StopAfter, a_set, one_case, store_of

pytestmark = pytest.mark.slow  # runs are killed and resumed

CASES = 24


def a_project(folder: Path, **more: Any) -> Project:
    given: dict[str, Any] = {"concurrency": 4, "agent_seconds": (0.0, 0.01), **more}
    return Project(folder, given.pop("cases", CASES), **given)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return a_project(tmp_path)


def killed(project: Project, *, after: int = 6) -> KilledRun:
    """A run that was killed after so many trials."""
    run = KilledRun(project, 1)
    process = run.start()
    assert Blow(trials=after).strike(process), process.stderr
    run.check(process)
    return run


def started(run: KilledRun) -> int:
    return len(Ledger.read(run.ledger).of("start"))


def run_command(project: Project, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the project's folder to its end."""
    ended = fork_command(
        *words, cwd=project.folder, environment=project.variables(project.folder / "ledger-1")
    )
    assert "Traceback" not in ended.stderr
    return ended


def resume(run: KilledRun, *options: str) -> Process:
    """Resume it; it must come to its end."""
    process = run.start(*options)
    assert process.wait() in (0, 1, 3), process.stderr
    run.check(process)
    return process


# --- what has changed [7] ------------------------------------------------------------------------------------------------


def edit_agent(project: Project) -> None:
    file = project.folder / "agent.py"
    file.write_text(file.read_text() + "# one line more\n")


def edit_set(project: Project) -> None:
    file = project.folder / "numbers.evalset.json"
    file.write_text(file.read_text().replace("the answer to c20 1/2", "the answer for c20 1/2"))


def grow_set(project: Project) -> None:
    project.write_set("numbers.evalset.json", range(CASES + 1))


def edit_config(project: Project) -> None:
    file = project.folder / "test_config.json"
    file.write_text(file.read_text().replace("0.8", "0.7"))


def edit_metric(project: Project) -> None:
    file = project.folder / "judges.py"
    file.write_text(file.read_text().replace("else 0.5", "else 0.25"))


def another_agent_version(project: Project) -> None:
    project.environment["CRASH_VERSION"] = "2"


def another_python(project: Project) -> None:
    project.environment["CRASH_PYTHON"] = "3.99.0"


EDITS: dict[str, tuple[Callable[[Project], None], str]] = {
    "agent": (edit_agent, "the source of the agent"),
    "set": (edit_set, "changed: c20"),
    "longer set": (grow_set, f"new: c{CASES}"),
    "config": (edit_config, "the config of numbers"),
    "metric": (edit_metric, "patient"),
    "agent's version": (another_agent_version, "the agent's version was '1' and is '2'"),
    "Python": (another_python, "python was"),
}


def quickly(names: Iterable[str], *short: str, at_night: Collection[str] = ()) -> list[Any]:
    """The names: those in `short` as they are, those in `at_night` for the night, the others as slow ones."""
    marks = {name: [pytest.mark.nightly] for name in at_night} | {name: [] for name in short}
    return [pytest.param(name, marks=marks.get(name, [pytest.mark.slow])) for name in names]


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("what", quickly(EDITS, "set", at_night=("longer set", "metric")))
def test_what_was_edited_is_named_and_refused_unless_forced(project: Project, what: str) -> None:
    edit, message = EDITS[what]
    run = killed(project)
    edit(project)
    before = started(run)
    refused = run_command(project, "resume", "--store", run.store)
    assert refused.returncode == 2, refused.stderr
    assert message in refused.stderr
    assert "--force" in refused.stderr
    assert started(run) == before
    forced = resume(run, "--force")
    assert f"resumed although {message}"[:16] in forced.stdout + forced.stderr
    assert message in forced.stdout + forced.stderr
    names = [name for _, name in Ledger.read(run.ledger).of("start")]
    assert len(names) == len(set(names))
    rows = rows_of(project.folder / run.store)
    assert len(rows.evidence) == CASES + (what == "longer set")


GONE = ["test_config.json", "agent.py", "judges.py", "numbers.evalset.json"]


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("name", quickly(GONE, at_night=("judges.py", "numbers.evalset.json")))
def test_a_file_that_is_gone_is_named(project: Project, name: str) -> None:
    run = killed(project)
    (project.folder / name).rename(project.folder / "elsewhere")
    refused = run_command(project, "resume", "--store", run.store)
    assert refused.returncode == 2, refused.stderr
    assert name.partition(".")[0] in refused.stderr or "the config of numbers" in refused.stderr
    (project.folder / "elsewhere").rename(project.folder / name)
    resume(run)
    run.check_end()


# --- what may be otherwise -----------------------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [["--concurrency", "1"], ["--concurrency", "16"], ["--max-time", "60"]], ids=" ".join
)
def test_how_much_is_done_at_once_changes_nothing(project: Project, options: list[str]) -> None:
    code, report = undisturbed(project)
    run = killed(project)
    assert resume(run, *options).child.returncode == code
    run.check_end()
    assert differences(stored(project, run.store), report) == []


# --- how the cases were chosen, and their form --------------------------------------------------------------


def in_two_sets(project: Project) -> None:
    project.write_set("sets/a.evalset.json", range(14), eval_set_id="a")
    project.write_set("sets/b.evalset.json", range(14, 24), eval_set_id="b")


def as_json_lines(project: Project) -> None:
    cases = json.loads((project.folder / "numbers.evalset.json").read_text())["eval_cases"]
    (project.folder / "numbers.evalset.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))


def as_yaml(project: Project) -> None:
    command = [sys.executable, "-m", "proctor", "convert", "numbers.evalset.json", "numbers.evalset.yaml"]
    subprocess.run(command, cwd=project.folder, check=True, capture_output=True)


def unchanged(_: Project) -> None:
    """Change nothing."""


CHOSEN: dict[str, tuple[Callable[[Project], None], list[str], list[str], int]] = {
    "--limit": (unchanged, ["numbers.evalset.json"], ["--limit", "15"], 15),
    "--tag": (unchanged, ["numbers.evalset.json"], ["--tag", "odd"], 12),
    "FILE:case": (unchanged, ["numbers.evalset.json:c20,c3,c4,c5,c6,c7,c8,c9,c11"], [], 9),
    "several sets": (in_two_sets, ["sets/b.evalset.json", "sets/a.evalset.json"], [], 24),
    "a folder": (in_two_sets, ["sets"], [], 24),
    "JSON lines": (as_json_lines, ["numbers.evalset.jsonl"], [], CASES),
    "YAML": (as_yaml, ["numbers.evalset.yaml"], [], CASES),
    "metrics": (
        unchanged,
        ["numbers.evalset.json"],
        ["--metrics", "patient,tool_trajectory_avg_score"],
        CASES,
    ),
}


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("how", quickly(CHOSEN, "several sets", at_night=("--tag", "metrics")))
def test_the_same_cases_go_on(project: Project, how: str) -> None:
    prepare, project.sets, project.more, count = CHOSEN[how]
    prepare(project)
    project.cases = count
    code, report = undisturbed(project)
    run = killed(project)
    assert resume(run).child.returncode == code
    assert differences(stored(project, run.store), report) == []
    starts = started(run)
    assert count <= starts <= count + run.toll.in_flight


@pytest.mark.nightly
@pytest.mark.slow
def test_cases_that_share_an_id_are_distinguished(project: Project) -> None:
    project.write_set("numbers.evalset.json", [*range(12), 3, 4, 4])
    project.cases, project.more = 15, ["--allow-duplicate-ids"]
    code, report = undisturbed(project)
    run = KilledRun(project, 1)  # whose own checks know cases by their ids
    assert Blow(trials=6).strike(run.start())
    assert run.start().wait() == code
    assert differences(stored(project, run.store), report) == []
    assert started(run) <= 15 + project.concurrency


# --- where ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_from_another_folder_it_is_refused_and_the_right_one_is_named(
    project: Project, tmp_path: Path
) -> None:
    run = killed(project)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = [sys.executable, "-m", "proctor", "resume", "--store", str(tmp_path / run.store)]
    done = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert str(project.folder) in done.stderr
    resume(run)
    run.check_end()


@pytest.mark.nightly
@pytest.mark.slow
def test_relative_store_path_survives_an_agent_that_changes_the_folder(project: Project) -> None:
    file = project.folder / "agent.py"
    file.write_text(file.read_text().replace("turn, _, turns =", 'os.chdir("/"); turn, _, turns ='))
    code, report = undisturbed(project)
    run = killed(project)
    assert resume(run).child.returncode == code
    run.check_end()
    assert differences(stored(project, run.store), report) == []


@pytest.mark.slow
def test_moved_folder_resumes(tmp_path: Path) -> None:
    project = a_project(tmp_path / "before")
    run = killed(project)
    shutil.move(tmp_path / "before", tmp_path / "after")
    project.folder = tmp_path / "after"
    refused = run_command(project, "resume", "--store", run.store)
    assert refused.returncode == 2
    assert str(tmp_path / "before") in refused.stderr


# --- several at once [13] ------------------------------------------------------------------------------------------------


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("several", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_one_of_several_processes_resumes_and_the_others_report_it(tmp_path: Path, several: int) -> None:
    project = a_project(tmp_path, agent_seconds=(0.1, 0.2), concurrency=2)
    run = killed(project)
    processes = [run.start() for _ in range(several)]
    codes = {process: process.wait() for process in processes}
    worked = [process for process in processes if process.count("trial")]
    assert [codes.pop(process) for process in worked] == [1], [process.stderr for process in processes]
    for process, code in codes.items():
        message = {2: "is being worked on by process", 1: "nothing to do"}[
            code
        ]  # it may have come when all was done
        assert message in process.stderr, process.stderr
        assert "Traceback" not in process.stderr
    names = [name for _, name in Ledger.read(run.ledger).of("start")]
    assert len(names) <= CASES + run.toll.in_flight
    run.check_end()


@pytest.mark.nightly
@pytest.mark.slow
def test_two_runs_in_one_store_do_not_disturb_each_other(project: Project) -> None:
    _, report = undisturbed(project)
    both = [Process(project, project.eval("both.sqlite3"), project.folder / f"ledger-{n}") for n in range(2)]
    assert [process.wait() for process in both] == [1, 1], [process.stderr for process in both]
    with closing(open_runs(project.folder / "both.sqlite3")) as opened:
        ids = [run.run_id for run in opened.runs()]
    assert len(ids) == 2
    for run_id in ids:
        assert differences(stored(project, "both.sqlite3", run_id), report) == []


@pytest.mark.nightly
@pytest.mark.timeout(0)
def test_fifty_stores_with_killed_runs_are_each_resumed_twice_at_once(
    tmp_path: Path,
) -> None:
    project = a_project(tmp_path, cases=100, concurrency=8)
    code, report = undisturbed(project)
    for seed in range(SEED, SEED + nightly(50)):
        chance, store = random.Random(seed), f"{seed}.sqlite3"
        ledgers = (tmp_path / f"ledger-{seed}-{number}" for number in range(100))
        processes = [
            Process(project, project.eval(store), next(ledgers)) for _ in range(chance.randint(2, 4))
        ]
        for process in processes[1:]:
            Blow(trials=chance.randint(1, 80)).strike(process)
        assert processes[0].wait() == code, processes[0].stderr
        with closing(open_runs(tmp_path / store, read_only=True)) as opened:
            runs = [(run.run_id, run.state) for run in opened.runs()]
        resumed = [
            [Process(project, ["resume", run_id, "--store", store], next(ledgers)) for _ in range(2)]
            for run_id, state in runs
            if state is RunState.UNFINISHED
        ]
        for both in resumed:
            codes = sorted(process.wait() for process in both)
            assert codes in ([code, 2], [code, code]), (seed, [process.stderr for process in both])
            assert "Traceback" not in both[0].stderr + both[1].stderr
        for run_id, _ in runs:
            assert differences(stored(project, store, run_id), report) == [], seed
        (tmp_path / store).unlink()


@pytest.mark.slow
def test_a_run_under_way_cannot_be_resumed_pruned_or_judged_again(tmp_path: Path) -> None:
    project = a_project(tmp_path, agent_seconds=(2.0, 2.0), concurrency=2)
    run = KilledRun(project, 1)
    process = run.start()
    assert process.listen(lambda: process.count("trial") >= 2)
    run_id = rows_of(project.folder / run.store).run_id or ""
    for words in (["resume", run_id], ["prune", "--run", run_id, "--yes"], ["score", run_id], ["resume"]):
        refused = run_command(project, *words, "--store", run.store)
        assert refused.returncode in (2, 3), refused.stderr
        assert re.search("worked on|under way|nothing to resume", refused.stderr), refused.stderr
    process.signal(signal.SIGINT)
    assert process.wait() == 130, process.stderr
    run.check(process)
    project.agent_seconds = (0.0, 0.0)
    resume(run)
    run.check_end()


@pytest.mark.nightly
@pytest.mark.slow
def test_another_run_that_is_pruned_takes_nothing_with_it(project: Project) -> None:
    _, report = undisturbed(project)
    shutil.copy(project.folder / "undisturbed.sqlite3", project.folder / "s-1.sqlite3")
    with closing(open_runs(project.folder / "s-1.sqlite3")) as opened:
        other = opened.find("latest")
    run = KilledRun(project, 1)
    process = Process(project, project.eval(run.store), run.ledger)
    assert Blow(trials=6).strike(process)
    run.check(process)
    assert run_command(project, "prune", "--run", other, "--yes", "--store", run.store).returncode == 0
    resume(run)
    run.check_end()
    assert differences(stored(project, run.store), report) == []


# --- a run that is finished [8] ------------------------------------------------------------------------------------------


def test_finished_run_is_unchanged_with_its_exit_code(project: Project) -> None:
    code, report = undisturbed(project)
    starts = len(Ledger.read(project.folder / "undisturbed.ledger").of("start"))
    with closing(open_runs(project.folder / "undisturbed.sqlite3")) as opened:
        run_id = opened.find("latest")
    before = (project.folder / "undisturbed.sqlite3").read_bytes()
    done = run_command(project, "resume", run_id, "--store", "undisturbed.sqlite3")
    assert done.returncode == code
    assert "nothing to do" in done.stderr
    assert not Ledger.read(project.folder / "ledger-1").lines
    assert differences(stored(project, "undisturbed.sqlite3"), report) == []
    assert (project.folder / "undisturbed.sqlite3").read_bytes() == before
    none = run_command(project, "resume", "--store", "undisturbed.sqlite3")
    assert none.returncode == 2
    assert "nothing to resume" in none.stderr
    assert starts == CASES


# --- figures and warnings of both times ----------------------------------------------------------------------------------


def summary_of(project: Project, store: str) -> Any:
    """Return the newest line of the list of runs, without its duration."""
    with closing(open_runs(project.folder / store, read_only=True)) as opened:
        summary = opened.summary(opened.find("latest"))
        return summary.model_dump(exclude={"duration"})


@pytest.mark.nightly
@pytest.mark.parametrize("end", ["killed", pytest.param("stopped", marks=pytest.mark.slow)])
def test_tokens_models_and_warnings_are_those_of_the_whole_run(tmp_path: Path, end: str) -> None:
    project = a_project(tmp_path, agent_seconds=(0.01, 0.03), num_runs=2, more=["--retry-errors", "1"])
    expected = Process(project, project.eval("undisturbed.sqlite3"), tmp_path / "ledger")
    assert expected.wait() == 1, expected.stderr
    run = KilledRun(project, 1)
    process = run.start()
    process.listen(lambda: process.count("trial") >= 20)
    if end == "stopped":
        process.signal(signal.SIGINT)
    else:
        process.kill()
    assert process.wait() in (-signal.SIGKILL, 130)
    assert run.start().wait() == 1
    assert summary_of(project, run.store) == summary_of(project, "undisturbed.sqlite3")
    whole = summary_of(project, run.store)
    assert whole["tokens"] == 100 * (sum(1 + (n % 4 == 0) for n in range(CASES) if n % 17 != 5) + 2 * 2) * 2
    assert whole["models"] == ["model-even", "model-odd"]
    assert ["4 trials were tried again" in warning for warning in whole["warnings"]] == [True]


@pytest.mark.nightly
def test_time_of_a_killed_process_counts_up_to_its_last_commit(tmp_path: Path) -> None:
    project = a_project(tmp_path, agent_seconds=(0.05, 0.05), concurrency=2)
    run = KilledRun(project, 1)
    process = run.start()
    process.listen(lambda: process.count("trial") >= 10)
    process.kill()
    process.wait()
    with closing(open_runs(project.folder / run.store, read_only=True)) as opened:
        before = opened.summary(run_id := opened.find("latest")).duration
        missing = CASES - len(opened.outcomes(run_id, 1))
    assert before >= 5 * 0.05
    resume(run)
    with closing(open_runs(project.folder / run.store, read_only=True)) as opened:
        whole = opened.load(run_id).duration
    assert before + missing / 2 * 0.05 <= whole < before + 60


# --- re-scoring that is broken off, and what comes after it -----------------------------------------------------------


def scorings(project: Project, store: str) -> list[bool]:
    """Of each scoring of the newest run, whether it was finished."""
    with closing(open_runs(project.folder / store, read_only=True)) as opened:
        return [scoring.finished for scoring in opened.scorings(opened.find("latest"))]


def counted(project: Project, store: str) -> dict[str, int]:
    [run] = stored(project, store)["runs"]
    found: dict[str, int] = run["counts"]
    return found


@pytest.mark.nightly
@pytest.mark.slow
def test_killed_rescore_changes_nothing_and_is_repeated(project: Project) -> None:
    _, report = undisturbed(project)
    store = "undisturbed.sqlite3"
    mild = {**json.loads((project.folder / "test_config.json").read_text()), "criteria": {"patient": 0.1}}
    (project.folder / "mild.json").write_text(json.dumps(mild))
    starts = len(Ledger.read(project.folder / "undisturbed.ledger").of("start"))
    project.judge_seconds = (0.05, 0.1)
    words = ["score", "latest", "--config", "mild.json", "--store", store]
    process = Process(project, words, project.folder / "undisturbed.ledger")
    assert Blow(trials=4).strike(process)
    assert scorings(project, store) == [True, False]
    assert differences(stored(project, store), report) == []
    shown = run_command(project, "show", "latest", "--format", "json", "--store", store)
    assert json.loads(shown.stdout)["runs"][0]["counts"] == report["runs"][0]["counts"]
    project.judge_seconds = (0.0, 0.0)
    again = Process(project, ["score", "latest", "--store", store], project.folder / "undisturbed.ledger")
    assert again.wait() == 1  # with the config of the scoring that counts: not of the one that was killed
    assert differences(stored(project, store), report) == []
    assert "came out as in scoring 1" in again.stdout
    assert run_command(project, *words).returncode == 3  # the errors of the agent stay
    assert counted(project, store) == {"error": 2, "passed": CASES - 2}
    assert scorings(project, store) == [True, False, True, True]
    assert len(Ledger.read(project.folder / "undisturbed.ledger").of("start")) == starts


@pytest.mark.nightly
@pytest.mark.slow
def test_what_is_resumed_after_it_was_judged_again_shows_all_of_the_run(project: Project) -> None:
    code, report = undisturbed(project)
    run = killed(project)
    assert run_command(project, "score", "latest", "--store", run.store).returncode in (1, 3)
    assert counted(project, run.store)["not_run"] > 0
    assert resume(run).child.returncode == code
    assert differences(stored(project, run.store), report) == []


@pytest.mark.nightly
@pytest.mark.slow
def test_errors_are_run_again_also_after_both_were_killed(project: Project) -> None:
    """The agent of `crash_project/` breaks at c5 and c22 until there is a file `mended`."""
    run = killed(project)
    resume(run)
    assert counted(project, run.store)["error"] == 2
    (project.folder / "mended").touch()
    starts = started(run)
    process = run.start("--retry-errors")
    process.kill() if process.listen(lambda: process.count("trial") >= 1) else None
    process.wait()
    last = run.start("--retry-errors")
    assert last.wait() == 1, last.stderr
    assert "error" not in counted(project, run.store)
    assert 2 <= started(run) - starts <= 2 + process.project.concurrency
    attempts = sorted(key for key in rows_of(project.folder / run.store).evidence if key[2])
    assert attempts == [(5, 0, 1), (22, 0, 1)]
    assert run_command(project, "resume", "latest", "--retry-errors", "--store", run.store).returncode == 1


# --- begun in Python -----------------------------------------------------------------------------------------------------

BEGIN = """
import os, signal, sys
import proctor
from proctor.engine.execution.run_control import NoProgress

class Killer(NoProgress):
    left = 6
    def trial_finished(self, *_):
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)

agent = sys.argv[1]
if agent == "object":
    sys.path.insert(0, ".")
    from agent import root_agent as agent
proctor.evaluate_sync(agent, "numbers.evalset.json", store="sqlite:s-1.sqlite3", concurrency=4, progress=Killer())
"""


@pytest.mark.nightly
@pytest.mark.parametrize("agent", quickly(["agent.py", "object"], "agent.py"))
def test_run_started_in_python_resumes_from_the_command_line(project: Project, agent: str) -> None:
    code, report = undisturbed(project)
    run = KilledRun(project, 1)
    begun = subprocess.run(
        [sys.executable, "-c", BEGIN, agent],
        cwd=project.folder,
        env=project.variables(run.ledger),
        check=False,
    )
    assert begun.returncode == -signal.SIGKILL
    process = run.start()
    if agent == "object":
        assert process.wait() == 2
        assert "was an object in Python" in process.stderr
        return
    assert process.wait() == code, process.stderr
    run.check(process)
    assert differences(stored(project, run.store), report) == []
    assert started(run) <= CASES + project.concurrency


# --- the clock [9] -------------------------------------------------------------------------------------------------------

CLOCKS = {
    "an hour back": "-3600,0,0,0",
    "to and fro": "3600,-7200,3600,-86400",
    "a year on": "31536000,0,0,0",
}


@pytest.mark.nightly
@pytest.mark.parametrize("clock", quickly(CLOCKS, at_night=("an hour back", "a year on")))
def test_a_clock_that_jumps_changes_no_order_and_makes_no_time_negative(project: Project, clock: str) -> None:
    code, report = undisturbed(project)
    project.environment["CRASH_CLOCK"] = CLOCKS[clock]
    run = killed(project, after=12)
    project.environment["CRASH_CLOCK"] = "-3600,0,0"
    assert resume(run).child.returncode == code
    run.check_end()
    assert differences(stored(project, run.store), report) == []
    with closing(open_runs(project.folder / run.store, read_only=True)) as opened:
        result = opened.load(run_id := opened.find("latest"))
        assert 0 < result.duration < 60
        for trial in (trial.trial for case in result.cases for trial in case.trials):
            assert trial is not None
            assert all(
                0 <= each < 10 for each in (trial.duration, *(turn.duration or 0 for turn in trial.turns))
            )
    project.environment["CRASH_CLOCK_BEGINS"] = "-86400"
    assert Process(project, project.eval(run.store), project.folder / "ledger-2").wait() == code
    with closing(open_runs(project.folder / run.store, read_only=True)) as opened:
        ids = [record.run_id for record in opened.runs()]
        assert ids[1] == run_id
        assert opened.find("latest") == ids[0]


# --- forced, although the set is another one -----------------------------------------------------------------------------


def begun(tmp_path: Path, num_runs: int = 1) -> Agent:
    """A run of twelve cases in Python that was stopped after the first four."""
    agent, watch = Agent(), StopAfter(4 * num_runs)
    proctor.evaluate_sync(
        agent, a_set(), config=CONFIG, store=store_of(tmp_path), num_runs=num_runs, progress=watch, stop=watch.stop,
        concurrency=1,
    )  # fmt: skip
    return agent


def some_of(*numbers: int) -> dict[str, Any]:
    return {"eval_set_id": "numbers", "eval_cases": [one_case(number) for number in numbers]}


def listed(tmp_path: Path) -> tuple[RunState, Outcome | None, dict[str, int]]:
    [record] = proctor.list_runs(store_of(tmp_path))
    counts = {name: count for name, count in record.summary.counts.items() if count}
    return record.state, record.summary.outcome, counts


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("num_runs", [1, 2])
@pytest.mark.parametrize(
    ("left", "counts"),
    [
        pytest.param([0, 1, 2, 3, 7, 8], {"passed": 4, "failed": 2, "not_run": 6}, id="cases that were not run are gone"),
        pytest.param([2, 7, 8], {"passed": 4, "failed": 2, "not_run": 6}, id="cases that were run are gone, too"),
        pytest.param([4], {"passed": 3, "failed": 2, "not_run": 7}, id="hardly any is left"),
    ],
)  # fmt: skip
def test_a_set_that_has_shrunk_leaves_its_other_cases_as_they_are(
    tmp_path: Path, left: list[int], counts: dict[str, int], num_runs: int
) -> None:
    agent = begun(tmp_path, num_runs)
    forced = proctor.resume_sync(store=store_of(tmp_path), agent=agent, eval_sets=some_of(*left), force=True)
    assert {outcome.value: count for outcome, count in forced.counts.items() if count} == counts
    assert listed(tmp_path) == (RunState.FINISHED, forced.outcome, counts)
    assert not forced.interrupted
    again = proctor.rescore_sync("latest", store=store_of(tmp_path))
    assert again.counts == forced.counts
    assert listed(tmp_path)[2] == counts


@pytest.mark.nightly
def test_a_set_that_has_grown_is_judged_again_whole(tmp_path: Path) -> None:
    agent = begun(tmp_path)
    more = some_of(*range(12), 13, 14)
    forced = proctor.resume_sync(store=store_of(tmp_path), agent=agent, eval_sets=more, force=True)
    assert [case.eval_id for case in forced.cases][12:] == ["c13", "c14"]
    assert Outcome.NOT_RUN not in forced.counts
    again = proctor.rescore_sync("latest", store=store_of(tmp_path))
    assert again.counts == forced.counts
    assert listed(tmp_path) == (
        RunState.FINISHED,
        forced.outcome,
        {k.value: n for k, n in forced.counts.items()},
    )
