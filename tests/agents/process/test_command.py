"""`cmd:`: a program in any language that speaks JSON lines; its failures are distinguished, and no process is left."""

import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import proctor
from proctor.agents.load import load_agent
from proctor.errors import AgentLoadError, SetupError
from proctor.schema.evidence.trial import FailureKind
from tests.agents.process.conftest import (
    CRITERIA,
    Pids,
    eval_set,
    failure_of,
    run,
    texts_of,
    times,
    trial_of,
    wait_until,
)

LOOP = """
import json, sys, time, signal
def say(**fields): print(json.dumps(fields), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] != "turn": continue
"""
ECHO = LOOP + "    say(text='ok'); say(type='done')\n"

Program = Callable[..., str]


@pytest.fixture
def page(root: Path, tmp_path: Path) -> Path:
    """A folder with the files that docs/reference/agent-protocol.md shows."""
    text = (root / "docs/reference/agent-protocol.md").read_text()
    for name, body in re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        (tmp_path / name).write_text(body)
    return tmp_path


def _ten_lines(text: str) -> bool:
    return len([line for line in text.splitlines() if line.strip()]) <= 10


def test_the_client_of_the_page_in_python_is_an_agent_in_ten_lines(page: Path) -> None:
    file = page / "echo_agent.py"
    assert _ten_lines(file.read_text())
    result = run(f"cmd:{sys.executable} {file}", ["one", "two"], ["three"])
    assert [texts_of(result, case) for case in (0, 1)] == [
        ["You said: one", "You said: two"],
        ["You said: three"],
    ]


@pytest.mark.slow
def test_the_client_of_the_page_in_javascript_is_an_agent_in_ten_lines(page: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: its package, or the one of nodejs.org, brings it")
    file = page / "echo_agent.mjs"
    assert _ten_lines(file.read_text())
    result = run(f"cmd:{node} {file}", ["one", "two"], ["three"])
    assert [texts_of(result, case) for case in (0, 1)] == [
        ["You said: one", "You said: two"],
        ["You said: three"],
    ]


def test_everything_that_an_answer_may_have_is_evidence(program: Program) -> None:
    agent = program(
        LOOP
        + """
    say(tool_calls=[{"name": "f", "args": {"a": request["turn"]}, "id": "1", "response": {"b": 2}}], author="units")
    say(state_delta={"n": request["session"]["state"]["n"] + 1})
    say(text="o", usage_metadata={"total_token_count": 7}, model_version="m-1"); say(text="ok")
    say(type="done", durations={"model": 0.25, "tool": 0.5}, app_details={"agent_details": {}})
"""
    )
    result = run(agent, ["one", "two"], state={"n": 1})
    trial = trial_of(result)
    assert result.passed
    assert trial.final_state == {"n": 3}
    (call, gave, changed, answer, _), second = trial.turns[0].events, trial.turns[1].events
    assert (call.author, gave.author, changed.state_delta) == ("units", "units", {"n": 2})
    assert answer.usage_metadata is not None
    assert (answer.usage_metadata.total_token_count, answer.model_version) == (7, "m-1")
    assert (trial.turns[0].model_duration, trial.turns[0].tool_duration) == (0.25, 0.5)
    assert trial.turns[0].app_details == {"agent_details": {}}
    assert second[1].state_delta is None
    assert second[2].state_delta == {"n": 3}


def test_program_gets_the_session_and_the_start_and_end_of_a_conversation(
    program: Program, tmp_path: Path
) -> None:
    agent = program(
        """
import json, sys
for line in sys.stdin:
    with open("heard.jsonl", "a") as file: file.write(line)
    if json.loads(line)["type"] == "turn": print('{"text": "ok"}'); print('{"type": "done", "state": {"k": 2}}')
"""
    ).replace(str(tmp_path) + "/", "")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        result = run(agent, ["hi", "again"], state={"k": 1})
    import json

    heard = [json.loads(line) for line in (tmp_path / "heard.jsonl").read_text().splitlines()]
    assert [one["type"] for one in heard] == ["begin", "turn", "turn", "end"]
    assert [one["session"]["state"] for one in heard] == [{"k": 1}, {"k": 1}, {"k": 2}, {"k": 2}]
    assert {one["session"]["id"] for one in heard} == {trial_of(result).session_id}
    assert {(one["session"]["app_name"], one["session"]["user_id"]) for one in heard} == {("shop", "ann")}
    assert [one["turn"] for one in heard[1:3]] == [0, 1]
    assert trial_of(result).final_state == {"k": 2}


def test_a_python_program_need_not_flush(program: Program) -> None:
    assert run(
        program(LOOP.replace(", flush=True", "") + "    say(text='ok'); say(type='done')\n"), ["hi"]
    ).passed


@pytest.mark.nightly(check=1)
@pytest.mark.slow  # it waits
@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        pytest.param("print('I am not JSON')", FailureKind.BROKE_CONTRACT,
                     r"is not JSON .*: str 'I am not JSON'\. Its standard output belongs to the protocol", id="garbage"),
        pytest.param("say(txt='hi')", FailureKind.BROKE_CONTRACT, "a dict that has str 'txt'", id="no answer"),
        pytest.param("say(type='finished')", FailureKind.BROKE_CONTRACT, "unknown type str 'finished'", id="unknown type"),
        pytest.param("say(text='x' * 2**26)", FailureKind.BROKE_CONTRACT, "a line of more than 33,554,432 bytes: ",
                     id="endless line"),
        pytest.param("say(type='error', code='E1', message='no stock')", FailureKind.RAISED, "no stock", id="its own error"),
        pytest.param("sys.exit(4)", FailureKind.CRASHED, r"ended \(exit code 4\) before its answer was done", id="exits"),
        pytest.param("say(text='ok'); sys.exit(0)", FailureKind.CRASHED, r"ended \(exit code 0\) before its answer",
                     id="exits before done"),
        pytest.param("1 / 0", FailureKind.CRASHED, r"exit code 1\)(.|\n)*ZeroDivisionError: division by zero", id="raises"),
        pytest.param("os.kill(os.getpid(), signal.SIGSEGV)", FailureKind.CRASHED, r"crashed \(SIGSEGV\)", id="crashes"),
        pytest.param("sys.stdout.write('{\"text\": \"o'); sys.stdout.flush(); sys.exit(1)", FailureKind.CRASHED,
                     r"""in the middle of str '{"text": "o' before""", id="half a line"),
        pytest.param("sys.stdout.close(); os.close(1); time.sleep(60)", FailureKind.TRUNCATED,
                     "closed its standard output before its answer was done", id="closes its output"),
        pytest.param("time.sleep(60)", FailureKind.TIMED_OUT, r"no answer within the time of one turn \(2 s\)", id="silent"),
        pytest.param("say(text='ok'); time.sleep(60)", FailureKind.TIMED_OUT, "no answer within", id="never done"),
        pytest.param("[signal.signal(n, signal.SIG_IGN) for n in (2, 15)]\n    while True: pass", FailureKind.TIMED_OUT,
                     "no answer within", id="busy and deaf"),
        pytest.param("\n    while True: say(text='x')", FailureKind.BROKE_CONTRACT, "more than 10000 events",
                     id="endless answers"),
        pytest.param("say(text='ok'); say(type='done', state=7)", FailureKind.BROKE_CONTRACT, "'state' of the agent's done",
                     id="bad state"),
    ],
)  # fmt: skip
@times(1)
def test_fault_of_a_program_is_reported_and_the_next_case_has_a_fresh_one(
    body: str, kind: FailureKind, message: str, times: int, program: Program, pids: Pids
) -> None:
    """[17-20]"""
    for _ in range(times):
        _does_wrong(body, kind, message, program, pids)


def _does_wrong(body: str, kind: FailureKind, message: str, program: Program, pids: Pids) -> None:
    before = len(pids())
    wrong = f"    if request['text'] == 'wrong':\n        {body.replace(chr(10), chr(10) + '    ')}\n        continue\n"
    result = run(
        program(LOOP + wrong + "    say(text='ok'); say(type='done')\n"),
        ["wrong"],
        ["right"],
        timeout=2 if kind is FailureKind.TIMED_OUT else 30,
        concurrency=1,
    )
    failure = failure_of(result)
    assert (failure.kind, failure.where, failure.turn) == (kind, "agent", 0)
    assert re.search(message, failure.message), failure.message
    assert result.cases[1].passed
    assert pids.left() == []
    assert len(pids()) - before == (1 if kind is FailureKind.RAISED else 2)


def test_its_last_words_are_those_of_this_conversation(program: Program) -> None:
    agent = program(LOOP + "    print('heard', request['text'], file=sys.stderr)\n    if request['text'] == 'b': sys.exit(1)\n"
                    "    say(text='ok'); say(type='done')\n")  # fmt: skip
    message = failure_of(run(agent, ["a"], ["b"], concurrency=1), 1).message
    assert message.endswith("its standard error ends with:\nheard b")


def test_a_crash_in_the_second_turn_keeps_the_first(program: Program) -> None:
    result = run(
        program(LOOP + "    if request['turn']: 1 / 0\n    say(text='ok'); say(type='done')\n"),
        ["one", "two"],
    )
    assert failure_of(result).turn == 1
    assert texts_of(result) == ["ok"]


@pytest.mark.slow
def test_a_process_has_one_conversation_at_a_time_and_then_the_next(program: Program, pids: Pids) -> None:
    slow = program(LOOP + "    time.sleep(0.05)\n    say(text=str(os.getpid()), state_delta={'id': request['session']['id']})\n"
                   "    say(type='done')\n")  # fmt: skip
    result = run(slow, *[["a", "b", "c"]] * 12, concurrency=3)
    spoke = [texts_of(result, case) for case in range(12)]
    assert all(len(set(one)) == 1 for one in spoke)
    assert len({one[0] for one in spoke}) == len(pids()) == 3


@pytest.mark.slow
@times(1)
def test_no_conversation_sees_another(times: int, program: Program) -> None:
    """[22] 200 conversations of two turns, 20 at a time, each with an id in its state."""
    agent = program(
        LOOP + "    say(text=request['text'] + ' ' + request['session']['state']['id']); say(type='done')\n"
    )
    for _ in range(times):
        cases = eval_set(*[["who", "again"]] * 200)
        for number, case in enumerate(cases["eval_cases"]):
            case["session_input"]["state"] = {"id": f"<{number}>"}
        result = proctor.evaluate_sync(agent, cases, config=CRITERIA, concurrency=20)
        assert not result.passed
        texts = [texts_of(result, case) for case in range(200)]
        assert texts == [[f"who <{number}>", f"again <{number}>"] for number in range(200)]


# --- set-up ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "message"),
    [
        pytest.param("", "cmd: names no command; write cmd:COMMAND", id="none"),
        pytest.param("python 'agent.py", "cannot be read: No closing quotation", id="quotes"),
    ],
)
def test_a_command_that_cannot_be_read_is_a_mistake_of_the_set_up(command: str, message: str) -> None:
    with pytest.raises(AgentLoadError, match=message):
        load_agent(f"cmd:{command}")


@pytest.mark.parametrize(
    ("text", "within", "message"),
    [
        pytest.param("import sys; print('no key', file=sys.stderr); sys.exit(3)", 60,
                     r"ended \(exit code 3\) before it was asked anything\nits standard error ends with:\nno key", id="exits at once"),
        pytest.param("print('Welcome!', flush=True)\nimport time; time.sleep(60)", 4,
                     "wrote str 'Welcome!' before it was asked anything. Its standard output belongs", id="banner", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_a_program_that_does_not_start_is_a_mistake_of_the_set_up(
    text: str, within: float, message: str, program: Program, pids: Pids, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a busy machine takes its time to start Python
    monkeypatch.setattr("proctor.agents.process.process_agent._AT_ONCE", within)
    with pytest.raises(SetupError, match=message):
        run(program(text), ["hi"])
    assert pids.left() == []


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("no-such-program --x", "the program 'no-such-program' does not exist"),
        ("./agent.py", r"Name what runs it \(cmd:python ./agent.py\)"),
    ],
)
def test_a_program_that_is_not_there_is_a_mistake_of_the_set_up(
    command: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent.py").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SetupError, match=message):
        run(f"cmd:{command}", ["hi"])


# --- nothing is left -------------------------------------------------------------------------------------------------

CHILD = """
import subprocess
started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
pathlib.Path(PIDS, str(started.pid)).touch()
"""


@pytest.mark.nightly(check=1)
@pytest.mark.slow  # waits for processes to end
@pytest.mark.parametrize("text", ["right", "crash", "hang"])
def test_what_a_program_started_ends_with_it(text: str, program: Program, pids: Pids) -> None:
    started = "import sys\n" + CHILD.replace("PIDS", repr(str(pids.folder)))
    wrong = (
        "    if request['text'] == 'crash': os._exit(1)\n    if request['text'] == 'hang': time.sleep(60)\n"
    )
    result = run(
        program(started + LOOP + wrong + "    say(text='ok'); say(type='done')\n"),
        [text],
        timeout=3 if text == "hang" else 30,
    )
    kinds = {"crash": FailureKind.CRASHED, "hang": FailureKind.TIMED_OUT}
    assert result.passed if text == "right" else failure_of(result).kind is kinds[text]
    assert len(pids()) == 2
    assert pids.left() == []


@pytest.mark.slow
def test_deadline_ends_a_turn_on_time_for_any_program(program: Program) -> None:
    deaf = program(LOOP + "    signal.signal(15, signal.SIG_IGN)\n    while True: pass\n")
    result = run(deaf, *[["hi"]] * 2, timeout=1)
    assert not result.passed
    for case in (0, 1):
        assert failure_of(result, case).kind is FailureKind.TIMED_OUT
        assert 1 <= (trial_of(result, case).turns[0].duration or 0) < 20


def test_an_idle_program_is_given_time_to_end(
    program: Program, tmp_path: Path, pids: Pids, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "proctor.agents.process.process_agent._PATIENCE", 60.0
    )  # it ends by itself, and needs no more
    assert run(program(ECHO + f"\npathlib.Path({str(tmp_path / 'bye')!r}).touch()\n"), ["hi"]).passed
    assert (tmp_path / "bye").exists()
    assert pids.left() == []


def test_a_program_that_stays_when_its_input_ends_is_killed(program: Program, pids: Pids) -> None:
    assert run(program(ECHO + "\nsignal.signal(15, signal.SIG_IGN); time.sleep(60)\n"), ["hi"]).passed
    assert pids.left() == []


def test_a_run_that_is_cancelled_leaves_nothing(program: Program, pids: Pids) -> None:
    import asyncio

    async def cancel() -> None:
        agent = program(LOOP + "    time.sleep(60)\n")
        task = asyncio.create_task(proctor.evaluate(agent, eval_set(["hi"]), config=CRITERIA))
        await asyncio.to_thread(wait_until, lambda: bool(pids()))
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert pids.left() == []
