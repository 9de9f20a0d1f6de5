"""Figures that several pages contain (shares and means with their 95 % confidence intervals), and copying of fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import TypeVar

from proctor.reports.content.summary import PassRate, passed_cases
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.case_result import ScoreRanges
from proctor.schema.results.manifest import RunRecord
from proctor.schema.results.score import Outcome
from proctor.stats.intervals import ClusteredMean, Mean, wilson

_Model = TypeVar("_Model", bound=PageModel)
_MISSING = object()


class Share(PageModel):
    """`count` of `of` as a rate from 0 to 1 with its 95 % Wilson interval; `of` = 0 has no rate."""

    count: int
    of: int
    rate: float | None
    low: float
    high: float


class PassedShare(Share):
    """The share of the cases of a run that passed; without a rate if cases are not run, or a set could not be run."""

    unread_sets: int
    """The number of eval sets that could not be run; it is unknown how many cases they have."""


class MeanFigure(PageModel):
    """A mean with its 95 % confidence interval, which is null for a single case."""

    value: float
    standard_error: float | None
    low: float | None
    high: float | None
    cases: int
    """The number of independent observations."""
    values: int
    """The number of values in all cases."""


def share(count: int, of: int) -> Share:
    """Return the share `count` of `of`."""
    low, high = wilson(count, of)
    return Share(count=count, of=of, rate=count / of if of else None, low=low, high=high)


def passed_share(passed: PassRate) -> PassedShare:
    """Return the page's model of the share of the cases of a run that passed."""
    low, high = passed.interval
    return copy_fields(PassedShare, passed, count=passed.passed, low=low, high=high)


def counts_of(run: RunRecord) -> dict[Outcome, int]:
    """Return the number of cases by outcome, without zeros."""
    return {outcome: count for outcome in Outcome if (count := run.summary.counts.get(outcome.value))}


def passed_of(run: RunRecord) -> PassedShare:
    """Return the share of the cases of a run that passed."""
    return passed_share(passed_cases(counts_of(run), run.cases, len(run.unread_sets)))


def mean_figure(mean: Mean) -> MeanFigure:
    """Return the page's model of a mean."""
    return copy_fields(MeanFigure, mean)


def change_figures(means: Mapping[str, ClusteredMean], ranges: ScoreRanges) -> dict[str, MeanFigure]:
    """Return the mean changes of scores by metric; an interval is within what scores in the metric's range can change by."""
    reaches = {name: most - least for name, (least, most) in ranges.items()}
    changes = {
        name: mean.result(within=(-reaches[name], reaches[name]) if name in reaches else None)
        for name, mean in means.items()
    }
    return {name: mean_figure(change) for name, change in changes.items() if change is not None}


def copy_fields(model: type[_Model], *sources: object, **fields: object) -> _Model:
    """Return a model with `fields`; the values of its other fields are attributes of the first source that has them."""
    values = {
        name: next(value for one in sources if (value := getattr(one, name, _MISSING)) is not _MISSING)
        for name in model.model_fields.keys() - fields.keys()
    }
    return model.model_validate(values | fields, from_attributes=True)


def p95(values: Iterable[float]) -> float | None:
    """Return the 95th percentile by the nearest-rank method."""
    ordered = sorted(values)
    return ordered[-(-len(ordered) * 95 // 100) - 1] if ordered else None


def finite(value: float | None) -> float | None:
    """Return a number, or `None` if it is NaN or infinite, which JSON does not have."""
    return value if value is not None and isfinite(value) else None
