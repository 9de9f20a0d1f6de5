"""Names in prohibitions and limits that no tool has: a prohibition of nothing passes everything."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.metrics.base import AgentDeclaration
from proctor.metrics.expectations.misspelled_calls import lookalike
from proctor.metrics.expectations.tool_expectations import ToolExpectations
from proctor.metrics.rules.trajectory_rules import TrajectoryRules
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from tests.metrics.invocations import turn, view

SLIPS = {
    "case": ("Pay", "pay"),
    "separators": ("delete-user", "delete_user"),
    "camelCase": ("deleteUser", "delete_user"),
    "a blank": ("delete user", "delete_user"),
    "Cyrillic letters": ("рау", "pay"),
    "a Greek letter": ("pαy", "pay"),
    "fullwidth letters": ("ｐａｙ", "pay"),
    "an invisible character": ("pay\u200b", "pay"),
    "0 and O": ("g0", "go"),
    "1 and l": ("de1ete", "delete"),
}
OTHERS = {
    "the same": ("pay", "pay"),
    "another tool": ("refund", "pay"),
    "one letter": ("pays", "pay"),
    "numbers": ("step_2", "step_3"),
    "any tool": ("*", "pay"),
}


@pytest.mark.parametrize(("name", "known"), SLIPS.values(), ids=SLIPS)
def test_a_lookalike(name: str, known: str) -> None:
    assert lookalike(name, ["other", known]) == known


@pytest.mark.parametrize(("name", "known"), OTHERS.values(), ids=OTHERS)
def test_no_lookalike(name: str, known: str) -> None:
    assert lookalike(name, [known]) is None


def test_known_name_is_not_a_typo_of_another() -> None:
    assert lookalike("Pay", ["pay", "Pay"]) is None


STATED: dict[str, tuple[Any, str, Any]] = {
    "never": (TrajectoryRules, "trajectory_rules", lambda name: [{"never": name}]),
    "at most": (TrajectoryRules, "trajectory_rules", lambda name: [{"call": name, "at_most": 1}]),
    "forbidden": (ToolExpectations, "expectations", lambda name: {"forbidden": [name]}),
    "limits": (ToolExpectations, "expectations", lambda name: {"limits": [{"tool": name, "at_most": 1}]}),
}
OPTION = {TrajectoryRules: "rules", ToolExpectations: "expectations"}


def case(extra: dict[str, Any], *expected: str) -> EvalCase:
    uses = [{"name": name, "args": {}} for name in expected]
    recorded = {"user_content": {"parts": [{"text": "q"}]}, "intermediate_data": {"tool_uses": uses}}
    return EvalCase.model_validate({"eval_id": "a", "conversation": [recorded], **extra})


@pytest.mark.parametrize(("kind", "key", "state"), STATED.values(), ids=STATED)
@pytest.mark.parametrize(("name", "known"), SLIPS.values(), ids=SLIPS)
def test_a_slip_in_a_case_is_an_error(kind: Any, key: str, state: Any, name: str, known: str) -> None:
    [problem] = kind().check(case({key: state(name)}, known))
    assert f"write `{known}`" in problem


@pytest.mark.parametrize(("kind", "key", "state"), STATED.values(), ids=STATED)
def test_a_slip_in_a_criterion_is_an_error(kind: Any, key: str, state: Any) -> None:
    survey = kind(BaseCriterion(threshold=1.0, **{OPTION[kind]: state("Pay")})).survey()
    for expected in ("look", "pay"):
        survey.add_case(case({}, expected))
    [problem] = survey.problems()
    assert "write `pay`" in problem


@pytest.mark.parametrize(("kind", "key", "state"), STATED.values(), ids=STATED)
@pytest.mark.parametrize("where", ["case", "criterion"])
def test_a_name_that_differs_by_one_letter_is_a_warning(kind: Any, key: str, state: Any, where: str) -> None:
    options = {OPTION[kind]: state("delete_usr")} if where == "criterion" else {}
    stated = {key: state("delete_usr")} if where == "case" else {}
    metric = kind(BaseCriterion(threshold=1.0, **options))
    survey = metric.survey()
    survey.add_case(case(stated, "delete_user"))
    [warning] = survey.warnings()
    assert "Did you mean `delete_user`?" in warning
    assert [*survey.problems(), *metric.check(case(stated, "delete_user"))] == []


@pytest.mark.parametrize(("kind", "key", "state"), STATED.values(), ids=STATED)
def test_an_agent_that_does_not_declare_all_its_tools(kind: Any, key: str, state: Any) -> None:
    declared = {"agent_details": {"a": {"name": "a", "tool_declarations": [{"name": "pay"}]}}}
    described = AgentDeclaration(declared, is_complete=False)
    [problem] = kind().check_agent(case({key: state("Pay")}), described)
    assert "write `pay`" in problem
    assert [*kind().check_agent(case({key: state("refund")}), described)] == []


@pytest.mark.parametrize(("kind", "key", "state"), STATED.values(), ids=STATED)
def test_a_call_that_was_made_shows_the_slip(kind: Any, key: str, state: Any) -> None:
    from proctor.errors import MetricError

    metric = kind(BaseCriterion(threshold=1.0, **{OPTION[kind]: state("delete_user")}))
    with pytest.raises(MetricError, match="write `delete-user`"):
        metric.score(view([turn(calls=[("delete-user", {})])], [turn(calls=[])]))
