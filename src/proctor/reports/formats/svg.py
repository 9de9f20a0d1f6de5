"""The outcomes of a run and the scores of each metric as one picture, for a Markdown file in a repository.

The file loads nothing and has no script and no link. Its colours and its background follow the reader's preference, so
that it is legible on a light and on a dark page. `title` and `desc` state its numbers. Its size is bounded.
"""

from __future__ import annotations

import html
import math
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from textwrap import wrap
from typing import ClassVar, TextIO

from proctor.common.safe_text import clean, count_text, shorten
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content import public_text
from proctor.reports.content.case_digest import Digest, mean_text
from proctor.reports.content.case_words import WORDS
from proctor.reports.content.run_blocks import broken_sets
from proctor.reports.content.summary import verdict_sentence
from proctor.reports.content.symbols import UNICODE, short_names
from proctor.schema.results.run_result import Outcome, RunResult
from proctor.schema.results.score import MetricVerdict

MOST_RUNS, MOST_METRICS, _MOST_FAULTS = 6, 12, 3
_MOST_BINS = 10
_MOST_LINES = 4
"""Lines of one text."""
_CELL_TEXT = 56
"""Characters of a line of facts: narrower than `_CELL` in wide fonts such as DejaVu Sans."""
_NO_SHARES = ("token_usage", "invocation_duration")
_WIDTH, _MARGIN, _CELL, _CELL_HEIGHT, _BARS = 720.0, 20.0, 330.0, 134.0, 44.0
_TONES = {
    Outcome.PASSED: "pass",
    Outcome.FAILED: "fail",
    Outcome.ERROR: "err",
    Outcome.INCONCLUSIVE: "inc",
    Outcome.SKIPPED: "rest",
    Outcome.NOT_RUN: "rest",
}
_STYLE = """
svg { --panel: #fff; --line: #8a8f96; --ink: #1b1c1f; --dim: #5f646b; --accent: #6c84e4;
  --pass: #1a6f45; --fail: #b3261e; --err: #8a4b00; --inc: #5b4b9a; --rest: #5f646b }
@media (prefers-color-scheme: dark) { svg { --panel: #1a1c1f; --line: #70767e; --ink: #e8e9ea; --dim: #9ba1a9; --accent: #6f86d2;
  --pass: #6cc397; --fail: #f2938a; --err: #f0b35e; --inc: #b9a9ff; --rest: #9ba1a9 } }
text { font: 12px ui-sans-serif, system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; fill: var(--ink) }
.head { font-size: 15px } .head, .name { font-weight: 600 } .dim { fill: var(--dim); font-size: 11px } .end { text-anchor: end }
.ground { fill: var(--panel) } .bar { fill: var(--accent) } .axis { stroke: var(--line) }
.mark { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 3 2 }
.pass { fill: var(--pass) } .fail { fill: var(--fail) } .err { fill: var(--err) } .inc { fill: var(--inc) } .rest { fill: var(--rest) }
"""


class SvgReport:
    """The verdict and outcome counts of each run, and a histogram of each metric's scores with its threshold."""

    needs_evidence: ClassVar[bool] = False

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write one picture of `runs`, in ASCII."""
        picture = _Picture()
        if options.note:
            picture.text("head", f"{UNICODE.rest} nothing was run: {options.note}")
        for run in runs[:MOST_RUNS]:
            picture.add(run)
        if left := len(runs) - MOST_RUNS:
            picture.text("dim", f"and {count_text(left, 'more agent')}, not drawn" if left > 0 else "")
        out.write(picture.document().encode("ascii", "xmlcharrefreplace").decode())


class _Picture:
    """A picture that grows downwards."""

    def __init__(self) -> None:
        self._y = 14.0
        self._shapes: list[str] = []
        self._facts: list[str] = []

    def document(self) -> str:
        """Return the whole file."""
        height = self._y + 14
        title, *facts = self._facts or ["no run"]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" data-report="proctor" viewBox="0 0 {_WIDTH:g} {height:g}" '
            f'width="{_WIDTH:g}" height="{height:g}" role="img" aria-labelledby="title desc">\n'
            f'<title id="title">{title}</title>\n<desc id="desc">{"; ".join(facts)}</desc>\n<style>{_STYLE}</style>\n'
            f'<rect class="ground" width="{_WIDTH:g}" height="{height:g}" rx="8"/>\n{"".join(self._shapes)}</svg>\n'
        )

    def text(self, tone: str, text: str, *, longest: int = 96) -> None:
        """Add a text in lines of at most `longest` characters; `desc` contains it, too."""
        for line in wrap(_shown(text, _MOST_LINES * longest), longest):
            self._y += 20
            self._shapes.append(_text(_MARGIN, self._y, tone, _xml(shorten(line, longest))))
        if text:
            self._facts.append(_escape(text, 1_000))

    def add(self, run: RunResult) -> None:
        """Add the verdict, the outcome counts and the metrics of a run."""
        digest, metrics = Digest(), dict[str, _Scores]()
        for case in run.cases:
            digest.add(case)
            for name, verdict in case.metrics.items():
                metrics.setdefault(name, _Scores()).add(verdict)
        sign = UNICODE.outcomes.get(run.outcome, UNICODE.rest)
        self.text("head", f"{sign} {verdict_sentence(run, flaky=digest.repeats.flaky)}", longest=72)
        self.text("dim", " · ".join(filter(None, (run.agent, run.run_id and f"run {run.run_id}"))))
        for fault in list(_faults(run))[:_MOST_FAULTS]:
            self.text("err", fault)
        self._outcomes(run.counts)
        means = {name: mean_text(mean, UNICODE) for name, mean in digest.repeats.means().items()}
        self._metrics(metrics, means)
        self._y += 12

    def _outcomes(self, counts: Mapping[Outcome, int]) -> None:
        drawn = [(tone, outcome, counts[outcome]) for outcome, tone in _TONES.items() if counts.get(outcome)]
        total, x = sum(count for *_, count in drawn), _MARGIN
        self._y += 12 if drawn else 0
        for tone, _, count in drawn:
            width = (_WIDTH - 2 * _MARGIN) * count / total
            self._shapes.append(_rect(x, self._y, max(width - 1, 1), 12, tone))
            x += width
        words = [
            f"{UNICODE.outcomes.get(one, UNICODE.rest)} {count:,} {WORDS[one]}" for _, one, count in drawn
        ]
        self._y += 8 if drawn else 0
        self.text("name", "   ".join(words))

    def _metrics(self, metrics: Mapping[str, _Scores], means: Mapping[str, str]) -> None:
        """Draw the metrics in two columns, first those that decide, and of these first those missed or in error in most cases."""
        drawn = [name for name, scores in metrics.items() if scores.gate or scores.bins(name)]
        names = sorted(
            drawn, key=lambda name: (not metrics[name].gate, -metrics[name].failed - metrics[name].errors)
        )
        short, top = short_names(names), self._y + 14
        for at, name in enumerate(names[:MOST_METRICS]):
            self._y = top + at // 2 * _CELL_HEIGHT
            self._metric(
                at % 2 * (_CELL + _MARGIN) + _MARGIN, short[name], metrics[name], means.get(name, "")
            )
        self._y += _CELL_HEIGHT - 14 if names else 0
        if (left := len(names) - MOST_METRICS) > 0:
            self.text("dim", f"and {count_text(left, 'more metric')}, not drawn")

    def _metric(self, x: float, name: str, scores: _Scores, mean: str) -> None:
        facts, bins, base = scores.facts(mean), scores.bins(name), self._y + 54 + _BARS
        counts = [
            f"{one.low:.6g} to {one.high:.6g}: {count_text(one.count, 'case')}" for one in bins if one.count
        ]
        self._facts.append(_escape(": ".join([name, ", ".join([facts, *counts])]), 1_000))
        self._shapes += [
            _text(x, self._y + 12, "name", _escape(name, 44)),
            *(
                _text(x, self._y + 28 + 14 * at, "dim", _xml(line))
                for at, line in enumerate(wrap(_shown(facts, 2 * _CELL_TEXT), _CELL_TEXT)[:2])
            ),
            f'<path class="axis" d="M{x:g} {base:g}h{_CELL:g}"/>\n',
            *(_bars(x, base, bins, sorted(scores.thresholds)) if bins else ()),
        ]


def _bars(x: float, base: float, bins: Sequence[Bin], thresholds: Sequence[float]) -> Iterator[str]:
    """Yield the bars of a histogram, those that missed in the colour of a failure, its thresholds and its ends."""
    low, high = bins[0].low, bins[-1].high
    width, most = _CELL / len(bins), max(one.count for one in bins)
    for at, one in enumerate(bins):
        y = base
        for tone, count in (("fail", one.missed), ("bar", one.count - one.missed)):
            if count:
                height = max(2.0, _BARS * count / most)
                y -= height
                yield _rect(x + at * width + 1, y, width - 2, height, tone)
    for mark in thresholds:
        if low <= mark <= high:
            yield f'<path class="mark" d="M{x + _CELL * (mark - low) / (high - low):.5g} {base:g}v-{_BARS + 4:g}"/>\n'
    yield _text(x, base + 14, "dim", f"{low:.6g}") + _text(x + _CELL, base + 14, "dim end", f"{high:.6g}")


@dataclass(slots=True)
class _Scores:
    """The scores of one metric: one value for each case, as the table of the page has it."""

    gate: bool = False
    thresholds: set[float] = field(default_factory=set)
    scored: int = 0
    failed: int = 0
    errors: int = 0
    """The numbers of cases that have a score, that missed the metric, and in which it is in error."""
    _values: array[float] = field(default_factory=lambda: array("d"))
    _missed: bytearray = field(default_factory=bytearray)

    def add(self, verdict: MetricVerdict) -> None:
        self.gate |= verdict.gate
        self.scored += verdict.score is not None
        self.failed += verdict.is_missed
        self.errors += verdict.is_in_error
        if verdict.threshold is not None:
            self.thresholds.add(verdict.threshold)
        if verdict.score is not None and math.isfinite(verdict.score):
            self._values.append(verdict.score)
            self._missed.append(verdict.is_missed)

    def facts(self, mean: str) -> str:
        """Return the mean, the threshold, in how many cases it was missed, and in how many not scored."""
        threshold = " or ".join(f"{one:.6g}" for one in sorted(self.thresholds))
        missed = f"missed in {self.failed:,} of {self.scored:,}" if self.scored or not self.errors else ""
        errors = f"{self.errors:,} in error" if self.errors else ""
        cases = ", ".join(filter(None, (missed, errors))) if self.gate else "reported only"
        return " · ".join(
            filter(None, (mean and f"mean {mean}", threshold and f"threshold {threshold}", cases))
        )

    def bins(self, name: str) -> list[Bin]:
        """Return the intervals of the scores; `name` is that of the metric, or its short one."""
        return bins_of(self._values, self._missed, shares=not name.startswith(_NO_SHARES))


@dataclass(slots=True)
class Bin:
    """An interval of values: from `low` up to `high`, which belongs to the next one except in the last."""

    low: float
    high: float
    count: int = 0
    missed: int = 0


def bins_of(values: Sequence[float], missed: Sequence[int] = (), *, shares: bool = True) -> list[Bin]:
    """Count finite values in intervals with round ends, as `ui/src/components/charts/bins.ts` does for the page.

    `shares`: values between 0 and 1 are shown from 0 to 1. Without values, or if their range is too large for a number, there
    is no interval.
    """
    low, high = min(values, default=math.inf), max(values, default=-math.inf)
    if not math.isfinite(high - low):
        return []
    edges = _edges(0, 1) if shares and low >= 0 and high <= 1 else _edges(low, high)
    bins = [Bin(*ends) for ends in pairwise(edges)]
    for at, value in enumerate(values):
        bin_of = bins[max(0, bisect_right(edges, value, hi=len(bins)) - 1)]
        bin_of.count += 1
        bin_of.missed += bool(missed and missed[at])
    return bins


def _edges(low: float, high: float) -> list[float]:
    """Return the ends of the intervals, as a person would write them: multiples of 1, 2 or 5 at some power of ten.

    If there is one value only, it is in the middle, and 0 is an end.
    """
    value = low
    if low == high:
        low, high = min(0.0, 2 * value), max(0.0, 2 * value) if value else 1.0
    if math.isinf(high - low):  # the only value, and too large to be doubled
        return sorted([0.0, value])
    wide = (high - low) / _MOST_BINS
    power = 10.0 ** math.floor(math.log10(wide)) if wide > 1e-300 else 0.0
    if not power:
        return [low, high]
    lead = _exact(wide / power)
    step = _exact(next(one for one in (1, 2, 5, 10) if lead <= one) * power)
    first = math.floor(_exact(low / step))
    count = min(max(1, math.ceil(_exact(high / step)) - first), _MOST_BINS + 1)
    return [_exact((first + at) * step) for at in range(count + 1)]


def _exact(value: float) -> float:
    """Return a number without the last digits, which computing adds: 0.30000000000000004 is 0.3."""
    return float(f"{value:.12g}")


def _faults(run: RunResult) -> Iterator[str]:
    """Yield the failure of the run and of each set that could not be run."""
    if run.failure is not None:
        yield public_text.cause(run.failure)
    for name, cause in broken_sets(run):
        yield f"{name}: {public_text.hidden(cause)}"


def _escape(text: str, longest: int) -> str:
    """Return any text for XML, without secrets."""
    return _xml(_shown(text, longest))


def _shown(text: str, longest: int) -> str:
    return shorten(clean(public_text.hidden(text)), longest)


def _xml(text: str) -> str:
    """Return a text for XML, without characters that XML refuses."""
    return html.escape(text.replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff"))


def _text(x: float, y: float, tone: str, text: str) -> str:
    return f'<text class="{tone}" x="{x:g}" y="{y:g}" xml:space="preserve">{text}</text>\n'


def _rect(x: float, y: float, width: float, height: float, tone: str) -> str:
    return f'<rect class="{tone}" x="{x:.5g}" y="{y:.5g}" width="{width:.5g}" height="{height:.5g}"/>\n'
