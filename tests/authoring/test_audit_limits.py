"""Limits of an audit with a judge: what they leave out is named, is not counted, and is never caught."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from proctor.authoring.audit.audit_report import audit_text
from proctor.authoring.audit.audit_sentence import shortfall
from proctor.models.base import Message, ModelOptions, Reply
from proctor.schema.analysis.audit_result import AuditResult, Fate
from tests.authoring.audit_judge import ignores_digits, judge_by
from tests.authoring.test_audit_judges import BOTH, audit

PRICE = 0.01


@dataclass
class PaidJudge:
    """A judge that ignores digits; a call costs `price` dollars, `None`: its price is not known."""

    price: float | None = PRICE
    name: str = "paid"
    has_schemas: bool = True
    calls: int = 0
    judge: Callable[[Sequence[Message]], Any] = field(default_factory=lambda: judge_by(ignores_digits)[0])

    async def complete(self, messages: Sequence[Message], *, options: ModelOptions) -> Reply:
        """Judge."""
        self.calls += 1
        return Reply(structured=self.judge(messages), cost=self.price, model=self.name)


def fates(found: AuditResult) -> set[tuple[str, str, str, Fate]]:
    return {
        (case.eval_id, each.operator, each.fault, each.fate)
        for case in found.audited
        for each in case.mutants
    }


LIMITS: dict[str, tuple[dict[str, Any], str]] = {
    "calls": ({"max_judge_calls": 12}, "--max-judge-calls 12"),
    "dollars": ({"max_cost": 0.125}, "max_cost"),
    "both, dollars first": ({"max_judge_calls": 20, "max_cost": 0.08}, "max_cost"),
}


@pytest.mark.parametrize(("limits", "named"), LIMITS.values(), ids=LIMITS)
def test_what_a_limit_leaves_out_is_named_and_not_counted(limits: dict[str, Any], named: str) -> None:
    judge = PaidJudge()
    found, everything = audit(judge, BOTH, **limits), audit(PaidJudge(), BOTH)
    assert found.judged is not None
    assert 0 < found.judged.asked < found.judged.undecided
    assert named in found.judged.limit
    assert (judge.calls - 1) * PRICE < limits.get("max_cost", 1)
    assert judge.calls <= limits.get("max_judge_calls", 100)
    assert fates(found) < fates(everything)
    assert found.score.errors == 0
    text = re.sub(r"\s+", " ", audit_text(found))
    assert f"judges were asked about {found.judged.asked} of {found.judged.undecided} mutants" in text
    assert re.search(rf"the others are not counted \(.*{re.escape(named)}", text)
    assert "or not in the sample of the judges" in text


def test_without_a_limit_nothing_is_left_out() -> None:
    found = audit(PaidJudge(), BOTH)
    assert found.judged is not None
    assert (found.judged.limit, found.judged.asked) == ("", found.judged.undecided)
    assert "not counted (" not in audit_text(found)


NOTHING: dict[str, tuple[PaidJudge, dict[str, Any], str]] = {
    "fewer calls than a case takes": (PaidJudge(), {"max_judge_calls": 1}, "--max-judge-calls 1"),
    "fewer dollars than a call": (PaidJudge(), {"max_cost": PRICE / 2}, "max_cost"),
    "dollars without a price": (PaidJudge(None), {"max_cost": 5.0}, "the price of paid is not known"),
}


@pytest.mark.parametrize(("judge", "limits", "named"), NOTHING.values(), ids=NOTHING)
def test_a_limit_that_allows_no_verdict_measures_nothing(
    judge: PaidJudge, limits: dict[str, Any], named: str
) -> None:
    found = audit(judge, BOTH, **limits)
    assert found.judged is not None
    assert found.judged.asked == 0
    assert named in found.judged.limit
    assert found.score.share is None
    assert shortfall(found, 0.0) == "no mutant could be scored"
    assert audit_text(found).startswith("No mutant could be made and scored: nothing was measured.")
    assert judge.calls <= 1


def test_a_sample_meets_a_required_share_only_by_the_lower_end_of_its_interval() -> None:
    found = audit(PaidJudge(), BOTH, max_judge_calls=12)
    assert found.judged is not None
    low, _ = found.score.interval
    assert found.score.share is not None
    assert low < found.score.share
    assert shortfall(found, found.score.share).startswith("inconclusive: 95 % CI ")
    assert "--max-judge-calls 12" in shortfall(found, found.score.share)
    found.judged.agents_left_out = 0
    assert shortfall(found, low) == ""
    found.judged.agents_left_out = 2
    assert "2 agents that do nothing were not judged" in shortfall(found, low)
