"""The audit with a judge: which faults it does not notice, within a limit of calls, and what its votes are worth."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.authoring.audit.audit_report import audit_data, audit_text
from proctor.authoring.audit.stored_audit import load_audit
from proctor.errors import SetupError
from proctor.models.base import ChatModel, Message
from proctor.schema.analysis.audit_result import AuditResult, Fate, JudgeAudit
from proctor.schema.format.content import text_of
from proctor.stores.open import open_store_url
from tests.authoring.audit_judge import Judge, ignores_digits, judge_by
from tests.authoring.test_audit import case, turn

Json = dict[str, Any]
ONE_VOTE = {"threshold": 1.0, "judge_model_options": {"num_samples": 1}}
JUDGED = {"criteria": {"final_response_match_v2": ONE_VOTE}}
BOTH = {"criteria": {"final_response_match_v2": ONE_VOTE, "tool_trajectory_avg_score": 1.0}}
CASES = [
    case("seats", turn("How many seats are there?", "The ship has 42 seats. It is not open on June 3.")),
    case("price", turn("What does it cost?", "The ticket costs $30. It is valid for 8 days.")),
    case("calls", turn("Is the parcel on its way?", "The parcel was sent with Anna Miller.", {"name": "find", "args": {"id": 7}})),
]  # fmt: skip


def audit(judge: Judge | ChatModel | str, config: Json = JUDGED, **options: Any) -> AuditResult:
    given = {"proposals": False, "max_judge_calls": 500, **options}
    return proctor.audit_sync({"eval_set_id": "s", "eval_cases": CASES}, config=config, judge=judge, **given)


def only_judge(found: AuditResult) -> JudgeAudit:
    assert found.judged is not None
    (one,) = found.judged.judges
    return one


def test_a_judge_that_compares_all_notices_every_fault_of_an_answer() -> None:
    judge, _ = judge_by(str.__eq__)
    one = only_judge(found := audit(judge, mutants=["answers"]))
    assert found.score.share == 1.0
    assert (one.right_passed, one.right) == (3, 3)
    assert one.confusion.judge_passes == 0
    assert not one.passes_everything


def test_faults_that_the_judge_does_not_notice_are_named_by_class() -> None:
    judge, _ = judge_by(ignores_digits)
    one = only_judge(found := audit(judge))
    noticed, judged = one.classes["wrong-number"]
    assert (noticed, judged > 0) == (0, True)
    assert one.classes["negation"][0] == one.classes["negation"][1] > 0
    text = audit_text(found)
    assert re.search(r"^ +wrong numbers +0/\d +0 % +0–\d\d %$", text, re.MULTILINE)
    assert re.search(r"^ +negations +(\d)/\1 +100 % +", text, re.MULTILINE)
    assert "blind to" in text.splitlines()[0]
    assert "wrong numbers" in text.splitlines()[0]
    assert re.search(r"if it passes 90 of 100 conversations, \d+ \(95 % CI \d+ to \d+\) are right", text)


def test_a_judge_that_passes_everything_is_reported_as_such() -> None:
    judge, _ = judge_by(lambda reference, answer: True)
    found = audit(judge)
    assert only_judge(found).passes_everything
    assert {*found.agents_that_pass(found.audited[0])} >= {"filler", "injection"}
    text = audit_text(found)
    assert "it passes everything: it noticed none of" in text
    assert "if it passes 90 of 100" not in text
    assert "`final_response_match_v2` (threshold 1) failed none of the mutants" in text


def test_a_judge_that_a_text_addressed_to_it_persuades_passes_an_agent_that_must_fail() -> None:
    judge, _ = judge_by(lambda reference, answer: reference == answer or "evaluator" in answer)
    found = audit(judge)
    assert [found.agents_that_pass(case) for case in found.audited] == [["injection"]] * 3


def test_a_recorded_conversation_that_the_judge_fails_contradicts_its_case() -> None:
    judge, asked = judge_by(lambda reference, answer: "$30" not in reference and reference == answer)
    found = audit(judge)
    assert [case.eval_id for case in found.contradictions] == ["price"]
    assert [answer for reference, answer in asked if "$30" in reference] == [text_of_answer("price")]


def text_of_answer(eval_id: str) -> str:
    (found,) = [each for each in CASES if each["eval_id"] == eval_id]
    parts: list[Json] = found["conversation"][0]["final_response"]["parts"]
    return str(parts[0]["text"])


def test_the_judge_is_not_asked_about_mutants_that_another_metric_catches() -> None:
    judge, _ = judge_by(str.__eq__)
    found = audit(judge, BOTH)
    calls = [each for one in found.audited for each in one.mutants if each.operator.startswith("call-")]
    assert len(calls) >= 5
    assert {each.fate for each in calls} == {Fate.CAUGHT}
    assert {name for each in calls for name in each.metrics} == {"tool_trajectory_avg_score"}
    assert not {"call-missing", "argument-changed"} & only_judge(found).classes.keys()


@pytest.mark.parametrize("limit", [1, 12, 30])
def test_the_limit_of_calls_draws_a_sample_and_the_estimate_comes_first(limit: int) -> None:
    judge, asked = judge_by(str.__eq__)
    told: list[tuple[str, int]] = []
    found = audit(judge, BOTH, max_judge_calls=limit, tell=lambda text: told.append((text, len(asked))))
    assert len(asked) <= limit
    assert len(asked) >= limit - 2
    ((text, before),) = told
    assert before == 0
    assert f"--max-judge-calls {limit}" in text
    assert found.judged is not None
    assert found.judged.asked < found.judged.undecided
    everything = audit(judge, BOTH).score
    assert found.score.made < everything.made
    assert found.score.errors == 0


@pytest.mark.slow
def test_a_sample_has_the_share_that_all_mutants_have() -> None:
    judge, _ = judge_by(ignores_digits)
    whole = audit(judge, BOTH).score.share or 0.0
    shares = [audit(judge, BOTH, max_judge_calls=25, seed=seed).score.share or 0.0 for seed in range(12)]
    assert sum(shares) / len(shares) == pytest.approx(whole, abs=0.06)


def passes_all(messages: Sequence[Message]) -> Json:
    ballot = re.findall(r"number of this ballot: (\w+)", messages[-1].text + messages[0].text)[0]
    return {"ballot": ballot, "rationale": "by rule", "verdict": "valid"}


@pytest.mark.slow
def test_answers_are_kept_in_the_store_and_asked_once(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'runs.sqlite3'}"
    first, again = (audit(passes_all, store=store) for _ in range(2))
    assert first.judged is not None
    assert again.judged is not None
    assert re.search(r"\((\d\d) calls", first.judged.usage)
    assert re.search(r"\(0 calls, \d\d known from before", again.judged.usage)
    assert again.score == first.score
    opened = open_store_url(store)
    try:
        loaded = load_audit(opened, first.run_id)
        assert loaded.judged == first.judged
        assert loaded.score == first.score
    finally:
        opened.close()


def test_a_judge_without_an_answer_is_an_error_and_no_catch() -> None:
    def broken(messages: Sequence[Message]) -> Json:
        raise ValueError("no key")

    judge, _ = judge_by(str.__eq__)
    calls = 0

    def breaks_later(messages: Sequence[Message]) -> Json:
        nonlocal calls
        calls += 1
        return judge(messages) if calls <= 3 else broken(messages)

    found = audit(breaks_later, mutants=["wrong-number"])
    assert found.score.made == 0
    assert found.score.errors > 0
    assert only_judge(found).without_verdict > 0


def test_the_survivors_of_a_case_show_what_the_judge_said() -> None:
    judge, _ = judge_by(ignores_digits)
    found = audit(judge, case="seats", mutants=["wrong-number"])
    evidence = found.evidence[-1]
    assert text_of(evidence.mutated[0].final_response) != text_of(evidence.expected[0].final_response)
    assert evidence.metrics["final_response_match_v2"].score == 1.0


def test_the_data_has_the_true_negative_rate_of_each_class() -> None:
    judge, _ = judge_by(ignores_digits)
    data = audit_data(audit(judge))["judged"]
    (one,) = data["judges"]
    numbers = next(each for each in one["classes"] if each["operator"] == "wrong-number")
    assert numbers["tnr"]["value"] == 0.0
    assert 0 < numbers["tnr"]["high"] < 1
    assert one["tpr"]["value"] == 1.0


def test_a_config_without_a_judged_criterion_is_a_configuration_error() -> None:
    judge, asked = judge_by(str.__eq__)
    with pytest.raises(SetupError, match="asks a judge"):
        audit(judge, {"criteria": {"exact_match": 1.0}})
    assert asked == []


@pytest.mark.slow
def test_where_the_limit_allows_no_verdict_of_a_judge_nothing_counts_as_caught() -> None:
    judge, _ = judge_by(lambda reference, answer: True)
    found = [audit(judge, BOTH, max_judge_calls=1, seed=seed) for seed in range(10)]
    assert {each.score.share for each in found} == {None}
