"""As `google.adk.evaluation.simulation.user_simulator`: what a user simulator of one's own is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ConfigDict, ValidationError, model_validator

from proctor.compat.adk.argument_errors import setup_error
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.simulated_user import NextStatus as Status
from proctor.schema.format.content import Content
from proctor.schema.format.wire_model import WireModel, plain_data

__all__ = [
    "BaseUserSimulatorConfig",
    "NextUserMessage",
    "Status",
    "UserSimulator",
    "register_user_simulator",
]


class BaseUserSimulatorConfig(WireModel):
    """The configuration of a user simulator; one of one's own has a `type` that is its own."""

    type: str | None = None


class NextUserMessage(WireModel):
    """The next message of the user, or the reason for its absence: it has a message if and only if the status is SUCCESS."""

    model_config = ConfigDict(extra="forbid")

    status: Status
    user_message: Content | None = None

    @model_validator(mode="after")
    def _has_a_message_or_none(self) -> NextUserMessage:
        if (self.status == Status.SUCCESS) == (self.user_message is None):
            raise ValueError("A user_message should be provided if and only if the status is SUCCESS")
        return self


class UserSimulator:
    """Simulates the user of one case; subclasses generate its messages."""

    def __init__(self, config: Any, config_type: type[Any]) -> None:
        try:
            self._config = config_type.model_validate(plain_data(config))
        except ValidationError as error:
            raise setup_error(
                f"config: expected a {config_type.__name__}: {error.errors()[0]['msg']}"
            ) from None

    async def get_next_user_message(self, events: Sequence[Event]) -> NextUserMessage:
        """Return the next message of the user. `events`: the whole conversation, including the user's own messages."""
        raise NotImplementedError

    def get_simulation_evaluator(self) -> Any:
        """Return what evaluates the simulation, or `None`. (Nothing asks for it here: a metric does this.)"""
        raise NotImplementedError


_BY_CONFIG: dict[type[Any], type[Any]] = {}


def register_user_simulator(config_type: type[Any], simulator_type: type[Any]) -> None:
    """Have `UserSimulatorProvider` make a `simulator_type` for configs of this type."""
    _BY_CONFIG[config_type] = simulator_type


def simulator_type_for(config_type: type[Any]) -> type[Any] | None:
    """Return the simulator of configs of this type, if there is one."""
    return _BY_CONFIG.get(config_type)
