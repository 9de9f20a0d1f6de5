"""All played users of a run: who plays them, found and checked before the first call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from proctor.errors import SetupError, UnknownNameError
from proctor.models.base import Budget, ChatModel
from proctor.models.concurrency_limit import Limiter
from proctor.models.function import takes_options
from proctor.models.load import as_model, check_settings, load_model
from proctor.models.settings import settings_of
from proctor.schema.format.case import EvalCase
from proctor.schema.format.config import EvalConfig, LlmBackedUserSimulatorConfig
from proctor.schema.format.scenario import ConversationScenario
from proctor.simulation.scenario_user import PlayedBy
from proctor.simulation.templates import check_template
from proctor.simulation.user_models import FunctionVoice, ModelVoice, Voice

__all__ = ["RunUsers"]

_NO_START = "user simulator: the starting prompt is empty; it is what the user says first"
_NO_PLAN = "the conversation plan is empty: a model that plays the user has nothing to go by"
_NO_TURNS = "user_simulator_config: max_allowed_invocations 0 lets no conversation begin"


class RunUsers:
    """See `Users`. One per run.

    `user` plays the users of all scenarios in place of the configured models: a model's name, a `ChatModel`, or a plain
    or async function from the conversation so far (and the scenario, if it takes two arguments) to the next message,
    `None` to end it.
    """

    def __init__(self, user: Any = None, *, budget: Budget | None = None) -> None:
        """Take who plays, if not the configured models, and what keeps the caps."""
        self._user, self._budget = user, budget
        self._limiter = Limiter()
        self._models: dict[str, ChatModel] = {}

    def problems(self, case: EvalCase, config: EvalConfig) -> list[SetupError]:
        """Say why nobody can play the user of a case; empty when somebody can."""
        scenario, simulator = case.conversation_scenario, _simulator(config)
        found: list[SetupError] = []
        if simulator.max_allowed_invocations == 0:
            found.append(SetupError(_NO_TURNS))
        if scenario is not None and not case.opening and not scenario.starting_prompt.strip():
            found.append(SetupError(_NO_START))
        try:
            if self._function is None:
                self._check(simulator, scenario)
            else:
                _check_function(self._function)
        except SetupError as problem:
            found.append(_told(problem))
        return found

    def doubts(self, config: EvalConfig) -> list[str]:
        """Say which of the stated settings the model does not get."""
        simulator = _simulator(config)
        if self._function is not None or "model_configuration" not in simulator.model_fields_set:
            return []
        try:
            return check_settings(self._model(simulator.model), settings_of(simulator.model_configuration))
        except SetupError:  # said as a problem
            return []

    def play(self, case: EvalCase, config: EvalConfig) -> PlayedBy:
        """Return a simulator for one conversation of a case that has no problems."""
        scenario, simulator = case.conversation_scenario, _simulator(config)
        if scenario is None:
            raise ValueError(f"the case {case.eval_id!r} has no scenario to play")
        return PlayedBy(
            case,
            scenario,
            self._voice(scenario, simulator),
            most=simulator.max_allowed_invocations,
            with_calls=simulator.include_function_calls or self._function is not None,
        )

    async def close(self) -> None:
        """Let go of the connections of models that were found by name."""
        for model in self._models.values():
            close = getattr(model, "close", None)
            if close is not None:
                await close()

    def _check(self, simulator: LlmBackedUserSimulatorConfig, scenario: ConversationScenario | None) -> None:
        if scenario is not None and not scenario.conversation_plan.strip():
            raise SetupError(_NO_PLAN)
        check_settings(self._model(simulator.model), settings_of(simulator.model_configuration))
        if simulator.custom_instructions is not None:
            persona = scenario is not None and scenario.user_persona is not None
            check_template(simulator.custom_instructions, with_persona=persona)

    def _voice(self, scenario: ConversationScenario, simulator: LlmBackedUserSimulatorConfig) -> Voice:
        if (function := self._function) is not None:
            return FunctionVoice(function, scenario, wants_scenario=takes_options(function))
        return ModelVoice(self._model(simulator.model), simulator, scenario, self._budget)

    @property
    def _function(self) -> Callable[..., Any] | None:
        user = self._user
        is_model = user is None or isinstance(user, str) or callable(getattr(user, "complete", None))
        return None if is_model or not callable(user) else user

    def _model(self, configured: str) -> ChatModel:
        if self._user is not None and not isinstance(self._user, str):
            return as_model(self._user)
        name = self._user or configured
        if name not in self._models:
            try:
                self._models[name] = load_model(name, limiter=self._limiter)
            except SetupError as problem:
                # a key that is not set, a package that is missing: the file that names the model is right
                problem.is_mistake = isinstance(problem, UnknownNameError)
                raise
        return self._models[name]


def _check_function(function: Callable[..., Any]) -> None:
    """Make sure that a function can be called with the conversation so far, and the scenario if it takes it."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of some written in C nobody knows
        return
    try:
        signature.bind(*(None, None)[: 1 + takes_options(function)])
    except TypeError as error:
        name = getattr(function, "__name__", "") or type(function).__name__
        raise SetupError(
            f"{name}{signature} cannot be called ({error}). Write: def {name}(so_far): …, or def {name}(so_far, scenario): …"
        ) from None


def _simulator(config: EvalConfig) -> LlmBackedUserSimulatorConfig:
    return config.user_simulator_config or LlmBackedUserSimulatorConfig()


def _told(problem: SetupError) -> SetupError:
    told = SetupError(f"user simulator: {problem}")
    told.is_mistake = problem.is_mistake
    return told
