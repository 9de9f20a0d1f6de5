"""The contract of a chat model: messages in, one reply out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from proctor.errors import EvalError

JsonSchema = Mapping[str, Any]
"""A JSON Schema."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """The options of one call."""

    schema: JsonSchema | None = None
    """The JSON Schema of the answer; `None` for text."""
    schema_name: str = "answer"
    settings: Mapping[str, Any] = field(default_factory=dict)
    """By the names of the format's GenerateContentConfig: `temperature`, `top_p`, `max_output_tokens`, `seed` …"""
    echo: Mapping[str, str] = field(default_factory=dict)
    """Fields that the answer must repeat; only the instructions of this call contain their values, so a copied answer is
    detected. Scripted models fill them in; a provider's model reads them in the messages."""
    timeout: float | None = None
    """Seconds for the call including its retries; `None`: the model's own limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the provider counted them; `None` if it reported none."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    """The input tokens from the provider's cache."""


class Finish(StrEnum):
    """Why an answer ended."""

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer of a model."""

    text: str = ""
    """The raw answer; with a schema, the JSON text of the provider."""
    structured: Any = None
    """The answer as data, if the provider returned it by a schema or a tool call; never parsed from other text."""
    model: str = ""
    """The provider's name of the model that answered."""
    finish: Finish = Finish.STOP
    usage: Usage | None = None
    cost: float | None = None
    """US dollars; `None` if the price is unknown."""
    seconds: float = 0.0
    requests: int = 1
    """The requests to the provider for this reply."""


class ChatModel(Protocol):
    """A model that answers messages."""

    name: str
    """The name as users write it."""
    has_schemas: bool
    """Whether it returns data by a JSON Schema (or tool call); otherwise its answers are text."""

    async def complete(self, messages: Sequence[Message], *, options: ModelOptions) -> Reply:
        """Return the answer to the messages; retries are included.

        Raises:
            ModelError: the request failed.
        """
        ...


def check_settings(model: ChatModel, settings: Mapping[str, object]) -> list[str]:
    """Return a warning for each of `settings` (names of GenerateContentConfig) that a model does not support.

    A model without its own check, such as a function, gets all of them.

    Raises:
        SetupError: a setting is unknown, or its value is invalid; all problems at once.
    """
    check = getattr(model, "check", None)
    notes: list[str] = check(settings) if check is not None else []
    return notes


async def close_models(models: Iterable[ChatModel]) -> None:
    """Close the connections of the models that have any."""
    for model in models:
        if (close := getattr(model, "close", None)) is not None:
            await close()


class ModelFault(StrEnum):
    """The kind of a failed call."""

    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    """The server failed (5xx) or is unreachable."""
    TIMED_OUT = "timed_out"
    UNAUTHORIZED = "unauthorized"
    """401, 403: the key is wrong, or has no access to this model."""
    NOT_FOUND = "not_found"
    """404: the model or the address does not exist."""
    REJECTED = "rejected"
    """Another 4xx: the request is invalid, so a retry would fail too."""
    BROKE_PROTOCOL = "broke_protocol"
    """The answer violates the provider's protocol."""
    RAISED = "raised"
    """The user's function or model object raised an exception."""
    QUOTA = "quota"
    """The quota of the account is exhausted; waiting does not help."""
    GIVEN_UP = "given_up"
    """Not called: the provider rejected too many consecutive calls."""
    BUDGET = "budget"
    """Not called: a limit on calls or cost is reached."""


class ModelError(EvalError):
    """A call of a model failed."""

    def __init__(
        self,
        message: str,
        *,
        fault: ModelFault,
        status: int | None = None,
        retry_after: float | None = None,
        requests: int = 1,
    ) -> None:
        super().__init__(message)
        self.fault = fault
        self.status = status
        """The HTTP status, if there was a response."""
        self.retry_after = retry_after
        """Seconds to wait before a retry, if the provider sent them."""
        self.requests = requests
        """The failed requests to the provider."""

    @property
    def infrastructure(self) -> bool:
        """Whether a later attempt may succeed."""
        return self.fault in _TEMPORARY


_TEMPORARY = frozenset({ModelFault.RATE_LIMITED, ModelFault.UNAVAILABLE, ModelFault.TIMED_OUT})


class Budget(Protocol):
    """Admits each call to a model and counts its cost. A run has one.

    Judges and user simulators call a model between `admit` and `settle`: each admitted call is settled exactly once, even if
    it failed. A cached reply is not a call.
    """

    async def admit(self, purpose: str) -> None:
        """Wait until one more call is allowed. `purpose`: `judge` or `user`.

        Raises:
            ModelError: the budget is exhausted; its `fault` is `BUDGET`.
        """
        ...

    def settle(self, purpose: str, reply: Reply | None) -> None:
        """Record the reply of a call; `None` if it failed."""
        ...


async def call_within(budget: Budget | None, purpose: str, call: Callable[[], Awaitable[Reply]]) -> Reply:
    """Call a model as one of the calls that a budget admits and counts; `None`: there is no budget.

    Raises:
        ModelError: the budget is exhausted, or the call failed.
    """
    if budget is None:
        return await call()
    await budget.admit(purpose)
    reply: Reply | None = None
    try:
        reply = await call()
    finally:
        budget.settle(purpose, reply)
    return reply
