"""Checks of cases before a run, above all whether a case asserts something; one rule for every entry point.

A case asserts something if a gating metric finds a statement in it (`MetricFacts.statement`). A case that asserts
nothing would pass with an agent that does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from proctor.common.registry import METRICS
from proctor.engine.planning.bound_metric import FINAL_STATE, BoundMetric
from proctor.engine.planning.criteria import Bound
from proctor.engine.planning.set_plan import ASSERTS_NOTHING, NO_GATE, Assertions
from proctor.errors import CriterionError, MissingExtraError, SetupError
from proctor.metrics.base import Survey, needs_of
from proctor.schema.format.case import (
    EXTENSION_KEYS,
    EvalCase,
    Statement,
    all_extensions,
    contradictory_extensions,
    find_extension,
    has_unknown_keys,
)
from proctor.schema.format.config import EvalConfig
from proctor.simulation.base import Users


def statement_in(case: EvalCase, metrics: Sequence[BoundMetric]) -> Statement:
    """Return the strongest statement that the gating metrics find in a case."""
    strongest = Statement.NONE
    for metric in metrics:
        if (
            metric.gate
            and (strongest := max(strongest, _problems_of_metric(metric, case))) is Statement.POSITIVE
        ):
            break  # none is stronger
    return strongest


def _problems_of_metric(metric: BoundMetric, case: EvalCase) -> Statement:
    if not can_score(metric, case) or not is_about_agent(metric):
        return Statement.NONE
    if metric.parts:
        return max(_problems_of_metric(part, case) for part in metric.parts)
    return metric.facts.statement_in(case)


def skip_reason(case: EvalCase, metrics: Sequence[BoundMetric]) -> str:
    """Return why a case is skipped where cases are not planned before they run; empty where its metrics decide."""
    if statement_in(case, metrics) is not Statement.NONE or _keeps_verdict(case, metrics):
        return ""
    return ASSERTS_NOTHING


def _keeps_verdict(case: EvalCase, metrics: Sequence[BoundMetric]) -> bool:
    """Whether a gating criterion asks for the verdict of another implementation."""
    return any(metric.gate and metric.as_in_adk and can_score(metric, case) for metric in metrics)


def classify(case: EvalCase, index: int, bound: Bound, assertions: Assertions) -> str:
    """Put a case into `assertions` by what it asserts; return why it cannot be run, or an empty text."""
    statement = statement_in(case, bound.metrics)
    if statement is Statement.POSITIVE:
        return ""
    if statement is Statement.NEGATIVE:
        assertions.negative.append(index)
    elif names := [metric.name for metric in bound.left_out if statement_in(case, [metric])]:
        why = " and ".join(dict.fromkeys(bound.skipped[name] for name in names))
        assertions.skipped[index] = f"asserts something only for {', '.join(names)}, left out by {why}"
    elif _keeps_verdict(case, bound.metrics):
        assertions.as_in_adk.append(index)
    else:
        assertions.unasserted[index] = problem = cannot_decide(case, bound) or ASSERTS_NOTHING
        if not assertions.allowed:
            return problem
        assertions.skipped[index] = problem
    return ""


# --- Cases that nothing would decide ----------------------------------------------------------------------------------


def cannot_decide(case: EvalCase, bound: Bound) -> str:
    """Explain why no metric could decide this case; empty if one can."""
    if any(metric.gate and can_score(metric, case) and is_about_agent(metric) for metric in bound.metrics):
        return ""
    gating = [metric for metric in bound.metrics if metric.gate and metric.name != FINAL_STATE]
    if not gating:
        return NO_GATE
    reasons: dict[str, list[str]] = {}
    for metric in gating:
        reasons.setdefault(_reason_not_applicable(metric, case), []).append(metric.name)
    parts = (f"{', '.join(names)}: {why}" for why, names in reasons.items())
    return f"nothing decides it: {'; '.join(parts)}"


def is_about_agent(metric: BoundMetric) -> bool:
    """Whether a metric scores the agent, not the simulated user."""
    return bool(getattr(metric.metric, "judges_agent", True))


def left_out_text(skipped: Mapping[str, str]) -> str:
    """Name the metrics that options leave out, by option."""
    by: dict[str, list[str]] = {}
    for name, option in skipped.items():
        by.setdefault(option, []).append(name)
    options = "; ".join(f"{option} leaves out {', '.join(names)}" for option, names in by.items())
    return f" ({options})" if options else ""


def _reason_not_applicable(metric: BoundMetric, case: EvalCase) -> str:
    """Explain why a metric does not apply to a case."""
    if not metric.covered[case.conversation is None]:
        return _OTHER_KIND if case.conversation is None else "it does not score recorded cases"
    if metric.parts:
        return f"none of {', '.join(part.name for part in metric.parts)} applies"
    names = "reason_not_applicable", "why_not"
    reasons = (getattr(metric.metric, name, None) for name in names)
    reason = next(filter(None, reasons), None)
    return str(reason(case)) if reason else f"it does not apply (it needs {needs_of(metric.facts)})"


_OTHER_KIND = (
    "the case is a scenario, and this needs a recorded conversation (rubrics, trajectory rules, `hallucinations_v1`, "
    "`safety_v1`, `multi_turn_task_success_v1` and an expected final session state decide scenarios)"
)


def cannot_run(case: EvalCase) -> str:
    """Explain why a case has no message for the agent; empty if it has one."""
    if case.conversation_scenario is not None:
        return ""
    return "" if case.conversation else "its conversation has no turns"


def can_score(metric: BoundMetric, case: EvalCase) -> bool:
    """Whether a metric applies to a case."""
    if not metric.covered[case.conversation is None]:
        return False
    if "expected_state" in metric.facts.needs and not case.final_session_state:
        return False
    if metric.parts:
        return any(can_score(part, case) for part in metric.parts)
    applies = getattr(metric.metric, "applies", None)
    return applies is None or bool(applies(case))


# --- Criteria compared with all the cases of a run ---------------------------------------------------------------------


@dataclass(slots=True)
class CriterionSurvey:
    """The survey of one criterion over the cases of a run."""

    metric: BoundMetric
    survey: Survey
    source: str
    """The config that the criterion is in."""
    is_partial: bool = False
    """Whether options left out cases: one of those may state what the criterion asks for."""

    def add_case(self, case: EvalCase) -> None:
        """Show a case to the survey if the metric scores it."""
        if self.metric.covered[case.conversation is None]:
            self.survey.add_case(case)

    def problems(self) -> list[SetupError]:
        """Return the problems that the survey found."""
        fit = f"The criterion of {self.metric.name!r} does not fit"
        return [self._error(problem, f"{fit}: {problem}.") for problem in self.survey.problems()]

    def warnings(self) -> list[SetupError]:
        """Return the warnings of the survey; if it saw a part of the cases only, its problems are warnings, too."""
        texts = [*self.survey.warnings()]
        if self.is_partial:
            problems = self.survey.problems()
            texts = [f"{each} (of the cases that were chosen)" for each in (*problems, *texts)]
        return [self._error(each, f"{self.metric.name}: {each}") for each in texts]

    def _error(self, part: str, message: str) -> SetupError:
        error = CriterionError(f"{self.source}: {message}")
        error.file, error.path, error.parts = self.source, ("criteria", self.metric.name), [part]
        return error


class Surveys:
    """The surveys of all criteria; sets that share a config share their surveys."""

    def __init__(self) -> None:
        self._looks: dict[tuple[int, str], CriterionSurvey] = {}

    def of(
        self, config: EvalConfig, source: str, metrics: Iterable[BoundMetric], *, is_partial: bool
    ) -> list[CriterionSurvey]:
        """Return the surveys that are to see the cases of a set."""
        looks = []
        for metric in metrics:
            survey = getattr(metric.metric, "survey", None)
            if survey is None or (new_survey := survey()) is None:
                continue
            look = self._looks.setdefault(
                (id(config), metric.name), CriterionSurvey(metric, new_survey, source)
            )
            look.is_partial |= is_partial
            looks.append(look)
        return looks

    def problems(self) -> list[SetupError]:
        """Return the problems, for which the run is refused."""
        return [each for look in self._looks.values() if not look.is_partial for each in look.problems()]

    def warnings(self) -> list[SetupError]:
        """Return the warnings."""
        return [each for look in self._looks.values() for each in look.warnings()]


# --- Expectations of cases that one metric reads: their mistakes, and those that no metric of the run reads -----------


READERS = {
    "expectations": "tool_expectations",
    "trajectory_rules": "trajectory_rules",
    "response_schema": "response_schema",
}
"""Key of a case -> the only metric that reads it."""

READERS_OF_RUBRICS = {
    "FINAL_RESPONSE_QUALITY": "rubric_based_final_response_quality_v1",
    "TOOL_USE_QUALITY": "rubric_based_tool_use_quality_v1",
    "TRAJECTORY_QUALITY": "rubric_based_multi_turn_trajectory_quality_v1",
}
"""Type of rubrics -> the metric that reads it."""
_OF_TYPE = "rubrics of type "

Check = Callable[[EvalCase], Iterable[str]]


def checks_of(metrics: Iterable[BoundMetric]) -> list[Check]:
    """Return the checks for each case: those of the metrics, and those of the metrics that the config does not name."""
    metrics = list(metrics)
    known_keys = _keys_of_metrics(metrics)
    metric_checks = [each.metric.check for each in metrics if hasattr(each.metric, "check")]
    unasked = _Unasked([key for key in EXTENSION_KEYS if key not in known_keys])
    state = [] if any(each.facts.name == FINAL_STATE for each in metrics) else [_check_state]
    return [*metric_checks, unasked, *state]


def case_problems(case: EvalCase, checks: Sequence[Check]) -> list[str]:
    """Return the problems that `checks` find in a case."""
    return [problem for check in checks for problem in check(case)]


def find_unread_keys(
    case: EvalCase, metrics: Sequence[BoundMetric], skipped: Collection[str] = ()
) -> list[str]:
    """Return the keys of a case that no metric of the run reads, except those that `skipped` metrics read."""
    keys = [key for key in READERS if key in (all_extensions(case) or ())]
    if keys:
        known_keys = _keys_of_metrics(metrics)
        keys = [key for key in keys if key not in known_keys]
    return [*keys, *(key for key in _unread_rubrics(case, metrics) if reader_of(key) not in skipped)]


def reader_of(key: str) -> str:
    """Return the metric that reads a key that `find_unread_keys` returns."""
    if key in READERS:
        return READERS[key]
    return READERS_OF_RUBRICS.get(key.removeprefix(_OF_TYPE), READERS_OF_RUBRICS["FINAL_RESPONSE_QUALITY"])


def _unread_rubrics(case: EvalCase, metrics: Iterable[BoundMetric]) -> list[str]:
    """Return the types of the case's rubrics that no metric reads; a custom metric may read any.

    The metrics that read rubrics report rubrics without type; without such a metric they are reported here.
    """
    types = _rubric_types(case)
    if not types:
        return []
    types_read = _rubric_types_read(metrics)
    if None in types_read:
        return []
    unread = [f"{_OF_TYPE}{each}" for each in types if each is not None and each not in types_read]
    return [*unread, "rubrics"] if None in types and not types_read else unread


def _rubric_types(case: EvalCase) -> list[str | None]:
    """Return the types of the rubrics of a case and its turns, each once; `None`: there are rubrics without a type."""
    turns = [*(case.conversation or ()), *(case.opening or ())]
    rubrics = [*(case.rubrics or ()), *(rubric for turn in turns for rubric in turn.rubrics or ())]
    return list(dict.fromkeys(rubric.type for rubric in rubrics))


def _rubric_types_read(metrics: Iterable[BoundMetric]) -> set[str | None]:
    """Return the types of rubrics that the metrics read; `None` among them: any type."""
    reading = [each for each in metrics if each.facts.kind == "custom" or "rubrics" in each.facts.needs]
    return {getattr(each.metric, "rubric_type", None) for each in reading}


def _keys_of_metrics(metrics: Iterable[BoundMetric]) -> set[str]:
    return {need for each in metrics for need in each.facts.needs}


class _Unasked:
    """Checks a case for mistakes that only metrics outside the criteria would notice, and for duplicate statements."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = [*keys]
        self._checks: dict[str, Check] = {}

    def __call__(self, case: EvalCase) -> Iterable[str]:
        if not has_unknown_keys(case):
            return ()
        problems = (self._check(key, case) for key in self._keys if find_extension(case, key) is not None)
        return [*chain.from_iterable(problems), *contradictory_extensions(case)]

    def _check(self, key: str, case: EvalCase) -> Iterable[str]:
        if key not in self._checks:
            self._checks[key] = METRICS.get(READERS[key])().check
        try:
            return self._checks[key](case)
        except MissingExtraError:  # the run does not need this metric
            return ()


def _check_state(case: EvalCase) -> Iterable[str]:
    if not case.final_session_state:
        return ()
    problems: Iterable[str] = METRICS.get(FINAL_STATE)().check(case)
    return problems


class UserProblems:
    """The problems and warnings of the simulated users of a set, each once."""

    def __init__(self, users: Users | None, config: EvalConfig) -> None:
        self._users, self._config = users, config
        self._found: dict[str, tuple[SetupError, int, int]] = {}
        self._has_scenarios = False

    def add_case(self, index: int, case: EvalCase) -> None:
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

    def warnings(self, source: str) -> list[SetupError]:
        """Return the warnings about the simulator; `source` is the source of the config."""
        if self._users is None or not self._has_scenarios or self._found:
            return []
        warnings = []
        for text in self._users.warnings(self._config):
            warning = SetupError(f"{source}: user_simulator_config: {text}")
            warning.file, warning.path, warning.parts = source, ("user_simulator_config",), [text]
            warnings.append(warning)
        return warnings
