"""As `google.adk.evaluation.simulation.llm_backed_user_simulator`: a model plays, by Proctor's prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from proctor.compat.adk.argument_errors import a_model, set_up
from proctor.compat.adk.evaluation.simulation.user_simulator import (
    NextUserMessage,
    UserSimulator,
    register_user_simulator,
)
from proctor.schema.evidence.event import Event
from proctor.schema.format.case import ConversationScenario, EvalCase
from proctor.schema.format.config import EvalConfig, LlmBackedUserSimulatorConfig

if TYPE_CHECKING:
    from proctor.simulation.base import UserSimulator as Player
    from proctor.simulation.pool import RunUsers

__all__ = ["LlmBackedUserSimulator", "LlmBackedUserSimulatorConfig"]


class LlmBackedUserSimulator(UserSimulator):
    """Plays the user of a scenario with a model.

    What is wrong with the config, or a key that is missing, is a ValueError when it is made.
    """

    config_type: ClassVar[type[LlmBackedUserSimulatorConfig]] = LlmBackedUserSimulatorConfig

    def __init__(self, *, config: Any, conversation_scenario: ConversationScenario) -> None:
        super().__init__(config, config_type=LlmBackedUserSimulatorConfig)
        from proctor.errors import SetupProblems
        from proctor.simulation.pool import RunUsers

        scenario = a_model(ConversationScenario, conversation_scenario, "conversation_scenario")
        case = EvalCase(eval_id="scenario", conversation_scenario=scenario)
        eval_config = EvalConfig(user_simulator_config=self._config)
        self._users: RunUsers = RunUsers()
        with set_up():
            if problems := self._users.problems(case, eval_config):
                raise SetupProblems(problems)
        self._player: Player = self._users.play(case, eval_config)

    async def get_next_user_message(self, events: Sequence[Event]) -> NextUserMessage:
        """Return the starting prompt, then the messages of the model.

        Raises:
            SimulatorError: it gave no message that can be used. (google-adk raises a RuntimeError.)
        """
        from proctor.compat.adk.user_simulators import turns_of

        reply = await self._player.next_message(turns_of(events))
        return NextUserMessage(status=reply.status, user_message=reply.message)

    def get_simulation_evaluator(self) -> None:
        """Return nothing: `per_turn_user_simulator_quality_v1` is a separate metric."""
        return


register_user_simulator(LlmBackedUserSimulatorConfig, LlmBackedUserSimulator)
