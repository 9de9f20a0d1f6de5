"""Compare two runs of the same cases: did the candidate get worse on these cases, and would cases like these get worse?

The first question decides: the cases are fixed, and the trials of each are the sample. The second one is always answered, too:
the cases are the sample. No missing verdict is left out: what is significant holds with their best and their worst values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum

from proctor.analysis.compare.absent_cases import NONE_ABSENT, AbsentCases
from proctor.analysis.compare.error_rates import Detectable, ErrorBudget, detectable_drop, divide_error
from proctor.analysis.compare.futility import FUTILE, RemainingTrials, chance_to_decide
from proctor.analysis.compare.measures import (
    Means,
    MeasureTest,
    PairedScore,
    by_case,
    hull,
    in_general,
    means_of,
    more_needed,
    on_these_cases,
    p_value_by_case,
    trials_of,
)
from proctor.analysis.compare.missing_verdicts import (
    CompletedCase,
    Completion,
    Range,
    completions,
    credible_ranges,
    deciding_metrics,
    total_missing,
)
from proctor.analysis.compare.outcome_text import Basis, case_fell_before_correction, write_sentences
from proctor.analysis.compare.overdispersion import could_exceed_overdispersion, exceeds_overdispersion
from proctor.analysis.compare.sides import Pairs, Side, changed_cases, pair
from proctor.schema.analysis.comparison import (
    PASSED,
    USAGE_MEASURES,
    CaseEvidence,
    Change,
    Comparison,
    InGeneral,
    Look,
    Measured,
)
from proctor.stats.paired_tests import holm, tarone_holm
from proctor.stats.unequal_counts import TwoCounts, case_test, least_p_values

MARGIN = 0.05
"""The drop of the pass rate that "no regression" rules out, unless another is given."""
UNDECIDED = frozenset({Change.INCONCLUSIVE, Change.NO_DIFFERENCE})
"""The outcomes that further trials or cases could change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """How two runs are compared."""

    margin: float = MARGIN
    """The largest drop of the pass rate that still counts as no regression, above 0 and below 1."""
    confidence: float = 0.95
    """One minus the probability of a false regression, between 0 and 1."""
    require_proof: bool = False
    """Whether "no difference seen" is not enough: a drop larger than the margin must be ruled out."""
    generalize: bool = False
    """Whether a significant drop in general is a regression."""
    deterministic: bool = False
    """Whether the agent always does the same, so that one trial proves a change."""
    keep_changed: bool = False
    """Pair cases whose content has changed, too."""
    ranges: Mapping[str, Range] = field(default_factory=dict)
    """By metric the lowest and the highest score, where these are known."""
    apart: frozenset[str] = frozenset()
    """What was scored differently, and so decides nothing: metrics, and `passed`."""
    base_absent: AbsentCases = NONE_ABSENT
    candidate_absent: AbsentCases = NONE_ABSENT
    """The cases of the other run that a run left out, or could not run: their verdicts are missing."""
    by_test_alone: bool = False
    """Whether a test is significant without its interval: for the worst values of missing verdicts, see `by_case`."""
    look: Look | None = None
    """The interim look of a sequential run; `None`: a single analysis."""
    ahead: RemainingTrials | None = None
    """What is to come after this look; `None`: nothing."""

    @property
    def error(self) -> float:
        """The one-sided probability of a false regression of this analysis."""
        return 1 - self.confidence if self.look is None else self.look.one_sided

    @property
    def unknown_sets(self) -> list[str]:
        """The sets that neither run could run: it is unknown how many verdicts are missing."""
        base, candidate = self.base_absent.unknown, self.candidate_absent.unknown
        return [*dict.fromkeys((*base, *candidate))] if base and candidate else []

    @property
    def budget(self) -> ErrorBudget:
        """The significance levels of the tests that decide."""
        return divide_error(self.error, generalize=self.generalize)


_Choices = tuple[TwoCounts, TwoCounts]
"""The counts of a case with the worst and with the best values of its missing verdicts."""


@dataclass(frozen=True, slots=True)
class _Evidence:
    """Everything that decides, tested under some choices of the missing verdicts."""

    measures: Sequence[Measured]
    general: InGeneral
    worse: Sequence[CaseEvidence] = ()
    better: Sequence[CaseEvidence] = ()
    fell: Sequence[CompletedCase] = ()
    """The cases whose verdict changed from passed to failed."""
    has_dropped: bool = False
    """Whether a case passes significantly fewer trials before correction."""
    has_lower_rate: bool = False
    """Whether the pass rate is lower with the worst values of the missing verdicts."""

    def is_regression(self, options: CompareOptions) -> bool:
        """Return whether the candidate is worse by any of the tests."""
        is_sure = bool(self.worse or (options.deterministic and self.fell))
        return is_sure or self.general.is_regression or self._has("worse")

    @property
    def is_improvement(self) -> bool:
        """Return whether the candidate is better by any of the tests, and its pass rate is not lower."""
        return not self.has_lower_rate and (bool(self.better) or self._has("better"))

    @property
    def has_fallen(self) -> bool:
        """Return whether a case fell, or a measure dropped significantly before correction."""
        return self.has_fallen_case or any(one.fell_before_correction for one in self.measures)

    @property
    def has_fallen_case(self) -> bool:
        """Return whether a verdict changed to failed, or a case dropped significantly before correction."""
        return bool(self.fell) or self.has_dropped

    def _has(self, verdict: str) -> bool:
        return any(one.verdict == verdict for one in self.measures if one.decides)


def compare_cases(base: Side, candidate: Side, options: CompareOptions) -> Comparison:
    """Compare two runs case by case.

    The outcome, in this order. *regression*: significantly worse whatever the missing verdicts are. *error*: significantly
    worse if they are the worst ones, no case has a verdict in both runs, or a set could be run in neither; *inconclusive* instead if only a few are missing
    and a case fell whatever they are. *inconclusive*: pass and fail were not scored alike. *improvement*: significantly
    better, with a pass rate that is not lower, whatever the missing verdicts are. *no regression*: a drop of the pass rate
    larger than the margin is ruled out for cases like these. *inconclusive*: a case fell, or a missing verdict would with
    its worst value, or proof is required. *no difference*: nothing fell.

    "No regression" is the lower test of D. J. Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15 (1987), 657-680.
    """
    pairs = pair(
        base.cases, candidate.cases, keep_changed=options.keep_changed, base_absent=options.base_absent,
        candidate_absent=options.candidate_absent,
    )  # fmt: skip
    options = replace(options, ranges=credible_ranges(pairs, options.ranges))
    planned = max(1, base.run.num_runs), max(1, candidate.run.num_runs)
    missing = total_missing(pairs, planned)
    comparison = Comparison(
        base.run, candidate.run, Change.ERROR, "", options.margin, options.confidence,
        pairs=len(pairs.both), measures=_reported(pairs, options), cases=changed_cases(pairs, deterministic=options.deterministic),
        missing_base=missing[0], missing_candidate=missing[1], only_base=pairs.only_base,
        only_candidate=pairs.only_candidate, changed_cases=pairs.changed, left_out=pairs.left_out, look=options.look,
        unknown_sets=options.unknown_sets,
    )  # fmt: skip
    views = completions(pairs, planned, options.ranges) if pairs.both else []
    may_have_fallen = bool(views) and _test(comparison, pairs, views, options)
    if comparison.outcome is not Change.REGRESSION and not pairs.has_verdicts:
        # nothing was compared, and each rate would be midway between its bounds
        comparison.outcome, comparison.general = Change.ERROR, None
        comparison.measures = _reported(pairs, options)
    basis = Basis(
        has_verdicts=pairs.has_verdicts,
        could_fall=any(one.counts.before for view in views[:1] for one in view.cases),
        may_have_fallen=may_have_fallen,
        deterministic=options.deterministic,
        require_proof=options.require_proof,
        detectable=_detectable(views, options) if comparison.outcome is Change.NO_DIFFERENCE else None,
    )
    write_sentences(comparison, basis)
    return comparison


def _test(comparison: Comparison, pairs: Pairs, views: Sequence[Completion], options: CompareOptions) -> bool:
    """Write the tests and the outcome into a comparison, and what more it needs if it is undecided.

    Return whether something fell, or would have with the worst values of the missing verdicts.
    """
    evidence = _evidence(pairs, views, options)
    alone = replace(options, by_test_alone=True)
    worst = _evidence(pairs, views, alone) if len(views) > 1 else evidence
    comparison.outcome = _outcome(evidence, worst, options, few_missing=views[0].few_missing)
    comparison.measures = [*evidence.measures, *comparison.measures]
    comparison.significant_cases, comparison.general = evidence.worse, evidence.general
    if comparison.outcome in UNDECIDED and PASSED not in options.apart:
        needed = more_needed(views[0].rates, options.margin, options.confidence)
        comparison.more_cases, comparison.more_trials = needed
        comparison.futile = _is_futile(pairs, views, options)
    return worst.has_fallen


def _detectable(views: Sequence[Completion], options: CompareOptions) -> Detectable:
    counts, budget = [one.counts for one in views[0].cases], options.budget
    return detectable_drop(counts, case_level=budget.cases, overall_level=budget.overall)


def _outcome(evidence: _Evidence, worst: _Evidence, options: CompareOptions, *, few_missing: bool) -> Change:
    if evidence.is_regression(options):
        return Change.REGRESSION
    if options.unknown_sets:
        return Change.ERROR
    outcome = _outcome_without_regression(evidence, worst, options)
    if not worst.is_regression(options):
        return outcome
    is_open = few_missing and evidence.has_fallen_case and outcome is Change.INCONCLUSIVE
    return Change.INCONCLUSIVE if is_open else Change.ERROR


def _outcome_without_regression(evidence: _Evidence, worst: _Evidence, options: CompareOptions) -> Change:
    if PASSED in options.apart:
        return Change.INCONCLUSIVE
    if evidence.is_improvement:
        return Change.IMPROVEMENT
    if evidence.general.lowest >= -options.margin:
        return Change.NO_REGRESSION
    is_open = worst.has_fallen or options.require_proof
    return Change.INCONCLUSIVE if is_open else Change.NO_DIFFERENCE


# --- what is tested --------------------------------------------------------------------------------------------------


def _evidence(pairs: Pairs, views: Sequence[Completion], options: CompareOptions) -> _Evidence:
    """Test what decides under each of the completions: what is significant is so under all of them."""
    budget, both = options.budget, views
    views = views[:1] if options.by_test_alone else views
    measures = [_passed(pairs, views, both, options), *_metrics(pairs, views, options, budget.metrics)]
    general = _in_general(pairs, views, options)
    if PASSED in options.apart:
        return _Evidence(measures, general)
    return _Evidence(
        measures,
        general,
        _worst_cases(both, budget.cases) if options.by_test_alone else _significant_cases(both, budget.cases),
        _significant_cases(both, budget.cases, better=True),
        [one for one in views[-1].cases if one.fell],
        any(case_fell_before_correction(one.counts) for one in views[-1].cases),
        any(fsum(one.difference for one in view.rates) < 0 for view in views),
    )


def _significant_cases(
    views: Sequence[Completion], level: float, *, better: bool = False
) -> list[CaseEvidence]:
    """Return the cases that are worse (or better) by themselves under every completion, corrected for the number of cases.

    Each must exceed what the other flaky cases vary between the runs.
    """
    known: dict[_Choices, tuple[float, float]] = {}
    choices, tests = _choices(views), []
    for worst, best in choices:
        both = (best, worst) if not better else (worst.swap(), best.swap())
        if both not in known:
            known[both] = case_test(both[0])[0], least_p_values(*both)[0]
        tests.append(known[both])
    cases = _corrected(views[0].cases, tests, level)
    others = [both for place, both in enumerate(choices) if place not in cases]
    return [one for place, one in cases.items() if exceeds_overdispersion(choices[place], others)]


def _worst_cases(views: Sequence[Completion], level: float) -> list[CaseEvidence]:
    """Return the cases that could be worse with the worst of the missing verdicts, if the others leave them the most error.

    None could if the flaky cases with every verdict vary too much between the runs already.
    """
    choices = _choices(views)
    tests = [(case_test(worst)[0], least_p_values(worst, best)[1]) for worst, best in choices]
    cases = _corrected(views[0].cases, tests, level)
    known = [worst for place, (worst, best) in enumerate(choices) if worst == best and place not in cases]
    others = len(choices) - len(known) - 1
    return [
        one for place, one in cases.items() if could_exceed_overdispersion(choices[place][0], known, others)
    ]


def _choices(views: Sequence[Completion]) -> list[_Choices]:
    """Return the counts of each case with the worst and with the best values of the missing verdicts."""
    ends = zip(views[0].cases, views[-1].cases, strict=True)
    return [(worst.counts, best.counts) for worst, best in ends]


def _corrected(
    cases: Sequence[CompletedCase], tests: Sequence[tuple[float, float]], level: float
) -> dict[int, CaseEvidence]:
    """Return the cases that are significant after correction, by their places; of each test the p-value and its smallest one."""
    adjusted = tarone_holm([p_value for p_value, _ in tests], [least for _, least in tests], level)
    return {
        place: CaseEvidence(one.name, p_value, each)
        for place, (one, (p_value, _), each) in enumerate(zip(cases, tests, adjusted, strict=True))
        if each <= level
    }


def _passed(
    pairs: Pairs, views: Sequence[Completion], both: Sequence[Completion], options: CompareOptions
) -> Measured:
    """Test the pass rate over these cases; the means shown are those of the cases with every verdict."""
    ends = zip(both[0].rates, both[-1].rates, strict=True)
    changes = sum(worst.difference * best.difference > 0 for worst, best in ends)
    known = _known_rates(pairs)
    means = means_of(known, [view.rates for view in views])
    level, alone = 2 * options.budget.overall, options.by_test_alone
    tested = [
        on_these_cases(
            [one.counts for one in view.cases],
            level,
            by_test_alone=alone,
            changes=changes if alone else None,
        )
        for view in views
    ]
    one = _measured(PASSED, means, hull(tested, means.difference), len(pairs.both), options, decides=True)
    return replace(one, trials=trials_of(known, means))


def _metrics(
    pairs: Pairs, views: Sequence[Completion], options: CompareOptions, level: float
) -> list[Measured]:
    """Test the metrics that decide, by Holm's step-down procedure; each has the interval of its own level.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
    (1979), 65-70.
    """
    values = {name: [view.scores[name] for view in views] for name in views[0].scores}
    p_values = {
        name: [p_value_by_case(view, _width(name, options)) for view in choices]
        for name, choices in values.items()
    }
    deciding = [name for name in values if name not in options.apart]
    levels = dict(zip(deciding, holm([max(p_values[name]) for name in deciding], 2 * level), strict=True))
    measures = []
    for name, choices in values.items():
        own, width = levels.get(name, 1 - options.confidence), _width(name, options)
        tested = [
            by_case(view, own, width, p_value, by_test_alone=options.by_test_alone)
            for view, p_value in zip(choices, p_values[name], strict=True)
        ]
        means = means_of(_known_scores(pairs, name), choices)
        whole = hull(tested, means.difference)
        measures.append(_measured(name, means, whole, len(choices[0]), options, decides=name in levels))
    return measures


def _known_scores(pairs: Pairs, name: str) -> list[PairedScore]:
    """Return the scores of the cases in which a metric was computed for every trial of both runs."""
    return [
        PairedScore(before.scores[name], now.scores[name], before.count or 1, now.count or 1)
        for _, before, now in pairs.both
        if before.has_all_scores(name) and now.has_all_scores(name)
    ]


def _width(name: str, options: CompareOptions) -> float | None:
    """Return how far two scores of a metric can differ; `None` where that is not known."""
    known = options.ranges.get(name)
    return None if known is None else known[1] - known[0]


def _measured(
    name: str,
    means: Means,
    tested: MeasureTest,
    count: int,
    options: CompareOptions,
    *,
    decides: bool,
) -> Measured:
    lower_is_better = name in USAGE_MEASURES
    way = (tested.low > 0) - (tested.high < 0)
    verdict = {1: "better", 0: "", -1: "worse"}[-way if lower_is_better else way]
    return Measured(
        name, means.base, means.candidate, tested.difference, tested.low, tested.high, tested.p_value, count,
        missing=count - means.known, confidence=1 - tested.level, decides=decides and name not in options.apart,
        lower_is_better=lower_is_better, verdict=verdict, apart=name in options.apart,
    )  # fmt: skip


def _reported(pairs: Pairs, options: CompareOptions) -> list[Measured]:
    """Test what decides nothing: metrics with `"gate": false` and usage, each for itself at the whole level."""
    gating = {*deciding_metrics(pairs)}
    names = dict.fromkeys(name for _, _, now in pairs.both for name in now.scores if name not in gating)
    measures = []
    for name in sorted(names, key=_usage_first):
        values = _known_scores(pairs, name)
        if not values or _is_unused(name, values):
            continue
        tested = by_case(values, 1 - options.confidence, _width(name, options))
        measures.append(
            _measured(name, means_of(values, [values]), tested, len(values), options, decides=False)
        )
    return measures


def _is_unused(name: str, values: Sequence[PairedScore]) -> bool:
    """Return whether a usage is 0 everywhere, as that of tools in runs without a tool call."""
    return name in USAGE_MEASURES and not any(one.before or one.now for one in values)


def _usage_first(name: str) -> tuple[int, str]:
    return (USAGE_MEASURES.index(name), "") if name in USAGE_MEASURES else (len(USAGE_MEASURES), name)


def _known_rates(pairs: Pairs) -> list[PairedScore]:
    """Return the pass rates of the cases with every verdict in both runs."""
    return [
        PairedScore(before.trials.rate, now.trials.rate, before.count, now.count)
        for _, before, now in pairs.both
        if before.trials.rate is not None and now.trials.rate is not None
    ]


def _in_general(pairs: Pairs, views: Sequence[Completion], options: CompareOptions) -> InGeneral:
    level = 1 - options.confidence if options.look is None else options.look.two_sided
    rates = [view.rates for view in views]
    return in_general(
        rates, means_of(_known_rates(pairs), rates).difference, error=options.error, margin=options.margin,
        level=2 * options.budget.general if options.generalize else level,
        gates=options.generalize and PASSED not in options.apart, by_test_alone=options.by_test_alone,
    )  # fmt: skip


def _is_futile(pairs: Pairs, views: Sequence[Completion], options: CompareOptions) -> bool:
    """Return whether further trials would hardly decide the comparison, by the intervals of the last look."""
    if options.ahead is None:
        return False
    evidence = _evidence(pairs, views, replace(options, look=options.ahead.last))
    deciding = [one for one in evidence.measures if one.decides]
    return chance_to_decide(deciding, evidence.general, options.margin, options.ahead) < FUTILE
