"""`proctor runs`, `show`, `export`, `import`, `prune`: looking at what is kept."""

import csv
import io
import json
import re
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from proctor.cli.runs.times import read_age, read_moment
from proctor.errors import StoreError
from proctor.runs.storage.open import NoRunsError, open_runs, open_store
from proctor.stores.sql.store import SqlStore
from tests.cli.project import case, copy_of, in_this_process, make_project, write_set
from tests.stores.sample_runs import begun

FINE, WRONG, CRASH = case("fine", "hello"), case("wrong", "no call"), case("crash", "crash")
EVAL = ("eval", "agent.py", "cases.evalset.json")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which nothing was run yet."""
    make_project(tmp_path, FINE, WRONG, CRASH)
    write_set(tmp_path / "good.evalset.json", FINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make_two_runs() -> None:
    """Make two runs: one of three cases three times, and one in which everything passed."""
    make_project(Path(), FINE, WRONG, CRASH)
    write_set(Path("good.evalset.json"), FINE)
    assert in_this_process(*EVAL, "--num-runs", "3").returncode == 1
    assert in_this_process("eval", "agent.py", "good.evalset.json").returncode == 0


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same after two runs."""
    monkeypatch.chdir(tmp_path)
    return copy_of(make_two_runs, tmp_path)


def lines(*arguments: str, code: int = 0) -> list[str]:
    done = in_this_process(*arguments)
    assert done.returncode == code, done.stderr
    return done.stdout.splitlines()


def listed(*arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads("\n".join(lines("runs", "--json", *arguments)))["runs"]
    return found


def error(*arguments: str) -> str:
    done = in_this_process(*arguments)
    assert (done.returncode, done.stdout) == (2, ""), done.stdout
    assert done.stderr.startswith("error: ")
    return done.stderr.removeprefix("error: ")


# --- where runs are kept ---------------------------------------------------------------------------------------------


def test_the_project_keeps_its_runs_out_of_version_control(ran: Path) -> None:
    assert (ran / ".proctor" / "store.sqlite3").is_file()
    assert (ran / ".proctor" / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize("root", ["proctor.toml", "pyproject.toml", ".git"])
def test_from_anywhere_in_a_project_its_runs_are_found(
    project: Path, monkeypatch: pytest.MonkeyPatch, root: str
) -> None:
    (project / root).mkdir() if root == ".git" else (project / root).touch()
    below = project / "a" / "b"
    below.mkdir(parents=True)
    lines("eval", "agent.py", "good.evalset.json")
    monkeypatch.chdir(below)
    assert len(listed()) == 1
    assert not (below / ".proctor").exists()


def test_a_run_can_be_kept_nowhere(project: Path) -> None:
    last = lines("eval", "agent.py", "good.evalset.json", "--store", "memory:")[-1]
    assert "run=" not in last
    assert not (project / ".proctor").exists()


@pytest.mark.parametrize("url", ["mine.sqlite3", "sqlite:///mine.sqlite3", "sqlite:mine.sqlite3"])
def test_or_anywhere(project: Path, url: str) -> None:
    lines("eval", "agent.py", "good.evalset.json", "--store", url)
    assert (project / "mine.sqlite3").is_file()
    assert len(listed("--store", url)) == 1
    assert not (project / ".proctor").exists()


@pytest.mark.parametrize("url", ["kept/mine.sqlite3", "sqlite:///kept/mine.sqlite3"])
def test_store_of_the_settings_is_relative_to_their_file(
    project: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    (project / "proctor.toml").write_text(f'store = "{url}"\n')
    (project / "below").mkdir()
    monkeypatch.chdir(project / "below")
    lines("eval", str(project / "agent.py"), str(project / "good.evalset.json"))
    assert (project / "kept" / "mine.sqlite3").is_file()
    assert len(listed()) == 1


def test_results_go_to_google_adk_s_folder_too(project: Path) -> None:
    lines("eval", "agent.py", "good.evalset.json", "--store", f"adk:{project}?app=mine")
    (result,) = (project / "mine" / ".adk" / "eval_history").glob("*.evalset_result.json")
    assert json.loads(result.read_text())["eval_set_id"] == "good"
    assert len(listed()) == 1


def test_configuration_error_is_reported_before_the_agent_is_called(project: Path) -> None:
    (project / "agent.py").write_text("def root_agent(message): open('called', 'w'); return 'x'\n")
    (project / "text.txt").write_text("no store\n" * 20)
    assert "this file is not a store" in error(*EVAL, "--store", "text.txt")
    assert not (project / "called").exists()
    assert (project / "text.txt").read_text() == "no store\n" * 20


# --- runs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["show", "score", "export", "resume", "prune"])
def test_empty_store_gives_advice(project: Path, command: str) -> None:
    more = {"export": ["--format", "json"], "prune": ["--keep", "1"]}.get(command, [])
    message = error(command, *more)
    assert message.startswith("no runs yet: ")
    assert "`proctor eval AGENT SET`" in message
    assert not (project / ".proctor").exists()


def test_no_runs_are_an_empty_list(project: Path) -> None:
    done = in_this_process("runs")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("no runs yet: ")
    assert listed() == []
    assert not (project / ".proctor").exists()
    assert "gone.sqlite3" in error("runs", "--store", "gone.sqlite3")


def test_the_newest_comes_first(ran: Path) -> None:
    newest, older = listed()
    assert (newest["sets"], newest["outcome"], newest["counts"]) == (["good"], "passed", {"passed": 1})
    assert (older["sets"], older["outcome"], older["num_runs"]) == (["cases"], "failed", 3)
    assert older["counts"] == {"passed": 1, "failed": 1, "error": 1}
    assert newest["created_at"] > older["created_at"] > time.time() - 60
    assert {run["state"] for run in (newest, older)} == {"finished"}


def test_a_line_for_each_run(ran: Path) -> None:
    first, second = lines("runs")
    assert re.fullmatch(
        r"RUN  \w{6}  passed  20\d\d-\d\d-\d\d \d\d:\d\d  agent=\w+  sets=good  cases=1  runs=1  passed=1"
        r"  duration=[\d.]+m?s",
        first,
    )
    assert "  cases=3  runs=3  passed=1  failed=1  error=1" in second


FILTERS = {
    "all": ([], ["good", "cases"]),
    "an agent": (["--agent", "test_*"], ["good", "cases"]),
    "no such agent": (["--agent", "nobody"], []),
    "a set": (["--set", "good"], ["good"]),
    "a set's file": (["--set", "some/good.evalset.json"], ["good"]),
    "several sets": (["--set", "*s"], ["cases"]),
    "an outcome": (["--outcome", "passed"], ["good"]),
    "outcomes": (["--outcome", "passed", "--outcome", "failed"], ["good", "cases"]),
    "a state": (["--state", "unfinished"], []),
    "since": (["--since", "1h"], ["good", "cases"]),
    "since today's end": (["--since", "2100-01-01"], []),
    "until": (["--until", "1h"], []),
    "until then": (["--until", "2100-01-01"], ["good", "cases"]),
    "a limit": (["--limit", "1"], ["good"]),
}


@pytest.mark.nightly(check=5)
@pytest.mark.parametrize(("arguments", "expected"), FILTERS.values(), ids=FILTERS)
def test_which_runs_are_listed(ran: Path, arguments: list[str], expected: list[str]) -> None:
    assert [run["sets"][0] for run in listed(*arguments)] == expected


def test_omitted_parts_are_reported(ran: Path) -> None:
    assert lines("runs", "--limit", "1")[-1] == "MORE  1 runs  (--limit 0 lists all)"
    done = in_this_process("runs", "--agent", "nobody")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "none of the 2 runs matches; `proctor runs` lists them\n"


NOW = datetime(2026, 11, 22, 14, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7d", NOW - timedelta(days=7)),
        ("90 min", NOW - timedelta(minutes=90)),
        ("1.5h", NOW - timedelta(minutes=90)),
        ("today", datetime(2026, 11, 22, tzinfo=UTC)),
        ("Yesterday", datetime(2026, 11, 21, tzinfo=UTC)),
        ("2026-11-20T12:00+00:00", datetime(2026, 11, 20, 12, tzinfo=UTC)),
        ("2026-11-20", datetime(2026, 11, 20).astimezone()),
        ("2026-11-20 14:00", datetime(2026, 11, 20, 14).astimezone()),
        ("tomorrow", None),
        ("", None),
        ("99999999999999w", None),
        ("2026-13-01", None),
    ],
)
def test_times_as_people_type_them(text: str, expected: datetime | None) -> None:
    assert read_moment(text, NOW) == expected


@pytest.mark.parametrize(
    ("text", "seconds"), [("30d", 30 * 86400), ("2 weeks", 14 * 86400), ("0s", 0), ("-1d", None), ("d", None)]
)
def test_ages(text: str, seconds: float | None) -> None:
    assert read_age(text) == (None if seconds is None else timedelta(seconds=seconds))


@pytest.mark.parametrize("arguments", [["runs", "--since", "soon"], ["prune", "--older-than", "old"]])
def test_invalid_time_is_reported_with_examples(ran: Path, arguments: list[str]) -> None:
    assert "expected e.g." in error(*arguments)


# --- show ------------------------------------------------------------------------------------------------------------


def test_a_run_is_shown_as_its_report_was(project: Path) -> None:
    report = lines(*EVAL, "--num-runs", "3", code=1)
    run_id = listed()[0]["run_id"]
    head, *shown = lines("show", run_id)
    assert shown == report
    assert head.startswith(f"KEPT  {run_id}  ")


@pytest.mark.parametrize("name", [[], ["latest"], ["ID"], ["ID[:6]"]], ids=str)
def test_a_run_is_named_by_id_by_its_beginning_or_as_the_latest(ran: Path, name: list[str]) -> None:
    run_id = listed()[0]["run_id"]
    words = [word.replace("ID[:6]", run_id[:6]).replace("ID", run_id) for word in name]
    assert lines("show", *words)[0].split()[1] == run_id


def test_its_reports_can_be_written_later(ran: Path) -> None:
    direct = json.loads("\n".join(lines("show", "latest", "--json")))
    lines("show", "latest", "--report", "json=out.json")
    assert json.loads((ran / "out.json").read_text()) == direct
    assert direct["runs"][0]["cases"][0]["trials"][0]["evidence"]["turns"]


def test_a_case_with_everything_that_is_known(ran: Path) -> None:
    run_id = listed()[1]["run_id"]
    shown = lines("show", run_id, "wrong")
    assert shown[0].startswith("CASE  cases/wrong  failed  trials=FFF  ")
    assert "METRIC  tool_trajectory_avg_score  failed  0.00<1  trials=0.00,0.00,0.00" in shown
    assert [line.split("  ")[1] for line in shown if line.startswith("TRIAL")] == ["1", "2", "3"]
    assert "    turn 1: user: no call" in shown
    assert '    turn 1: - look(at="no call")' in shown
    assert shown[-1].startswith("SCORING  1  failed  ")


def test_one_trial_of_it(ran: Path) -> None:
    run_id = listed()[1]["run_id"]
    shown = lines("show", run_id, "wrong", "--trial", "2")
    assert [line.split("  ")[1] for line in shown if line.startswith("TRIAL")] == ["2"]
    assert "the case has trials 1 to 3" in error("show", run_id, "wrong", "--trial", "4")


def test_interrupted_case_names_its_place(project: Path) -> None:
    assert in_this_process(*EVAL).returncode == 1
    shown = lines("show", "latest", "crash")
    assert "    reason: agent raised in turn 1: RuntimeError: the agent broke" in shown
    assert any(line.startswith("    turn 1: at: agent.py:") for line in shown)


def test_a_case_as_json(ran: Path) -> None:
    run_id = listed()[1]["run_id"]
    data = json.loads("\n".join(lines("show", run_id, "cases/wrong", "--json")))
    assert (data["run_id"], data["judging"], data["case"]["outcome"]) == (run_id, 1, "failed")
    assert [trial["number"] for trial in data["case"]["trials"]] == [0, 1, 2]
    assert [scoring["config_source"] for scoring in data["judgings"]] == ["test_config.json"]


def test_cases_of_one_id_in_two_sets_are_distinguished(project: Path) -> None:
    lines("eval", "agent.py", "cases.evalset.json", "good.evalset.json", code=1)
    assert "use cases/fine or good/fine" in error("show", "latest", "fine")
    assert lines("show", "latest", "good/fine")[0].startswith("CASE  good/fine  passed")


NOT_THERE = {
    "no such run": (["nothing"], "No run named 'nothing'"),
    "no such case": (["latest", "fin"], "Did you mean 'fine'?"),
    "no such scoring": (["latest", "--scoring", "2"], "--scoring 2: the run has scoring 1"),
    "no such scoring, by the former option": (
        ["latest", "--judging", "2"],
        "--scoring 2: the run has scoring 1",
    ),
    "a trial of no case": (["latest", "--trial", "1"], "name it after the run"),
    "a report of a case": (["latest", "fine", "--format", "json"], "about a whole run"),
    "no such report": (["latest", "--format", "jsn"], "Did you mean 'json'?"),
}


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(("arguments", "message"), NOT_THERE.values(), ids=NOT_THERE)
def test_what_cannot_be_shown(ran: Path, arguments: list[str], message: str) -> None:
    assert message in error("show", *arguments)


# --- export and import -----------------------------------------------------------------------------------------------


def test_a_line_for_each_trial(ran: Path) -> None:
    found = [json.loads(line) for line in lines("export", listed()[1]["run_id"], "--format", "jsonl")]
    trials = [one for one in found if "trial" in one]
    assert [(one["eval_id"], one["outcome"]) for one in trials[::3]] == [
        ("fine", "passed"),
        ("wrong", "failed"),
        ("crash", "error"),
    ]


def test_a_row_for_each_trial(ran: Path) -> None:
    rows = list(
        csv.DictReader(io.StringIO("\n".join(lines("export", listed()[1]["run_id"], "--format", "csv"))))
    )
    assert [(row["eval_id"], row["trial"]) for row in rows][:4] == [
        ("fine", "0"),
        ("fine", "1"),
        ("fine", "2"),
        ("wrong", "0"),
    ]


@pytest.mark.parametrize("name", ["out.json", "out.jsonl", "out.evalset_result.json"])
def test_exported_run_is_imported_unchanged(ran: Path, name: str) -> None:
    run_id = listed()[1]["run_id"]
    lines("export", run_id, "--output", name)
    (line,) = lines("import", name)
    imported = line.split()[0]
    assert line.endswith("failed: 1 of 3 cases fails, 1 could not be scored")
    assert {run["run_id"] for run in listed()} > {imported}
    again, before = ({run["run_id"]: run for run in listed()}[one] for one in (imported, run_id))
    assert again["counts"] == before["counts"]
    assert lines("show", imported, "wrong")[0].startswith("CASE  cases/wrong  failed  trials=FFF")


def test_what_was_imported_can_be_judged_again(ran: Path) -> None:
    lines("export", listed()[1]["run_id"], "--output", "out.evalset_result.json")
    (ran / "mild.json").write_text('{"criteria": {"response_match_score": 0.1}}')
    imported = lines("import", "out.evalset_result.json")[0].split()[0]
    assert lines("score", imported, "--config", "mild.json", code=3)[-1].startswith(
        "SCORING  2  1 of 3 cases"
    )


EXPORTS = {
    "no form": ([], "which form?"),
    "an unknown suffix": (["--output", "out.bin"], "which form?"),
    "no such form": (["--format", "cvs"], "Did you mean 'csv'?"),
    "a folder for one file": (
        ["--format", "json", "--output", "new/"],
        "new/ is a folder, and json goes to one file",
    ),
    "an app of no agent": (["--format", "csv", "--app", "x"], "it goes with --format adk"),
    "a folder that is not there": (
        ["--output", "agent.py/out.evalset_result.json"],
        "agent.py/out.evalset_result.json",
    ),
}


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(("arguments", "message"), EXPORTS.values(), ids=EXPORTS)
def test_what_cannot_be_exported(ran: Path, arguments: list[str], message: str) -> None:
    assert message in error("export", "latest", *arguments)


def test_the_help_s_own_example_makes_the_folder(ran: Path) -> None:
    done = in_this_process("export", "latest", "--format", "adk", "--output", "results/")
    assert done.returncode == 0, done.stderr
    (file,) = (ran / "results").iterdir()
    assert done.stderr.startswith(f"results/{file.name}: run ")


def test_what_cannot_be_imported(ran: Path) -> None:
    assert "cases.evalset.json" in error("import", "cases.evalset.json")
    assert "gone.json" in error("import", "gone.json")
    assert len(listed()) == 2


def test_why_turns_passed_is_found_out_later(ran: Path) -> None:
    shown = in_this_process("show", "latest", "fine")
    assert "Why turns passed was not kept, only why they missed." in shown.stderr
    way = re.search(r"`proctor (score \w+ --details)`", shown.stderr)
    assert way is not None
    assert "= look(" not in shown.stdout
    assert in_this_process(*way[1].split()).returncode == 0
    again = in_this_process("show", "latest", "fine")
    assert (again.stderr, "= look(" in again.stdout) == ("", True)
    assert in_this_process("show", "latest", "fine", "--json").stderr == ""


def test_imported_run_resumes_only_in_its_original_store(ran: Path) -> None:
    lines("export", listed()[1]["run_id"], "--output", "run.jsonl")
    lines("import", "run.jsonl")
    message = error("resume", "latest", "--retry-errors")
    assert f"run {listed()[0]['run_id']} was imported from run.jsonl" in message
    assert "resumed only in the store that it was run in" in message


def test_unfinished_run_is_exported_in_part_with_a_note(ran: Path) -> None:
    with closing(open_store()) as store:
        writer = begun(store, "under_way")
        done = in_this_process("export", "under_way", "--output", "run.jsonl")
        assert done.returncode == 0
        assert "run under_way is under way: this is how far it has come" in done.stderr
        writer.close()
    assert "under way:" not in in_this_process("export", "under_way", "--output", "run.jsonl").stderr


_KILLED = """
import os
from proctor.runs.importing import import_runs as importing_runs
importing_runs._write_cases = lambda writer, *_: os._exit(9)
importing_runs.import_run("run.jsonl")
"""


@pytest.mark.slow
def test_killed_import_is_marked_and_cannot_be_resumed(ran: Path) -> None:
    lines("export", "latest", "--output", "run.jsonl")
    assert subprocess.run([sys.executable, "-c", _KILLED], check=False).returncode == 9
    assert (listed()[0]["state"], listed()[0]["outcome"]) == ("unfinished", None)
    assert "nothing to resume" in error("resume")
    message = in_this_process("show", "latest").stderr
    assert "incomplete: its import from run.jsonl was interrupted" in message
    way = re.search(r"`proctor (prune --run \w+)` deletes it", message)
    assert way is not None
    lines(*way[1].split(), "--yes")
    assert len(listed()) == 2


def test_an_import_that_fails_leaves_nothing_behind(ran: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    lines("export", "latest", "--output", "run.jsonl")
    monkeypatch.setattr("proctor.runs.importing.import_runs._write_cases", full)
    assert error("import", "run.jsonl") == "the disk is full\n"
    assert len(listed()) == 2


# --- prune -----------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_prune_passes_on_warnings_about_the_store_and_none_of_a_library(
    ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delete(store: SqlStore, runs: list[str]) -> None:
        warnings.warn("the artefacts remain", stacklevel=1)
        warnings.warn("utcnow() is deprecated", DeprecationWarning, stacklevel=1)

    monkeypatch.setattr(SqlStore, "delete", delete)
    done = in_this_process("prune", "--keep", "1", "--yes")
    assert done.stderr.splitlines() == ["warning: the artefacts remain"]


def test_no_question_without_a_terminal(ran: Path) -> None:
    done = in_this_process("prune", "--keep", "1")
    assert done.returncode == 2
    assert done.stderr == "error: nothing was deleted: add --yes to delete them without being asked\n"
    assert done.stdout.startswith("1 run of 2 in ")
    assert len(listed()) == 2


PRUNED = {
    "all but the newest": (["--keep", "1"], ["good"]),
    "all": (["--keep", "0"], []),
    "the old": (["--older-than", "0s"], []),
    "none is old": (["--older-than", "1h"], ["good", "cases"]),
    "the old, but not the newest": (["--older-than", "0s", "--keep", "1"], ["good"]),
    "none of the old is beyond the newest": (["--older-than", "0s", "--keep", "2"], ["good", "cases"]),
    "one by name": (["--run", "latest"], ["cases"]),
    "only listed": (["--keep", "0", "--dry-run"], ["good", "cases"]),
}


@pytest.mark.nightly(check=3)
@pytest.mark.parametrize(("arguments", "left"), PRUNED.values(), ids=PRUNED)
def test_what_is_deleted(ran: Path, arguments: list[str], left: list[str]) -> None:
    lines("prune", *arguments, "--yes")
    assert [run["sets"][0] for run in listed()] == left


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give --keep N, --older-than AGE or --run RUN"),
        (["--run", "latest", "--keep", "1"], "give one or the other"),
        (["--run", "nothing"], "No run named 'nothing'"),
    ],
)
def test_what_cannot_be_deleted(ran: Path, arguments: list[str], message: str) -> None:
    assert message in error("prune", *arguments, "--yes")
    assert len(listed()) == 2


# --- for programs --------------------------------------------------------------------------------------------------------


def data(*arguments: str, code: int = 0) -> Any:
    done = in_this_process(*arguments)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_every_step_of_a_run_s_life_has_json_output(project: Path) -> None:
    """All other messages go to stderr."""
    assert data(*EVAL, "--max-failures", "1", "--concurrency", "1", "--json", code=1)["outcome"] == "failed"
    assert data("resume", "--json", code=1)["runs"][0]["counts"] == {"passed": 1, "failed": 1, "error": 1}
    assert data("score", "--json", code=1)["runs"][0]["judging_duration"] > 0
    assert data("show", "--json")["runs"][0]["run_id"] == data("runs", "--json")["runs"][0]["run_id"]
    assert data("export", "--json")["outcome"] == "failed"
    lines("export", "--output", "run.jsonl")
    (imported,) = data("import", "run.jsonl", "--json")["runs"]
    assert (imported["file"], imported["outcome"], imported["failure"]) == ("run.jsonl", "failed", None)
    assert imported["run_id"] == data("runs", "--json")["runs"][0]["run_id"]
    would = data("prune", "--keep", "1", "--dry-run", "--json")
    assert (would["deleted"], would["of"], len(would["runs"]), len(listed())) == (False, 2, 1, 2)
    gone = data("prune", "--keep", "1", "--yes", "--json")
    assert gone == {**would, "deleted": True}
    assert [run["run_id"] for run in listed()] == [imported["run_id"]]


def test_question_in_json_mode_is_refused(ran: Path) -> None:
    assert "--json cannot ask: add --yes" in error("prune", "--keep", "0", "--json")
    assert len(listed()) == 2


def test_imports_before_an_unreadable_file_are_reported(ran: Path) -> None:
    lines("export", "--output", "run.jsonl")
    done = in_this_process("import", "run.jsonl", "gone.jsonl", "--json")
    assert (done.returncode, len(json.loads(done.stdout)["runs"])) == (2, 1)
    assert "gone.jsonl" in done.stderr


AS_AN_ORDINARY_USER = """
import json, os, sys
sys.path[:0] = {path!r}
from tests.cli.project import in_this_process
os.chdir({folder!r})
looking = [["show"], ["show", "latest", "wrong"], ["runs"], ["export", "--format", "jsonl"], ["show", "--json"]]
for command in [*looking, {eval!r}]:  # late imports: only root may read where Python is, at times
    in_this_process(*command)
os.chmod(".proctor/store.sqlite3", 0o444)
os.chmod(".proctor", 0o555)
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
done = [in_this_process(*command) for command in [{eval!r}, ["score"], ["prune", "--keep", "0", "--yes"], *looking]]
print(json.dumps([[one.returncode, one.stdout, one.stderr] for one in done]))
"""


@pytest.mark.slow
def test_a_store_that_may_only_be_read_is_for_looking(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as name:  # pytest's own folder is for its own user only
        folder = Path(name)
        folder.chmod(0o755)
        make_project(folder, FINE, WRONG)
        agent = "def root_agent(message): open('called', 'a').write('x'); return 'x'\n"
        (folder / "agent.py").write_text(agent)
        code = AS_AN_ORDINARY_USER.format(path=sys.path, folder=name, eval=list(EVAL))
        in_folder = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        (folder / ".proctor").chmod(0o755)
        asked = (folder / "called").read_text()
    refused, looked = json.loads(in_folder.stdout)[:3], json.loads(in_folder.stdout)[3:]
    for exit_code, _, message in refused:
        assert exit_code == 2
        assert ".proctor" in message
        assert "cannot be written" in message
    assert asked == "xx"  # the first time; not once more
    assert [exit_code for exit_code, _, _ in looked] == [0] * 5
    assert all("wrong" in shown or "RUN" in shown for _, shown, _ in looked)


def test_reading_never_makes_a_store(project: Path) -> None:
    with pytest.raises(NoRunsError):
        open_runs()
    assert not (project / ".proctor").exists()
    open_store().close()
    open_runs().close()
