"""Going on with a run, in every corner: what was edited, moved, pruned, said otherwise, or is done by two at once.

The numbers in brackets are of the fault catalogue. Runs are broken off with kill -9 (see `crashing.py`).
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from proctor.api.runs import open_runs
from tests.stories.crashing import (
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


def told_to(project: Project, *words: str) -> Process:
    """Run a command in the project's folder to its end."""
    process = Process(project, words, project.folder / "ledger-1")
    process.wait()
    assert "Traceback" not in process.stderr
    return process


def goes_on(run: KilledRun, *options: str) -> Process:
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


EDITS: dict[str, tuple[Callable[[Project], None], str]] = {
    "agent": (edit_agent, "the source of the agent"),
    "set": (edit_set, "changed: c20"),
    "longer set": (grow_set, f"new: c{CASES}"),
    "config": (edit_config, "the config of numbers"),
    "metric": (edit_metric, "patient"),
}


def quickly(names: Iterable[str], *short: str) -> list[Any]:
    """The names in `short`, and the others as slow ones."""
    return [pytest.param(name, marks=[] if name in short else pytest.mark.slow) for name in names]


@pytest.mark.parametrize("what", quickly(EDITS, "agent", "set"))
def test_what_was_edited_is_named_and_refused_unless_forced(project: Project, what: str) -> None:
    edit, said = EDITS[what]
    run = killed(project)
    edit(project)
    before = started(run)
    refused = told_to(project, "resume", "--store", run.store)
    assert refused.child.returncode == 2, refused.stderr
    assert said in refused.stderr
    assert "--force" in refused.stderr
    assert started(run) == before
    forced = goes_on(run, "--force")
    assert f"resumed although {said}"[:16] in forced.stdout + forced.stderr
    assert said in forced.stdout + forced.stderr
    names = [name for _, name in Ledger.read(run.ledger).of("start")]
    assert len(names) == len(set(names))
    rows = rows_of(project.folder / run.store)
    assert len(rows.evidence) == CASES + (what == "longer set")


GONE = ["test_config.json", "agent.py", "judges.py", "numbers.evalset.json"]


@pytest.mark.parametrize("name", quickly(GONE, "test_config.json"))
def test_a_file_that_is_gone_is_named(project: Project, name: str) -> None:
    run = killed(project)
    (project.folder / name).rename(project.folder / "elsewhere")
    refused = told_to(project, "resume", "--store", run.store)
    assert refused.child.returncode == 2, refused.stderr
    assert name.partition(".")[0] in refused.stderr or "the config of numbers" in refused.stderr
    (project.folder / "elsewhere").rename(project.folder / name)
    goes_on(run)
    run.check_end()


# --- what may be otherwise -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [["--concurrency", "1"], ["--concurrency", "16"], ["--max-time", "60"]], ids=" ".join
)
def test_how_much_is_done_at_once_changes_nothing(project: Project, options: list[str]) -> None:
    code, report = undisturbed(project)
    run = killed(project)
    assert goes_on(run, *options).child.returncode == code
    run.check_end()
    assert differences(stored(project, run.store), report) == []


# --- how the cases were chosen, and what form they stand in --------------------------------------------------------------


def in_two_sets(project: Project) -> None:
    project.write_set("sets/a.evalset.json", range(14), eval_set_id="a")
    project.write_set("sets/b.evalset.json", range(14, 24), eval_set_id="b")


def as_json_lines(project: Project) -> None:
    cases = json.loads((project.folder / "numbers.evalset.json").read_text())["eval_cases"]
    (project.folder / "numbers.evalset.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))


def as_yaml(project: Project) -> None:
    command = [sys.executable, "-m", "proctor", "convert", "numbers.evalset.json", "numbers.evalset.yaml"]
    subprocess.run(command, cwd=project.folder, check=True, capture_output=True)


def as_it_is(_: Project) -> None:
    """Change nothing."""


CHOSEN: dict[str, tuple[Callable[[Project], None], list[str], list[str], int]] = {
    "--limit": (as_it_is, ["numbers.evalset.json"], ["--limit", "15"], 15),
    "--tag": (as_it_is, ["numbers.evalset.json"], ["--tag", "odd"], 12),
    "FILE:case": (as_it_is, ["numbers.evalset.json:c20,c3,c4,c5,c6,c7,c8,c9,c11"], [], 9),
    "several sets": (in_two_sets, ["sets/b.evalset.json", "sets/a.evalset.json"], [], 24),
    "a folder": (in_two_sets, ["sets"], [], 24),
    "JSON lines": (as_json_lines, ["numbers.evalset.jsonl"], [], CASES),
    "YAML": (as_yaml, ["numbers.evalset.yaml"], [], CASES),
    "metrics": (
        as_it_is,
        ["numbers.evalset.json"],
        ["--metrics", "patient,tool_trajectory_avg_score"],
        CASES,
    ),
}


@pytest.mark.parametrize("how", quickly(CHOSEN, "several sets"))
def test_the_same_cases_go_on(project: Project, how: str) -> None:
    prepare, project.sets, project.more, count = CHOSEN[how]
    prepare(project)
    project.cases = count
    code, report = undisturbed(project)
    run = killed(project)
    assert goes_on(run).child.returncode == code
    assert differences(stored(project, run.store), report) == []
    starts = started(run)
    assert count <= starts <= count + run.toll.in_flight


# --- where ---------------------------------------------------------------------------------------------------------------


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
    goes_on(run)
    run.check_end()


@pytest.mark.slow
def test_a_store_given_by_a_path_from_here_survives_an_agent_that_goes_elsewhere(project: Project) -> None:
    file = project.folder / "agent.py"
    file.write_text(file.read_text().replace("turn, _, turns =", 'os.chdir("/"); turn, _, turns ='))
    code, report = undisturbed(project)
    run = killed(project)
    assert goes_on(run).child.returncode == code
    run.check_end()
    assert differences(stored(project, run.store), report) == []


@pytest.mark.slow
def test_a_folder_that_was_moved_is_no_trap(tmp_path: Path) -> None:
    project = a_project(tmp_path / "before")
    run = killed(project)
    shutil.move(tmp_path / "before", tmp_path / "after")
    project.folder = tmp_path / "after"
    refused = told_to(project, "resume", "--store", run.store)
    assert refused.child.returncode == 2
    assert str(tmp_path / "before") in refused.stderr


# --- several at once [13] ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("several", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_one_of_several_that_resume_a_run_goes_on_and_the_others_are_told(
    tmp_path: Path, several: int
) -> None:
    project = a_project(tmp_path, agent_seconds=(0.1, 0.2), concurrency=2)
    run = killed(project)
    processes = [run.start() for _ in range(several)]
    codes = sorted(process.wait() for process in processes)
    for process in processes:
        assert "Traceback" not in process.stderr
        if process.child.returncode != 1:
            assert "is being worked on by process" in process.stderr, process.stderr
            assert not process.count("trial")
    assert codes == [1, *[2] * (several - 1)], [process.stderr for process in processes]
    names = [name for _, name in Ledger.read(run.ledger).of("start")]
    assert len(names) <= CASES + run.toll.in_flight
    run.check_end()


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


@pytest.mark.slow
def test_a_run_under_way_cannot_be_resumed_pruned_or_judged_again(tmp_path: Path) -> None:
    project = a_project(tmp_path, agent_seconds=(0.5, 0.5), concurrency=2)
    run = KilledRun(project, 1)
    process = run.start()
    assert process.listen(lambda: process.count("trial") >= 2)
    run_id = rows_of(project.folder / run.store).run_id or ""
    for words in (["resume", run_id], ["prune", "--run", run_id, "--yes"], ["score", run_id], ["resume"]):
        refused = told_to(project, *words, "--store", run.store)
        assert refused.child.returncode in (2, 3), refused.stderr
        assert re.search("worked on|under way|nothing to resume", refused.stderr), refused.stderr
    process.signal(signal.SIGINT)
    assert process.wait() == 130, process.stderr
    run.check(process)
    project.agent_seconds = (0.0, 0.0)
    goes_on(run)
    run.check_end()


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
    assert told_to(project, "prune", "--run", other, "--yes", "--store", run.store).child.returncode == 0
    goes_on(run)
    run.check_end()
    assert differences(stored(project, run.store), report) == []


# --- a run that is finished [8] ------------------------------------------------------------------------------------------


def test_a_finished_run_is_left_as_it_is_with_its_exit_code(project: Project) -> None:
    code, report = undisturbed(project)
    starts = len(Ledger.read(project.folder / "undisturbed.ledger").of("start"))
    with closing(open_runs(project.folder / "undisturbed.sqlite3")) as opened:
        run_id = opened.find("latest")
    before = (project.folder / "undisturbed.sqlite3").read_bytes()
    done = told_to(project, "resume", run_id, "--store", "undisturbed.sqlite3")
    assert done.child.returncode == code
    assert "nothing to do" in done.stderr
    assert not Ledger.read(project.folder / "ledger-1").lines
    assert differences(stored(project, "undisturbed.sqlite3"), report) == []
    assert (project.folder / "undisturbed.sqlite3").read_bytes() == before
    none = told_to(project, "resume", "--store", "undisturbed.sqlite3")
    assert none.child.returncode == 2
    assert "nothing to resume" in none.stderr
    assert starts == CASES


# --- figures and warnings of both times ----------------------------------------------------------------------------------


def summary_of(project: Project, store: str) -> Any:
    """What a list of runs says about the newest one, but for how long it took."""
    with closing(open_runs(project.folder / store, read_only=True)) as opened:
        summary = opened.summary(opened.find("latest"))
        return summary.model_dump(exclude={"duration"})


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
    assert ["4 trials were tried again" in said for said in whole["warnings"]] == [True]
