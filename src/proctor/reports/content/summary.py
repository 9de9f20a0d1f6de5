"""The sentences and figures about a whole run that reports show above and below the cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import floor, log10
from typing import TYPE_CHECKING

from proctor.common.safe_text import count_text
from proctor.reports.content.case_words import WORDS
from proctor.reports.content.symbols import Marks
from proctor.schema.evidence.trial import CONFIGURATION
from proctor.schema.results.case_result import FaultRate, FaultRates
from proctor.schema.results.model_usage import PURPOSES, CaseCost, Spent, known_cost, run_cost, total_cost
from proctor.schema.results.run_result import (
    CaseResult,
    Outcome,
    RunResult,
    SetSummary,
    exit_code_of,
    worst,
)
from proctor.schema.results.score import TrialRule, decimals_of, score_text
from proctor.stats.intervals import wilson

if TYPE_CHECKING:
    from proctor.schema.results.manifest import RunSummary

_ATTENTION = {Outcome.FAILED: 0, Outcome.ERROR: 1, Outcome.INCONCLUSIVE: 2, Outcome.NOT_RUN: 3}
FLAKY_ATTENTION = 4
"""The rank of cases that pass, and of which some trials failed; those that need no attention at all follow."""


def verdict_sentence(run: RunResult, *, flaky: int = 0) -> str:
    """Return the verdict in words: `failed: 3 of 40 cases fail, 1 could not be scored`; `flaky`: so many cases are."""
    if run.failure is not None and run.failure.where == CONFIGURATION:
        return "error: configuration error, nothing was run"
    counts, outcome = run.counts, run.outcome
    total = len(run.cases) - counts.get(Outcome.SKIPPED, 0)
    parts = [
        *_case_parts(counts, total, all_pass=outcome is Outcome.PASSED),
        *([_flaky_text(flaky, total)] if flaky and total else []),
        *_run_parts(run),
    ]
    return f"{WORDS[outcome]}: {', '.join(parts)}"


def _case_parts(counts: Mapping[Outcome, int], total: int, *, all_pass: bool) -> list[str]:
    """Return how many cases have each outcome; `total` is the number of cases that were not skipped."""
    skipped = [f"{counts[Outcome.SKIPPED]:,} skipped"] if counts.get(Outcome.SKIPPED) else []
    if not total:
        return ["not one case was scored", *skipped]
    if all_pass:
        return [f"all {total:,} cases pass" if total > 1 else "the case passes", *skipped]
    parts = [text.format(n=counts[outcome]) for outcome, text in _SAYS.items() if counts.get(outcome)]
    if parts:
        parts[0] = _total_text(parts[0], total)
    return parts + skipped


def _flaky_text(flaky: int, total: int) -> str:
    return "it is flaky" if total == 1 else f"{flaky:,} {'is' if flaky == 1 else 'are'} flaky"


def _run_parts(run: RunResult) -> Iterator[str]:
    """Return what could not be run, and why the run ended early."""
    if run.unread_sets:
        yield unread_sets_text(len(run.unread_sets))
    if run.interrupted:
        yield "interrupted before the end"
    elif run.stopped_by:
        yield f"stopped by {run.stopped_by}"
    if run.failure is not None:
        yield "incomplete"


_SAYS = {
    Outcome.FAILED: "{n:,} fail",
    Outcome.ERROR: "{n:,} could not be scored",
    Outcome.INCONCLUSIVE: "{n:,} inconclusive",
    Outcome.NOT_RUN: "{n:,} not run",
}
_SAYS_OF_ONE = {"fail": "fails", "inconclusive": "is inconclusive", "not run": "was not run"}


def _total_text(text: str, total: int) -> str:
    number, _, rest = text.partition(" ")
    if total == 1:
        return f"the case {_SAYS_OF_ONE.get(rest, rest)}"
    return f"{number} of {total:,} cases {'fails' if rest == 'fail' and number == '1' else rest}"


def rate(run: RunResult, marks: Marks) -> str:
    """Return how many cases passed, with the share and its 95 % Wilson interval; empty for fewer than two cases."""
    cases = rate_of_run(run)
    if cases.of < 2 or cases.not_run == cases.of:
        return ""
    share = "" if cases.rate is None else f" ({percent(cases.rate)} %, {interval(*cases.interval, marks)})"
    return f"{cases.text}{share}"


@dataclass(frozen=True, slots=True)
class PassRate:
    """How many cases of a run passed, of all that were not skipped."""

    passed: int
    of: int
    not_run: int
    """Those without a verdict because the run was cancelled, was stopped, or is in progress."""
    unread_sets: int = 0
    """The eval sets that could not be run: it is unknown how many cases they have."""

    @property
    def rate(self) -> float | None:
        """The share that passed, from 0 to 1; `None` as long as cases are not run: those that were run are not a sample."""
        return self.passed / self.of if self.of and not (self.not_run or self.unread_sets) else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval of the rate; 0 to 1 without a rate."""
        return (0.0, 1.0) if self.rate is None else wilson(self.passed, self.of)

    @property
    def text(self) -> str:
        """The counts: `1 of 8 cases passed, 7 not run`."""
        missing = missing_text(self.not_run, self.unread_sets)
        return f"{self.passed:,} of {count_text(self.of, 'case')} passed{missing}"


def missing_text(not_run: int, unread_sets: int) -> str:
    """Return what the figures of a run leave out, to be appended: `, 7 not run, 1 set could not be run`."""
    cases = f", {not_run:,} not run" if not_run else ""
    return f"{cases}, {unread_sets_text(unread_sets)}" if unread_sets else cases


def unread_sets_text(sets: int) -> str:
    """Return how many eval sets could not be run: `1 set could not be run`."""
    return f"{count_text(sets, 'set')} could not be run"


def rate_of_run(run: RunResult) -> PassRate:
    """Return how many cases of a run passed."""
    return passed_cases(run.counts, len(run.cases), len(run.unread_sets))


def passed_cases(counts: Mapping[Outcome, int], cases: int, unread_sets: int = 0) -> PassRate:
    """Return how many of the `cases` of a run passed; `counts`: those that have an outcome so far."""
    skipped = counts.get(Outcome.SKIPPED, 0)
    decided = sum(counts.values()) - skipped - counts.get(Outcome.NOT_RUN, 0)
    of = cases - skipped
    return PassRate(counts.get(Outcome.PASSED, 0), of, of - decided, unread_sets)


def share_text(count: int, of: int, ends: tuple[float, float], marks: Marks, confidence: float = 0.95) -> str:
    """Return a share with its denominator and its confidence interval: `75 % (6 of 8, 95 % CI: 41–93)`."""
    return f"{percent(count / of)} % ({count:,} of {of:,}, {interval(*ends, marks, confidence)})"


_NARROW = 0.05
_FINEST = 5


def interval(low: float, high: float, marks: Marks, confidence: float = 0.95) -> str:
    """Return a confidence interval of a share with its name: `95 % CI: 38–96`."""
    return f"{percent(confidence)} % CI: {bounds(low, high, marks)}"


def bounds(low: float, high: float, marks: Marks) -> str:
    """Return the ends of an interval of shares in per cent: `38–96`, with decimals where it is narrow.

    An end is 100 (or 0) only if it is all (or none).
    """
    texts: list[str] = []
    for decimals in range(0 if high - low >= _NARROW else 1, _FINEST):
        texts = [f"{100 * bound:.{decimals}f}" for bound in (low, high)]
        if all(
            bound in (0, 1) or float(text) not in (0, 100)
            for bound, text in zip((low, high), texts, strict=True)
        ):
            break
    return marks.between.join(texts)


def percent(share: float) -> str:
    """Return a share in per cent: one decimal; never 100 for less than all, nor 0 for more than none."""
    text = f"{100 * share:.1f}".removesuffix(".0")
    return {"100": "99.9" if share < 1 else text, "0": "0.1" if share > 0 else text}.get(text, text)


def points(difference: float) -> str:
    """Return a difference of shares in percentage points with its sign, as `percent`: `-32.5`, `+10`, `0`."""
    text = f"{100 * difference:+.1f}".removesuffix(".0")
    return "0" if text in {"+0", "-0"} else text


def exit_code_of_runs(runs: Sequence[RunResult]) -> int:
    """Return the exit code of several runs together: that of the worst outcome; nothing run is an error.

    A run that could not continue (the store could not be written) is one, too.
    """
    broken = next((run.failure for run in runs if run.failure is not None), None)
    together = worst(run.outcome for run in runs)
    return exit_code_of(together, broken)


def attention(case: CaseResult) -> int:
    """Return the rank of a case as a person wants them: failed, error, inconclusive, not run, flaky, then the others."""
    return _ATTENTION.get(case.outcome, FLAKY_ATTENTION + (not case.flaky))


def passed_share(case: CaseResult) -> float:
    """Return the share of passed trials, by which cases of one rank are sorted: the worst first."""
    return case.pass_rate or 0.0


def config_sources(sets: Iterable[SetSummary]) -> list[str]:
    """Return where the criteria came from, each source once."""
    return list(dict.fromkeys(source for summary in sets if (source := config_source(summary))))


def config_source(summary: SetSummary) -> str:
    """Return where the criteria of one set came from; empty for one that could not be run."""
    return "" if summary.failure else summary.config_source


def rules(sets: Iterable[SetSummary]) -> list[TrialRule | None]:
    """Return what share of the trials must pass, each rule once; `None` for sets without a rule."""
    return list(dict.fromkeys(one.rule for one in sets if not one.failure))


def set_name(summary: SetSummary) -> str:
    """Return what a set is called on a line: its file's name, else its id."""
    path = (summary.path or "").replace("\\", "/").rstrip("/")
    return path.rpartition("/")[2] or summary.eval_set_id


def set_names(summaries: Sequence[SetSummary]) -> list[str]:
    """Return the names of the sets of a run: files with the same name get as many folders as distinguish them."""
    paths = [tuple((one.path or "").replace("\\", "/").rstrip("/").split("/")) for one in summaries]
    names: dict[tuple[str, ...], str] = {}
    length, left = 1, set(paths)
    while left:
        tails = Counter(path[-length:] for path in set(paths))
        names |= {
            path: "/".join(path[-length:])
            for path in left
            if tails[path[-length:]] == 1 or length >= len(path)
        }
        left -= names.keys()
        length += 1
    return [names[path] or one.eval_set_id for path, one in zip(paths, summaries, strict=True)]


def left_out(run: RunResult) -> dict[str, str]:
    """Return the metrics that were left out, and what left them out: for how many sets, where not for all."""
    whys_by_metric: dict[str, list[str]] = {}
    for one in run.sets:
        for name, why in one.skipped_metrics.items():
            whys_by_metric.setdefault(name, []).append(why)
    set_count = sum(one.failure is None for one in run.sets)
    return {
        name: whys[0] if len(whys) == set_count else f"{whys[0]}, in {len(whys)} of {set_count} sets"
        for name, whys in whys_by_metric.items()
    }


def duration(seconds: float) -> str:
    """Return a duration: `14ms`, `0.8s`, `12s`, `3m 12s`, `2h 05m`, `3d 04h`."""
    if 0 < seconds < 0.095:
        return f"{1000 * seconds:.0f}ms" if seconds >= 0.001 else "<1ms"
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}m {rest:02d}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02d}m" if hours < 48 else f"{hours // 24}d {hours % 24:02d}h"


# --- agent-fault and simulator-fault rates of simulated conversations -------------------------------------------------


def fault_texts(fault_rates: FaultRates, marks: Marks) -> list[str]:
    """Return both rates and the kinds of simulator faults as text; empty without simulated users."""
    if not fault_rates:
        return []
    kinds = ", ".join(f"{count} {kind.words}" for kind, count in fault_rates.kinds.most_common())
    texts = [
        f"agent at fault {_text(fault_rates.agent, marks)}",
        f"simulator at fault {_text(fault_rates.user, marks)}",
    ]
    return [*texts, kinds] if kinds else texts


def _text(rate: FaultRate, marks: Marks) -> str:
    if rate.rate is None or rate.interval is None:
        return "in none that could be scored"
    return share_text(rate.faults, rate.of, rate.interval, marks)


def fault_fields(fault_rates: FaultRates) -> list[str]:
    """Return the same for lines that programs read: `agent=0.25(1/4,0.05-0.70)`, `simulator=…`, `left_plan=2`."""
    if not fault_rates:
        return []
    both = (("agent", fault_rates.agent), ("simulator", fault_rates.user))
    rates = [f"{name}={_field(rate)}" for name, rate in both]
    return [*rates, *(f"{kind.value}={count}" for kind, count in fault_rates.kinds.most_common())]


def _field(rate: FaultRate) -> str:
    if rate.rate is None or rate.interval is None:
        return f"-({rate.faults}/{rate.of})"
    low, high = map(score_text, rate.interval)
    return f"{score_text(rate.rate)}({rate.faults}/{rate.of},{low}-{high})"


def fault_data(fault_rates: FaultRates) -> dict[str, object] | None:
    """Return both rates as plain data; `None` without simulated users."""
    if not fault_rates:
        return None
    kinds = {kind.value: count for kind, count in fault_rates.kinds.most_common()}
    return {"agent": _data(fault_rates.agent), "simulator": {**_data(fault_rates.user), "kinds": kinds}}


def _data(rate: FaultRate) -> dict[str, object]:
    low, high = rate.interval or (None, None)
    return {"faults": rate.faults, "of": rate.of, "rate": rate.rate, "low": low, "high": high}


# --- Costs: an unknown price is "unknown", never 0 --------------------------------------------------------------------

VOID = "calibration void"
"""The start of a badge that is not valid any more (`proctor.schema.analysis.calibration`)."""
PURPOSE_NAMES = {"judge": "judges", "user": "simulated users", "agent": "agent"}


def money_of(run: RunResult) -> list[str]:
    """Return the cost of each purpose: `judges $0.60 (60 calls, 6,600 tokens)`."""
    return [
        f"{PURPOSE_NAMES.get(purpose, purpose)} {usage}"
        for purpose, usage in money_by_purpose(run.spent, run.unreported)
    ]


def money_by_purpose(spent: Sequence[Spent], unreported: int = 0) -> Iterator[tuple[str, str]]:
    """Return each purpose that used models, with its cost; `unreported`: attempts in which the agent reported no usage."""
    for purpose, usages in by_purpose(spent):
        cost = purpose_cost(purpose, usages, unreported)
        counts = [*_counts(usages)]
        if purpose == "agent" and usages and unreported:
            counts.append(f"{count_text(unreported, 'attempt')} without reported usage")
        yield purpose, f"{cost_text(cost, usages)} ({', '.join(counts)})"


def purpose_cost(purpose: str, usages: Sequence[Spent], unreported: int) -> float | None:
    """Return the US dollars of one purpose; `None` if it is unknown, as that of an agent with unreported attempts (see `run_cost`)."""
    return run_cost(usages, unreported) if purpose == "agent" else total_cost(usages)


def by_purpose(spent: Sequence[Spent]) -> Iterator[tuple[str, list[Spent]]]:
    """Return the usage for each purpose, judges first; if others have some, also the agent, which may have reported none."""
    others = [one.purpose for one in spent if one.purpose not in PURPOSES]
    for purpose in dict.fromkeys([*reversed(PURPOSES), *others]):
        usages = [one for one in spent if one.purpose == purpose]
        if usages or (spent and purpose == "agent"):
            yield purpose, usages


def run_cost_text(run: RunResult | RunSummary | CaseCost) -> str:
    """Return what a run or a case cost (see `run_cost`): `$0.60`, `at least $0.60`, `unknown`; empty if no model was used."""
    return cost_text(run_cost(run.spent, run.unreported), run.spent) if run.spent else ""


def cost_text(cost: float | None, spent: Iterable[Spent]) -> str:
    """Return US dollars: `$0.60`; if `cost` is unknown `at least $0.60`, the known part of `spent`, or `unknown`."""
    return partial_cost_text(cost, known_cost(spent))


def partial_cost_text(cost: float | None, known: float) -> str:
    """Return the same for a `known` part in US dollars."""
    if cost is not None:
        return dollars(cost)
    return f"at least {dollars(known)}" if known else "unknown"


_LEAST_DOLLARS = 1e-6


def dollars(cost: float) -> str:
    """Return US dollars: `$12.30`, `$0.420`, `$0.0042`; small amounts with two significant digits, `$0` for none."""
    if not cost:
        return "$0"
    if cost < _LEAST_DOLLARS:
        return "< $0.000001"
    digits = 2 if cost >= 1 else 3 if cost >= 0.01 else 1 - floor(log10(cost))
    return f"${cost:,.{digits}f}"


def rounded(value: float, digits: int = 3, sign: str = "") -> str:
    """Return a number of any size with about so many significant digits, and all digits before the point: `0.053`, `12,300`.

    `sign="+"` gives positive numbers a sign.
    """
    is_large = abs(value) >= 10 ** (digits - 1)
    if 0.1 <= abs(value) < 1:  # its digits are its decimals
        digits = decimals_of([value], digits)
    return f"{value:{sign},.0f}" if is_large else f"{value:{sign}.{digits}g}"


def _counts(spent: Sequence[Spent]) -> Iterator[str]:
    if not spent:
        yield "no usage reported"
        return
    calls, cached = sum(one.calls for one in spent), sum(one.cached for one in spent)
    tokens = sum(one.input_tokens + one.output_tokens for one in spent)
    yield count_text(calls, "call")
    if tokens:
        yield f"{tokens:,} tokens"
    if cached:
        yield f"{cached:,} known from before"
    if unknown := unpriced_models(spent):
        yield f"no price known of {', '.join(unknown)}"


def unpriced_models(spent: Sequence[Spent]) -> list[str]:
    """Return the models whose price is not known."""
    return sorted({one.model or "a model without a name" for one in spent if one.unpriced})


def spent_data(run: RunResult) -> dict[str, object]:
    """Return the model usage and the judges as plain data."""
    return {
        "cost": run.cost,
        "unreported": run.unreported,
        "spent": [{**one.model_dump(), "cost": one.known_cost} for one in run.spent],
        "judged_by": [asdict(one) for one in run.judged_by],
        "calibrations": run.badges,
    }
