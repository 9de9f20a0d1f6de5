"""What makes an audit blind on purpose is detected: metrics that vary or fail, conversations that do not pass, judges that crash."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import proctor
from proctor.authoring.audit.audit_report import audit_text
from proctor.authoring.audit.audit_sentence import shortfall
from proctor.models.base import Message
from proctor.schema.analysis.audit_result import AuditResult, Fate
from tests.authoring.audit_judge import judge_by
from tests.authoring.test_audit import EXACT, ORDER, case, turn
from tests.authoring.test_audit_judges import audit as judged_audit

calls = 0


def varies(actual: Any, expected: Any) -> float:
    """Return 1 for the first conversation, and another score each time."""
    global calls  # noqa: PLW0603 - a metric by name is a plain function
    calls += 1
    return 1.0 if calls == 1 else 0.9 / calls


def steady(actual: Any, expected: Any) -> float:
    """Return 1 for every conversation."""
    return 1.0


def with_metric(name: str) -> dict[str, Any]:
    return {
        "criteria": {"own": 0.8},
        "custom_metrics": {"own": {"code_config": {"name": f"{__name__}.{name}"}}},
    }


def audit(*cases: dict[str, Any], config: dict[str, Any]) -> AuditResult:
    return proctor.audit_sync({"eval_set_id": "s", "eval_cases": [*cases]}, config=config, proposals=False)


@pytest.mark.parametrize(("name", "is_named"), [("varies", True), ("steady", False)])
def test_a_metric_that_scores_the_same_conversation_differently_is_named(name: str, is_named: bool) -> None:
    global calls  # noqa: PLW0603 - as above
    calls = 0
    found = audit(ORDER, config=with_metric(name))
    line = "`own` gave 1 recorded conversation another score or none the second time"
    assert (line in audit_text(found)) is is_named
    assert {metric.name: metric.varied for metric in found.metrics}["own"] == int(is_named)


def test_a_case_that_contradicts_itself_is_not_left_out_of_the_required_share() -> None:
    greeting = turn("Hi", "Hello there.", {"name": "greet", "args": {}})
    wrong = case("wrong", greeting, expectations={"forbidden": ["greet"]})
    config = {"criteria": {**EXACT, "tool_expectations": 1.0}}
    found = audit(ORDER, wrong, config=config)
    assert found.score.share == 1.0
    assert shortfall(found, 0.5) == "the recorded conversation of 1 case does not pass or cannot be scored"
    assert not shortfall(audit(ORDER, config=config), 0.5)


def test_what_a_judge_crashes_on_is_an_error_and_never_a_catch() -> None:
    judge, _ = judge_by(str.__eq__)

    def crashes_on_half(messages: Sequence[Message]) -> dict[str, Any]:
        if "$" in messages[-1].text:
            raise ValueError("no answer")
        return judge(messages)

    whole, found = judged_audit(judge), judged_audit(crashes_on_half)
    assert [each.eval_id for each in found.contradictions] == ["price"]
    assert found.score.errors > 0
    caught = [
        {(one.eval_id, each.operator, each.fault) for one in of.audited for each in one.mutants if each.fate is Fate.CAUGHT}
        for of in (found, whole)
    ]  # fmt: skip
    assert caught[0] < caught[1]
    assert f"{found.score.errors} could not be scored" in audit_text(found).splitlines()[0]
    assert "does not pass or cannot be scored" in audit_text(found)
    assert shortfall(found, 0.9)
