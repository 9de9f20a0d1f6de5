"""The evaluation API of adk-rs in Python: `EvalRunner`, its two metrics, custom evaluators, its report.

The engine runs and scores everything. If an agent or an evaluator raises, its case is FAILED, with the cause in the scores;
adk-rs aborts the whole run. A set or a case that decides nothing is rejected; adk-rs passes it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from proctor.common.async_tools import settle
from proctor.compat.adk.argument_errors import a_model, a_path, setup_error, unexpected_argument
from proctor.compat.adk.sync_or_async import Evaluation
from proctor.compat.adk_rs_metrics import BuiltIn, EvalScore, EvalStatus, ResponseMatch, TrajectoryMatch
from proctor.errors import MetricError, SetupError
from proctor.schema.format.case import EvalCase, EvalSet, SessionInput
from proctor.schema.format.invocation import Invocation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proctor.metrics.custom.function_metric import FunctionMetricFactory
    from proctor.schema.results.run_result import CaseResult, RunResult

__all__ = [
    "EvalCase",
    "EvalReport",
    "EvalResult",
    "EvalRunner",
    "EvalScore",
    "EvalSet",
    "EvalStatus",
    "Evaluator",
    "Invocation",
    "ResponseMatch",
    "TrajectoryMatch",
    "load_eval_set_from_file",
    "load_eval_set_from_str",
]


@dataclass(slots=True)
class EvalResult:
    """One case: its scores by metric."""

    eval_set_id: str
    eval_case_id: str
    scores: dict[str, EvalScore]
    overall_status: EvalStatus

    def __bool__(self) -> bool:
        return bool(self.overall_status)


@dataclass(slots=True)
class EvalReport:
    """All cases, in order."""

    results: list[EvalResult]
    run: RunResult
    """The result as Proctor's API gives it: evidence, reasons, outcomes."""

    def __bool__(self) -> bool:
        return bool(self.run)

    def to_json(self) -> str:
        """Return the report as adk-rs prints it."""
        return json.dumps({"results": [asdict(each) for each in self.results]}, indent=2, ensure_ascii=False)


class Evaluator(Protocol):
    """The protocol of custom metrics; the methods are those of adk-rs, and `evaluate` may be async."""

    def name(self) -> str:
        """Return the key in the scores."""
        ...

    def evaluate(self, expected: Invocation, actual: Invocation) -> Any:
        """Score one invocation: an `EvalScore`. The expected one comes first."""
        ...


class EvalRunner:
    """Runs eval sets against an agent. Both methods can be awaited or, outside of an event loop, called directly."""

    def __init__(
        self, agent: Any, app_name: str, user_id: str, evaluators: Sequence[Evaluator | BuiltIn]
    ) -> None:
        """Take the agent (of any kind that `proctor.evaluate` takes), the session's app and user, and the metrics."""
        for what, name in (("app_name", app_name), ("user_id", user_id)):
            if not isinstance(name, str):
                raise unexpected_argument(f"EvalRunner: {what}", "a text", name)
        self._agent, self._app_name, self._user_id = agent, app_name, user_id
        self._evaluators = _check_evaluators(evaluators)

    def run_set(self, eval_set: EvalSet) -> Evaluation[EvalReport]:
        """Run every case of a set.

        Raises:
            SetupProblems: configuration errors, before the first agent call.
        """
        return Evaluation("run_set", lambda: self._run(eval_set))

    def run_case(self, set_id: str, case: EvalCase) -> Evaluation[EvalResult]:
        """Run one case. Raises SetupProblems, as `run_set`."""

        async def run() -> EvalResult:
            if not isinstance(set_id, str):
                raise unexpected_argument("run_case: set_id", "a text", set_id)
            one = a_model(EvalCase, case, "run_case: case")
            return (await self._run(EvalSet(eval_set_id=set_id, eval_cases=[one]))).results[0]

        return Evaluation("run_case", run)

    async def _run(self, source: Any) -> EvalReport:
        from proctor.runs.evaluate import evaluate

        loaded = source.result if isinstance(source, Evaluation) else source  # of `load_eval_set_from_file`
        eval_set = a_model(EvalSet, loaded, "run_set")
        own = eval_set.model_copy(update={"eval_cases": [self._in_session(c) for c in eval_set.eval_cases]})
        with _registration(self._evaluators) as criteria:
            run = await evaluate(self._agent, own, config={"criteria": criteria}, num_runs=1)
        return EvalReport([_result(case) for case in run.cases], run)

    def _in_session(self, case: EvalCase) -> EvalCase:
        state = dict(case.session_input.state or {}) if case.session_input else {}
        session = SessionInput(app_name=self._app_name, user_id=self._user_id, state=state)
        return case.model_copy(update={"session_input": session})


def _check_evaluators(evaluators: Any) -> list[Evaluator | BuiltIn]:
    """Return the evaluators of a runner, each with a unique name. Raises ValueError for unsuitable ones."""
    if not isinstance(evaluators, Sequence) or isinstance(evaluators, str):
        raise unexpected_argument(
            "EvalRunner: evaluators", "a list such as [TrajectoryMatch(1.0)]", evaluators
        )
    names = [_name_of(each) for each in evaluators]
    if not names:
        raise setup_error("EvalRunner: no evaluators given, so nothing would decide")
    for name in names:
        if names.count(name) > 1:
            raise setup_error(f"EvalRunner: two evaluators are called {name!r}")
    return list(evaluators)


def _name_of(evaluator: Any) -> str:
    if isinstance(evaluator, type):
        raise unexpected_argument(
            "EvalRunner: evaluators", f"an evaluator, such as {evaluator.__name__}(1.0)", evaluator
        )
    expected = "an object with the methods name() and evaluate(expected, actual)"
    name_of = getattr(evaluator, "name", None)
    if not (callable(name_of) and callable(getattr(evaluator, "evaluate", None))):
        raise unexpected_argument("EvalRunner: evaluators", expected, evaluator)
    name = name_of()
    if not isinstance(name, str) or not name:
        raise setup_error(f"EvalRunner: name() of {type(evaluator).__name__} gives a text, got {name!r}")
    return name


@contextmanager
def _registration(evaluators: Sequence[Evaluator | BuiltIn]) -> Iterator[dict[str, Any]]:
    """Register evaluators as metrics while the context is active; yields the criteria by name."""
    from proctor.common.registry import METRICS

    criteria: dict[str, Any] = {}
    added = []
    try:
        for each in evaluators:
            if isinstance(each, BuiltIn) and type(each).evaluate is BuiltIn.evaluate:
                criteria[each.name()] = each.criterion
                continue
            name = each.name()
            if name in METRICS:
                raise SetupError(
                    f"EvalRunner: {name!r} is the name of a metric of Proctor; call it otherwise"
                )
            METRICS.add(name, _factory(name, each))
            added.append(name)
            criteria[name] = {"threshold": 1.0, "aggregate": "every_invocation"}
        yield criteria
    finally:
        for name in added:
            METRICS.remove(name)


def _factory(name: str, evaluator: Evaluator) -> FunctionMetricFactory:
    """Return an evaluator as a metric of the engine: 1 for PASSED, 0 for FAILED; its own score is in the details."""
    from proctor.metrics.base import MetricFacts
    from proctor.metrics.custom.function_metric import FunctionMetricFactory
    from proctor.metrics.custom.scoring_function import read_signature
    from proctor.schema.results.score import EXPECTED_SCORE, Score, is_score

    async def evaluate(actual_invocation: Invocation, expected_invocation: Invocation | None) -> Score:
        if expected_invocation is None:
            return Score(not_applicable=True, reason="nothing was recorded to compare with")
        score = await settle(evaluator.evaluate(expected_invocation, actual_invocation))
        if not isinstance(score, EvalScore):
            raise MetricError(f"{name}: evaluate() returned {type(score).__name__}; it must be an EvalScore")
        value: Any = score.score
        if not is_score(value):
            raise MetricError(f"{name}: evaluate() returned the score {value!r}; {EXPECTED_SCORE}")
        if score.status not in list(EvalStatus):
            raise MetricError(
                f"{name}: evaluate() returned the status {score.status!r}; it must be an EvalStatus"
            )
        reason = str((score.details or {}).get("reason") or "")
        if EvalStatus(score.status) is EvalStatus.ERROR:
            raise MetricError(f"{name}: {reason or 'the evaluator returned ERROR'}")
        passed = EvalStatus(score.status) is EvalStatus.PASSED
        return Score(float(passed), reason=reason, details={"score": score.score})

    description = (inspect.getdoc(evaluator) or "").partition("\n")[0]
    facts = MetricFacts(
        name=name, description=description, kind="custom", default_threshold=1.0, source="your own evaluator"
    )
    return FunctionMetricFactory(facts, evaluate, read_signature(name, evaluate))


def _result(case: CaseResult) -> EvalResult:
    from proctor.reports.formats.adk import result_of_case

    data = result_of_case(case)
    scores = {
        name: EvalScore(**{**score, "status": EvalStatus(score["status"])})
        for name, score in data["scores"].items()
    }
    for name, score in scores.items():
        _restore_scores(score, case, name)
    return EvalResult(case.eval_set_id, case.eval_id, scores, EvalStatus(data["overall_status"]))


def _restore_scores(score: EvalScore, case: CaseResult, name: str) -> None:
    """Replace the 1 and 0 on which the engine bases its verdict with the evaluator's own scores."""
    trial = next((each for each in case.metrics[name].per_trial if each is not None), None)
    turns = (
        [each.details.get("score") for each in trial.per_invocation if each.details]
        if trial is not None
        else []
    )
    values = [each for each in turns if isinstance(each, int | float)]
    if values and score.status is not EvalStatus.ERROR:
        score.score = sum(values) / len(values)
        score.details["per_invocation"] = values


def load_eval_set_from_str(text: str) -> EvalSet:
    """Read a set from JSON text. Raises EvalFileError, with every problem and its place."""
    from proctor.files.eval_sets.source import load_eval_set_text

    if not isinstance(text, str | bytes):
        raise unexpected_argument("load_eval_set_from_str", "JSON text", text)
    return load_eval_set_text(text)


def load_eval_set_from_file(path: str | Path) -> Evaluation[EvalSet]:
    """Read a set from a file; can be awaited or, outside of an event loop, called directly. Raises EvalFileError."""
    from proctor.files.eval_sets.source import load_eval_set

    async def load() -> EvalSet:
        return load_eval_set(a_path(path, "load_eval_set_from_file"))

    return Evaluation("load_eval_set_from_file", load)
