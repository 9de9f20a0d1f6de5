"""A missing await is never a green test, for any runner of the coroutine: each session here is a separate pytest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # sessions of pytest in processes

HEAD = """
import asyncio
import pytest
from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator

TURN = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hello"}]}}
EVAL_SET = {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [TURN]}]}
held = []

def evaluate():
    return AgentEvaluator.evaluate_eval_set(
        lambda text: "hello", EVAL_SET, eval_config={"criteria": {"response_match_score": 0.8}}
    )
"""

RUNNERS = {
    "asyncio": "@pytest.mark.asyncio\n",
    "anyio": "@pytest.mark.anyio\n",
}

BODIES = {
    "last": "evaluate()",
    "before_an_await": "evaluate()\n    await asyncio.sleep(0)",
    "in_a_variable": "it = evaluate()",
    "held_for_good": "held.append(evaluate())",
    "as_a_condition": "assert evaluate()",
}

FINE = {
    "awaited": "assert (await evaluate()).passed",
    "in_a_task": "assert (await asyncio.create_task(evaluate())).passed",
}


def outcomes(folder: Path, source: str) -> dict[str, str]:
    """Run the tests of one file, and return the outcome of each: a failure in any phase is not a pass."""
    (folder / "test_it.py").write_text(HEAD + source)
    (folder / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    (folder / "conftest.py").write_text(
        "import pytest\n@pytest.fixture(params=['asyncio'])\ndef anyio_backend(request): return request.param\n"
    )
    words = ["-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "no:xdist", "test_it.py"]
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False, env=os.environ
    )
    found: dict[str, str] = {}
    for line in done.stdout.splitlines():
        if line.startswith("test_it.py::"):
            name, _, outcome = line.removeprefix("test_it.py::").partition(" ")
            found[name.partition("[")[0]] = (outcome.split() or ["?"])[0]
    assert found, done.stdout + done.stderr
    return found


def written(bodies: dict[str, str], mark: str) -> str:
    return "".join(f"\n{mark}async def test_{name}():\n    {body}\n" for name, body in bodies.items())


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("runner", RUNNERS)
def test_forgotten(tmp_path: Path, runner: str) -> None:
    found = outcomes(tmp_path, written(BODIES, RUNNERS[runner]) + written(FINE, RUNNERS[runner]))
    assert found == {
        **{f"test_{name}": "FAILED" for name in BODIES},
        **{f"test_{name}": "PASSED" for name in FINE},
    }


@pytest.mark.nightly
def test_one_that_forgets_does_not_fail_the_next(tmp_path: Path) -> None:
    source = (
        "\n@pytest.mark.asyncio\nasync def test_first():\n    held.append(evaluate())\n    raise ValueError\n"
    )
    assert outcomes(tmp_path, source + "\ndef test_second():\n    assert evaluate().passed\n") == {
        "test_first": "FAILED",
        "test_second": "PASSED",
    }
