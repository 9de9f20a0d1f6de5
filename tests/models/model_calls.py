"""What the tests of models share: a question, a clock that does not wait, and a way to ask."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from proctor.models.base import ChatModel, Message, ModelError, ModelOptions, Reply
from proctor.models.load import load_model
from proctor.models.retries import Clock, Patience, PatientModel

SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}
MESSAGES = (Message("system", "You judge."), Message("user", "Is it so?"))
YES = {"verdict": "yes"}

PROVIDERS = (
    "openai-chat:gpt-4.1",
    "openai-responses:gpt-4.1",
    "google:gemini-2.5-flash",
    "anthropic:claude-opus-4-8",
)
"""One model of each protocol."""


class FakeClock(Clock):
    """Let time pass at every sleep, and at once."""

    def __init__(self, chances: Sequence[float] = ()) -> None:
        self.time = 1000.0
        self.waits: list[float] = []
        self._chances = iter(chances) if chances else None
        self._random = random.Random(7)

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)

    def chance(self) -> float:
        return next(self._chances) if self._chances else self._random.random()


class ClockOfEachCall(FakeClock):
    """As real time where calls wait at once: what one of them waits takes none of the others' time."""

    def __init__(self) -> None:
        super().__init__()
        self._times: WeakKeyDictionary[asyncio.Task[Any], float] = WeakKeyDictionary()

    def now(self) -> float:
        task = asyncio.current_task()
        return self._times.get(task, 0.0) if task is not None else 0.0

    async def sleep(self, seconds: float) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._times[task] = self._times.get(task, 0.0) + seconds
        await super().sleep(seconds)


def options(*, schema: Mapping[str, Any] | None = SCHEMA, **more: Any) -> ModelOptions:
    return ModelOptions(schema=schema, schema_name="verdict", **more)


def ask(model: ChatModel, wanted: ModelOptions | None = None) -> Reply:
    async def asked() -> Reply:
        return await model.complete(MESSAGES, options=wanted or options())

    return asyncio.run(asked())


def fault(model: ChatModel, wanted: ModelOptions | None = None) -> ModelError:
    """The error that asking ends with."""
    try:
        reply = ask(model, wanted)
    except ModelError as error:
        return error
    raise AssertionError(f"there was a reply: {reply}")


def patient(name: str, *, clock: Clock | None = None, patience: Patience | None = None) -> PatientModel:
    """The model of that name, with a clock that does not wait."""
    loaded = load_model(name)
    return PatientModel(loaded._model, patience=patience, clock=clock or FakeClock())
