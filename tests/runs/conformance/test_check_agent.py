"""The conformance kit: a sound agent breaks no rule, and for each rule an agent that breaks it gets a message."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from proctor import Content, Event, Session, SetupError
from proctor.agents.base import AgentInfo
from proctor.cli.main import cli
from proctor.conformance import CHECKS, Finding, Fit, check_agent_sync

Turn = Callable[[str, Session], AsyncIterator[Any]]


class Sound:
    """Keep every rule: call a tool, change state, stream, wait, fail on request."""

    def describe(self) -> Any:
        return AgentInfo("sound", app_details={"agent_details": {"sound": {"name": "sound"}}})

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Any]:
        text = message.joined_text()
        if text == "fail":
            raise ValueError("as told")
        await asyncio.sleep(0.001)
        yield Event.called("f", {"a": 1}, id="1")
        yield Event.returned("f", {"b": 2}, id="1")
        yield Event.changed({"n": session.state.get("n", 0) + 1})
        yield Event.said("He", partial=True)
        yield Event.said("llo", partial=True)
        yield Event.said("Hello")


class Broken(Sound):
    """As sound, but for what a test puts in the place of its answer, or of a method."""

    def __init__(self, turn: Turn | None = None, **methods: Any) -> None:
        self._turn = turn
        for name, method in methods.items():
            setattr(self, name, method)

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Any]:
        turn = self._turn or super().answer
        async for event in turn(message if self._turn is None else message.joined_text(), session):
            yield event


def _yields(*events: Any) -> Turn:
    async def turn(_text: str, _session: Session) -> AsyncIterator[Any]:
        await asyncio.sleep(0.001)
        for event in events:
            yield event

    return turn


async def _swallows(_text: str, _session: Session) -> AsyncIterator[Any]:
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(0.2)
    yield Event.said("all the same")


async def _ignores_cancellation(_text: str, _session: Session) -> AsyncIterator[Any]:
    try:
        await asyncio.sleep(0.05)
    except asyncio.CancelledError:
        await asyncio.sleep(30)
    yield Event.said("ok")


class _BrokenByCancelling:
    is_broken = False

    async def __call__(self, _text: str, _session: Session) -> AsyncIterator[Any]:
        if self.is_broken:
            raise RuntimeError("the connection is in an unknown state")
        try:
            await asyncio.sleep(0.01)
            yield Event.said("o", partial=True)
            yield Event.said("ok")
        except BaseException:
            self.is_broken = True
            raise


class _Shared:
    last: Session | None = None

    async def __call__(self, _text: str, session: Session) -> AsyncIterator[Any]:
        type(self).last = session
        await asyncio.sleep(0.01)
        yield Event.said(f"You are {type(self).last.state}")  # type: ignore[union-attr]  # it was set above


class _Leaks:
    def __init__(self) -> None:
        self.tasks: list[Any] = []

    async def __call__(self, _text: str, _session: Session) -> AsyncIterator[Any]:
        self.tasks.append(asyncio.create_task(asyncio.sleep(30), name="poller"))
        yield Event.said("ok")


async def _refuses_errors(text: str, _session: Session) -> AsyncIterator[Any]:
    yield Event.said("Sorry, something went wrong." if text == "fail" else "ok")


async def _fails_for_good(text: str, session: Session, broken: list[str] = []) -> AsyncIterator[Any]:  # noqa: B006 - it lasts on purpose
    if text == "fail" or broken:
        broken.append(text)
        raise ValueError("as told")
    yield Event.said("ok")


CALL, ANSWER, TEXT = Event.called("f", id="1"), Event.returned("f", {}, id="1"), Event.said("ok")

BREAKS = [
    ("events", Broken(_yields("a text")), "the agent yielded str 'a text'"),
    ("events", Broken(_yields(Event.called("f", {"a": object()}), TEXT)), "value is not JSON"),
    ("events", Broken(_yields(Event(error_code="E", error_message="no"))), "no"),
    ("final-response", Broken(_yields(CALL, ANSWER)), r"turn 1 ('Hello!') has no final response: call of f, response of f"),
    ("final-response", Broken(_yields()), "has no final response: no event at all"),
    ("order", Broken(_yields(TEXT, CALL)), "turn 1 does not end with its final response: text 'ok', call of f"),
    ("order", Broken(_yields(TEXT, Event.said("o", partial=True))), "text 'ok', a piece 'o'"),
    ("pairing", Broken(_yields(ANSWER, CALL, TEXT)), "a response of f with the id '1' belongs to no call before it"),
    ("pairing", Broken(_yields(CALL, Event.returned("g", {}, id="1"), TEXT)), "the call of f is answered as g"),
    ("pairing", Broken(_yields(CALL, Event.called("g", id="2"), ANSWER, TEXT)), "no response to the call of g"),
    ("pairing", Broken(_yields(CALL, CALL, ANSWER, TEXT)), "two calls have the id '1'"),
    ("pairing", Broken(_yields(CALL, ANSWER, ANSWER, TEXT)), "belongs to no call before it"),
    ("streaming", Broken(_yields(Event.said("O", partial=True), Event.said("k", partial=True))),
     "no whole event follows the pieces 'Ok'"),
    ("streaming", Broken(_yields(Event.said("O", partial=True), Event.said("else"))), "no whole event follows the pieces 'O'"),
    ("state", Broken(final_state=lambda session: {}), "'proctor_check' was given with the session"),
    ("state", Broken(final_state=lambda session: {**session.state, "n": 7}), "'n' was changed by an event to int 2, and is int 7"),
    ("state", Broken(final_state=lambda session: [1]), "final_state() returned list [1]; expected a dict"),
    ("state", Broken(final_state=lambda session: {**session.state, "o": object()}), "the final state is not JSON"),
    ("cancellation", Broken(_swallows), "it swallowed its cancellation and answered to the end"),
    ("cancellation", Broken(_ignores_cancellation), "it continued for more than 2 s after it was cancelled"),
    ("cancellation", Broken(_BrokenByCancelling()), "after a turn was cancelled, the next conversation failed"),
    ("leaving", Broken(_BrokenByCancelling()), "after a turn was left after its first event, the next conversation failed"),
    ("concurrency", Broken(_Shared()), "which was held at the same time"),
    ("errors", Broken(_refuses_errors), "made it answer text 'Sorry, something went wrong.', and raise nothing"),
    ("errors", Broken(_fails_for_good), "after it failed, the next conversation failed: as told"),
    ("description", Broken(describe=lambda: {"name": "x"}), "expected an AgentInfo with a name"),
    ("description", Broken(describe=lambda: AgentInfo("")), "expected an AgentInfo with a name"),
    ("description", Broken(describe=lambda: AgentInfo("x", app_details={"tools": []})), "expected {'agent_details': {…}}"),
    ("description", Broken(describe=lambda: AgentInfo("x", app_details={"agent_details": {"a": {1, 2}}})), "is not JSON"),
    ("tidiness", Broken(_Leaks()), "running when it was closed: poller"),
]  # fmt: skip


def _check(agent: Any, name: str = "", **options: Any) -> dict[str, Finding]:
    options = {"failing": "fail", "only": [name] if name else (), **options}
    return {finding.name: finding for finding in check_agent_sync(agent, **options)}


def test_a_sound_agent_breaks_no_rule() -> None:
    assert {name: finding.fit for name, finding in _check(Sound()).items()} == {
        check.name: Fit.OK for check in CHECKS
    }


@pytest.mark.slow  # waits for time limits
@pytest.mark.parametrize(
    ("name", "agent", "message"), BREAKS, ids=[f"{name}: {message[:40]}" for name, _, message in BREAKS]
)
def test_agent_that_breaks_a_rule_is_reported_with_rule_and_evidence(
    name: str, agent: Any, message: str
) -> None:
    finding = _check(agent, name)[name]
    assert (finding.fit, message in finding.evidence) == (Fit.FAILED, True), finding


async def _asks_first(text: str, session: Session) -> AsyncIterator[Any]:
    """Two calls at once, of which one waits for the user, who answers in the next turn."""
    await asyncio.sleep(0.001)
    if session.memory.setdefault("asked", False):
        yield Event.returned("wire", {"done": True}, id="2")
        yield Event.said("Done.")
        return
    session.memory["asked"] = True
    yield Event.called("f", id="1")
    yield Event.called("wire", id="2")
    yield Event.returned("f", {}, id="1")
    yield Event(author="agent", long_running_tool_ids=["2"])


@pytest.mark.parametrize("name", ["final-response", "order", "pairing"])
def test_a_call_that_waits_is_answered_in_a_later_turn(name: str) -> None:
    assert _check(Broken(_asks_first), name)[name].fit is Fit.OK


def test_every_rule_can_be_broken() -> None:
    assert {name for name, _, _ in BREAKS} == {check.name for check in CHECKS}


def plain(text: str) -> str:
    return f"You sent: {text}"


def test_rule_without_a_subject_is_reported_with_the_remedy() -> None:
    found = {
        name: finding for name, finding in _check(plain, failing=None).items() if finding.fit is not Fit.OK
    }
    assert {finding.fit for finding in found.values()} == {Fit.NOT_APPLICABLE}
    assert sorted(found) == ["errors", "pairing", "streaming"]
    assert "--failing TEXT" in found["errors"].evidence
    assert "--set FILE" in found["pairing"].evidence


async def _waits_for_ever(_text: str) -> str:
    await asyncio.Event().wait()
    return ""


def test_an_agent_that_never_answers_fails_in_time() -> None:
    found = _check(_waits_for_ever, "events", timeout=0.1)["events"]
    assert found.evidence == "turn 1 took more than 0.1 s"


def test_exception_of_an_agent_is_reported_with_its_turn() -> None:
    found = _check(Sound(), "pairing", messages=["Hello!", "fail"], failing=None)["pairing"]
    assert found.evidence == "ValueError: as told, in turn 2 ('fail')"


def test_an_agent_that_cannot_be_loaded_is_a_mistake_of_the_set_up() -> None:
    for agent in ("nowhere.py:agent", "cmd:no-such-program"):
        with pytest.raises(SetupError):
            _check(agent)
    with pytest.raises(SetupError, match=r"No check named 'evnets'\. Did you mean 'events'"):
        _check(plain, "evnets")


# --- the command -------------------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good_agent.py").write_text("def agent(text): return text\n")
    (tmp_path / "bad_agent.py").write_text("def agent(text): return {'tool_calls': [{'name': 'f'}]}\n")
    return tmp_path


@pytest.mark.slow
def test_the_command_shows_a_table_and_ends_with_0(project: Path) -> None:
    result = CliRunner().invoke(cli, ["agent", "check", "good_agent.py:agent"])
    assert result.exit_code == 0, result.output
    assert "ok              events          everything it yields is an event, and JSON\n" in result.stdout
    assert result.stdout.endswith("9 ok, 3 not applicable\n")


@pytest.mark.slow
def test_command_exits_with_1_for_a_broken_rule_and_shows_the_evidence(project: Path) -> None:
    result = CliRunner().invoke(cli, ["agent", "check", "bad_agent.py:agent"])
    assert result.exit_code == 1
    assert "failed          final-response  every turn has a final response\n" in result.stdout
    assert "turn 1 ('Hello!') has no final response: call of f\n" in result.stdout


def test_command_exits_with_2_without_an_agent(project: Path) -> None:
    for agent in ("nowhere.py:agent", "cmd:no-such-program"):
        result = CliRunner().invoke(cli, ["agent", "check", agent])
        assert result.exit_code == 2
        assert "error: The agent" in result.stderr


def test_the_command_talks_as_a_set_does(project: Path) -> None:
    turn = {"user_content": {"parts": [{"text": "Two apples"}]}}
    cases = {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [turn, turn]}]}
    (project / "s.evalset.json").write_text(json.dumps(cases))
    arguments = [
        "agent",
        "check",
        "bad_agent.py:agent",
        "--set",
        "s.evalset.json",
        "--only",
        "final-response",
        "--json",
    ]
    result = CliRunner().invoke(cli, arguments)
    (row,) = json.loads(result.stdout)["checks"]
    assert (row["check"], row["fit"]) == ("final-response", "failed")
    assert "('Two apples')" in row["evidence"]


# --- the suite ---------------------------------------------------------------------------------------------------------

SUITE = """
from proctor.conformance import AgentConformance

class TestMine(AgentConformance):
    agent = "{agent}"
    failing = "fail"

class TestAFunction(AgentConformance):
    def agent(text):
        return text

class AbstractConformance(AgentConformance):
    '''No test: its name does not begin like one.'''
"""


@pytest.mark.nightly(check=1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "code", "message"),
    [("good_agent.py:agent", 1, "errors"), ("bad_agent.py:agent", 1, "has no final response")],
)
def test_an_adapter_is_tested_by_a_subclass(agent: str, code: int, message: str, project: Path) -> None:
    (project / "test_mine.py").write_text(SUITE.format(agent=agent))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "test_mine.py"],
        cwd=project, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout
    assert message in done.stdout
    assert "TestAFunction" not in done.stdout.partition("short test summary")[2].replace("SKIPPED", "")
    assert "it called no tool" in done.stdout or agent.startswith("bad")
