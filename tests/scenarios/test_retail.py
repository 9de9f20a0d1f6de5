"""The sample shop: a careful desk keeps its policy with every customer; each mistake of a hasty one is found, and named."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import proctor
from examples.retail import customer as played
from examples.retail.agent import RetailAgent
from examples.retail.hasty import CHANCES, making, rolled
from examples.retail.shop import Tools, changes, open_shop
from proctor.schema.evidence.simulated_user import NextStatus
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.case import ConversationScenario
from proctor.schema.results.run_result import Outcome, RunResult

RETAIL = Path(played.__file__).parent
SET = RETAIL / "desk.evalset.yaml"
RULES, CALLS, STATE, WORDING = "trajectory_rules", "tool_expectations", "final_session_state", "regex_match"


def run_of(agent: Any, **options: Any) -> RunResult:
    return proctor.evaluate_sync(
        agent, SET, config=RETAIL / "test_config.json", user=played.customer, **options
    )


def trials_of(run: RunResult) -> Iterator[tuple[str, Trial]]:
    for case in run.cases:
        for trial in case.trials:
            assert trial.trial is not None
            yield case.eval_id, trial.trial


def user_messages(trial: Trial) -> list[str]:
    return [turn.user_content.joined_text() for turn in trial.turns]


# --- the builds -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def careful() -> RunResult:
    return run_of(str(RETAIL), num_runs=3, concurrency=20)


@pytest.mark.slow
def test_a_careful_desk_passes_with_every_customer_each_time(careful: RunResult) -> None:
    assert {case.eval_id: case.reason for case in careful.cases if not case.passed} == {}
    assert (len(careful.cases), careful.pass_hat(3)) == (10, 1.0)


def test_the_customers_end_the_conversations_themselves(careful: RunResult) -> None:
    for eval_id, trial in trials_of(careful):
        assert trial.played_user is not None
        assert trial.played_user.replies[-1].status is NextStatus.STOP_SIGNAL_DETECTED, eval_id


FOUND: dict[str, dict[str, set[str]]] = {
    "does not verify the customer": {
        "cancel_too_late": {RULES, CALLS},
        "return_two_items": {RULES, CALLS},
        "return_two_items_trusting": {RULES, CALLS},
        "final_sale": {RULES, CALLS},
        "second_thoughts": {RULES, CALLS},
        "somebody_elses_order": {RULES, CALLS, STATE},
        "two_wishes": {RULES, CALLS},
    },
    "does not wait for consent": {
        "cancel_pending": {RULES, CALLS},
        "return_two_items": {RULES, CALLS},
        "return_two_items_trusting": {RULES, CALLS},
        "second_thoughts": {RULES, CALLS, STATE},
        "sold_out": {RULES, CALLS},
        "two_wishes": {RULES, CALLS},
    },
    "treats a no as consent": {"second_thoughts": {CALLS, STATE}},
    "handles only the first item": {"return_two_items_trusting": {CALLS, STATE}},
    "takes a similar variant": {"sold_out": {CALLS, STATE}},
    "grants an exception": {
        "final_sale": {RULES, CALLS, STATE, WORDING},
        "too_old": {RULES, CALLS, STATE, WORDING},
    },
}
"""Each mistake of the hasty desk, made whenever there is an opportunity: the cases that fail, and by what."""


@pytest.mark.slow
@pytest.mark.parametrize("mistake", CHANCES)
def test_each_mistake_is_found_and_named_by_the_metrics_that_it_concerns(mistake: str) -> None:
    run = run_of(RetailAgent(lambda _: making([mistake])))
    found = {
        case.eval_id: {name for name, each in case.metrics.items() if each.outcome is Outcome.FAILED}
        for case in run.cases
        if not case.passed
    }
    assert found == FOUND[mistake]


@pytest.mark.slow
def test_hasty_desk_passes_mostly_but_seldom_eight_times_in_a_row() -> None:
    run = run_of(RetailAgent(rolled), num_runs=8)
    once, eight = run.pass_hat(1), run.pass_hat(8)
    assert once is not None
    assert eight is not None
    assert run.outcome is Outcome.FAILED
    assert 0 < eight < 0.5 < once < 1


@pytest.mark.slow
def test_the_same_seed_gives_the_same_conversations() -> None:
    one, other = (
        [(eval_id, user_messages(trial), trial.final_state) for eval_id, trial in trials_of(run)]
        for run in (run_of(RetailAgent(rolled), num_runs=2, concurrency=many) for many in (1, 20))
    )
    assert one == other


JUDGED: dict[str, Any] = {"config": RETAIL / "judged.json", "judge": f"scripted:{RETAIL / 'judge.json'}"}


@pytest.mark.slow
def test_judge_detects_an_agent_that_acts_without_announcement() -> None:
    silent = proctor.evaluate_sync(
        RetailAgent(lambda _: making(["does not wait for consent"])), SET, user=played.customer, **JUDGED
    )
    rubric = "rubric_based_multi_turn_trajectory_quality_v1"
    missed = {case.eval_id for case in silent.cases if case.metrics[rubric].outcome is Outcome.FAILED}
    assert missed == FOUND["does not wait for consent"].keys() - {"two_wishes"}  # the judge sees it ask once
    assert proctor.evaluate_sync(str(RETAIL), SET, user=played.customer, **JUDGED).passed


# --- the shop ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def shop() -> Iterator[sqlite3.Connection]:
    shop = open_shop()
    yield shop
    shop.close()


def test_no_shop_sees_what_is_done_in_another(shop: sqlite3.Connection) -> None:
    other = open_shop()
    Tools(shop).cancel_order("O-1001", "why not")
    assert changes(shop)["orders"] == {"O-1001": {"status": "cancelled", "reason": "why not"}}
    assert changes(other) == {}
    other.close()


@pytest.mark.parametrize(
    ("tool", "args", "error"),
    [
        ("get_order", {"order_id": "O-9"}, "no such order"),
        ("cancel_order", {"order_id": "O-1002", "reason": ""}, "only pending"),
        ("cancel_order", {"order_id": "O-1' OR '1", "reason": ""}, "only pending"),
        ("return_items", {"order_id": "O-1001", "items": ["lamp-black"], "refund_to": "card"}, "not delivered"),
        ("return_items", {"order_id": "O-1003", "items": ["tent-2"], "refund_to": "card"}, "not in the order"),
        ("exchange_item", {"order_id": "O-2001", "item": "jacket-green-m", "new_item": "jacket-red-m"}, "stock"),
        ("change_address", {"order_id": "O-1002", "address": "X 1, 1000 Y"}, "only pending"),
    ],
)  # fmt: skip
def test_tools_refuse_what_the_goods_do_not_allow(
    shop: sqlite3.Connection, tool: str, args: dict[str, Any], error: str
) -> None:
    assert error in getattr(Tools(shop), tool)(**args)["error"]
    assert changes(shop) == {}


def test_an_item_is_taken_back_once(shop: sqlite3.Connection) -> None:
    tools = Tools(shop)
    assert tools.return_items("O-1003", ["teapot-blue"], "credit") == {"refunded": 3200, "to": "credit"}
    assert "error" in tools.return_items("O-1003", ["teapot-blue"], "credit")
    assert changes(shop)["customers"] == {"C-1": {"credit": 3200}}


# --- the customer -----------------------------------------------------------------------------------------------------


def heard(*turns: tuple[str, str]) -> list[proctor.Invocation]:
    return [
        proctor.Invocation.model_validate(
            {"user_content": {"parts": [{"text": user}]}, "final_response": {"parts": [{"text": desk}]}}
        )
        for user, desk in turns
    ]


def scenario(persona: str = "NOVICE", plan: str = "") -> ConversationScenario:
    known = "I want to exchange my hat. It is red.\n- e-mail: a@b.example\n- order: O-1\n- variant: blue M\n"
    return ConversationScenario.model_validate(
        {"starting_prompt": "Hello", "conversation_plan": known + plan, "user_persona": persona}
    )


@pytest.mark.parametrize(
    ("desk", "persona", "plan", "answer"),
    [
        ("What can I do for you?", "NOVICE", "", "I want to exchange my hat."),
        ("What is your e-mail address?", "NOVICE", "", "My e-mail address is a@b.example."),
        ("What is your e-mail address?", "EXPERT", "", "My e-mail address is a@b.example. It is the order O-1. I would like it rather blue M."),
        ("And your postcode?", "NOVICE", "", "I do not know that."),
        ("Shall I exchange it for blue S? Please answer yes or no.", "NOVICE", "", "Yes, please."),
        ("Shall I exchange it for blue S? Please answer yes or no.", "EXPERT", "", "No, not quite. I want to exchange my hat."),
        ("Shall I exchange O-1 for blue M? Please answer yes or no.", "EXPERT", "", "Yes, please."),
        ("Shall I exchange O-1 for blue M? Please answer yes or no.", "NOVICE", "- confirm: no\n", "No, I have thought better of it."),
        ("Done. Is there anything else?", "NOVICE", "", None),
        ("Done. Is there anything else?", "NOVICE", "\nAnd my shoes.\n", "And my shoes."),
        ("I am sorry, that is sold out.", "NOVICE", "- otherwise: red\n", None),
        ("I am sorry, that is sold out.", "EXPERT", "- otherwise: red\n", "Then red, please."),
    ],
)  # fmt: skip
def test_customer_answers_by_plan_and_persona(desk: str, persona: str, plan: str, answer: str | None) -> None:
    assert played.customer(heard(("Hello", desk)), scenario(persona, plan)) == answer


def test_a_customer_who_is_asked_the_same_over_and_over_gives_up() -> None:
    asked = ("Hello", "What is your e-mail address?")
    assert played.customer(heard(asked, asked), scenario()) is None


@pytest.mark.slow  # workers are processes
def test_desk_makes_the_same_mistakes_in_workers() -> None:
    here, there = (run_of(str(RETAIL / "hasty.py"), num_runs=2, isolate=isolate) for isolate in (False, True))
    assert [[trial.outcome for trial in case.trials] for case in here.cases] == [
        [trial.outcome for trial in case.trials] for case in there.cases
    ]
