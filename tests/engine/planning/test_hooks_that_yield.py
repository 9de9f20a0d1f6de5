"""A hook with a `yield` is a function of which nothing would be run: it is refused, and never passed over."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any

import pytest

import proctor
from proctor.errors import SetupProblems

HELLO = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hello"}]}}
SET = {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [HELLO]}]}


def connects() -> Iterator[None]:
    raise AssertionError("this is never reached")
    yield


async def connects_later() -> AsyncIterator[None]:
    raise AssertionError("this is never reached")
    yield


class Connection:
    """Is opened by calling it."""

    def __call__(self) -> Iterator[None]:
        raise AssertionError("this is never reached")
        yield


def gives_one_back() -> Iterator[None]:
    return connects()


def gives_a_later_one_back() -> AsyncIterator[None]:
    return connects_later()


def answer(text: str) -> str:
    return "hello"


@pytest.mark.parametrize("where", ["setup", "teardown"])
@pytest.mark.parametrize(
    "hook",
    [connects, connects_later, Connection(), partial(connects)],
    ids=["function", "async", "object", "partial"],
)
def test_detectable_generator_hook_is_refused_before_the_first_call(
    where: str, hook: Callable[..., Any]
) -> None:
    options: dict[str, Any] = {where: hook}
    with pytest.raises(
        SetupProblems, match=f"the {where} hook is a generator, of which nothing would be run"
    ):
        proctor.evaluate_sync(answer, SET, **options)


@pytest.mark.parametrize("where", ["setup", "teardown"])
@pytest.mark.parametrize(
    "hook",
    [
        gives_one_back,
        gives_a_later_one_back,
        contextmanager(connects),
        asynccontextmanager(connects_later),
    ],
    ids=["returned", "returned async", "contextmanager", "asynccontextmanager"],
)
def test_one_that_turns_out_to_be_one_is_an_error(where: str, hook: Callable[..., Any]) -> None:
    options: dict[str, Any] = {where: hook}
    result = proctor.evaluate_sync(answer, SET, **options)
    assert result.outcome == "error"
    assert f"{where} hook: TypeError: it gave back a" in result.cases[0].reason
    assert "of which nothing was run" in result.cases[0].reason


def test_hook_with_unknown_parameters_is_refused() -> None:
    with pytest.raises(SetupProblems, match="the setup hook: its parameters cannot be inspected"):
        proctor.evaluate_sync(answer, SET, setup=dict)
