"""`--isolate`: the evidence of a run in workers equals that of a run in this process, for any agent."""

import asyncio
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.agents import builtin
from proctor.agents.base import Session
from proctor.agents.process.worker_agent import IsolatedAgent, isolated_agent, reference_of
from proctor.errors import AgentLoadError, SetupError
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.results.run_result import RunResult
from tests.agents.process import agents_to_isolate
from tests.agents.process.conftest import failure_of, run, texts_of, trial_of

pytestmark = pytest.mark.slow  # worker processes

AGENTS = str(Path(agents_to_isolate.__file__))


def _comparable(trial: Trial) -> dict[str, Any]:
    """A trial but for times and ids; of a traceback, which goes through other frames, its last lines."""
    data = trial.model_dump(mode="json", exclude_none=True, exclude={"session_id", "started_at", "duration"})
    for turn in data["turns"]:
        del turn["started_at"]
        turn.pop("duration", None)
    if traceback := (data.get("failure") or {}).get("traceback"):
        data["failure"]["traceback"] = traceback.strip().splitlines()[-2:]
    return data


def _both(agent: str, *conversations: list[str], **options: Any) -> tuple[RunResult, RunResult]:
    return tuple(
        run(f"{AGENTS}:{agent}", *conversations, isolate=isolate, **options) for isolate in (False, True)
    )  # type: ignore[return-value]  # one run for each of two


def _same(here: RunResult, there: RunResult) -> None:
    for one, other in zip(here.cases, there.cases, strict=True):
        trials = [case.trials[0].trial for case in (one, other)]
        assert trials[0] is not None
        assert trials[1] is not None
        assert _comparable(trials[1]) == _comparable(trials[0])
        assert (other.outcome, other.reason.partition("0x")[0]) == (
            one.outcome,
            one.reason.partition("0x")[0],
        )
        assert _scores(other) == _scores(one)


def _scores(case: proctor.CaseResult) -> dict[str, float | None]:
    return {name: metric.score for name, metric in case.metrics.items() if "duration" not in name}


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("agent", ["plain", "waits", "yields", "odd", "get_agent_async", "whole"])
def test_the_evidence_is_that_of_a_run_in_this_process(agent: str) -> None:
    here, there = _both(agent, ["hello", "wörld"], ["again"], state={"k": {"n": 1}})
    _same(here, there)
    assert len(trial_of(there).turns) == (1 if agent == "odd" else 2)


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    "how", ["value", "exit", "interrupt", "cancelled", "group", "hostile", "rate", "refused"]
)
def test_what_an_agent_raises_is_the_same_failure(how: str) -> None:
    here, there = _both("raises", [how])
    _same(here, there)
    assert failure_of(there).infrastructure == (how in {"rate", "refused"})
    here, there = _both("raises_late", [how])
    _same(here, there)
    assert texts_of(there) == ["so far so good"]


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("how", ["exit", "interrupt"])
def test_exit_in_a_task_of_the_agent_is_the_same_failure(how: str) -> None:
    here, there = _both("raises_in_a_task", [how])
    _same(here, there)
    assert failure_of(there).type in {"SystemExit", "KeyboardInterrupt"}


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("what", ["none", "bytes", "object", "unknown", "circle", "number", "list"])
def test_invalid_answer_is_the_same_failure(what: str) -> None:
    here, there = _both("garbage", [what])
    causes = [re.sub("0x[0-9a-f]+", "0x", failure_of(result).cause) for result in (here, there)]
    assert causes[0] == causes[1]


def test_value_outside_json_is_the_same_failure() -> None:
    here, there = _both("not_json", ["hi"])
    causes = [re.sub("0x[0-9a-f]+", "0x", failure_of(result).cause) for result in (here, there)]
    assert causes[0] == causes[1]
    assert "value is not JSON" in causes[1]


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("fail", ["end", "state", "list"])
def test_a_method_that_fails_is_the_same_failure(fail: str) -> None:
    here, there = _both("whole", ["hi"], state={"fail": fail})
    _same(here, there)
    assert failure_of(there).where == "agent"


def test_a_conversation_begins_in_the_process_that_was_taken_for_it(tmp_path: Path) -> None:
    """A run takes it in time that is not the agent's: loading an agent may take longer than one turn may."""
    (tmp_path / "notes.py").write_text(
        "import os, pathlib\n"
        f"pathlib.Path({str(tmp_path)!r}, f'pid_{{os.getpid()}}').touch()\n"
        "def agent(text):\n    return 'ok'\n"
    )

    def started() -> int:
        return len(list(tmp_path.glob("pid_*")))

    async def begun(takes: bool) -> int:
        agent = IsolatedAgent(f"{tmp_path / 'notes.py'}:agent")
        session = Session("s", "app", "user")
        try:
            if takes:
                await agent.take_process(session)
            before = started()
            await agent.begin(session, EvalCase(eval_id="c", conversation=[]))
            await agent.end(session)
            return started() - before
        finally:
            await agent.close()

    assert asyncio.run(begun(takes=True)) == 0
    assert asyncio.run(begun(takes=False)) == 1  # as in a recording, without an earlier request


def test_the_agent_is_closed_in_its_worker_which_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTE_OF_CLOSE", str(tmp_path / "closed"))
    assert trial_of(run(f"{AGENTS}:whole", ["hi"], isolate=True)).failure is None
    assert (tmp_path / "closed").exists()


def test_what_an_agent_raises_when_it_is_closed_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIL_AT_CLOSE", "1")
    for isolate in (False, True):
        warnings = run(f"{AGENTS}:whole", ["hi"], isolate=isolate).warnings
        assert [one for one in warnings if one.startswith("closing the agent raised") and "no close" in one]


def test_a_failed_trial_may_be_tried_again_in_a_worker() -> None:
    result = run(f"{AGENTS}:raises", ["rate"], isolate=True, retry_errors=2)
    assert len(trial_of(result).attempts) == 2
    assert failure_of(result).type == "RateLimitError"


def test_the_replay_agent_knows_its_case_in_a_worker() -> None:
    assert run("replay", ["a", "b"], isolate=True).passed
    assert not run("replay:other-text", ["a"], isolate=True).passed


SAMPLES = ["dice", "home_automation", "city_guide", "travel"]


@pytest.mark.nightly(check=1)
@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES)
def test_the_sample_agents_have_the_same_evidence(
    sample: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root / "examples")
    sets = sorted(str(file) for file in Path(sample).rglob("*.evalset.*"))
    assert sets
    judged: dict[str, Any] = {"judge": "scripted:city_guide/judge.json"} if sample == "city_guide" else {}
    here, there = (
        proctor.evaluate_sync(sample, sets, isolate=isolate, concurrency=4, **judged)
        for isolate in (False, True)
    )
    _same(here, there)
    assert here.outcome == there.outcome


# --- what can be isolated ----------------------------------------------------------------------------------------------


def test_a_function_or_a_module_is_found_again_by_its_name() -> None:
    name = agents_to_isolate.__name__
    assert reference_of(agents_to_isolate.plain) == f"{name}:plain"
    assert reference_of(agents_to_isolate) == name
    assert reference_of(Path("a/b.py")) == "a/b.py"


def test_an_object_that_a_module_is_run_as_is_found_by_its_file(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import proctor\n"
        "def agent(text): return 'ok'\n"
        "turn = {'user_content': {'parts': [{'text': 'hi'}]}, 'final_response': {'parts': [{'text': 'ok'}]}}\n"
        "cases = {'eval_set_id': 's', 'eval_cases': [{'eval_id': 'a', 'conversation': [turn]}]}\n"
        "RUN = \"print(proctor.evaluate_sync(agent, cases, isolate=True, config={'criteria': {'response_match_score': 1.0}}).passed)\"\n"
    )  # fmt: skip
    import subprocess

    guarded = tmp_path / "guarded.py"
    guarded.write_text(script.read_text() + "if __name__ == '__main__': exec(RUN)\n")
    bare = tmp_path / "bare.py"
    bare.write_text(script.read_text() + "exec(RUN)\n")
    good, bad = (
        subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
        for file in (guarded, bare)
    )
    assert good.stdout == "True\n", good.stderr
    assert "put that under: if __name__ == '__main__'" in bad.stderr


def test_an_object_that_no_string_names_is_a_mistake_of_the_set_up() -> None:
    def local(text: str) -> str:
        return text

    for agent in (local, lambda text: text, agents_to_isolate.NotJson()):
        with pytest.raises(
            SetupError, match=r"no other one can load.*Name it instead: package\.module:attribute"
        ):
            run(agent, ["hi"], isolate=True)


ELSEWHERE = {
    "cmd": "true",
    "http": "//h",
    "https": "//h",
    **dict.fromkeys(("http+sse", "a2a+http", "adk+http"), "http://h/app"),
    "openai+http": "http://h/v1?model=m",
}


@pytest.mark.parametrize("kind", sorted({*builtin.AGENTS} - {"replay"}))
def test_what_is_elsewhere_already_is_left_there(kind: str) -> None:
    assert not isinstance(isolated_agent(f"{kind}:{ELSEWHERE[kind]}"), IsolatedAgent)


def test_what_is_here_is_isolated() -> None:
    assert isinstance(isolated_agent("replay"), IsolatedAgent)


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (f"{AGENTS}:plian", "has no 'plian'. Did you mean 'plain'"),
        ("nowhere.py:agent", "no file or folder nowhere.py"),
        (f"{AGENTS}:KEPT", "expected an AGENT string"),
    ],
)
def test_load_error_of_an_agent_is_the_same_with_and_without_workers(agent: str, message: str) -> None:
    for isolate in (False, True):
        with pytest.raises(SetupError, match=re.escape(message)):
            run(agent, ["hi"], isolate=isolate)


def test_a_module_that_ends_its_process_is_a_mistake_of_the_set_up(tmp_path: Path) -> None:
    (tmp_path / "gone.py").write_text("import os, sys\nprint('bye', file=sys.stderr)\nos._exit(5)\n")
    with pytest.raises(SetupError, match=r"ended \(exit code 5\) before(.|\n)*bye"):
        run(f"{tmp_path / 'gone.py'}:agent", ["hi"], isolate=True)


def test_a_sub_agent_is_picked_in_the_worker() -> None:
    with pytest.raises(SetupError, match="has no sub-agent 'x'"):
        run(f"{AGENTS}:plain", ["hi"], isolate=True, agent_name="x")


@pytest.mark.parametrize("size", ["much", "10", "-2GB", 7, True, 1.5])
def test_invalid_memory_size_is_a_configuration_error(size: Any) -> None:
    with pytest.raises(SetupError, match="expected a size of at least 64MB, such as 512MB or 2GB"):
        run(f"{AGENTS}:plain", ["hi"], isolate_memory=size)


def test_an_agent_written_in_an_interpreter_has_no_file() -> None:
    module = types.ModuleType("__main__")
    exec("def agent(text): return text", module.__dict__)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", module)
        with pytest.raises(AgentLoadError, match="no other one can load"):
            reference_of(module.agent)
