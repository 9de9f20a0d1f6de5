"""The tests of each framework, run in the environment that has it."""

from itertools import chain
from pathlib import Path

import pytest

from tests.agents.frameworks.environments import ADK_EVAL, FRAMEWORKS, run_in, skip_without

FOLDERS = {FRAMEWORKS: ("a2a", "langgraph", "openai_agents", "traces"), ADK_EVAL: ("adk_eval",)}
"""The folders of tests, by their environment."""


@pytest.mark.slow
@pytest.mark.parametrize("environment", [FRAMEWORKS, pytest.param(ADK_EVAL, marks=pytest.mark.nightly)])
def test_the_frameworks_own_tests_pass(environment: str) -> None:
    """In one process for each environment: most of the time is that of imports."""
    skip_without(environment)
    tests = [f"tests/agents/frameworks/{folder}" for folder in FOLDERS[environment]]
    done = run_in(environment, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not benchmark", *tests)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]
    assert " passed" in done.stdout


def test_every_folder_with_tests_has_an_environment() -> None:
    folders = {test.parent.name for test in Path(__file__).parent.glob("*/test_*.py")}
    assert folders == {*chain(*FOLDERS.values()), "pydantic_ai"}, "pydantic_ai is in the main environment"
