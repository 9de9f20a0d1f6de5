"""The contract of a provider's batch endpoint: many requests at once, answered within a day, at half the price."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from proctor.errors import SetupError
from proctor.models.base import ChatModel, Message, ModelError, ModelOptions, Reply

BATCH_PRICE = 0.5
"""The price of a request in a batch, as a share of its usual price, at OpenAI and Anthropic."""

PROVIDERS = "models of OpenAI (openai:…) and Anthropic (claude-…)"

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds between two questions whether a batch has ended; each wait is half as long again as the one before."""


@dataclass(frozen=True, slots=True)
class EncodedRequest:
    """A request in the form of its provider."""

    id: str
    """The id that its result has."""
    group: str
    """What the requests of one batch must have in common."""
    size: int
    """Bytes in the batch."""
    most_output: int
    """The most tokens of its answer."""
    body: Any
    """The request, for the endpoint that encoded it."""
    form: Any
    """What the endpoint needs to read the result."""


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How far a provider is with a batch."""

    has_ended: bool
    answered: int
    total: int


class BatchEndpoint(Protocol):
    """The batches of one model. Every method that calls the provider raises `ModelError` if the call fails."""

    most_requests: int
    most_bytes: int | None

    async def encode(
        self, request_id: str, messages: Sequence[Message], options: ModelOptions
    ) -> EncodedRequest:
        """Return a request in the form of the provider; nothing is sent."""
        ...

    async def submit(self, submission: str, requests: Sequence[EncodedRequest]) -> str:
        """Submit a batch under the name of the submission, and return the provider's id of it."""
        ...

    async def find(self, submission: str, ids: Collection[str], since: float) -> str | None:
        """Return the provider's id of a batch that was submitted under this name, or has these requests, after `since`."""
        ...

    async def progress(self, reference: str) -> BatchProgress:
        """Return how far the provider is with a batch."""
        ...

    async def results(
        self, reference: str, requests: Mapping[str, EncodedRequest], group: str
    ) -> dict[str, Reply | ModelError]:
        """Return the reply, or the error, of each request of a batch that has ended, by id."""
        ...

    def most_cost(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return the price of a request in a batch with so many tokens, in dollars; `None` if it is unknown."""
        ...


async def endpoint_of(model: ChatModel) -> BatchEndpoint:
    """Return the batch endpoint of a model.

    Raises:
        SetupError: its provider has none that Proctor supports.
    """
    endpoint = getattr(model, "batch_endpoint", None)
    if endpoint is None:
        raise SetupError(f"The model {model.name} has no batch endpoint: --batch supports {PROVIDERS}.")
    batch_endpoint: BatchEndpoint = await endpoint()
    return batch_endpoint


async def wait_for_turn(turn: int) -> None:
    """Wait before the question number `turn` (from 0) whether a batch has ended."""
    await asyncio.sleep(min(LONGEST_WAIT, FIRST_WAIT * 1.5**turn))
