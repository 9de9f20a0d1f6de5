"""The tests of each framework, run in the environment that has it."""

from pathlib import Path

import pytest

from tests.agents.frameworks.environments import ADK_EVAL, FRAMEWORKS, run_in, skip_without

ENVIRONMENTS = {
    "a2a": FRAMEWORKS,
    "langgraph": FRAMEWORKS,
    "openai_agents": FRAMEWORKS,
    "traces": FRAMEWORKS,
    "adk_eval": ADK_EVAL,
}
"""By the folder of the tests."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "environment"),
    [
        pytest.param(*row, marks=[pytest.mark.nightly] if row[1] == ADK_EVAL else [])
        for row in ENVIRONMENTS.items()
    ],
    ids=ENVIRONMENTS,
)
def test_the_framework_s_own_tests_pass(folder: str, environment: str) -> None:
    skip_without(environment)
    tests = f"tests/agents/frameworks/{folder}"
    done = run_in(environment, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not benchmark", tests)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]
    assert " passed" in done.stdout


def test_every_folder_with_tests_has_an_environment() -> None:
    folders = {test.parent.name for test in Path(__file__).parent.glob("*/test_*.py")}
    assert folders == {*ENVIRONMENTS, "pydantic_ai"}, "pydantic_ai is in the main environment"
