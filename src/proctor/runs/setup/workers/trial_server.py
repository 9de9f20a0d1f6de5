"""The program of a worker: `python -m proctor.runs.setup.workers.trial_server`, started by `--on`.

It reads lines from its input: first a job (which agent, which limits) as JSON, then trials, each a number and JSON. It answers
with its facts, and with the number and the evidence of each trial. Output of the agent goes to standard error.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from proctor.agents.base import Agent, AgentInfo
from proctor.agents.import_user_code import set_import_path
from proctor.agents.load import describe_ref, imports_of, load_agent
from proctor.agents.process.line_reader import MOST_LINE
from proctor.agents.process.worker import Channel
from proctor.agents.process.worker_agent import PATH_VARIABLE, isolated_agent, json_value
from proctor.common import process_exit
from proctor.common.error_text import safe_str, traceback_text
from proctor.engine.execution.executor import fewer_collections
from proctor.engine.execution.user_messages import WorkerUsers
from proctor.engine.planning.plan import Plan
from proctor.engine.run_options import RunOptions
from proctor.engine.trial.agent_lifecycle import AgentLifecycle
from proctor.engine.trial.conversation import HOOKS, ConversationRecorder, Play
from proctor.engine.trial.deadlines import Deadlines, TimedSteps, TrialSlot
from proctor.engine.trial.trial_runner import abandoned_failure, limits_of
from proctor.errors import ProctorError, SetupError
from proctor.runs.setup.judge_and_user import load_function
from proctor.schema.evidence.trial import Failure, FailureKind, Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.format.config import EvalConfig
from proctor.schema.serialize import kept_json

_MOST_EVIDENCE = MOST_LINE // 4
"""Bytes of the evidence of one trial."""
CLOSE = b"close"
"""The line that ends a worker."""
OPTIONS = (
    "agent_name", "isolate", "isolate_memory", "timeout", "trial_timeout", "max_text", "max_events", "retry_errors",
)  # fmt: skip
"""The options of a run that a job has."""


Send = Callable[[bytes], None]


class TrialServer:
    """Runs trials of one agent."""

    def __init__(self, agent: Agent, options: RunOptions, info: AgentInfo | None) -> None:
        """Take the agent, loaded and open, and its description of itself."""
        self._options = options
        details = info.app_details if info else None
        self._recorder = ConversationRecorder(agent, limits_of(options), details)
        self._running: dict[int, _Running] = {}
        """The trials under way, by the key that their requests have."""
        limits = [limit for limit in (options.timeout, options.trial_timeout) if limit is not None]
        self.deadlines = Deadlines(min(limits, default=None), self._abandon)

    def receive(self, request: Mapping[str, Any], send: Send) -> None:
        """Start a trial, or hand it the reply to its question; `send` its evidence when it ends, or its next question.

        The evidence is also sent if the trial has missed its deadlines and does not end.
        """
        if (running := self._running.get(request["key"])) is not None:
            running.deliver_reply(request, send)
            return
        running = _Running(request, send)
        slot = running.slot
        self._running[request["key"]] = running
        self.deadlines.add(slot)
        slot.task = asyncio.get_running_loop().create_task(TimedSteps(self._run(running), slot))

    async def _run(self, running: _Running) -> None:
        process_exit.contain_exits()
        request, slot = running.request, running.slot
        case = EvalCase.model_validate_json(request["case"])
        where = request["eval_set_id"], request["number"]
        trial = await self._recorder.record(case, *where, slot, running, running.play(case))
        self.deadlines.remove(slot)
        if self._running.pop(request["key"], None) is not None:
            running.send(evidence_json(trial))

    def _abandon(self, slot: TrialSlot) -> None:
        for key, running in list(self._running.items()):
            if running.slot is slot:
                del self._running[key]
                running.give_up(self._options)


class _Running:
    """A trial under way; holds its evidence (see `EvidenceHolder`)."""

    def __init__(self, request: Mapping[str, Any], send: Send) -> None:
        self.request, self.send, self.slot = request, send, TrialSlot()
        self.trial: Trial | None = None
        self._reply: asyncio.Future[Mapping[str, Any]] | None = None

    def play(self, case: EvalCase) -> Play | None:
        """Return what makes the simulated users of a scenario: the head plays them."""
        if (user := self.request.get("user")) is None:
            return None
        settings = {"criteria": {}, "user_simulator_config": self.request["user_settings"]}
        return Play(WorkerUsers(user, self._request).play, case, EvalConfig.model_validate(settings))

    async def _request(self, question: bytes) -> Mapping[str, Any]:
        self._reply = asyncio.get_running_loop().create_future()
        self.send(question)
        return await self._reply

    def deliver_reply(self, reply: Mapping[str, Any], send: Send) -> None:
        """Hand the reply to the simulated user that waits for it."""
        self.send = send
        if self._reply is not None and not self._reply.done():
            self._reply.set_result(reply)

    def give_up(self, options: RunOptions) -> None:
        """Send what the trial has recorded, with the failure that it ignored its cancellation."""
        request = self.request
        eval_id = json.loads(request["case"])["eval_id"]
        trial = (
            Trial(eval_set_id=request["eval_set_id"], eval_id=eval_id, number=request["number"])
            if self.trial is None
            else self.trial.model_copy(deep=True)
        )
        abandoned_failure(trial, self.slot, options)
        self.send(evidence_json(trial))


# --- The facts of a worker ---------------------------------------------------------------------------------------------


def code_facts(reference: str) -> dict[str, Any]:
    """Return the hashes of the agent's code, which must be equal in this process and all workers."""
    from proctor.runs.setup.manifest import agent_manifest

    manifest = agent_manifest(reference, describe_ref(reference))
    return {"source_hash": manifest.source_hash, "modules": manifest.modules}


# --- The program -------------------------------------------------------------------------------------------------------


async def serve(channel: Channel) -> int:
    """Open the agent of the job and run trials until the input ends; returns the exit code."""
    from proctor.runs.setup.manifest import versions

    await channel.connect()
    job = await channel.receive()
    if job is None:
        return 0
    reference = str(job["agent"])
    with imports_of(reference):
        try:
            _check_environment(job["env"])
            options, code = _options(job), code_facts(reference)
            agent = _load(reference, options)
            lifecycle = AgentLifecycle(agent, describe_ref(reference), options.timeout)
            info = await lifecycle.open(Plan([], 1))
        except ProctorError as error:
            channel.send({"error": str(error)})
            return 2
        info_json = None if info is None else json_value(asdict(info))
        channel.send({"facts": {**code, "versions": versions(), "info": info_json}})
        await _run_trials(channel, TrialServer(agent, options, info))
        await lifecycle.close()
    return 0


async def _run_trials(channel: Channel, server: TrialServer) -> None:
    process_exit.install_task_factory(asyncio.get_running_loop())
    with fewer_collections(), server.deadlines:
        while (line := await channel.receive_line()) is not None and line != CLOSE:
            number, _, request = line.partition(b" ")
            server.receive(json.loads(request), partial(_send, channel, number))


def _send(channel: Channel, number: bytes, answer: bytes) -> None:
    channel.send_line(number + b" " + answer)


def evidence_json(trial: Trial) -> bytes:
    """Return the evidence of a trial, or of an error if it is too large."""
    evidence = kept_json(trial)
    if len(evidence) > _MOST_EVIDENCE:
        message = (
            f"the evidence of the trial has {len(evidence):,} bytes, and a worker may return {_MOST_EVIDENCE:,}: "
            "give a smaller --max-text (`max_text`), or run it without --on"
        )
        failure = Failure(where="agent", kind=FailureKind.UNUSABLE_ANSWER, message=message)
        kept = Trial(
            eval_set_id=trial.eval_set_id, eval_id=trial.eval_id, number=trial.number, failure=failure
        )
        evidence = kept_json(kept)
    return evidence


def _check_environment(names: Sequence[str]) -> None:
    if missing := [name for name in names if not os.environ.get(name)]:
        raise SetupError(f"the environment of the worker lacks {', '.join(missing)} (--env)")


def _options(job: Mapping[str, Any]) -> RunOptions:
    hooks: dict[str, Any] = {name: load_function(job[name], name) for name in HOOKS if job.get(name)}
    return RunOptions(**{name: job[name] for name in OPTIONS}, **hooks)


def _load(reference: str, options: RunOptions) -> Agent:
    try:
        if options.isolate or options.isolate_memory is not None:
            os.environ.pop(PATH_VARIABLE, None)  # its own workers set it again
            return isolated_agent(reference, agent_name=options.agent_name, memory=options.isolate_memory)
        return load_agent(reference, agent_name=options.agent_name)
    except ProctorError:
        raise
    except BaseException as error:
        raise SetupError(f"{safe_str(error)}\n{traceback_text(error)}") from error


def main() -> int:
    """Run a worker; returns its exit code."""
    channel = Channel()
    set_import_path(json.loads(os.environ.get(PATH_VARIABLE, "null")) or [str(Path.cwd()), *sys.path[1:]])
    return asyncio.run(serve(channel))


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        code = main()
        sys.stdout.flush()
        os._exit(code)  # remaining threads of the agent must not delay the end
