"""All judges of a run: which model is asked, how many calls are under way, what was answered before, what it took."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from proctor.common.code_identity import identify
from proctor.errors import CriterionError, SetupError
from proctor.judges.ask import ask_once
from proctor.judges.base import AnswerCache, Ballot, Question, Settled, V, Vote
from proctor.judges.cache import content_key, kept_answer, sample_key, vote_from
from proctor.judges.injection_signs import signs_in
from proctor.judges.votes import cast, plainly_settled
from proctor.models.base import Budget, ChatModel, Message, ModelError, ModelFault, ModelOptions, Reply
from proctor.models.concurrency_limit import Limiter
from proctor.models.function import raised, sound_reply
from proctor.models.load import check_settings
from proctor.models.settings import patience_of, settings_of
from proctor.schema.format.criterion import JudgeModelOptions
from proctor.schema.results.model_usage import Spent as SpentOf

__all__ = ["ModelJudge", "RunJudges", "Spent", "SpentOnModel", "code_of", "identity_of"]


@dataclass(slots=True)
class SpentOnModel:
    """What calls of one model took."""

    calls: int = 0
    """Calls that ended, with or without a reply."""
    requests: int = 0
    """How often its provider was asked for them."""
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    """Replies whose tokens the provider did not tell: the sums are too low by theirs."""
    cost: float = 0.0
    """US dollars."""
    unpriced: int = 0
    """Replies of which the price is not known."""


@dataclass(slots=True)
class Spent:
    """What the judges of a run took, by model as users name it."""

    models: dict[str, SpentOnModel] = field(default_factory=dict)
    cached: int = 0
    """Votes that were known from before, and cost nothing."""

    @property
    def calls(self) -> int:
        """How many calls there were."""
        return sum(one.calls for one in self.models.values())

    @property
    def cost(self) -> float | None:
        """US dollars; `None` where the price of any reply is not known."""
        if any(one.unpriced for one in self.models.values()):
            return None
        return sum(one.cost for one in self.models.values())

    def add(self, model: str, reply: Reply) -> None:
        """Count a reply."""
        one = self.models.setdefault(model, SpentOnModel())
        one.calls += 1
        one.requests += reply.requests
        usage = reply.usage
        if usage is None or usage.input_tokens is None or usage.output_tokens is None:
            one.uncounted += 1
        else:
            one.input_tokens += usage.input_tokens
            one.output_tokens += usage.output_tokens
        if reply.cost is None:
            one.unpriced += 1
        else:
            one.cost += reply.cost

    def by_model(self, purpose: str) -> list[SpentOf]:
        """Return what they took as it is kept with a run; answers from before are not told by model."""
        found = [
            SpentOf(
                purpose=purpose,
                model=model,
                calls=one.calls,
                input_tokens=one.input_tokens,
                output_tokens=one.output_tokens,
                uncounted=one.uncounted,
                cost=one.cost,
                unpriced=one.unpriced,
            )
            for model, one in self.models.items()
        ]
        return [*found, SpentOf(purpose=purpose, cached=self.cached)] if self.cached else found

    def failed(self, model: str, error: ModelError) -> None:
        """Count a call that gave no reply."""
        one = self.models.setdefault(model, SpentOnModel())
        one.calls += 1
        one.failed += 1
        one.requests += getattr(error, "requests", 1)


PURPOSE = "judge"
"""What its calls are for, among all calls that a run makes to models."""
_GRACE = 1.0
"""Seconds that a model which is past its time has to end when it is told to."""

Finder = Callable[[str, Limiter], ChatModel]
"""From a model's name, and how many calls may be under way, to the model; raises `SetupError`."""


@dataclass(slots=True, kw_only=True)
class RunJudges:
    """See `Judges`. One per run; used on one event loop."""

    find: Finder
    default: str
    """The model of criteria that name none."""
    only: ChatModel | None = None
    """A model given as an object: it takes the place of every other."""
    cache: AnswerCache | None = None
    budget: Budget | None = None
    spent: Spent = field(default_factory=Spent)
    limiter: Limiter = field(default_factory=Limiter)
    """How many calls are under way at once."""
    tell: Callable[[str], None] = lambda _: None
    """Hears when a model has turned away so many calls that it is not asked any more."""
    asking: dict[str, asyncio.Future[bool]] = field(default_factory=dict)
    """What is being asked, by its key: whether an answer came of it. Nobody pays for the same at the same time."""
    _models: dict[str, ChatModel] = field(default_factory=dict)
    _turns: dict[tuple[str, str, int], asyncio.Semaphore] = field(default_factory=dict)

    def judge(self, metric: str, options: JudgeModelOptions, *, stated: bool) -> ModelJudge:
        """Return the judge of a criterion. `stated`: whether the criterion names its model itself.

        Raises:
            SetupError: no such model, no key for it, an extra that is missing.
            CriterionError: its settings cannot be.
        """
        model = self.only or self._named(options.judge_model if stated else self.default)
        try:
            notes = check_settings(model, settings_of(options.judge_model_config))
        except SetupError as problem:
            raise CriterionError(f"{metric}: judge_model_config: {problem}") from problem
        return ModelJudge(self, model, metric, options, notes)

    def remember(self, cache: AnswerCache) -> None:
        """Look there for answers before a model is asked, and keep there what it answers."""
        self.cache = cache

    def listen(self, tell: Callable[[str], None]) -> None:
        """Have `tell` called with the reason when a judge will not be asked any more."""
        self.tell = tell

    async def close(self) -> None:
        """Let go of the connections of models that were found by name."""
        for model in self._models.values():
            close = getattr(model, "close", None)
            if close is not None:
                await close()

    def spending(self) -> list[SpentOf]:
        """Return what they took so far, by model."""
        return self.spent.by_model(PURPOSE)

    def turns(self, metric: str, model: str, limit: int) -> asyncio.Semaphore:
        """Return what keeps a criterion to its `parallelism_limit`: the same for all sets that it judges."""
        return self._turns.setdefault((metric, model, limit), asyncio.Semaphore(limit))

    def _named(self, name: str) -> ChatModel:
        if name not in self._models:
            self._models[name] = self.find(name, self.limiter)
        return self._models[name]

    async def call(self, model: ChatModel, messages: Sequence[Message], options: ModelOptions) -> Reply:
        """Ask a model once, when it is its turn; within its time, and counted.

        Raises:
            ModelError: there is no reply; whatever else a model raises is one, too.
        """
        if self.budget is not None:
            await self.budget.admit(PURPOSE)
        reply: Reply | None = None
        try:
            reply = await self._reply(model, messages, options)
        except ModelError as error:
            self.spent.failed(model.name, error)
            if error.fault is ModelFault.GIVEN_UP:
                self.tell(f"the judge {model.name}: {error}")
            raise
        finally:
            if self.budget is not None:
                self.budget.settle(PURPOSE, reply)
        self.spent.add(model.name, reply)
        return reply

    async def _reply(self, model: ChatModel, messages: Sequence[Message], options: ModelOptions) -> Reply:
        if model is not self.only:  # found by its name: it waits for its turn, and keeps its time
            return await model.complete(messages, options=options)
        turn = await self.limiter.acquire()
        try:
            ask = partial(model.complete, messages, options=options)
            return await _within(ask, options.timeout, model.name)
        finally:
            self.limiter.release(turn)


class ModelJudge:
    """See `Judge`: one model under one criterion."""

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
        """What tells its code from another; empty for a model of Proctor's, which its name tells, `None` if not known."""
        self.code = code_of(model) if model is judges.only else getattr(model, "code", "")
        identity = identity_of(model) if model is judges.only else self.code
        self._identity = f"{model.name} {identity}".rstrip() if identity is not None else None
        limited = "parallelism_limit" in options.model_fields_set
        self._turns = judges.turns(metric, model.name, options.parallelism_limit) if limited else None

    async def ask(
        self, question: Question[V], *, samples: int | None = None, settled: Settled[V] | None = None
    ) -> Ballot[V]:
        """Ask for up to `samples` verdicts (default: the criterion's `num_samples`)."""
        planned = samples or self._options.num_samples
        identity = self._identity
        content = None if identity is None else content_key(question, identity, self._settings)
        votes, is_decided = await cast(
            partial(self._vote, question, content), planned, settled or plainly_settled
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
        """Return one reply to a prompt that a user's metric wrote; within the run's limits, and never kept for another run.

        Raises:
            ModelError: there is none.
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
            return (await self._asked(question))[0]
        key, asking = sample_key(content, number), self._judges.asking
        while (known := vote_from(cache.get(key), question)) is None:
            if (under_way := asking.get(key)) is None:
                return await self._asked_first(question, key, cache)
            if await asyncio.shield(under_way):
                continue  # it is there now
            break  # they got no answer: another try may
        if known is None:
            return (await self._asked(question))[0]
        self._judges.spent.cached += 1
        return known

    async def _asked_first(self, question: Question[V], key: str, cache: AnswerCache) -> Vote[V]:
        """Ask, while whoever asks the same waits for the answer."""
        under_way = self._judges.asking[key] = asyncio.get_running_loop().create_future()
        answer = None
        try:
            vote, answer = await self._asked(question)
            if answer is not None:
                cache.put(key, kept_answer(vote, answer))
            return vote
        finally:
            del self._judges.asking[key]
            under_way.set_result(answer is not None)

    async def _asked(self, question: Question[V]) -> tuple[Vote[V], dict[str, Any] | None]:
        if self._turns is None:
            return await self._ask_once(question)
        async with self._turns:
            return await self._ask_once(question)

    async def _ask_once(self, question: Question[V]) -> tuple[Vote[V], dict[str, Any] | None]:
        return await ask_once(
            question,
            partial(self._judges.call, self._model),
            has_schemas=self._model.has_schemas,
            settings=self._settings,
            seconds=self._timeout,
        )


async def _within(ask: Callable[[], Any], seconds: float | None, name: str) -> Reply:
    """Wait for a model, but not for ever: one that does not end when it is cancelled is left behind."""
    task: asyncio.Task[Reply] = asyncio.ensure_future(_guarded(ask, name))
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


async def _guarded(ask: Callable[[], Any], name: str) -> Reply:
    """Make whatever an object of the user's raises, or returns in place of a reply, a `ModelError`."""
    try:
        reply = await ask()
    except (ModelError, asyncio.CancelledError, GeneratorExit):
        raise
    except BaseException as error:  # `SystemExit`, too: in an event loop it would end the run
        raise raised(name, error) from error
    return sound_reply(reply, name)


# --- The identity of a judge whose answers are cached: a model that was given as an object is its code and what it holds ---


def identity_of(model: ChatModel) -> str | None:
    """Return what tells a model that was given as an object from others; `None` where its code is not wholly known.

    Answers of a model whose identity is not known cannot be cached: it may be another one that looks the same.
    """
    identity = identify(getattr(model, "identity", model))
    return f"{identity.held} {identity.modules}" if identity.is_complete else None


def code_of(model: ChatModel) -> str | None:
    """Return what tells the code of a model that was given as an object or a function from other code; `None` if not known.

    The values that it holds are left out: a judge that counts its calls is the same judge in the next run.
    """
    code = getattr(model, "function", None) or type(model)
    identity = identify(code)
    line = getattr(getattr(code, "__code__", None), "co_firstlineno", "")
    name = f"{getattr(code, '__module__', '')}.{getattr(code, '__qualname__', type(code).__qualname__)}"
    return f"{name} {line} {identity.modules}" if identity.is_complete else None
