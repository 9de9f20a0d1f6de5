"""The simulated users of a run, loaded and checked before the first call, and the simulated user of one scenario."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence

from proctor.errors import SetupError, UnknownNameError
from proctor.models.base import Budget, ChatModel, check_settings, close_models
from proctor.models.function import takes_options
from proctor.models.load import as_model, load_model
from proctor.models.retries import Limiter
from proctor.models.settings import settings_of
from proctor.schema.evidence.simulated_user import NextStatus, SimulatedUser, UserFault, UserReply
from proctor.schema.evidence.trial import FailureKind
from proctor.schema.format.case import ConversationScenario, EvalCase
from proctor.schema.format.config import EvalConfig, LlmBackedUserSimulatorConfig
from proctor.schema.format.content import user_text
from proctor.schema.format.invocation import Invocation
from proctor.simulation.base import NextUserMessage, simulator_error
from proctor.simulation.user_models import (
    STOP_SIGNAL,
    FunctionUserModel,
    LlmUserModel,
    UserFunction,
    UserModel,
)
from proctor.simulation.user_prompt import check_template

_OTHER_USER = "`--user` gives another simulated user: a model, or a function (FILE.py)"
_NO_START = "user simulator: the starting prompt is empty; it is the user's first message"
_NO_PLAN = "the conversation plan is empty: a simulated user needs a plan"
_NO_TURNS = "user_simulator_config: max_allowed_invocations 0 allows no turn"


class RunUsers:
    """See `Users`. One per run.

    `user` plays the users of all scenarios instead of the configured models. It is a model's name, a `ChatModel`, or a plain
    or async function that gets the conversation so far (and the scenario, if it takes two arguments) and returns the next
    message, or `None` to end the conversation.
    """

    def __init__(self, user: object = None, *, budget: Budget | None = None) -> None:
        """Take the user, if it replaces the configured models, and the budget of the run."""
        self._user, self._budget = user, budget
        self.limiter = Limiter()
        """The limit of concurrent calls."""
        self._models: dict[str, ChatModel] = {}

    def problems(self, case: EvalCase, config: EvalConfig) -> list[SetupError]:
        """Return the reasons why the user of a case cannot be simulated; empty if it can."""
        scenario, simulator = case.conversation_scenario, _simulator(config)
        problems: list[SetupError] = []
        if simulator.max_allowed_invocations == 0:
            problems.append(SetupError(_NO_TURNS))
        if scenario is not None and not case.opening and not scenario.starting_prompt.strip():
            problems.append(SetupError(_NO_START))
        try:
            if self._function is None:
                self._check(simulator, scenario)
            else:
                _check_function(self._function)
        except SetupError as problem:
            other = "" if self._user is not None else f". {_OTHER_USER}"
            prefixed = SetupError(f"user simulator: {str(problem).removesuffix('.')}{other}")
            prefixed.is_mistake = problem.is_mistake
            problems.append(prefixed)
        return problems

    def warnings(self, config: EvalConfig) -> list[str]:
        """Return a warning for each setting that the model ignores."""
        simulator = _simulator(config)
        if self._function is not None or "model_configuration" not in simulator.model_fields_set:
            return []
        try:
            return check_settings(self._model(simulator.model), settings_of(simulator.model_configuration))
        except SetupError:  # reported by `problems`
            return []

    def play(self, case: EvalCase, config: EvalConfig) -> ScenarioUser:
        """Return a simulator for one conversation of a case that has no problems."""
        scenario, simulator = case.conversation_scenario, _simulator(config)
        if scenario is None:
            raise ValueError(f"the case {case.eval_id!r} has no scenario to play")
        return ScenarioUser(
            case,
            scenario,
            self._user_model(scenario, simulator),
            max_turns=simulator.max_allowed_invocations,
            with_calls=simulator.include_function_calls or self._function is not None,
        )

    async def close(self) -> None:
        """Close the connections of the models that were loaded by name."""
        await close_models(self._models.values())

    def _check(self, simulator: LlmBackedUserSimulatorConfig, scenario: ConversationScenario | None) -> None:
        if scenario is not None and not scenario.conversation_plan.strip():
            raise SetupError(_NO_PLAN)
        check_settings(self._model(simulator.model), settings_of(simulator.model_configuration))
        if simulator.custom_instructions is not None:
            persona = scenario is not None and scenario.user_persona is not None
            check_template(simulator.custom_instructions, with_persona=persona)

    def _user_model(
        self, scenario: ConversationScenario, simulator: LlmBackedUserSimulatorConfig
    ) -> UserModel:
        if (function := self._function) is not None:
            return FunctionUserModel(function, scenario, wants_scenario=takes_options(function))
        return LlmUserModel(self._model(simulator.model), simulator, scenario, self._budget)

    @property
    def _function(self) -> UserFunction | None:
        user = self._user
        is_model = user is None or isinstance(user, str) or callable(getattr(user, "complete", None))
        return None if is_model or not callable(user) else user

    def _model(self, configured: str) -> ChatModel:
        if self._user is not None and not isinstance(self._user, str):
            return as_model(self._user)
        name = self._user or configured
        if name not in self._models:
            try:
                self._models[name] = load_model(name, limiter=self.limiter)
            except SetupError as problem:
                # if a key or a package is missing, the file that names the model is correct
                problem.is_mistake = isinstance(problem, UnknownNameError)
                raise
        return self._models[name]


def _check_function(function: UserFunction) -> None:
    """Make sure that a function accepts the conversation so far, and the scenario if it takes two arguments."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some functions written in C have no signature
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


# --- The simulated user of one scenario: recorded messages first, then messages from a user model ---------------------


LONGEST = 100_000
"""Characters: a longer message is a fault of the simulator."""


class ScenarioUser:
    """Plays the user of one conversation; see `UserSimulator`."""

    def __init__(
        self,
        case: EvalCase,
        scenario: ConversationScenario,
        user_model: UserModel,
        *,
        max_turns: int,
        with_calls: bool,
    ) -> None:
        """Take the case with its scenario, the source of the messages, and the maximum number of turns (negative: no limit).

        The messages of the case's opening come first and do not count towards the maximum. If `with_calls`, the user sees the
        agent's tool calls.
        """
        self._case, self._scenario, self._user_model = case, scenario, user_model
        self._max_turns, self._with_calls = max_turns, with_calls
        self._opening = [turn.user_content for turn in case.opening or ()]
        self.patience = user_model.patience
        self.simulated_user: SimulatedUser = user_model.describe()
        self.simulated_user.opening = len(self._opening) or None

    async def next_message(self, so_far: Sequence[Invocation]) -> NextUserMessage:
        """Return the recorded messages, the starting prompt, then the user model's messages until it ends the conversation.

        After an opening the starting prompt may be empty; the user model then writes all messages.

        Raises:
            SimulatorError: the user model failed, or its message cannot be used.
        """
        turn, opening = len(so_far), self._opening
        if turn < len(opening):
            return NextUserMessage(opening[turn], NextStatus.SUCCESS)
        if 0 <= self._max_turns <= turn - len(opening):
            return NextUserMessage(None, NextStatus.TURN_LIMIT_REACHED)
        if turn == len(opening) and (self._scenario.starting_prompt.strip() or not opening):
            return NextUserMessage(user_text(self._scenario.starting_prompt), NextStatus.SUCCESS)
        reply = UserReply(turn=turn)
        return self._checked_message(await self._user_model.next_message(so_far, reply), reply)

    def _checked_message(self, text: str | None, reply: UserReply) -> NextUserMessage:
        if text is None or STOP_SIGNAL in text.lower():
            reply.status = NextStatus.STOP_SIGNAL_DETECTED
            return NextUserMessage(None, reply.status, reply)
        if not text.strip():
            raise simulator_error("the message is empty", kind=FailureKind.EMPTY, reply=reply)
        if len(text) > LONGEST:
            reply.text = text[:LONGEST]
            message = f"the message has {len(text):,} characters; expected {LONGEST:,} at most"
            raise simulator_error(message, kind=FailureKind.BROKE_CONTRACT, reply=reply)
        reply.status = NextStatus.SUCCESS
        return NextUserMessage(user_text(text), reply.status, reply)

    async def find_faults(
        self, conversation: Sequence[Invocation], final_state: Mapping[str, object] | None
    ) -> Sequence[UserFault]:
        """Return the faults that the rules find in the user's messages."""
        if not self.simulated_user.replies:
            return ()  # every message came from the case
        from proctor.simulation.faults.conversation import user_conversation
        from proctor.simulation.faults.detect import find_faults

        return find_faults(
            user_conversation(
                self._case,
                self._scenario,
                self.simulated_user,
                conversation,
                final_state,
                with_calls=self._with_calls,
            )
        )
