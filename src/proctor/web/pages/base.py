"""What the data of all pages has in common."""

from __future__ import annotations

from proctor.schema.results.page_model import PageModel
from proctor.stats.intervals import Mean, wilson


class Share(PageModel):
    """How many of some number, as a rate from 0 to 1 with its 95 % Wilson interval; no rate where there are none."""

    count: int
    of: int
    rate: float | None
    low: float
    high: float


class MeanFigure(PageModel):
    """A mean with its uncertainty; the interval (95 %) is null where there is only one case."""

    value: float
    standard_error: float | None
    low: float | None
    high: float | None
    cases: int
    """What was drawn independently."""
    values: int
    """Values in all cases together."""


def share(count: int, of: int) -> Share:
    """Return `count` of `of` with the interval that reports give."""
    low, high = wilson(count, of)
    return Share(count=count, of=of, rate=count / of if of else None, low=low, high=high)


def mean_figure(mean: Mean) -> MeanFigure:
    """Return a mean as a page has it."""
    return MeanFigure(
        value=mean.value,
        standard_error=mean.standard_error,
        low=mean.low,
        high=mean.high,
        cases=mean.cases,
        values=mean.values,
    )
