"""A requested report is written whenever the options were understood: an old green one never stays."""

import csv
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from proctor.reports.builtin import REPORTS
from tests.cli.project import case, copy_of, in_this_process, make_project, write_set

EVAL = ["eval", "agent.py", "cases.evalset.json"]
NAMES = [name for name in REPORTS if name != "html"]


def make_reports() -> None:
    """Make a green report of each kind."""
    make_project(Path())
    reports = [f"--report={name}=out.{name}" for name in NAMES]
    assert in_this_process(*EVAL, *reports).returncode == 0


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a green report of each kind."""
    monkeypatch.chdir(tmp_path)
    return copy_of(make_reports, tmp_path)


def junit(text: str) -> bool:
    (case,) = ET.fromstring(text).iter("testcase")
    error = case.find("error")
    return error is not None and "gone.json" in str(error.get("message"))


HOLDS: dict[str, Callable[[str], bool]] = {
    "json": lambda text: (
        (report := json.loads(text))["exit_code"] == 2
        and report["outcome"] == "error"
        and "gone.json" in report["runs"][0]["failure"]["message"]
    ),
    "jsonl": lambda text: json.loads(text)["outcome"] == "error" and "gone.json" in text,
    "csv": lambda text: [row["outcome"] for row in csv.DictReader(text.splitlines())] == ["error"],
    "csv-raw": lambda text: [row["outcome"] for row in csv.DictReader(text.splitlines())] == ["error"],
    "adk": lambda text: [one["final_eval_status"] for one in json.loads(text)["eval_case_results"]] == [3],
    "junit": junit,
    "github": lambda text: "::error title=Proctor%3A nothing was run::configuration error: gone.json" in text,
    "markdown": lambda text: "configuration error" in text and "gone.json" in text,
    "md": lambda text: "configuration error" in text and "gone.json" in text,
    "svg": lambda text: (
        "configuration error" in "".join(ET.fromstring(text).itertext()) and "gone.json" in text
    ),
    "adk-rs": lambda text: [one["overall_status"] for one in json.loads(text)["results"]] == ["FAILED"],
    "text": lambda text: "\nERROR  configuration error: gone.json: " in text and "\nVERDICT  error" in text,
}


@pytest.mark.nightly(check=4)
@pytest.mark.parametrize("name", NAMES)
def test_a_configuration_error_is_in_every_report(project: Path, name: str) -> None:
    done = in_this_process("eval", "agent.py", "gone.json", "--report", f"{name}=out.{name}")
    assert done.returncode == 2
    assert HOLDS[name]((project / f"out.{name}").read_text())


@pytest.mark.nightly(check=5)
@pytest.mark.parametrize("name", NAMES)
def test_it_goes_to_stdout_too(project: Path, name: str) -> None:
    done = in_this_process("eval", "agent.py", "gone.json", "--format", name)
    assert (done.returncode, HOLDS[name](done.stdout)) == (2, True)


CAUSES: dict[str, tuple[list[str], str]] = {
    "the agent": (["eval", "gone.py", "cases.evalset.json"], "gone.py"),
    "the config": ([*EVAL, "--config", "gone.json"], "gone.json"),
    "a metric": ([*EVAL, "--metrics", "no_such_metric"], "no_such_metric"),
    "another report": ([*EVAL, "--report", "json=no/where.json"], "--make-parents"),
    "the store": ([*EVAL, "--store", "agent.py"], "agent.py"),
    "what failed": ([*EVAL, "--failed", "gone.json"], "gone.json"),
    "a set of another form": (["eval", "agent.py", "test_config.json"], "test_config.json"),
    "score: the config": (["score", "--config", "gone.json"], "gone.json"),
    "score: the run": (["score", "nobody"], "nobody"),
    "score-trace: the traces": (["score-trace", "gone.jsonl"], "gone.jsonl"),
    "resume: the run": (["resume", "nobody"], "nobody"),
    "show: the run": (["show", "nobody"], "nobody"),
}


@pytest.mark.parametrize(("command", "cause"), CAUSES.values(), ids=CAUSES)
def test_junit_is_not_green_for_any_cause(project: Path, command: list[str], cause: str) -> None:
    done = in_this_process(*command, "--report", "junit=out.junit")
    assert done.returncode == 2
    text = (project / "out.junit").read_text()
    assert ('errors="1"' in text, cause in text) == (True, True), text


def test_settings_that_cannot_be_read_are_reported(project: Path) -> None:
    (project / "proctor.toml").write_text("agent = 1")
    assert in_this_process(*EVAL, "--report", "junit=out.junit").returncode == 2
    assert "proctor.toml" in (project / "out.junit").read_text()


def test_an_error_never_overwrites_what_is_read(project: Path) -> None:
    (project / "broken.json").write_text("")
    for place in ("broken.json", "cases.evalset.json", ".proctor/store.sqlite3"):
        before = (project / place).read_bytes()
        done = in_this_process("eval", "agent.py", "broken.json", "--report", f"json={place}")
        assert (done.returncode, (project / place).read_bytes() == before) == (2, True)


def test_secrets_are_hidden(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "c4n4ry-0f-the-m1ne")
    in_this_process("eval", "agent.py", "c4n4ry-0f-the-m1ne.json", "--report", "junit=out.junit")
    assert "c4n4ry" not in (project / "out.junit").read_text()


# --- nothing to run ----------------------------------------------------------------------------------------------------

EMPTY: dict[str, Callable[[str], bool]] = {
    "json": lambda text: (report := json.loads(text))["runs"] == [] and report["exit_code"] == 0 and "shard" in report["note"],
    "jsonl": lambda text: "shard" in json.loads(text)["proctor_note"],
    "csv": lambda text: [row["outcome"] for row in csv.DictReader(text.splitlines())] == ["not_run"],
    "csv-raw": lambda text: [row["outcome"] for row in csv.DictReader(text.splitlines())] == ["not_run"],
    "adk": lambda text: json.loads(text)["eval_case_results"] == [] and "shard" in json.loads(text)["proctor_note"],
    "junit": lambda text: ET.fromstring(text).get("tests") == "0" and "shard" in text,
    "github": lambda text: text.startswith("::notice title=Proctor%3A nothing was run::nothing to run: shard"),
    "markdown": lambda text: "nothing was run" in text and "shard" in text,
    "md": lambda text: "nothing was run" in text and "shard" in text,
    "svg": lambda text: "nothing was run: " in "".join(ET.fromstring(text).itertext()) and "shard" in text,
    "adk-rs": lambda text: json.loads(text)["results"] == [] and "shard" in json.loads(text)["proctor_note"],
    "text": lambda text: text.startswith("EMPTY  nothing to run: shard"),
}  # fmt: skip


def empty_shard(*arguments: str) -> str:
    """Run both halves of a set of one case; return the output of the one that has none."""
    done = [in_this_process(*EVAL, "--shard", f"{n}/2", *arguments) for n in (1, 2)]
    assert [one.returncode for one in done] == [0, 0]
    return next(one.stdout for one in done if "nothing to run" in one.stderr)


@pytest.mark.nightly(check=3)
@pytest.mark.parametrize("name", NAMES)
def test_reports_of_an_empty_shard_are_empty_with_a_note(project: Path, name: str) -> None:
    for n in (1, 2):
        done = in_this_process(*EVAL, "--shard", f"{n}/2", "--report", f"{name}=out.{name}")
        if "nothing to run" in done.stderr:
            assert EMPTY[name]((project / f"out.{name}").read_text())
    assert EMPTY[name](empty_shard("--format", name))


@pytest.mark.nightly(check=3)
@pytest.mark.parametrize("name", NAMES)
def test_a_report_of_nothing_is_replaced_by_the_next(project: Path, name: str) -> None:
    for command in (["eval", "agent.py", "gone.json"], EVAL, [*EVAL, "--failed", "latest"], EVAL):
        done = in_this_process(*command, "--report", f"{name}=out.{name}")
        assert (done.returncode, "is not an earlier" in done.stderr) == (
            2 if "gone.json" in command else 0,
            False,
        )


def test_nothing_left_to_run_again_is_reported(project: Path) -> None:
    done = in_this_process(*EVAL, "--failed", "latest", "--report", "junit=out.junit")
    assert (done.returncode, done.stderr) == (
        0,
        "nothing to run: every case passed in latest; the reports are empty\n",
    )
    assert 'tests="0"' in (project / "out.junit").read_text()


def test_a_report_with_an_error_names_nothing_to_run_again(project: Path) -> None:
    """`eval … --report json=out.json || eval … --failed out.json` is not a pass."""
    assert in_this_process("eval", "agent.py", "gone.json", "--report", "json=out.json").returncode == 2
    done = in_this_process(*EVAL, "--failed", "out.json")
    assert (done.returncode, "configuration error" in done.stderr) == (2, True)


# --- comparisons ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["json", "markdown", "md", "text"])
def test_a_comparison_that_cannot_be_made_is_reported(project: Path, name: str) -> None:
    write_set(project / "cases.evalset.json", case("hello", "hello"))
    in_this_process(*EVAL)
    assert in_this_process("compare", "--report", f"{name}=cmp").returncode == 0
    for command in (["compare", "nobody", "latest"], ["compare"]):
        done = in_this_process(*command, "--report", f"{name}=cmp")
        assert ("configuration error" in (project / "cmp").read_text()) is (done.returncode == 2)
    assert (
        in_this_process("compare", "nobody", "latest", "--format", name).stdout.count("configuration error")
        == 1
    )
