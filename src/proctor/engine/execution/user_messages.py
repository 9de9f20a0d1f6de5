"""The simulated user of a trial on a worker: the worker asks the head for each message, and the head asks the model.

So limits, rates and costs of the models apply to the whole run. Questions and replies are JSON.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from proctor.common.async_tools import forget_cancellation
from proctor.engine.trial.conversation import Play
from proctor.engine.trial.deadlines import LoopBlocked, TrialSlot
from proctor.engine.trial.failure_attribution import failure_from, user_timed_out
from proctor.schema.evidence.simulated_user import NextStatus, SimulatedUser, UserFault, UserReply
from proctor.schema.evidence.trial import Failure
from proctor.schema.format.content import Content
from proctor.schema.format.invocation import Invocation
from proctor.schema.serialize import kept_json
from proctor.simulation.base import WHERE as SIMULATOR, NextUserMessage, NoMessageError

if TYPE_CHECKING:
    from proctor.schema.format.case import EvalCase
    from proctor.schema.format.config import EvalConfig
    from proctor.schema.format.wire_model import WireModel
    from proctor.simulation.base import UserSimulator

QUESTION = b'{"attempt":'
"""The beginning of a question; the evidence of a trial begins otherwise."""

Ask = Callable[[bytes], Awaitable[Mapping[str, Any]]]


# --- On a worker -------------------------------------------------------------------------------------------------------


class WorkerUsers:
    """The simulated users of a trial on a worker, one for each attempt (see `Users`)."""

    def __init__(self, described: Mapping[str, Any], ask: Ask) -> None:
        """Take the description of the user, and how to ask the head."""
        self._described, self._ask, self._attempts = described, ask, 0

    def play(self, case: EvalCase, config: EvalConfig) -> WorkerUser:
        """Return the user of the next attempt."""
        self._attempts += 1
        return WorkerUser(SimulatedUser.model_validate(self._described), self._ask, self._attempts - 1)


class WorkerUser:
    """Asks the head for the messages of a simulated user (see `UserSimulator`)."""

    patience = None
    """The head has the deadline."""

    def __init__(self, simulated_user: SimulatedUser, ask: Ask, attempt: int) -> None:
        """Take the record of the user, how to ask the head, and the number of the attempt."""
        self.simulated_user = simulated_user
        self._ask, self._attempt, self._sent = ask, attempt, 0

    async def next_message(self, so_far: Sequence[Invocation]) -> NextUserMessage:
        """Return the message that the head replies.

        Raises:
            NoMessageError: the simulator failed there.
        """
        answer = await self._answer(self._question(so_far))
        message = answer["message"] and Content.model_validate(answer["message"])
        return NextUserMessage(message, NextStatus(answer["status"]), _reply_of(answer))

    async def find_faults(
        self, conversation: Sequence[Invocation], final_state: Mapping[str, object] | None
    ) -> Sequence[UserFault]:
        """Return the faults that the head finds.

        Raises:
            NoMessageError: the simulator failed there.
        """
        answer = await self._answer(self._question(conversation, final_state=final_state))
        return [UserFault.model_validate(fault) for fault in answer["faults"]]

    async def _answer(self, question: bytes) -> Mapping[str, Any]:
        answer = await self._ask(question)
        if failure := answer.get("failure"):
            raise NoMessageError(Failure.model_validate(failure), _reply_of(answer))
        return answer

    def _question(self, so_far: Sequence[Invocation], **more: object) -> bytes:
        """Return a question with the turns that the head does not have yet."""
        new = [json.loads(kept_json(turn)) for turn in so_far[self._sent :]]
        self._sent = len(so_far)
        question = {"attempt": self._attempt, "turns": new, **more}
        return json.dumps(question, separators=(",", ":")).encode()


def _reply_of(answer: Mapping[str, Any]) -> UserReply | None:
    reply = answer.get("reply")
    return None if reply is None else UserReply.model_validate(reply)


# --- In the head -------------------------------------------------------------------------------------------------------


class TrialUsers:
    """Plays the users of one trial on a worker, one for each attempt that the worker makes."""

    def __init__(self, play: Play) -> None:
        """Take what makes the users."""
        self._play = play
        self._users: list[tuple[UserSimulator, list[Invocation]]] = []
        """The user of each attempt, and the conversation so far."""
        self._user(0)

    @property
    def record(self) -> SimulatedUser:
        """The record of the last user, with its replies."""
        return self._users[-1][0].simulated_user

    def request(self) -> dict[str, Any]:
        """Return what a worker needs to know about the user."""
        settings = self._play.config.user_simulator_config
        return {"user": _json(self.record), "user_settings": settings and _json(settings)}

    async def reply(self, question: Mapping[str, Any], slot: TrialSlot) -> dict[str, Any]:
        """Return the reply to a question of the worker."""
        user, so_far = self._user(int(question["attempt"]))
        so_far += map(Invocation.model_validate, question["turns"])
        if "final_state" in question:
            return await _faults(user, so_far, question["final_state"])
        return await _message(user, so_far, slot)

    def _user(self, attempt: int) -> tuple[UserSimulator, list[Invocation]]:
        if attempt == len(self._users):
            self._users.append((self._play(), []))
        return self._users[attempt]


async def _message(user: UserSimulator, so_far: Sequence[Invocation], slot: TrialSlot) -> dict[str, Any]:
    """Return the next message of a user, or why there is none."""
    try:
        with slot.exclude_time(getattr(user, "patience", None)):
            message = await user.next_message(so_far)
    except NoMessageError as error:
        _record_reply(user, error.reply)
        return {"failure": _json(error.failure), "reply": error.reply and _json(error.reply)}
    except BaseException as error:
        if slot.expired:
            forget_cancellation()
            failure = user_timed_out(is_blocked=isinstance(error, LoopBlocked))
        elif isinstance(error, asyncio.CancelledError):
            raise
        else:
            failure = failure_from(error, where=SIMULATOR)
        return {"failure": _json(failure), "reply": None}
    finally:
        slot.begin_turn(None)
    _record_reply(user, message.reply)
    return {
        "message": message.message and _json(message.message),
        "status": message.status.value,
        "reply": message.reply and _json(message.reply),
    }


async def _faults(
    user: UserSimulator, conversation: Sequence[Invocation], final_state: Mapping[str, object] | None
) -> dict[str, Any]:
    """Return the faults of a user, or why they cannot be found."""
    try:
        faults = await user.find_faults(conversation, final_state)
    except Exception as error:  # noqa: BLE001 - an error of this trial, as without workers
        return {"failure": _json(failure_from(error, where=SIMULATOR))}
    return {"faults": [_json(fault) for fault in faults]}


def _record_reply(user: UserSimulator, reply: UserReply | None) -> None:
    if reply is not None:
        user.simulated_user.replies.append(reply)


def _json(model: WireModel) -> Any:
    return json.loads(kept_json(model))
