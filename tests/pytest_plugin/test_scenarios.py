"""Scenarios as tests: who plays comes from the config, the options or the settings; their verdicts are as those of others."""

from __future__ import annotations

import pytest

from tests.pytest_plugin.sample_project import Sandbox

pytest_plugins = ["pytester"]

BOT = """
def agent(message, session):
    if "Rome" in message:
        session.state["booked"] = "Rome"
    return "Where to?"

def user(so_far):
    return "To Rome" if len(so_far) == 1 else None

def silent(so_far):
    return None
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
SCRIPT = [
    {"when": ["agent: Where to?\n\nuser: To Rome."], "say": "</finished>"},
    {"when": "Book Rome.", "say": "To Rome."},
]


@pytest.fixture
def project(sandbox: Sandbox) -> Sandbox:
    """An agent, a user, and a scenario that its final state decides."""
    sandbox.write("people.py", BOT)
    sandbox.write("trips.evalset.json", SET)
    sandbox.write("user.json", SCRIPT)
    sandbox.write("test_config.json", {"criteria": {"response_match_score": 0.5}})
    return sandbox


def run(project: Sandbox, *words: str) -> dict[str, int]:
    return dict(project.run("trips.evalset.json", *words, agent="people.py:agent").parseoutcomes())


def test_a_function_plays(project: Sandbox) -> None:
    assert run(project, "--proctor-user", "people.py:user") == {"passed": 1}
    assert run(project, "--proctor-user", "people.py:silent") == {"failed": 1}


def test_ini_file_and_settings_choose_the_simulated_user(project: Sandbox) -> None:
    project.write("pyproject.toml", '[tool.proctor]\nuser = "people.py:silent"\n')
    assert run(project) == {"failed": 1}
    project.ini("proctor_user = people.py:user")
    assert run(project) == {"passed": 1}


def test_config_chooses_the_simulated_user(project: Sandbox) -> None:
    simulator = {"model": f"scripted:{project.path}/user.json"}
    config = {"criteria": {"response_match_score": 0.5}, "user_simulator_config": simulator}
    project.write("test_config.json", config)
    assert run(project, "--proctor-num-runs", "2") == {"passed": 1}


def test_invalid_simulated_user_is_an_error(project: Sandbox) -> None:
    result = project.run("trips.evalset.json", "--proctor-user", "people.py:usr", agent="people.py:agent")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*has no function 'usr'. Did you mean 'user'?*"])
