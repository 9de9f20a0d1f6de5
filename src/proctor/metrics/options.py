"""Checks a criterion against the facts of its metric, so that a misspelled option never goes unheard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from proctor.errors import CriterionError, did_you_mean
from proctor.metrics.base import COMMON_OPTIONS, MetricFacts
from proctor.schema.criterion import BaseCriterion

__all__ = ["check_criterion", "refuse_criterion"]

OURS = frozenset({"gate", "applies_to", "aggregate", "compat"})
"""Proctor's own options: one spelling. All others may also be written in camelCase, as in ADK."""

C = TypeVar("C", bound=BaseCriterion)


def check_criterion(facts: MetricFacts, criterion: BaseCriterion | None, kind: type[C]) -> C:
    """The criterion as its metric's own kind, or the metric's default when there is none.

    Raises:
        CriterionError: an unknown option, a value that does not fit, a threshold that cannot fail or cannot pass.
            Everything that is wrong is in the one message.
    """
    if criterion is None:
        return kind(threshold=1.0 if facts.default_threshold is None else facts.default_threshold)
    problems = [*_unknown_options(facts, criterion), *_compat(criterion), *_threshold(facts, criterion)]
    typed = None
    try:
        typed = kind.model_validate(criterion.model_dump())
    except ValidationError as error:
        problems += [
            f"{_place(entry['loc'])}: {entry['msg']}, got {entry['input']!r}" for entry in error.errors()
        ]
    if problems or typed is None:
        raise CriterionError(f"The criterion of {facts.name!r} does not fit: {'; '.join(problems)}.")
    return typed


def refuse_criterion(facts: MetricFacts, criterion: BaseCriterion | None) -> None:
    """Raise `CriterionError` for a criterion given to a metric that is only reported."""
    if criterion is not None:
        raise CriterionError(
            f"{facts.name!r} is informational: it is always reported, never decides, and takes no threshold. "
            "Take it out of the criteria."
        )


def _unknown_options(facts: MetricFacts, criterion: BaseCriterion) -> Iterator[str]:
    if facts.kind == "custom":  # the options are whatever its author reads
        return
    known = {*COMMON_OPTIONS, *facts.options}
    accepted = known | {to_camel(name) for name in known - OURS}
    for option in criterion.model_extra or {}:
        if option not in accepted:
            yield (
                f"unknown option {option!r}.{did_you_mean(option, known)} "
                f"It takes: {', '.join(sorted([*facts.options, *COMMON_OPTIONS]))}"
            )


def _compat(criterion: BaseCriterion) -> Iterator[str]:
    compat = (criterion.model_extra or {}).get("compat")
    if compat not in (None, "adk"):
        yield f"compat: expected 'adk', got {compat!r}"


def _threshold(facts: MetricFacts, criterion: BaseCriterion) -> Iterator[str]:
    """A gate that is always open or always shut is a mistake; a metric that is only reported may say anything."""
    threshold = criterion.threshold
    if (criterion.model_extra or {}).get("gate") is False:
        return
    span = f"scores go from {facts.minimum:g} to {'any number' if facts.maximum is None else f'{facts.maximum:g}'}"
    report = 'to report the metric without deciding anything, add "gate": false'
    if threshold <= facts.minimum:
        yield f"threshold {threshold:g} cannot fail ({span}); {report}"
    elif facts.maximum is not None and threshold > facts.maximum:
        yield f"threshold {threshold:g} cannot pass ({span}); {report}"


def _place(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in loc)
