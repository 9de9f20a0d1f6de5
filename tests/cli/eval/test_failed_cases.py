"""`eval --failed RUN` runs RUN's agent on RUN's sets, with RUN's config; another agent only if named, with a note."""

import json
import subprocess
from pathlib import Path

import pytest

import proctor
from tests.cli.project import AGENT, case, in_this_process, make_project, write_set

OTHER = "def root_agent(message):\n    return 'from another agent'\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings that name an agent and a set; the run is of others, and scored with another config."""
    monkeypatch.chdir(make_project(tmp_path))
    for name in ("mine", "theirs"):
        (tmp_path / name).mkdir()
    (tmp_path / "mine" / "agent.py").write_text(OTHER)
    (tmp_path / "theirs" / "agent.py").write_text(AGENT)
    write_set(tmp_path / "own.evalset.json", case("own", "own"))
    write_set(
        tmp_path / "run.evalset.json", case("good", "good"), case("bad", "bad", answer="nothing like it")
    )
    (tmp_path / "strict.json").write_text('{"criteria": {"response_match_score": 0.9}}')
    (tmp_path / "loose.json").write_text('{"criteria": {"response_match_score": 0.1}}')
    (tmp_path / "proctor.toml").write_text(
        'agent = "mine"\nsets = ["own.evalset.json"]\nconfig = "loose.json"\n'
    )
    return tmp_path


def begin(*more: str) -> None:
    done = in_this_process(
        "eval", "--agent", "theirs", "--set", "run.evalset.json", "--config", "strict.json", *more
    )
    assert done.returncode == 1, done.stderr


def again(*arguments: str) -> "tuple[subprocess.CompletedProcess[str], dict[str, object]]":
    done = in_this_process("eval", *arguments, "--json")
    assert done.stdout, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    (one,) = run["sets"]
    facts = {"agent": run["agent"], "config": one["config_source"], "set": one["path"]}
    return done, facts | {"cases": [found["eval_id"] for found in run["cases"]]}


THEIRS = {"agent": "theirs", "config": "strict.json", "set": "run.evalset.json", "cases": ["bad"]}


@pytest.mark.parametrize("name", ["latest", "out.json"])
def test_the_run_s_agent_sets_and_config_run_again(project: Path, name: str) -> None:
    begin("--report", "json=out.json")
    done, facts = again("--failed", name)
    assert (facts, done.returncode) == (THEIRS, 1)


def test_of_several_agents_only_that_of_the_run_runs(project: Path) -> None:
    (project / "proctor.toml").write_text('agent = ["mine", "theirs"]\n')
    begin()
    assert again("--failed", "latest")[1] == THEIRS


def test_a_config_that_was_found_is_found_again(project: Path) -> None:
    (project / "test_config.json").write_text('{"criteria": {"response_match_score": 0.9}}')
    (project / "proctor.toml").write_text('agent = "mine"\n')
    assert in_this_process("eval", "theirs", "run.evalset.json").returncode == 1
    (project / "proctor.toml").write_text('agent = "mine"\nconfig = "loose.json"\n')
    assert again("--failed", "latest")[1] == {**THEIRS, "config": "test_config.json"}


def test_the_sub_agent_of_the_run_runs_again(project: Path) -> None:
    (project / "theirs" / "agent.py").write_text("root_agent = lambda message: 'x'\n")
    begin()
    (project / "proctor.toml").write_text('agent = "mine"\nagent_name = "somebody"\n')
    assert again("--failed", "latest")[1] == {**THEIRS, "cases": ["good", "bad"]}


def test_the_files_are_read_again(project: Path) -> None:
    begin()
    write_set(project / "run.evalset.json", case("good", "good"), case("bad", "bad"))
    done, facts = again("--failed", "latest")
    assert (facts, done.returncode) == (THEIRS, 0)


@pytest.mark.parametrize("words", [["mine"], ["--agent", "mine"]], ids=" ".join)
def test_another_agent_runs_if_it_is_named_and_is_reported(project: Path, words: list[str]) -> None:
    begin()
    done, facts = again(*words, "--failed", "latest")
    assert facts == {**THEIRS, "agent": "mine"}
    assert "--failed latest: runs mine, which is not the agent of that run, theirs\n" in done.stderr


@pytest.mark.parametrize("words", [["theirs"], ["theirs/agent.py"]], ids=" ".join)
def test_the_same_agent_by_name_is_not_reported(project: Path, words: list[str]) -> None:
    begin()
    done, facts = again(*words, "--failed", "latest")
    assert (facts, "not the agent" in done.stderr) == (THEIRS, False)


def test_it_runs_from_another_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin()
    monkeypatch.chdir(project / "mine")
    done = in_this_process("eval", "--failed", "latest", "--json")
    (run,) = json.loads(done.stdout)["runs"]
    assert (run["agent"], run["sets"][0]["config_source"]) == ("theirs", str(project / "strict.json"))


# --- what is not recorded ------------------------------------------------------------------------------------------------


def answer(message: str) -> str:
    return "nothing like it at all"


def test_an_agent_that_was_an_object_must_be_named(project: Path) -> None:
    proctor.evaluate_sync(answer, "run.evalset.json", config="strict.json", store=proctor.open_store())
    done = in_this_process("eval", "--failed", "latest")
    assert (done.returncode, done.stdout) == (2, "")
    assert "was an object in Python, or is not recorded; name the agent with --agent" in done.stderr
    done, facts = again("--failed", "latest", "--agent", "theirs")
    assert facts["agent"] == "theirs"


def test_a_set_that_was_an_object_must_be_named(project: Path) -> None:
    proctor.evaluate_sync(
        "mine", proctor.load_eval_set("run.evalset.json"), config="strict.json", store=proctor.open_store()
    )
    done = in_this_process("eval", "--failed", "latest")
    assert (done.returncode, "was an object in Python; name it with --set" in done.stderr) == (2, True)
    assert again("--failed", "latest", "--set", "run.evalset.json")[1]["set"] == "run.evalset.json"


def test_a_config_that_was_an_object_must_be_named(project: Path) -> None:
    proctor.evaluate_sync(
        "mine",
        "run.evalset.json",
        config={"criteria": {"response_match_score": 0.9}},
        store=proctor.open_store(),
    )
    done = in_this_process("eval", "--failed", "latest")
    assert (done.returncode, "was an object in Python; name it with --config" in done.stderr) == (2, True)
    assert again("--failed", "latest", "--config", "strict.json")[1]["config"] == "strict.json"


def test_a_report_of_a_run_that_is_not_kept_needs_the_agent(project: Path) -> None:
    begin("--store", "memory:", "--report", "json=out.json")
    done = in_this_process("eval", "--failed", "out.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "the report does not record how its agent theirs is named; name the agent with --agent" in done.stderr
    )
    assert again("theirs", "--failed", "out.json")[1]["agent"] == "theirs"
    (project / "proctor.toml").write_text('agent = ["mine", "theirs"]\n')
    assert again("--failed", "out.json")[1]["agent"] == "theirs"
