"""Runs made by hand, to be compared: a case is its trials, as letters (P passed, F failed, E in error)."""

from collections.abc import Iterable, Mapping

from proctor.analysis.compare.compare_cases import CompareOptions, compare_cases
from proctor.analysis.compare.sides import Side, side_cases
from proctor.schema.analysis.comparison import ComparedRun, Comparison
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult

OUTCOMES = {"P": Outcome.PASSED, "F": Outcome.FAILED, "E": Outcome.ERROR}


def case(
    eval_id: str, trials: str, *, scores: Mapping[str, float] | None = None, reason: str = ""
) -> CaseResult:
    """A case whose verdict is that of the format: failed where any trial failed, else in error where one is."""
    outcome = next((OUTCOMES[letter] for letter in "FEP" if letter in trials), Outcome.NOT_RUN)
    metrics = {
        name: MetricVerdict(name, outcome, score, 0.5, gate=not name.startswith("seen_"))
        for name, score in (scores or {}).items()
    }
    results = [TrialResult(number, OUTCOMES[letter], evidence=None) for number, letter in enumerate(trials)]
    return CaseResult("set", eval_id, outcome, reason, metrics, results)


def cases(*trials: str) -> list[CaseResult]:
    """Cases called 0, 1, 2 …"""
    return [case(str(number), letters) for number, letters in enumerate(trials)]


def side(found: Iterable[CaseResult], *, num_runs: int = 1, content: Mapping[str, str] | None = None) -> Side:
    """A run of these cases; `content` is the hash of each one's content."""
    listed = list(found)
    run = ComparedRun("", "agent", len(listed), num_runs)
    return Side(run, [*side_cases(((content or {}).get(one.eval_id, "same"), one) for one in listed)])


def compared(base: Iterable[CaseResult], candidate: Iterable[CaseResult], **options: object) -> Comparison:
    """Compare two runs of these cases."""
    return compare_cases(side(base), side(candidate), CompareOptions(**options))  # type: ignore[arg-type]  # as given
