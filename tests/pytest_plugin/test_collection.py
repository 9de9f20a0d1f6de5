"""What becomes a test: eval sets that are named, or any where an agent is set; nothing else, ever."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

import proctor
from proctor.files.eval_sets.selectors import SET_SUFFIXES
from proctor.pytest_plugin import SET_SUFFIXES as SUFFIXES_HERE
from tests.pytest_plugin.sample_project import BAD, ERROR, GOOD, Sandbox, case, outcomes

pytestmark = pytest.mark.slow  # sessions of pytest

pytest_plugins = ["pytester"]

YAML = "cases:\n- case: good\n  ask: 'yes'\n  expect: 'yes'\n"
OLD = [{"query": "yes", "expected_tool_use": [], "reference": "yes"}]


def _collected(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::" in line]


# --- which files -----------------------------------------------------------------------------------------------------


def _fill(sandbox: Sandbox) -> None:
    sandbox.cases(GOOD, name="evals/one.evalset.json")
    sandbox.cases(GOOD, name="evals/deep/two.test.json")
    sandbox.cases(GOOD, name="evals/anything.json")
    sandbox.write("evals/three.evalset.yaml", YAML)
    sandbox.write("evals/four.evalset.jsonl", json.dumps(GOOD) + "\n")
    sandbox.write("evals/notes.yaml", "a: 1\n")
    sandbox.write("package.json", {"name": "x"})
    sandbox.write("test_it.py", "def test_it(): pass\n")


def test_suffixes_are_those_of_the_rest_of_proctor() -> None:
    assert SUFFIXES_HERE == SET_SUFFIXES


@pytest.mark.parametrize(
    "settings", ["", '[tool.proctor]\nagent = "bot.py"\n'], ids=["no agent", "an agent in the settings"]
)
def test_without_an_agent_for_pytest_no_additional_file_is_collected(sandbox: Sandbox, settings: str) -> None:
    _fill(sandbox)
    sandbox.write("pyproject.toml", settings)
    for words in ([], ["."], ["evals", "test_it.py"]):
        result = sandbox.run("--collect-only", "-q", *words, agent=None)
        assert _collected(result) == ["test_it.py::test_it"]


@pytest.mark.parametrize("where", ["option", "ini"])
def test_with_an_agent_sets_in_folders_are_collected(sandbox: Sandbox, where: str) -> None:
    _fill(sandbox)
    if where == "ini":
        sandbox.ini("proctor_agent = bot.py")
    result = sandbox.run("--collect-only", "-q", agent="bot.py" if where == "option" else None)
    assert _collected(result) == [
        "evals/deep/two.test.json::good",
        "evals/four.evalset.jsonl::good",
        "evals/one.evalset.json::good",
        "evals/three.evalset.yaml::good",
        "test_it.py::test_it",
    ]  # fmt: skip


def test_a_set_that_is_named_is_collected_with_the_agent_of_the_settings(sandbox: Sandbox) -> None:
    _fill(sandbox)
    sandbox.write("proctor.toml", 'agent = "bot.py"\n')
    result = sandbox.run("evals/one.evalset.json", agent=None)
    result.assert_outcomes(passed=1)


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("name", ["any.json", "any.yaml", "any.jsonl"])
def test_set_of_another_name_is_collected_where_it_and_the_agent_are_named(
    sandbox: Sandbox, name: str
) -> None:
    text = {"any.json": json.dumps({"eval_set_id": "any", "eval_cases": [GOOD]}), "any.yaml": YAML}
    sandbox.write(name, text.get(name, json.dumps(GOOD) + "\n"))
    sandbox.run(name).assert_outcomes(passed=1)
    assert sandbox.run(name, agent=None).ret is pytest.ExitCode.USAGE_ERROR


@pytest.mark.nightly
@pytest.mark.slow  # starts pytest
def test_a_file_of_another_tool_that_is_called_alike_is_left_alone(sandbox: Sandbox) -> None:
    sandbox.write("api.test.yaml", "stages:\n- name: x\n")
    sandbox.write("ui.test.json", {"suites": []})
    for name in ("api.test.yaml", "ui.test.json"):
        assert sandbox.run(name, agent=None).ret is pytest.ExitCode.USAGE_ERROR
    assert sandbox.run(agent=None).ret is pytest.ExitCode.NO_TESTS_COLLECTED
    sandbox.run("api.test.yaml").assert_outcomes(errors=1)  # unless an agent is named for it


def test_sets_of_every_generation(sandbox: Sandbox) -> None:
    sandbox.write("old.test.json", OLD)
    sandbox.write("new.evalset.json", {"evalSetId": "new", "evalCases": [_camel()]})
    result = sandbox.run("old.test.json", "new.evalset.json")
    result.assert_outcomes(passed=2)


def _camel() -> dict[str, Any]:
    turn = {"userContent": {"parts": [{"text": "yes"}]}, "finalResponse": {"parts": [{"text": "yes"}]}}
    return {"evalId": "good", "conversation": [turn]}


def test_collecting_asks_no_agent(sandbox: Sandbox) -> None:
    result = sandbox.run("--collect-only", sandbox.cases(GOOD, BAD))
    result.stdout.fnmatch_lines(["*<EvalSetFile cases.evalset.json>", "*<CaseItem good>", "*<CaseItem bad>"])
    assert sandbox.calls == []


# --- which cases -----------------------------------------------------------------------------------------------------


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    ("words", "run"),
    [
        pytest.param(["cases.evalset.json::red"], ["red"], id="a node id"),
        pytest.param(["cases.evalset.json::red", "cases.evalset.json::blue"], ["red", "blue"], id="two node ids"),
        pytest.param(["cases.evalset.json", "-k", "blue"], ["blue"], id="-k with an id"),
        pytest.param(["cases.evalset.json", "-k", "warm"], ["red"], id="-k with a tag"),
        pytest.param(["cases.evalset.json", "-k", "not color"], ["quiet"], id="-k without a tag"),
        pytest.param(["cases.evalset.json", "--deselect", "cases.evalset.json::red"], ["blue", "quiet"], id="--deselect"),
    ],
)  # fmt: skip
def test_only_the_cases_that_are_chosen_are_run(sandbox: Sandbox, words: list[str], run: list[str]) -> None:
    sandbox.cases(
        case("red", "red", tags=["color", "warm"]), case("blue", "blue", tags="color"), case("quiet", "quiet")
    )
    sandbox.run(*words).assert_outcomes(
        passed=len(run), deselected=3 - len(run) if "::" not in words[0] else 0
    )
    assert sorted(sandbox.calls) == sorted(f"{name!r} " for name in run)


STRANGE_IDS = [
    "two words", "a::b", "x[1]", "x[a::b]", "[", "a/b", "..", "ünï", "\u4f60\u597d", "esc\x1b[31m", "line\nend", "tab\t",
    "rtl\u202e", "%s", "-k", "same", "same\x07", "same\\x07",
]  # fmt: skip


@pytest.mark.nightly
@pytest.mark.slow  # starts pytest
def test_ids_of_every_kind_can_be_selected_and_none_is_obeyed(sandbox: Sandbox) -> None:
    name = sandbox.cases(*(case(eval_id, "yes") for eval_id in STRANGE_IDS))
    listed = sandbox.run("--collect-only", "-q", name)
    nodes = _collected(listed)
    assert len(set(nodes)) == len(nodes) == len(STRANGE_IDS)
    assert all(node.isprintable() for node in nodes)
    for node in nodes:
        sandbox.run("-q", node).assert_outcomes(passed=1)


@pytest.mark.slow  # starts pytest several times
def test_what_failed_last_is_run_again(sandbox: Sandbox) -> None:
    name = sandbox.cases(GOOD, BAD, ERROR)
    sandbox.run(name).assert_outcomes(passed=1, failed=1, errors=1)
    again = sandbox.run("-v", "--lf", name)
    assert outcomes(again) == {"bad": "FAILED", "broken": "ERROR"}
    first = sandbox.run("-v", "--ff", name)
    assert list(outcomes(first)) == ["bad", "broken", "good"]


@pytest.mark.nightly
@pytest.mark.slow  # starts pytest several times
def test_without_a_cache_and_with_other_ways_to_import(sandbox: Sandbox) -> None:
    name = sandbox.cases(GOOD, BAD)
    for words in (
        ["-p", "no:cacheprovider"],
        ["--import-mode=importlib"],
        ["--assert=plain"],
        ["-p", "no:terminal"],
    ):
        assert sandbox.run(*words, name).ret is pytest.ExitCode.TESTS_FAILED


def test_a_session_that_a_program_starts_which_has_imported_proctor(sandbox: Sandbox) -> None:
    script = "import sys, proctor, proctor.pytest_plugin, pytest; sys.exit(pytest.main(sys.argv[1:]))"
    words = ["-W", "error", "--proctor-agent", "bot.py", sandbox.cases(GOOD)]
    result = sandbox.pytester.run(sys.executable, "-W", "error", "-c", script, *words)
    result.assert_outcomes(passed=1)


# --- mistakes --------------------------------------------------------------------------------------------------------


MISTAKES = [
    pytest.param({"cases.evalset.json": '{"eval_set_id": "x",\n "eval_cases": [}'}, "cases.evalset.json:2:17: error: ", id="not JSON"),
    pytest.param({"cases.evalset.json": '{"eval_set_id": "x", "eval_cases": []}'}, "cases.evalset.json:1:1: error: eval_cases: no cases", id="no cases"),
    pytest.param({"test_config.json": '{"critera": {}}'}, "test_config.json:1:2: error: ", id="a misspelled key of the config"),
    pytest.param({"test_config.json": '{"criteria": {"exact_mach": 1}}'}, "Did you mean 'exact_match'?", id="an unknown metric"),
    pytest.param({"bot.py": "import nowhere"}, "nowhere", id="an agent that cannot be imported"),
    pytest.param({"bot.py": "x = 1"}, "none of root_agent, get_agent_async, app", id="a module without an agent"),
    pytest.param({"proctor.toml": "agnt = 1"}, "Did you mean 'agent'?", id="a misspelled setting"),
    pytest.param({"proctor.toml": 'setup = "nowhere:x"'}, "nowhere", id="a hook that is not there"),
    pytest.param({"pytest.ini": "[pytest]\naddopts = -p proctor.pytest_plugin\nproctor_num_runs = often"}, "proctor_num_runs: expected a whole number of at least 1, got 'often'", id="an ini value that cannot be"),
]  # fmt: skip


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(("files", "message"), MISTAKES)
def test_mistake_is_an_error_of_collection_with_location_and_no_traceback(
    sandbox: Sandbox, files: dict[str, str], message: str
) -> None:
    name = sandbox.cases(GOOD)
    for path, text in files.items():
        sandbox.write(path, text)
    result = sandbox.run(name)
    assert result.ret is pytest.ExitCode.INTERRUPTED
    printed = result.stdout.str()
    assert message in printed
    assert "Traceback" not in printed
    assert "src/proctor" not in printed
    assert sandbox.calls == []


def test_message_without_any_agent_names_the_places_for_one(sandbox: Sandbox) -> None:
    result = sandbox.run(sandbox.cases(GOOD), agent=None)
    assert result.ret is pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["no agent is named: give one with --proctor-agent AGENT*"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--proctor-num-runs", "0"], "expected a whole number of at least 1, got '0'"),
        (["--proctor-timeout", "soon"], "expected a number of seconds above 0, got 'soon'"),
        (["--proctor-timeout", "nan"], "expected a number of seconds above 0, got 'nan'"),
        (["--proctor-metrics", ","], "expected one or more names"),
        (["--proctor-compat", "adc"], "expected adk, got 'adc'"),
    ],
)
def test_an_option_that_cannot_be_is_refused(sandbox: Sandbox, words: list[str], message: str) -> None:
    result = sandbox.run_apart(*words, sandbox.cases(GOOD))
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    assert message in result.stderr.str()


def test_marker_elsewhere_does_not_hide_a_broken_set(sandbox: Sandbox) -> None:
    """A broken set does not hide that a test in code fails: both are reported."""
    sandbox.cases(GOOD)
    sandbox.write("broken.evalset.json", "{")
    sandbox.write("test_it.py", "def test_it(): pass\n")
    result = sandbox.run("--continue-on-collection-errors")
    result.assert_outcomes(passed=2, errors=1)


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("how", ["option", "ini", "settings", "none"])
def test_warnings_are_errors_where_that_is_asked_for(sandbox: Sandbox, how: str) -> None:
    name = "cases.evalset.json"
    sandbox.write(name, {"eval_cases": [GOOD]})  # without `eval_set_id`, which is a warning
    if how == "ini":
        sandbox.ini("proctor_warnings_as_errors = true")
    if how == "settings":
        sandbox.write("proctor.toml", "warnings_as_errors = true\n")
    result = sandbox.run(*(["--proctor-warnings-as-errors"] if how == "option" else []), name)
    if how == "none":
        result.assert_outcomes(passed=1)
        return
    assert result.ret is not pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*eval_set_id*is missing*a warning, refused*"])


@pytest.mark.parametrize("allowed", [True, False], ids=["allowed", "refused"])
def test_key_that_resembles_an_expectation_is_refused_unless_allowed(
    sandbox: Sandbox, *, allowed: bool
) -> None:
    name = sandbox.cases({**GOOD, "expected_tools": ["f"]})
    result = sandbox.run(*(["--proctor-allow-unknown-keys"] if allowed else []), name)
    assert (result.ret is pytest.ExitCode.OK) is allowed
    if not allowed:
        result.stdout.fnmatch_lines(["*cases.evalset.json:*expected_tools: unknown key*"])


# --- the audit of a set ----------------------------------------------------------------------------------------------


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    ("criteria", "share", "passes", "text"),
    [
        pytest.param({"exact_match": 1.0}, "0.9", True, "", id="enough is caught"),
        pytest.param(
            {"response_match_score": 0.5},
            "0.9",
            False,
            "*of the mutants are caught, and 90 % are required",
            id="too few",
        ),
        pytest.param(
            {"exact_match": 1.0}, "1.5", False, "*expected a share above 0 and up to 1*", id="no share"
        ),
    ],
)
def test_the_audit_of_a_set_is_a_test(
    sandbox: Sandbox, criteria: Any, share: str, passes: bool, text: str
) -> None:
    answer = "The ship has 42 seats. It is open every day."
    sandbox.cases(case("seats", "How many seats?", answer), name="ship.evalset.json")
    sandbox.write("test_config.json", {"criteria": {**criteria, "tool_trajectory_avg_score": 1.0}})
    sandbox.ini(f"proctor_audit = {share}")
    result = sandbox.run("-v", "ship.evalset.json", "-k", "audit")
    assert (result.ret == 0) is passes
    if text:
        result.stdout.fnmatch_lines([text])
    if share == "0.9":
        result.stdout.fnmatch_lines([f"*::(audit) {'PASSED' if passes else 'FAILED'}*"])


SCRIPT = [
    {"when": ["42 seats"], "say": {"verdict": "valid", "rationale": "same"}},
    {"when": ["answer"], "say": {"verdict": "invalid", "rationale": "other"}},
]


def judged_ship(sandbox: Sandbox) -> None:
    """Write a set whose text only a judge compares, and a scripted judge that notices a wrong number of seats."""
    sandbox.cases(case("seats", "How many seats?", "The ship has 42 seats."), name="ship.evalset.json")
    vote = {"threshold": 1, "judge_model_options": {"num_samples": 1}}
    criteria = {"final_response_match_v2": vote, "tool_trajectory_avg_score": 1.0}
    sandbox.write("test_config.json", {"criteria": criteria})
    sandbox.write("judge.json", SCRIPT)


@pytest.mark.parametrize(
    ("arguments", "setting", "shown"),
    [
        pytest.param((), "", "*not measured, these metrics ask a judge: final_response_match_v2", id="no judge"),
        pytest.param(("--proctor-judge", "scripted:judge.json"), "", "*judges were asked about * mutants*", id="a judge"),
        pytest.param(
            ("--proctor-judge", "scripted:judge.json"),
            "max_judge_calls = 2",
            "*the others are not counted (--max-judge-calls 2)*",
            id="a limit",
        ),
    ],
)  # fmt: skip
def test_an_audit_asks_the_judge_of_the_command_line_as_the_command_does(
    sandbox: Sandbox, arguments: tuple[str, ...], setting: str, shown: str
) -> None:
    judged_ship(sandbox)
    sandbox.write("proctor.toml", f'judge = "scripted:judge.json"\n{setting}\n')
    result = sandbox.run(
        "ship.evalset.json", "-k", "audit", "--proctor-audit", "1", "--proctor-store", "runs.db", *arguments
    )
    result.stdout.fnmatch_lines([shown])
    (kept,) = proctor.list_runs(store=str(sandbox.path / "runs.db"), kind="audit")
    assert kept.sets == ("ship",)


def test_audits_come_after_the_cases_of_all_files(sandbox: Sandbox) -> None:
    for name in ("a", "b"):
        sandbox.cases(GOOD, name=f"{name}.evalset.json")
    result = sandbox.run("--collect-only", "-q", "--proctor-audit", "0.5")
    assert [line.rpartition("::")[2] for line in _collected(result)] == ["good", "good", "(audit)", "(audit)"]
