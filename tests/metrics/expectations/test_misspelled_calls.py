"""What must not come, misspelled, never comes: such a slip turns nothing green in silence."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.errors import CriterionError, EvalFileError, MetricError
from proctor.files.eval_sets.source import load_eval_set
from proctor.metrics.base import AgentDeclaration, CaseView
from proctor.metrics.expectations.misspelled_calls import is_one_slip_from
from proctor.metrics.expectations.tool_expectations import ToolExpectations
from proctor.metrics.rules.trajectory_rules import TrajectoryRules
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import FunctionResponse
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import AppDetails, Invocation
from tests.metrics.invocations import Calls, turn, view

DELETE = {
    "name": "delete",
    "parameters": {
        "type": "OBJECT",
        "properties": {
            "all": {"type": "BOOLEAN"},
            "id": {"type": "INTEGER", "nullable": True},
            "mode": {"type": "STRING", "enum": ["soft", "hard"]},
            "filter": {"type": "OBJECT", "properties": {"owner": {"type": "STRING"}}},
            "ids": {"type": "ARRAY", "items": {"type": "INTEGER"}},
            "any": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
        },
    },
}
OTHER = {"name": "other", "parameters": {"type": "OBJECT", "properties": {}}}
OPEN = {"name": "log", "parameters": {"type": "OBJECT", "properties": {}, "additionalProperties": True}}


def details(*declarations: Any) -> dict[str, Any]:
    return {"agent_details": {"bot": {"name": "bot", "tool_declarations": [*declarations]}}}


def call(tool: Any, **args: Any) -> dict[str, Any]:
    return {"tool": tool, "args": args}


def rules_of(pattern: Any) -> list[dict[str, Any]]:
    """Every rule that a call which never comes would keep."""
    return [
        {"never": pattern},
        {"call": pattern, "at_most": 1},
        {"call": pattern, "only_after": "other"},
        {"call": pattern, "implies_later": "other"},
        {"no": pattern, "before": "other"},
        {"no": "other", "before": pattern},
    ]


def blocks_of(pattern: Any) -> list[dict[str, Any]]:
    limit = {**(pattern if isinstance(pattern, dict) else {"tool": pattern}), "at_most": 1}
    return [{"forbidden": [pattern]}, {"limits": [limit]}, {"calls": ["*"], "forbidden": [pattern]}]


# --- before the run, where the agent declares its tools ----------------------------------------------------------------------

REFUSED = [
    pytest.param("delet", "no tool 'delet' (Did you mean 'delete'?)", id="a tool"),
    pytest.param({"tool": ["delete", "remove"]}, "no tool 'remove'", id="one of several tools"),
    pytest.param(call("delete", al=True), "declares no argument `al`. Did you mean 'all'?", id="an argument"),
    pytest.param(call("*", al=True), "declares no argument `al`", id="an argument of any tool"),
    pytest.param(call("delete", all="true"), 'declares `all` as true or false, not "true"', id="text for a truth value"),
    pytest.param(call("delete", all=1), "declares `all` as true or false, not 1", id="a number for a truth value"),
    pytest.param(call("delete", id="5"), 'declares `id` as an integer or null, not "5"', id="text for a number"),
    pytest.param(call("delete", id=5.5), "not 5.5", id="a fraction for an integer"),
    pytest.param(call("delete", mode="hrad"), "not \"hrad\". Did you mean 'hard'?", id="none of an enumeration"),
    pytest.param(call("delete", filter={"ownr": "x"}), "no argument `filter.ownr`", id="a key within"),
    pytest.param(call("delete", ids=["1"]), 'declares `ids` as an integer, not "1"', id="an item"),
    pytest.param(call("delete", id={"$match": "regex", "pattern": "5"}), "as an integer or null", id="a matcher of text for a number"),
    pytest.param(call("delete", all={"$match": "one_of", "values": ["true", "yes"]}), "as true or false", id="none of several"),
    pytest.param(call("delete", filter={"owner": {"$match": "number", "value": 1, "tolerance": 1}}), "`filter.owner` as text", id="a matcher within"),
]  # fmt: skip
MEANT = [
    pytest.param("delete", id="a tool that is declared"),
    pytest.param("transfer_to_agent", id="a tool of the framework"),
    pytest.param(
        call("delete", all=True, id=5, mode="hard", ids=[1], filter={"owner": "x"}), id="declared arguments"
    ),
    pytest.param(call("delete", id=None), id="null where it is declared"),
    pytest.param(call("delete", id=5.0), id="a whole number as a fraction"),
    pytest.param(call("delete", any=[]), id="alternatives without content"),
    pytest.param(call("log", anything=1), id="further arguments are declared"),
    pytest.param(call(["delete", "log"], anything=1), id="one of several tools takes it"),
    pytest.param(call("delete", al={"$match": "ignore"}), id="an argument that need not be there"),
    pytest.param(
        call("delete", all={"$match": "one_of", "values": ["true", True]}), id="one of several is right"
    ),
    pytest.param({"tool": "*", "args": {"id": {"$match": "present"}}}, id="any tool with an argument"),
]


def refusals(metric: Any, stated: dict[str, Any], described: AgentDeclaration) -> list[str]:
    case = EvalCase.model_validate({"eval_id": "c", "conversation": [], **stated})
    return [*metric.check_agent(case, described)]


@pytest.mark.parametrize(("pattern", "why"), REFUSED)
def test_what_the_agent_cannot_call_is_refused(pattern: Any, why: str) -> None:
    described = AgentDeclaration(details({"function_declarations": [DELETE, OTHER]}))
    for rule in rules_of(pattern):
        [problem] = refusals(TrajectoryRules(), {"trajectory_rules": [rule]}, described)
        assert why in problem
        assert problem.startswith("trajectory_rules[0]: ")
        [common] = TrajectoryRules(criterion(rules=[rule])).check_agent(None, described)
        assert common.startswith("rules[0]: ")
    for block in blocks_of(pattern):
        [problem] = refusals(ToolExpectations(), {"expectations": block}, described)
        assert why in problem
        assert problem.startswith(("expectations.forbidden[0]: ", "expectations.limits[0]: "))
        assert [*ToolExpectations(criterion(expectations=block)).check_agent(None, described)] == [problem]


@pytest.mark.parametrize("pattern", MEANT)
def test_what_it_can_call_is_not(pattern: Any) -> None:
    described = AgentDeclaration(details(DELETE, OPEN, {"name": "other"}))
    for rule in rules_of(pattern):
        assert refusals(TrajectoryRules(), {"trajectory_rules": [rule]}, described) == []
    for block in blocks_of(pattern):
        assert refusals(ToolExpectations(), {"expectations": block}, described) == []


def test_without_a_complete_list_a_tool_may_be_there() -> None:
    described = AgentDeclaration(details(DELETE), is_complete=False)
    stated = {"expectations": {"forbidden": ["on_the_server", call("delete", al=True)]}}
    [problem] = refusals(ToolExpectations(), stated, described)
    assert "no argument `al`" in problem
    assert refusals(ToolExpectations(), {"expectations": {"forbidden": ["x"]}}, AgentDeclaration({})) == []
    assert (
        refusals(ToolExpectations(), {"expectations": {"forbidden": ["x"]}}, AgentDeclaration(details()))
        == []
    )


def test_what_the_case_expects_is_known() -> None:
    conversation = [turn(calls=[("hidden", {}), ("delete", {"al": True})]).model_dump()]
    stated = {
        "conversation": conversation,
        "expectations": {"forbidden": ["hidden", call("delete", al=False)]},
    }
    assert refusals(ToolExpectations(), stated, AgentDeclaration(details(DELETE))) == []


def test_what_must_come_is_not_refused_for_its_name() -> None:
    """It does not come, and that fails."""
    stated = {"expectations": {"calls": ["delet"], "limits": [{"tool": "fnd", "at_least": 1}]}}
    assert refusals(ToolExpectations(), stated, AgentDeclaration(details(DELETE))) == []


@pytest.mark.parametrize("metric", [ToolExpectations, TrajectoryRules])
def test_declarations_add_tools_that_the_agent_does_not_describe(metric: Any) -> None:
    stated = {
        "expectations": {"forbidden": ["hidden"]},
        "trajectory_rules": [{"never": call("delete", force=True)}],
    }
    more = {"name": "delete", "parameters": {"type": "object", "properties": {"force": {"type": "boolean"}}}}
    assert refusals(metric(), stated, AgentDeclaration(details(DELETE)))
    known = metric(criterion(declarations=["hidden", more]))
    assert refusals(known, stated, AgentDeclaration(details(DELETE))) == []
    for wrong in ("hidden", [7], [""], [{"nme": "x"}]):
        with pytest.raises(CriterionError, match="declarations"):
            metric(criterion(declarations=wrong))


# --- after the run ---------------------------------------------------------------------------------------------------------

ASKED: Calls = [("delete", {"all": True, "id": 5, "who": "Ada", "filter": {"owner": "x", "age": 3}})]
ERRORS = [
    pytest.param(call("delete", al=True), "its argument is called `all`", id="a letter is missing"),
    pytest.param(call("delete", aall=True), "its argument is called `all`", id="a letter too many"),
    pytest.param(call("delete", woh="Ada"), "its argument is called `who`", id="letters exchanged"),
    pytest.param(call("delete", WHO="Ada"), "its argument is called `who`", id="case"),
    pytest.param(call("*", al=True), "its argument is called `all`", id="of any tool"),
    pytest.param(
        call("delete", all="true"), "its `all` is true, of another type", id="a truth value as text"
    ),
    pytest.param(call("delete", all="True"), "its `all` is true, of another type", id="as Python writes it"),
    pytest.param(call("delete", id="5"), "its `id` is 5, of another type", id="a number as text"),
    pytest.param(call("delete", al=True, id="5"), "is called `all` and its `id` is 5", id="two slips"),
]
WARNED = [
    pytest.param("delet", "nor called: 'delet' (Did you mean 'delete'?)", id="a tool"),
    pytest.param(
        call("delete", everything=True), "no call of delete had an argument 'everything'", id="an argument"
    ),
    pytest.param(
        call("delete", al=False),
        "had an argument 'al', and none is declared or expected. Did you mean 'all'?",
        id="an argument of another value",
    ),
    pytest.param(call("delete", all=1), "its `all` is true, of another type", id="1 for true"),
    pytest.param(call("delete", who="ada"), "(`text` ignores case", id="case of a value"),
    pytest.param(call("delete", filter={"owner": "x"}), "has more keys (`subset`", id="a part of an object"),
    pytest.param(
        {"tool": "delete", "response": {"status": "ok"}}, "has more keys", id="a part of a response"
    ),
]
SILENT = [
    pytest.param(call("delete", all=False), id="another value"),
    pytest.param(call("delete", all=True, id=6), id="one right, one another value"),
    pytest.param(call("delete", id=50), id="another number"),
    pytest.param({"tool": "delete", "response": {"status": "failed"}}, id="another response"),
]  # fmt: skip


def criterion(**options: Any) -> BaseCriterion:
    return BaseCriterion.model_validate({"threshold": 1.0, **options})


def seen(pattern: Any, calls: Calls, **fields: Any) -> Iterator[tuple[Any, CaseView]]:
    """Return each way to forbid a call, with a conversation in which these were made."""
    done = turn("Done.", [*calls])
    done.intermediate_data.tool_responses = [  # type: ignore[union-attr] # made so above
        FunctionResponse(name=name, response={"status": "ok", "took": 3}) for name, _ in calls
    ]
    for block in blocks_of(pattern):
        yield ToolExpectations(), view([done], extra={"expectations": block}, **fields)
    yield TrajectoryRules(), view([done], extra={"trajectory_rules": [{"never": pattern}]}, **fields)


@pytest.mark.parametrize(("pattern", "why"), ERRORS)
def test_a_call_that_was_meant_but_for_a_slip_is_an_error(pattern: Any, why: str) -> None:
    for metric, case in seen(pattern, ASKED):
        with pytest.raises(MetricError, match="is not") as error:
            metric.score(case)
        assert why in str(error.value)


@pytest.mark.parametrize(("pattern", "why"), WARNED)
def test_what_nothing_knows_is_warned_about(pattern: Any, why: str) -> None:
    for metric, case in seen(pattern, ASKED):
        found = metric.score(case)
        assert found.value == 1
        assert why in found.per_invocation[-1].warning
        assert why in metric.explain(case, found, 0).warning


@pytest.mark.parametrize("pattern", SILENT)
def test_what_is_well_known_is_not(pattern: Any) -> None:
    for metric, case in seen(pattern, ASKED):
        found = metric.score(case)
        assert (found.value, found.per_invocation[-1].warning) == (1, "")


def test_agent_without_a_call_of_the_tool_gives_no_warning_about_arguments() -> None:
    for metric, case in seen(
        call("delete", al=True), [("other", {"al": 1})], expected=[turn(calls=[("delete", {})])]
    ):
        found = metric.score(case)
        assert (found.value, found.per_invocation[-1].warning) == (1, "")


def test_what_the_case_expects_or_the_agent_declares_is_spelled_right() -> None:
    declared = AppDetails.model_validate(
        details({"name": "delete", "parameters": {"type": "object", "properties": {"al": {}, "all": {}}}})
    )
    for fields in ({"expected": [turn(calls=[("delete", {"al": False})])]}, {}):
        for metric, case in seen(call("delete", al=True), ASKED, **fields):
            case.actual[0].app_details = None if fields else declared
            found = metric.score(case)
            assert (found.value, found.per_invocation[-1].warning) == (1, "")


def test_declarations_in_the_evidence_are_checked() -> None:
    """An agent may give its description with each turn instead of before the run; a re-score has no agent."""
    for metric, case in seen(call("delete", everything=True), ASKED):
        case.actual[0].app_details = AppDetails.model_validate(details(DELETE))
        with pytest.raises(
            MetricError, match="no call can match this: delete declares no argument `everything`"
        ):
            metric.score(case)


def test_argument_of_another_call_must_be_known_where_a_typo_would_pass() -> None:
    calls: Calls = [("pay", {"order": 1}), ("check", {"order_id": 1})]
    for same, why in (
        ("order", "no call of check had an argument 'order'"),
        ({"order": "ordr_id"}, "'ordr_id'"),
    ):
        rule = {"no": "pay", "before": "check", "same": same}
        case = view([turn("x", calls)], extra={"trajectory_rules": [rule]})
        assert why in TrajectoryRules().score(case).per_invocation[0].warning
    right = {"no": "pay", "before": "check", "same": {"order": "order_id"}}
    found = TrajectoryRules().score(view([turn("x", calls)], extra={"trajectory_rules": [right]}))
    assert (found.value, found.per_invocation[0].warning) == (0, "")


# --- no false alarms -------------------------------------------------------------------------------------------------------


@given(st.text("abcdefg_", max_size=6), st.text("abcdefg_", max_size=6))
def test_one_slip_is_one_letter(name: str, other: str) -> None:
    one, two = (each.replace("_", "") for each in (name, other))
    assert is_one_slip_from(name, other) == is_one_slip_from(other, name)
    added = {one[:at] + letter + one[at:] for at in range(len(one) + 1) for letter in "abcdefg"}
    removed = {one[:at] + one[at + 1 :] for at in range(len(one))}
    changed = {one[:at] + letter + one[at + 1 :] for at in range(len(one)) for letter in "abcdefg"}
    swapped = {one[:at] + one[at + 1] + one[at] + one[at + 2 :] for at in range(len(one) - 1)}
    near = {one} | added | removed | changed | swapped
    assert is_one_slip_from(name, other) == (two in near and max(len(one), len(two)) >= 3)


@pytest.mark.parametrize(("name", "other"), [("x", "y"), ("x1", "x2"), ("line1", "line2"), ("id", "no"), ("from", "to"), ("amount_usd", "amount_eur")])  # fmt: skip
def test_correct_names_are_not_typos(name: str, other: str) -> None:
    assert not is_one_slip_from(name, other)


@pytest.mark.slow
def test_of_the_corpus_nothing_is_called_a_slip(shared: Path) -> None:
    """Any recorded call of the corpus could be forbidden, together with all other calls of that agent."""
    looked = 0
    for case in (case for path in sorted((shared / "corpus").rglob("*.json")) for case in _cases(path)):
        turns = case.conversation or []
        calls = [one for each in turns for one in each.tool_calls if one.name][:20]
        for one in calls:
            looked += 1
            stated: dict[str, Any] = {
                "expectations": {"forbidden": [{"tool": one.name, "args": one.args or {}}]}
            }
            others = [(other.name or "", other.args) for other in calls if other is not one]
            seen = view([turn("x", others)], extra=stated)
            assert ToolExpectations().score(seen).value in (0, 1)  # and no error
    assert looked > 300


def test_of_what_agents_declared_and_called_nothing_is_refused(shared: Path) -> None:
    """Return the results of google-adk in the corpus: the calls of agents, and their declarations then."""
    looked = 0
    for path in sorted((shared / "corpus").rglob("*.evalset_result.json")):
        for actual in _actual(json.loads(path.read_text())):
            turn = Invocation.model_validate(actual)
            if turn.app_details is None:
                continue
            forbidden: list[Any] = [{"tool": one.name, "args": one.args or {}} for one in turn.tool_calls]
            looked += len(forbidden)
            stated = {"expectations": {"forbidden": forbidden or ["transfer_to_agent"]}}
            assert refusals(ToolExpectations(), stated, AgentDeclaration(turn.app_details.model_dump())) == []
    assert looked > 20


def _actual(value: Any) -> Iterator[dict[str, Any]]:
    """Every `actual_invocation` in a result, which is JSON, or JSON in a text."""
    if isinstance(value, str):
        yield from _actual(json.loads(value)) if value.startswith("{") and "actual" in value else ()
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from [each] if key in ("actual_invocation", "actualInvocation") and each else _actual(each)
    elif isinstance(value, list):
        yield from (found for each in value for found in _actual(each))


def _cases(path: Path) -> list[EvalCase]:
    try:
        is_set = path.name.endswith((".evalset.json", ".test.json"))
        return [*load_eval_set(path).eval_cases] if is_set else []
    except EvalFileError:
        return []
