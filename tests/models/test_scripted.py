"""A model that follows a script, and one that is a function."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from proctor.errors import SetupError
from proctor.models.base import Finish, Message, ModelError, ModelFault, ModelOptions, Reply, Usage
from proctor.models.function import FunctionModel
from proctor.models.scripted import ScriptedModel
from tests.models.model_calls import MESSAGES, YES, ask, fault, options

TEXT = options(schema=None)


class Answer(BaseModel):
    verdict: str


@dataclass
class Plain:
    verdict: str


# --- scripts ----------------------------------------------------------------------------------------------------------


def test_list_answers_in_order_and_then_fails() -> None:
    model = ScriptedModel([YES, "words", Reply(text="whole", cost=0.5, finish=Finish.LENGTH)])
    first, second, third = (ask(model) for _ in range(3))
    assert (first.structured, first.text) == (YES, '{"verdict": "yes"}')
    assert (second.structured, second.text) == (None, "words")
    assert (third.text, third.cost, third.finish, third.model) == ("whole", 0.5, Finish.LENGTH, "scripted")
    error = fault(model)
    assert (error.fault, str(error)) == (
        ModelFault.RAISED,
        "scripted raised LookupError: its script has 3 replies, and it was asked once more",
    )
    assert [asked.messages for asked in model.asked] == [MESSAGES] * 4


@pytest.mark.parametrize("script", ["words", YES, Reply(text="whole")], ids=str)
def test_single_reply_answers_every_call(script: Any) -> None:
    model = ScriptedModel(script)
    assert ask(model).text == ask(model).text != ""


def test_answer_may_depend_on_the_prompt() -> None:
    model = ScriptedModel(matching={"rain": "umbrella", re.compile(r"sun\b"): YES, "": lambda messages: "?"})

    def answer_to(text: str) -> Reply:
        return asyncio.run(model.complete([Message("user", text)], options=options()))

    assert [answer_to("the rain").text, answer_to("the sun").structured, answer_to("sunny").text] == [
        "umbrella",
        YES,
        "?",
    ]
    with pytest.raises(ModelError, match="none of the 1 texts of its script is in the messages"):
        ask(ScriptedModel(matching={"snow": "sledge"}))


@pytest.mark.parametrize(
    "function",
    [
        lambda messages: messages[-1].text,
        lambda messages, options: messages[-1].text,
        lambda messages, *, more=1: messages[-1].text,
        lambda messages, more=1: messages[-1].text,
    ],
)
def test_a_script_may_be_a_function(function: Any) -> None:
    assert ask(ScriptedModel(function)).text == "Is it so?"
    assert ask(FunctionModel(function)).text == "Is it so?"


@pytest.mark.parametrize("has_schemas", [True, False])
def test_data_is_text_for_a_model_without_schemas(has_schemas: bool) -> None:
    reply = ask(ScriptedModel(YES, has_schemas=has_schemas))
    assert reply.structured == (YES if has_schemas else None)
    assert reply.text == '{"verdict": "yes"}'


def test_requested_echo_is_repeated_unless_the_script_sets_it() -> None:
    wanted = options(echo={"ballot": "17"})
    assert ask(ScriptedModel(YES), wanted).structured == {"ballot": "17", "verdict": "yes"}
    assert ask(ScriptedModel({**YES, "ballot": "16"}), wanted).structured == {
        "ballot": "16",
        "verdict": "yes",
    }
    assert ask(ScriptedModel('{"verdict": "yes"}'), wanted).text == '{"verdict": "yes"}'


def test_a_script_may_raise() -> None:
    limited = ModelError("too much", fault=ModelFault.RATE_LIMITED, status=429)
    model = ScriptedModel([limited, ValueError("broken")])
    assert fault(model) is limited
    assert (fault(model).fault, len(model.asked)) == (ModelFault.RAISED, 2)


@pytest.mark.parametrize(
    ("script", "matching"), [(None, None), ("a", {"b": "c"}), (7, None), ({7}, None)], ids=str
)
def test_invalid_script(script: Any, matching: Any) -> None:
    with pytest.raises(SetupError, match=r"script"):
        ScriptedModel(script, matching=matching)


# --- functions --------------------------------------------------------------------------------------------------------


async def _later(messages: Any) -> Any:
    await asyncio.sleep(0)
    return YES


class _Callable:
    async def __call__(self, messages: Any, options: ModelOptions) -> Any:
        return {"verdict": options.schema_name}


@pytest.mark.parametrize(
    ("function", "data"),
    [
        (lambda messages: YES, YES),
        (lambda messages: Answer(verdict="yes"), YES),
        (lambda messages: Plain("yes"), YES),
        (_later, YES),
        (lambda messages: asyncio.sleep(0, YES), YES),
        (_Callable(), {"verdict": "verdict"}),
        (lambda messages: "words", None),
        (lambda messages: Reply(structured=YES, usage=Usage(input_tokens=1), model="mine"), YES),
    ],
    ids=["dict", "pydantic", "dataclass", "async", "returns a coroutine", "object", "text", "reply"],
)
def test_what_a_function_may_return(function: Any, data: Any) -> None:
    assert ask(FunctionModel(function)).structured == data


@pytest.mark.parametrize("answer", [None, 7, True, ["yes"], Answer], ids=str)
def test_what_a_function_may_not_return(answer: Any) -> None:
    error = fault(FunctionModel(lambda messages: answer, name="mine"))
    assert error.fault is ModelFault.BROKE_PROTOCOL
    assert str(error).startswith("mine answered with ")


class _UnprintableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even that")


@pytest.mark.parametrize(
    "raised",
    [
        ValueError("broken"),
        SystemExit(1),
        asyncio.CancelledError(),
        KeyboardInterrupt(),
        _UnprintableError(),
        TimeoutError(),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("kind", ["plain", "async"])
def test_any_exception_of_a_function_is_a_fault_of_the_model(raised: BaseException, kind: str) -> None:
    def plain(messages: Any) -> Any:
        raise raised

    async def later(messages: Any) -> Any:
        raise raised

    error = fault(FunctionModel(plain if kind == "plain" else later, name="mine"), options(timeout=20))
    assert error.fault is ModelFault.RAISED
    assert type(raised).__name__ in str(error)


def test_a_plain_function_does_not_hold_the_others_up() -> None:
    all_here = threading.Barrier(8)

    def meets(messages: Any) -> Any:
        all_here.wait(60)  # everybody is here at the same time, or it breaks
        return YES

    async def several() -> int:
        model = FunctionModel(meets)
        return len(await asyncio.gather(*(model.complete(MESSAGES, options=options()) for _ in range(8))))

    assert asyncio.run(several()) == 8


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_a_function_that_takes_too_long_is_left(kind: str) -> None:
    def plain(messages: Any) -> Any:
        time.sleep(0.5)

    async def later(messages: Any) -> Any:
        await asyncio.sleep(30)

    error = fault(FunctionModel(plain if kind == "plain" else later, name="mine"), options(timeout=0.05))
    assert (error.fault, str(error)) == (ModelFault.TIMED_OUT, "mine did not answer within 0.05 s")


def test_the_name_is_that_of_the_function() -> None:
    assert (FunctionModel(_later).name, FunctionModel(_Callable()).name) == ("_later", "_Callable")
    with pytest.raises(SetupError):
        FunctionModel("gpt-5")  # type: ignore[arg-type]  # what users may do
