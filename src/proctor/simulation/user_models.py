"""Where a played user's words come from: a model that is told the plan and the conversation, or a function."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Protocol

from proctor.common.async_tools import settle
from proctor.common.error_text import safe_str, traceback_text
from proctor.common.prompts import Prompt, read_prompt
from proctor.common.secrets import without_secrets
from proctor.common.threads import THREADS
from proctor.models.base import (
    Budget,
    ChatModel,
    Finish,
    Message,
    ModelError,
    ModelFault,
    ModelOptions,
    Reply,
)
from proctor.models.settings import PATIENCE, patience_of, settings_of
from proctor.schema.evidence.played_user import PlayedUser, UserReply
from proctor.schema.evidence.trial import FailureKind
from proctor.schema.format.config import LlmBackedUserSimulatorConfig
from proctor.schema.format.content import Content, text_of
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.scenario import ConversationScenario
from proctor.simulation.base import NoMessageError, failed
from proctor.simulation.templates import HISTORY, fill, persona_text
from proctor.simulation.transcript import paragraphs

__all__ = ["PURPOSE", "STOP_SIGNAL", "FunctionVoice", "ModelVoice", "Voice"]

STOP_SIGNAL = "</finished>"
"""What a played user says to end the conversation."""
PURPOSE = "user"
"""What its calls are for, among all calls that a run makes to models."""
_GRACE = 1.0
"""Seconds that a model which is past its time has to say so itself."""


class Voice(Protocol):
    """Says what a played user says."""

    patience: float | None
    """Seconds after which it has to be ended from outside, where it does not come back; `None`: never."""

    def played(self) -> PlayedUser:
        """Return who it is, without replies."""
        ...

    async def say(self, so_far: Sequence[Invocation], reply: UserReply) -> str | None:
        """Return the next message; `None` ends the conversation. What was asked and answered is noted in `reply`.

        Raises:
            SimulatorError: there is none.
        """
        ...


class ModelVoice:
    """Asks a model for each message, with the plan and the conversation so far in one prompt."""

    def __init__(
        self,
        model: ChatModel,
        config: LlmBackedUserSimulatorConfig,
        scenario: ConversationScenario,
        budget: Budget | None = None,
    ) -> None:
        """Take the model and what it is to play."""
        self.patience: float | None = None  # it waits for its turn, and has its own time for the call
        self._model, self._budget = model, budget
        self._with_calls = config.include_function_calls
        self._settings = settings_of(config.model_configuration)
        self._timeout = patience_of(self._settings)
        self._template = _template(config, scenario)
        self._before, self._after = _filled(self._template.text, scenario)
        self._told = (
            self._before
        )  # and the conversation so far: what is new is put behind it, and hashed once
        self._hash = sha256(self._before.encode("utf-8", "replace"))
        self._heard = 0

    def played(self) -> PlayedUser:
        """Return who it is, without replies."""
        return PlayedUser(
            simulator="llm_backed",
            model=self._model.name,
            prompt=self._template.hash,
            instructions=f"{self._before}{{{{ {HISTORY} }}}}{self._after}",
        )

    async def say(self, so_far: Sequence[Invocation], reply: UserReply) -> str | None:
        """Ask the model; see `Voice`."""
        text = self._prompt(so_far)
        hashed = self._hash.copy()
        hashed.update(self._after.encode("utf-8", "replace"))
        reply.prompt = hashed.hexdigest()[:12]
        try:
            given = await self._ask([Message("user", text)])
        except ModelError as error:
            raise failed(
                str(error),
                kind=_KINDS.get(error.fault, FailureKind.NO_REPLY),
                type="" if error.fault in _KINDS else error.fault.value,
                infrastructure=error.infrastructure,
                reply=reply,
            ) from error
        _note(reply, given)
        if given.finish in _ENDS:
            kind, message = _ENDS[given.finish]
            raise failed(message, kind=kind, reply=reply)
        return given.text

    def _prompt(self, so_far: Sequence[Invocation]) -> str:
        """Return what the model is told; of the conversation only what is new is read."""
        new = [
            said
            for index in range(self._heard, len(so_far))
            for said in paragraphs(so_far[index], with_calls=self._with_calls)
        ]
        more = "\n\n".join([""] * bool(self._heard) + new)
        self._heard = len(so_far)
        self._hash.update(more.encode("utf-8", "replace"))
        self._told += more
        return self._told + self._after

    async def _ask(self, messages: Sequence[Message]) -> Reply:
        if self._budget is not None:
            await self._budget.admit(PURPOSE)
        reply: Reply | None = None
        try:
            async with asyncio.timeout(self._timeout + _GRACE):
                options = ModelOptions(settings=self._settings, timeout=self._timeout)
                reply = await self._model.complete(messages, options=options)
        except ModelError:
            raise
        except TimeoutError as error:
            message = f"{self._model.name} did not answer within {self._timeout:g} s"
            raise ModelError(message, fault=ModelFault.TIMED_OUT) from error
        except Exception as error:
            message = f"{self._model.name} raised {type(error).__name__}: {error}"
            raise ModelError(message, fault=ModelFault.RAISED) from error
        finally:
            if self._budget is not None:
                self._budget.settle(PURPOSE, reply)
        return reply


_KINDS = {
    ModelFault.TIMED_OUT: FailureKind.TIMED_OUT,
    ModelFault.BUDGET: FailureKind.NOT_ASKED,
    ModelFault.RAISED: FailureKind.RAISED,
}
_ENDS = {
    Finish.REFUSAL: (FailureKind.REFUSED, "the user's model would not answer"),
    Finish.CONTENT_FILTER: (
        FailureKind.FILTERED,
        "the provider's content filter kept the user's message back",
    ),
    Finish.LENGTH: (
        FailureKind.CUT_OFF,
        "the user's message was cut off at its greatest length; `max_output_tokens` in `model_configuration` sets it",
    ),
}


def _note(reply: UserReply, given: Reply) -> None:
    reply.text, reply.model = given.text, given.model
    reply.cost, reply.seconds = given.cost, round(given.seconds, 3)
    if given.usage is not None:
        reply.input_tokens, reply.output_tokens = given.usage.input_tokens, given.usage.output_tokens


def _template(config: LlmBackedUserSimulatorConfig, scenario: ConversationScenario) -> Prompt:
    if config.custom_instructions is not None:
        return Prompt("custom_instructions", config.custom_instructions)
    return read_prompt("proctor.simulation", "plain.md" if scenario.user_persona is None else "persona.md")


def _filled(template: str, scenario: ConversationScenario) -> tuple[str, str]:
    """Return what stands before and behind the conversation so far; it is filled in turn by turn, and never scanned."""
    persona = scenario.user_persona
    mark = "\N{NULL}"  # in no text of a file: what they say cannot be taken for the place of the conversation
    values = {
        "stop_signal": STOP_SIGNAL,
        "conversation_plan": scenario.conversation_plan.replace(mark, ""),
        HISTORY: mark,
        "persona": persona_text(persona, STOP_SIGNAL).replace(mark, ""),
    }
    before, _, after = fill(template, values, persona).partition(mark)
    return before, after.replace(mark, "(see above)")


def _raised(error: BaseException, reply: UserReply) -> NoMessageError:
    """Say what a user's function raised, and where in it."""
    raised = failed(without_secrets(safe_str(error)), type=type(error).__name__, reply=reply)
    raised.failure.traceback = without_secrets(traceback_text(error))
    return raised


class FunctionVoice:
    """A function of the user's: from the conversation so far, and the scenario if it takes two arguments, to a text."""

    def __init__(
        self, function: Callable[..., Any], scenario: ConversationScenario, *, wants_scenario: bool
    ) -> None:
        """Take the function, plain (it runs in a thread of its own) or async, and the scenario."""
        self.patience: float | None = PATIENCE + _GRACE
        self._function, self._scenario, self._wants_scenario = function, scenario, wants_scenario
        self._shown: list[
            Invocation
        ] = []  # copies, each made once: what was recorded is not the function's to change
        self.name = getattr(function, "__name__", "") or type(function).__name__

    def played(self) -> PlayedUser:
        """Return who it is, without replies."""
        return PlayedUser(simulator="function", model=self.name)

    async def say(self, so_far: Sequence[Invocation], reply: UserReply) -> str | None:
        """Call the function; see `Voice`."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(PATIENCE):
                said = await self._call(so_far)
        except TimeoutError as error:
            message = f"{self.name} did not answer within {PATIENCE:g} s"
            raise failed(message, kind=FailureKind.TIMED_OUT, infrastructure=True, reply=reply) from error
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise failed(f"{self.name} cancelled itself", reply=reply) from None
        except (Exception, SystemExit) as error:
            raise _raised(error, reply) from error
        reply.seconds = round(time.monotonic() - began, 3)
        return self._text(said, reply)

    def _text(self, said: Any, reply: UserReply) -> str | None:
        if said is None:
            return None
        if isinstance(said, Content):
            said = text_of(said)
        if not isinstance(said, str):
            message = f"{self.name} returned {type(said).__name__}; expected a text, or None to end the conversation"
            raise failed(message, kind=FailureKind.BROKE_CONTRACT, reply=reply)
        reply.text = said
        return said

    async def _call(self, so_far: Sequence[Invocation]) -> Any:
        self._shown += [one.model_copy(deep=True) for one in so_far[len(self._shown) :]]
        shown = list(self._shown)
        arguments = (shown, self._scenario) if self._wants_scenario else (shown,)
        if inspect.iscoroutinefunction(self._function):
            return await self._function(*arguments)
        return await settle(await THREADS.call(self._function, *arguments))
