"""Agents and apps of google-adk (extra `adk`), run by google-adk's own Runner with services in memory."""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from proctor.agents.base import AgentInfo, Session
from proctor.errors import AgentError
from proctor.extras import import_extra
from proctor.schema.base import plain_data
from proctor.schema.content import Content
from proctor.schema.event import Event

_MEMORY = "adk"
_FEATURE = "An agent of google-adk"
_KEPT = tuple(name for name in Event.model_fields if name not in {"state_delta", "skip_summarization"})
"""Fields that google-adk's events have at their top; the other two stand under `actions`."""


class AdkAgent:
    """A google-adk agent or app. It is shared by all trials; each has its own session, artifacts and memory.

    Nothing crosses from one trial to another, not even state of the app or the user: each trial has its own
    services, but for those that were given (`using`): what is in them all trials see and change. Durations of model
    and tool calls are left in `session.memory["durations"]` (seconds, this turn), and instructions and tools as the
    models got them in `session.memory["app_details"]` (agents of this turn).
    """

    def __init__(self, agent: Any, services: Mapping[str, Any] | None = None) -> None:
        """Take an agent (any node that google-adk's App accepts as root) or an App, with its plug-ins and settings."""
        self._app = _app_of(agent)
        self._services = dict(services or {})
        self._root = self._app.root_agent
        self._last_runner: Any = None

    def using(self, services: Mapping[str, Any]) -> AdkAgent:
        """Return the same with services of google-adk in the place of those of each trial.

        Of `session_service`, `artifact_service` and `memory_service`, as google-adk's Runner calls them. A session
        that a case names and that is there is gone on with, as it is.
        """
        return AdkAgent(self._app, services)

    async def describe(self) -> AgentInfo:
        """Return name and description, and of each agent in the tree its instructions and tools as it declares them.

        Tools that only a server could list (toolsets) are left out here.
        """
        tree = [*_tree(self._root)]
        details = {agent.name: _declared(agent) for agent in tree}
        return AgentInfo(
            name=self._root.name,
            description=getattr(self._root, "description", "") or "",
            app_details={"agent_details": details},
            has_more_tools=not all(map(_declares_everything, tree)),
        )

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Run one turn; what a tool, a model or a callback raises passes through.

        Raises:
            AgentError: google-adk cannot read the user's message.
        """
        talk: _Talk = session.memory.get(_MEMORY) or await self._begin(session)
        talk.watch.restart()
        try:
            events = talk.runner.run_async(
                user_id=session.user_id, session_id=talk.session_id, new_message=_genai_content(message)
            )
            async with aclosing(events):
                async for event in events:
                    yield event_of(event)
        finally:
            session.memory["durations"] = talk.watch.durations()
            session.memory["app_details"] = {"agent_details": dict(talk.watch.details)}

    async def final_state(self, session: Session) -> dict[str, Any]:
        """Return the state of google-adk's session, without what lasts for one turn only (`temp:`)."""
        talk: _Talk | None = session.memory.get(_MEMORY)
        if talk is None:
            return session.state
        found = await talk.runner.session_service.get_session(
            app_name=session.app_name, user_id=session.user_id, session_id=talk.session_id
        )
        return _lasting(found.state)

    async def close(self) -> None:
        """Close what the agent's toolsets and plug-ins hold open."""
        runner, self._last_runner = self._last_runner, None
        if runner is not None:
            await runner.close()

    async def _begin(self, session: Session) -> _Talk:
        sessions = import_extra("google.adk.sessions", extra="adk", feature=_FEATURE)
        runners = import_extra("google.adk.runners", extra="adk", feature=_FEATURE)
        watch = _watch_class()()
        app = self._app.model_copy(update={"plugins": [*self._app.plugins, watch]})
        services = {
            "session_service": sessions.InMemorySessionService(),
            **_other_services(),
            **self._services,
        }
        runner = runners.Runner(app=app, app_name=session.app_name, **services)
        made = await _session(
            services["session_service"], session, is_shared="session_service" in self._services
        )
        self._last_runner = runner
        talk = _Talk(runner, made.id, watch)
        session.memory[_MEMORY] = talk
        return talk


async def _session(service: Any, session: Session, *, is_shared: bool) -> Any:
    """Return google-adk's session of a trial: a new one, or in a service that is shared the one that is there."""
    where = {
        "app_name": session.app_name,
        "user_id": session.user_id,
        "session_id": session.id or str(uuid.uuid4()),
    }
    there = await service.get_session(**where) if is_shared else None
    return there or await service.create_session(**where, state=session.state)


@dataclass(frozen=True, slots=True)
class _Talk:
    """One trial's conversation inside google-adk."""

    runner: Any
    session_id: str
    watch: Any


def event_of(event: Any) -> Event:
    """Read an event of google-adk: what matters to an evaluation, state changes and flags from its actions."""
    fields = {name: plain_data(value) for name in _KEPT if (value := getattr(event, name, None)) is not None}
    if waiting := fields.pop("long_running_tool_ids", None):  # a set there
        fields["long_running_tool_ids"] = sorted(waiting)
    actions = event.actions
    if actions is not None:
        if changed := _lasting(actions.state_delta or {}):
            fields["state_delta"] = changed
        if actions.skip_summarization:
            fields["skip_summarization"] = True
    return Event.model_validate(fields)


def _lasting(state: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in state.items() if not key.startswith("temp:")}


def _genai_content(message: Content) -> Any:
    types = import_extra("google.genai.types", extra="adk", feature=_FEATURE)
    data = message.model_dump(mode="json", exclude_none=True)
    try:
        return types.Content.model_validate({"role": "user", **data})
    except ValueError as error:
        raise AgentError(f"google-adk cannot read the user's message: {error}") from error


def _other_services() -> dict[str, Any]:
    artifacts = import_extra("google.adk.artifacts", extra="adk", feature=_FEATURE)
    memory = import_extra("google.adk.memory", extra="adk", feature=_FEATURE)
    return {
        "artifact_service": artifacts.InMemoryArtifactService(),
        "memory_service": memory.InMemoryMemoryService(),
    }


def _app_of(agent: Any) -> Any:
    apps = import_extra("google.adk.apps", extra="adk", feature=_FEATURE)
    if isinstance(agent, apps.App):
        return agent
    name = re.sub(r"\W", "_", agent.name)
    return apps.App(name=f"{name}_app", root_agent=agent)


# --- what an agent declares ------------------------------------------------------------------------------------------


def _tree(agent: Any) -> Iterator[Any]:
    yield agent
    for below in getattr(agent, "sub_agents", None) or ():
        yield from _tree(below)


def _declared(agent: Any) -> dict[str, Any]:
    instruction = getattr(agent, "instruction", "")
    return {
        "name": agent.name,
        "instructions": instruction if isinstance(instruction, str) else "",
        "tool_declarations": [_declaration(tool) for tool in getattr(agent, "tools", ()) if _has_name(tool)],
    }


def _declares_everything(agent: Any) -> bool:
    """Whether all its tools are declared: no toolset, and no agent of one's own making, which may hide others."""
    agents = import_extra("google.adk.agents", extra="adk", feature=_FEATURE)
    known = (agents.LlmAgent, agents.SequentialAgent, agents.LoopAgent, agents.ParallelAgent)
    return isinstance(agent, known) and all(map(_has_name, getattr(agent, "tools", ())))


def _has_name(tool: Any) -> bool:
    return isinstance(getattr(tool, "name", None) or getattr(tool, "__name__", None), str)


def _declaration(tool: Any) -> dict[str, Any]:
    """A tool as google-adk declares it to models; its name alone where it has no declaration, or cannot make one."""
    name = getattr(tool, "name", None) or tool.__name__
    description = getattr(tool, "description", None) or (tool.__doc__ or "").strip()
    try:
        declared = _as_declared(tool)
    except Exception as error:  # noqa: BLE001 - a tool that google-adk cannot declare fails where it is asked for
        logging.getLogger(__name__).debug("google-adk cannot declare the tool %s: %s", name, error)
        declared = []
    return {"function_declarations": declared or [{"name": name, "description": description}]}


def _as_declared(tool: Any) -> list[dict[str, Any]]:
    """What google-adk puts into a request for this tool; nothing for tools of the model's own (a search)."""
    tools = import_extra("google.adk.tools", extra="adk", feature=_FEATURE)
    models = import_extra("google.adk.models", extra="adk", feature=_FEATURE)
    request = models.LlmRequest()
    request.append_tools([tool if isinstance(tool, tools.BaseTool) else tools.FunctionTool(tool)])
    return [
        one.model_dump(mode="json", exclude_none=True)
        for each in request.config.tools or ()
        for one in each.function_declarations or ()
    ]


# --- watching a turn -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Span:
    key: str
    began: float = field(default_factory=time.perf_counter)
    ended: float | None = None


def _end(spans: list[_Span], key: str) -> None:
    """End the last span of `key`; a streamed answer ends it again with each piece."""
    for span in reversed(spans):
        if span.key == key:
            span.ended = time.perf_counter()
            return


def _covered(spans: Iterable[_Span]) -> float:
    """Return the seconds in which at least one span was open, rounded to milliseconds."""
    total, until = 0.0, 0.0
    for began, ended in sorted((span.began, span.ended) for span in spans if span.ended is not None):
        total += max(0.0, ended - max(began, until))
        until = max(until, ended)
    return round(total, 3)


@cache
def _watch_class() -> type[Any]:
    plugins = import_extra("google.adk.plugins.base_plugin", extra="adk", feature=_FEATURE)

    class Watch(plugins.BasePlugin):  # type: ignore[name-defined]  # known when it runs
        """Sees each model and tool call of one trial, and changes none."""

        def __init__(self) -> None:
            super().__init__(name="proctor_watch")
            self.restart()

        def restart(self) -> None:
            self.models: list[_Span] = []
            self.tools: list[_Span] = []
            self.details: dict[str, Any] = {}

        def durations(self) -> dict[str, float]:
            return {"model": _covered(self.models), "tool": _covered(self.tools)}

        async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
            name = callback_context.agent_name
            self.details[name] = _as_asked(name, llm_request.config)
            self.models.append(_Span(name))

        async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
            _end(self.models, callback_context.agent_name)

        async def on_model_error_callback(
            self, *, callback_context: Any, llm_request: Any, error: Any
        ) -> None:
            _end(self.models, callback_context.agent_name)

        async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:
            self.tools.append(_Span(str(tool_context.function_call_id)))

        async def after_tool_callback(
            self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any
        ) -> None:
            _end(self.tools, str(tool_context.function_call_id))

        async def on_tool_error_callback(
            self, *, tool: Any, tool_args: Any, tool_context: Any, error: Any
        ) -> None:
            _end(self.tools, str(tool_context.function_call_id))

    return Watch


def _as_asked(name: str, config: Any) -> dict[str, Any]:
    """Instructions and tools of one model call, as the model got them."""
    instruction = getattr(config, "system_instruction", None)
    tools = getattr(config, "tools", None) or []
    return {
        "name": name,
        "instructions": instruction if isinstance(instruction, str) else "",
        "tool_declarations": [
            tool.model_dump(mode="json", exclude_none=True) for tool in tools if hasattr(tool, "model_dump")
        ],
    }
