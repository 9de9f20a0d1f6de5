"""A provider's model: one request through pydantic-ai, one reply of ours. Whoever tries again does so above."""

from __future__ import annotations

import asyncio
import re
import time
import warnings
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from proctor.common.error_text import safe_str
from proctor.common.secrets import without_secrets
from proctor.common.threads import THREADS
from proctor.errors import SetupError
from proctor.models.base import Finish, Message, ModelError, ModelFault, ModelOptions, Reply, Usage
from proctor.models.names import ModelName
from proctor.models.prices import cost_of, similar_model
from proctor.models.provider_errors import model_error
from proctor.models.settings import Dialect, map_settings
from proctor.models.strict_json import strict_json

__all__ = ["ProviderModel"]

_LONGEST_ANSWER = 8192
"""Tokens, where a provider insists on a limit and the settings have none (`max_output_tokens`)."""


class ProviderModel:
    """One model of one provider; nothing of pydantic-ai is imported before it is asked."""

    has_schemas = True

    def __init__(
        self, name: ModelName, *, dialect: Dialect, build: Callable[[], Any], own_address: bool = False
    ) -> None:
        """Take its name, and what makes the model of pydantic-ai: called once, when it is first asked."""
        self.name = name.text
        self._dialect = dialect
        self._build = build
        self._own_address = own_address
        self._is_their_own = not name.url and name.provider in _READ_VARIABLES
        self._model: Any = None
        self._building = Lock()
        self._line = _Line()

    def check(self, settings: Mapping[str, Any]) -> list[str]:
        """Return one sentence for each setting that the model will not get.

        Raises:
            SetupError: one that there is not, or that cannot have its value.
        """
        mapped = map_settings(settings, self._dialect, self.name)
        return [*mapped.notes, *self._without_sampling(mapped.values)]

    async def complete(self, messages: Sequence[Message], *, options: ModelOptions) -> Reply:
        """Ask once.

        Raises:
            ModelError: there is no reply.
        """
        await self.prepare()
        model = self._ready()
        _quieten_clients()
        began = time.monotonic()
        try:
            response = await asyncio.wait_for(
                model.request(_asked(messages), self._settings(options), _parameters(model, options)),
                options.timeout,
            )
        except (ModelError, SetupError):
            raise
        except TimeoutError as error:
            message = f"{self.name} did not answer within {options.timeout or 0:g} s"
            raise ModelError(message, fault=ModelFault.TIMED_OUT) from error
        except Exception as error:
            raise self._error(error) from error
        reply = _reply(response, options)
        cost = cost_of(response, own_address=self._own_address)
        return Reply(**reply, cost=cost, seconds=time.monotonic() - began)

    async def prepare(self) -> None:
        """Import what it needs, and open its client: so that neither is part of the time of a call.

        Raises:
            ModelError: its client will not be made.
        """
        try:
            await self._line.open(self._ready)
        except Exception as error:
            found = model_error(error, self.name)
            if found.fault is not ModelFault.BROKE_PROTOCOL:
                raise found from error
            # nobody has answered yet: a proxy that is none, a package that is missing
            said = f"{type(error).__name__}: {without_secrets(safe_str(error))}"
            raise ModelError(
                f"{self.name} cannot be asked: {said}", fault=ModelFault.REJECTED, requests=0
            ) from error

    async def close(self) -> None:
        """Close its connections; it may be asked again afterwards."""
        await self._line.close()

    def _error(self, error: Exception) -> ModelError:
        found = model_error(error, self.name)
        if found.fault is not ModelFault.NOT_FOUND:
            return found
        close = similar_model(self._model.model_name, self._model.system)
        hint = f". Did you mean {close!r}?" if close else ""
        return ModelError(f"{found}{hint}", fault=found.fault, status=found.status)

    def _ready(self) -> Any:
        with self._building:
            if self._model is None:
                self._model = _asking_once(self._build())
                if not self._is_their_own:
                    _forget_variables(self._model)
            return self._model

    def _settings(self, options: ModelOptions) -> dict[str, Any]:
        values = map_settings(options.settings, self._dialect, self.name).values
        self._without_sampling(values)
        if self._dialect in {"anthropic", "bedrock"}:
            values.setdefault("max_tokens", _LONGEST_ANSWER)
        if options.timeout is not None and self._dialect != "bedrock":
            values["timeout"] = options.timeout + 1  # ours ends first, and says so in our words
        if self._dialect == "openai-responses":
            values["openai_store"] = False
        return values

    def _without_sampling(self, values: dict[str, Any]) -> list[str]:
        """Take away what a model of OpenAI's that reasons would refuse, and say so."""
        given = [name for name in ("temperature", "top_p", *_PENALTIES) if name in values]
        if not given or not self._dialect.startswith("openai"):
            return []
        profile = self._ready().profile
        if not profile.get("openai_supports_reasoning", False) or _can_sample(profile, values):
            return []
        for name in given:
            del values[name]
        return [f"{self.name} is not sent {name}: a model that reasons does not take it" for name in given]


_PENALTIES = ("presence_penalty", "frequency_penalty")


def _can_sample(profile: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Tell whether a model that can reason does not in this call."""
    if not profile.get("openai_supports_reasoning_effort_none", False):
        return False
    if "thinking" in values:
        return values["thinking"] is False and not profile.get("thinking_always_enabled", False)
    return not profile.get("thinking_enabled_by_default", False)


def _asking_once(model: Any) -> Any:
    """Keep a client from trying again by itself: whoever does so stands above, and counts it.

    Set on the client, once: as a setting of each call it makes a copy of the client, which takes longer than the call.
    """
    client: Any = getattr(model, "client", None)
    if hasattr(client, "max_retries"):
        client.max_retries = 0
    return model


_READ_VARIABLES = frozenset({"openai", "openai-chat", "openai-responses", "anthropic"})
"""Providers whose own clients read more variables than those of key and address."""


def _forget_variables(model: Any) -> None:
    """Take from a client what it has read for its own provider alone: OPENAI_ORG_ID, OPENAI_CUSTOM_HEADERS and the like."""
    client: Any = getattr(model, "client", None)
    for name, nothing in (("organization", None), ("project", None), ("_custom_headers", {})):
        if hasattr(client, name):
            setattr(client, name, nothing)


class _Line:
    """The connections of a model: one client for each event loop, closed with it at the latest."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opening: asyncio.Task[Any] | None = None
        self._held: AsyncIterator[Any] | None = None

    async def open(self, ready: Callable[[], Any]) -> Any:
        """Return the model that `ready` makes, with a client of the running loop."""
        loop = asyncio.get_running_loop()
        if self._opening is None or self._loop is not loop or _failed(self._opening):
            self._loop, self._opening = loop, loop.create_task(self._open(ready))
        return await asyncio.shield(self._opening)

    async def _open(self, ready: Callable[[], Any]) -> Any:
        model = await THREADS.call(ready)  # imports take a second or two, and others are at work on the loop
        self._held = _hold(model)
        _HELD.setdefault(asyncio.get_running_loop(), []).append(self._held)
        return await anext(self._held)

    async def close(self) -> None:
        held, self._held, self._opening = self._held, None, None
        if held is not None:
            with suppress(StopAsyncIteration):
                await anext(held)


_HELD: WeakKeyDictionary[asyncio.AbstractEventLoop, list[AsyncIterator[Any]]] = WeakKeyDictionary()
"""What the loops hold open: a model that is forgotten is closed by its loop, too."""


def _failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


async def _hold(model: Any) -> AsyncIterator[Any]:
    """Hold the client open until it is closed, or the loop ends: loops close generators that are under way."""
    async with model:
        yield model


_CLIENTS = re.compile(r"(pydantic_ai|openai|anthropic|google\.genai)(\.|$)")


def _quieten_clients() -> None:
    """Keep warnings of the clients (a model that is old, a setting) from becoming errors of a user's `-W error`.

    Set for the process, not around a call: calls run side by side, and filters are the process's.
    """
    if ("ignore", None, Warning, _CLIENTS, 0) not in warnings.filters:
        warnings.filterwarnings("ignore", module=_CLIENTS.pattern)


# --- to pydantic-ai ---------------------------------------------------------------------------------------------------


def _asked(messages: Sequence[Message]) -> list[Any]:
    from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart

    asked: list[Any] = []
    for message in messages:
        if message.role == "assistant":
            asked.append(ModelResponse(parts=[TextPart(message.text)]))
            continue
        part = (SystemPromptPart if message.role == "system" else UserPromptPart)(message.text)
        if asked and isinstance(asked[-1], ModelRequest):
            asked[-1] = ModelRequest(parts=[*asked[-1].parts, part])
        else:
            asked.append(ModelRequest(parts=[part]))
    return asked


def _parameters(model: Any, options: ModelOptions) -> Any:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    if options.schema is None:
        return ModelRequestParameters()
    schema, name = dict(options.schema), options.schema_name
    if model.profile.get("supports_json_schema_output", False):
        wanted = OutputObjectDefinition(json_schema=schema, name=name, strict=True)
        return ModelRequestParameters(output_mode="native", output_object=wanted)
    tool = ToolDefinition(
        name=name, parameters_json_schema=schema, description="Gives the answer.", kind="output"
    )
    return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)


# --- from pydantic-ai -------------------------------------------------------------------------------------------------


def _reply(response: Any, options: ModelOptions) -> dict[str, Any]:
    from pydantic_ai.messages import TextPart, ToolCallPart

    details = response.provider_details or {}
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    finish = _finish(response.finish_reason, details)
    structured = None
    if options.schema is not None and finish is Finish.STOP:
        structured = _called(calls, options.schema_name) if calls else _json(text)
    if calls and not text:
        text = "\n".join(call.args_as_json_str() for call in calls)
    return {
        "text": text or str(details.get("refusal") or ""),
        "structured": structured,
        "model": response.model_name or "",
        "finish": finish,
        "usage": _usage(response.usage),
    }


_FINISHES = {
    "stop": Finish.STOP,
    "tool_call": Finish.STOP,
    "length": Finish.LENGTH,
    "content_filter": Finish.CONTENT_FILTER,
}


def _finish(reason: str | None, details: Mapping[str, Any]) -> Finish:
    if "refusal" in details or details.get("finish_reason") == "refusal":
        return Finish.REFUSAL
    return _FINISHES.get(reason or "", Finish.OTHER)


def _called(calls: Sequence[Any], name: str) -> Any:
    """Return the arguments of the one call of the tool that was to be called; two answers are none."""
    if len(calls) != 1 or calls[0].tool_name != name:
        return None
    args = calls[0].args
    return _json(args) if isinstance(args, str) else args


def _json(text: str) -> Any:
    """Return what a text is as JSON, all of it; `None` where it is not: no object twice-keyed, no NaN."""
    try:
        return strict_json(text)
    except (ValueError, RecursionError):
        return None


def _usage(usage: Any) -> Usage | None:
    if not (usage.input_tokens or usage.output_tokens):
        return None
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cache_read_tokens or None,
    )
