"""Agents and apps of google-adk (extra `adk`), run by google-adk's own Runner with services in memory."""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.agents.adk.call_timer_plugin import CallTimer
from proctor.agents.adk.declarations import declares_everything, tool_details, tree_of
from proctor.agents.adk.events import LastAnswer, event_of, lasting
from proctor.agents.adk.tracing import SpanCollection, capturing, gathering, hide_repeated_tracebacks
from proctor.agents.base import AgentInfo, Session
from proctor.agents.frameworks.long_running_calls import PendingCalls
from proctor.agents.import_user_code import load_in_folder
from proctor.common.error_text import safe_str
from proctor.common.optional_packages import import_extra
from proctor.errors import AgentError, AgentLoadError, AgentRaisedError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content

if TYPE_CHECKING:
    from google.adk.agents import BaseAgent
    from google.adk.agents.run_config import RunConfig
    from google.adk.apps import App
    from google.adk.runners import Runner
    from google.adk.sessions import BaseSessionService, Session as AdkSession
    from google.genai.types import Content as GenaiContent

    from proctor.agents.adk.chat_host import AdkHost

_MEMORY = "adk"
_FEATURE = "An agent of google-adk"


class AdkAgent:
    """A google-adk agent or app. It is shared by all trials; each has its own session, artifacts and memory.

    Trials are isolated, including the state of the app and the user: each trial has its own services, except shared ones
    (`using`). An app's plug-ins are objects of the app and see the calls of all trials.

    After each turn `session.memory` contains `durations` (seconds of model and tool calls), `app_details` (the instructions
    and tools that the models got) and `spans` (google-adk's own tracing).
    """

    def __init__(
        self,
        agent: BaseAgent | App,
        services: Mapping[str, object] | None = None,
        *,
        run_config: RunConfig | None = None,
    ) -> None:
        """Take an agent (any node that google-adk's App accepts as root) or an App, with its plug-ins and settings.

        `run_config` is google-adk's RunConfig, for streaming or a limit of model calls.
        """
        self._app = _app_of(agent)
        self._services = dict(services or {})
        self._run_config = run_config
        self._root = self._app.root_agent
        self._last_runner: Runner | None = None

    def using(self, services: Mapping[str, object]) -> AdkAgent:
        """Return this agent with services of google-adk instead of those of each trial.

        Of `session_service`, `artifact_service` and `memory_service`, as google-adk's Runner calls them. A session
        that a case names is continued if it exists.
        """
        return AdkAgent(self._app, services, run_config=self._run_config)

    async def describe(self) -> AgentInfo:
        """Return name and description, and of each agent in the tree its instructions and tools as it declares them.

        Tools that only a server could list (toolsets) are left out here.
        """
        tree = [*tree_of(self._root)]
        details = {agent.name: tool_details(agent) for agent in tree}
        return AgentInfo(
            name=self._root.name,
            description=getattr(self._root, "description", "") or "",
            app_details={"agent_details": details},
            has_more_tools=not all(map(declares_everything, tree)),
        )

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Run one turn; exceptions of tools, models and callbacks pass through.

        Raises:
            AgentRaisedError: a tool cancelled itself.
            AgentError: google-adk cannot read the user's message, or it answers a call that does not exist.
        """
        conversation: _Conversation = session.memory.get(_MEMORY) or await self._begin(session)
        conversation.watch.restart()
        last, collection = LastAnswer(), SpanCollection()
        try:
            with gathering(collection):
                events = conversation.runner.run_async(
                    user_id=session.user_id,
                    session_id=conversation.session_id,
                    new_message=_genai_content(conversation.pending.with_call_ids(message)),
                    run_config=capturing(self._run_config),
                )
                async with aclosing(events):
                    async for adk_event in events:
                        event = event_of(adk_event)
                        conversation.pending.note(event)
                        conversation.watch.note_event()
                        last.note(event, getattr(adk_event, "finish_reason", None))
                        yield event
            if (broken := last.incomplete_event()) is not None:
                yield broken
            if reason := conversation.watch.incomplete_reason():
                raise AgentRaisedError(reason, type="CancelledError")
        finally:
            conversation.watch.report(session.memory)
            session.memory["app_details"] = {
                "agent_details": dict(conversation.watch.details)
            }  # even if no model was called
            session.memory["spans"] = collection.spans()

    async def final_state(self, session: Session) -> dict[str, object]:
        """Return the state of google-adk's session without the keys of a single turn (`temp:`)."""
        conversation: _Conversation | None = session.memory.get(_MEMORY)
        if conversation is None:
            return session.state
        stored = await conversation.runner.session_service.get_session(
            app_name=session.app_name, user_id=session.user_id, session_id=conversation.session_id
        )
        return lasting(stored.state)

    def host(self, app_name: str) -> AdkHost:
        """Return the host that serves the agent to many users with google-adk's own sessions, artifacts and memory."""
        from proctor.agents.adk.chat_host import AdkHost

        return AdkHost(self._app, app_name, self.describe)

    async def close(self) -> None:
        """Close the agent's toolsets and plug-ins."""
        runner, self._last_runner = self._last_runner, None
        if runner is not None:
            await runner.close()

    async def _begin(self, session: Session) -> _Conversation:
        sessions = import_extra("google.adk.sessions", extra="adk", feature=_FEATURE)
        runners = import_extra("google.adk.runners", extra="adk", feature=_FEATURE)
        artifacts = import_extra("google.adk.artifacts", extra="adk", feature=_FEATURE)
        memory = import_extra("google.adk.memory", extra="adk", feature=_FEATURE)
        hide_repeated_tracebacks()
        watch = CallTimer()
        app = self._app.model_copy(update={"plugins": watch.surround(self._app.plugins)})
        services = {
            "session_service": sessions.InMemorySessionService(),
            "artifact_service": artifacts.InMemoryArtifactService(),
            "memory_service": memory.InMemoryMemoryService(),
            **self._services,
        }
        runner = runners.Runner(app=app, app_name=session.app_name, **services)
        adk_session = await _session(
            services["session_service"], session, is_shared="session_service" in self._services
        )
        self._last_runner = runner
        conversation = _Conversation(runner, adk_session.id, watch)
        session.memory[_MEMORY] = conversation
        return conversation


async def _session(service: BaseSessionService, session: Session, *, is_shared: bool) -> AdkSession:
    """Return google-adk's session of a trial: a new one, or in a service that is shared the one that is there."""
    where = {
        "app_name": session.app_name,
        "user_id": session.user_id,
        "session_id": session.id or str(uuid.uuid4()),
    }
    there = await service.get_session(**where) if is_shared else None
    return there or await service.create_session(**where, state=session.state)


@dataclass(frozen=True, slots=True)
class _Conversation:
    """One trial's conversation inside google-adk."""

    runner: Runner
    session_id: str
    watch: CallTimer
    pending: PendingCalls = field(default_factory=PendingCalls)


def _genai_content(message: Content) -> GenaiContent:
    types = import_extra("google.genai.types", extra="adk", feature=_FEATURE)
    data = message.model_dump(mode="json", exclude_none=True)
    try:
        return types.Content.model_validate({"role": "user", **data})
    except ValueError as error:
        raise AgentError(f"google-adk cannot read the user's message: {error}") from error


def _app_of(agent: BaseAgent | App) -> App:
    apps = import_extra("google.adk.apps", extra="adk", feature=_FEATURE)
    if isinstance(agent, apps.App):
        return agent
    name = re.sub(r"\W", "_", agent.name)
    return apps.App(name=f"{name}_app", root_agent=agent)


# --- Agents that are written as YAML files (`root_agent.yaml`): google-adk builds them --------------------------------


def load_config_file(file: Path) -> BaseAgent:
    """Return the agent that a YAML file describes; Python names in it are imported from its folder's package.

    Raises:
        AgentLoadError: the file is not YAML, or does not describe an agent; the message has every problem.
        MissingExtraError: google-adk is not installed.
    """
    reading = import_extra(
        "google.adk.agents.config_agent_utils", extra="adk", feature="An agent that is a YAML file"
    )
    try:
        return load_in_folder(file.parent, lambda: reading.from_config(str(file)))
    except (ImportError, AttributeError) as error:
        raise AgentLoadError(
            f"The agent {file} cannot be loaded: it names something in Python, and {type(error).__name__}: "
            f"{safe_str(error)}\n  Names begin at the agent's folder: {file.parent.name}.tools.my_tool"
        ) from error
    except Exception as error:
        raise AgentLoadError(f"The agent {file} cannot be loaded: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """Return google-adk's message, with one line for each location if it has locations."""
    if (mark := getattr(error, "problem_mark", None)) is not None:
        problem = getattr(error, "problem", None) or "not valid YAML"
        return f"{problem} (line {mark.line + 1}, column {mark.column + 1})"
    if hasattr(error, "errors"):  # pydantic's
        problems = [
            f"{'.'.join(map(str, one['loc'])) or 'the file'}: {one['msg']}"
            for one in error.errors(include_url=False)
        ]
        return "\n  ".join(["it does not describe an agent:", *problems])
    message = safe_str(error)
    if (cause := error.__cause__) is not None and safe_str(cause) not in message:
        message += f" ({type(cause).__name__}: {safe_str(cause)})"
    return message or type(error).__name__
