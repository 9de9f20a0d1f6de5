"""Figures that several pages contain: shares and means with their 95 % confidence intervals."""

from __future__ import annotations

from proctor.schema.format.wire_model import PageModel
from proctor.stats.intervals import Mean, wilson


class Share(PageModel):
    """`count` of `of` as a rate from 0 to 1 with its 95 % Wilson interval; `of` = 0 has no rate."""

    count: int
    of: int
    rate: float | None
    low: float
    high: float


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


def mean_figure(mean: Mean) -> MeanFigure:
    """Return the page's model of a mean."""
    return MeanFigure(
        value=mean.value,
        standard_error=mean.standard_error,
        low=mean.low,
        high=mean.high,
        cases=mean.cases,
        values=mean.values,
    )
