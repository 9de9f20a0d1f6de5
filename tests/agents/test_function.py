"""Functions as agents: what their parameters get, what they may return, where they run, how they fail."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from functools import partial
from typing import Annotated, Any, Optional

import pytest

from proctor.agents.base import Session
from proctor.agents.function import FunctionAgent
from proctor.common.async_tools import THREADS
from proctor.errors import AgentError, AgentLoadError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, Part, user_text
from tests.agents.conftest import ask, ask_sync, last_text, new_session, read

# --- what goes in -----------------------------------------------------------------------------------------------------


def by_name(content, session, state):  # type: ignore[no-untyped-def]  # names alone decide
    return f"{content.parts[0].text} {session.user_id} {state['k']}"


def by_annotation(message: Content, trial: Session) -> str:
    return f"{message.parts[0].text if message.parts else None} {trial.user_id}"


def by_text_annotation(message: "Content", trial: "base.Session") -> str:  # type: ignore[name-defined] # noqa: F821
    return f"{message.parts[0].text if message.parts else None} {trial.user_id}"


def by_optional(trial: Session | None, message: Optional[Content] = None) -> str:  # noqa: UP045 - as people write it, too
    return by_annotation(message or Content(), trial or new_session())


def by_annotated(trial: Annotated[Session, "the session"], what: str) -> str:
    return f"{what} {trial.user_id}"


def by_optional_text(message: "Optional['Content']", trial: "base.Session | None") -> str:  # type: ignore[name-defined] # noqa: F821, UP045 - as people write it
    return by_annotation(message or Content(), trial or new_session())


def by_text_twice(message: "'proctor.Content'") -> str:  # type: ignore[valid-type] # noqa: F821
    return f"{message.parts[0].text}"


def not_by_what_it_holds(texts: list[Session]) -> str:
    return f"{texts}"


def first_is_text(anything: Any, session: Any) -> str:
    return f"{anything} {session.user_id}"


def session_first(session: Any, question: str) -> str:
    return f"{question} {session.user_id}"


def with_options(text: str, temperature: float = 0.5, session: Any = None, *, verbose: bool = False) -> str:
    return f"{text} {temperature} {session.user_id} {verbose}"


def named_only(*, text: str, session: Any) -> str:
    return f"{text} {session.user_id}"


def place_only(text: str, state: Any, /) -> str:
    return f"{text} {state['k']}"


def rest(*args: Any, **kwargs: Any) -> str:
    return f"{args} {kwargs}"


class Bot:
    def method(self, text: str, session: Session) -> str:
        return f"{text} {session.user_id}"

    def __call__(self, text: str) -> str:
        return f"called {text}"


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        (by_name, "hi user v"),
        (by_annotation, "hi user"),
        (by_text_annotation, "hi user"),
        (by_optional, "hi user"),
        (by_annotated, "hi user"),
        (by_optional_text, "hi user"),
        (by_text_twice, "hi"),
        (not_by_what_it_holds, "hi"),
        (first_is_text, "hi user"),
        (session_first, "hi user"),
        (with_options, "hi 0.5 user False"),
        (named_only, "hi user"),
        (place_only, "hi v"),
        (rest, "('hi',) {}"),
        (Bot().method, "hi user"),
        (Bot(), "called hi"),
        (partial(with_options, temperature=0.1), "hi 0.1 user False"),
        (lambda text: text.upper(), "HI"),
        (str.upper, "HI"),
        ({"hi": "found"}.get, "found"),
    ],
)  # fmt: skip
def test_parameters_are_recognised_by_name_annotation_or_position(
    function: Callable[..., Any], answer: str
) -> None:
    assert last_text(FunctionAgent(function), "hi", new_session(k="v")) == answer


def test_the_text_of_a_message_is_all_its_texts() -> None:
    message = Content(role="user", parts=[Part(text="one"), Part(text="two")])
    assert last_text(FunctionAgent(lambda text: text), message) == "one\ntwo"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: "x", "no parameter for the user's message"),
        (lambda session: "x", "no parameter for the user's message"),
        (lambda text, database: "x", "'database'"),
        (lambda text, *, database: "x", "'database'"),
    ],
)
def test_a_function_that_cannot_be_filled_is_refused_before_it_runs(
    function: Callable[..., Any], message: str
) -> None:
    with pytest.raises(AgentLoadError, match=message):
        FunctionAgent(function)


def test_function_describes_itself() -> None:
    def weather(text: str) -> str:
        """Report the weather.

        At length.
        """
        return text

    info = FunctionAgent(weather).describe()
    assert (info.name, info.description) == ("weather", "Report the weather.")


# --- what comes out ---------------------------------------------------------------------------------------------------


def returns_text(text: str) -> Any:
    return "done"


def returns_list(text: str) -> Any:
    return [Event.called("f", {"a": 1}), Event.returned("f", {}), "done"]


def returns_tuple(text: str) -> Any:
    return Event.called("f", {"a": 1}), Event.returned("f", {}), "done"


def returns_iterator(text: str) -> Any:
    return iter(returns_list(text))


def returns_coroutine(text: str) -> Any:
    return coroutine(text)


def generator(text: str) -> Iterator[Any]:
    yield Event.called("f", {"a": 1})
    yield Event.returned("f", {})
    yield "done"


def generator_that_returns(text: str) -> Generator[Any, None, str]:
    yield Event.called("f", {"a": 1})
    yield Event.returned("f", {})
    return "done"


async def coroutine(text: str) -> Any:
    return returns_list(text)


async def coroutine_of_generator(text: str) -> Any:
    return generator(text)


async def async_generator(text: str) -> AsyncIterator[Any]:
    for item in returns_list(text):
        await asyncio.sleep(0)
        yield item


class Iterates:
    def __init__(self, text: str) -> None:
        self._items = returns_list(text)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)


class AsyncIterates:
    def __init__(self, items: list[Any]) -> None:
        self._items = items

    def __aiter__(self) -> "AsyncIterates":
        return self

    async def __anext__(self) -> Any:
        if not self._items:
            raise StopAsyncIteration
        return self._items.pop(0)


def returns_async_iterable(text: str) -> Any:
    return AsyncIterates(returns_list(text))


def returns_iterable(text: str) -> Any:
    return Iterates(text)


def returns_generator(text: str) -> Any:
    return generator(text)


ALL = [
    returns_list, returns_tuple, returns_iterator, returns_coroutine, generator, generator_that_returns, coroutine,
    coroutine_of_generator, async_generator, returns_async_iterable, returns_iterable,
    returns_generator, partial(generator), partial(async_generator),
]  # fmt: skip


@pytest.mark.parametrize("function", ALL, ids=lambda function: getattr(function, "__name__", "partial"))
def test_all_kinds_of_functions_give_the_same_events(function: Callable[..., Any]) -> None:
    found = read(ask_sync(FunctionAgent(function)))
    assert [(call.name, call.args) for call in found.tool_calls] == [("f", {"a": 1})]
    assert found.final_response is not None
    assert found.final_response.joined_text() == "done"


@pytest.mark.parametrize("function", ALL, ids=lambda function: getattr(function, "__name__", "partial"))
def test_one_agent_answers_many_at_once(function: Callable[..., Any]) -> None:
    agent = FunctionAgent(function)

    async def main() -> list[list[Event]]:
        return list(await asyncio.gather(*(ask(agent) for _ in range(20))))

    assert {len(events) for events in asyncio.run(main())} == {3}


async def async_none(text: str) -> None: ...


def yields_none(text: str) -> Iterator[Any]:
    yield "one"
    yield None


def yields_lists(text: str) -> Iterator[Any]:
    yield ["one"]


async def yields_number(text: str) -> AsyncIterator[Any]:
    yield 5


@pytest.mark.parametrize(
    ("function", "came"),
    [
        (lambda text: None, "NoneType"),
        (async_none, "NoneType"),
        (lambda text: 5, "int 5"),
        (lambda text: {"a", "b"}, "set"),
        (lambda text: b"x", "bytes"),
        (lambda text: [None], "NoneType"),
        (yields_none, "NoneType"),
        (yields_lists, "list"),
        (yields_number, "int 5"),
        (lambda text: lambda: "x", "function"),
    ],
)
def test_invalid_answer_breaks_the_contract(function: Callable[..., Any], came: str) -> None:
    with pytest.raises(AgentError, match=rf"{came}.*expected a text"):
        ask_sync(FunctionAgent(function))


def test_function_without_a_yield_gives_a_turn_without_text() -> None:
    def silent(text: str) -> Iterator[Any]:
        return
        yield

    assert ask_sync(FunctionAgent(silent)) == []
    assert ask_sync(FunctionAgent(lambda text: [])) == []


# --- where it runs ----------------------------------------------------------------------------------------------------


def test_plain_functions_run_in_parallel_with_the_event_loop() -> None:
    barrier = threading.Barrier(8)

    def meet(text: str) -> str:
        barrier.wait(timeout=10)  # breaks unless all eight run at the same time
        return threading.current_thread().name

    async def main() -> list[list[Event]]:
        return list(await asyncio.gather(*(ask(FunctionAgent(meet)) for _ in range(8))))

    assert len(asyncio.run(main())) == 8


def test_a_generator_stays_in_one_thread_and_runs_only_when_asked() -> None:
    threads: list[int] = []

    def steps(text: str) -> Iterator[str]:
        for number in range(3):
            threads.append(threading.get_ident())
            yield str(number)

    async def main() -> None:
        events = FunctionAgent(steps).answer(user_text("hi"), new_session())
        assert threads == []
        await anext(events)
        assert len(threads) == 1
        async for _ in events:
            pass

    asyncio.run(main())
    assert len(threads) == 3
    assert len(set(threads)) == 1
    assert threads[0] != threading.get_ident()


def test_async_functions_run_in_the_event_loop() -> None:
    async def where(text: str) -> str:
        asyncio.get_running_loop()  # raises where there is none
        return str(threading.get_ident())

    assert last_text(FunctionAgent(where)) == str(threading.get_ident())


def test_a_generator_sees_the_state_that_its_events_changed() -> None:
    """The engine applies `state_delta` as each event arrives: a generator must not run ahead of that."""

    def steps(text: str, state: dict[str, Any]) -> Iterator[Any]:
        yield Event.changed({"seen": 1})
        yield str(state.get("seen"))

    async def main() -> str:
        session, last = new_session(), ""
        async for event in FunctionAgent(steps).answer(user_text("hi"), session):
            session.state.update(event.state_delta or {})
            last = event.content.joined_text() if event.content else ""
        return last

    assert asyncio.run(main()) == "1"


# --- how it fails -----------------------------------------------------------------------------------------------------


class _UnprintableError(Exception):
    def __str__(self) -> str:
        raise ValueError


RAISED = [
    ValueError("x"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), _UnprintableError(),
    ExceptionGroup("both", [ValueError("a"), KeyError("b")]),
]  # fmt: skip


def _raising(kind: str, error: BaseException) -> Callable[..., Any]:
    def plain(text: str) -> Any:
        raise error

    def steps(text: str) -> Iterator[Any]:
        yield "one"
        raise error

    async def co(text: str) -> Any:
        raise error

    async def async_steps(text: str) -> AsyncIterator[Any]:
        yield "one"
        raise error

    return {"plain": plain, "generator": steps, "async": co, "async generator": async_steps}[kind]


@pytest.mark.parametrize("kind", ["plain", "generator", "async", "async generator"])
@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_exception_is_raised_unchanged_and_other_trials_continue(kind: str, error: BaseException) -> None:
    bad, good = FunctionAgent(_raising(kind, error)), FunctionAgent(lambda text: "fine")

    async def caught() -> BaseException | None:
        try:
            await ask(bad)
        except BaseException as raised:  # noqa: BLE001 -- every kind of exception
            return raised
        return None

    async def main() -> list[Any]:
        return list(await asyncio.gather(*(one for _ in range(20) for one in (caught(), ask(good)))))

    results = asyncio.run(main())
    assert all(result is error for result in results[::2])
    assert all(result[0].content.joined_text() == "fine" for result in results[1::2])


def test_stop_iteration_does_not_end_an_answer() -> None:
    def fail(text: str) -> str:
        raise StopIteration

    with pytest.raises(RuntimeError, match="StopIteration"):
        ask_sync(FunctionAgent(fail))


def test_a_hanging_function_is_left_behind_and_the_next_one_is_not_slowed() -> None:
    release = threading.Event()

    def hang(text: str) -> str:
        release.wait(60)
        return "late"

    async def main() -> float:
        for _ in range(5):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(ask(FunctionAgent(hang)), 0.02)
        began = time.perf_counter()
        await ask(FunctionAgent(lambda text: "quick"))
        return time.perf_counter() - began

    try:
        assert asyncio.run(main()) < 40
    finally:
        release.set()


def test_a_generator_that_is_left_early_is_closed_in_its_thread() -> None:
    closed: list[int] = []
    done = threading.Event()

    def endless(text: str) -> Iterator[str]:
        try:
            while True:
                yield str(threading.get_ident())
        finally:
            closed.append(threading.get_ident())
            done.set()

    async def main() -> Any:
        events = FunctionAgent(endless).answer(user_text("hi"), new_session())
        first = await anext(events)
        await asyncio.sleep(0.05)  # the thread is idle now, and holds nothing that would close it by chance
        await events.aclose()  # type: ignore[attr-defined]  # a generator can be closed
        return first

    first = asyncio.run(main())
    assert done.wait(60)
    assert str(closed[0]) == first.content.joined_text()


def test_an_async_generator_that_is_left_early_is_closed() -> None:
    closed = []

    async def endless(text: str) -> AsyncIterator[str]:
        try:
            while True:
                yield "x"
        finally:
            closed.append(True)

    async def main() -> None:
        events = FunctionAgent(endless).answer(user_text("hi"), new_session())
        await anext(events)
        await events.aclose()  # type: ignore[attr-defined]  # a generator can be closed
        assert closed == [True]

    asyncio.run(main())


def test_a_generator_that_raised_gives_its_thread_back() -> None:
    agent = FunctionAgent(_raising("generator", ValueError("x")))

    async def main() -> None:
        for _ in range(3):
            with pytest.raises(ValueError, match="x"):
                await ask(agent)

    before = len(THREADS._idle)
    asyncio.run(main())
    assert len(THREADS._idle) in {before, 1}


def test_states_of_two_hundred_trials_at_once_do_not_mix() -> None:
    def remember(text: str, state: dict[str, Any]) -> Iterator[str]:
        state["mine"] = text
        yield "first"
        time.sleep(0.001)
        yield state["mine"]

    async def main() -> list[list[Event]]:
        agent = FunctionAgent(remember)
        return list(await asyncio.gather(*(ask(agent, f"trial {n}", new_session()) for n in range(200))))

    texts = [read(events).final_response for events in asyncio.run(main())]
    assert [text.joined_text() for text in texts if text] == [f"trial {n}" for n in range(200)]
