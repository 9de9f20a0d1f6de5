"""A session is not green where a result was never inspected, wherever it was made; it names the place."""

from __future__ import annotations

import pytest

from tests.pytest_plugin.sample_project import Sandbox

pytestmark = pytest.mark.slow  # sessions of pytest-xdist in processes

pytest_plugins = ["pytester"]

HEAD = """\
import pytest, proctor
TURN = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hello"}]}}
WRONG = {**TURN, "final_response": {"parts": [{"text": "no idea"}]}}
SET = {"eval_set_id": "set", "eval_cases": [{"eval_id": f"c{n}", "conversation": [TURN]} for n in range(12)]}
C = {"criteria": {"response_match_score": 0.8}}
def good(text): return "hello"
def bad(text): return "no idea"
def run(agent): return proctor.evaluate_sync(agent, SET, config=C)  # line 8
def score(): return proctor.score_sync(WRONG, TURN, criteria=C)  # line 9
def compare(): return proctor.compare_sync(run(good), run(bad))  # line 10
"""
MADE: dict[str, tuple[str, str, str]] = {
    # what makes a result, its place, how a test inspects it
    "a run at module level": ("R = run(bad)", ":8", "assert not R"),
    "scores at module level": ("R = score()", ":9", "assert not R['response_match_score']"),
    "a comparison at module level": ("R = compare()", ":10", "assert R.outcome.exit_code == 1"),
    "a run of a session fixture": (
        "@pytest.fixture(scope='session', autouse=True)\ndef r():\n    return run(bad)", ":8", "",
    ),
    "scores of a module fixture": (
        "@pytest.fixture(scope='module', autouse=True)\ndef r():\n    return score()", ":9", "",
    ),
    "a comparison of a function fixture": ("@pytest.fixture(autouse=True)\ndef r():\n    return compare()", ":10", ""),
    "a coroutine at module level": ("R = proctor.evaluate(bad, SET, config=C)", ":11", ""),
}  # fmt: skip
WORKERS = [pytest.param((), id="one process"), pytest.param(("-p", "xdist.plugin", "-n", "2"), id="xdist")]


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("words", WORKERS)
@pytest.mark.parametrize(("made", "place", "_"), MADE.values(), ids=MADE)
def test_a_result_that_no_test_inspects_fails_the_session(
    sandbox: Sandbox, made: str, place: str, _: str, words: tuple[str, ...]
) -> None:
    sandbox.write("test_it.py", f"{HEAD}{made}\ndef test_one(): pass\ndef test_two(): pass\n")
    result = sandbox.run_apart(*words, "test_it.py")
    result.assert_outcomes(passed=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"*error: *test_it.py{place}*"])


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("words", WORKERS)
@pytest.mark.parametrize("name", [name for name, (_, _, read) in MADE.items() if read])
def test_a_result_that_any_test_inspects_is_settled(
    sandbox: Sandbox, name: str, words: tuple[str, ...]
) -> None:
    made, _, read = MADE[name]
    sandbox.write("test_it.py", f"{HEAD}{made}\ndef test_one(): {read}\ndef test_two(): pass\n")
    assert sandbox.run_apart(*words, "test_it.py").ret == pytest.ExitCode.OK


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("words", WORKERS)
@pytest.mark.parametrize(("body", "code"), [("pass", 1), ("assert not conftest.R", 0)], ids=["no", "yes"])
def test_a_result_of_the_root_conftest_is_to_be_inspected(
    sandbox: Sandbox, body: str, code: int, words: tuple[str, ...]
) -> None:
    sandbox.write("conftest.py", f"{HEAD}R = run(bad)\n")
    sandbox.write("test_it.py", f"import conftest\ndef test_one(): {body}\n")
    result = sandbox.run_apart(*words, "test_it.py")
    assert result.ret == code
    result.assert_outcomes(passed=1)
    if code:
        result.stdout.fnmatch_lines(["*error: *conftest.py:8*"])


WRONG_NAMES = ["R.nosuch", "R['nosuch']"]


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("wrong", WRONG_NAMES)
@pytest.mark.parametrize("made", ["score()", "compare()", "run(bad)"])
def test_wrong_name_is_not_an_inspection(sandbox: Sandbox, made: str, wrong: str) -> None:
    test = (
        f"def test_one():\n    with pytest.raises((AttributeError, KeyError, TypeError)):\n        {wrong}\n"
    )
    sandbox.write("test_it.py", f"{HEAD}R = {made}\n{test}")
    result = sandbox.run_apart("test_it.py")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1)


def test_a_shared_fixture_is_settled_by_one_of_its_tests(sandbox: Sandbox) -> None:
    fixture = "@pytest.fixture(scope='module')\ndef r():\n    return run(bad)\n"
    sandbox.write(
        "test_it.py", f"{HEAD}{fixture}def test_one(r): pass\ndef test_two(r): assert not r.passed\n"
    )
    assert sandbox.run("-q", "test_it.py").ret == pytest.ExitCode.OK


def test_results_that_passed_need_no_inspection(sandbox: Sandbox) -> None:
    sandbox.write("test_it.py", f"{HEAD}R = run(good)\ndef test_one(): pass\n")
    assert sandbox.run("-q", "test_it.py").ret == pytest.ExitCode.OK


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("made", ["score()", "compare()", "run(bad)"])
@pytest.mark.parametrize("use", ["{}", "print({})"], ids=["dropped", "printed"])
def test_a_test_that_does_not_inspect_its_result_fails(sandbox: Sandbox, made: str, use: str) -> None:
    sandbox.write("test_it.py", f"{HEAD}def test_one(): {use.format(made)}\n")
    result = sandbox.run("-q", "test_it.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*was not inspected*"])
