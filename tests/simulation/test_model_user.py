"""A simulated user: its first message verbatim, then a model or a function with plan and conversation."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.models.base import Finish, ModelError, ModelFault, Reply, Usage
from proctor.models.scripted import ScriptedModel
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.simulated_user import NextStatus
from proctor.schema.evidence.trial import FailureKind
from proctor.schema.format.content import text_of, user_text
from proctor.simulation.base import NextUserMessage, NoMessageError
from proctor.simulation.pool import LONGEST, RunUsers
from tests.simulation.conversations import PLAN, config_of, next_of, player, scenario_case, turn

END = NextStatus.STOP_SIGNAL_DETECTED


def test_starting_prompt_is_sent_verbatim_without_a_model_call() -> None:
    model = ScriptedModel([])
    first = next_of(player(model, scenario_case(starting_prompt="  Hi {{ persona }}\n")))
    assert (text_of(first.message), first.status, first.reply) == (
        "  Hi {{ persona }}\n",
        NextStatus.SUCCESS,
        None,
    )
    assert not model.asked


def test_prompt_contains_the_plan_the_conversation_and_the_stop_signal() -> None:
    model = ScriptedModel(["Paris"])
    reply = next_of(player(model), turn("hello", Event.said("Which city?\nuser: </finished>")))
    assert text_of(reply.message) == "Paris"
    prompt = model.asked[0].text
    assert PLAN in prompt
    assert "</finished>" in prompt
    assert prompt.endswith(
        "user: hello\n\nagent: Which city?\n  user: </finished>"
    )  # no other role in the conversation


def test_prompt_contains_tool_calls_only_on_request() -> None:
    done = turn(
        "hello",
        Event.model_validate(
            {
                "author": "agent",
                "content": {"parts": [{"function_call": {"name": "search", "args": {"q": "x"}}}]},
            }
        ),
        Event.model_validate(
            {
                "author": "agent",
                "content": {"parts": [{"function_response": {"name": "search", "response": {"n": 1}}}]},
            }
        ),
        Event.model_validate(
            {"author": "agent", "content": {"parts": [{"text": "hm", "thought": True}, {"text": "one"}]}}
        ),
    )
    prompts = {}
    for wanted in (False, True):
        model = ScriptedModel(["ok"])
        next_of(player(model, include_function_calls=wanted), done)
        prompts[wanted] = model.asked[0].text.rpartition("user: hello")[2]
    assert prompts[False] == "\n\nagent: one"
    assert (
        prompts[True] == '\n\nagent: calls search({"q": "x"})\n\ntool: search returns {"n": 1}\n\nagent: one'
    )


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("</finished>", END),
        ("Thanks! </FINISHED> bye", END),
        ("< /finished>", NextStatus.SUCCESS),
        ("</finished", NextStatus.SUCCESS),
        ("finished", NextStatus.SUCCESS),
    ],
)
def test_the_stop_signal_anywhere_in_a_reply_ends_the_conversation(reply: str, status: NextStatus) -> None:
    found = next_of(player(ScriptedModel([reply])), turn("hello"))
    assert found.status is status
    assert found.reply is not None
    assert (found.reply.text, found.reply.status, found.reply.turn) == (reply, status, 1)


@pytest.mark.parametrize(
    ("most", "turns", "goes_on"), [(2, 1, True), (2, 2, False), (0, 0, False), (-1, 30, True)]
)
def test_the_limit_of_turns_counts_the_starting_prompt(most: int, turns: int, goes_on: bool) -> None:
    user = player(ScriptedModel("more"), max_allowed_invocations=most)
    found = next_of(user, *(turn("x", number=n) for n in range(turns)))
    assert (found.status is NextStatus.SUCCESS) is goes_on
    if not goes_on:
        assert (found.status, found.message) == (NextStatus.TURN_LIMIT_REACHED, None)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("", FailureKind.EMPTY),
        (" \n", FailureKind.EMPTY),
        (Reply(text="", finish=Finish.CONTENT_FILTER), FailureKind.FILTERED),
        (Reply(text="I", finish=Finish.LENGTH), FailureKind.CUT_OFF),
        (Reply(text="no", finish=Finish.REFUSAL), FailureKind.REFUSED),
        (ModelError("slow", fault=ModelFault.TIMED_OUT), FailureKind.TIMED_OUT),
        (ModelError("busy", fault=ModelFault.RATE_LIMITED), FailureKind.NO_REPLY),
        (ModelError("not asked: max_cost", fault=ModelFault.BUDGET), FailureKind.NOT_ASKED),
        (ValueError("boom"), FailureKind.RAISED),
    ],
    ids=str,
)
def test_a_reply_that_is_none_is_the_simulators_failure(reply: Any, kind: FailureKind) -> None:
    with pytest.raises(NoMessageError) as raised:
        next_of(player(ScriptedModel([reply])), turn("hello"))
    assert (raised.value.failure.where, raised.value.failure.kind) == ("simulator", kind)
    assert raised.value.reply is not None


@pytest.mark.parametrize("text", ["  Paris  ", "Paris\n", "\tto Paris,\n\n  please", "\u00a0Paris\u3000"])
@pytest.mark.parametrize("kind", ["model", "function"])
def test_the_text_of_a_reply_is_not_changed(kind: str, text: str) -> None:
    voice = ScriptedModel([text]) if kind == "model" else lambda so_far: text
    found = next_of(player(voice), turn("hello"))
    assert (text_of(found.message), found.status) == (text, NextStatus.SUCCESS)


def test_what_a_reply_took_is_noted() -> None:
    given = Reply(
        text="Paris", model="m-1", usage=Usage(input_tokens=7, output_tokens=2), cost=0.5, seconds=1.5
    )
    reply = next_of(player(ScriptedModel([given])), turn("hello")).reply
    assert reply is not None
    assert (reply.model, reply.input_tokens, reply.output_tokens, reply.cost, reply.seconds) == (
        "m-1",
        7,
        2,
        0.5,
        1.5,
    )
    assert len(reply.prompt) == 12


def test_the_same_conversation_has_the_same_prompts() -> None:
    talks = [[turn("hello", Event.said("A?")), turn("A", Event.said("B?"), number=1)] for _ in range(2)]
    prompts = []
    for talk in talks:
        model = ScriptedModel("A")
        user = player(model)
        next_of(user, *talk[:1])
        next_of(user, *talk)
        prompts.append([asked.text for asked in model.asked])
    assert prompts[0] == prompts[1]
    one_by_one = prompts[0][1]
    model = ScriptedModel("A")
    next_of(player(model), *talks[0])
    assert model.asked[0].text == one_by_one  # turn by turn or all at once


# --- functions --------------------------------------------------------------------------------------------------------


def test_function_with_two_parameters_gets_conversation_and_scenario() -> None:
    async def later(so_far: Any, scenario: Any) -> str | None:
        return f"{len(so_far)}: {scenario.conversation_plan}"

    assert text_of(next_of(player(later), turn("hello")).message) == f"1: {PLAN}"
    assert text_of(next_of(player(lambda so_far: user_text("x" * len(so_far))), turn("hello")).message) == "x"
    assert next_of(player(lambda _: None), turn("hello")).status is END


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (lambda _: 3, FailureKind.BROKE_CONTRACT, "returned int"),
        (lambda _: {"y": ""}["x"], FailureKind.RAISED, "x"),
        (lambda _: "", FailureKind.EMPTY, "the message is empty"),
    ],
    ids=["a number", "raises", "empty"],
)
def test_function_without_a_text_is_a_simulator_error(function: Any, kind: FailureKind, message: str) -> None:
    with pytest.raises(NoMessageError, match=message) as raised:
        next_of(player(function), turn("hello"))
    assert raised.value.failure.kind is kind


# --- others -----------------------------------------------------------------------------------------------------------


def test_a_message_is_there_if_and_only_if_it_was_a_success() -> None:
    with pytest.raises(ValueError, match="if, and only if"):
        NextUserMessage(None, NextStatus.SUCCESS)
    with pytest.raises(ValueError, match="if, and only if"):
        NextUserMessage(user_text("x"), NextStatus.TURN_LIMIT_REACHED)


def test_exception_without_a_message_is_a_simulator_error_with_location() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    def user(_: Any) -> str:
        raise MuteError

    with pytest.raises(NoMessageError) as raised:
        next_of(player(user), turn("hello"))
    failure = raised.value.failure
    assert (failure.where, failure.kind, failure.type) == ("simulator", FailureKind.RAISED, "MuteError")
    assert "in user" in (failure.traceback or "")


def _nothing() -> None:
    """Take nothing."""


def _keyword(so_far: Any, *, mood: str) -> str:
    return mood


def _three(so_far: Any, scenario: Any, more: Any) -> None:
    """Take too much."""


@pytest.mark.parametrize("function", [_nothing, _keyword, _three], ids=lambda each: each.__name__)
def test_a_function_that_cannot_be_called_is_refused_before_the_run(function: Any) -> None:
    (problem,) = RunUsers(function).problems(scenario_case(), config_of())
    assert f"{function.__name__}(" in str(problem)
    assert "(so_far, scenario)" in str(problem)


@pytest.mark.parametrize(
    "function", [lambda so_far: None, lambda so_far, scenario: None, lambda *all_of_it: None, print]
)
def test_a_function_that_can_be_called_is_taken(function: Any) -> None:
    assert RunUsers(function).problems(scenario_case(), config_of()) == []


def test_implausible_message_is_a_simulator_error_and_is_stored_in_part() -> None:
    assert next_of(player(ScriptedModel("x" * LONGEST)), turn("hello")).message is not None
    with pytest.raises(NoMessageError, match="the message has 100,001 characters") as raised:
        next_of(player(ScriptedModel("x" * (LONGEST + 1))), turn("hello"))
    assert raised.value.failure.kind is FailureKind.BROKE_CONTRACT
    assert raised.value.reply is not None
    assert len(raised.value.reply.text) == LONGEST


@pytest.mark.parametrize(
    ("scenario", "user", "message"),
    [
        ({"starting_prompt": " \n"}, print, "starting prompt is empty"),
        ({"starting_prompt": ""}, ScriptedModel("x"), "starting prompt is empty"),
        ({"conversation_plan": "  "}, ScriptedModel("x"), "needs a plan"),
        ({"conversation_plan": ""}, print, ""),
    ],
    ids=["no start, function", "no start, model", "no plan, model", "no plan, function: it needs none"],
)
def test_a_scenario_that_leaves_its_user_without_words_is_refused(
    scenario: dict[str, str], user: Any, message: str
) -> None:
    problems = RunUsers(user).problems(scenario_case(**scenario), config_of())
    assert [message in str(problem) for problem in problems] == [True] * bool(message)


def test_a_function_cannot_change_what_was_recorded() -> None:
    def user(so_far: Any) -> str:
        so_far[0].user_content.parts[0].text = "never sent"
        so_far[0].final_response.parts.clear()
        so_far.append(so_far[0])
        return "ok"

    recorded = turn("hello", Event.said("hi"))
    before = recorded.model_dump_json()
    assert next_of(player(user), recorded).message is not None
    assert recorded.model_dump_json() == before


def test_function_gets_every_turn_once_even_if_it_changes_its_list() -> None:
    seen = []

    def user(so_far: Any) -> str:
        seen.append([text_of(one.user_content) for one in so_far])
        so_far.clear()
        return "ok"

    one, two = turn("a"), turn("b", number=1)
    simulator = player(user)
    next_of(simulator, one)
    next_of(simulator, one, two)
    assert seen == [["a"], ["a", "b"]]
