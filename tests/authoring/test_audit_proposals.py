"""The changes that an audit proposes: each was tried, passes every recorded conversation, and catches what it claims."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import proctor
from proctor.authoring.audit.audit_report import audit_text
from proctor.schema.analysis.audit_result import AuditResult, Fate, Proposal
from tests.authoring.test_audit import LOOSE, ORDER, Json, case, turn


def audit(*cases: Json, criteria: Json, **options: Any) -> AuditResult:
    return proctor.audit_sync(
        {"eval_set_id": "s", "eval_cases": list(cases)}, config={"criteria": criteria}, **options
    )


def survivors(found: AuditResult, of: AuditResult | None = None) -> int:
    """Of the cases that have mutants; of another audit, only the cases that have some there, too."""
    audited = {each.eval_id for each in (of or found).audited}
    cases = [each for each in found.audited if each.eval_id in audited]
    return sum(each.fate is Fate.SURVIVED for one in cases for each in one.mutants)


def of_config(found: AuditResult) -> list[Proposal]:
    return [each for each in found.proposals if not each.eval_id]


def changes(found: AuditResult) -> list[str]:
    return [each.change.partition(":")[0].strip('"') for each in found.proposals]


CALLS = [{"name": "find", "args": {"user": "ada"}}, {"name": "track", "args": {"id": "A-1"}}]
PARCEL = case("parcel", turn("Where is it?", "Your parcel A-1 arrives in 3 days for 20 euros.", *CALLS))
SHOP = case("shop", turn("When do you open?", "The shop in Bonn is open from 9 to 17 on all days."))
CONFIGS: list[Json] = [
    LOOSE,
    {"tool_trajectory_avg_score": {"threshold": 1.0, "match_type": "IN_ORDER"}, "response_match_score": 0.3},
    {"tool_trajectory_avg_score": {"threshold": 1.0, "gate": False}, "response_match_score": 0.8},
    {"response_match_score": {"threshold": 0.8, "gate": False}, "tool_trajectory_avg_score": 1.0},
    {"response_match_score": 0.5},
    {"tool_trajectory_avg_score": {"threshold": 0.4, "ignore_args": True}, "rouge_l": 0.2},
]


@pytest.mark.parametrize("criteria", CONFIGS, ids=json.dumps)
def test_a_change_of_the_config_catches_as_many_survivors_as_it_states(criteria: Json) -> None:
    cases = (ORDER, PARCEL, SHOP)
    found = audit(*cases, criteria=criteria)
    left = survivors(found)
    assert of_config(found)
    for proposal in of_config(found):
        assert proposal.of == left
        changed = audit(*cases, criteria=json.loads(proposal.snippet)["criteria"], proposals=False)
        assert not changed.contradictions
        left -= proposal.catches
        assert survivors(changed, of=found) <= left < proposal.of


@pytest.mark.parametrize(
    ("criteria", "first"),
    [
        ({"response_match_score": 0.8}, '"tool_trajectory_avg_score": 1.0'),
        (
            {"tool_trajectory_avg_score": {"threshold": 1, "match_type": "ANY_ORDER"}, "exact_match": 1},
            '"tool_trajectory_avg_score": 1.0',
        ),
        (
            {
                "tool_trajectory_avg_score": 1,
                "exact_match": {"threshold": 1, "ignore_case": True, "gate": False},
            },
            '"exact_match": {"threshold": 1.0, "ignore_case": true}',
        ),
        ({"tool_trajectory_avg_score": 1, "response_match_score": 0.8}, '"numeric_match": 1.0'),
    ],
    ids=[
        "calls are not compared",
        "other calls are allowed",
        "it decides nothing",
        "numbers are not compared",
    ],
)
def test_the_change_that_costs_least_and_catches_most_comes_first(criteria: Json, first: str) -> None:
    assert audit(ORDER, PARCEL, SHOP, criteria=criteria).proposals[0].change == first


def test_the_order_of_the_cases_does_not_change_what_is_proposed() -> None:
    cases = [
        case("paid", turn("What does it cost?", "The tour costs $40 in all seasons of the year.")),
        case("kept", turn("How many seats are there?", "The big boat has 42 seats on two decks.")),
    ]
    loose = {"response_match_score": 0.5}
    first, second = (audit(*order, criteria=loose) for order in (cases, cases[::-1]))
    assert any({"wrong-number", "wrong-amount"} <= {*each.faults} for each in first.proposals)
    assert first.proposals == second.proposals


def test_criteria_that_catch_everything_have_no_proposal() -> None:
    assert audit(ORDER, criteria={"tool_trajectory_avg_score": 1.0, "exact_match": 1.0}).proposals == []


def test_a_metric_that_a_recorded_conversation_does_not_pass_is_not_proposed() -> None:
    unclear = case("unclear", turn("How many?", "There are 3 million of them in the whole large country."))
    assert "numeric_match" in changes(audit(PARCEL, criteria=LOOSE))
    assert "numeric_match" not in changes(audit(PARCEL, unclear, criteria=LOOSE))


def test_expectations_that_nothing_reads_are_proposed_to_be_read() -> None:
    stated = {
        **PARCEL,
        "expectations": {"calls": [{"tool": "find"}, {"tool": "track"}], "forbidden": ["pay"]},
    }
    found = audit(stated, criteria={"response_match_score": 0.8}, mutants=["call-missing"])
    assert changes(found) == ["tool_expectations"]
    assert found.proposals[0].catches == survivors(found) > 0


def test_facts_of_the_only_case_must_be_in_its_answer() -> None:
    found = audit(PARCEL, criteria=LOOSE)
    (contains,) = [each for each in found.proposals if each.change.startswith('"contains"')]
    assert '"A-1"' in contains.change
    assert "wrong-id" in contains.faults


def test_the_facts_of_a_case_are_not_expected_of_a_case_that_nothing_decides_yet() -> None:
    calls = case("calls", turn("Buy a lamp", None, {"name": "buy", "args": {}}))
    criteria = {"response_match_score": 0.5}
    found = audit(PARCEL, calls, criteria=criteria)
    assert [each.eval_id for each in found.audited] == ["parcel"]
    assert "contains" not in changes(found)
    changed = audit(PARCEL, calls, criteria=json.loads(of_config(found)[-1].snippet)["criteria"])
    assert changed.contradictions == []


def test_a_judge_is_named_as_the_next_step_where_no_change_catches_the_rest() -> None:
    found = audit(ORDER, PARCEL, SHOP, criteria=LOOSE)
    left = survivors(found) - sum(each.catches for each in found.proposals)
    assert left > 1
    assert f"next: {left} mutants are left; an LLM judge can compare the meaning" in audit_text(found)
    assert "final_response_match_v2" not in changes(found)
    judged = audit(ORDER, criteria={**LOOSE, "final_response_match_v2": 1.0})
    assert "an LLM judge can" not in audit_text(judged)


def test_an_agent_that_does_nothing_is_caught_by_a_change() -> None:
    silent = {**SHOP["conversation"][0], "intermediate_data": {"tool_uses": []}}
    shop = case("shop", silent)
    found = audit(shop, criteria={"tool_trajectory_avg_score": 1.0})
    assert [each.eval_id for each in found.passed_by_any] == ["shop"]
    changed = audit(shop, criteria=json.loads(of_config(found)[-1].snippet)["criteria"])
    assert changed.passed_by_any == []


def test_a_case_that_states_nothing_needs_a_statement_and_no_criterion() -> None:
    chat = case("chat", {**turn("Thanks, bye!", None), "intermediate_data": {"tool_uses": []}})
    found = audit(PARCEL, chat, criteria={"tool_trajectory_avg_score": 1.0, "exact_match": 1.0})
    assert found.proposals == []
    assert found.agents_that_pass(found.passed_by_any[0])
    assert "needs an answer, a call or a final state" in audit_text(found)


def write_set(folder: Path, suffix: str) -> Path:
    strict = {"calls": [{"tool": "find", "args": {"user": "ada"}}, {"tool": "track", "args": {"id": "A-1"}}]}
    cases = [{**PARCEL, "eval_id": f"strict-{number}", "expectations": strict} for number in range(3)]
    data = {"eval_set_id": "s", "eval_cases": [*cases, {**PARCEL, "eval_id": "loose"}]}
    path = folder / f"s.evalset.{suffix}"
    path.write_text(json.dumps(data))  # JSON is YAML, too
    criteria = {"tool_expectations": 1.0, "response_match_score": 0.9}
    (folder / "test_config.json").write_text(json.dumps({"criteria": criteria}))
    return path


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_a_fault_of_one_case_is_caught_by_a_change_of_that_case(tmp_path: Path, suffix: str) -> None:
    path = write_set(tmp_path, suffix)
    found = proctor.audit_sync(path, mutants=["calls"])
    (proposal,) = found.proposals
    assert proposal.eval_id == "loose"
    assert proposal.where.startswith(str(path))
    read = yaml.safe_load if suffix == "yaml" else json.loads
    data = json.loads(path.read_text())
    data["eval_cases"][3] |= read(proposal.snippet)
    path.write_text(json.dumps(data))
    changed = proctor.audit_sync(path, mutants=["calls"], proposals=False)
    assert not changed.contradictions
    assert survivors(found) - survivors(changed) == proposal.catches > 0


def test_texts_before_the_final_response_are_compared_where_their_facts_survive() -> None:
    steps = {"intermediate_responses": [["analyst", [{"text": "The score of the whole district is 92."}]]]}
    district = case(
        "district", {**turn("Which district?", "The report is ready."), "intermediate_data": steps}
    )
    criteria = {"response_match_score": 0.9}
    found = audit(district, criteria=criteria, mutants=["wrong-number"])
    assert changes(found) == ["intermediate_response_match"]
    changed = audit(
        district, criteria=json.loads(found.proposals[0].snippet)["criteria"], mutants=["wrong-number"]
    )
    assert not changed.contradictions
    assert (survivors(found), survivors(changed)) == (found.proposals[0].catches, 0)
    assert "intermediate_response_match" not in changes(audit(PARCEL, criteria=criteria))
