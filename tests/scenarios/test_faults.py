"""What agents do to the run around them: whole runs, many at a time. The numbers in brackets are of the fault catalogue."""

from __future__ import annotations

import asyncio
import contextvars
import json
import re
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

import proctor
from proctor import Event
from proctor.agents.base import Session
from proctor.common.registry import METRICS
from proctor.schema.format.content import Content, text_of
from proctor.schema.results.run_result import Outcome, RunResult
from tests.scenarios.test_fail_closed import Project

pytestmark = pytest.mark.slow  # many runs, some of which hang until their deadline

TIMES = 20
"""Trials of each fault, as the catalogue asks for."""


def cases(*texts: str, answer: str = "fine", **more: Any) -> dict[str, Any]:
    """Return a set with one case for each message of the user; the answer to all of them is the same."""
    return {
        "eval_set_id": "faults",
        "eval_cases": [
            {
                "eval_id": f"{number}-{text}",
                "conversation": [
                    {
                        "invocation_id": "1",
                        "user_content": {"role": "user", "parts": [{"text": text}]},
                        "final_response": {"role": "model", "parts": [{"text": answer}]},
                    }
                ],
                **more,
            }
            for number, text in enumerate(texts)
        ],
    }


def run(agent: Any, sets: Any, **options: Any) -> RunResult:
    options.setdefault("config", {"criteria": {"response_match_score": 1.0}})
    result: RunResult = proctor.evaluate_sync(agent, sets, **options)
    return result


def outcomes(result: RunResult, word: str) -> set[Outcome]:
    """Return the outcomes of the cases with the user's message `word`."""
    return {case.outcome for case in result.cases if case.eval_id.endswith(f"-{word}")}


def times(word: str) -> list[str]:
    """The fault twenty times, a good case before and after each."""
    return ["good", *[word, "good"] * TIMES]


# --- raising [17] ------------------------------------------------------------------------------------------------------


class WithoutText(Exception):  # noqa: N818 - named as what it is
    def __str__(self) -> str:
        raise ValueError("no text")

    __repr__ = __str__


RAISED: dict[str, Callable[[], BaseException]] = {
    "Exception": lambda: Exception("broken"),
    "BaseException": lambda: BaseException("broken"),
    "SystemExit": lambda: SystemExit(0),
    "KeyboardInterrupt": KeyboardInterrupt,
    "CancelledError": asyncio.CancelledError,
    "ExceptionGroup": lambda: ExceptionGroup("several", [ValueError("a"), KeyError("b")]),
    "BaseExceptionGroup": lambda: BaseExceptionGroup("several", [KeyboardInterrupt(), SystemExit(0)]),
    "WithoutText": WithoutText,
    "GeneratorExit": GeneratorExit,
    "StopIteration": StopIteration,
    "StopAsyncIteration": StopAsyncIteration,
    "RecursionError": lambda: RecursionError("deep"),
    "MemoryError": MemoryError,
    "TimeoutError": lambda: TimeoutError("not ours"),
}


def plain(text: str) -> str:
    if text in RAISED:
        error = RAISED[text]()
        raise error
    return "fine"


async def coroutine(text: str) -> str:
    await asyncio.sleep(0)
    return plain(text)


async def async_generator(text: str) -> AsyncIterator[str]:
    await asyncio.sleep(0)
    yield plain(text)


class Whole:
    """An agent as a class."""

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Answer, or raise."""
        yield Event.said(plain(text_of(message)))


@pytest.mark.parametrize(
    "agent", [plain, coroutine, async_generator, Whole()], ids=lambda a: getattr(a, "__name__", "object")
)
def test_any_exception_of_an_agent_is_an_error_and_others_continue(agent: Any) -> None:
    words = [word for name in RAISED for word in [*[name] * TIMES, "good"]]
    result = run(agent, cases(*words))
    assert outcomes(result, "good") == {Outcome.PASSED}
    for name in RAISED:
        assert outcomes(result, name) == {Outcome.ERROR}, name
    reasons = {case.eval_id.partition("-")[2]: case.reason for case in result.cases if not case.passed}
    assert {name: reason for name, reason in reasons.items() if name not in reason} == {}
    assert len(result.cases) == len(words)
    assert result.exit_code == 3


@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
@pytest.mark.parametrize("name", RAISED)
def test_any_exception_of_a_metric_is_an_error_of_the_metric(name: str, is_async: bool) -> None:
    def raises(actual: Any, expected: Any) -> float:
        plain(name)
        return 1.0

    async def raises_later(actual: Any, expected: Any) -> float:
        await asyncio.sleep(0)
        return raises(actual, expected)

    proctor.metric("raising_metric", threshold=0.5)(raises_later if is_async else raises)
    try:
        result = run(plain, cases(*["good"] * TIMES), config={"criteria": {"raising_metric": 0.5}})
    finally:
        METRICS.remove("raising_metric")
    assert outcomes(result, "good") == {Outcome.ERROR}
    assert all(
        name in case.reason and case.reason.startswith("raising_metric: metric raised")
        for case in result.cases
    )


# --- hanging [18] ------------------------------------------------------------------------------------------------------

NAP = 0.4
GRACE = 10.0
"""Seconds that a busy machine may be late; what hangs, hangs for an hour."""


class Hanging:
    """Hangs in every way; answers `fine` to anything else, after a nap that ends in time."""

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Act as the user requests."""
        text = text_of(message)
        if text == "never":
            await asyncio.Event().wait()
        if text == "swallows":
            while True:
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    continue
        if text == "blocks":
            time.sleep(3600)  # noqa: ASYNC251 - the fault under test
        if text == "spins":
            while True:
                pass
        if text == "blocks in C":  # a second or two in which no Python code runs, not even a signal handler
            re.match(r"(a+)+$", "a" * 25 + "b")
        await asyncio.sleep(NAP)
        yield Event.said("fine")


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    ("fault", "many"),
    [("never", TIMES), ("swallows", TIMES), ("blocks", 4), ("spins", 4), ("blocks in C", 2)],
)
def test_what_hangs_is_timed_out_and_the_others_keep_their_time(fault: str, many: int) -> None:
    result = run(Hanging(), cases(*["good", fault, "good"] * many), timeout=2 * NAP)
    assert outcomes(result, "good") == {Outcome.PASSED}
    assert outcomes(result, fault) == {Outcome.ERROR}
    reasons = {case.reason for case in result.cases if not case.passed}
    assert all(f"({2 * NAP} s)" in reason for reason in reasons), reasons


@pytest.mark.slow
def test_deadlines_hold_even_with_one_that_ignores_its_deadline() -> None:
    result = run(Hanging(), cases(*["never", "swallows", "good"] * 8), timeout=2.0, concurrency=24)
    times = [
        trial.trial.duration
        for case in result.cases
        for trial in case.trials
        if not case.passed and trial.trial
    ]
    assert len(times) == 16
    assert min(times) >= 2.0
    assert max(times) <= 2.5 + GRACE  # of those that ignore it, which get a tenth more to end


@pytest.mark.nightly
@pytest.mark.parametrize("fault", ["blocks", "spins"])
def test_what_blocks_the_event_loop_twenty_times(fault: str) -> None:
    test_what_hangs_is_timed_out_and_the_others_keep_their_time(fault, TIMES)


def hangs_in_a_thread(text: str) -> str:
    if text == "sleeps":
        time.sleep(3600)
    return "fine"


def test_plain_functions_that_hang_hold_up_neither_the_others_nor_the_end() -> None:
    began = time.monotonic()
    result = run(hangs_in_a_thread, cases(*["good", "sleeps", "good"] * TIMES), timeout=0.5)
    assert outcomes(result, "good") == {Outcome.PASSED}
    assert outcomes(result, "sleeps") == {Outcome.ERROR}
    assert time.monotonic() - began < 20 + GRACE


# --- garbage [19] ------------------------------------------------------------------------------------------------------


class Hostile:
    """Raises on every operation."""

    def _no(self, *_: object, **__: object) -> Any:
        raise RuntimeError("leave me alone")

    __repr__ = __str__ = __eq__ = __hash__ = __bool__ = __len__ = __iter__ = __getattr__ = _no


def circle() -> dict[str, Any]:
    knot: dict[str, Any] = {}
    knot["knot"] = knot
    return knot


def deep(levels: int) -> list[Any]:
    nest: list[Any] = []
    for _ in range(levels):
        nest = [nest]
    return nest


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
odd = st.one_of(
    st.binary(max_size=4),
    st.builds(object),
    st.builds(Hostile),
    st.builds(circle),
    st.integers(50, 10_000).map(deep),
    st.just("\ud800 half of a pair"),
    st.just("\0\x1b[31m"),
    st.just(float("nan")),
    st.just(10**5000),
    st.just({1: 2}),
    st.just({None: "x"}),
    st.sets(st.integers(), max_size=2),
    st.just(Ellipsis),
    st.just(type),
    st.just(lambda: None),
)
anything = json_like | odd
calls = st.fixed_dictionaries(
    {}, optional={"name": anything, "args": anything, "id": anything, "response": anything}
)
parts = st.fixed_dictionaries(
    {},
    optional={
        "text": anything, "thought": anything, "function_call": calls | anything, "functionCall": calls,
        "function_response": calls | anything, "inline_data": anything, "code_execution_result": anything,
        "made_up": anything,
    },
)  # fmt: skip
contents = st.fixed_dictionaries(
    {}, optional={"role": anything, "parts": st.lists(parts, max_size=3) | anything}
)
events = st.fixed_dictionaries(
    {},
    optional={
        "author": anything, "content": contents | anything, "partial": anything, "state_delta": anything,
        "usage_metadata": anything, "error_code": anything, "long_running_tool_ids": anything,
        "actions": st.fixed_dictionaries({}, optional={"state_delta": anything, "stateDelta": anything}) | anything,
        "timestamp": anything, "invocation_id": anything,
    },
)  # fmt: skip
answers = st.one_of(
    anything,
    contents,
    events,
    parts,
    st.fixed_dictionaries({}, optional={"text": anything, "tool_calls": st.lists(calls) | anything, "state_delta": anything}),
    st.lists(events | parts | anything, max_size=3),
    st.lists(events | parts | anything, max_size=3).map(iter),
    st.text().map(Event.said),
    st.builds(Event.called, st.text(max_size=4), st.none() | st.dictionaries(st.text(max_size=3), anything, max_size=2)),
    st.builds(Event.changed, st.dictionaries(st.text(max_size=3), anything, max_size=2)),
)  # fmt: skip


class Yielding:
    """Yields its input unchecked: an agent as a class."""

    def __init__(self, garbage: list[Any]) -> None:
        self.garbage = garbage

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Any]:
        """Yield one piece."""
        number = text_of(message)
        yield self.garbage[int(number)] if number.isdigit() else Event.said("fine")


def a_run_survives(garbage: list[Any]) -> None:
    words = [word for number in range(len(garbage)) for word in (str(number), "good")]
    given_sets = cases(*words)
    for agent in (lambda text: garbage[int(text)] if text.isdigit() else "fine", Yielding(garbage)):
        result = run(agent, given_sets, timeout=20, explain="all")
        assert outcomes(result, "good") == {Outcome.PASSED}
        for number, case in enumerate(case for case in result.cases if not case.eval_id.endswith("-good")):
            assert case.outcome in {Outcome.ERROR, Outcome.FAILED}, garbage[number]
            assert case.reason.encode(errors="surrogatepass")
        report(result)


def report(result: RunResult) -> None:
    """Every report can be written, and the one for programs is JSON."""
    from io import StringIO

    from proctor.reports.base import ReportOptions, load_report

    for name in ("json", "text"):
        out = StringIO()
        load_report(name).write([result], out, options=ReportOptions())
        assert "\x1b" not in out.getvalue()
        if name == "json":
            json.loads(out.getvalue(), parse_constant=pytest.fail)


CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@settings(max_examples=8, suppress_health_check=CHECKS)
@given(st.lists(answers, min_size=20, max_size=20))
def test_garbage_is_an_error_or_read_as_documented(garbage: list[Any]) -> None:
    a_run_survives(garbage)


@pytest.mark.nightly
@pytest.mark.timeout(900)
@settings(max_examples=200, suppress_health_check=CHECKS, phases=[Phase.generate])
@given(st.lists(answers, min_size=50, max_size=50))
def test_garbage_ten_thousand_times(garbage: list[Any]) -> None:
    a_run_survives(garbage)


PIECES: dict[str, Any] = {
    "None": None,
    "bytes": b"fine",
    "an object": object(),
    "a circle": circle(),
    "10,000 levels": {"tool_calls": [{"name": "f", "args": {"x": deep(10_000)}}]},
    "a hostile object": Hostile(),
    "arguments as a text": {"tool_calls": [{"name": "f", "args": "x=1"}]},
    "a part of no kind": {"parts": [{"mystery": 1}]},
    "a wrong author": {"author": 7, "content": {"parts": [{"text": "fine"}]}},
    "a state that is not a dict": {"text": "fine", "state_delta": [1]},
    "half of a pair": "\ud83d",
    "5,001 digits in an unknown field of a call": {"functionCall": {"id": "x", "response": 10**5000}},
    "5,001 digits in an unknown field of a response": {
        "parts": [{"function_response": {"name": "f", "response": {"a": 1}, "more": [10**5000]}}]
    },
    "5,001 digits in an unknown field of a content": {
        "content": {"parts": [{"text": "x"}], "more": 10**5000}
    },
}


@pytest.mark.parametrize("piece", PIECES)
def test_one_invalid_value_is_reported_by_its_kind(piece: str) -> None:
    result = run(lambda text: PIECES[piece] if text == "bad" else "fine", cases(*times("bad")))
    assert outcomes(result, "good") == {Outcome.PASSED}
    assert outcomes(result, "bad") <= {Outcome.ERROR, Outcome.FAILED}
    report(result)


# --- state bleed [22] --------------------------------------------------------------------------------------------------

WHO: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")


class Remembering:
    """Keeps the current user in every private place, and reports whenever it finds another."""

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Answer the current user; `not me` where another is found."""
        me = text_of(message).partition(" ")[0]
        found = {
            session.state.setdefault("who", me),
            session.memory.setdefault("who", me),
            session.state["given"],
        }
        if WHO.get() == "nobody":
            WHO.set(me)
        found.add(WHO.get())
        session.state.setdefault("seen", []).append(me)
        session.state["nested"]["list"].append(me)
        await asyncio.sleep(0.001 * (int(me) % 5))
        found |= {WHO.get(), *session.state["seen"], *session.state["nested"]["list"], session.state["who"]}
        yield Event.said("fine" if found == {me} else f"found {sorted(found)}", state_delta={"last": me})


def in_a_thread(text: str, session: Session) -> str:
    me = text.partition(" ")[0]
    session.state.setdefault("seen", []).append(me)
    time.sleep(0.001 * (int(me) % 5))
    return "fine" if {*session.state["seen"], session.state["given"]} == {me} else f"found {session.state}"


def own_state(number: int, turns: int = 3) -> dict[str, Any]:
    one = cases(*[f"{number} {turn}" for turn in range(turns)])["eval_cases"]
    return {
        "eval_id": f"c{number}",
        "conversation": [turn for case in one for turn in case["conversation"]],
        "session_input": {
            "app_name": "a",
            "user_id": "u",
            "state": {"given": str(number), "nested": {"list": []}},
        },
    }


@pytest.mark.parametrize(
    ("agent", "times"),
    [
        pytest.param(Remembering(), 3, id="async"),
        pytest.param(Remembering(), TIMES, id="async, often", marks=pytest.mark.nightly),
        pytest.param(in_a_thread, 5, id="in threads", marks=pytest.mark.nightly),
    ],
)
def test_two_hundred_cases_at_once_see_nothing_of_each_other(agent: Any, times: int) -> None:
    sets = {"eval_set_id": "own", "eval_cases": [own_state(number) for number in range(200)]}
    for _ in range(times):
        result = run(agent, sets, concurrency=200)
        assert result.passed, [case for case in result.cases if not case.passed][:3]
        ids = {trial.trial.session_id for case in result.cases for trial in case.trials if trial.trial}
        assert len(ids) == 200


# --- what it does to the process [21] ----------------------------------------------------------------------------------

DEEDS = """
import asyncio, gc, locale, logging, os, random, signal, sys, threading, time, warnings
from proctor import Event

def leave_threads():
    for _ in range(1000):
        threading.Thread(target=time.sleep, args=(3600,), daemon=False).start()

def close(*descriptors):
    for descriptor in descriptors:
        try: os.close(descriptor)
        except OSError: pass

DEED = {
    "print": lambda: (print("PRINTED " * 1000), os.system("echo PRINTED by a tool")),
    "write to 1": lambda: os.write(1, b"PRINTED\\n"),
    "close 1": lambda: close(1),
    "close all three": lambda: close(0, 1, 2),
    "close sys.stdout": lambda: sys.stdout.close(),
    "drop sys.stdout": lambda: setattr(sys, "stdout", None),
    "replace the streams": lambda: (setattr(sys, "stdout", open(os.devnull, "w")), setattr(sys, "stderr", open(os.devnull, "w"))),
    "point 1 elsewhere": lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 1),
    "chdir": lambda: os.chdir("/"),
    "empty the environment": lambda: os.environ.clear(),
    "forget the modules' path": lambda: sys.path.clear(),
    "locale": lambda: locale.setlocale(locale.LC_ALL, "C"),
    "umask": lambda: os.umask(0o777),
    "signal handlers": lambda: None,
    "event loop policy": lambda: asyncio.set_event_loop_policy(None),
    "exit handler": lambda: __import__("atexit").register(time.sleep, 3600),
    "logging": lambda: (logging.disable(), logging.shutdown()),
    "warnings": lambda: warnings.simplefilter("error"),
    "recursion limit": lambda: sys.setrecursionlimit(90),
    "excepthook": lambda: setattr(sys, "excepthook", None),
    "excepthook of threads": lambda: setattr(threading, "excepthook", None),
    "no garbage collection": lambda: gc.disable(),
    "seed": lambda: random.seed(0),
    "threads": leave_threads,
    "switch interval": lambda: sys.setswitchinterval(1),
}

def root_agent(text):
    if text in DEED:
        DEED[text]()
    return "fine"

async def in_the_loop(text):
    if text == "tasks":
        for _ in range(1000):
            asyncio.create_task(asyncio.sleep(3600))
    if text == "stubborn tasks":
        async def stubborn():
            while True:
                try: await asyncio.sleep(3600)
                except asyncio.CancelledError: pass
        for _ in range(1000):
            asyncio.create_task(stubborn())
    if text == "tasks that raise":
        async def fails():
            raise ValueError("unexpected call")
        for _ in range(1000):
            asyncio.create_task(fails())
    if text == "signal handlers":
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2):
            signal.signal(number, signal.SIG_IGN)
    if text == "exception handler":
        asyncio.get_running_loop().set_exception_handler(lambda *_: 1 / 0)
    if text == "another loop":
        asyncio.set_event_loop(asyncio.new_event_loop())
    if text == "debug":
        asyncio.get_running_loop().set_debug(True)
    if text in DEED:
        DEED[text]()
    yield Event.said("fine")
"""

IN_A_THREAD = [
    "print", "write to 1", "close 1", "close all three", "close sys.stdout", "drop sys.stdout", "replace the streams",
    "point 1 elsewhere", "chdir", "empty the environment", "forget the modules' path", "locale", "umask",
    "event loop policy", "exit handler", "logging", "warnings", "recursion limit",
    "no garbage collection", "seed", "threads", "switch interval",
]  # fmt: skip
IN_THE_LOOP = [
    "tasks", "stubborn tasks", "tasks that raise", "signal handlers", "exception handler", "another loop", "debug",
    "close all three", "print", "chdir",
]  # fmt: skip
DEEDS_DONE = [("root_agent", deed) for deed in IN_A_THREAD] + [("in_the_loop", deed) for deed in IN_THE_LOOP]


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    ("agent", "deed"), DEEDS_DONE, ids=[f"{deed} ({agent})" for agent, deed in DEEDS_DONE]
)
def test_reports_are_complete_for_any_harm_of_the_agent_to_the_process(
    tmp_path: Path, agent: str, deed: str
) -> None:
    """Two sets, the deed twenty times, other cases after it; the report on stdout and one in a file."""
    project = Project(tmp_path)
    project.write("agent.py", DEEDS)
    project.write("test_config.json", '{"criteria": {"response_match_score": 1.0}}')
    repeat = 1 if deed in ("threads", "exit handler") else TIMES
    project.write("a.evalset.json", json.dumps(cases(*["good", deed] * repeat)))
    project.write("b.evalset.json", json.dumps({**cases("good", "good"), "eval_set_id": "after"}))
    done = project.eval(
        f"agent.py:{agent}", "a.evalset.json", "b.evalset.json", "--format", "json", "--report", "text=out/report.txt",
        "--make-parents",
        "--concurrency", "4",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["outcome"] == "passed"
    assert len(found["runs"][0]["cases"]) == 2 * repeat + 2
    assert "PRINTED" not in done.stdout
    assert "Traceback" not in done.stderr or deed == "tasks that raise"  # asyncio itself reports those
    text = (tmp_path / "out" / "report.txt").read_text(encoding="utf-8")
    assert text.splitlines()[-1].startswith("VERDICT  passed")


# --- files name no code [35] -------------------------------------------------------------------------------------------

TOUCH = "import pathlib; pathlib.Path('touched').touch()"
TAGS = {
    "an object": "!!python/object/apply:os.system ['touch touched']",
    "a function": "!!python/name:os.system",
    "a module": "!!python/module:touching",
    "a tag of our own": "!touch now",
}


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("tag", TAGS)
def test_tags_in_yaml_are_refused_and_run_nothing(tmp_path: Path, tag: str) -> None:
    project = Project(tmp_path)
    project.write("touching.py", TOUCH)
    project.write("cases.yaml", f"cases:\n  - ask: hi\n    expect: {TAGS[tag]}\n")
    done = project.eval("agent.py", "cases.yaml")
    assert done.returncode == 2, done.stdout
    assert "cases.yaml:3:" in done.stderr
    assert not (tmp_path / "touched").exists()


def test_an_alias_bomb_is_refused_at_once(tmp_path: Path) -> None:
    project = Project(tmp_path)
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 12))
    project.write("cases.yaml", f"l0: &l0 [lol, lol]\n{levels}\ncases:\n  - ask: hi\n    expect: *l11\n")
    began = time.monotonic()
    done = project.eval("agent.py", "cases.yaml")
    assert done.returncode == 2, done.stdout
    assert "cases.yaml:" in done.stderr
    assert time.monotonic() - began < 60


def test_an_eval_set_names_no_code_to_run(tmp_path: Path) -> None:
    """Custom metrics come from the config that the user gives, never from the set that he was given."""
    project = Project(tmp_path)
    project.write("touching.py", f"{TOUCH}\ndef metric(actual, expected):\n    return 1.0\n")
    custom = {"touch": {"code_config": {"name": "touching.metric"}}}
    one = cases(
        "weather in Paris", answer="It is sunny in Paris.", custom_metrics=custom, agent="touching:metric"
    )
    one |= {
        "custom_metrics": custom,
        "criteria": {"touch": 1.0},
        "agent": "touching:metric",
        "config": {"custom_metrics": custom},
    }
    project.write("cases.evalset.json", json.dumps(one))
    project.config({"criteria": {"response_match_score": 1.0}})
    refused = project.eval("agent.py", "cases.evalset.json")
    assert refused.returncode == 2
    assert "criteria: unknown key" in refused.stderr
    done = project.eval("agent.py", "cases.evalset.json", "--allow-unknown-keys")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "touched").exists()


def test_the_control_a_config_does(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("touching.py", f"{TOUCH}\ndef metric(actual, expected):\n    return 1.0\n")
    custom = {"touch": {"code_config": {"name": "touching.metric"}}}
    project.config({"criteria": {"touch": 1.0}, "custom_metrics": custom})
    assert project.eval("agent.py", "cases.evalset.json").returncode == 0
    assert (tmp_path / "touched").exists()


@pytest.mark.parametrize("deed", ["excepthook", "excepthook of threads"])
def test_an_agent_that_breaks_threads_is_an_error_and_the_report_whole(tmp_path: Path, deed: str) -> None:
    """Nothing that starts a thread works any more: neither the next call of the agent nor a clean end."""
    project = Project(tmp_path)
    project.write("agent.py", DEEDS)
    project.write("test_config.json", '{"criteria": {"response_match_score": 1.0}}')
    project.write("a.evalset.json", json.dumps(cases("good", deed, "good")))
    done = project.eval("agent.py", "a.evalset.json", "--concurrency", "1", "--format", "json")
    assert done.returncode in {0, 3}, done.stderr  # whether a thread is free for the last case is chance
    assert json.loads(done.stdout)["exit_code"] == done.returncode
    assert "Traceback" not in done.stderr


def test_python_is_not_in_debug_mode() -> None:
    """Otherwise the numbers above would mean less."""
    assert not sys.flags.dev_mode
