"""Who plays the users, named on a command line: a model, a function in a module or in a file; kept for a resumed run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.errors import SetupError, SetupProblems
from proctor.runs.setup.judge_and_user import find_user
from proctor.schema.results.run_result import Outcome
from tests.cli.project import in_this_process

CODE = """
def agent(message, session):
    session.state["booked"] = session.state.get("booked") or ("Rome" if "Rome" in message else None)
    return "Where to?"

def user(so_far):
    return "To Rome" if len(so_far) == 1 else None

def stops(so_far):
    return None

NUMBER = 5
"""
SET = {
    "eval_set_id": "trips",
    "eval_cases": [
        {
            "eval_id": "rome",
            "conversation_scenario": {"starting_prompt": "Hi", "conversation_plan": "Book Rome."},
            "final_session_state": {"booked": "Rome"},
        }
    ],
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an agent, users and a scenario; no API key is set."""
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    (tmp_path / "trip_people.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "trips.evalset.json").write_text(json.dumps(SET), encoding="utf-8")
    (tmp_path / "test_config.json").write_text(
        '{"criteria": {"tool_trajectory_avg_score": 1}}', encoding="utf-8"
    )
    return tmp_path


def run(*words: str, command: str = "eval") -> tuple[int, str]:
    done = in_this_process(command, *words)
    return done.returncode, done.stdout + done.stderr


def evaluated(*words: str) -> tuple[int, str]:
    return run("trip_people.py:agent", "trips.evalset.json", *words)


@pytest.mark.slow
@pytest.mark.parametrize("who", ["trip_people.py:user", "trip_people.py", "./trip_people.py:user"])
def test_a_function_of_a_file_plays(project: Path, who: str) -> None:
    code, output = evaluated("--user", who)
    assert (code, "simulated user: " in output or "PASSED" in output) == (0, True), output
    assert evaluated("--user", "trip_people.py:stops")[0] == 1  # who plays decides


@pytest.mark.slow
def test_a_function_of_a_module_plays(project: Path) -> None:
    assert evaluated("--user", "trip_people:user")[0] == 0


@pytest.mark.slow
def test_a_script_plays(project: Path) -> None:
    script = [{"when": "Book Rome.", "say": "To Rome"}, {"when": "x", "say": "y"}]
    (project / "user.json").write_text(json.dumps(script), encoding="utf-8")
    code, output = evaluated("--user", "scripted:user.json")
    assert code in (0, 1), output  # it never stops: the limit of turns ends it
    assert "rome" in output


@pytest.mark.parametrize(
    ("who", "message"),
    [
        pytest.param(
            "trip_people.py:usr", "has no function 'usr'. Did you mean 'user'?", id="no such function"
        ),
        pytest.param("trip_people.py:NUMBER", "has a int, and no function", id="no function"),
        pytest.param("nobody.py", "there is no file nobody.py", id="no such file"),
        pytest.param("opnai:gpt-5", "Did you mean 'openai:gpt-5'?", id="a provider misspelled"),
        pytest.param("trip_people:usr", "'trip_people' has no 'usr'. Did you mean 'user'?", id="in a module"),
        pytest.param("gemini-2.5-flash", "GOOGLE_API_KEY", id="a model without its key"),
    ],
)
def test_invalid_user_is_reported_once_before_the_run(project: Path, who: str, message: str) -> None:
    with pytest.raises(SetupProblems) as problems:
        proctor.evaluate_sync("trip_people.py:agent", "trips.evalset.json", user=who)
    assert [message in str(problem) for problem in problems.value.problems] == [True]


@pytest.mark.parametrize("name", ["openai:gpt-5", "ollama/llama3.2", "gemini-2.5-pro", "scripted:some.py"])
def test_names_of_models_stay_names(name: str) -> None:
    assert find_user(name) == name


@pytest.mark.parametrize(
    ("text", "cause"), [("1 / 0", "ZeroDivisionError"), ("raise SystemExit(0)", "SystemExit")]
)
def test_file_that_raises_is_reported_with_its_cause(project: Path, text: str, cause: str) -> None:
    (project / "broken.py").write_text(text, encoding="utf-8")
    with pytest.raises(SetupError, match=rf"broken\.py cannot be imported: {cause}"):
        find_user("broken.py:user")


@pytest.mark.slow
def test_the_settings_name_who_plays_and_paths_are_seen_from_them(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = 'agent = "trip_people.py:agent"\nsets = "trips.evalset.json"\nuser = "trip_people.py:user"\n'
    (project / "proctor.toml").write_text(settings, encoding="utf-8")
    assert run()[0] == 0
    (project / "below").mkdir()
    monkeypatch.chdir(project / "below")
    assert run()[0] == 0


@pytest.mark.parametrize(
    ("user", "warned"),
    [
        pytest.param("", True, id="the config's model, without its key"),
        pytest.param('user = "trip_people.py:user"', False, id="a function, which is not loaded"),
        pytest.param('user = "trip_people.py:nobody"', False, id="a missing one: only a run can detect it"),
        pytest.param('user = "gemini-2.5-pro"', True, id="another model, without its key"),
    ],
)
def test_check_knows_who_plays(project: Path, *, user: str, warned: bool) -> None:
    (project / "proctor.toml").write_text(user, encoding="utf-8")
    code, output = run("trips.evalset.json", command="check")
    assert (code, "GOOGLE_API_KEY" in output) == (0, warned), output


# --- going on --------------------------------------------------------------------------------------------------------


def interrupted(project: Path, user: Any) -> None:
    """Begin a run of two trials, and stop it after the first."""
    result = proctor.evaluate_sync(
        "trip_people.py:agent", "trips.evalset.json", user=user, store="sqlite:///kept.sqlite3", num_runs=2,
        concurrency=1, max_time=1e-9, config={"criteria": {}},
    )  # fmt: skip
    assert result.counts[Outcome.NOT_RUN], result.counts


@pytest.mark.slow
def test_resumed_run_keeps_its_simulated_user(project: Path) -> None:
    interrupted(project, "trip_people.py:user")
    result = proctor.resume_sync(store="sqlite:///kept.sqlite3")
    assert result.passed
    trial = result.cases[0].trials[1].trial
    assert trial is not None
    assert trial.played_user is not None
    assert trial.played_user.model == "user"


@pytest.mark.slow
def test_resume_with_another_simulated_user_is_refused(project: Path) -> None:
    interrupted(project, "trip_people.py:user")
    with pytest.raises(
        SetupProblems, match=r"the user simulator was trip_people\.py:user and is trip_people\.py:stops"
    ):
        proctor.resume_sync(store="sqlite:///kept.sqlite3", user="trip_people.py:stops")


@pytest.mark.slow
def test_an_object_that_played_has_to_be_given_again(project: Path) -> None:
    def user(so_far: Any) -> str | None:
        return "To Rome" if len(so_far) == 1 else None

    interrupted(project, user)
    with pytest.raises(SetupProblems, match=r"give it again, resume\(run, user=…\)"):
        proctor.resume_sync(store="sqlite:///kept.sqlite3")
    assert proctor.resume_sync(store="sqlite:///kept.sqlite3", user=user).passed
