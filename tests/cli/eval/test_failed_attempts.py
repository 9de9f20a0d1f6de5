"""After an attempt that ended with a configuration error, `latest` is not taken for what it would have made."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.errors import SetupError
from proctor.runs.attempts import FailedAttempt, describe_attempt
from tests.cli.project import case, copy_of, in_this_process, make_project, write_set

RECORD = Path(".proctor/store.sqlite3.attempt.json")
EVAL = ["eval", "agent.py", "cases.evalset.json"]


def make_two_runs() -> None:
    """Make two runs: the first is the baseline main (in the store and in main.json), the second has a case that fails."""
    make_project(Path(), case("hello", "hello"), case("bad", "bad", answer="nothing like it"))
    assert in_this_process(*EVAL).returncode == 1
    assert in_this_process("baseline", "set", "main").returncode == 0
    assert in_this_process("baseline", "export", "main", "main.json").returncode == 0
    assert in_this_process(*EVAL).returncode == 1


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two runs."""
    monkeypatch.chdir(tmp_path)
    return copy_of(make_two_runs, tmp_path)


FAILED = {
    "a set that is missing": ["eval", "agent.py", "gone.evalset.json"],
    "an agent that is missing": ["eval", "gone.py", "cases.evalset.json"],
    "a wrong config": [*EVAL, "--config", "gone.json"],
    "an unknown option": [*EVAL, "--bogus"],
    "a wrong number": [*EVAL, "--num-runs", "0"],
    "a report that cannot be written": [*EVAL, "--report", "json=no/where.json"],
    "an unknown metric": [*EVAL, "--metrics", "no_such_metric"],
    "traces that are missing": ["score-trace", "gone.jsonl"],
    "a config to score with": ["score", "--config", "gone.json"],
    "a run to resume that is missing": ["resume", "nosuchrun"],
    "a wrong option of resume": ["resume", "latest", "--concurrency", "0"],
    "a file to import that is missing": ["import", "gone.json"],
}
REFUSED = {
    "compare": ["compare"],
    "compare with a baseline": ["compare", "--baseline", "main.json"],
    "compare one case": ["compare", "previous", "latest", "hello"],
    "compare latest~1": ["compare", "latest~1", "latest~1"],
    "eval --failed": [*EVAL, "--failed", "latest"],
    "baseline set": ["baseline", "set", "next"],
    "bless": ["bless", "latest", "bad", "--yes"],
    "score": ["score"],
    "score latest~1": ["score", "latest~1"],
    "export": ["export", "--format", "junit"],
    "export previous": ["export", "previous", "--format", "json"],
    "resume": ["resume", "latest"],
    "show --report": ["show", "--report", "junit=out.xml"],
    "show --format": ["show", "latest", "--format", "json"],
    "show --json": ["show", "--json"],
    "show a case --json": ["show", "latest", "bad", "--json"],
    "plan": ["plan"],
    "prune": ["prune", "--run", "latest", "--yes"],
    "judge calibrate": ["judge", "calibrate", "latest", "--labels", "labels.csv"],
    "judge label": ["judge", "label", "latest", "bad", "--pass"],
}


@pytest.mark.parametrize(
    ("problem", "shown"),
    [
        ("no x.", "no x. The"),
        ("no x. Did you mean 'y'?", "no x. Did you mean 'y'? The"),
        ("no x", "no x. The"),
    ],
)
def test_the_description_of_an_attempt_has_one_full_stop_at_its_problem(problem: str, shown: str) -> None:
    text = describe_attempt(FailedAttempt("proctor eval", problem, 0.0, latest="ab"))
    assert f"configuration error: {shown} newest run, ab, is older" in text


@pytest.mark.nightly(check=4)
@pytest.mark.parametrize("attempt", FAILED.values(), ids=FAILED)
def test_latest_is_refused_after_a_failed_attempt(project: Path, attempt: list[str]) -> None:
    assert in_this_process(*attempt).returncode == 2
    done = in_this_process("compare", "--baseline", "main.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"the last attempt, `proctor {attempt[0]} " in done.stderr
    assert "ended with a configuration error: " in done.stderr


@pytest.mark.nightly(check=3)
@pytest.mark.parametrize("command", REFUSED.values(), ids=REFUSED)
def test_every_command_that_decides_by_latest_refuses_it(project: Path, command: list[str]) -> None:
    assert in_this_process("eval", "agent.py", "gone.evalset.json").returncode == 2
    done = in_this_process(*command)
    assert done.returncode == 2
    assert "`proctor eval agent.py gone.evalset.json`" in done.stderr
    assert "gone.evalset.json: no such file" in done.stderr


def test_a_run_by_its_id_is_not_refused(project: Path) -> None:
    newest, first = (run.run_id for run in proctor.list_runs())
    assert in_this_process("eval", "agent.py", "gone.evalset.json").returncode == 2
    assert in_this_process("compare", first, newest).returncode == 0
    assert in_this_process(*EVAL, "--failed", newest).returncode == 1


def test_the_next_run_lifts_it(project: Path) -> None:
    assert in_this_process("eval", "agent.py", "gone.evalset.json").returncode == 2
    assert in_this_process(*EVAL).returncode == 1
    assert in_this_process("compare", "--baseline", "main.json").returncode == 0


@pytest.mark.nightly
def test_a_run_from_python_lifts_it_too(project: Path) -> None:
    assert in_this_process("eval", "agent.py", "gone.evalset.json").returncode == 2
    proctor.evaluate_sync("agent.py", "cases.evalset.json", store=proctor.open_store())
    assert in_this_process("compare", "--baseline", "main.json").returncode == 0


@pytest.mark.nightly
def test_a_score_lifts_a_failed_score_only(project: Path) -> None:
    assert in_this_process("score", "--config", "gone.json").returncode == 2
    assert in_this_process("score").returncode == 1
    assert in_this_process("compare", "--baseline", "main.json").returncode == 0
    assert in_this_process("eval", "agent.py", "gone.evalset.json").returncode == 2
    assert in_this_process("score").returncode == 2
    assert in_this_process("score", proctor.list_runs()[0].run_id).returncode == 1
    assert in_this_process("compare", "--baseline", "main.json").returncode == 2


def test_a_score_never_hides_a_failed_run(project: Path) -> None:
    """A score that fails after a failed run does not take the place of that record, which a later score would lift."""
    newest = proctor.list_runs()[0].run_id
    assert in_this_process("eval", "agent.py", "gone.evalset.json").returncode == 2
    for attempt in (["score", newest, "--config", "gone.json"], ["score", "--config", "gone.json"]):
        assert in_this_process(*attempt).returncode == 2
    assert in_this_process("score", newest).returncode == 1
    done = in_this_process("compare", "--baseline", "main.json")
    assert (done.returncode, "`proctor eval agent.py gone.evalset.json`" in done.stderr) == (2, True)


@pytest.mark.nightly
def test_a_score_does_not_lift_a_failed_run_of_what_failed(project: Path) -> None:
    newest = proctor.list_runs()[0].run_id
    assert in_this_process("score", "--config", "gone.json").returncode == 2
    assert in_this_process(*EVAL, "--failed", newest, "--num-runs", "0").returncode == 2
    assert in_this_process("score", newest).returncode == 1
    for command in (["compare"], [*EVAL, "--failed", "latest"], ["score"]):
        assert in_this_process(*command).returncode == 2
    assert in_this_process(*EVAL, "--failed", newest).returncode == 1
    assert in_this_process("score").returncode == 1


def test_a_run_that_is_deleted_lifts_nothing(project: Path) -> None:
    newest = proctor.list_runs()[0].run_id
    assert in_this_process("eval", "agent.py", "gone.evalset.json").returncode == 2
    assert in_this_process("prune", "--run", newest, "--yes").returncode == 0
    done = in_this_process("export", "latest", "--format", "junit")
    assert (done.returncode, "the last attempt" in done.stderr) == (2, True)
    assert in_this_process(*EVAL).returncode == 1
    assert in_this_process("export", "latest", "--format", "junit").returncode == 0


def test_a_run_by_its_id_is_exported_scored_and_shown(project: Path) -> None:
    newest = proctor.list_runs()[0].run_id
    assert in_this_process("eval", "agent.py", "gone.evalset.json").returncode == 2
    assert in_this_process("export", newest, "--output", "out.xml").returncode == 0
    assert in_this_process("show", newest, "--report", "junit=shown.xml").returncode == 0
    assert in_this_process("score", newest).returncode == 1
    assert in_this_process("resume", newest).returncode == 1
    assert "warning" not in in_this_process("show", newest).stderr


@pytest.mark.parametrize("command", [["show"], ["show", "latest"], ["show", "latest~1", "bad"]], ids=" ".join)
def test_a_person_is_shown_the_run_with_a_warning(project: Path, command: list[str]) -> None:
    assert in_this_process("eval", "agent.py", "gone.evalset.json").returncode == 2
    done = in_this_process(*command)
    assert (done.returncode, "bad" in done.stdout) == (0, True)
    assert "warning: latest" in done.stderr
    assert "the last attempt, `proctor eval agent.py gone.evalset.json`" in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ["export", "--output", "out.xml"],
        ["show", "--report", "junit=out.xml"],
        ["score", "--report", "junit=out.xml"],
    ],
    ids=" ".join,
)
def test_an_older_report_does_not_stay(project: Path, command: list[str]) -> None:
    """`eval … || true; proctor export latest` never leaves a report of an older run, which may be green."""
    assert in_this_process(*command).returncode in {0, 1}
    assert "the last attempt" not in Path("out.xml").read_text()
    assert in_this_process("eval", "agent.py", "gone.evalset.json").returncode == 2
    assert in_this_process(*command).returncode == 2
    report = Path("out.xml").read_text()
    assert 'errors="1"' in report
    assert "the last attempt" in report


def test_the_newest_unfinished_run_is_resumed_with_a_warning(project: Path) -> None:
    cases = (case("bad", "bad", answer="nothing like it"), case("hello", "hello"))
    write_set(project / "two.evalset.json", *cases)
    limits = ["--max-failures", "1", "--concurrency", "1"]
    assert in_this_process("eval", "agent.py", "two.evalset.json", *limits).returncode == 1
    assert in_this_process("eval", "agent.py", "gone.evalset.json").returncode == 2
    done = in_this_process("resume")
    assert "warning: the last attempt, `proctor eval agent.py gone.evalset.json`" in done.stderr
    assert done.returncode == 1


def evaluate(store: Any) -> None:
    proctor.evaluate_sync("agent.py", "gone.evalset.json", store=store)


def evaluate_matrix(store: Any) -> None:
    asyncio.run(proctor.evaluate_matrix(["agent.py"], "gone.evalset.json", store=store))


def import_run(store: Any) -> None:
    proctor.import_run("gone.evalset.json", store)


def import_runs(store: Any) -> None:
    proctor.import_runs("gone.evalset.json")


def test_a_failed_resume_in_python_counts(project: Path) -> None:
    with pytest.raises(SetupError, match="nosuchrun"):
        proctor.resume_sync("nosuchrun")
    with pytest.raises(SetupError, match=r"the last attempt, `resume\('nosuchrun'\)"):
        proctor.compare_sync(baseline="main.json")
    assert not proctor.resume_sync("latest").passed
    assert proctor.compare_sync(baseline="main.json").outcome.value == "no_difference"


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("function", [evaluate, evaluate_matrix, import_run, import_runs])
def test_a_failed_attempt_in_python_counts(project: Path, function: Callable[[Any], None]) -> None:
    with pytest.raises(SetupError, match="no such file"):
        function(proctor.open_store())
    with pytest.raises(SetupError, match=f"the last attempt, `{function.__name__}"):
        proctor.compare_sync(baseline="main.json")
    for use in (
        lambda: proctor.set_baseline("next"),
        proctor.load_run,
        proctor.rescore_sync,
        lambda: proctor.resume_sync("latest"),
        proctor.plan_sync,
        lambda: proctor.prune_runs(runs=["latest"]),
    ):
        with pytest.raises(SetupError, match="the last attempt"):
            use()
    newest = proctor.list_runs()[0].run_id
    assert proctor.rescore_sync(newest).run_id == proctor.load_run(newest).run_id == newest


def test_another_store_has_separate_attempts(project: Path) -> None:
    assert in_this_process(*EVAL, "--store", "other.sqlite3").returncode == 1
    assert in_this_process("eval", "agent.py", "gone.json", "--store=other.sqlite3").returncode == 2
    assert in_this_process("compare", "--baseline", "main.json").returncode == 0
    refused = in_this_process("compare", "--baseline", "main.json", "--store", "other.sqlite3")
    assert (refused.returncode, "the last attempt" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    "attempt",
    [
        ["eval", "agent.py", "gone.json", "--store", "memory:"],
        ["eval", "--bogus", "--estimate"],
        ["show", "no"],
    ],
)
def test_dry_run_is_not_an_attempt(project: Path, attempt: list[str]) -> None:
    assert in_this_process(*attempt).returncode == 2
    assert not RECORD.exists()


def test_no_store_is_made_for_a_failed_attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert in_this_process("eval", "--bogus").returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_a_record_that_cannot_be_read_counts(project: Path) -> None:
    RECORD.write_text("{")
    done = in_this_process("compare")
    assert (done.returncode, "cannot be read" in done.stderr) == (2, True)


def test_failed_may_be_tried_again(project: Path) -> None:
    """An attempt with `--failed latest` does not change which run these words mean; what failed before it still counts."""
    assert in_this_process(*EVAL, "--failed", "latest", "--num-runs", "0").returncode == 2
    assert in_this_process("compare", "--baseline", "main.json").returncode == 2
    assert in_this_process(*EVAL, "--failed", "latest").returncode == 1
    assert in_this_process("eval", "agent.py", "gone.evalset.json").returncode == 2
    for _ in range(2):
        done = in_this_process(*EVAL, "--failed", "latest")
        assert (done.returncode, "gone.evalset.json" in done.stderr) == (2, True)


def test_a_resume_that_succeeds_lifts_a_failed_resume_only(project: Path) -> None:
    assert in_this_process("resume", "latest", "--concurrency", "0").returncode == 2
    assert in_this_process("compare", "--baseline", "main.json").returncode == 2
    assert in_this_process("resume", "latest").returncode == 1
    assert in_this_process("compare", "--baseline", "main.json").returncode == 0
    for other in (["eval", "agent.py", "gone.evalset.json"], ["import", "gone.json"]):
        assert in_this_process(*other).returncode == 2
        assert in_this_process("resume", "latest", "--concurrency", "0").returncode == 2
        assert in_this_process("resume", proctor.list_runs()[0].run_id).returncode == 1
        done = in_this_process("compare", "--baseline", "main.json")
        assert (done.returncode, f"`proctor {other[0]}" in done.stderr) == (2, True)


def test_where_nothing_is_left_to_resume_nothing_was_attempted(project: Path) -> None:
    done = in_this_process("resume")
    assert (done.returncode, "no run is unfinished" in done.stderr) == (2, True)
    assert not RECORD.exists()


def test_an_import_lifts_a_failed_import(project: Path) -> None:
    assert in_this_process("export", "latest", "--output", "run.jsonl").returncode == 0
    assert in_this_process("import", "gone.json").returncode == 2
    assert in_this_process("compare", "--baseline", "main.json").returncode == 2
    assert in_this_process("import", "run.jsonl").returncode == 0
    assert in_this_process("compare", "--baseline", "main.json").returncode == 4


def test_secrets_are_not_recorded(project: Path) -> None:
    in_this_process(
        "eval", "cmd:./x --key=SECRET-1", "gone.json", "--header", "Authorization: Bearer SECRET-2"
    )
    assert "SECRET" not in RECORD.read_text()


def test_a_set_of_settings_that_cannot_be_read_is_an_attempt(project: Path) -> None:
    (project / "proctor.toml").write_text("agent = 1")
    assert in_this_process("eval").returncode == 2
    assert json.loads(RECORD.read_text())["what"] == "proctor eval"


# --- a run and itself ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ["compare", "latest", "latest"],
        ["compare", "previous", "latest~1"],
        ["compare", "--baseline", "main", "previous"],
        ["compare", "--baseline", "main.json", "latest~1"],
    ],
    ids=" ".join,
)
def test_a_run_is_not_compared_with_itself(project: Path, command: list[str]) -> None:
    done = in_this_process(*command)
    assert (done.returncode, done.stdout) == (2, "")
    assert "with the same scores: a run does not differ from itself" in done.stderr


def test_a_result_in_memory_is_not_compared_with_itself(project: Path) -> None:
    kept = proctor.load_run()
    fresh = proctor.evaluate_sync("agent.py", "cases.evalset.json")
    assert not fresh.passed
    with pytest.raises(SetupError, match="does not differ from itself"):
        proctor.compare_sync(fresh, fresh)
    with pytest.raises(SetupError, match="does not differ from itself"):
        proctor.compare_sync(kept, proctor.load_run())
    with pytest.raises(SetupError, match="does not differ from itself"):
        proctor.compare_sync(kept, "latest")


def test_a_run_that_was_scored_again_is_compared_with_its_baseline(project: Path) -> None:
    write_set(project / "other.evalset.json", case("x", "x"))
    assert in_this_process("score", "latest~1").returncode == 1
    assert in_this_process("compare", "--baseline", "main.json", "latest~1").returncode == 0
    assert in_this_process("compare", "--baseline", "main", "latest~1").returncode == 0
    assert in_this_process("compare", "latest~1", "latest~1").returncode == 2


def test_the_promise_to_ci(project: Path) -> None:
    """`eval … || true; compare --baseline b.json` never compares the baseline with itself as "no regression"."""
    in_this_process("baseline", "set", "main", "latest")
    in_this_process("baseline", "export", "main", "main.json")
    (project / "test_config.json").write_text('{"criteria": {"no_such_metric": 1}}')
    assert in_this_process(*EVAL).returncode == 2
    assert in_this_process("compare", "--baseline", "main.json").returncode == 2
    RECORD.unlink()
    assert in_this_process("compare", "--baseline", "main.json").returncode == 2
