"""The batch endpoints of OpenAI and Anthropic, through pydantic-ai and the clients of the providers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Protocol

from proctor.errors import SetupError
from proctor.models.base import Message, ModelError, ModelFault, ModelOptions, Reply
from proctor.models.batch_endpoint import BATCH_PRICE, PROVIDERS, BatchProgress, EncodedRequest, wait_for_turn
from proctor.models.prices import price_of

_METADATA = "proctor_submission"
_ASKEW = 3600.0
"""Seconds by which the clocks of this machine and of the provider may differ."""
_PAGE = 100
_MOST_OUTPUT = 8192
"""The assumed maximum length of an answer, in tokens, if the settings have none."""


class Owner(Protocol):
    """The model of Proctor whose batches they are."""

    name: str
    has_own_address: bool
    """Whether the user named the address of the server, so that the provider's prices need not apply."""

    def parts_of_request(
        self, messages: Sequence[Message], options: ModelOptions
    ) -> tuple[list[Any], dict[str, Any], Any]:
        """Return the messages, settings and parameters of a request, as pydantic-ai takes them."""
        ...

    def read_response(self, response: Any, options: ModelOptions) -> Reply:
        """Return the reply in a response of pydantic-ai, with its cost at the usual price."""
        ...

    def error_of(self, error: Exception) -> ModelError:
        """Return the error for an exception of a client."""
        ...


def batch_endpoint(owner: Owner, model: Any) -> OpenAIBatches | AnthropicBatches:
    """Return the batch endpoint of a model of pydantic-ai.

    Raises:
        SetupError: it has none.
    """
    if not hasattr(model, "batch_max_requests"):
        raise SetupError("--batch needs pydantic-ai-slim 2.62 or newer. Run: pip install -U pydantic-ai-slim")
    kinds: dict[str, type[OpenAIBatches | AnthropicBatches]]
    kinds = {"OpenAIResponsesModel": OpenAIBatches, "AnthropicModel": AnthropicBatches}
    kind = kinds.get(type(model).__name__)
    if kind is None or model.batch_max_requests is None:
        hint = ""
        if type(model).__name__ == "OpenAIChatModel":
            name = owner.name.partition("@")[0].rpartition(":")[2]
            hint = f" Batches use the responses API of OpenAI: name the model openai-responses:{name}."
        raise SetupError(f"The model {owner.name} has no batch endpoint: --batch supports {PROVIDERS}.{hint}")
    return kind(owner, model)


class ProviderBatches:
    """Implements `BatchEndpoint`, but for the calls in which providers differ."""

    def __init__(self, owner: Owner, model: Any) -> None:
        self._owner, self._model = owner, model
        self.most_requests: int = model.batch_max_requests
        self.most_bytes: int | None = model.batch_max_bytes

    async def encode(
        self, request_id: str, messages: Sequence[Message], options: ModelOptions
    ) -> EncodedRequest:
        """Return a request in the form of the provider; nothing is sent."""
        from pydantic_ai.models.batch import BatchRequest

        parts, settings, parameters = self._owner.parts_of_request(messages, options)
        form = BatchRequest(
            custom_id=request_id,
            messages=parts,
            model_settings=settings,
            model_request_parameters=parameters,
        )
        with self._errors():
            body = await self._model.batch_encode(form)
        size = self._model.batch_request_size(body)
        most = int(settings.get("max_tokens") or _MOST_OUTPUT)
        return EncodedRequest(request_id, body.group, size, most, body, (replace(form, messages=[]), options))

    async def results(
        self, reference: str, requests: Mapping[str, EncodedRequest], group: str
    ) -> dict[str, Reply | ModelError]:
        """Return the reply, or the error, of each request of a batch that has ended, by id."""
        from pydantic_ai.models.batch import Batch

        batch = Batch(
            id=reference,
            model_name=self._model.model_name,
            provider_name=self._model.system,
            group=group,
            status="in_progress",
            created_at=datetime.now(UTC),
            request_count=len(requests),
        )
        with self._errors():
            batch_results = await self._model.batch_results(await self._model.batch_status(batch))
        known = [result for result in batch_results if result.custom_id in requests]
        return {result.custom_id: self._read(result, requests[result.custom_id]) for result in known}

    def _read(self, result: Any, request: EncodedRequest) -> Reply | ModelError:
        if result.status in ("expired", "canceled"):
            text = f"{self._owner.name}: the batch {'expired' if result.status == 'expired' else 'was cancelled'} before it answered"
            return ModelError(text, fault=ModelFault.UNAVAILABLE)
        form, options = request.form
        try:
            with self._errors():
                reply = self._owner.read_response(self._model.batch_decode(result, form), options)
        except ModelError as error:
            return error
        return reply if reply.cost is None else replace(reply, cost=reply.cost * BATCH_PRICE)

    def most_cost(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return the price of a request in a batch with so many tokens, in dollars; `None` if it is unknown."""
        if self._owner.has_own_address:
            return None
        price = price_of(self._model.model_name, input_tokens=input_tokens, output_tokens=output_tokens)
        return None if price is None else price * BATCH_PRICE

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn an exception of a client into a `ModelError`."""
        try:
            yield
        except (ModelError, SetupError):
            raise
        except Exception as error:
            raise self._owner.error_of(error) from error


class OpenAIBatches(ProviderBatches):
    """Batches of OpenAI: a file with a request in each line, and files with the results."""

    _ENDED = frozenset({"completed", "failed", "expired", "cancelled"})

    async def submit(self, submission: str, requests: Sequence[EncodedRequest]) -> str:
        """Upload the file, and create the batch with the name of the submission in its metadata."""
        client = self._model.client
        content = b"\n".join(map(_line, requests))
        with self._errors():
            file = await client.files.create(file=(f"proctor-{submission}.jsonl", content), purpose="batch")
            batch = await client.batches.create(
                input_file_id=file.id,
                endpoint="/v1/responses",
                completion_window="24h",
                metadata={_METADATA: submission},
            )
        return str(batch.id)

    async def find(self, submission: str, ids: Collection[str], since: float) -> str | None:
        """Return the batch with the name of the submission in its metadata."""
        with self._errors():
            async for batch in self._model.client.batches.list(limit=_PAGE):
                if (batch.metadata or {}).get(_METADATA) == submission:
                    return str(batch.id)
                if batch.created_at < since - _ASKEW:
                    break
        return None

    async def progress(self, reference: str) -> BatchProgress:
        """Return how far OpenAI is with a batch."""
        with self._errors():
            batch = await self._model.client.batches.retrieve(reference)
        counts = batch.request_counts
        done = (counts.completed + counts.failed, counts.total) if counts is not None else (0, 0)
        return BatchProgress(batch.status in self._ENDED, *done)


def _line(request: EncodedRequest) -> bytes:
    start = f'{{"custom_id":{json.dumps(request.id)},"method":"POST","url":"/v1/responses","body":'
    return f"{start}{request.body.body}}}".encode()


class AnthropicBatches(ProviderBatches):
    """Batches of Anthropic's messages."""

    async def submit(self, submission: str, requests: Sequence[EncodedRequest]) -> str:
        """Create the batch; the ids of its requests identify it."""
        with self._errors():
            batch = await self._model.batch_create([request.body for request in requests])
        return str(batch.id)

    async def find(self, submission: str, ids: Collection[str], since: float) -> str | None:
        """Return the batch that has these requests. Only results have ids: wait until a batch of the same size has ended."""
        async for batch in self._recent(since):
            if _total(batch) == len(ids) and await self._has_results_of(batch, ids):
                return str(batch.id)
        return None

    async def _recent(self, since: float) -> AsyncIterator[Any]:
        with self._errors():
            async for batch in self._model.client.beta.messages.batches.list(limit=_PAGE):
                if batch.created_at.timestamp() < since - _ASKEW:
                    return
                yield batch

    async def _has_results_of(self, batch: Any, ids: Collection[str]) -> bool:
        turn = 0
        while not (await self.progress(batch.id)).has_ended:
            await wait_for_turn(turn)
            turn += 1
        with self._errors():
            async for result in await self._model.client.beta.messages.batches.results(batch.id):
                return result.custom_id in ids
        return False

    async def progress(self, reference: str) -> BatchProgress:
        """Return how far Anthropic is with a batch."""
        with self._errors():
            batch = await self._model.client.beta.messages.batches.retrieve(reference)
        total = _total(batch)
        return BatchProgress(
            batch.processing_status == "ended", total - batch.request_counts.processing, total
        )


def _total(batch: Any) -> int:
    counts = batch.request_counts
    return int(counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired)
