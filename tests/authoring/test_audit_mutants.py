"""Mutants of an audit, class by class: each has its fault, and where a change may be harmless there is none."""

import re
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

import proctor
from proctor.authoring.audit.answer_spans import LETTER, replace_word
from proctor.authoring.audit.call_mutants import other_value
from proctor.authoring.audit.make_mutants import OPERATORS, Mutant, mutants_of
from proctor.authoring.audit.mutant import Recording, calls_in, texts_before_answer
from proctor.schema.analysis.audit_result import Fate
from proctor.schema.format.case import EvalCase
from tests.authoring.test_audit import Json, case, turn


def mutants(operator: str, *turns: Json, seed: int = 0, **more: Any) -> list[Mutant]:
    recording = Recording(EvalCase.model_validate(case("c", *turns, **more)))
    return [*mutants_of(recording, OPERATORS[operator], seed)]


# --- Another language -------------------------------------------------------------------------------------------------

LATE = "The flight PR-204 is 40 minutes late."


@pytest.mark.parametrize(
    ("asked", "answer", "expected"),
    [
        pytest.param("When does it leave?", LATE, 1, id="an English answer to an English question"),
        pytest.param("Say it in German: when does it leave?", LATE, 0, id="the user names a language"),
        pytest.param("What is it called?", "It is called a lamp in English and Spanish.", 0, id="the answer names one"),
        pytest.param("Wann fliegt PR-204?", LATE, 0, id="a question in another language"),
        pytest.param("When?", "El vuelo PR-204 tiene 40 minutos de retraso.", 0, id="an answer in another language"),
        pytest.param("When does it leave?", "You're welcome!", 0, id="an answer without content"),
        pytest.param("When does it leave?", '{"the flight": "is late and has to wait"}', 0, id="JSON"),
    ],
)  # fmt: skip
def test_an_answer_in_another_language(asked: str, answer: str, expected: int) -> None:
    assert len(mutants("other-language", turn(asked, answer))) == expected


@pytest.mark.parametrize("seed", range(4))
def test_an_answer_in_another_language_keeps_the_facts_and_no_sentence(seed: int) -> None:
    (found,) = mutants("other-language", turn("When does it leave?", LATE), seed=seed)
    assert "PR-204" in found.answer(0)
    assert "40" in found.answer(0)
    assert not {"is", "late", "minutes"} & {*found.answer(0).split()}


def test_the_seed_chooses_the_language() -> None:
    asked = turn("When does it leave?", LATE)
    assert (
        len({each.fault for seed in range(20) for each in mutants("other-language", asked, seed=seed)}) == 4
    )


# --- A step of a policy -----------------------------------------------------------------------------------------------


def calls(*names: str) -> list[Json]:
    return [{"name": name, "args": {"step": number}} for number, name in enumerate(names)]


@pytest.mark.parametrize(
    ("first", "second", "faults"),
    [
        pytest.param(["verify_identity"], ["refund"], ["`refund` is called without `verify_identity` before it"], id="a check"),
        pytest.param(["get_order", "get_order"], ["refund"], ["`refund` is called without `get_order` before it"], id="all reads"),
        pytest.param(["find", "log_consent"], ["cancel"], ["`cancel` is called without `find` before it",
            "`cancel` is called without `log_consent` before it"], id="two steps"),
        pytest.param(["refund"], ["verify_identity"], [], id="a check after the action"),
        pytest.param(["find"], ["list_orders"], [], id="no action"),
        pytest.param(["find"], ["get_refund_status"], [], id="an action in the name of a read"),
        pytest.param(["transfer_to_agent"], ["refund"], [], id="an agent that hands over"),
    ],
)  # fmt: skip
def test_an_action_without_the_step_before_it(first: list[str], second: list[str], faults: list[str]) -> None:
    found = mutants(
        "step-missing", turn("Where?", "There.", *calls(*first)), turn("Pay", "Paid.", *calls(*second))
    )
    assert sorted(each.fault for each in found) == faults
    for each in found:
        assert len(called(each)) == len(first) + len(second) - (first.count("get_order") or 1)


def called(mutant: Mutant) -> tuple[str, ...]:
    return tuple(f"{place.call.name}{place.call.args}" for turn in mutant.turns for place in calls_in(turn))


@given(
    st.lists(st.sampled_from(["find", "verify", "pay", "cancel"]), max_size=6),
    st.integers(0, 6),
    st.integers(0, 5),
)
def test_a_missing_step_and_a_missing_call_are_never_the_same_mutant(
    names: list[str], cut: int, seed: int
) -> None:
    every = calls(*names)
    asked = turn("Pay", "Paid.", *every[:cut]), turn("And the other?", "Paid.", *every[cut:])
    made = [
        called(each) for name in ("call-missing", "step-missing") for each in mutants(name, *asked, seed=seed)
    ]
    assert len(made) == len({*made})
    assert all(len(each) < len(names) for each in made)


def test_a_call_without_a_name_has_mutants_too() -> None:
    (found,) = mutants("call-missing", turn("Where?", "There.", {"args": {"step": 1}}))
    assert found.fault == "`(no name)` is not called"


# --- The final state --------------------------------------------------------------------------------------------------

CART: Json = {"cart": {"items": ["tea", "milk"], "paid": True}, "count": 2}


def states(operator: str, stated: Json) -> list[Json]:
    return [each.state or {} for each in mutants(operator, turn("Buy tea", None), final_session_state=stated)]


def test_additional_entries_of_a_stated_value() -> None:
    cart = CART["cart"]
    assert states("state-extra", CART) == [
        {"cart": {**cart, "unexpected": True}, "count": 2},
        {"cart": {**cart, "items": ["tea", "milk", "milk"]}, "count": 2},
    ]  # fmt: skip


@pytest.mark.parametrize(
    "stated",
    [
        pytest.param({"count": 2, "open": True}, id="other keys of the state do not matter"),
        pytest.param({"cart": {"$match": "subset", "value": {"paid": True}}}, id="a matcher allows more"),
        pytest.param({"cart": {"items": {"$match": "set", "value": ["tea"]}}}, id="a matcher inside"),
    ],
)
def test_an_additional_entry_that_may_be_right_is_left_out(stated: Json) -> None:
    assert states("state-extra", stated) == []


def test_a_wrong_value_at_any_depth() -> None:
    found = states("state-wrong", CART)
    assert len(found) == 3
    assert {"cart": {"items": ["tea", "milk"], "paid": False}, "count": 2} in found + states(
        "state-wrong", CART
    )
    assert all(each != CART for each in found)


@pytest.mark.parametrize(
    ("value", "wrong", "extra"),
    [(None, 1, 0), ("", 1, 0), (0, 1, 0), ("open", 1, 0), ([], 0, 1), ({}, 0, 1), ([1], 1, 1), ({"a": None}, 0, 1)],
    ids=repr,
)  # fmt: skip
def test_each_kind_of_value_has_a_fault(value: Any, wrong: int, extra: int) -> None:
    stated = {"key": value}
    assert (len(states("state-wrong", stated)), len(states("state-extra", stated))) == (wrong, extra)
    assert stated not in states("state-wrong", stated) + states("state-extra", stated)


@pytest.mark.parametrize(
    ("stated", "missing", "wrong"),
    [
        pytest.param({"$match": "present"}, 1, 0, id="any value"),
        pytest.param({"$match": "ignore"}, 0, 0, id="any value, or none"),
        pytest.param({"$match": "number", "value": 100, "tolerance": 9}, 1, 0, id="a number within the tolerance"),
        pytest.param({"$match": "number", "value": 100, "tolerance": 0.5}, 1, 1, id="another number"),
        pytest.param({"$match": "one_of", "values": ["x", "y"]}, 1, 1, id="none of several"),
    ],
)  # fmt: skip
def test_what_a_matcher_of_the_state_accepts_is_no_fault(stated: Json, missing: int, wrong: int) -> None:
    found = [len(states(name, {"key": stated})) for name in ("state-missing", "state-wrong")]
    assert found == [missing, wrong]


def test_an_initial_value_that_a_matcher_accepts_is_no_fault() -> None:
    begun = {"app_name": "shop", "user_id": "ann", "state": {"total": 9.9}}
    stated = {"total": {"$match": "number", "value": 10, "tolerance": 1}}
    asked = turn("Buy tea", None)
    assert mutants("state-stale", asked, final_session_state=stated, session_input=begun) == []


@pytest.mark.parametrize("value", [0, 1.5, 1e16, -1e308, 10**30])
def test_another_number_is_another_one(value: float) -> None:
    assert all(other_value(value, Random(seed)) != value for seed in range(9))


def test_every_fault_of_a_stated_value_is_caught() -> None:
    cart = case("cart", turn("Buy tea", None), final_session_state=CART)
    found = proctor.audit_sync({"eval_set_id": "s", "eval_cases": [cart]}, mutants=["state"])
    assert {each.fate for each in found.audited[0].mutants if each.operator.startswith("state")} == {
        Fate.CAUGHT
    }


# --- Texts before the final response ----------------------------------------------------------------------------------


def report(text: str, answer: str) -> Json:
    data = {"intermediate_responses": [["analyst", [{"text": text}]]]}
    return {**turn("Which district is best?", answer), "intermediate_data": data}


def test_a_wrong_fact_before_the_final_response() -> None:
    (found,) = mutants("wrong-number", report("The score of the district is 92.", "The report is ready."))
    assert (
        found.fault == "'92' → '12' before the final response" or "before the final response" in found.fault
    )
    (text,) = texts_before_answer(found.turns[0])
    assert text != "The score of the district is 92."
    assert found.answer(0) == "The report is ready."


@pytest.mark.parametrize(
    ("text", "answer", "number"),
    [
        pytest.param("The score is 92.", "The score is 92, as computed.", 1, id="the answer states it, too"),
        pytest.param("Is the score 92?", "The report is ready.", 0, id="a question"),
    ],
)
def test_a_fact_that_is_not_only_before_the_final_response(text: str, answer: str, number: int) -> None:
    found = mutants("wrong-number", report(text, answer))
    assert len(found) == number
    assert not any("before the final response" in each.fault for each in found)


# --- Facts in other notations and scripts ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operator", "answer", "changed"),
    [
        pytest.param("wrong-number", "Das Paket wiegt 12,5 Kilo.", ["12,5"], id="a decimal comma"),
        pytest.param("wrong-amount", "Das kostet 1.234,56 € im Jahr.", ["1.234,56 €"], id="thousands with points"),
        pytest.param("wrong-number", "Es kostet 1.234.567 Euro.", ["1.234.567"], id="millions with points"),
        pytest.param("wrong-amount", "It costs ₹12,34,567.50 a year.", ["₹12,34,567.50"], id="lakhs with commas"),
        pytest.param("wrong-unit", "Das Paket wiegt 12,5 kg.", ["12,5 kg"], id="a unit"),
        pytest.param("wrong-number", "共有5個包裹。總計300元。", ["5", "300"], id="Chinese"),
        pytest.param("wrong-number", "주문은 25개입니다.", ["25"], id="Korean"),
        pytest.param("wrong-date", "5月3日に届きます。", ["5月3日"], id="a date in Japanese"),
        pytest.param("wrong-id", "注文ORD123を発送しました。", ["ORD123"], id="an id in Japanese"),
        pytest.param("negation", "YOUR ORDER IS READY.", ["YOUR ORDER IS READY."], id="capitals"),
        pytest.param("wrong-number", "Il pèse 1\u202f234,5 kilos.", ["1\u202f234,5"], id="thousands with narrow spaces"),
        pytest.param("wrong-amount", "Il coûte 1 234,56 € par an.", ["1 234,56 €"], id="thousands with spaces"),
        pytest.param("wrong-date", "Die Lieferung kommt am 29.11.2026 an.", ["29.11.2026"], id="a date in German"),
        pytest.param("wrong-date", "2026년 11월 29일에 도착합니다.", ["2026년 11월 29일"], id="a date in Korean"),
        pytest.param("wrong-date", "9:00から開いています。", ["9:00"], id="a time in Japanese"),
    ],
)  # fmt: skip
def test_a_fact_in_another_notation(operator: str, answer: str, changed: list[str]) -> None:
    found = mutants(operator, turn("?", answer))
    assert sorted(each.fault.split("'")[1] for each in found) == sorted(changed)
    for each in found:
        assert each.answer(0) != answer


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        pytest.param("?", "Version 1,2,3 is out.", id="a list, or a version"),
        pytest.param("?", "第3章を見てください。", id="the number of a chapter"),
        pytest.param("?", "1、打开文件。", id="the number of a list item"),
        pytest.param("?", "共有5個嗎？", id="a question"),
        pytest.param("我要5個包裹", "共有5個包裹。", id="the user gave it in Chinese"),
        pytest.param("1234,56 Euro?", "Sie zahlen 1.234,56 € im Jahr.", id="the user gave it without points"),
        pytest.param("1234567 Euro?", "Sie zahlen 1.234.567 € im Jahr.", id="the user gave it without points, millions"),
        pytest.param("1 234 Euro?", "Sie zahlen 1.234,00 € im Jahr.", id="the user gave it with spaces"),
        pytest.param("１２個ください", "合計は12個です。", id="the user gave it in full-width digits"),
        pytest.param("?", "2026년 11월 29일에 도착합니다.", id="the parts of a date"),
        pytest.param("Kostet es 12 Euro?", "Es kostet 12,00 € im Jahr.", id="the user gave it without cents"),
    ],
)  # fmt: skip
def test_a_value_whose_change_may_be_harmless_stays(asked: str, answer: str) -> None:
    assert not [*mutants("wrong-number", turn(asked, answer)), *mutants("wrong-amount", turn(asked, answer))]


@given(st.text("12９１٣", min_size=1, max_size=4), st.integers(0, 9))
def test_a_wrong_number_is_another_number_in_the_same_digits(number: str, seed: int) -> None:
    (found,) = mutants("wrong-number", turn("?", f"合計は{number}個です。"), seed=seed)
    changed = found.answer(0)[3:-4]
    assert int(changed) != int(number)
    assert [ord(sign) - int(sign) for sign in changed] == [ord(sign) - int(sign) for sign in number]


@pytest.mark.parametrize(
    ("date", "day"),
    [("29/11/2026", r"\d+"), ("11/29/2026", r"(?<=11/)\d+"), ("２０２６年１月２９日", r"[１２]\d(?=日)")],
)
def test_another_date_has_another_day(date: str, day: str) -> None:
    (found,) = mutants("wrong-date", turn("?", f"It arrives {date} at noon." if "/" in date else date))
    changed = found.fault.split("'")[3]
    assert re.sub(day, "", changed, count=1) == re.sub(day, "", date, count=1)
    assert changed != date


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("You will NOT get a refund.", ["You will get a refund."]),
        ("You can’t cancel it now.", ["You can cancel it now."]),
        ("The order is ready, but it is not paid.", ["The order is not ready, but it is not paid."]),
        ("There are no rooms left.", []),
        ("The order is still not ready.", []),
        ("It is NEVER open on Sunday.", []),
        ("You can only pay in cash.", []),
        ("Nobody is at the desk now.", []),
        ("There aren't any rooms left.", []),
    ],
)
def test_a_negation_is_neither_doubled_nor_broken(answer: str, expected: list[str]) -> None:
    assert [each.answer(0) for each in mutants("negation", turn("?", answer))] == expected


@given(
    st.lists(st.sampled_from(["7", "7,5", "x", " ", ".", ",", "月", "7.", "-"]), max_size=8).map("".join),
    st.sampled_from(["7", "7,5"]),
)
def test_a_value_is_replaced_as_a_pattern_would(text: str, value: str) -> None:
    pattern = rf"(?<!{LETTER})(?<![.,]){re.escape(value)}(?!{LETTER}|[.,]\d)"
    assert replace_word(text, value, "9") == re.sub(pattern, "9", text)


# --- Changes that would be harmless or break the text -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operator", "answer"),
    [
        pytest.param("wrong-name", "Please note: For Educational and Informational Purposes Only.", id="a heading"),
        pytest.param("wrong-name", "Es sind zwei Zimmer mit Dusche und Balkon frei.", id="nouns in German"),
        pytest.param("negation", "The commit information is:", id="an introduction"),
        pytest.param("condition-missing", "A table is particularly useful if the data is large and changes.", id="useful if"),
    ],
)  # fmt: skip
def test_no_mutant_is_made(operator: str, answer: str) -> None:
    assert not mutants(operator, turn("What is it?", answer))


def test_two_tools_that_only_compute_have_no_order() -> None:
    asked = turn("When is it due?", "In May.")
    asked["intermediate_data"] = {"tool_uses": calls("calculate_due_date", "infer_country")}
    assert not mutants("call-order", asked)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("It costs 5. You can return the red shoes later.", "the last sentence is missing"),
        ("It costs 5. It is red. You can return shoes later. Bring the old receipt along.", "the last 2 of 4 sentences are missing"),
    ],
)  # fmt: skip
def test_the_fault_of_a_truncated_answer_counts_its_sentences(answer: str, fault: str) -> None:
    assert [each.fault for each in mutants("answer-cut", turn("What does it cost?", answer))] == [fault]
