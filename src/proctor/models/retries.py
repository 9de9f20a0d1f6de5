"""The one layer that tries again: waits as asked, backs off, keeps a deadline, counts, and gives up in time."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from proctor.models.base import ChatModel, Message, ModelError, ModelFault, ModelOptions, Reply
from proctor.models.concurrency_limit import Limiter
from proctor.models.function import raised, sound_reply

__all__ = ["Clock", "Patience", "PatientModel", "Traffic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often, and for how long, one reply is tried for."""

    timeout: float = 120.0
    """Seconds that one call may take, all requests and waits together; waiting for one's turn is not counted."""
    request_timeout: float = 60.0
    """Seconds that one of its requests may take."""
    longest_wait: float = 60.0
    """Seconds that are waited at most before the next request, whatever the provider asks for."""
    first_wait: float = 1.0
    """Seconds before the second request, where the provider asks for none; doubled each time."""
    tries: Mapping[ModelFault, int] = field(
        default_factory=lambda: {
            ModelFault.RATE_LIMITED: 20,
            ModelFault.UNAVAILABLE: 6,
            ModelFault.TIMED_OUT: 3,
            ModelFault.BROKE_PROTOCOL: 2,
        }
    )
    """How many requests of one call may end so; all other faults end it at once."""
    at_first: int = 20
    """Requests at once until there is a first reply: a key that is wrong is not tried 200 times."""
    in_a_row: int = 5
    """After so many calls in a row that were turned away (400, 401, 403, 404, no quota), none is made any more."""


@dataclass(slots=True)
class Traffic:
    """What passed between a model and its provider."""

    requests: int = 0
    replies: int = 0
    failed: int = 0
    """Calls without a reply."""
    faults: Counter[ModelFault] = field(default_factory=Counter)
    """Requests that ended without a reply, by their fault."""
    waited: float = 0.0
    """Seconds, over all calls, between one request and the next."""


class Clock:
    """Time and chance; tests have their own."""

    def now(self) -> float:
        """Return seconds that only go forward."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    def chance(self) -> float:
        """Return a random number from 0 to 1."""
        return random.random()  # noqa: S311 - it spreads requests, and guards nothing


_GRACE = 1.0
"""Seconds that a model has for saying itself that it is too late."""

_TURNED_AWAY = frozenset(
    {ModelFault.UNAUTHORIZED, ModelFault.NOT_FOUND, ModelFault.REJECTED, ModelFault.QUOTA}
)


class PatientModel:
    """A model that is asked again where that may help. All calls of a run go through one, and share its limits."""

    keeps_time = True
    """It ends by itself when `ModelOptions.timeout` is over; who calls it need not watch it."""

    def __init__(
        self,
        model: ChatModel,
        *,
        limiter: Limiter | None = None,
        patience: Patience | None = None,
        clock: Clock | None = None,
        code: str | None = "",
    ) -> None:
        """Take the model that makes one request at a time; `code` as `proctor.models.load.code_of_provider` returns it."""
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
        self._turned_away = 0
        self._given_up = ""

    def check(self, settings: Mapping[str, Any]) -> list[str]:
        """Return one sentence for each setting that the model will not get; raises SetupError for impossible ones."""
        check = getattr(self._model, "check", None)
        notes: list[str] = check(settings) if check is not None else []
        return notes

    async def close(self) -> None:
        """Close what the model holds open."""
        if (close := getattr(self._model, "close", None)) is not None:
            await close()

    async def complete(self, messages: Sequence[Message], *, options: ModelOptions) -> Reply:
        """Ask until there is a reply.

        Raises:
            ModelError: there is none; `requests` says how many were made, and the message after how long.
        """
        attempt = _Attempt(options.timeout or self.patience.timeout)
        while True:
            try:
                reply = await self._ask(messages, options, attempt)
            except ModelError as error:
                wait = self._wait(error, attempt)
                if wait is None:
                    self.traffic.failed += 1
                    raise _final(error, attempt) from error
                await self._clock.sleep(wait)
                attempt.spent += wait
                self.traffic.waited += wait
            else:
                self._turned_away = 0
                self.traffic.replies += 1
                return replace(reply, requests=attempt.requests, seconds=attempt.spent)

    async def _ask(self, messages: Sequence[Message], options: ModelOptions, attempt: _Attempt) -> Reply:
        """Make one request, when it is its turn."""
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
            limit = min(self.patience.request_timeout, attempt.left)
            reply = await _whatever_it_raises(self._model, messages, replace(options, timeout=limit))
            limited = False
        except ModelError as error:
            limited = True if error.fault is ModelFault.RATE_LIMITED else None
            raise
        finally:
            attempt.spent += self._clock.now() - began
            self.limiter.release(slot, limited=limited)
        return reply

    def _wait(self, error: ModelError, attempt: _Attempt) -> float | None:
        """Return the seconds until the next request; `None`: there is to be none."""
        fault = error.fault
        if fault is ModelFault.GIVEN_UP:
            return None
        self.traffic.faults[fault] += 1
        attempt.faults[fault] += 1
        if fault in _TURNED_AWAY:
            self._count_turned_away(error)
        if attempt.faults[fault] >= self.patience.tries.get(fault, 1):
            return None
        wait = self._asked_or_backed_off(error.retry_after, attempt)
        return wait if wait < attempt.left else None

    def _asked_or_backed_off(self, asked: float | None, attempt: _Attempt) -> float:
        """Return what was asked for, and up to a tenth more; else a random time, up to twice the last one."""
        longest, chance = self.patience.longest_wait, self._clock.chance()
        if asked is not None:
            return min(asked, longest) * (1 + chance / 10)
        doubled = self.patience.first_wait * 2.0 ** (attempt.requests - 1)
        return min(doubled, longest) * (0.5 + chance / 2)

    def _count_turned_away(self, error: ModelError) -> None:
        self._turned_away += 1
        if self._turned_away >= self.patience.in_a_row and not self._given_up:
            self._given_up = (
                f"{self.name} is not asked any more: {self._turned_away} calls in a row were turned away, the last "
                f"one so: {error}"
            )


@dataclass(slots=True)
class _Attempt:
    """One call, so far."""

    timeout: float
    spent: float = 0.0
    """Seconds of requests and of waits."""
    requests: int = 0
    faults: Counter[ModelFault] = field(default_factory=Counter)

    @property
    def left(self) -> float:
        return max(0.0, self.timeout - self.spent)


async def _whatever_it_raises(model: ChatModel, messages: Sequence[Message], options: ModelOptions) -> Reply:
    """Ask; a model of somebody else's may raise anything, or keep no time."""
    limit = asyncio.timeout(None if options.timeout is None else options.timeout + _GRACE)
    try:
        async with limit:
            return sound_reply(await model.complete(messages, options=options), model.name)
    except ModelError:
        raise
    except Exception as error:
        if limit.expired():
            message = f"{model.name} did not answer within {options.timeout:g} s"
            raise ModelError(message, fault=ModelFault.TIMED_OUT) from error
        raise raised(model.name, error) from error


def _final(error: ModelError, attempt: _Attempt) -> ModelError:
    """Return the error that ends a call, which says what was tried."""
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
