"""The source of a simulated user's messages: a model that gets the plan and the conversation, or a function."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from typing import Protocol

from proctor.common.async_tools import THREADS, settle
from proctor.common.error_text import safe_str, traceback_text
from proctor.common.prompts import Prompt, read_prompt
from proctor.common.secrets import hide_secrets
from proctor.models.base import (
    Budget,
    ChatModel,
    Finish,
    Message,
    ModelError,
    ModelFault,
    ModelOptions,
    call_within,
)
from proctor.models.function import complete_safely
from proctor.models.settings import PATIENCE, patience_of, settings_of
from proctor.schema.evidence.simulated_user import SimulatedUser, UserReply
from proctor.schema.evidence.trial import FailureKind
from proctor.schema.format.case import ConversationScenario
from proctor.schema.format.config import LlmBackedUserSimulatorConfig
from proctor.schema.format.content import Content, text_of
from proctor.schema.format.invocation import Invocation
from proctor.simulation.base import simulator_error
from proctor.simulation.user_prompt import HISTORY, fill, paragraphs, persona_text

STOP_SIGNAL = "</finished>"
"""The text by which a simulated user ends the conversation."""
PURPOSE = "user"
"""The purpose of its calls in the usage of a run."""
_GRACE = 1.0
"""Seconds after its timeout in which a model may report the timeout itself."""
UserFunction = Callable[..., object]
"""A plain or async function that gets the conversation so far, and the scenario if it takes two arguments."""


class UserModel(Protocol):
    """Writes the messages of a simulated user."""

    patience: float | None
    """Seconds after which the engine cancels a call that does not return; `None`: never."""

    def describe(self) -> SimulatedUser:
        """Return the record of this user, without replies."""
        ...

    async def next_message(self, so_far: Sequence[Invocation], reply: UserReply) -> str | None:
        """Return the next message; `None` ends the conversation. `reply` records the call.

        Raises:
            SimulatorError: there is no message.
        """
        ...


class LlmUserModel:
    """Sends a model one prompt for each message, with the plan and the conversation so far."""

    def __init__(
        self,
        model: ChatModel,
        config: LlmBackedUserSimulatorConfig,
        scenario: ConversationScenario,
        budget: Budget | None = None,
    ) -> None:
        """Take the model, its settings and the scenario."""
        self.patience: float | None = (
            None  # each call has its own timeout, which excludes the wait for a free slot
        )
        self._model, self._budget = model, budget
        self._with_calls = config.include_function_calls
        self._settings = settings_of(config.model_configuration)
        self._timeout = patience_of(self._settings)
        self._template = _template(config, scenario)
        self._before, self._after = _prompt_parts(self._template.text, scenario)
        # the prompt grows with the conversation, so each turn is rendered and hashed once
        self._prompt_so_far = self._before
        self._hash = sha256(self._before.encode("utf-8", "replace"))
        self._rendered_turns = 0

    def describe(self) -> SimulatedUser:
        """Return the record of this user; see `UserModel`."""
        return SimulatedUser(
            simulator="llm_backed",
            model=self._model.name,
            prompt=self._template.hash,
            instructions=f"{self._before}{{{{ {HISTORY} }}}}{self._after}",
        )

    async def next_message(self, so_far: Sequence[Invocation], reply: UserReply) -> str | None:
        """Call the model; see `UserModel`."""
        text = self._prompt(so_far)
        hashed = self._hash.copy()
        hashed.update(self._after.encode("utf-8", "replace"))
        reply.prompt = hashed.hexdigest()[:12]
        try:
            options = ModelOptions(settings=self._settings, timeout=self._timeout)
            asking = partial(complete_safely, self._model, [Message("user", text)], options)
            answer = await call_within(self._budget, PURPOSE, asking)
        except ModelError as error:
            raise simulator_error(
                str(error),
                kind=_KINDS.get(error.fault, FailureKind.NO_REPLY),
                type="" if error.fault in _KINDS else error.fault.value,
                infrastructure=error.infrastructure,
                reply=reply,
            ) from error
        reply.text, reply.model = answer.text, answer.model
        reply.cost, reply.seconds = answer.cost, round(answer.seconds, 3)
        if answer.usage is not None:
            reply.input_tokens, reply.output_tokens = answer.usage.input_tokens, answer.usage.output_tokens
        if answer.finish in _UNUSABLE_ENDS:
            kind, message = _UNUSABLE_ENDS[answer.finish]
            raise simulator_error(message, kind=kind, reply=reply)
        return answer.text

    def _prompt(self, so_far: Sequence[Invocation]) -> str:
        """Append the new turns to the prompt and return it."""
        new = [
            paragraph
            for turn in so_far[self._rendered_turns :]
            for paragraph in paragraphs(turn, with_calls=self._with_calls)
        ]
        more = "\n\n".join([""] * bool(self._rendered_turns) + new)
        self._rendered_turns = len(so_far)
        self._hash.update(more.encode("utf-8", "replace"))
        self._prompt_so_far += more
        return self._prompt_so_far + self._after


_KINDS = {
    ModelFault.TIMED_OUT: FailureKind.TIMED_OUT,
    ModelFault.BUDGET: FailureKind.NOT_ASKED,
    ModelFault.RAISED: FailureKind.RAISED,
}
_UNUSABLE_ENDS = {
    Finish.REFUSAL: (FailureKind.REFUSED, "the user's model refused to answer"),
    Finish.CONTENT_FILTER: (FailureKind.FILTERED, "the provider's content filter blocked the user's message"),
    Finish.LENGTH: (
        FailureKind.CUT_OFF,
        "the user's message was cut off at its maximum length; set `max_output_tokens` in `model_configuration`",
    ),
}


def _template(config: LlmBackedUserSimulatorConfig, scenario: ConversationScenario) -> Prompt:
    if config.custom_instructions is not None:
        return Prompt("custom_instructions", config.custom_instructions)
    return read_prompt(
        "proctor.simulation.prompts", "plain.md" if scenario.user_persona is None else "persona.md"
    )


def _prompt_parts(template: str, scenario: ConversationScenario) -> tuple[str, str]:
    """Return the parts of the prompt before and after the conversation so far, which is inserted turn by turn."""
    persona = scenario.user_persona
    mark = "\N{NULL}"  # marks the place of the conversation: no text of a file contains it
    values = {
        "stop_signal": STOP_SIGNAL,
        "conversation_plan": scenario.conversation_plan.replace(mark, ""),
        HISTORY: mark,
        "persona": persona_text(persona, STOP_SIGNAL).replace(mark, ""),
    }
    before, _, after = fill(template, values, persona).partition(mark)
    return before, after.replace(mark, "(see above)")


class FunctionUserModel:
    """Calls a user function for each message."""

    def __init__(
        self, function: UserFunction, scenario: ConversationScenario, *, wants_scenario: bool
    ) -> None:
        """Take the function and the scenario. A plain function runs in a separate thread."""
        self.patience: float | None = PATIENCE + _GRACE
        self._function, self._scenario, self._wants_scenario = function, scenario, wants_scenario
        self._copies: list[Invocation] = []  # the function must not change the recorded turns
        self.name = getattr(function, "__name__", "") or type(function).__name__

    def describe(self) -> SimulatedUser:
        """Return the record of this user; see `UserModel`."""
        return SimulatedUser(simulator="function", model=self.name)

    async def next_message(self, so_far: Sequence[Invocation], reply: UserReply) -> str | None:
        """Call the function; see `UserModel`."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(PATIENCE):
                returned = await self._call(so_far)
        except TimeoutError as error:
            message = f"{self.name} did not answer within {PATIENCE:g} s"
            raise simulator_error(
                message, kind=FailureKind.TIMED_OUT, infrastructure=True, reply=reply
            ) from error
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise simulator_error(f"{self.name} cancelled itself", reply=reply) from None
        except (Exception, SystemExit) as error:
            failed = simulator_error(hide_secrets(safe_str(error)), type=type(error).__name__, reply=reply)
            failed.failure.traceback = hide_secrets(traceback_text(error))
            raise failed from error
        reply.seconds = round(time.monotonic() - began, 3)
        return self._text(returned, reply)

    def _text(self, returned: object, reply: UserReply) -> str | None:
        if returned is None:
            return None
        text = text_of(returned) if isinstance(returned, Content) else returned
        if not isinstance(text, str):
            message = f"{self.name} returned {type(text).__name__}; expected a text, or None to end the conversation"
            raise simulator_error(message, kind=FailureKind.BROKE_CONTRACT, reply=reply)
        reply.text = text
        return text

    async def _call(self, so_far: Sequence[Invocation]) -> object:
        self._copies += [turn.model_copy(deep=True) for turn in so_far[len(self._copies) :]]
        turns = list(self._copies)
        arguments = (turns, self._scenario) if self._wants_scenario else (turns,)
        if inspect.iscoroutinefunction(self._function):
            return await self._function(*arguments)
        return await settle(await THREADS.call(self._function, *arguments))
