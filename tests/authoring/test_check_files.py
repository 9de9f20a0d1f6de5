"""`check` finds what a run refuses, and nothing else: with its line, and without running anything."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from proctor.authoring.check_files import check_files
from proctor.errors import SetupError, SetupProblems
from proctor.files.eval_sets.file_problems import FileCheck
from proctor.runs.setup.prepare import prepare

TURN = {"user_content": {"parts": [{"text": "q"}]}, "final_response": {"parts": [{"text": "a"}]}}
TEXT = {"response_match_score": 0.5}
ALWAYS = {
    "tool_expectations": 1,
    "trajectory_rules": 1,
    "response_schema": {"threshold": 1, "schema": {}},
    **TEXT,
}


def write(folder: Path, case: Any, criteria: Any, **config: Any) -> list[Path]:
    """A set of one case and its config, a key a line."""
    whole = {"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [TURN], **case}]}
    files = {"s.evalset.json": whole, "test_config.json": {"criteria": criteria, **config}}
    for name, value in files.items():
        (folder / name).write_text(json.dumps(value, indent=1))
    return [folder / name for name in files]


def refused(set_path: Path) -> str:
    """Return the errors of a run before its first agent call; empty where it would begin."""

    def agent(text: str) -> str:
        raise AssertionError(f"asked {text}")

    try:
        prepare(agent, set_path, {})
    except SetupError as error:
        return str(error)
    return ""


def errors(reports: list[FileCheck]) -> list[str]:
    return [str(problem) for report in reports for problem in report.problems if problem.severity == "error"]


def matcher(**spec: Any) -> dict[str, Any]:
    return {"expectations": {"calls": [{"tool": "a", "args": {"x": spec}}]}}


def rules(*given: Any) -> dict[str, Any]:
    return {"trajectory_rules": [*given]}


def criterion(name: str, **options: Any) -> dict[str, Any]:
    return {name: {"threshold": 1, **options}}


CASES: list[tuple[dict[str, Any], str]] = [
    # a slip in what a case states: the field that is blamed; empty: there is none
    ({}, ""),
    ({"expectations": {"calls": ["a"]}}, ""),
    ({"expectations": {"cals": ["a"]}}, "expectations"),
    ({"expectations": []}, "expectations"),
    ({"expectations": "a"}, "expectations"),
    ({"expectations": {"calls": "a"}}, "expectations.calls"),
    ({"expectations": {"calls": ["a"], "turn": 1}}, ""),
    ({"expectations": {"calls": ["a"], "turn": 2}}, "expectations.turn"),
    ({"expectations": {"calls": ["a"], "turn": "1"}}, "expectations.turn"),
    ({"expectations": {"calls": ["a"], "others": "alowed"}}, "expectations.others"),
    ({"expectations": {"calls": [{"tol": "a"}]}}, "expectations.calls[0]"),
    ({"expectations": {"calls": [{"any_of": ["a"]}]}}, "expectations.calls[0].any_of"),
    ({"expectations": {"calls": [{"any_order": ["a", {"any_of": ["b", ["c", 7]]}]}]}}, "expectations.calls[0].any_order[1].any_of[1][1]"),
    ({"expectations": {"calls": ["a(b=1)"]}}, "expectations.calls[0]"),
    ({"expectations": [{"calls": ["a"]}, {"forbidden": []}]}, "expectations[1].forbidden"),
    ({"expectations": {"limits": [{"tool": "a", "at_most": -1}]}}, "expectations.limits[0].at_most"),
    (matcher(**{"$match": "text", "value": "x"}), ""),
    (matcher(**{"$match": "txt", "value": "x"}), "expectations.calls[0].args.x"),
    (matcher(**{"$mtch": "text", "value": "x"}), "expectations.calls[0].args.x"),
    (matcher(**{"$match": "number", "value": 1, "tolerence": 1}), "expectations.calls[0].args.x"),
    (matcher(**{"$match": "regex", "pattern": "("}), "expectations.calls[0].args.x"),
    (matcher(**{"$match": "regex", "pattern": ".*"}), "expectations.calls[0].args.x"),
    (matcher(**{"$match": "one_of", "values": [{"$match": "dat", "value": "1 May 2024"}]}), "expectations.calls[0].args.x.values[0]"),
    ({"session_input": {"app_name": "a", "user_id": "u", "expectations": {"cals": ["a"]}}}, "session_input.expectations"),
    ({"sessionInput": {"appName": "a", "userId": "u", "trajectoryRules": [{"nevr": "a"}]}}, "sessionInput.trajectoryRules[0]"),
    ({"expectations": {"calls": []}, "session_input": {"app_name": "a", "user_id": "u", "expectations": {"calls": ["a"]}}}, "session_input.expectations"),
    (rules({"never": "a"}), ""),
    (rules({"nver": "a"}), "trajectory_rules[0]"),
    (rules({"call": "a", "at_most": 1}, {"call": "a", "only_after": "b", "sam": "x"}), "trajectory_rules[1]"),
    (rules({"call": "a", "only_after": "b", "same": "x[*]"}), "trajectory_rules[0].same"),
    (rules({"call": "a", "at_most": "1"}), "trajectory_rules[0].at_most"),
    (rules({"never": {"tool": "a", "args": {"k.1": {"$match": "txt"}}}}), "trajectory_rules[0].never.args[“k.1”]"),
    ({"final_session_state": {"n": {"$match": "number", "value": 1, "tolerance": 1}}}, ""),
    ({"final_session_state": {"n": {"$match": "number", "value": 1}}}, "final_session_state.n"),
    ({"final_session_state": {"n": [{"deep.er": {"$mach": "text"}}]}}, "final_session_state.n"),
    ({"response_schema": {"type": "object"}}, ""),
    ({"response_schema": {"type": "objct"}}, "response_schema"),
    ({"response_schema": "schema.json"}, "response_schema"),
    ({"response_schema": {"$ref": "https://example.org/schema.json"}}, "response_schema"),
    ({"response_schema": {"items": {"$ref": "#/$defs/nowhere"}}}, "response_schema"),
    ({"response_schema": [{"turn": 2, "schema": {}}]}, "response_schema[0].turn"),
    ({"response_schema": [{"turn": 1, "schema": {"minimum": "1"}}]}, "response_schema[0].schema"),
    ({"conversation": []}, ""),
]  # fmt: skip


@pytest.mark.parametrize("criteria", [ALWAYS, TEXT], ids=["read", "unread"])
@pytest.mark.parametrize(("case", "field"), CASES, ids=[json.dumps(case)[:90] for case, _ in CASES])
def test_check_and_run_agree_on_a_case(
    tmp_path: Path, case: dict[str, Any], field: str, criteria: dict[str, Any]
) -> None:
    files = write(tmp_path, case, criteria)
    errors_found, why = errors(check_files(files)), refused(files[0])
    assert bool(errors_found) == bool(why)
    if field:
        assert f": error: eval_cases[0].{field}: " in errors_found[0]
        messages = (one.partition(": error: eval_cases[0].")[2].partition(": ")[2] for one in errors_found)
        assert all(message[:40] in why for message in messages), "the same words"


CRITERIA: list[tuple[dict[str, Any], str]] = [
    ({"response_match_score": 0.5}, ""),
    ({"response_match_scor": 0.5}, "response_match_scor"),
    ({"response_match_score": 2}, "response_match_score"),
    ({"token_usage_v1": 5, **TEXT}, "token_usage_v1"),
    (criterion("exact_match", ignore_cas=True), "exact_match.ignore_cas"),
    (criterion("exact_match", turns="lst"), "exact_match.turns"),
    (criterion("exact_match", gate="yes"), "exact_match"),
    (criterion("exact_match", aggregate="men"), "exact_match"),
    (criterion("exact_match", compat="ADK"), "exact_match.compat"),
    (criterion("tool_trajectory_avg_score", match_type="IN_ODER"), "tool_trajectory_avg_score.match_type"),
    (criterion("tool_trajectory_avg_score", matchType="IN_ODER"), "tool_trajectory_avg_score.matchType"),
    (criterion("tool_trajectory_avg_score", arguments={"a": {"x.y": "txt"}}), "tool_trajectory_avg_score.arguments.a[“x.y”]"),
    (criterion("trajectory_strict_match", args="subst"), "trajectory_strict_match.args"),
    (criterion("regex_match", pattern="("), "regex_match.pattern"),
    (criterion("regex_match", pattern=["a", "(?P<n>"]), "regex_match.pattern"),
    (criterion("response_schema", schema={"type": "objct"}), "response_schema.schema"),
    (criterion("response_schema", schema={"$ref": "file:///etc/passwd"}), "response_schema.schema"),
    (criterion("response_schema", schema={"items": {"$ref": "#/$defs/nowhere"}}), "response_schema.schema"),
    (criterion("response_schema", schema=None), "response_schema.schema"),
    ({**criterion("response_schema"), **TEXT}, "response_schema"),
    (criterion("tool_expectations", expectations={"calls": [{"tool": "a", "optionl": True}]}), "tool_expectations.expectations.calls[0]"),
    ({**criterion("tool_expectations", expectations=[{"calls": []}, {"turn": 2, "calls": []}]), **TEXT}, "tool_expectations.expectations[1].turn"),
    (criterion("trajectory_rules", rules=[{"never": {"tool": "a", "args": {"x": {"$match": "regex", "pattern": "*"}}}}]), "trajectory_rules.rules[0].never.args.x"),
    ({**criterion("final_session_state", state={"n": {"match": "number"}}), **TEXT}, "final_session_state.state.n"),
    ({**criterion("final_session_state", state={"n.m": "text"}), **TEXT}, "final_session_state.state"),
    (criterion("final_session_state", state={"n": "present"}), ""),
    (criterion("weighted", weights={"rouge_l": 1}), "weighted"),
    ({**criterion("weighted", weights={"weighted": 1})}, "weighted"),
    (criterion("tool_trajectory_avg_score", arguments={"a": {"x": "text"}}, ignore_args=True), "tool_trajectory_avg_score.arguments"),
    ({**criterion("exact_match", gate=False)}, ""),
    ({}, ""),
    ({"no_such_metric_anywhere": 1, **TEXT}, ""),
]  # fmt: skip
UNKNOWN_HERE = "no_such_metric_anywhere"
"""A metric that code of the user's own may register when it is loaded, which `check` does not do: a warning."""


@pytest.mark.parametrize(("criteria", "field"), CRITERIA, ids=[json.dumps(each)[:90] for each, _ in CRITERIA])
def test_check_and_run_agree_on_a_config(tmp_path: Path, criteria: dict[str, Any], field: str) -> None:
    files = write(tmp_path, {}, criteria)
    problems = errors(check_files(files))
    assert bool(problems) == (bool(refused(files[0])) and UNKNOWN_HERE not in criteria)
    if field:
        assert f"test_config.json:{line_of(files[1], field)}:" in problems[0]
        assert f": error: criteria.{field}: " in problems[0]
    assert bool(errors(check_files(files[:1]))) == bool(problems), "an implicit config has a separate report"


def test_mistake_is_reported_once(tmp_path: Path) -> None:
    criteria = {
        "tool_trajectory_avg_score": {"threshold": 1, "match_typ": "EXACT"},
        "token_usage_v1": 3,
        "rouge_1": 2,
    }
    reports = check_files(write(tmp_path, {}, criteria))
    problems = [problem for report in reports for problem in report.problems]
    assert [problem.field for problem in problems] == [
        "criteria.tool_trajectory_avg_score.match_typ", "criteria.token_usage_v1", "criteria.rouge_1",
    ]  # fmt: skip
    assert {problem.severity for problem in problems} == {"error"}


def line_of(file: Path, field: str) -> int:
    """Return the line of a field's value in a file that has a line for each key."""
    lines = file.read_text().splitlines()
    at = 0
    for name in re.findall(r"“(.*?)”|([^.\[\]“”]+)", field):
        key = name[0] or name[1]
        if key.isdecimal():
            depth = len(lines[at]) - len(lines[at].lstrip()) + 1
            below = range(at + 1, len(lines))
            items = [n for n in below if lines[n][:depth].isspace() and lines[n][depth] not in " ]}"]
            at = items[int(key)]
        else:
            at = next(n for n in range(at, len(lines)) if f'"{key}":' in lines[n])
    return at + 1


# --- any slip of a key or of a word -----------------------------------------------------------------------------------------

RICH_CASE = {
    "expectations": [
        {"calls": [{"tool": "a", "args": {"x": {"$match": "number", "value": 5, "tolerance": 1}}, "optional": True}], "others": "allowed"},
        {"turn": 1, "limits": [{"tool": "b", "at_most": 2}], "forbidden": ["c"]},
    ],
    "trajectory_rules": [{"call": "a", "only_after": {"tool": "b", "other_args": "allowed", "args": {}}, "same": "x", "name": "order"}],
    "final_session_state": {"n": {"$match": "one_of", "values": [1, {"$match": "regex", "pattern": "^a+$", "full": True}]}},
    "response_schema": {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/d"}}, "$defs": {"d": {"type": "integer"}}},
}  # fmt: skip
RICH_CRITERIA = {
    "tool_trajectory_avg_score": {"threshold": 1, "match_type": "IN_ORDER", "arguments": {"*": {"x.y": {"match": "date", "part": "date"}}}},
    "tool_expectations": {"threshold": 0.5, "expectations": {"calls": ["a"], "others": "allowed"}},
    "trajectory_rules": {"threshold": 1, "rules": [{"never": "d"}], "aggregate": "min"},
    "regex_match": {"threshold": 1, "pattern": ["a|b"], "require": "any", "turns": "last"},
    "final_session_state": {"threshold": 1, "state": {"n": {"match": "text", "value": "a"}}, "gate": False},
    "response_schema": {"threshold": 1, "formats": False},
}  # fmt: skip


def slipped(value: Any, at: int, how: str) -> tuple[Any, int]:
    """`value` with the text number `at` in it changed (a key or a word); and how many texts are left to count."""
    if isinstance(value, str):
        return (CHANGES[how](value) if at == 0 else value), at - 1
    if isinstance(value, list):
        items = []
        for each in value:
            changed, at = slipped(each, at, how)
            items.append(changed)
        return items, at
    if isinstance(value, dict):
        made = {}
        for key, each in value.items():
            name, at = slipped(key, at, how)
            made[name], at = slipped(each, at, how)
        return made, at
    return value, at


CHANGES = {
    "letter lost": lambda text: text[:-1],
    "letter twice": lambda text: text[:1] + text,
    "bracket": lambda text: text + "(",
    "upper case": str.upper,
    "number": len,
}


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.booleans(), st.integers(0, 70), st.sampled_from([*CHANGES]))
def test_check_refuses_the_same_typos_as_a_run(tmp_path: Path, in_case: bool, at: int, how: str) -> None:
    case, criteria = json.loads(json.dumps([RICH_CASE, RICH_CRITERIA]))
    if in_case:
        case, _ = slipped(case, at, how)
    else:
        criteria, _ = slipped(criteria, at, how)
    files = write(tmp_path, {str(key): value for key, value in case.items()}, criteria)
    reports, why = check_files(files), refused(files[0])
    unknown = [
        problem
        for each in reports
        for problem in each.problems
        if "not a metric that is known" in problem.message
    ]
    assert bool(errors(reports)) == bool(why) or unknown, why


# --- the files that it checks, and those that it ignores ----------------------------------------------------------------------------


def test_a_set_without_cases_is_refused_as_by_a_run(tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.json"
    path.write_text('{"eval_set_id": "s", "eval_cases": []}')
    assert "no cases" in refused(path)
    (error,) = errors(check_files([path]))
    assert error.endswith("s.evalset.json:1:1: error: no cases (a run of this set is refused)")


@pytest.mark.parametrize(("option", "is_fine"), [("weights", True), ("partz", False)])
def test_a_built_in_metric_under_another_name_is_built(tmp_path: Path, option: str, is_fine: bool) -> None:
    own = {"wording": {"code_config": {"name": "proctor.metrics.weighted.Weighted"}}}
    criteria = {"wording": {"threshold": 0.5, option: {"rouge_1": 1}}, "rouge_1": 0.5}
    paths = write(tmp_path, {}, criteria, custom_metrics=own)
    assert (not refused(paths[0])) is is_fine
    found = errors(check_files(paths))
    assert (not found) is is_fine
    assert is_fine or "criteria.wording.partz: unknown option 'partz'" in found[0]


def test_code_that_a_config_names_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_code.py").write_text("raise AssertionError('it was loaded')")
    custom = {"mine": {"code_config": {"name": "own_code.mine"}}}
    assert errors(check_files(write(tmp_path, {}, {"mine": 0.5}, custom_metrics=custom))) == []
    custom["mine"]["code_config"]["name"] = "own_code"
    (problem,) = errors(check_files(write(tmp_path, {}, {"mine": 0.5}, custom_metrics=custom)))
    assert "custom_metrics.mine: " in problem
    assert "must be a dotted path" in problem


@pytest.mark.parametrize(
    ("case", "criteria", "message"),
    [
        pytest.param({"conversation": None, "conversation_scenario": {"starting_prompt": "a", "conversation_plan": "b"}, "final_session_state": {"x": 1}}, TEXT, "eval_cases[0]: a run of it is refused: user simulator: ", id="a scenario whose user's model cannot be asked here"),
        pytest.param({}, {"safety_v1": 0.5}, "criteria.safety_v1: a run with this config is refused: ", id="a judge metric"),
        pytest.param({"expectations": {"calls": []}}, TEXT, "1 case(s) state `expectations`, which nothing reads", id="expectations that nothing reads"),
        pytest.param({}, {"exact_match": {"threshold": 1, "judge_model_options": {}}}, "criteria.exact_match.judge_model_options: this option has no effect here: the metric uses no judge model", id="options for a judge"),
        pytest.param({}, {"exact_match": {"threshold": 1, "judgeModelOptions": {}}}, "this option has no effect here: the metric uses no judge model", id="options for a judge in camelCase"),
        pytest.param({}, {"exact_match": {"threshold": 1, "include_intermediate_responses_in_final": True}}, "this option has no effect here: the metric uses no judge model", id="ADK's other option for judges"),
        pytest.param({}, {"exact_match": {"threshold": 1, "include_intermediate_responses_in_final": False}}, "", id="its default"),
        pytest.param({"final_session_state": {"total": 1}}, {**TEXT, **criterion("final_session_state", state={"totl": "json", "total": "json"})}, "criteria.final_session_state.state.totl: no case states `totl`. Did you mean 'total'?", id="a key that no case states"),
    ],
)  # fmt: skip
def test_file_without_a_mistake_but_with_a_risk_gives_a_warning(
    tmp_path: Path, case: dict[str, Any], criteria: dict[str, Any], message: str
) -> None:
    files = write(tmp_path, case, criteria)
    reports = check_files(files)
    assert all(report.usable for report in reports)
    alone = check_files(files[:1])
    assert any("is refused" in str(problem) for report in alone for problem in report.problems) == bool(
        refused(files[0])
    )
    problems = "\n".join(str(problem) for report in reports for problem in report.problems)
    assert message in problems
    assert bool(message) == bool(problems)


@pytest.mark.parametrize(
    ("trials", "severity"),
    [
        ({"min_pass_rate": 0.5, "confidence": 0.999, "num_runs": 2}, "error"),
        ({"min_pass_rate": 0.5, "confidence": 0.999}, "warning"),
        ({"min_pass_rate": 0.5, "confidence": 0.999, "num_runs": 200}, ""),
    ],
    ids=["too few", "as many as the run asks for", "enough"],
)
def test_trials_that_can_decide_nothing(tmp_path: Path, trials: dict[str, Any], severity: str) -> None:
    files = write(tmp_path, {}, TEXT, trials=trials)
    for paths in (files, files[1:]):
        problems = [(each.severity, each.field) for report in check_files(paths) for each in report.problems]
        assert problems == ([(severity, "trials")] if severity else [])
    assert ("decide nothing" in refused(files[0])) == bool(severity)


def test_unknown_option_is_refused_with_the_known_one() -> None:
    with pytest.raises(SetupProblems, match=r"allow_unknown_key.*allow_unknown_keys"):
        check_files(["a.evalset.json"], allow_unknown_key=True)  # type: ignore[call-arg]  # what is tested


def test_missing_config_is_reported_by_its_name(tmp_path: Path) -> None:
    (problem,) = errors(check_files(write(tmp_path, {}, TEXT)[:1], config=tmp_path / "gone.json"))
    assert problem.startswith(f"{tmp_path / 'gone.json'}:1:1: error: no such file")


def test_sets_are_checked_together_as_one_run_would_take_them(tmp_path: Path) -> None:
    first, config = write(tmp_path, {"response_schema": {}}, criterion("response_schema") | TEXT)
    second = tmp_path / "t.evalset.json"
    second.write_text(
        json.dumps({"eval_set_id": "t", "eval_cases": [{"eval_id": "c", "conversation": [TURN]}]})
    )
    assert errors(check_files([first, second, config])) == []
    (problem,) = errors(check_files([second]))
    assert "neither the criterion nor any case states a schema" in problem


YAML = """
- ask: hello
  expectations: {calls: ['f(a=1)', {tool: g, optionl: true}]}
- ask: hello
  expect: x
  response_schema: {type: objct}
  session_input: {app_name: a, user_id: b, expectations: {calls: ['f(a=1)', {tool: g, at_most: -1}]}}
"""


def test_the_place_in_yaml_and_in_lines(tmp_path: Path) -> None:
    (tmp_path / "s.evalset.yaml").write_text(YAML)
    case = {"conversation": [TURN], "expectations": {"cals": ["a"], "forbidden": ["b"]}}
    (tmp_path / "s.evalset.jsonl").write_text(
        "".join(f"{json.dumps({'eval_id': name, **case})}\n" for name in "ab")
    )
    problems = errors(check_files([tmp_path / "s.evalset.yaml", tmp_path / "s.evalset.jsonl"]))
    assert [one.partition("s.evalset.")[2].partition(" error: ")[0] for one in problems] == [
        "yaml:3:36:", "yaml:6:20:", "yaml:7:67:", "yaml:7:96:", "jsonl:1:144:", "jsonl:2:144:",
    ]  # fmt: skip


def test_a_config_of_one_s_own_choice(tmp_path: Path) -> None:
    files = write(tmp_path, {}, TEXT)
    strict = tmp_path / "strict.json"
    strict.write_text(json.dumps({"criteria": {"exact_match": {"threshold": 3}}}))
    assert errors(check_files(files)) == []
    (problem,) = errors(check_files(files, config=strict))
    assert "strict.json" in problem
    (tmp_path / "test_config.yaml").write_text("criteria: {}")
    assert "only one may configure" in "".join(errors(check_files(files[:1])))


# --- cases that an agent passes that does nothing ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "criteria", "warned"),
    [
        ("Your request has been completed today.", TEXT, True),
        ("The table is free.", TEXT, False),
        ("Your request has been completed today.", {**TEXT, "final_response_match_v2": 0.5}, False),
        ("Your request has been completed today.", {"exact_match": 1}, False),
    ],
    ids=["a fixed sentence is enough", "another answer", "a judge decides, too", "a strict metric"],
)
def test_a_case_that_an_agent_passes_that_does_nothing_is_named(
    tmp_path: Path, answer: str, criteria: Any, warned: bool
) -> None:
    turn = {"user_content": {"parts": [{"text": "q"}]}, "final_response": {"parts": [{"text": answer}]}}
    reports = check_files(write(tmp_path, {"conversation": [turn]}, criteria)[:1])
    warnings = [str(each) for report in reports for each in report.problems if "does nothing" in str(each)]
    assert bool(warnings) is warned
    assert all(
        "s.evalset.json:4:3: warning: eval_cases[0]: an agent that does nothing passes it" in each
        for each in warnings
    )
    assert not errors(reports)
