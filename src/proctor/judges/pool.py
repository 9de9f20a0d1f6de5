"""The judges of a run: their models, concurrency limits, answer cache, budget and usage."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial

from proctor.common.code_identity import identify
from proctor.errors import CriterionError, SetupError
from proctor.judges.ask import ask_once
from proctor.judges.base import AnswerCache, Ballot, Question, Settled, V, Vote
from proctor.judges.batch import JudgeBatch
from proctor.judges.cache import cache_entry, content_key, sample_key, vote_from_cache
from proctor.judges.injection_signs import signs_in
from proctor.judges.votes import cast, is_settled_by_default
from proctor.models.base import (
    Budget,
    ChatModel,
    Message,
    ModelError,
    ModelFault,
    ModelOptions,
    Reply,
    call_within,
    check_settings,
    close_models,
)
from proctor.models.function import complete_safely
from proctor.models.retries import Limiter
from proctor.models.settings import patience_of, settings_of
from proctor.schema.format.criterion import JudgeModelOptions
from proctor.schema.results.model_usage import Spent

PURPOSE = "judge"
"""The purpose of judges' calls in the usage of a run."""

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
    spent: dict[str, Spent] = field(default_factory=dict)
    """The usage so far by model. Votes from the cache cost nothing; they have no model."""
    limiter: Limiter = field(default_factory=Limiter)
    """The limit of concurrent calls."""
    notify: Callable[[str], None] = lambda _: None
    """Called when the run gives up on a model that rejected too many calls."""
    batch: JudgeBatch | None = None
    """Collects the requests that the cache does not answer; `None`: they are sent at once."""
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
        await close_models(self._models.values())

    def spending(self) -> list[Spent]:
        """Return the usage so far, by model."""
        return [spent.model_copy() for spent in self.spent.values()]

    def count_cached(self) -> None:
        """Count a vote from the cache."""
        self._usage_of("").cached += 1

    def _usage_of(self, model: str) -> Spent:
        return self.spent.setdefault(model, Spent(purpose=PURPOSE, model=model))

    def count(self, model: str, reply: Reply | None) -> None:
        """Count the usage of a call; `None`: it failed."""
        spent = self._usage_of(model)
        spent.calls += 1
        if reply is None:
            return
        usage = reply.usage
        if usage is None or usage.input_tokens is None or usage.output_tokens is None:
            spent.uncounted += 1
        else:
            spent.input_tokens += usage.input_tokens
            spent.output_tokens += usage.output_tokens
        spent.unpriced += reply.cost is None
        spent.cost += reply.cost or 0.0

    def turns(self, metric: str, model: str, limit: int) -> asyncio.Semaphore:
        """Return the semaphore of a criterion's `parallelism_limit`, which all eval sets share."""
        return self._turns.setdefault((metric, model, limit), asyncio.Semaphore(limit))

    def models(self) -> list[ChatModel]:
        """Return the models that the criteria name."""
        return [*self._models.values()]

    def _load_model(self, name: str) -> ChatModel:
        if name not in self._models:
            self._models[name] = self.find(name, self.limiter)
        return self._models[name]

    async def call(self, model: ChatModel, messages: Sequence[Message], options: ModelOptions) -> Reply:
        """Call a model once within the limits of the run, and count the usage.

        Raises:
            ModelError: the request failed. Other exceptions of a model become `ModelError`.
        """
        return await call_within(self.budget, PURPOSE, partial(self._counted_reply, model, messages, options))

    async def _counted_reply(
        self, model: ChatModel, messages: Sequence[Message], options: ModelOptions
    ) -> Reply:
        """Make a call that the budget has admitted, and count it; a refused call is not counted."""
        try:
            reply = await self._reply(model, messages, options)
        except ModelError as error:
            self.count(model.name, None)
            if error.fault is ModelFault.GIVEN_UP:
                self.notify(f"the judge {model.name}: {error}")
            raise
        self.count(model.name, reply)
        return reply

    async def _reply(self, model: ChatModel, messages: Sequence[Message], options: ModelOptions) -> Reply:
        if model is not self.only:  # a model loaded by name enforces its own limits
            return await model.complete(messages, options=options)
        turn = await self.limiter.acquire()
        try:
            return await complete_safely(model, messages, options)
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
        self._turns: AbstractAsyncContextManager[None] = (
            judges.turns(metric, model.name, options.parallelism_limit) if limited else nullcontext()
        )

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
        if self._judges.batch is not None:
            message = "the metric asks the judge freely, which a batch cannot do; score without --batch"
            raise ModelError(message, fault=ModelFault.REJECTED, requests=0)
        options = ModelOptions(settings=self._settings, timeout=self._timeout)
        async with self._turns:
            return await self._judges.call(self._model, [Message("user", prompt)], options)

    async def _vote(self, question: Question[V], content: bytes | None, number: int) -> Vote[V]:
        cache = self._judges.cache
        if cache is None or content is None:
            return (await self._request_vote(question))[0]
        key, asking = sample_key(content, number), self._judges.asking
        while (known := vote_from_cache(cache.get(key), question)) is None:
            if self._judges.batch is not None:
                return await self._judges.batch.vote(key, question, self._model, self._settings)
            if (pending := asking.get(key)) is None:
                return await self._request_for_cache(question, key, cache)
            if await asyncio.shield(pending):
                continue  # the answer is in the cache now
            break  # that request failed, this one may succeed
        if known is None:
            return (await self._request_vote(question))[0]
        if self._judges.batch is None or not self._judges.batch.counts_itself(key, known):
            self._judges.count_cached()
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
        async with self._turns:
            return await ask_once(
                question,
                partial(self._judges.call, self._model),
                has_schemas=self._model.has_schemas,
                settings=self._settings,
                seconds=self._timeout,
            )


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
