"""`--isolate`: Python agents in worker processes, which contain harmful effects: blocking code, crashes, memory."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from collections.abc import Mapping
from inspect import getsourcefile
from pathlib import Path
from types import ModuleType, NoneType

from pydantic import BaseModel, TypeAdapter

from proctor import errors
from proctor.agents import json_protocol
from proctor.agents.base import Agent, AgentInfo, Session
from proctor.agents.load import agent_folder, describe_ref, load_agent, read_env_file
from proctor.agents.process.child_process import Child, Guardian
from proctor.agents.process.process_agent import MEMORY, ProcessAgent, ProcessConversation
from proctor.agents.reference import read_reference
from proctor.common.error_text import safe_repr, safe_str, traceback_text
from proctor.common.infrastructure_errors import is_infrastructure
from proctor.common.json_values import Json, JsonObject
from proctor.common.limits import MAX_DEPTH
from proctor.common.option_kinds import EXPECTED_SIZE, read_size, size_text
from proctor.errors import AgentCrashedError, AgentError, AgentLoadError, AgentRaisedError
from proctor.schema.evidence.event import Event
from proctor.schema.format.case import EvalCase

PATH_VARIABLE = "PROCTOR_WORKER_PATH"
"""Passes the parent's `sys.path` to a worker, as JSON. If it is set, this process is a worker."""

_PATIENCE = 120.0
"""Seconds that a worker may take to load its agent."""

_CLOSING = 10.0
"""Seconds that an agent may take to close."""

_LEFT_ALONE = ("cmd", "http", "https", "http+sse", "adk+http", "a2a+http", "openai+http")
"""Prefixes of agents that are elsewhere already."""


def isolated_agent(ref: object, *, agent_name: str | None = None, memory: str | int | None = None) -> Agent:
    """Return the agent as one that workers run; an agent in another process or on a server stays as it is.

    `ref` is an AGENT string or a path, or an object that has one: a module, or a function or another attribute of a
    module that has a name there. `memory` is the limit of each worker (`2GB`).

    Raises:
        AgentLoadError: no AGENT string names it, so no other process could load it; or `memory` is not a valid size.
    """
    most = None if memory is None else read_size(memory)
    if memory is not None and most is None:
        raise AgentLoadError(f"isolate_memory is {safe_repr(memory)}; expected {EXPECTED_SIZE}.")
    text = reference_of(ref)
    if read_reference(text).plugin in _LEFT_ALONE:
        return load_agent(text, agent_name=agent_name)
    if PATH_VARIABLE in os.environ:
        raise AgentLoadError(
            f"The agent {describe_ref(ref)} is loaded in a worker, and its module starts a run when it is "
            "imported; put that under: if __name__ == '__main__'."
        )
    folder = agent_folder(text)
    if folder is not None:
        read_env_file(folder)  # for judges and metrics, which run in this process
    return IsolatedAgent(text, agent_name=agent_name, memory=most)


def reference_of(ref: object) -> str:
    """Return the AGENT string by which another process finds `ref`.

    Raises:
        AgentLoadError: there is none.
    """
    if isinstance(ref, str | Path):
        return str(ref)
    if isinstance(ref, ModuleType):
        return ref.__name__ if ref.__name__ != "__main__" else str(ref.__file__)
    module = sys.modules.get(getattr(ref, "__module__", None) or "")
    name = getattr(ref, "__qualname__", "")
    if module is not None and name and _attribute(module, name) is ref:
        attribute = _named_in(module, name)
        if attribute:
            return attribute
    raise AgentLoadError(
        f"The agent {describe_ref(ref)} is {safe_repr(ref)}: an object of this process, which no other one can load. "
        "Name it instead: package.module:attribute, path/to/agent.py:attribute, or a function at the top of a module."
    )


def _attribute(module: ModuleType, name: str) -> object:
    owner: object = module
    for step in name.split("."):
        owner = getattr(owner, step, None)
    return owner


def _named_in(module: ModuleType, name: str) -> str:
    """Return `module:name`, by its file if that is the main program."""
    if module.__name__ != "__main__":
        return f"{module.__name__}:{name}"
    file = getsourcefile(module) if getattr(module, "__file__", None) else None
    return f"{Path(file).resolve()}:{name}" if file else ""


class IsolatedAgent(ProcessAgent):
    """A Python agent that is loaded in workers only: nothing of it runs in this process.

    State that a trial leaves in its worker (folder, environment, signal handlers …) is reset before the next one;
    a worker that cannot be reset is replaced.
    """

    def __init__(self, reference: str, *, agent_name: str | None = None, memory: int | None = None) -> None:
        """Take the AGENT string, the sub-agent to pick, and the bytes that each worker may have."""
        super().__init__()
        self._reference, self._agent_name, self._memory = reference, agent_name, memory
        self._name = f"the worker of {describe_ref(reference)}"
        self._info: AgentInfo | None = None
        self._begins = False

    def describe(self) -> AgentInfo | None:
        """Return the description of the agent; known after `open`."""
        return self._info

    async def close(self) -> None:
        """Have every worker close its agent, and end them all.

        Raises:
            AgentError: an agent raised when it was closed.
        """
        try:
            async with asyncio.timeout(_CLOSING):
                await asyncio.gather(
                    *(self._send_request(child, {"type": "close"}) for child in self._pool.idle)
                )
        except TimeoutError:
            raise AgentError(f"{self._name} did not close it within {_CLOSING:g} s, and was killed") from None
        finally:
            await super().close()

    async def final_state(self, session: Session) -> Json:
        """Return the session's state as the agent's worker has it."""
        conversation: ProcessConversation | None = session.memory.get(MEMORY)
        if conversation is None:
            return session.state
        reply = await self._send_request(conversation.child, {"type": "final_state"})
        state = reply.get("final_state", {})
        if isinstance(state, dict):
            session.state = state
        return state

    async def _start(self, guardian: Guardian) -> Child:
        environment = {"PYTHONUNBUFFERED": "1", **os.environ, PATH_VARIABLE: json.dumps(sys.path)}
        child = await Child.start(self._command(), guardian, name=self._name, env=environment)
        try:
            received = await asyncio.wait_for(child.receive(), _PATIENCE)
        except TimeoutError:
            child.kill()
            raise AgentLoadError(f"{self._name} has not loaded it within {_PATIENCE:g} s.") from None
        except AgentError as error:
            child.kill()
            raise AgentLoadError(f"{error}{self._memory_hint()}") from error
        except BaseException:
            child.kill()
            raise
        ready = received if isinstance(received, dict) else {}
        if ready.get("type") != "ready":
            child.kill()
            raise AgentLoadError(
                f"{ready.get('message')}{self._memory_hint() if ready.get('memory') else ''}"
            )
        self._begins = bool(ready["begins"])
        info = ready["info"]
        self._info = None if info is None else TypeAdapter(AgentInfo).validate_python(info)
        return child

    def _command(self) -> list[str]:
        command = [sys.executable, "-P", "-m", "proctor.agents.process.worker", self._reference]
        if self._agent_name is not None:
            command += ["--agent-name", self._agent_name]
        if self._memory is not None:
            command += ["--memory", str(self._memory)]
        return command

    def _memory_hint(self) -> str:
        return "" if self._memory is None else f" (its memory is limited to {size_text(self._memory)})"

    async def _begin(
        self, conversation: ProcessConversation, session: Session, case: EvalCase | None
    ) -> None:
        request = json_protocol.notice("begin", session)
        if self._begins and case is not None:
            request["case"] = case.model_dump(mode="json", exclude_none=True)
        await self._send_request(conversation.child, request)

    async def _end(self, child: Child, session: Session) -> None:
        reply = await self._send_request(child, json_protocol.notice("end", session))
        child.is_busy = not reply.get("is_clean", False)  # it is replaced

    async def _send_request(self, child: Child, request: Mapping[str, object]) -> JsonObject:
        """Send something that has one answer, and return that."""
        child.is_busy = True
        child.send(request)
        data = await self._receive(child)
        child.is_busy = False
        if data.get("type") == "error":
            raise self._agent_exception(child, data)
        return data

    def _parse_answer(self, child: Child, data: Json) -> json_protocol.Answer:
        if isinstance(data, dict) and data.get("type") == "error":
            raise self._agent_exception(child, data)
        return json_protocol.read_answer(data)

    def _agent_exception(self, child: Child, data: Mapping[str, Json]) -> AgentError:
        if data.get("code") != "MemoryError":
            return exception_from(data)
        child.is_busy = True  # its state is unknown
        message = str(data.get("message") or "out of memory")
        return exception_from({**data, "message": f"{message}{self._memory_hint()}"})

    async def _receive(self, child: Child) -> JsonObject:
        try:
            data = await child.receive()
        except AgentCrashedError as error:
            raise AgentCrashedError(f"{error}{self._memory_hint()}") from None
        if not isinstance(data, dict):
            raise AgentError(f"{self._name} wrote {safe_repr(data)}; expected an object")
        return data


# --- Extensions of the public protocol for Proctor's own workers: whole events, and exceptions with all their details ---


_LONGEST_NUMBER = 13_000  # bits, about 4,000 digits: Python writes no longer ones


def event_data(event: object) -> JsonObject:
    """Return an agent's event as JSON, as `wire.read_answer` parses it.

    Raises:
        AgentError: it is not an event, or part of it is not JSON.
    """
    if not isinstance(event, Event):
        raise AgentError(f"the agent yielded {safe_repr(event)}; an agent yields proctor.Event objects")
    fields = event.model_dump(mode="python", exclude_none=True, warnings=False)
    for part in (fields.get("content") or {}).get("parts") or ():
        _write_bytes(part)
    return {"type": "event", "event": json_value(fields)}


def _write_bytes(part: dict[str, object]) -> None:
    """Write media as text; bytes anywhere else are no JSON."""
    if isinstance(signature := part.get("thought_signature"), bytes):
        part["thought_signature"] = _as_text(signature)
    blob = part.get("inline_data")
    if isinstance(blob, dict) and isinstance(blob.get("data"), bytes):
        blob["data"] = _as_text(blob["data"])
    response = part.get("function_response")
    for inside in (response.get("parts") or ()) if isinstance(response, dict) else ():
        _write_bytes(inside)


def _as_text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode()


def json_value(value: object, depth: int = 0) -> Json:
    """Return a value as JSON; NaN and Infinity stay, as Python reads and writes them.

    Raises:
        AgentError: it is not JSON, nested too deep or in a circle, or too long a number.
    """
    if isinstance(value, NoneType | bool | float | str):
        return value
    if isinstance(value, int):
        return _whole_number(value)
    if depth > MAX_DEPTH + 10:  # the engine reports smaller excesses
        raise AgentError(
            f"a tool argument, tool response or state value is nested deeper than {MAX_DEPTH} levels"
        )
    if isinstance(value, Mapping):
        return {
            key if isinstance(key, str) else str(key): json_value(item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(item, depth + 1) for item in value]
    if isinstance(value, BaseModel):
        return json_value(value.model_dump(mode="json"), depth + 1)
    raise AgentError(f"{safe_repr(value)} in a tool argument, tool response or state value is not JSON")


def _whole_number(value: int) -> int:
    if value.bit_length() > _LONGEST_NUMBER:
        raise AgentError(
            "a tool argument, tool response or state value is a whole number of more than 4000 digits"
        )
    return int(value)


# --- exceptions ------------------------------------------------------------------------------------------------------

_OURS = ("AgentError", "AgentUnreachableError", "AgentTruncatedError", "AgentCrashedError")


def error_data(error: BaseException) -> JsonObject:
    """Return an exception as JSON: an `error` of the protocol, with further fields for `exception_from`."""
    is_expected = isinstance(error, AgentError | errors.SetupError)
    raised = error if isinstance(error, AgentRaisedError) else None
    type_of = raised.type if raised else type(error).__name__
    traceback = raised.traceback if raised else None if is_expected else traceback_text(error)
    return {
        "type": "error",
        "code": type_of,
        "message": safe_str(error),
        "ours": type(error).__name__ if type(error).__name__ in _OURS else "",
        "traceback": traceback,
        "infrastructure": is_infrastructure(error),
    }


def exception_from(data: Mapping[str, Json]) -> AgentError:
    """Return an exception of a worker in this process; its description equals that of the original."""
    message, ours = str(data.get("message", "")), data.get("ours")
    traceback = data.get("traceback")
    if ours in _OURS:
        error: AgentError = getattr(errors, str(ours))(message)
        return error
    return AgentRaisedError(
        message,
        type=str(data.get("code", "")),
        traceback=traceback if isinstance(traceback, str) else None,
        infrastructure=bool(data.get("infrastructure")),
    )
