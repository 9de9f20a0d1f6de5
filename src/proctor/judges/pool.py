"""The judges of a run: their models, concurrency limits, answer cache, budget and usage."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from proctor.common.code_identity import identify
from proctor.errors import CriterionError, SetupError
from proctor.judges.ask import ask_once
from proctor.judges.base import AnswerCache, Ballot, Question, Settled, V, Vote
from proctor.judges.cache import cache_entry, content_key, sample_key, vote_from_cache
from proctor.judges.injection_signs import signs_in
from proctor.judges.votes import cast, is_settled_by_default
from proctor.models.base import Budget, ChatModel, Message, ModelError, ModelFault, ModelOptions, Reply
from proctor.models.function import checked_reply, error_of_exception
from proctor.models.load import check_settings
from proctor.models.retries import Limiter
from proctor.models.settings import patience_of, settings_of
from proctor.schema.format.criterion import JudgeModelOptions
from proctor.schema.results.model_usage import Spent as SpentOf

__all__ = ["ModelJudge", "RunJudges", "Spent", "SpentOnModel", "code_of", "identity_of"]


@dataclass(slots=True)
class SpentOnModel:
    """The usage of one model."""

    calls: int = 0
    """Finished calls, with or without a reply."""
    requests: int = 0
    """Requests to the provider, including retries."""
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    """Replies without token counts; the sums do not include them."""
    cost: float = 0.0
    """US dollars."""
    unpriced: int = 0
    """Replies with an unknown price."""


@dataclass(slots=True)
class Spent:
    """The usage of the judges of a run, by the model's name."""

    models: dict[str, SpentOnModel] = field(default_factory=dict)
    cached: int = 0
    """Votes from the cache, which cost nothing."""

    @property
    def calls(self) -> int:
        """The number of calls."""
        return sum(usage.calls for usage in self.models.values())

    @property
    def cost(self) -> float | None:
        """US dollars; `None` if the price of any reply is unknown."""
        if any(usage.unpriced for usage in self.models.values()):
            return None
        return sum(usage.cost for usage in self.models.values())

    def add(self, model: str, reply: Reply) -> None:
        """Count a reply."""
        spent = self.models.setdefault(model, SpentOnModel())
        spent.calls += 1
        spent.requests += reply.requests
        usage = reply.usage
        if usage is None or usage.input_tokens is None or usage.output_tokens is None:
            spent.uncounted += 1
        else:
            spent.input_tokens += usage.input_tokens
            spent.output_tokens += usage.output_tokens
        if reply.cost is None:
            spent.unpriced += 1
        else:
            spent.cost += reply.cost

    def by_model(self, purpose: str) -> list[SpentOf]:
        """Return the usage for the record of a run. Cached answers have no model."""
        usages = [
            SpentOf(
                purpose=purpose,
                model=model,
                calls=usage.calls,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                uncounted=usage.uncounted,
                cost=usage.cost,
                unpriced=usage.unpriced,
            )
            for model, usage in self.models.items()
        ]
        return [*usages, SpentOf(purpose=purpose, cached=self.cached)] if self.cached else usages

    def add_failure(self, model: str, error: ModelError) -> None:
        """Count a call without a reply."""
        spent = self.models.setdefault(model, SpentOnModel())
        spent.calls += 1
        spent.failed += 1
        spent.requests += getattr(error, "requests", 1)


PURPOSE = "judge"
"""The purpose of judges' calls in the usage of a run."""
_GRACE = 1.0
"""Seconds that a model gets to end after it was cancelled."""

Finder = Callable[[str, Limiter], ChatModel]
"""Return the model of a name with a concurrency limit; raises `SetupError`."""


@dataclass(slots=True, kw_only=True)
class RunJudges:
    """Implements `Judges`. One per run, used on one event loop."""

    find: Finder
    default: str
    """The model of criteria that do not name one."""
    only: ChatModel | None = None
    """A model object that replaces every other model."""
    cache: AnswerCache | None = None
    budget: Budget | None = None
    spent: Spent = field(default_factory=Spent)
    limiter: Limiter = field(default_factory=Limiter)
    """The limit of concurrent calls."""
    notify: Callable[[str], None] = lambda _: None
    """Called when the run gives up on a model that rejected too many calls."""
    asking: dict[str, asyncio.Future[bool]] = field(default_factory=dict)
    """Requests in progress, by cache key; the result is whether there was an answer. Avoids paying twice for the same."""
    _models: dict[str, ChatModel] = field(default_factory=dict)
    _turns: dict[tuple[str, str, int], asyncio.Semaphore] = field(default_factory=dict)

    def judge(self, metric: str, options: JudgeModelOptions, *, stated: bool) -> ModelJudge:
        """Return the judge of a criterion. `stated`: whether the criterion names its own model.

        Raises:
            SetupError: the model is unknown, or its key or an extra is missing.
            CriterionError: its settings are invalid.
        """
        model = self.only or self._load_model(options.judge_model if stated else self.default)
        try:
            notes = check_settings(model, settings_of(options.judge_model_config))
        except SetupError as problem:
            raise CriterionError(f"{metric}: judge_model_config: {problem}") from problem
        return ModelJudge(self, model, metric, options, notes)

    def remember(self, cache: AnswerCache) -> None:
        """Use this cache for the answers of models."""
        self.cache = cache

    def listen(self, notify: Callable[[str], None]) -> None:
        """Call `notify` with the reason when the run gives up on a judge."""
        self.notify = notify

    async def close(self) -> None:
        """Close the connections of the models that were loaded by name."""
        for model in self._models.values():
            close = getattr(model, "close", None)
            if close is not None:
                await close()

    def spending(self) -> list[SpentOf]:
        """Return the usage so far, by model."""
        return self.spent.by_model(PURPOSE)

    def turns(self, metric: str, model: str, limit: int) -> asyncio.Semaphore:
        """Return the semaphore of a criterion's `parallelism_limit`, which all eval sets share."""
        return self._turns.setdefault((metric, model, limit), asyncio.Semaphore(limit))

    def _load_model(self, name: str) -> ChatModel:
        if name not in self._models:
            self._models[name] = self.find(name, self.limiter)
        return self._models[name]

    async def call(self, model: ChatModel, messages: Sequence[Message], options: ModelOptions) -> Reply:
        """Call a model once within the limits of the run, and count the usage.

        Raises:
            ModelError: the request failed. Other exceptions of a model become `ModelError`.
        """
        if self.budget is not None:
            await self.budget.admit(PURPOSE)
        reply: Reply | None = None
        try:
            reply = await self._reply(model, messages, options)
        except ModelError as error:
            self.spent.add_failure(model.name, error)
            if error.fault is ModelFault.GIVEN_UP:
                self.notify(f"the judge {model.name}: {error}")
            raise
        finally:
            if self.budget is not None:
                self.budget.settle(PURPOSE, reply)
        self.spent.add(model.name, reply)
        return reply

    async def _reply(self, model: ChatModel, messages: Sequence[Message], options: ModelOptions) -> Reply:
        if model is not self.only:  # a model loaded by name enforces its own limits
            return await model.complete(messages, options=options)
        turn = await self.limiter.acquire()
        try:
            ask = partial(model.complete, messages, options=options)
            return await _complete_within(ask, options.timeout, model.name)
        finally:
            self.limiter.release(turn)


class ModelJudge:
    """Implements `Judge` and `PromptedJudge`: one model for one criterion."""

    def __init__(
        self,
        judges: RunJudges,
        model: ChatModel,
        metric: str,
        options: JudgeModelOptions,
        notes: Sequence[str] = (),
    ) -> None:
        self.model = model.name
        self.notes = notes
        self._judges, self._model, self._options = judges, model, options
        self.metric = metric
        self._settings = settings_of(options.judge_model_config)
        self._timeout = patience_of(self._settings)
        self.code: str | None
        """The identity of its code; empty for a model of Proctor, which its name identifies, `None` if unknown."""
        self.code = code_of(model) if model is judges.only else getattr(model, "code", "")
        identity = identity_of(model) if model is judges.only else self.code
        self._identity = f"{model.name} {identity}".rstrip() if identity is not None else None
        limited = "parallelism_limit" in options.model_fields_set
        self._turns = judges.turns(metric, model.name, options.parallelism_limit) if limited else None

    async def ask(
        self, question: Question[V], *, samples: int | None = None, settled: Settled[V] | None = None
    ) -> Ballot[V]:
        """Request up to `samples` verdicts; see `Judge`."""
        planned = samples or self._options.num_samples
        identity = self._identity
        content = None if identity is None else content_key(question, identity, self._settings)
        votes, is_decided = await cast(
            partial(self._vote, question, content), planned, settled or is_settled_by_default
        )
        return Ballot(
            votes=votes,
            planned=planned,
            is_decided=is_decided,
            model=self.model,
            prompt=question.prompt.hash,
            signs=signs_in(question.passages),
        )

    async def answer(self, prompt: str) -> Reply:
        """Return one reply to the prompt of a custom metric, within the limits of the run; it is never cached.

        Raises:
            ModelError: the request failed.
        """
        options = ModelOptions(settings=self._settings, timeout=self._timeout)
        asking = partial(self._judges.call, self._model, [Message("user", prompt)], options)
        if self._turns is None:
            return await asking()
        async with self._turns:
            return await asking()

    async def _vote(self, question: Question[V], content: bytes | None, number: int) -> Vote[V]:
        cache = self._judges.cache
        if cache is None or content is None:
            return (await self._request_vote(question))[0]
        key, asking = sample_key(content, number), self._judges.asking
        while (known := vote_from_cache(cache.get(key), question)) is None:
            if (pending := asking.get(key)) is None:
                return await self._request_for_cache(question, key, cache)
            if await asyncio.shield(pending):
                continue  # the answer is in the cache now
            break  # that request failed, this one may succeed
        if known is None:
            return (await self._request_vote(question))[0]
        self._judges.spent.cached += 1
        return known

    async def _request_for_cache(self, question: Question[V], key: str, cache: AnswerCache) -> Vote[V]:
        """Request a vote while identical requests wait for its answer."""
        pending = self._judges.asking[key] = asyncio.get_running_loop().create_future()
        answer = None
        try:
            vote, answer = await self._request_vote(question)
            if answer is not None:
                cache.put(key, cache_entry(vote, answer))
            return vote
        finally:
            del self._judges.asking[key]
            pending.set_result(answer is not None)

    async def _request_vote(self, question: Question[V]) -> tuple[Vote[V], dict[str, object] | None]:
        if self._turns is None:
            return await self._ask_once(question)
        async with self._turns:
            return await self._ask_once(question)

    async def _ask_once(self, question: Question[V]) -> tuple[Vote[V], dict[str, object] | None]:
        return await ask_once(
            question,
            partial(self._judges.call, self._model),
            has_schemas=self._model.has_schemas,
            settings=self._settings,
            seconds=self._timeout,
        )


async def _complete_within(ask: Callable[[], Awaitable[Reply]], seconds: float | None, name: str) -> Reply:
    """Wait for a model for a limited time. A model that ignores its cancellation is abandoned."""
    task: asyncio.Task[Reply] = asyncio.ensure_future(_complete_safely(ask, name))
    try:
        done, _ = await asyncio.wait({task}, timeout=None if seconds is None else seconds + _GRACE)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task}, timeout=_GRACE)
        raise
    if not done:
        task.cancel()
        await asyncio.wait({task}, timeout=_GRACE)
        raise ModelError(f"{name} did not answer within {seconds:g} s", fault=ModelFault.TIMED_OUT)
    if task.cancelled():
        raise ModelError(f"{name} cancelled itself", fault=ModelFault.RAISED)
    return task.result()


async def _complete_safely(ask: Callable[[], Awaitable[Reply]], name: str) -> Reply:
    """Convert every exception or invalid reply of a user's model object to a `ModelError`."""
    try:
        reply = await ask()
    except (ModelError, asyncio.CancelledError, GeneratorExit):
        raise
    except BaseException as error:  # SystemExit would end the event loop and the run
        raise error_of_exception(name, error) from error
    return checked_reply(reply, name)


# --- The identity of a model object, for the cache and the manifest: its code and its attributes ---


def identity_of(model: ChatModel) -> str | None:
    """Return the identity of a model object; `None` if not all of its code is known.

    The answers of a model without identity are not cached: another model may look the same.
    """
    identity = identify(getattr(model, "identity", model))
    return f"{identity.held} {identity.modules}" if identity.is_complete else None


def code_of(model: ChatModel) -> str | None:
    """Return the identity of the code of a model object or function; `None` if unknown.

    It excludes the attributes: a judge that counts its calls is the same judge in the next run.
    """
    code = getattr(model, "function", None) or type(model)
    identity = identify(code)
    line = getattr(getattr(code, "__code__", None), "co_firstlineno", "")
    name = f"{getattr(code, '__module__', '')}.{getattr(code, '__qualname__', type(code).__qualname__)}"
    return f"{name} {line} {identity.modules}" if identity.is_complete else None
