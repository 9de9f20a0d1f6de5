"""Cases in words and figures: the reason, the rate and the scores of one case, and the digest of all cases of a run.

The cases of a stored run are read from the store at each access, and there may be very many. A digest therefore needs one
pass over the cases and keeps none of them.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from proctor.common.safe_text import count_text
from proctor.reports.content.case_words import FLAKY, WORDS
from proctor.reports.content.summary import FLAKY_ATTENTION, attention, interval, passed_share, percent
from proctor.reports.content.symbols import ASCII, Marks, short_names
from proctor.schema.results.case_result import FaultRates, Repeats
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, RunResult, SetSummary
from proctor.schema.results.score import MODEL_CALLS, TrialRule, is_counted, score_text
from proctor.stats.intervals import Mean

TELLING = {Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE}
"""Outcomes that need a reason."""


def reason_of(case: CaseResult) -> str:
    """Return in one sentence why the case has its outcome; empty if it passed."""
    if case.outcome is Outcome.PASSED:
        return ""
    if case.reason:
        return case.reason
    metric = next((metric for metric in deciding(case) if metric.outcome is case.outcome), None)
    cause = next((trial.failure.cause for trial in case.trials if trial.failure), "")
    if metric is None:
        return cause
    return metric.reason or cause or f"{metric.name} gives no reason"


def deciding(case: CaseResult) -> list[MetricVerdict]:
    """Return the gating metrics that did not pass, in their order; where trials are counted, that missed in one."""
    counted = case.rule is not None and case.outcome in TELLING
    return [
        metric
        for metric in case.metrics.values()
        if metric.gate and (metric.outcome in TELLING or (counted and metric.met < metric.scored))
    ]


def warnings_of(case: CaseResult) -> list[str]:
    """Return the warnings about the scores of this case, each once, with its metric."""
    return _warnings(case.metrics.values())


def warnings_beside(case: CaseResult) -> list[str]:
    """Return the warnings that the evidence does not contain: those of metrics that did not decide the outcome."""
    names = {metric.name for metric in deciding(case)} if case.outcome in TELLING else set()
    return _warnings(metric for metric in case.metrics.values() if metric.name not in names)


def _warnings(metrics: Iterable[MetricVerdict]) -> list[str]:
    texts = (
        f"{metric.name}: {each.warning}"
        for metric in metrics
        for score in metric.per_trial
        if score is not None
        for each in score.per_invocation
        if each.warning
    )
    return list(dict.fromkeys(texts))


_TRIAL_LETTERS = {Outcome.PASSED: "P", Outcome.FAILED: "F", Outcome.ERROR: "E", Outcome.INCONCLUSIVE: "I"}
_KS = (2, 4, 8)
"""The values of k for which pass^k and pass@k are shown."""


def is_repeated(case: CaseResult) -> bool:
    """Return whether a case has several trials."""
    return len(case.trials) > 1


def rate_text(case: CaseResult) -> str:
    """Return the share of a case's trials that passed: `80 %`."""
    return "" if case.pass_rate is None else f"{percent(case.pass_rate)} %"


def rate_sentence(case: CaseResult, marks: Marks) -> str:
    """Return how many trials passed, in words: `4 of 5 trials passed (80 %, 95 % CI: 38–96), flaky`.

    Trials without a verdict are named apart: `2 of 5 trials passed, 2 in error (40 % of all 5, …)`, or `5 trials in error`.
    """
    trials = count_text(len(case.trials), "trial")
    other = len(case.trials) - case.trials_passed - case.trials_failed
    why = "in error" if other == sum(one.outcome is Outcome.ERROR for one in case.trials) else "not scored"
    if other == len(case.trials):
        return f"{trials} {why}"
    not_scored, of_all = (f", {other:,} {why}", f" of all {len(case.trials):,}") if other else ("", "")
    sure = interval(*case.interval, marks, case.confidence)
    flaky = f", {FLAKY}" if case.flaky else ""
    return f"{case.trials_passed:,} of {trials} passed{not_scored} ({rate_text(case)}{of_all}, {sure}){flaky}"


def rule_text(rule: TrialRule) -> str:
    """Return what is asked of the trials: `0.9 of the trials must pass, at 95 %`."""
    sure = f", at {percent(rule.confidence)} %" if rule.confidence is not None else ""
    sure += f", up to {rule.at_most:,} until that is decided" if rule.at_most is not None else ""
    if rule.pass_k > 1:
        return f"pass^{rule.pass_k} must be {rule.min_pass_rate:g}{sure}"
    if rule.min_pass_rate == 1:
        return f"every trial must pass{sure}"
    return f"{rule.min_pass_rate:g} of the trials must pass{sure}"


def runs_text(sets: Sequence[SetSummary], num_runs: int, marks: Marks) -> str:
    """Return how many trials a case has: `5`, or `1–5` where sets differ; empty for one."""
    counts = {one.num_runs for one in sets if not one.failure} or {num_runs}
    most = max(*counts, num_runs) if len(counts) > 1 else num_runs
    least = min(counts) if len(counts) > 1 else most
    return "" if most < 2 else str(most) if least == most else f"{least}{marks.between}{most}"


def against(metric: MetricVerdict, marks: Marks) -> str:
    """Return a metric's score and its threshold: `0.40 < 0.9`; a score of only some trials decides nothing."""
    if metric.score is None or metric.outcome is Outcome.ERROR:
        return WORDS[metric.outcome]
    text = metric.text_of(metric.score)
    if metric.threshold is None:
        return text
    return f"{text} {'<' if metric.score < metric.threshold else marks.at_least} {metric.threshold:g}"


def held_text(case: CaseResult, metric: MetricVerdict, marks: Marks) -> str:
    """Return a metric's score and its threshold; for counted trials, how many reached it: `4 of 5 ≥ 0.8`."""
    if case.rule is None or metric.threshold is None or not metric.scored:
        return against(metric, marks)
    return f"{metric.met:,} of {metric.scored:,} {marks.at_least} {metric.threshold:g}"


def added_text(run: RunResult, trials: int) -> str:
    """Return how many trials it took, where they were added until it was decided: `312 of 1,000 trials (69 % fewer)`.

    Where cases were not reached nothing was saved: these are still to come.
    """
    if not run.at_most or not trials:
        return ""
    is_saved = trials < run.at_most and not run.counts.get(Outcome.NOT_RUN)
    saved = f" ({percent(1 - trials / run.at_most)} % fewer)" if is_saved else ""
    return f"{trials:,} of {run.at_most:,} trials{saved}"


def ks_of(repeats: Repeats, rules: Iterable[TrialRule | None] = ()) -> list[int]:
    """Return the values of k that are shown: 2, 4 and 8, and those of the rules, within the number of trials."""
    ks_of_rules = {rule.pass_k for rule in rules if rule is not None and rule.pass_k > 1}
    return sorted(k for k in {*_KS, *ks_of_rules} if k <= repeats.most_trials)


def repeat_figures(repeats: Repeats, rules: Iterable[TrialRule | None] = ()) -> Iterator[tuple[str, Mean]]:
    """Return the informative values of pass^k and pass@k, each with its name.

    If all trials of each case agree, both are the pass rate for every k. After a value of 0 or 1 the next ones are equal.
    """
    ks = ks_of(repeats, rules)
    if not ks or repeats.pass_hat(ks[-1]) == repeats.pass_at(ks[-1]):
        return
    for name, estimate in (("pass^", repeats.pass_hat), ("pass@", repeats.pass_at)):
        for k in ks:
            if (mean := estimate(k)) is None:
                break
            yield f"{name}{k}", mean
            if mean.value in {0.0, 1.0}:
                break


def repeated_sets(repeats: Repeats) -> dict[str, Repeats]:
    """Return the statistics of each eval set with repeats, if there are several sets."""
    if len(repeats.by_set) < 2:
        return {}
    return {name: one for name, one in repeats.by_set.items() if one.most_trials > 1}


def mean_text(mean: Mean, marks: Marks) -> str:
    """Return a mean with its standard error, where there is one: `0.94 ± 0.03`.

    An error of 0 is left out: if all cases are equal, their spread is unknown.
    """
    if not mean.standard_error:
        return score_text(mean.value)
    return (
        f"{score_text(mean.value)} {marks.plus_minus} {score_text(mean.standard_error, largest=mean.value)}"
    )


def means_of(repeats: Repeats, names: Sequence[str]) -> dict[str, Mean]:
    """Return the means of the metrics called `names`, by their short names."""
    means = repeats.means()
    short = short_names([name for name in names if name in means])
    return {short[name]: means[name] for name in short}


def rate_field(case: CaseResult) -> str:
    """Return the share of a case's trials that passed, with its interval: `pass_rate=0.80(0.38-0.96)`; empty unless `has_rate`."""
    rate, low, high = map(score_text, (case.pass_rate, *case.interval))
    return f"pass_rate={rate}({low}-{high})" if case.has_rate else ""


def trials_field(case: CaseResult) -> str:
    """Return a letter for each trial: `trials=PPF`."""
    return f"trials={''.join(_TRIAL_LETTERS.get(trial.outcome, '-') for trial in case.trials)}"


def score_field(case: CaseResult, metric: MetricVerdict) -> str:
    """Return a metric and its score of a case: `response_match_score=0.94>=0.8`."""
    text = held_text(case, metric, ASCII).replace(" of ", "/")
    is_word = text.replace(" ", "").isalpha()  # not_applicable, as everywhere for programs
    return f"{metric.name}={text.replace(' ', '_' if is_word else '')}"


# --- all cases of a run ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Figure:
    metric: str
    unit: str
    form: str


_FIGURES = (
    _Figure("tool_call_count_v1", "tool calls", "{:,.1f}"),
    _Figure(MODEL_CALLS, "model calls", "{:,.1f}"),
    _Figure("token_usage_v1", "tokens", "{:,.0f}"),
    _Figure("invocation_duration_v1", "s", "{:,.2f}"),
)
_MOST_NAMED = 3
"""Cases that a warning names; more are counted."""


class CaseWarnings:
    """The warnings of all cases of a run: each once, with the first cases that it is about."""

    def __init__(self) -> None:
        self._warnings: dict[str, tuple[list[str], int]] = {}  # the first cases, and how many there are

    def add(self, case: CaseResult) -> None:
        """Take one case."""
        for warning in warnings_of(case):
            eval_ids, count = self._warnings.get(warning, ([], 0))
            self._warnings[warning] = (eval_ids + [case.eval_id] * (count < _MOST_NAMED), count + 1)

    def texts(self) -> list[str]:
        """Return the warnings with their cases."""
        return [
            f"{warning} ({_some(eval_ids, count)})" for warning, (eval_ids, count) in self._warnings.items()
        ]


class Digest:
    """The totals over all cases of a run."""

    def __init__(self, cases: Iterable[CaseResult] = ()) -> None:
        self.trials: Counter[Outcome] = Counter()
        """Trials by outcome."""
        self.repeats = Repeats()
        self.whose_fault = FaultRates()
        self.thresholds: dict[str, set[float | None]] = {}
        """The metrics that decide, in the order in which they appear, and their thresholds."""
        self.case_warnings = CaseWarnings()
        self._figures: dict[str, tuple[float, int]] = {}
        for case in cases:
            self.add(case)

    def add(self, case: CaseResult) -> None:
        """Take one case."""
        self.repeats.add(case)
        self.whose_fault.add(case)
        for trial in case.trials:
            self.trials[trial.outcome] += 1
        for name, metric in case.metrics.items():
            if decides(metric):
                self.thresholds.setdefault(name, set()).add(metric.threshold)
        self.case_warnings.add(case)
        for figure in _FIGURES:
            metric_of = case.metrics.get(figure.metric)
            if metric_of is not None and is_counted(metric_of.score, figure.metric):
                total, count = self._figures.get(figure.metric, (0.0, 0))
                self._figures[figure.metric] = (total + metric_of.score, count + 1)

    @property
    def gating(self) -> list[str]:
        """The names of the metrics that decide, in the order in which they appear."""
        return list(self.thresholds)

    @property
    def is_repeated(self) -> bool:
        """Whether any case has several trials."""
        return self.repeats.most_trials > 1

    def common_thresholds(self) -> dict[str, float | None]:
        """Return the threshold of each metric that has the same in all cases; `None` where it has not."""
        return {
            name: next(iter(thresholds)) if len(thresholds) == 1 else None
            for name, thresholds in self.thresholds.items()
        }

    def warnings(self, run: RunResult) -> list[str]:
        """Return the warnings of `run`, then those of its cases."""
        return [*run.warnings, *self.case_warnings.texts()]

    def figures(self) -> list[str]:
        """Return what a turn took, the mean over the cases in which it is known: `1.5 tool calls`, `1,204 tokens`."""
        texts = []
        for figure in _FIGURES:
            total, count = self._figures.get(figure.metric, (0.0, 0))
            number = figure.form.format(total / count) if count else "0"
            if float(number.replace(",", "")):  # an agent without tools needs no figure
                texts.append(f"{number} {figure.unit}")
        return [*texts[:-1], f"{texts[-1]} a turn"] if texts else []


def decides(metric: MetricVerdict) -> bool:
    """Return whether a metric takes part in the verdict."""
    return metric.gate and metric.outcome is not Outcome.INFORMATIONAL


def _some(eval_ids: list[str], count: int) -> str:
    text = ", ".join(eval_ids)
    return text if count <= len(eval_ids) else f"{text} and {count - len(eval_ids)} more cases"


# --- the worst cases, which a short report names ----------------------------------------------------------------------


class WorstCases:
    """Keeps the worst cases of each rank (failed, error, inconclusive, not run, flaky); the others are only counted."""

    def __init__(self, most: int) -> None:
        """Set the maximum number of cases."""
        self._most = most
        self._kept: list[list[CaseResult]] = [[] for _ in range(FLAKY_ATTENTION + 1)]
        self.missed = 0
        """Cases that did not pass, without skipped ones."""
        self.unstable = 0
        """Cases that passed, and of which some trials failed."""

    def add(self, case: CaseResult) -> None:
        """Add one case."""
        rank = attention(case)
        self.missed += rank < FLAKY_ATTENTION
        self.unstable += rank == FLAKY_ATTENTION
        if rank <= FLAKY_ATTENTION:
            insort(self._kept[rank], case, key=passed_share)
            self._drop_excess(self._kept[rank:] if rank == FLAKY_ATTENTION else self._kept[:FLAKY_ATTENTION])

    def _drop_excess(self, ranks: list[list[CaseResult]]) -> None:
        """Keep at most the maximum number of cases of these ranks: worse cases replace others."""
        if sum(map(len, ranks)) > self._most:
            next(cases for cases in reversed(ranks) if cases).pop()

    def problem_cases(self) -> Iterator[CaseResult]:
        """Return cases that did not pass, the worst first, at most the maximum number."""
        return (case for cases in self._kept[:FLAKY_ATTENTION] for case in cases)

    def flaky(self) -> list[CaseResult]:
        """Return cases that passed, and of which some trials failed."""
        return self._kept[FLAKY_ATTENTION]
