"""Rubrics that an audit proposes: the judge was asked, the recorded answer has what they demand, and the mutants have not."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import proctor
from proctor.models.base import Message
from proctor.schema.analysis.audit_result import AuditResult, Fate, Proposal
from tests.authoring.audit_judge import Json, Judge, judge_by
from tests.authoring.test_audit import case, turn

VOTE = {"threshold": 1.0, "judge_model_options": {"num_samples": 1}}
RUBRICS = "rubric_based_final_response_quality_v1"
MATCH: Json = {"final_response_match_v2": VOTE}
SHIP = case(
    "ship",
    turn("Is it open?", "The ship is open on Mondays."),
    turn("And the bar?", "The bar of the ship is closed. It has music."),
)


def judge_of(is_met: Callable[[str, str], bool]) -> tuple[Judge, list[str]]:
    """Return a judge whose comparison of answers does not notice a negation, with a rule for rubrics, and what it was asked."""
    compare, _ = judge_by(lambda reference, answer: positive(reference) == positive(answer))
    asked: list[str] = []

    def judge(messages: Sequence[Message]) -> Json:
        text = "\n".join(message.text for message in messages)
        asked.append(text)
        passages = dict(re.findall(r"<<<BEGIN \w+ ([^>]*)>>>\n(.*?)\n<<<END", text, re.DOTALL))
        rubrics = [value for name, value in passages.items() if name.startswith("rubric")]
        if not rubrics:
            return compare(messages)
        verdicts = [
            {"number": number, "evidence": "", "rationale": "by rule", "verdict": "yes" if met else "no"}
            for number, met in enumerate((is_met(each, passages["final answer"]) for each in rubrics), 1)
        ]
        return {"ballot": re.findall(r"number of this ballot: (\w+)", text)[0], "verdicts": verdicts}

    return judge, asked


def positive(text: str) -> str:
    return text.replace(" not", "")


def has_sentence(rubric: str, answer: str) -> bool:
    return rubric.split('"')[1] in answer


def audit(judge: Judge | None, criteria: Json = MATCH, *, ship: Json = SHIP, **options: Any) -> AuditResult:
    given = {"mutants": ["negation"], "max_judge_calls": None if judge is None else 100, **options}
    return proctor.audit_sync(
        {"eval_set_id": "s", "eval_cases": [ship]}, config={"criteria": criteria}, judge=judge, **given
    )


def rubrics_of(found: AuditResult) -> list[Proposal]:
    return [each for each in found.proposals if each.change.startswith("rubrics")]


def test_a_rubric_that_is_pasted_catches_what_the_proposal_counts() -> None:
    judge, _ = judge_of(has_sentence)
    found = audit(judge)
    first, second = rubrics_of(found)
    assert [first.change, second.change] == ["rubrics of turn 1", "rubrics of turn 2"]
    assert (first.faults, first.eval_id, first.catches) == (("negation",), "ship", 1)
    assert f'needs "{RUBRICS}": {json.dumps(VOTE)}' in first.note
    turns = [
        {**one, **json.loads(each.snippet)}
        for one, each in zip(SHIP["conversation"], (first, second), strict=True)
    ]
    changed = audit(judge, {**MATCH, RUBRICS: VOTE}, ship={**SHIP, "conversation": turns})
    assert not changed.contradictions
    assert {each.fate for each in changed.audited[0].mutants if each.operator == "negation"} == {Fate.CAUGHT}
    assert rubrics_of(changed) == []


@pytest.mark.parametrize("verdict", [True, False], ids=["passes all", "fails the recorded answer"])
def test_a_rubric_that_the_judge_does_not_tell_apart_is_not_proposed(verdict: bool) -> None:
    judge, asked = judge_of(lambda rubric, answer: verdict)
    assert rubrics_of(audit(judge)) == []
    assert any("The answer states" in each for each in asked)


def test_the_calls_of_rubrics_are_estimated_first_and_are_within_the_limit() -> None:
    judge, asked = judge_of(has_sentence)
    notes: list[tuple[str, int]] = []
    found = audit(judge, notify=lambda text: notes.append((text, len(asked))))
    (_, first), (text, before) = notes
    assert first == 0
    assert text == "judges: the rubrics of 2 turns need up to 8 calls"
    assert len(asked) <= before + 8
    assert found.judged is not None
    assert f"{len(asked)} calls" in found.judged.usage
    asked.clear()
    assert rubrics_of(audit(judge, max_judge_calls=before)) == []
    assert len(asked) == before


def test_without_a_judge_no_rubric_is_proposed() -> None:
    assert rubrics_of(audit(None, {"response_match_score": 0.5})) == []


def test_the_rubrics_of_a_turn_are_kept() -> None:
    own = {
        "rubric_id": "own",
        "rubric_content": {"text_property": 'The answer has "The"'},
        "type": "FINAL_RESPONSE_QUALITY",
    }
    first, second = SHIP["conversation"]
    judge, _ = judge_of(has_sentence)
    found = audit(
        judge, {**MATCH, RUBRICS: VOTE}, ship={**SHIP, "conversation": [{**first, "rubrics": [own]}, second]}
    )
    assert [each["rubric_id"] for each in json.loads(rubrics_of(found)[0].snippet)["rubrics"]] == [
        "own",
        "turn_1_states_1",
    ]
    assert rubrics_of(found)[0].note == ""
