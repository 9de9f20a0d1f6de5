"""As `google.adk.evaluation.simulation.user_simulator_provider`: who plays the user of a case."""

from __future__ import annotations

from typing import Any

from proctor.compat.adk.argument_errors import setup_error, unexpected_argument
from proctor.compat.adk.evaluation.simulation.llm_backed_user_simulator import LlmBackedUserSimulatorConfig
from proctor.compat.adk.evaluation.simulation.static_user_simulator import StaticUserSimulator
from proctor.compat.adk.evaluation.simulation.user_simulator import (
    BaseUserSimulatorConfig,
    UserSimulator,
    simulator_type_for,
)
from proctor.schema.format.case import EvalCase

__all__ = ["UserSimulatorProvider"]


class UserSimulatorProvider:
    """Makes a user simulator for each case: of the registered kind for scenarios, one that repeats for recorded ones."""

    def __init__(self, user_simulator_config: Any = None) -> None:
        if user_simulator_config is None:
            user_simulator_config = LlmBackedUserSimulatorConfig()
        elif not isinstance(user_simulator_config, BaseUserSimulatorConfig | LlmBackedUserSimulatorConfig):
            raise unexpected_argument(
                "user_simulator_config", "the config of a user simulator", user_simulator_config
            )
        self._user_simulator_config = user_simulator_config

    @property
    def config(self) -> Any:
        """The configuration of the simulators that it makes."""
        return self._user_simulator_config

    def provide(self, eval_case: EvalCase) -> UserSimulator:
        """Return the simulator for a case. Raises ValueError: none is registered for the type of the config."""
        if eval_case.conversation is not None:
            return StaticUserSimulator(static_conversation=eval_case.conversation)
        kind = type(self._user_simulator_config)
        simulator = simulator_type_for(kind)
        if simulator is None:
            raise setup_error(
                f"no user simulator is registered for configs of the type {kind.__name__}; register_user_simulator does it"
            )
        user_simulator: UserSimulator = simulator(
            config=self._user_simulator_config, conversation_scenario=eval_case.conversation_scenario
        )
        return user_simulator
