"""Requests of judges that wait for a batch of their provider, instead of calls.

Scoring has several passes then. In a pass that collects, each question without an answer in the cache becomes a request, and
the vote is missing. When the answers of the batch are in the cache, the next pass finds them, and collects what is still
missing: further votes, or questions that depend on an answer. The last pass finds everything and scores.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Generic, TypeAlias

from proctor.judges.ask import TRIES, problem_to_correct, read_reply, request_options
from proctor.judges.base import Question, V, Vote
from proctor.judges.cache import cache_entry
from proctor.judges.request import JudgeRequest, new_request
from proctor.judges.votes import no_reply_failure
from proctor.models.base import ChatModel, ModelError, ModelFault, Reply
from proctor.models.batch_endpoint import BatchEndpoint, EncodedRequest, endpoint_of
from proctor.schema.evidence.trial import Failure, FailureKind

MOST_BYTES = 64 * 1024 * 1024
"""Bytes of the requests of one batch at most: they are in memory until the batch is submitted."""


@dataclass(slots=True)
class WaitingRequest(Generic[V]):
    """One request that has no answer yet."""

    key: str
    """The key of its answer in the cache."""
    question: Question[V]
    """The question without its passages, which take memory."""
    request: JudgeRequest
    encoded: EncodedRequest
    vote: Vote[V] = field(default_factory=Vote)
    tries: int = 1


AnyRequest: TypeAlias = "WaitingRequest[Any]"
"""A request of any kind of question."""


@dataclass(slots=True)
class Chunk:
    """The requests of one batch: of one model, and of one kind as its provider sees it."""

    model: ChatModel
    endpoint: BatchEndpoint
    group: str
    requests: dict[str, AnyRequest] = field(default_factory=dict)
    """By the key of the answer."""
    size: int = 0
    """Bytes."""

    def add(self, request: AnyRequest) -> None:
        """Add a request."""
        self.requests[request.key] = request
        self.size += request.encoded.size

    def has_room_for(self, request: AnyRequest) -> bool:
        """Return whether the provider accepts one more request in the same batch, and memory has room for it."""
        most = min(self.endpoint.most_bytes or MOST_BYTES, MOST_BYTES)
        has_space = self.size + request.encoded.size <= most
        return len(self.requests) < self.endpoint.most_requests and has_space

    def release_bodies(self) -> None:
        """Forget the bodies of requests that were submitted: the results do not need them."""
        for request in self.requests.values():
            request.encoded = replace(request.encoded, body=None)


class JudgeBatch:
    """The requests of the judges of a run that have no answer in the cache."""

    def __init__(self, secret: str, submit: Callable[[Chunk], Awaitable[None]]) -> None:
        """Take a random `secret` for new requests, and the function that submits a full chunk; it must not raise."""
        self.is_collecting = False
        self.new: dict[tuple[str, str], Chunk] = {}
        """The requests of no batch yet, by model and group."""
        self.submitted: dict[str, Chunk] = {}
        """The requests of batches that were submitted before, by the name of the submission."""
        self.secret = secret
        self._submit = submit
        self._earlier: dict[str, tuple[str, str]] = {}
        self.collected = 0
        """The requests without an answer that this pass has found."""
        self._seen: set[str] = set()
        self._retried: dict[str, AnyRequest] = {}
        self._failed: dict[str, Vote[Any]] = {}
        self._paid: dict[str, float | None] = {}

    def begin_pass(self, earlier: Iterable[tuple[str, str, Iterable[str]]]) -> None:
        """Collect from now on. `earlier`: name, secret and keys of each batch that was submitted before."""
        self.is_collecting = True
        self.new, self.submitted, self.collected, self._seen = {}, {}, 0, set()
        self._earlier = {key: (name, secret) for name, secret, keys in earlier for key in keys}

    async def vote(
        self, key: str, question: Question[V], model: ChatModel, settings: Mapping[str, object]
    ) -> Vote[V]:
        """Return the vote of a request whose answer is not in the cache: it has a problem, and no verdict."""
        if (failed := self._failed.get(key)) is not None:
            return failed
        if key in self._paid:  # it must not be asked again and again
            message = "the store did not return the answer of the batch"
            return self._fail(key, ModelError(message, fault=ModelFault.BROKE_PROTOCOL), question.turn)
        if self.is_collecting and key not in self._seen:
            self._seen.add(key)
            try:
                await self._collect(key, question, model, settings)
            except ModelError as error:  # the provider would not accept it, for instance because of its size
                return self._fail(key, error, question.turn)
        return Vote(problem=_waiting(question.turn), is_pending=True)

    def _fail(self, key: str, error: ModelError, turn: int | None) -> Vote[Any]:
        failed = self._failed[key] = Vote(problem=no_reply_failure(error, turn))
        return failed

    async def _collect(
        self, key: str, question: Question[V], model: ChatModel, settings: Mapping[str, object]
    ) -> None:
        name, secret = self._earlier.get(key, ("", self.secret))
        last = self._retried.pop(key, None)
        problem = problem_to_correct(last.vote.problem) if last is not None else ""
        request = new_request(question, as_text=False, problem=problem or "", draw=_drawer(secret, key))
        options = request_options(question, request, settings, None)
        endpoint = await endpoint_of(model)
        encoded = await endpoint.encode(request_id(secret, key), request.messages, options)
        waiting = WaitingRequest(key, replace(question, passages=()), replace(request, messages=()), encoded)
        if last is not None:
            waiting.vote, waiting.tries = last.vote, last.tries + 1
        self.collected += 1
        chunk = Chunk(model, endpoint, encoded.group)
        if name:
            chunk = self.submitted.setdefault(name, chunk)
            chunk.add(waiting)
            waiting.encoded = replace(encoded, body=None)
            return
        chunk = self.new.setdefault((model.name, encoded.group), chunk)
        if not chunk.has_room_for(waiting):
            self.new[model.name, encoded.group] = Chunk(model, endpoint, encoded.group)
            self.new[model.name, encoded.group].add(waiting)
            await self._submit(chunk)
        else:
            chunk.add(waiting)

    def receive(self, waiting: AnyRequest, reply: Reply | ModelError) -> bytes | None:
        """Take the reply to a request; return its entry for the cache, or `None` if there is no answer."""
        vote = waiting.vote
        if isinstance(reply, ModelError):
            vote.problem = no_reply_failure(reply, waiting.question.turn)
            self._failed[waiting.key] = vote
            return None
        answer = read_reply(waiting.question, waiting.request, reply, vote, has_schemas=True)
        if answer is not None:
            self._paid[waiting.key] = vote.cost
            return cache_entry(vote, answer)
        if waiting.tries < TRIES and problem_to_correct(vote.problem) is not None:
            self._retried[waiting.key] = waiting
        else:
            self._failed[waiting.key] = vote
        return None

    def refuse(self, requests: Iterable[AnyRequest], reason: str) -> None:
        """Make requests fail that are not sent, because a limit is reached."""
        for waiting in requests:
            failure = Failure(
                where="judge",
                kind=FailureKind.NOT_ASKED,
                message=f"not asked: {reason}",
                turn=waiting.question.turn,
            )
            waiting.vote.problem = failure
            self._failed[waiting.key] = waiting.vote

    def counts_itself(self, key: str, vote: Vote[Any]) -> bool:
        """Return whether a vote from the cache is none for the usage of the run: a batch of this process paid for it.

        The vote then has its cost, like that of a call. In a pass that only collects, no vote counts.
        """
        if not self.is_collecting and key in self._paid:
            vote.cached, vote.cost = False, self._paid.pop(key)
            return True
        return self.is_collecting


def _waiting(turn: int | None) -> Failure:
    message = "the batch has no answer to this request"
    return Failure(where="judge", kind=FailureKind.NO_REPLY, message=message, turn=turn)


# --- Random tokens that another process can derive again from the secret of the submission -----------------------------


def request_id(secret: str, key: str) -> str:
    """Return the id of a request in the batches of its provider."""
    return _derive(secret, f"{key}/id", 16)


def _derive(secret: str, label: str, size: int) -> str:
    return hmac.digest(bytes.fromhex(secret), label.encode(), "sha256")[:size].hex()


def _drawer(secret: str, key: str) -> Callable[[int], str]:
    numbers = count()
    return lambda size: _derive(secret, f"{key}/{next(numbers)}", size)
