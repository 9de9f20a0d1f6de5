"""An audit that is compared with an earlier one: worse is what catches less of the same mutants."""

import json
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.authoring.audit.audit_baseline import AuditChange, compare_with, load_baseline
from proctor.authoring.audit.audit_report import audit_data
from proctor.schema.analysis.audit_result import AuditResult

Json = dict[str, Any]
CALLS = {"tool_trajectory_avg_score": 1.0}
STRICT = {**CALLS, "exact_match": 1.0}
LOOSE = {**CALLS, "response_match_score": 0.5}


def case(eval_id: str, answer: str = "The ship has 42 seats. It is open every day.", **more: Any) -> Json:
    turn = {
        "user_content": {"parts": [{"text": f"Book {eval_id}"}]},
        "final_response": {"parts": [{"text": answer}]},
        "intermediate_data": {"tool_uses": [{"name": "book", "args": {"id": eval_id}}]},
    }
    return {"eval_id": eval_id, "conversation": [turn], **more}


def audit(*cases: Json, criteria: Json, **options: Any) -> AuditResult:
    sets = {"eval_set_id": "s", "eval_cases": list(cases)}
    return proctor.audit_sync(sets, config={"criteria": criteria}, **options)


def write(folder: Path, found: AuditResult) -> Path:
    path = folder / "main.json"
    path.write_text(json.dumps(audit_data(found)))
    return path


def compare(folder: Path, before: AuditResult, now: AuditResult) -> AuditChange:
    return compare_with(load_baseline(write(folder, before), now.seed), now)


A, B = case("a"), case("b")
FORBIDDEN = case("b", expectations={"forbidden": ["book"]})
WITH_RULES = {**STRICT, "tool_expectations": 1.0}


@pytest.mark.parametrize(
    ("before", "now", "is_worse", "lost", "gained"),
    [
        pytest.param((STRICT, A, B), (STRICT, A, B), False, set(), set(), id="the same"),
        pytest.param(
            (STRICT, A, B), (LOOSE, A, B), True, {"wrong-number", "negation"}, set(), id="a looser config"
        ),
        pytest.param(
            (LOOSE, A, B), (STRICT, A, B), False, set(), {"wrong-number", "negation"}, id="a stricter config"
        ),
        pytest.param((STRICT, A, B), (STRICT, A), False, set(), set(), id="a case is removed"),
        pytest.param((STRICT, A), (STRICT, A, B), False, set(), set(), id="a case is added"),
        pytest.param(
            (STRICT, A),
            (LOOSE, case("a", "The Ritz has 17 rooms. It is open on Sundays.")),
            False,
            set(),
            set(),
            id="another conversation",
        ),
        pytest.param(
            (WITH_RULES, A, B), (WITH_RULES, A, FORBIDDEN), True, set(), set(), id="a case contradicts itself"
        ),
    ],
)
def test_the_audit_is_worse_if_a_mutant_that_was_caught_is_not_caught_now(
    tmp_path: Path, before: Any, now: Any, is_worse: bool, lost: set[str], gained: set[str]
) -> None:
    options = {"mutants": ["wrong-number", "negation"]}
    (criteria, *cases), (new_criteria, *new_cases) = before, now
    change = compare(
        tmp_path,
        audit(*cases, criteria=criteria, **options),
        audit(*new_cases, criteria=new_criteria, **options),
    )
    assert change.is_worse is is_worse
    assert {each.operator for each in change.lost} == lost
    assert {each.operator for each in change.gained} == gained


def test_an_agent_that_does_nothing_and_passes_now_makes_it_worse(tmp_path: Path) -> None:
    idle = case("idle", "Your request has been completed today.")
    del idle["conversation"][0]["intermediate_data"]
    change = compare(tmp_path, audit(idle, criteria=STRICT), audit(idle, criteria=LOOSE))
    assert "fixed-answer" in {each.operator for each in change.lost}


def test_equal_mutants_are_compared_one_by_one(tmp_path: Path) -> None:
    found = audit(A, B, criteria=STRICT)
    change = compare(tmp_path, found, found)
    assert change.compared == sum(len(one.mutants) for one in found.cases)


def test_removed_and_broken_cases_are_named(tmp_path: Path) -> None:
    change = compare(tmp_path, audit(A, B, criteria=WITH_RULES), audit(FORBIDDEN, criteria=WITH_RULES))
    assert change.removed == ["a"]
    assert list(change.without_mutants) == ["b"]
    assert "book" in change.without_mutants["b"]


@pytest.mark.parametrize(
    ("text", "seed", "message"),
    [
        ("[]", 0, "not an audit"),
        ('{"sets": 1, "seed": 0}', 0, "not an audit"),
        ('{"sets": []', 0, "main.json:1"),
        ('{"sets": [], "seed": 3}', 0, "add --seed 3"),
        ('{"sets": [], "seed": 0}', 0, "no case has the same id"),
    ],
)
def test_a_file_that_is_no_audit_of_these_cases_is_refused(
    tmp_path: Path, text: str, seed: int, message: str
) -> None:
    path = tmp_path / "main.json"
    path.write_text(text)
    with pytest.raises(proctor.SetupError, match=message):
        compare_with(load_baseline(path, seed), audit(A, criteria=STRICT, mutants=["negation"]))


def test_a_class_that_no_case_has_any_more_makes_it_worse(tmp_path: Path) -> None:
    plain = case("plain", "The ship is open every day.")
    change = compare(tmp_path, audit(A, plain, criteria=STRICT), audit(plain, criteria=STRICT))
    assert change.removed == ["a"]
    assert "wrong-number" in change.lost_classes
    assert change.is_worse


def test_classes_that_were_not_asked_for_are_not_lost(tmp_path: Path) -> None:
    change = compare(tmp_path, audit(A, criteria=STRICT), audit(A, criteria=STRICT, mutants=["calls"]))
    assert not change.lost_classes
    assert not change.is_worse
