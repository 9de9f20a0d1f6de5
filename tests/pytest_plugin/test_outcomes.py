"""What a case came to, as pytest shows it: only what passed is green, and the evidence is there."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from proctor import load_run
from tests.pytest_plugin.sample_project import BAD, CONFIG, ERROR, GOOD, Sandbox, case, outcomes

pytest_plugins = ["pytester"]

UNDECIDED = {**CONFIG, "trials": {"num_runs": 3, "min_pass_rate": 0.9, "confidence": 0.95}}
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.slow
def test_passed_failed_and_error(sandbox: Sandbox) -> None:
    result = sandbox.run("-v", sandbox.cases(GOOD, BAD, ERROR))
    assert outcomes(result) == {"good": "PASSED", "bad": "FAILED", "broken": "ERROR"}
    result.assert_outcomes(passed=1, failed=1, errors=1)
    assert result.ret is pytest.ExitCode.TESTS_FAILED


@pytest.mark.slow
def test_an_error_alone_is_not_green(sandbox: Sandbox) -> None:
    result = sandbox.run(sandbox.cases(GOOD, ERROR))
    result.assert_outcomes(passed=1, errors=1)
    assert result.ret is pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["*ERROR at setup of cases/broken*", "*! error*broken", "*agent raised*ValueError: out of order*", "*at*bot.py:*in root_agent*"]
    )  # fmt: skip


@pytest.mark.slow
def test_what_is_undecided_is_shown_as_such_and_is_not_green(sandbox: Sandbox) -> None:
    sandbox.write("test_config.json", UNDECIDED)
    name = sandbox.cases(GOOD)
    result = sandbox.run("-v", name)
    assert outcomes(result) == {"good": "INCONCLUSIVE"}
    result.assert_outcomes(failed=1)
    assert result.ret is pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*3 of 3 trials passed, 0.9 asked for at 95 %: about * more trial*"])
    assert "cases.evalset.json I " in sandbox.run(name).stdout.str()


@pytest.mark.slow
@pytest.mark.nightly(check=4)
@pytest.mark.parametrize(
    "words", [["-x"], ["--maxfail=2"], ["-q"], ["-rA"], ["-s"], ["--tb=no"], ["--tb=short"], ["-vv"]]
)
def test_no_option_turns_a_failure_green(sandbox: Sandbox, words: list[str]) -> None:
    assert sandbox.run(*words, sandbox.cases(BAD, ERROR)).ret is pytest.ExitCode.TESTS_FAILED


@pytest.mark.slow
def test_the_evidence_of_a_failure_is_that_of_the_terminal(sandbox: Sandbox, root: Path) -> None:
    shutil.copytree(root / "examples" / "travel", sandbox.path / "travel")
    result = sandbox.run("travel/bookings.evalset.json", agent="travel/flawed.py")
    result.assert_outcomes(passed=1, failed=6, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*bookings/two_turn_booking*",
            "*tool_trajectory_avg_score 0.50 < 1*",
            "*turn 2    La Trattoria.",
            '*≠ *book_table(restaurant="La Trattoria", covers=[[]-2-[]],',
            '*→ *book_table(restaurant="La Trattoria", covers={+4+},',
            '*+ *send_sms(text="See you at La Trattoria!")',
            "*state     table.covers: [[]-2-[]] → {+4+}",
            "travel/bookings.evalset.json:6: failed",
        ],
        consecutive=False,
    )
    short = "FAILED travel/bookings.evalset.json::two_turn_booking - failed: tool_tra*"
    result.stdout.fnmatch_lines(["*short test summary info*", short])


@pytest.mark.slow
def test_a_run_that_cannot_begin_is_an_error_of_every_case(sandbox: Sandbox) -> None:
    sandbox.write(
        "bot.py",
        "class Closed:\n    def open(self): raise OSError('shut')\n    async def answer(self, m, s):\n        yield 'x'\nroot_agent = Closed()\n",
    )
    result = sandbox.run(sandbox.cases(GOOD, BAD))
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["the agent bot could not be opened: OSError: shut"])
    assert "Traceback" not in result.stdout.str()


@pytest.mark.slow
def test_an_agent_that_cancels_the_whole_run_is_an_error(sandbox: Sandbox) -> None:
    sandbox.write(
        "bot.py",
        "import asyncio\nasync def root_agent(text):\n    for task in asyncio.all_tasks(): task.cancel()\n    await asyncio.sleep(1)\n    return text\n",
    )
    result = sandbox.run(sandbox.cases(GOOD, case("other", "yes")))
    assert result.ret is pytest.ExitCode.TESTS_FAILED
    assert "passed" not in outcomes(result)
    result.assert_outcomes(errors=2)


@pytest.mark.slow
def test_marks_of_a_conftest_hold(sandbox: Sandbox) -> None:
    sandbox.write(
        "conftest.py",
        "import pytest\n"
        "MARKS = {'bad': pytest.mark.xfail(reason='known'), 'good': pytest.mark.skip(reason='costs too much')}\n"
        "def pytest_collection_modifyitems(items):\n"
        "    for item in items:\n"
        "        if item.name in MARKS: item.add_marker(MARKS[item.name])\n",
    )
    result = sandbox.run("-v", sandbox.cases(GOOD, BAD, case("other", "other")))
    assert outcomes(result) == {"good": "SKIPPED", "bad": "XFAIL", "other": "PASSED"}
    assert sorted(sandbox.calls) == ["'other' ", "'yes' "]


@pytest.mark.slow
def test_unreached_case_is_an_error_with_the_reason(sandbox: Sandbox) -> None:
    sandbox.write(
        "conftest.py",
        "import pytest\n"
        "def pytest_collection_modifyitems(items):\n"
        "    for item in items: item.add_marker(pytest.mark.proctor(max_failures=1, concurrency=1))\n",
    )
    result = sandbox.run("-v", sandbox.cases(BAD, GOOD, case("other", "other")))
    assert outcomes(result) == {"bad": "FAILED", "good": "ERROR", "other": "ERROR"}
    result.stdout.fnmatch_lines(
        ["*not run  cases/*", "*max_failures: 1 did not pass", "cases.evalset.json:25: not run"]
    )


@pytest.mark.slow
def test_a_case_that_was_left_out_is_skipped_with_the_reason(sandbox: Sandbox) -> None:
    sandbox.write(
        "conftest.py",
        "from proctor import CaseResult, Outcome\n"
        "from proctor.pytest_plugin.batches import Batches\n"
        "from proctor.pytest_plugin.failures import ItemResult\n"
        "skipped = CaseResult('cases', 'good', Outcome.SKIPPED, reason='quarantined \\x1b[31m')\n"
        "Batches.take = lambda self, item: ItemResult(skipped, 'bot')\n",
    )
    patched = sandbox.run_apart("-rs", sandbox.cases(GOOD))
    patched.assert_outcomes(skipped=1)
    patched.stdout.fnmatch_lines([r"SKIPPED * cases.evalset.json:4: quarantined \x1b[[]31m"])


# --- output in addition to the verdict ---------------------------------------------------------------------------------------


@pytest.mark.slow  # starts pytest
def test_junit_xml_distinguishes_failures_and_errors_and_has_the_scores(sandbox: Sandbox) -> None:
    sandbox.run("--junitxml=out.xml", "--color=yes", sandbox.cases(GOOD, BAD, ERROR))
    suite = ET.parse(sandbox.path / "out.xml").getroot()[0]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3", "failures": "1", "errors": "1", "skipped": "0",
    }  # fmt: skip
    found = {one.get("name"): one for one in suite.iter("testcase")}
    failure = found["bad"].find("failure")
    assert failure is not None
    assert failure.get("message", "").startswith("failed: exact_match 0.00 < 1")
    assert "actual    {+yes+}" in (failure.text or "")
    assert "#x1B" not in (failure.text or "")
    properties = {one.get("name"): one.get("value") for one in found["bad"].iter("property")}
    assert properties == {"proctor_outcome": "failed", "exact_match": "0.0"}
    assert found["broken"].find("error") is not None


@pytest.mark.slow
def test_colours_where_they_are_wanted_and_nowhere_else(sandbox: Sandbox) -> None:
    name = sandbox.cases(BAD)
    assert "\x1b" not in sandbox.run(name).stdout.str()
    assert "\x1b[31m✕ failed" in sandbox.run("--color=yes", name).stdout.str()


HOSTILE = [
    "\x1b]0;title\x07", "\x1b[2J", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "\r\rover", "\x08\x08", "\x9b31m", "\u202egnp.exe",
    "\x7fdel", "zero\u200bwidth", "\x1b]52;c;eA==\x07", "%s {x} [red]bold[/red]",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    "words", [["-v"], ["-rA"], ["-q", "--tb=short"], ["--collect-only"], ["--junitxml=x.xml", "-vv"]]
)
def test_text_of_agents_and_files_reaches_no_terminal_unescaped(sandbox: Sandbox, words: list[str]) -> None:
    """In ids, tags, texts that differ, errors of the agent, its prints, and warnings."""
    sandbox.write(
        "bot.py",
        "def root_agent(text):\n    print(text)\n    if text.startswith('raise'): raise ValueError(text)\n    return text + text\n",
    )
    cases = [case(f"{number} {text}", text, "x", tags=[text]) for number, text in enumerate(HOSTILE)]
    cases += [case(f"error {number} {text}", f"raise {text}") for number, text in enumerate(HOSTILE)]
    name = sandbox.cases(*cases, set_id="set \x1b[31m")
    printed = sandbox.run(*words, name).stdout.str()
    assert UNSAFE.findall(printed) == []
    if "--collect-only" not in words:
        assert f"{len(HOSTILE)} failed, {len(HOSTILE)} errors" in printed


@pytest.mark.slow
def test_tests_in_code_show_evidence_without_obeying_it(sandbox: Sandbox) -> None:
    sandbox.cases(*(case(f"{number} {text}", text, "x") for number, text in enumerate(HOSTILE)))
    sandbox.write(
        "test_it.py",
        "import pytest\n"
        "def test_run(evaluate):\n    assert evaluate('cases.evalset.json')\n"
        "@pytest.mark.proctor('cases.evalset.json')\n"
        "def test_case(eval_case, evaluate):\n    assert evaluate(eval_case).cases[0].passed\n",
    )
    result = sandbox.run("-v", "test_it.py")
    result.assert_outcomes(failed=1 + len(HOSTILE))
    assert UNSAFE.findall(result.stdout.str()) == []


# --- the last section -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_summary_counts_the_outcomes_of_all_cases(sandbox: Sandbox) -> None:
    result = sandbox.run(sandbox.cases(GOOD, BAD, ERROR))
    result.stdout.fnmatch_lines(
        [
            "*- proctor -*",
            "agent bot - failed: 1 of 3 cases fails, 1 could not be scored",
            "the evidence is not stored; with --proctor-store URL it is, for `proctor show`",
        ]
    )


@pytest.mark.slow
def test_quiet_passing_session_prints_nothing_more(sandbox: Sandbox) -> None:
    name = sandbox.cases(GOOD)
    assert "proctor" not in sandbox.run("-q", name).stdout.str()
    assert "agent bot - passed: the case passes" in sandbox.run(name).stdout.str()


@pytest.mark.slow
def test_warning_about_a_set_is_printed(sandbox: Sandbox) -> None:
    sandbox.write(
        "test_config.json", {**CONFIG, "trials": {"num_runs": 1, "min_pass_rate": 0.9, "confidence": 0.95}}
    )
    result = sandbox.run("-q", sandbox.cases(GOOD))
    result.stdout.fnmatch_lines(["warning: test_config.json: trials: no case can pass with 1 trial*"])


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("where", ["option", "ini", "settings"])
def test_a_run_is_kept_where_a_store_is_named(sandbox: Sandbox, where: str) -> None:
    name = sandbox.cases(GOOD, BAD)
    words = ["--proctor-store", "runs.sqlite3"] if where == "option" else []
    if where == "ini":
        sandbox.ini("proctor_store = runs.sqlite3")
    if where == "settings":
        sandbox.write("proctor.toml", 'store = "runs.sqlite3"\n')
    result = sandbox.run(*words, name)
    result.assert_outcomes(passed=1, failed=1)
    (line,) = [line for line in result.outlines if line.startswith("run ")]
    run_id = line.split()[1]
    assert re.fullmatch(rf"run {run_id} - proctor show {run_id} bad --store \S*runs.sqlite3", line)
    kept = load_run(run_id, store=sandbox.path / "runs.sqlite3")
    assert [(one.eval_id, one.outcome.value) for one in kept.cases] == [("good", "passed"), ("bad", "failed")]


@pytest.mark.slow
def test_nothing_is_kept_where_no_store_is_named(sandbox: Sandbox) -> None:
    sandbox.run(sandbox.cases(GOOD))
    assert not (sandbox.path / ".proctor").exists()


@pytest.mark.slow
def test_a_store_that_cannot_be_used_is_an_error_before_anything_runs(sandbox: Sandbox) -> None:
    sandbox.write("runs.sqlite3", "this is not a database " * 100)
    result = sandbox.run("--proctor-store", "runs.sqlite3", sandbox.cases(GOOD))
    assert result.ret is pytest.ExitCode.INTERRUPTED
    assert "runs.sqlite3" in result.stdout.str()
    assert sandbox.calls == []


@pytest.mark.slow
def test_runs_that_tests_in_code_have_kept_are_listed(sandbox: Sandbox) -> None:
    sandbox.cases(GOOD)
    sandbox.write("test_it.py", "def test_it(evaluate):\n    assert evaluate('cases.evalset.json')\n")
    result = sandbox.run("--proctor-store", "runs.sqlite3", "test_it.py")
    result.stdout.fnmatch_lines(["run * - proctor show * --store runs.sqlite3"])


@pytest.mark.slow
def test_results_go_to_google_adks_folder_too(sandbox: Sandbox) -> None:
    (sandbox.path / "agents" / "bot").mkdir(parents=True)
    sandbox.write("proctor.toml", 'store = ["memory:", "adk:agents"]\n')
    sandbox.run(sandbox.cases(GOOD)).assert_outcomes(passed=1)
    (written,) = (sandbox.path / "agents" / "bot" / ".adk" / "eval_history").iterdir()
    assert json.loads(written.read_text())["eval_set_id"] == "cases"
