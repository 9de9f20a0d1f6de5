"""Who plays the users of a run: the models that configs name, or whoever is given; made when the first scenario asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proctor.common.error_text import safe_repr
from proctor.errors import SetupError

if TYPE_CHECKING:
    from proctor.models.base import Budget
    from proctor.schema.format.case import EvalCase
    from proctor.schema.format.config import EvalConfig
    from proctor.simulation.base import UserSimulator
    from proctor.simulation.pool import RunUsers


class UsersOnDemand:
    """The played users of a run (see `Users`): nothing of them is loaded before there is a scenario.

    `user` takes the place of the models that configs name: a model's name, a `ChatModel`, or a plain or async function
    from the conversation so far (and the scenario, if it takes two arguments) to the next message; as text
    `module:function` or `file.py:function`.
    """

    def __init__(self, user: Any = None, *, budget: Budget | None = None) -> None:
        self._given, self._budget = user, budget
        self._made: RunUsers | None = None

    def wrong(self) -> list[SetupError]:
        """Return what is wrong with what was given, whether or not there is a scenario."""
        given = self._given
        if isinstance(given, str):
            return self._not_found(given)
        if given is None or (_answers(given) and not isinstance(given, type)):
            return []
        return [
            SetupError(
                "user: expected a model's name, an object with `complete`, or a function from the conversation so far "
                f"to the next message; not {safe_repr(given)}."
            )
        ]

    def problems(self, case: EvalCase, config: EvalConfig) -> list[SetupError]:
        """Say why nobody can play the user of a case; empty when somebody can."""
        try:
            return self._users().problems(case, config)
        except SetupError as problem:
            return [problem]

    def doubts(self, config: EvalConfig) -> list[str]:
        """Say what a person should know about who plays."""
        return self._users().doubts(config)

    def _not_found(self, named: str) -> list[SetupError]:
        from proctor.runs.setup.user_functions import AN_OBJECT, find_user

        try:
            if named != AN_OBJECT:  # which matters only where there is a scenario
                find_user(named)
        except SetupError as problem:
            self._given = _nobody  # it is said once, and not by every scenario again
            return [problem]
        return []

    def play(self, case: EvalCase, config: EvalConfig) -> UserSimulator:
        """Return a simulator for one conversation."""
        return self._users().play(case, config)

    async def close(self) -> None:
        """Let go of connections, when the run is over."""
        if self._made is not None:
            await self._made.close()

    def _users(self) -> RunUsers:
        if self._made is None:
            from proctor.runs.setup.user_functions import find_user
            from proctor.simulation.pool import RunUsers

            given = find_user(self._given) if isinstance(self._given, str) else self._given
            self._made = RunUsers(given, budget=self._budget)
        return self._made


def _nobody(_so_far: object) -> None:
    """Stand for a user who was refused: nothing is run."""
    raise NotImplementedError


def _answers(given: Any) -> bool:
    return callable(given) or callable(getattr(given, "complete", None))
