"""The contract of a chat model: messages in, one reply out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from proctor.errors import EvalError


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """How a model is to answer."""

    schema: Mapping[str, Any] | None = None
    """The JSON Schema of the answer that is wanted; `None`: text."""
    schema_name: str = "answer"
    settings: Mapping[str, Any] = field(default_factory=dict)
    """As the format's GenerateContentConfig names them: `temperature`, `top_p`, `max_output_tokens`, `seed` …"""
    echo: Mapping[str, str] = field(default_factory=dict)
    """Fields of the answer whose values only this call's instructions say, so that an answer copied from the data is
    found out. For models that follow a script, which fill them in; a provider's model reads them in the messages."""
    timeout: float | None = None
    """Seconds that the call may take, whatever is tried again within it; `None`: the model's own limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens, as the provider counted them; `None` where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    """Of the input tokens, those that were read from the provider's cache."""


class Finish(StrEnum):
    """Why an answer ended."""

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered."""

    text: str = ""
    """The answer as it came; with a schema, its JSON as the provider sent it."""
    structured: Any = None
    """The answer as data, where the provider gave it through a schema or a tool call; never taken out of text."""
    model: str = ""
    """The model that answered, as the provider names it."""
    finish: Finish = Finish.STOP
    usage: Usage | None = None
    cost: float | None = None
    """US dollars; `None` where the price is not known."""
    seconds: float = 0.0
    requests: int = 1
    """How often the provider was asked for this reply."""


class ChatModel(Protocol):
    """A model that answers."""

    name: str
    """As users write it."""
    has_schemas: bool
    """Whether it can be held to a JSON Schema (by schema or tool call); otherwise its answers are text."""

    async def complete(self, messages: Sequence[Message], *, options: ModelOptions) -> Reply:
        """Ask once; what may be tried again has been when this returns.

        Raises:
            ModelError: there is no reply.
        """
        ...


class ModelFault(StrEnum):
    """What went wrong between us and a model."""

    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    """The server failed (5xx), or could not be reached."""
    TIMED_OUT = "timed_out"
    UNAUTHORIZED = "unauthorized"
    """401, 403: the key is wrong, or may not use this model."""
    NOT_FOUND = "not_found"
    """404: no such model, or no such address."""
    REJECTED = "rejected"
    """Any other 4xx: the request is wrong, and would be wrong again."""
    BROKE_PROTOCOL = "broke_protocol"
    """The answer is not what the provider's protocol says."""
    RAISED = "raised"
    """A model that is a function of the user's raised."""
    QUOTA = "quota"
    """The account has nothing left to spend, however long one waits."""
    GIVEN_UP = "given_up"
    """It was not asked: the provider turned away so many calls in a row that the next one would fare no better."""
    BUDGET = "budget"
    """It was not asked: a cap on calls or cost is reached."""


class ModelError(EvalError):
    """A model gave no reply."""

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
        """The HTTP status, where there was one."""
        self.retry_after = retry_after
        """Seconds to wait before another attempt, where the provider said so."""
        self.requests = requests
        """How often the provider was asked, in vain."""

    @property
    def infrastructure(self) -> bool:
        """Whether another attempt, later, may end better."""
        return self.fault in _MAY_PASS


_MAY_PASS = frozenset({ModelFault.RATE_LIMITED, ModelFault.UNAVAILABLE, ModelFault.TIMED_OUT})


class Budget(Protocol):
    """Says before each call to a model whether it may be made, and hears what it came to. One for all of a run.

    Whoever calls a model for the run (judges, played users) does so between `admit` and `settle`: each call that was
    admitted is settled exactly once, whatever became of it. A reply that is known from before is no call.
    """

    async def admit(self, purpose: str) -> None:
        """Wait until one more call may be made. `purpose`: `judge` or `user`.

        Raises:
            ModelError: none may be made any more; its `fault` is `BUDGET`.
        """
        ...

    def settle(self, purpose: str, reply: Reply | None) -> None:
        """Take note of what a call came to; `None` where it gave no reply."""
        ...
