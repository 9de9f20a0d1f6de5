"""Retries of requests to models, with back-off, deadline, concurrency limit and statistics. No other layer retries."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from proctor.models.base import (
    ChatModel,
    Message,
    ModelError,
    ModelFault,
    ModelOptions,
    Reply,
    check_settings,
    close_models,
)
from proctor.models.batch_endpoint import BatchEndpoint, endpoint_of
from proctor.models.function import complete_safely


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The limits of retries and timeouts for one call."""

    timeout: float = 120.0
    """Seconds for one call with all its requests and waits; the wait for a slot is not counted."""
    request_timeout: float = 60.0
    """Seconds for one request."""
    longest_wait: float = 60.0
    """The maximum wait in seconds, even if the provider asks for more."""
    first_wait: float = 1.0
    """Seconds before the first retry if the provider sends no wait; doubled for each further one."""
    tries: Mapping[ModelFault, int] = field(
        default_factory=lambda: {
            ModelFault.RATE_LIMITED: 20,
            ModelFault.UNAVAILABLE: 6,
            ModelFault.TIMED_OUT: 3,
            ModelFault.BROKE_PROTOCOL: 2,
        }
    )
    """The maximum number of requests of one call with this fault; other faults are not retried."""
    at_first: int = 20
    """Concurrent requests before the first reply, so that a wrong key is not tried 200 times."""
    in_a_row: int = 5
    """After so many consecutive rejections (400, 401, 403, 404, no quota) the model is not called again."""


@dataclass(slots=True)
class Traffic:
    """Statistics of the requests to a provider."""

    requests: int = 0
    replies: int = 0
    failed: int = 0
    """Calls without a reply."""
    faults: Counter[ModelFault] = field(default_factory=Counter)
    """Failed requests by fault."""
    waited: float = 0.0
    """Seconds of waits before retries, over all calls."""


class Clock:
    """The clock and the random numbers; tests replace it."""

    def now(self) -> float:
        """Return a monotonic time in seconds."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    def chance(self) -> float:
        """Return a random number from 0 to 1."""
        return random.random()  # noqa: S311 - it spreads requests, nothing secret


_REJECTIONS = frozenset(
    {ModelFault.UNAUTHORIZED, ModelFault.NOT_FOUND, ModelFault.REJECTED, ModelFault.QUOTA}
)


class PatientModel:
    """A model with retries. All calls of a run to a model share one instance and its limits."""

    def __init__(
        self,
        model: ChatModel,
        *,
        limiter: Limiter | None = None,
        patience: Patience | None = None,
        clock: Clock | None = None,
        code: str | None = "",
    ) -> None:
        """Take a model that sends one request for each call; `code` is the result of `code_of_provider`."""
        self.name = model.name
        self.code = code
        self.has_schemas = model.has_schemas
        self.limiter = limiter or Limiter()
        self.patience = patience or Patience()
        self.traffic = Traffic()
        self._model = model
        self._prepare = getattr(model, "prepare", None)
        self._clock = clock or Clock()
        self._unproven: Limiter | None = Limiter(self.patience.at_first)
        self._rejections = 0
        self._given_up = ""

    def check(self, settings: Mapping[str, object]) -> list[str]:
        """Return a warning for each setting that the model does not support; raise SetupError for invalid ones."""
        return check_settings(self._model, settings)

    async def close(self) -> None:
        """Close the connections of the model."""
        await close_models([self._model])

    async def batch_endpoint(self) -> BatchEndpoint:
        """Return the batch endpoint of the model.

        Raises:
            SetupError: its provider has none.
        """
        return await endpoint_of(self._model)

    async def complete(self, messages: Sequence[Message], *, options: ModelOptions) -> Reply:
        """Send requests until there is a reply.

        Raises:
            ModelError: all requests failed; the error has their number, and the message the duration.
        """
        attempt = _Attempt(options.timeout or self.patience.timeout)
        while True:
            try:
                reply = await self._send(messages, options, attempt)
            except ModelError as error:
                wait = self._wait(error, attempt)
                if wait is None:
                    self.traffic.failed += 1
                    raise _final_error(error, attempt) from error
                await self._clock.sleep(wait)
                attempt.spent += wait
                self.traffic.waited += wait
            else:
                self._rejections = 0
                self.traffic.replies += 1
                return replace(reply, requests=attempt.requests, seconds=attempt.spent)

    async def _send(self, messages: Sequence[Message], options: ModelOptions, attempt: _Attempt) -> Reply:
        """Send one request; only a few at a time until the first reply."""
        first = self._unproven
        if first is None:
            return await self._request(messages, options, attempt)
        slot = await first.acquire()
        try:
            reply = await self._request(messages, options, attempt)
        finally:
            first.release(slot)
        self._unproven = None
        first.widen(self.limiter.most)
        return reply

    async def _request(self, messages: Sequence[Message], options: ModelOptions, attempt: _Attempt) -> Reply:
        slot = await self.limiter.acquire()
        limited: bool | None = None
        began = self._clock.now()
        try:
            if self._given_up:
                raise ModelError(self._given_up, fault=ModelFault.GIVEN_UP, requests=0)
            if self._prepare is not None:
                await self._prepare()
                began = self._clock.now()
            attempt.requests += 1
            self.traffic.requests += 1
            limit = min(self.patience.request_timeout, attempt.remaining)
            reply = await complete_safely(self._model, messages, replace(options, timeout=limit))
            limited = False
        except ModelError as error:
            limited = True if error.fault is ModelFault.RATE_LIMITED else None
            raise
        finally:
            attempt.spent += self._clock.now() - began
            self.limiter.release(slot, limited=limited)
        return reply

    def _wait(self, error: ModelError, attempt: _Attempt) -> float | None:
        """Return the seconds until the next request; `None` if no retry follows."""
        fault = error.fault
        if fault is ModelFault.GIVEN_UP:
            return None
        self.traffic.faults[fault] += 1
        attempt.faults[fault] += 1
        if fault in _REJECTIONS:
            self._count_rejection(error)
        if attempt.faults[fault] >= self.patience.tries.get(fault, 1):
            return None
        wait = self._wait_time(error.retry_after, attempt)
        return wait if wait < attempt.remaining else None

    def _wait_time(self, retry_after: float | None, attempt: _Attempt) -> float:
        """Return the wait that the provider asked for plus up to a tenth, or a random back-off."""
        longest, chance = self.patience.longest_wait, self._clock.chance()
        if retry_after is not None:
            return min(retry_after, longest) * (1 + chance / 10)
        doubled = self.patience.first_wait * 2.0 ** (attempt.requests - 1)
        return min(doubled, longest) * (0.5 + chance / 2)

    def _count_rejection(self, error: ModelError) -> None:
        self._rejections += 1
        if self._rejections >= self.patience.in_a_row and not self._given_up:
            self._given_up = f"{self.name} is not called again: its provider rejected {self._rejections} consecutive calls, the last with: {error}"


@dataclass(slots=True)
class _Attempt:
    """The state of one call."""

    timeout: float
    spent: float = 0.0
    """Seconds of requests and of waits."""
    requests: int = 0
    faults: Counter[ModelFault] = field(default_factory=Counter)

    @property
    def remaining(self) -> float:
        return max(0.0, self.timeout - self.spent)


def _final_error(error: ModelError, attempt: _Attempt) -> ModelError:
    """Return the error of a call, with the number and duration of its requests."""
    message = str(error)
    if error.fault is ModelFault.RATE_LIMITED and error.retry_after is not None:
        message += f"; it asks to wait {error.retry_after:.3g} s"
    if attempt.requests > 1:
        message += f" ({attempt.requests} requests in {attempt.spent:.3g} s, of {attempt.timeout:g} s)"
    return ModelError(
        message,
        fault=error.fault,
        status=error.status,
        retry_after=error.retry_after,
        requests=attempt.requests,
    )


# --- The limit of concurrent calls, which falls when the provider reports too many requests ---------------------------
#
# Additive increase, multiplicative decrease (Chiu and Jain, "Analysis of the increase and decrease algorithms for congestion
# avoidance in computer networks", 1989).


_FALLS_TO = 0.7
"""The new limit, as a fraction of the calls in progress at a rate limit error."""
_RISES_BY = 0.1
"""The minimum rise for each reply: from 1 to 200 it takes 2,000 replies; a rise of one for each round would take 20,000."""


@dataclass(slots=True)
class RequestPermit:
    """The permission for one request."""

    round: int
    """The number of falls of the limit before this request; only requests after the last fall may lower it again."""


class Limiter:
    """Grants slots for requests, first come, first served. For one event loop at a time."""

    def __init__(self, most: int = 200) -> None:
        """Start with the limit `most`, which is also the maximum."""
        self.most = most
        self.lowest = float(most)
        """The lowest limit so far, for reports."""
        self.limit = float(most)
        self.in_use = 0
        self._round = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> RequestPermit:
        """Wait for a slot."""
        if not self._has_room() or any(not slot.done() for slot in self._waiting):
            slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(slot)
            try:
                await slot
            except asyncio.CancelledError:
                if not slot.cancelled():  # the slot was granted before the cancellation
                    self._free_slot()
                raise
        else:
            self.in_use += 1
        return RequestPermit(self._round)

    def release(self, slot: RequestPermit, *, limited: bool | None = None) -> None:
        """Return a slot. `limited`: whether the provider reported too many requests; `None` if unknown."""
        if limited and slot.round == self._round:
            self._round += 1
            self.limit = max(1.0, min(self.limit, self.in_use) * _FALLS_TO)
            self.lowest = min(self.lowest, self.limit)
        elif limited is False:
            self.limit = min(float(self.most), self.limit + max(_RISES_BY, 1.0 / self.limit))
        self._free_slot()

    def share(self, processes: int) -> None:
        """Take an equal part of the limit: so many processes send requests to the same provider."""
        self.most = max(1, self.most // processes)
        self.limit = self.lowest = float(self.most)

    def widen(self, most: int) -> None:
        """Raise the limit and its maximum to `most`."""
        self.most, self.limit = most, float(most)
        self._grant_slots()

    def _has_room(self) -> bool:
        return self.in_use < int(self.limit)

    def _free_slot(self) -> None:
        self.in_use -= 1
        self._grant_slots()

    def _grant_slots(self) -> None:
        while self._waiting and self._has_room():
            slot = self._waiting.popleft()
            if not slot.done():  # otherwise the waiting call was cancelled
                self.in_use += 1
                slot.set_result(None)
