"""A provider's model: one request through pydantic-ai for each call. `proctor.models.retries` adds retries."""

from __future__ import annotations

import asyncio
import re
import time
import warnings
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from proctor.common.async_tools import THREADS
from proctor.common.error_text import safe_str
from proctor.common.json_values import strict_json
from proctor.common.secrets import hide_secrets
from proctor.errors import SetupError
from proctor.models.base import Finish, Message, ModelError, ModelFault, ModelOptions, Reply, Usage
from proctor.models.batch_endpoint import BatchEndpoint
from proctor.models.names import ModelName
from proctor.models.prices import cost_of, similar_model
from proctor.models.provider_errors import model_error
from proctor.models.settings import Dialect, map_settings

_LONGEST_ANSWER = 8192
"""The `max_output_tokens` for providers that require a limit, if the settings have none."""


def client(model_class: str, provider_class: str, model: str, **access: object) -> Callable[[], object]:
    """Return the function that creates a model of pydantic-ai, at a provider with this access.

    The classes are named by module, as `openai:OpenAIChatModel` for `pydantic_ai.models.openai`: importing them takes seconds.
    """

    def build() -> object:
        provider = _class("providers", provider_class)(**access)
        return _class("models", model_class)(model, provider=provider)

    return build


def _class(package: str, name: str) -> Any:
    module, _, name = name.partition(":")
    return getattr(import_module(f"pydantic_ai.{package}.{module}"), name)


class ProviderModel:
    """A model of a provider. It imports pydantic-ai on the first call."""

    has_schemas = True

    def __init__(
        self, name: ModelName, *, dialect: Dialect, build: Callable[[], object], own_address: bool = False
    ) -> None:
        """Take the name, and the function that creates the model of pydantic-ai on the first call."""
        self.name = name.text
        self._dialect = dialect
        self._build = build
        self.has_own_address = own_address
        """Whether the user named the address of the server, so that the provider's prices need not apply."""
        self._is_provider_address = not name.url and name.provider in _READ_VARIABLES
        self._model: Any = None
        self._building = Lock()
        self._connection = _Connection()

    def check(self, settings: Mapping[str, object]) -> list[str]:
        """Return a warning for each setting that the model does not support.

        Raises:
            SetupError: a setting is unknown or has an invalid value.
        """
        mapped = map_settings(settings, self._dialect, self.name)
        return [*mapped.notes, *self._without_sampling(mapped.values)]

    async def complete(self, messages: Sequence[Message], *, options: ModelOptions) -> Reply:
        """Send one request.

        Raises:
            ModelError: the request failed.
        """
        await self.prepare()
        model = self._ready()
        _quieten_clients()
        began = time.monotonic()
        try:
            parts = self.parts_of_request(messages, options)
            response = await asyncio.wait_for(model.request(*parts), options.timeout)
        except (ModelError, SetupError):
            raise
        except TimeoutError as error:
            message = f"{self.name} did not answer within {options.timeout or 0:g} s"
            raise ModelError(message, fault=ModelFault.TIMED_OUT) from error
        except Exception as error:
            raise self.error_of(error) from error
        return replace(self.read_response(response, options), seconds=time.monotonic() - began)

    def parts_of_request(
        self, messages: Sequence[Message], options: ModelOptions
    ) -> tuple[list[Any], dict[str, Any], Any]:
        """Return the messages, settings and parameters of a request, as pydantic-ai takes them."""
        return _request_messages(messages), self._settings(options), _parameters(self._ready(), options)

    def read_response(self, response: Any, options: ModelOptions) -> Reply:
        """Return the reply in a response of pydantic-ai, with its cost at the usual price."""
        cost = cost_of(response, own_address=self.has_own_address)
        return Reply(**_reply(response, options), cost=cost)

    async def batch_endpoint(self) -> BatchEndpoint:
        """Return the batch endpoint.

        Raises:
            SetupError: the provider has none.
        """
        from proctor.models.providers.provider_batches import batch_endpoint

        await self.prepare()
        _quieten_clients()
        return batch_endpoint(self, self._ready())

    async def prepare(self) -> None:
        """Import the packages and open the client, so that neither counts as time of a call.

        Raises:
            ModelError: the client cannot be created.
        """
        try:
            await self._connection.open(self._ready)
        except Exception as error:
            converted = model_error(error, self.name)
            if converted.fault is not ModelFault.BROKE_PROTOCOL:
                raise converted from error
            # no provider answered yet: for example an invalid proxy or a missing package
            detail = f"{type(error).__name__}: {hide_secrets(safe_str(error))}"
            raise ModelError(
                f"{self.name} cannot be asked: {detail}", fault=ModelFault.REJECTED, requests=0
            ) from error

    async def close(self) -> None:
        """Close the connections; a later call opens them again."""
        await self._connection.close()

    def error_of(self, error: Exception) -> ModelError:
        """Return the error for an exception of a client."""
        converted = model_error(error, self.name)
        if converted.fault is not ModelFault.NOT_FOUND:
            return converted
        close = similar_model(self._model.model_name, self._model.system)
        hint = f". Did you mean {close!r}?" if close else ""
        return ModelError(f"{converted}{hint}", fault=converted.fault, status=converted.status)

    def _ready(self) -> Any:
        with self._building:
            if self._model is None:
                self._model = _without_retries(self._build())
                if not self._is_provider_address:
                    _forget_variables(self._model)
            return self._model

    def _settings(self, options: ModelOptions) -> dict[str, Any]:
        values = map_settings(options.settings, self._dialect, self.name).values
        self._without_sampling(values)
        if self._dialect in {"anthropic", "bedrock"}:
            values.setdefault("max_tokens", _LONGEST_ANSWER)
        if options.timeout is not None and self._dialect != "bedrock":
            values["timeout"] = options.timeout + 1  # Proctor's timeout ends first, for a uniform message
        if self._dialect == "openai-responses":
            values["openai_store"] = False
        return values

    def _without_sampling(self, values: dict[str, object]) -> list[str]:
        """Remove the settings that a reasoning model of OpenAI rejects; return a warning for each."""
        sampling = [name for name in ("temperature", "top_p", *_PENALTIES) if name in values]
        if not sampling or not self._dialect.startswith("openai"):
            return []
        profile = self._ready().profile
        if not profile.get("openai_supports_reasoning", False) or _can_sample(profile, values):
            return []
        for name in sampling:
            del values[name]
        return [f"{self.name} is not sent {name}: a reasoning model does not accept it" for name in sampling]


_PENALTIES = ("presence_penalty", "frequency_penalty")


def _can_sample(profile: Mapping[str, object], values: Mapping[str, object]) -> bool:
    """Whether a reasoning model does not reason in this call."""
    if not profile.get("openai_supports_reasoning_effort_none", False):
        return False
    if "thinking" in values:
        return values["thinking"] is False and not profile.get("thinking_always_enabled", False)
    return not profile.get("thinking_enabled_by_default", False)


def _without_retries(model: object) -> object:
    """Disable the retries of a client: `proctor.models.retries` retries and counts.

    The option is set on the client, because as a setting of each call it copies the client, which is slower than the call.
    """
    client: Any = getattr(model, "client", None)
    if hasattr(client, "max_retries"):
        client.max_retries = 0
    return model


_READ_VARIABLES = frozenset({"openai", "openai-chat", "openai-responses", "anthropic"})
"""Providers whose clients read further environment variables than key and address."""


def _forget_variables(model: object) -> None:
    """Reset what a client read from variables for its provider: OPENAI_ORG_ID, OPENAI_CUSTOM_HEADERS and others."""
    client: Any = getattr(model, "client", None)
    for name, default in (("organization", None), ("project", None), ("_custom_headers", {})):
        if hasattr(client, name):
            setattr(client, name, default)


class _Connection:
    """The connections of a model: one client for each event loop, closed with the loop at the latest."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opening: asyncio.Task[object] | None = None
        self._client: AsyncIterator[Any] | None = None

    async def open(self, ready: Callable[[], Any]) -> Any:
        """Return the model that `ready` creates, with a client of the running loop."""
        loop = asyncio.get_running_loop()
        if self._opening is None or self._loop is not loop or _is_failure(self._opening):
            self._loop, self._opening = loop, loop.create_task(self._open(ready))
        return await asyncio.shield(self._opening)

    async def _open(self, ready: Callable[[], Any]) -> Any:
        model = await THREADS.call(ready)  # the imports take seconds, so they must not block the loop
        self._client = _open_client(model)
        _OPEN_CLIENTS.setdefault(asyncio.get_running_loop(), []).append(self._client)
        return await anext(self._client)

    async def close(self) -> None:
        client, self._client, self._opening = self._client, None, None
        if client is not None:
            with suppress(StopAsyncIteration):
                await anext(client)


_OPEN_CLIENTS: WeakKeyDictionary[asyncio.AbstractEventLoop, list[AsyncIterator[Any]]] = WeakKeyDictionary()
"""The open clients of each loop; the loop closes the clients that are left."""


def _is_failure(task: asyncio.Task[object]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


async def _open_client(model: Any) -> AsyncIterator[Any]:
    """Keep the client open until the next step of this generator, or until the loop closes its generators."""
    async with model:
        yield model


_CLIENTS = re.compile(r"(pydantic_ai|openai|anthropic|google\.genai)(\.|$)")


def _quieten_clients() -> None:
    """Ignore warnings of the clients, so that a user's `-W error` does not turn them into errors.

    The filter is set for the process: calls run concurrently, and filters are global.
    """
    if ("ignore", None, Warning, _CLIENTS, 0) not in warnings.filters:
        warnings.filterwarnings("ignore", module=_CLIENTS.pattern)


# --- to pydantic-ai ---------------------------------------------------------------------------------------------------


def _request_messages(messages: Sequence[Message]) -> list[Any]:
    from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart

    requests: list[Any] = []
    for message in messages:
        if message.role == "assistant":
            requests.append(ModelResponse(parts=[TextPart(message.text)]))
            continue
        part = (SystemPromptPart if message.role == "system" else UserPromptPart)(message.text)
        if requests and isinstance(requests[-1], ModelRequest):
            requests[-1] = ModelRequest(parts=[*requests[-1].parts, part])
        else:
            requests.append(ModelRequest(parts=[part]))
    return requests


def _parameters(model: Any, options: ModelOptions) -> Any:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    if options.schema is None:
        return ModelRequestParameters()
    schema, name = dict(options.schema), options.schema_name
    if model.profile.get("supports_json_schema_output", False):
        output = OutputObjectDefinition(json_schema=schema, name=name, strict=True)
        return ModelRequestParameters(output_mode="native", output_object=output)
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
        structured = _tool_arguments(calls, options.schema_name) if calls else _json(text)
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


def _finish(reason: str | None, details: Mapping[str, object]) -> Finish:
    if "refusal" in details or details.get("finish_reason") == "refusal":
        return Finish.REFUSAL
    return _FINISHES.get(reason or "", Finish.OTHER)


def _tool_arguments(calls: Sequence[Any], name: str) -> Any:
    """Return the arguments of the only tool call; `None` if there are several, or another tool was called."""
    if len(calls) != 1 or calls[0].tool_name != name:
        return None
    args = calls[0].args
    return _json(args) if isinstance(args, str) else args


def _json(text: str) -> object:
    """Parse a text as strict JSON; `None` if it is not."""
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
