"""The audit of eval sets: the recorded conversation passes, and its mutants are caught or survive by the criteria of the config."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.authoring.audit.audit_report import AuditView, write_for_people
from proctor.authoring.audit.audit_sentence import shortfall
from proctor.authoring.audit.make_mutants import MOST, OPERATORS, mutants_of
from proctor.authoring.audit.mutant import NO_STATE, Recording
from proctor.schema.analysis.audit_result import AuditResult, Fate
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import text_of

Json = dict[str, Any]
EXACT = {"tool_trajectory_avg_score": 1.0, "exact_match": 1.0}
LOOSE = {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.5}


def turn(asked: str, answer: str | None, *calls: Json) -> Json:
    final = {} if answer is None else {"final_response": {"role": "model", "parts": [{"text": answer}]}}
    data = {"intermediate_data": {"tool_uses": list(calls)}} if calls else {}
    return {"user_content": {"role": "user", "parts": [{"text": asked}]}, **final, **data}


def case(eval_id: str, *turns: Json, **more: Any) -> Json:
    return {"eval_id": eval_id, "conversation": list(turns), **more}


def audit(*cases: Json, criteria: Json, **options: Any) -> AuditResult:
    return proctor.audit_sync(
        {"eval_set_id": "s", "eval_cases": list(cases)}, config={"criteria": criteria}, **options
    )


ORDER = case(
    "order",
    turn(
        "Where is my parcel?",
        "Parcel ORD-77 is on the van. It costs $12.50 and arrives on June 3.",
        {"name": "find", "args": {"user": "ada", "open": True}},
        {"name": "track", "args": {"id": "ORD-77", "days": 3}},
    ),
    turn(
        "Can you cancel it?",
        "The order is cancelled. You get 40 points.",
        {"name": "cancel", "args": {"id": "ORD-77"}},
    ),
    session_input={"app_name": "a", "user_id": "u", "state": {"orders": 1}},
    final_session_state={"orders": 0},
)


def caught(found: AuditResult, operator: str) -> tuple[int, int]:
    score = next(each.score for each in found.by_operator if each.name == operator)
    return score.caught, score.made


def faults(text: str, operator: str, *, asked: str = "What about it?") -> list[str]:
    recording = Recording(EvalCase.model_validate(case("c", turn(asked, text))))
    return [mutant.fault for mutant in mutants_of(recording, OPERATORS[operator], 0)]


def changed_answers(text: str, operator: str) -> list[str]:
    recording = Recording(EvalCase.model_validate(case("c", turn("What about it?", text))))
    mutants = mutants_of(recording, OPERATORS[operator], 0)
    contents = [mutant.turns[0][-1].content for mutant in mutants]
    return [text_of(content) for content in contents]


def test_where_silence_is_expected_an_agent_that_talks_must_fail_and_a_silent_one_is_right() -> None:
    nothing = {**turn("Thanks, bye", ""), "intermediate_data": {"tool_uses": []}}
    found = audit(case("quiet", nothing), criteria=LOOSE)
    (quiet,) = found.passed_by_any
    assert found.agents_that_pass(quiet) == ["filler", "apology", "echo", "fixed-answer"]
    assert caught(found, "empty") == (0, 0)


def test_criteria_that_compare_all_catch_every_mutant() -> None:
    found = audit(ORDER, criteria=EXACT)
    assert found.score.share == 1.0
    assert found.score.made > 30
    assert not [each.name for each in found.by_operator if each.score.is_weak]
    assert not (found.passed_by_any)
    assert not (found.contradictions)
    assert not (found.score.errors)


@pytest.mark.parametrize("operator", ["wrong-number", "wrong-date", "wrong-amount", "wrong-id", "negation"])
def test_a_loose_text_criterion_is_blind_to_facts(operator: str) -> None:
    loose, exact = audit(ORDER, criteria=LOOSE), audit(ORDER, criteria=EXACT)
    assert caught(loose, operator)[0] == 0
    assert caught(exact, operator)[0] == caught(loose, operator)[1] > 0


@pytest.mark.parametrize("operator", [name for name, each in OPERATORS.items() if each.family == "calls"])
def test_every_fault_of_a_call_is_caught_by_the_exact_trajectory(operator: str) -> None:
    made_caught = caught(audit(ORDER, criteria=LOOSE), operator)
    assert made_caught[0] == made_caught[1] > 0


@pytest.mark.parametrize(
    ("text", "operator", "expected"),
    [
        pytest.param("It has 42 seats.", "wrong-number", 1, id="a number"),
        pytest.param("It has about 42 seats.", "wrong-number", 0, id="a hedged number"),
        pytest.param(
            "1. Apples are red.\n2. Pears are green.", "wrong-number", 0, id="numbers of list items"
        ),
        pytest.param("Is it 42?", "wrong-number", 0, id="a number in a question"),
        pytest.param("Let me know before 42 people come.", "wrong-number", 0, id="a number in an offer"),
        pytest.param("See https://x.org/42 for it.", "wrong-number", 0, id="a number in a link"),
        pytest.param("It opens on June 3, 2025.", "wrong-date", 1, id="a date"),
        pytest.param("It opens on June 3, 2025.", "wrong-number", 0, id="a date is no number"),
        pytest.param("Good morning on June 3.", "wrong-date", 0, id="a date in a greeting"),
        pytest.param("It costs $1,250.00 in total.", "wrong-amount", 1, id="an amount"),
        pytest.param("Flight PR-204 is late.", "wrong-id", 1, id="an id"),
        pytest.param("You should call Doctor Miller today.", "wrong-name", 1, id="a name"),
        pytest.param("Results of Clinical Trials", "wrong-name", 0, id="a heading has no names"),
        pytest.param("It takes 5 minutes.", "wrong-unit", 1, id="a unit"),
        pytest.param("The table is booked.", "negation", 1, id="a statement"),
        pytest.param("If it is booked, call us.", "negation", 0, id="a subordinate clause"),
        pytest.param("Here is the list.", "negation", 0, id="an introduction"),
        pytest.param("It is usually open.", "negation", 0, id="a hedged statement"),
        pytest.param("Refunds are paid only if the box is closed.", "condition-missing", 1, id="a condition"),
        pytest.param("Write to us if you need more help today.", "condition-missing", 0, id="an offer"),
        pytest.param("It is red. It has four wheels and one door.", "answer-cut", 1, id="a second sentence"),
        pytest.param(
            "It is red. Let me know if you need more help with it!", "answer-cut", 0, id="an offer at the end"
        ),
        pytest.param("Es kostet nichts.", "negation", 0, id="another language"),
        pytest.param("Use the form YYYY, for example 2025.", "wrong-number", 0, id="an example"),
        pytest.param("Send it in the format 2025-09-15.", "wrong-date", 0, id="a format"),
        pytest.param("It was sent at 12:51:30+00:00.", "wrong-date", 0, id="the offset of a time zone"),
        pytest.param("I am the AI Research Assistant.", "wrong-name", 0, id="a part of a name"),
        pytest.param("We serve the Space Needle today.", "wrong-name", 1, id="a name of two words"),
        pytest.param(
            "It is in Rome, Oslo and Bonn. It is in Oslo, Rome, Bonn and so on.",
            "answer-cut",
            0,
            id="a repetition",
        ),
        pytest.param(
            "它很红。它有四个轮子和一扇门吗？\n它有四个轮子和一扇门吗？",
            "answer-cut",
            0,
            id="a question in Chinese",
        ),
    ],
)
def test_only_changes_of_meaning_become_mutants(text: str, operator: str, expected: int) -> None:
    assert len(faults(text, operator)) == expected


@pytest.mark.parametrize(
    ("asked", "answer", "operator"),
    [
        ("Book 4 seats", "I booked 4 seats.", "wrong-number"),
        ("Book seats_4", "I booked 4 seats.", "wrong-number"),
        ("I want a loan of 500000", "Your loan is $500,000.00 in total.", "wrong-amount"),
        ("I want a loan of 500,000", "Your loan is $500,000 in total.", "wrong-amount"),
    ],
)
def test_a_value_of_the_question_is_left_out(asked: str, answer: str, operator: str) -> None:
    assert not faults(answer, operator, asked=asked)
    assert faults(answer, operator)


@pytest.mark.parametrize(
    ("tools", "operator", "expected"),
    [
        pytest.param(["pay"], "call-repeated", 1, id="to pay twice"),
        pytest.param(["get_price"], "call-repeated", 0, id="to read twice is harmless"),
        pytest.param(["get_order_status"], "call-repeated", 0, id="to read an order, too"),
        pytest.param(["payNow"], "call-repeated", 1, id="in camel case, too"),
        pytest.param(["validate"], "call-repeated", 0, id="to compute twice is harmless"),
        pytest.param(["hold", "pay"], "call-order", 1, id="to pay before the seat is held"),
        pytest.param(["get_price", "pay"], "call-order", 1, id="to pay before the price is read"),
        pytest.param(["get_price", "list_seats"], "call-order", 0, id="two that only read"),
        pytest.param(["pay", "pay"], "call-order", 0, id="the same tool"),
    ],
)
def test_calls_that_may_be_repeated_or_exchanged_are_left_out(
    tools: list[str], operator: str, expected: int
) -> None:
    calls = [{"name": name, "args": {"step": number}} for number, name in enumerate(tools)]
    recording = Recording(EvalCase.model_validate(case("c", turn("Pay", "It is paid.", *calls))))
    assert len([*mutants_of(recording, OPERATORS[operator], 0)]) == expected


def test_a_turn_without_content_cannot_be_skipped() -> None:
    turns = [turn("Hi", None), turn("Thanks", "You're welcome!"), turn("Pay", "The bill of today is paid.")]
    recording = Recording(EvalCase.model_validate(case("c", *turns)))
    assert [each.turn for each in mutants_of(recording, OPERATORS["turn-skipped"], 0)] == [2]


@pytest.mark.parametrize(
    ("text", "operator", "expected"),
    [
        ("The table is booked.", "negation", "The table is not booked."),
        ("You cannot return it.", "negation", "You can return it."),
        ("It was not sent.", "negation", "It was sent."),
        ("It has been sent.", "negation", "It has not been sent."),
        ("Refunds are paid only if the box is closed.", "condition-missing", "Refunds are paid."),
    ],
)
def test_a_sentence_gets_the_opposite_meaning(text: str, operator: str, expected: str) -> None:
    assert changed_answers(text, operator) == [expected]


def test_mutants_depend_on_the_case_and_the_seed_alone() -> None:
    alone = audit(ORDER, criteria=LOOSE)
    other = case("another", turn("Hi", "The shop has 17 doors and is open."))
    together = audit(other, ORDER, criteria=LOOSE)

    def without_other_answers(found: AuditResult) -> list[Any]:
        one = next(each for each in found.cases if each.eval_id == "order")
        return [each for each in one.mutants if each.operator != "other-answers"]

    assert without_other_answers(alone) == without_other_answers(together)
    assert [each.fault for each in audit(ORDER, criteria=LOOSE, seed=5).audited[0].mutants] != [
        each.fault for each in alone.audited[0].mutants
    ]


def test_an_operator_makes_a_few_mutants_of_a_case() -> None:
    text = " ".join(f"Room {number} has {number + 1} beds." for number in range(100, 160, 2))
    assert len(faults(text, "wrong-number")) == MOST


def test_a_case_that_any_agent_passes_is_reported() -> None:
    weak = case("weak", turn("Do nothing", None), final_session_state={"open": True}, session_input={
        "app_name": "a", "user_id": "u", "state": {"open": True}})  # fmt: skip
    found = audit(weak, criteria={"tool_trajectory_avg_score": 1.0})
    assert [each.eval_id for each in found.passed_by_any] == ["weak"]
    assert "filler" in found.agents_that_pass(found.passed_by_any[0])


def test_a_refusal_may_be_an_apology() -> None:
    found = audit(
        case("no", turn("Give me a discount", "I'm sorry, I cannot give discounts.")), criteria=LOOSE
    )
    assert caught(found, "apology") == (0, 0)


def test_a_case_whose_own_conversation_fails_has_no_mutants() -> None:
    broken = case(
        "broken",
        turn("Hi", "Hello there.", {"name": "greet", "args": {}}),
        expectations={"forbidden": ["greet"]},
    )
    found = audit(broken, ORDER, criteria={**EXACT, "tool_expectations": 1.0})
    assert [each.eval_id for each in found.contradictions] == ["broken"]
    assert "greet" in found.contradictions[0].problem
    agents = {each.name for each in found.by_operator if each.family == "agents"}
    assert {each.operator for each in found.contradictions[0].mutants} <= agents


def passes_everything(actual: Any, expected: Any) -> float:
    return 1.0


def fails_on_faults(actual: Any, expected: Any) -> float:
    if actual.final_response != expected.final_response:
        raise RuntimeError("no score for this")
    return 1.0


def test_a_metric_that_passes_everything_is_named() -> None:
    config = {
        "criteria": {"tool_trajectory_avg_score": 1.0, "blind": 0.5},
        "custom_metrics": {"blind": {"code_config": {"name": f"{__name__}.passes_everything"}}},
    }
    found = proctor.audit_sync({"eval_set_id": "s", "eval_cases": [ORDER]}, config=config)
    assert [metric.name for metric in found.idle_metrics] == ["blind"]
    assert found.score.share is not None
    assert found.score.share < 0.9


def only_greets(actual: Any, expected: Any) -> float:
    """Fails agents that do nothing, and sees no fault of a real answer."""
    return float(len(text_of(actual.final_response)) > 8)


def sabotage(criterion: Json, function: str = "passes_everything") -> AuditResult:
    config = {
        "criteria": {"own": criterion},
        "custom_metrics": {"own": {"code_config": {"name": f"{__name__}.{function}"}}},
    }
    return proctor.audit_sync({"eval_set_id": "s", "eval_cases": [ORDER]}, config=config)


def blocks_of(found: AuditResult) -> str:
    out = io.StringIO()
    write_for_people(AuditView(found), out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("criterion", "function", "words"),
    [
        pytest.param(
            {"threshold": 1}, "passes_everything", "`own` (threshold 1) failed none of the", id="1.0"
        ),
        pytest.param({"threshold": 1}, "only_greets", "`own` (threshold 1) failed none of the", id="length"),
        pytest.param(
            {"threshold": 1, "gate": False}, "passes_everything", "`gate` is false: own", id="reported only"
        ),
        pytest.param(
            {"threshold": 1, "applies_to": "scenario"},
            "passes_everything",
            "they apply to none of these cases: own",
            id="other cases",
        ),
    ],
)
def test_a_metric_that_is_made_blind_on_purpose_is_named(criterion: Json, function: str, words: str) -> None:
    found = sabotage(criterion, function)
    assert words in blocks_of(found)
    assert found.score.share is not None
    assert found.score.share < 0.5  # only the final state decides


@pytest.mark.parametrize(
    ("criteria", "metric", "wide"),
    [
        pytest.param({"response_match_score": 0.1}, "response_match_score", True, id="it fails nothing"),
        pytest.param({"response_match_score": 0.3}, "response_match_score", True, id="a low threshold"),
        pytest.param({"response_match_score": 0.8}, "response_match_score", False, id="a narrow range"),
        pytest.param({"exact_match": 1}, "exact_match", False, id="all or nothing"),
    ],
)
def test_thresholds_between_which_nothing_changes(criteria: Json, metric: str, wide: bool) -> None:
    criteria = {"tool_trajectory_avg_score": 1.0, **criteria}
    found = audit(ORDER, criteria=criteria)
    (one,) = [each for each in found.metrics if each.name == metric]
    assert one.up_to is not None
    above = one.above or 0.0
    assert (f"`{metric}`: any threshold" in blocks_of(found)) is wide
    fates = [each.fate for each in found.audited[0].mutants]
    for same in (above + 1e-9, one.up_to):
        again = audit(ORDER, criteria={**criteria, metric: same}, proposals=False)
        assert [each.fate for each in again.audited[0].mutants] == fates
    for other in (above, one.up_to + 1e-9):
        if 0 < other <= 1:
            again = audit(ORDER, criteria={**criteria, metric: other}, proposals=False)
            assert [each.fate for each in again.audited[0].mutants] != fates


def test_a_mutant_that_cannot_be_scored_is_an_error_and_no_catch() -> None:
    config = {
        "criteria": {"own": 0.5},
        "custom_metrics": {"own": {"code_config": {"name": f"{__name__}.fails_on_faults"}}},
    }
    found = proctor.audit_sync(
        {"eval_set_id": "s", "eval_cases": [ORDER]}, config=config, mutants=["wrong-number"]
    )
    assert (found.score.caught, found.score.made) == (0, 0)
    assert found.score.errors > 0
    assert found.score.share is None


def fails(recording: Recording, random: Any) -> Any:
    raise ValueError("an odd conversation")


def test_a_mutant_that_cannot_be_made_is_an_error_and_no_catch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OPERATORS, "negation", replace(OPERATORS["negation"], find=fails))
    found = audit(ORDER, criteria=EXACT, proposals=False, mutants=["negation", "wrong-number"])
    assert (caught(found, "negation"), found.score.errors) == ((0, 0), 1)
    assert found.score.share == 1.0
    assert "1 mutant could not be made or scored" in blocks_of(found)
    assert "an odd conversation" in blocks_of(found)
    assert "could not be scored" in shortfall(found, 1.0)
    assert not shortfall(audit(ORDER, criteria=EXACT, proposals=False, mutants=["wrong-number"]), 1.0)


def test_metrics_that_only_report_and_those_with_a_judge_are_named() -> None:
    found = audit(ORDER, criteria={**LOOSE, "rouge_l": {"threshold": 0.9, "gate": False}, "safety_v1": 0.8})
    (one,) = found.sets
    assert [metric.name for metric in one.metrics if not metric.gate] == ["rouge_l"]
    assert list(one.left_out) == ["safety_v1"]


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (case("empty", turn("Hi", None)), "asserts nothing"),
        (
            {
                "eval_id": "played",
                "conversation_scenario": {"starting_prompt": "Hi", "conversation_plan": "Chat."},
            },
            "a scenario",
        ),
        (case("judged", turn("Hi", None)), "asserts something only for safety_v1, which needs --judge"),
    ],
)
def test_other_cases_are_named_and_have_no_mutants(other: Json, reason: str) -> None:
    criteria = LOOSE if reason == "asserts nothing" else {**LOOSE, "safety_v1": 0.8}
    found = audit(ORDER, other, criteria=criteria)
    assert [each.eval_id for each in found.audited] == ["order"]
    assert [each.problem.startswith(reason) for each in found.cases if each.problem] == [True]


def test_a_case_with_the_same_question_and_expectations_is_redundant() -> None:
    found = audit(ORDER, {**ORDER, "eval_id": "again"}, criteria=EXACT)
    assert [(each.eval_id, each.same_as) for each in found.cases] == [("order", ""), ("again", "order")]


def test_all_reasons_of_a_state_are_mutated() -> None:
    found = audit(ORDER, criteria={"tool_trajectory_avg_score": 1.0}, mutants=["state"])
    fates = {
        each.operator: each.fate for each in found.audited[0].mutants if each.operator.startswith("state")
    }
    assert fates == dict.fromkeys(["state-missing", "state-wrong", "state-stale"], Fate.CAUGHT)


def test_unknown_mutants_and_bad_configs_are_configuration_errors(tmp_path: Path) -> None:
    with pytest.raises(proctor.SetupError, match="Did you mean 'wrong-number'"):
        audit(ORDER, criteria=EXACT, mutants=["wrong-numbr"])
    with pytest.raises(proctor.SetupError, match="threshold"):
        audit(ORDER, criteria={"response_match_score": 0})
    (tmp_path / "x.evalset.json").write_text(json.dumps({"eval_set_id": "x", "eval_cases": []}))
    with pytest.raises(proctor.SetupError, match="no cases"):
        proctor.audit_sync(tmp_path / "x.evalset.json")


def test_a_final_state_whose_matcher_has_no_value_is_no_contradiction() -> None:
    stated = {"id": {"$match": "regex", "pattern": "ORD-[0-9]+"}, "seats": 4}
    found = audit(
        case("booked", turn("Book it", "It is booked."), final_session_state=stated), criteria=EXACT
    )
    assert not found.contradictions
    assert [one.problem for one in found.cases] == [f"{NO_STATE}: id"]
    assert not found.passed_by_any
