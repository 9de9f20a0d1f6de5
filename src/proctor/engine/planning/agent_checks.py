"""What the agent says about its tools, beside what cases and criteria say about calls: the last look before it is asked anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from proctor.agents.base import AgentInfo
from proctor.engine.planning.case_problems import in_case
from proctor.engine.planning.plan import Plan, SetPlan
from proctor.errors import CriterionError, SetupError
from proctor.metrics.base import Described
from proctor.schema.format.case import EvalCase

__all__ = ["contradicted"]

Ask = Callable[[EvalCase | None, Described], Iterable[str]]


def contradicted(plan: Plan, info: AgentInfo | None) -> list[SetupError]:
    """What is stated about calls that the agent, by its own account, can never make; each thing once."""
    if info is None or not info.app_details:
        return []
    described = Described(info.app_details, is_complete=not info.has_more_tools)
    found = [problem for chosen in plan.sets for problem in _of_set(chosen, described)]
    return [*{str(problem): problem for problem in found}.values()]


def _of_set(chosen: SetPlan, described: Described) -> Iterator[SetupError]:
    asked: dict[str, Ask] = {
        one.name: ask for one in chosen.metrics if (ask := getattr(one.metric, "check_agent", None))
    }
    source = chosen.summary.config_source
    for name, ask in asked.items():
        for said in ask(None, described):
            problem = CriterionError(f"{source}: The criterion of {name!r} does not fit: {said}.")
            problem.file, problem.path, problem.parts = source, ("criteria", name), [said]
            yield problem
    for index in chosen.cases if asked else ():
        case = chosen.source.case(index)
        for ask in asked.values():
            yield from (in_case(said, chosen.source, index) for said in ask(case, described))
