"""Figures that several pages contain (shares and means with their 95 % confidence intervals), and copying of fields."""

from __future__ import annotations

from math import isfinite
from typing import TypeVar

from proctor.schema.format.wire_model import PageModel
from proctor.stats.intervals import Mean, wilson

_Model = TypeVar("_Model", bound=PageModel)


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
    return copy_fields(MeanFigure, mean)


def copy_fields(model: type[_Model], source: object, **fields: object) -> _Model:
    """Return a model with `fields`, and with the attributes of `source` that have the names of its other fields."""
    names = model.model_fields.keys() - fields.keys()
    return model.model_validate(
        {name: getattr(source, name) for name in names} | fields, from_attributes=True
    )


def finite(value: float | None) -> float | None:
    """Return a number, or `None` if it is NaN or infinite, which JSON does not have."""
    return value if value is not None and isfinite(value) else None
