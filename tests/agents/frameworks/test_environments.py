"""The tests of each framework, run in the environment that has it."""

import pytest

from tests.agents.frameworks.environments import ADK_EVAL, FRAMEWORKS, run_in, skip_without


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "environment"),
    [
        ("a2a", FRAMEWORKS),
        ("langgraph", FRAMEWORKS),
        ("openai_agents", FRAMEWORKS),
        ("traces", FRAMEWORKS),
        pytest.param("adk_eval", ADK_EVAL, marks=pytest.mark.nightly),
    ],
    ids=lambda value: value,
)
def test_the_framework_s_own_tests_pass(folder: str, environment: str) -> None:
    skip_without(environment)
    tests = f"tests/agents/frameworks/{folder}"
    done = run_in(environment, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not benchmark", tests)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]
    assert " passed" in done.stdout
