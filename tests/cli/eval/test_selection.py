"""`--shard` and `--changed-since` of `proctor eval`: the chosen cases, the messages, and the exit code."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.project import case, in_this_process, make_project, write_set

MANY = [case(f"c{n}", "hello") for n in range(24)]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_project(tmp_path, *MANY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def git(*arguments: str) -> str:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *who, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def committed() -> None:
    git("init", "-q")
    Path(".gitignore").write_text(".proctor/\n")
    git("add", "-A")
    git("commit", "-q", "-m", "x")


def run(*options: str) -> "subprocess.CompletedProcess[str]":
    return in_this_process("eval", "agent.py", "cases.evalset.json", *options)


def ids(done: "subprocess.CompletedProcess[str]") -> list[str]:
    report: dict[str, Any] = json.loads(done.stdout)
    return [found["eval_id"] for run in report["runs"] for found in run["cases"]]


# --- shards --------------------------------------------------------------------------------------------------------------


def test_shards_together_are_the_whole_run(project: Path) -> None:
    together = [each for n in (1, 2, 3) for each in ids(run("--shard", f"{n}/3", "--format", "json"))]
    assert sorted(together) == sorted(one["eval_id"] for one in MANY)


def test_shard_names_its_part(project: Path) -> None:
    done = run("--shard", "1/3")
    assert done.returncode == 0
    here = len(ids(run("--shard", "1/3", "--format", "json")))
    assert f"WARNING  shard 1/3: {here} of 24 cases; the other shards run the rest\n" in done.stdout


def test_empty_shard_is_reported_with_exit_code_0(project: Path) -> None:
    write_set(project / "cases.evalset.json", case("only", "hello"))
    done = {n: run("--shard", f"{n}/2", "--report", f"junit={n}.xml") for n in (1, 2)}
    assert [one.returncode for one in done.values()] == [0, 0]
    (empty,) = (n for n, one in done.items() if not one.stdout)
    told = f"nothing to run: shard {empty}/2: none of 1 cases; the other shards run the rest; the reports are empty"
    assert done[empty].stderr.strip() == told
    assert 'tests="0"' in Path(f"{empty}.xml").read_text()
    assert Path(f"{3 - empty}.xml").exists()


def test_empty_shard_of_an_invalid_run_is_not_a_success(project: Path) -> None:
    write_set(project / "cases.evalset.json", case("only", "hello"))
    Path("broken.evalset.json").write_text("{")
    for n in (1, 2):
        assert run("broken.evalset.json", "--keep-going", "--shard", f"{n}/2").returncode == 3
        assert run("broken.evalset.json", "--shard", f"{n}/2").returncode == 2


@pytest.mark.parametrize("shard", ["0/4", "5/4", "4", "a/b", "/"])
def test_a_wrong_shard_is_a_set_up_error(project: Path, shard: str) -> None:
    done = run("--shard", shard)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: shard must be I/N, the I-th of N shards counted from 1")


STOPPED = ("--max-failures", "1", "--concurrency", "1")


@pytest.mark.slow
def test_a_resumed_shard_stays_what_it_was(project: Path) -> None:
    write_set(project / "cases.evalset.json", *(case(f"c{n}", "no call") for n in range(24)))
    begun = run("--shard", "2/3", *STOPPED, "--format", "json")
    assert "not_run" in begun.stdout
    resumed = in_this_process("resume", "--format", "json")
    assert "not_run" not in resumed.stdout
    assert ids(resumed) == ids(begun) == ids(run("--shard", "2/3", "--format", "json"))


# --- changed cases -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_only_what_has_changed_is_run(project: Path) -> None:
    committed()
    write_set(
        project / "cases.evalset.json", *MANY[:5], case("c5", "other words"), *MANY[6:], case("new", "hello")
    )
    done = run("--changed-since", "HEAD", "--format", "json")
    assert (done.returncode, ids(done)) == (0, ["c5", "new"])
    assert "WARNING  changed since 'HEAD' (" in run("--changed-since", "HEAD").stdout


def test_unchanged_sets_are_reported_with_exit_code_0(project: Path) -> None:
    committed()
    done = run("--changed-since", "HEAD", "--report", "json=out.json")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("nothing to run: no case has changed since 'HEAD' (")
    assert done.stderr.endswith("): all 24 are as they were; the reports are empty\n")
    assert json.loads(Path("out.json").read_text())["runs"] == []
    assert "no run" in in_this_process("runs").stdout + in_this_process("runs").stderr


@pytest.mark.parametrize(
    ("ref", "in_git", "told"),
    [
        ("nope", True, "error: changed since 'nope': no such commit in the git repository"),
        ("", True, "error: --changed-since is empty: "),
        ("main", False, "error: changed since 'main': "),
    ],
    ids=["unknown", "a variable that is not set", "no repository"],
)
def test_what_is_wrong_is_one_message(
    project: Path, monkeypatch: pytest.MonkeyPatch, ref: str, in_git: bool, told: str
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.parent))
    if in_git:
        committed()
    done = run("--changed-since", ref)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(told)
    assert done.stderr.count("error:") == 1


@pytest.mark.slow
def test_a_resumed_run_keeps_the_commit(project: Path) -> None:
    committed()
    write_set(project / "cases.evalset.json", *(case(f"c{n}", "no call") for n in range(4)), *MANY[4:])
    begun = run("--changed-since", "HEAD", *STOPPED, "--format", "json")
    assert "not_run" in begun.stdout
    git("add", "-A")
    git("commit", "-q", "-m", "y")
    resumed = in_this_process("resume", "--format", "json")
    assert "not_run" not in resumed.stdout
    assert ids(resumed) == ["c0", "c1", "c2", "c3"]


# --- reports of such runs and of any -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("junit", "<?xml"),
        ("markdown", "### ✓ passed"),
        ("md", "### ✓ passed"),
        ("github", "::notice title=Proctor"),
        ("adk-rs", '{\n  "results": ['),
    ],
)
def test_a_report_is_the_same_from_eval_show_and_export(project: Path, name: str, beginning: str) -> None:
    done = in_this_process(
        "eval", "--agent", "agent.py", "--set", "cases.evalset.json", "--report", f"{name}=a.out"
    )
    assert done.returncode == 0
    assert in_this_process("show", "--report", f"{name}=b.out").returncode == 0
    assert in_this_process("export", "--format", name, "--output", "c.out").returncode == 0
    texts = {Path(f"{letter}.out").read_text(encoding="utf-8") for letter in "abc"}
    assert len(texts) == 1
    assert texts.pop().startswith(beginning)
    assert in_this_process("show", "--format", name).stdout.startswith(beginning)
