"""Generate scenarios for an agent: a model writes them from the agent's description, and the result is checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from proctor.errors import SetupError, SetupProblems
from proctor.runs.arguments import AgentLike, EvalSetLike, sync_form, unknown_options
from proctor.schema.format.case import (
    ConversationGenerationConfig,
    ConversationScenario,
    EvalCase,
    SessionInput,
)

if TYPE_CHECKING:
    from proctor.agents.base import AgentInfo
    from proctor.models.base import ChatModel
    from proctor.simulation.generate_scenarios import AgentOutline, Generated

MODEL = "gemini-2.5-flash"
"""The default model."""
MOST = 200
"""Scenarios that may be asked for at once: each will be read by a person."""
_STATE = re.compile(r"\{(\w+)\??\}")
USER = "test_user_id"


class GenerateOptions(TypedDict, total=False):
    """The keyword arguments of `generate_scenarios`."""

    count: int
    guidance: str | None
    environment: str | None
    model: Any
    settings: Mapping[str, Any] | None
    existing: EvalSetLike | None
    agent_name: str | None
    max_cost: float | None


def _number_problems(count: object, max_cost: object) -> Iterator[SetupError]:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST:
        yield SetupError(f"count: expected a whole number from 1 to {MOST}, not {count!r}")
    is_amount = isinstance(max_cost, int | float) and not isinstance(max_cost, bool) and max_cost > 0
    if max_cost is not None and not is_amount:
        yield SetupError(f"max_cost: expected a number of US dollars above 0, not {max_cost!r}")


async def generate_scenarios(agent: AgentLike, **options: Unpack[GenerateOptions]) -> Generated:
    """Generate scenarios for an agent; review them before use.

    A model (`model`: a name, a `ChatModel` or a function; default: gemini-2.5-flash; `settings` as in
    `judge_model_config`) receives the agent's description of itself, `guidance` on what to test, and facts about the
    `environment`. `count` (5) is how many are wanted, 200 at most. `existing` is a set whose scenarios are there already.
    What comes back has a starting prompt and a plan, names no tool that the agent has not, and is not near another one
    (see `proctor.simulation.generate_scenarios`); what was not taken is in `refused`, and why there are fewer than were wanted
    in `problem`. `max_cost`: no further call once so many US dollars are spent, or once a price turns out not to be known.

    Raises:
        SetupProblems: the agent cannot be loaded or has no description, no model is available, or a number is invalid. No model was called.
    """
    from proctor.simulation.generate_scenarios import GenerationRequest, generate

    count, max_cost = options.get("count", 5), options.get("max_cost")
    problems = [
        *unknown_options(options, GenerateOptions.__annotations__),
        *_number_problems(count, max_cost),
    ]
    model = _model(options, problems)
    existing = _existing(options.get("existing"), problems)
    if problems or model is None:
        raise SetupProblems(problems)
    try:
        outline = await outline_of(agent, agent_name=options.get("agent_name"))
        guidance = (options.get("guidance") or "").strip()
        environment = (options.get("environment") or "").strip()
        if not (outline.instructions or outline.declarations or guidance):
            raise SetupProblems([SetupError(_SILENT.format(agent=outline.name))])
        request = GenerationRequest(
            count=count, guidance=guidance, environment=environment, max_cost=max_cost
        )
        return await generate(model, outline, request, existing=existing, settings=options.get("settings"))
    finally:
        if (close := getattr(model, "close", None)) is not None:
            await close()


generate_scenarios_sync = sync_form(generate_scenarios)


_SILENT = (
    "the agent {agent} has neither instructions nor tools (`describe()`), so that its purpose is unknown: "
    "state it with --guidance (guidance=…)"
)


async def outline_of(agent: AgentLike, *, agent_name: str | None = None) -> AgentOutline:
    """Return the description of an agent; the agent is opened for it, and closed again.

    Raises:
        SetupError: it cannot be loaded, or raised.
    """
    from proctor.agents.load import describe_ref, load_agent
    from proctor.engine.planning.plan import Plan
    from proctor.engine.run_options import RunOptions
    from proctor.engine.trial.agent_lifecycle import AgentLifecycle

    loaded, label = load_agent(agent, agent_name=agent_name), describe_ref(agent)
    opened = AgentLifecycle(loaded, label, RunOptions().timeout)
    try:
        info = await opened.open(Plan([], 1))
    finally:
        await opened.close()
    return _agent_outline(info, label)


def _agent_outline(info: AgentInfo | None, label: str) -> AgentOutline:
    from proctor.metrics.structure.declarations import read_declarations
    from proctor.schema.format.invocation import AppDetails
    from proctor.simulation.generate_scenarios import AgentOutline

    if info is None:
        return AgentOutline(name=label)
    agents = AppDetails.model_validate(info.app_details or {}).agent_details
    declared = [one for details in agents.values() for one in details.tool_declarations]
    is_told = bool(agents) and not info.has_more_tools
    return AgentOutline(
        name=info.name or label,
        description=info.description,
        instructions={name: one.instructions for name, one in agents.items() if one.instructions},
        declarations=declared,
        tools=sorted({one.name for one in read_declarations(declared)}) if is_told else None,
    )


def cases_of(
    scenarios: Sequence[ConversationScenario], *, session_input: SessionInput | None = None
) -> list[EvalCase]:
    """Return a case for each scenario, with the id that google-adk gives it."""
    from proctor.authoring.edit_eval_set import scenario_id

    return [
        EvalCase(eval_id=scenario_id(one), conversation_scenario=one, session_input=session_input)
        for one in scenarios
    ]


def session_for(agent: str | Path, outline: AgentOutline) -> SessionInput | None:
    """Return the session that scenarios of an agent start in: an empty text for each `{word}` of its instructions.

    As google-adk makes it; without such words there is none to be made.
    """
    from proctor.agents.load import agent_folder, describe_ref

    words = dict.fromkeys(word for text in outline.instructions.values() for word in _STATE.findall(text))
    if not words:
        return None
    folder = agent_folder(agent)
    app = folder.name if folder is not None else describe_ref(agent)
    return SessionInput(app_name=app, user_id=USER, state=dict.fromkeys(words, ""))


def load_generation_config(path: str | Path) -> ConversationGenerationConfig:
    """Read google-adk's file of options for generating scenarios.

    Raises:
        EvalFileError: it is none.
    """
    from proctor.files.eval_sets.documents import DocumentKind, read_document
    from proctor.files.eval_sets.load import read_model

    document = read_document(Path(path))
    return read_model(document, ConversationGenerationConfig, "a generation config", {DocumentKind.UNKNOWN})


def _model(options: GenerateOptions, problems: list[SetupError]) -> ChatModel | None:
    from proctor.models.base import check_settings
    from proctor.models.load import as_model

    try:
        model = as_model(options.get("model") or MODEL)
        check_settings(model, options.get("settings") or {})
    except SetupError as problem:
        problems.append(problem)
        return None
    return model


def _existing(eval_set: EvalSetLike | None, problems: list[SetupError]) -> list[ConversationScenario]:
    from proctor.files.eval_sets.source import open_eval_set
    from proctor.runs.load import read_python_set

    if eval_set is None:
        return []
    try:
        if isinstance(eval_set, str | Path):
            source: Any = open_eval_set(Path(eval_set), allow_empty=True)
            cases = [source.case(index) for index in range(len(source))]
        else:
            cases = list(read_python_set(eval_set))
    except SetupError as problem:
        problems.append(problem)
        return []
    return [one.conversation_scenario for one in cases if one.conversation_scenario is not None]
