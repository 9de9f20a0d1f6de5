"""Conversations with a simulated user: it is asked for one message after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from proctor.engine.trial.deadlines import Slot
from proctor.errors import SetupError
from proctor.schema.evidence.convert_events import invocation_of
from proctor.schema.evidence.simulated_user import FaultKind, SimulatedUser, UserFault, UserReply, faults_in
from proctor.schema.evidence.trial import Failure, FailureKind, Trial, simulator_failure
from proctor.schema.format.case import EvalCase
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.content import Content
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.model_usage import Spent, sum_usage
from proctor.schema.results.score import MetricScore
from proctor.simulation.base import NoMessageError, Users, UserSimulator


class Play:
    """Makes simulated users for the conversations of one case, and detects conversations that a user spoiled."""

    def __init__(self, users: Users, case: EvalCase, config: EvalConfig) -> None:
        self._users, self._case, self._config = users, case, config

    def __call__(self) -> UserSimulator:
        """Return a simulated user for one conversation."""
        return self._users.play(self._case, self._config)

    def failure_of(self, trial: Trial) -> Failure | None:
        """Return the failure of a trial, or of its simulated user; `None` without one."""
        return trial.failure or user_failure(trial, self._config)


def user_failure(
    trial: Trial, config: EvalConfig, scores: Mapping[str, MetricScore] | None = None
) -> Failure | None:
    """Return the failure of a trial whose simulated user was at fault; `None` if it was not.

    Rules find faults when the conversation is over, and metrics in the details of their `scores`; the config's
    `user_simulator_config.faults` selects the kinds of faults that count.
    """
    if trial.played_user is None:
        return None
    by_metrics = [fault for score in (scores or {}).values() for fault in faults_in(score.details)]
    simulator = config.user_simulator_config
    faults = [
        fault
        for fault in (*trial.played_user.faults, *by_metrics)
        if simulator is None or simulator.counts(fault.kind)
    ]
    return simulator_failure(faults) if faults else None


class Player:
    """Asks the simulated user of one attempt, with its own deadline, and records its replies as evidence."""

    def __init__(self, simulator: UserSimulator, trial: Trial, slot: Slot) -> None:
        self._simulator, self._trial, self._slot = simulator, trial, slot
        self._so_far: list[Invocation] = []
        trial.__dict__["played_user"] = simulator.simulated_user

    async def next(self) -> Content | None:
        """Return the user's next message; `None` if the conversation is over.

        Raises:
            SimulatorError: the simulator failed.
        """
        turns, so_far = self._trial.turns, self._so_far
        for index in range(len(so_far), len(turns)):
            so_far.append(invocation_of(turns[index], invocation_id=f"e-{index}"))
        with self._slot.others_time(getattr(self._simulator, "patience", None)):
            try:
                found = await self._simulator.next_message(so_far)
            except NoMessageError as error:
                self._keep(error.reply)
                self._note_failure(error.failure, len(so_far))
                raise
        self._keep(found.reply)
        return found.message

    def look_back(self) -> None:
        """Record the faults of the user, now that the conversation is over and the final state is known."""
        trial = self._trial
        if trial.played_user is not None:
            faults = self._simulator.find_faults(self._so_far, trial.final_state)
            trial.played_user.faults.extend(faults)

    def _note_failure(self, failure: Failure, turn: int) -> None:
        if self._trial.played_user is not None and failure.kind is not FailureKind.NOT_ASKED:
            fault = UserFault(kind=FaultKind.NO_MESSAGE, turn=turn, why=failure.message)
            self._trial.played_user.faults.append(fault)

    def _keep(self, reply: UserReply | None) -> None:
        if reply is not None and self._trial.played_user is not None:
            self._trial.played_user.replies.append(reply)


class UserProblems:
    """The problems and warnings of the simulated users of a set, each once."""

    def __init__(self, users: Users | None, config: EvalConfig) -> None:
        self._users, self._config = users, config
        self._found: dict[str, tuple[SetupError, int, int]] = {}
        self._has_scenarios = False

    def see(self, index: int, case: EvalCase) -> None:
        """Check a case."""
        if self._users is None or case.conversation_scenario is None:
            return
        self._has_scenarios = True
        for problem in self._users.problems(case, self._config):
            known, first, count = self._found.get(str(problem), (problem, index, 0))
            self._found[str(problem)] = known, first, count + 1

    def problems(self) -> Iterable[tuple[SetupError, int, int]]:
        """Return each problem with the first case that has it, and the number of such cases."""
        return self._found.values()

    def doubts(self, source: str) -> list[SetupError]:
        """Return the warnings about the simulator; `source` is the source of the config."""
        if self._users is None or not self._has_scenarios or self._found:
            return []
        doubts = []
        for warning in self._users.doubts(self._config):
            doubt = SetupError(f"{source}: user_simulator_config: {warning}")
            doubt.file, doubt.path, doubt.parts = source, ("user_simulator_config",), [warning]
            doubts.append(doubt)
        return doubts


def usage_of_user(played: SimulatedUser | dict[str, Any]) -> list[Spent]:
    """Return the usage of a simulated user's replies, by model."""
    if isinstance(played, dict):
        played = SimulatedUser.model_validate(played)
    name = played.model
    return sum_usage(_usage_of_reply(name, reply) for reply in played.replies if reply.model)


def _usage_of_reply(model: str, reply: UserReply) -> Spent:
    input_tokens, output_tokens = reply.input_tokens, reply.output_tokens
    return Spent(
        purpose="user",
        model=model,
        calls=1,
        input_tokens=input_tokens or 0,
        output_tokens=output_tokens or 0,
        uncounted=int(input_tokens is None or output_tokens is None),
        cost=reply.cost or 0.0,
        unpriced=int(reply.cost is None),
    )
