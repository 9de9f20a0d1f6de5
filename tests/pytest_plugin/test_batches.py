"""Consecutive cases run together; durations and an early stop of a session are reported correctly."""

from __future__ import annotations

import pytest

from proctor import RunState, list_runs, load_run
from tests.pytest_plugin.sample_project import BAD, GOOD, Sandbox, case, outcomes

pytestmark = pytest.mark.slow  # sessions of pytest-xdist in processes

pytest_plugins = ["pytester"]


def _most_at_once(sandbox: Sandbox) -> int:
    return int((sandbox.path / "most.txt").read_text())


def _waiting(count: int, name: str = "w", seconds: float = 0.3) -> list[dict[str, object]]:
    return [case(f"{name}{number}", f"wait: {seconds}") for number in range(count)]


def test_cases_of_a_set_run_together(sandbox: Sandbox) -> None:
    sandbox.run(sandbox.cases(*_waiting(6))).assert_outcomes(passed=6)
    assert _most_at_once(sandbox) == 6


def test_cases_of_sets_that_follow_one_another_run_together(sandbox: Sandbox) -> None:
    sandbox.cases(*_waiting(2), name="a.evalset.json")
    sandbox.cases(*_waiting(2), name="b.evalset.json")
    sandbox.run("-v", "--proctor-store", "runs.sqlite3").assert_outcomes(passed=4)
    assert _most_at_once(sandbox) == 4


def test_no_more_run_at_once_than_are_wanted(sandbox: Sandbox) -> None:
    sandbox.run("--proctor-concurrency", "2", sandbox.cases(*_waiting(5))).assert_outcomes(passed=5)
    assert _most_at_once(sandbox) == 2


def test_only_what_is_selected_runs(sandbox: Sandbox) -> None:
    name = sandbox.cases(*_waiting(4))
    sandbox.run(name, "-k", "w1 or w3").assert_outcomes(passed=2, deselected=2)
    assert len(sandbox.calls) == 2


def test_no_case_is_under_way_while_a_test_in_code_runs(sandbox: Sandbox) -> None:
    sandbox.cases(*_waiting(3), name="a.evalset.json")
    sandbox.cases(*_waiting(3), name="z.evalset.json")
    sandbox.write(
        "test_m.py",
        "import time\nfrom pathlib import Path\n"
        "def test_m():\n"
        "    before = Path('calls.txt').read_text()\n"
        "    time.sleep(0.2)\n"
        "    assert Path('calls.txt').read_text() == before\n"
        "    assert before.count('wait') == 3\n",
    )
    sandbox.run("a.evalset.json", "test_m.py", "z.evalset.json").assert_outcomes(passed=7)
    assert len(sandbox.calls) == 6


def test_two_files_with_one_set_id_are_distinguished(sandbox: Sandbox) -> None:
    sandbox.cases(GOOD, name="a.evalset.json", set_id="same")
    sandbox.cases({**BAD, "eval_id": "good"}, name="b.evalset.json", set_id="same")
    result = sandbox.run("-v")
    assert [line.split()[:2] for line in result.outlines if "::" in line and "%]" in line] == [
        ["a.evalset.json::good", "PASSED"],
        ["b.evalset.json::good", "FAILED"],
    ]


def test_durations_are_those_of_the_cases(sandbox: Sandbox) -> None:
    name = sandbox.cases(case("slow", "wait: 1.6"), case("quick", "yes"), case("also_slow", "wait: 1.2"))
    sandbox.write(
        "conftest.py",
        "def pytest_runtest_logreport(report):\n"
        "    with open('took.txt', 'a') as file:\n"
        "        print(report.nodeid.rpartition(':')[2], report.when, report.duration, file=file)\n",
    )
    sandbox.run(name).assert_outcomes(passed=3)
    rows = [line.split() for line in (sandbox.path / "took.txt").read_text().splitlines()]
    took = {(name, when): float(seconds) for name, when, seconds in rows}
    assert took["slow", "call"] >= 1.6
    assert took["also_slow", "call"] >= 1.2
    assert took["quick", "call"] < took["also_slow", "call"]
    assert took["slow", "setup"] < 1.2, "the waiting time of the session is not part of the case"


# --- stopping ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "failed"), [(["-x"], 1), (["--maxfail=2"], 2)])
def test_a_session_that_stops_begins_no_further_case(sandbox: Sandbox, words: list[str], failed: int) -> None:
    cases = [case(f"c{number}", "yes", "no" if number in (3, 5) else "yes") for number in range(40)]
    result = sandbox.run(*words, "--proctor-concurrency", "2", sandbox.cases(*cases))
    result.assert_outcomes(passed=3 if failed == 1 else 4, failed=failed)
    assert len(sandbox.calls) < 12


def test_stopping_in_another_order_leaves_out_nothing_that_comes_first(sandbox: Sandbox) -> None:
    sandbox.write("conftest.py", "def pytest_collection_modifyitems(items):\n    items.reverse()\n")
    cases = [case("c0", "yes", "no"), *(case(f"c{number}", "yes") for number in range(1, 12))]
    result = sandbox.run("-v", "-x", "--proctor-concurrency", "1", sandbox.cases(*cases))
    result.assert_outcomes(passed=11, failed=1)
    assert len(sandbox.calls) == 12


def test_a_known_failure_does_not_stop_the_session(sandbox: Sandbox) -> None:
    sandbox.write(
        "conftest.py",
        "import pytest\n"
        "def pytest_collection_modifyitems(items):\n"
        "    for item in items:\n"
        "        if item.name == 'c1': item.add_marker(pytest.mark.xfail)\n",
    )
    cases = [case(f"c{number}", "yes", "no" if number == 1 else "yes") for number in range(12)]
    result = sandbox.run("-x", "--proctor-concurrency", "1", sandbox.cases(*cases))
    result.assert_outcomes(passed=11, xfailed=1)


def test_a_case_that_is_run_again_asks_the_agent_again(sandbox: Sandbox) -> None:
    sandbox.write(
        "conftest.py",
        "from _pytest.runner import runtestprotocol\n"
        "def pytest_runtest_protocol(item, nextitem):\n"
        "    for _ in range(2):\n"
        "        for report in runtestprotocol(item, nextitem=nextitem, log=False):\n"
        "            item.ihook.pytest_runtest_logreport(report=report)\n"
        "    return True\n",
    )
    sandbox.run(sandbox.cases(GOOD, case("other", "other"))).assert_outcomes(passed=4)
    assert sorted(sandbox.calls) == ["'other' ", "'other' ", "'yes' ", "'yes' "]


def test_an_interrupt_ends_the_session_at_once_and_what_ended_is_kept(sandbox: Sandbox) -> None:
    sandbox.write(
        "conftest.py",
        "def pytest_runtest_logreport(report):\n"
        "    if report.when == 'call' and report.nodeid.endswith('quick'): raise KeyboardInterrupt\n",
    )
    name = sandbox.cases(case("quick", "yes"), case("endless", "wait: 600"))
    result = sandbox.run_apart("-q", "--proctor-store", "runs.sqlite3", name)
    assert result.ret is pytest.ExitCode.INTERRUPTED
    assert result.duration < 60
    assert "Traceback" not in result.stderr.str()
    result.stdout.fnmatch_lines(["run * is not finished - proctor resume * --store runs.sqlite3"])
    (kept,) = list_runs(store=sandbox.path / "runs.sqlite3")
    assert kept.state is RunState.UNFINISHED
    outcomes_kept = [
        case.outcome.value for case in load_run(kept.run_id, store=sandbox.path / "runs.sqlite3").cases
    ]
    assert outcomes_kept == ["passed", "not_run"]


@pytest.mark.nightly
def test_a_time_limit_of_pytests_own_is_an_error_and_the_others_go_on(sandbox: Sandbox) -> None:
    name = sandbox.cases(case("good", "yes"), case("endless", "wait: 600"), case("other", "other"))
    result = sandbox.run_apart("-p", "pytest_timeout", "--timeout", "3", "-v", name)
    assert outcomes(result) == {"good": "PASSED", "endless": "ERROR", "other": "PASSED"}
    result.stdout.fnmatch_lines(["*Timeout (>3.0s) from pytest-timeout*"])


def test_marker_of_a_conftest_gives_single_cases_separate_options(sandbox: Sandbox) -> None:
    sandbox.write(
        "conftest.py",
        "import pytest\n"
        "def pytest_collection_modifyitems(items):\n"
        "    for item in items:\n"
        "        if item.name == 'often': item.add_marker(pytest.mark.proctor(num_runs=5, min_pass_rate=0.6))\n"
        "        if item.name == 'wrong': item.add_marker(pytest.mark.proctor(num_run=5))\n",
    )
    sandbox.write(
        "bot.py",
        "n = 0\ndef root_agent(text):\n    global n\n    n += 1\n    return text if n % 3 else 'no'\n",
    )
    name = sandbox.cases(case("once", "yes"), case("often", "yes"), case("wrong", "yes"))
    result = sandbox.run("-v", "--proctor-concurrency", "1", name)
    assert outcomes(result) == {"once": "PASSED", "often": "PASSED", "wrong": "ERROR"}
    result.stdout.fnmatch_lines(["there is no option 'num_run'. Did you mean 'num_runs'?"])


# --- several processes ------------------------------------------------------------------------------------------------


_SLOW = [pytest.param(dist, marks=pytest.mark.slow) for dist in ("loadscope", "worksteal", "each")]


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("dist", ["load", "loadfile", *_SLOW])
def test_each_case_runs_once_for_any_distribution_of_tests(sandbox: Sandbox, dist: str) -> None:
    sandbox.cases(*_waiting(3), BAD, name="a.evalset.json")
    sandbox.cases(*_waiting(3), name="b.evalset.json")
    result = sandbox.run_apart("-p", "xdist.plugin", "-n", "2", "--dist", dist, "-v")
    times = 2 if dist == "each" else 1
    result.assert_outcomes(passed=6 * times, failed=times)
    assert len(sandbox.calls) == 7 * times
    result.stdout.fnmatch_lines(["FAILED a.evalset.json::bad - failed: exact_match 0.00 < 1*"])
    result.stdout.fnmatch_lines(["agent bot - failed: 1 of 7 cases fails"])
    result.stdout.fnmatch_lines(["*actual    {+yes+}*"])
    if dist in {"loadfile", "loadscope", "each"}:
        assert _most_at_once(sandbox) >= 3


@pytest.mark.nightly
def test_undecided_cases_are_shown_as_such_from_another_process(sandbox: Sandbox) -> None:
    sandbox.write(
        "test_config.json",
        {"criteria": {"exact_match": 1}, "trials": {"num_runs": 3, "min_pass_rate": 0.9, "confidence": 0.95}},
    )
    result = sandbox.run_apart("-p", "xdist.plugin", "-n", "1", "-v", sandbox.cases(GOOD))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*INCONCLUSIVE*cases.evalset.json::good*"])
    assert outcomes(result) == {}
