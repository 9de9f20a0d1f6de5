"""Provider of the simulated users of a run: the models of configs, or a given one, created when the first scenario needs it."""

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
    """The simulated users of a run (see `Users`), loaded when the first scenario needs one.

    `user` replaces the models that configs name: a model's name, a `ChatModel`, or a plain or async function
    from the conversation so far (and the scenario, if it takes two arguments) to the next message; as a string
    `module:function` or `file.py:function`.
    """

    def __init__(self, user: Any = None, *, budget: Budget | None = None) -> None:
        self._given, self._budget = user, budget
        self._made: RunUsers | None = None

    def wrong(self) -> list[SetupError]:
        """Return the problems of the given user, whether or not there is a scenario."""
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
        """Return why the user of a case cannot be simulated; empty if it can."""
        try:
            return self._users().problems(case, config)
        except SetupError as problem:
            return [problem]

    def doubts(self, config: EvalConfig) -> list[str]:
        """Return the warnings about the simulated user."""
        return self._users().doubts(config)

    def _not_found(self, named: str) -> list[SetupError]:
        from proctor.runs.setup.user_functions import AN_OBJECT, find_user

        try:
            if named != AN_OBJECT:  # a placeholder is an error only if there is a scenario
                find_user(named)
        except SetupError as problem:
            self._given = _nobody  # report it once, not again for every scenario
            return [problem]
        return []

    def play(self, case: EvalCase, config: EvalConfig) -> UserSimulator:
        """Return a simulator for one conversation."""
        return self._users().play(case, config)

    async def close(self) -> None:
        """Close connections at the end of the run."""
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
    """Replace a user that was refused: nothing is run."""
    raise NotImplementedError


def _answers(given: Any) -> bool:
    return callable(given) or callable(getattr(given, "complete", None))
