"""Checks a criterion against the facts of its metric, so that a misspelled option never goes unheard."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic.alias_generators import to_camel, to_snake

from proctor.errors import CriterionError, did_you_mean
from proctor.metrics.base import COMMON_OPTIONS, MetricFacts, how_to_declare, range_of
from proctor.schema.format.criterion import BaseCriterion

__all__ = ["check_criterion", "misfit", "refuse_criterion"]

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
    given = criterion.model_dump()
    typed = None
    try:
        typed = kind.model_validate(given)
    except ValidationError as error:
        problems += [_told(entry, given) for entry in error.errors()]
    if problems or typed is None:
        raise misfit(facts.name, [message for _, message in problems], [place for place, _ in problems])
    return typed


def misfit(metric: str, problems: Sequence[str], places: Iterable[str] = ()) -> CriterionError:
    """The error of a criterion that does not fit its metric.

    A problem is a sentence that begins with the option it is about (`rules[0].same: expected …`); where it does not,
    `places` names the options.
    """
    told = "; ".join(problem.rstrip(".") for problem in problems)
    error = CriterionError(
        f"The criterion of {metric!r} does not fit: {told}{'' if told.endswith('?') else '.'}"
    )
    error.parts = [
        problem if not place or problem.startswith(f"{place}: ") else f"{place}: {problem}"
        for place, problem in zip_longest(places, problems, fillvalue="")
    ]
    return error


def refuse_criterion(facts: MetricFacts, criterion: BaseCriterion | None) -> None:
    """Raise `CriterionError` for a criterion given to a metric that is only reported."""
    if criterion is not None:
        raise CriterionError(
            f"{facts.name!r} is informational: it is always reported, never decides, and takes no threshold. "
            "Take it out of the criteria."
        )


Problem = tuple[str, str]
"""The option that is meant, and what is wrong with it."""


def _unknown_options(facts: MetricFacts, criterion: BaseCriterion) -> Iterator[Problem]:
    if facts.kind == "custom":  # the options are whatever its author reads
        return
    known = {*COMMON_OPTIONS, *facts.options}
    accepted = known | {to_camel(name) for name in known - OURS}
    for option in criterion.model_extra or {}:
        if option not in accepted and not _is_comment(option):
            takes = f"It takes: {', '.join(sorted([*facts.options, *COMMON_OPTIONS]))}"
            yield option, f"unknown option {option!r}.{did_you_mean(option, known)} {takes}"


def _is_comment(option: str) -> bool:
    """Whether a key says only something to people, as such keys may at the top of a config, too."""
    return option.startswith("_") or option in {"description", "comment", "$comment"}


def _compat(criterion: BaseCriterion) -> Iterator[Problem]:
    compat = (criterion.model_extra or {}).get("compat")
    if compat not in (None, "adk"):
        yield "compat", f"compat: expected 'adk', got {compat!r}"


def _threshold(facts: MetricFacts, criterion: BaseCriterion) -> Iterator[Problem]:
    """A gate that is always open or always shut is a mistake; a metric that is only reported may say anything."""
    threshold = criterion.threshold
    if (criterion.model_extra or {}).get("gate") is False:
        return
    span = f"scores go from {range_of(facts)}"
    report = 'to report the metric without deciding anything, add "gate": false'
    if threshold <= facts.minimum:
        yield "threshold", f"threshold {threshold:g} cannot fail ({span}); {report}{how_to_declare(facts)}"
    elif facts.maximum is not None and threshold > facts.maximum:
        yield "threshold", f"threshold {threshold:g} cannot pass ({span}); {report}{how_to_declare(facts)}"


def _told(entry: Mapping[str, Any], given: Mapping[str, Any]) -> Problem:
    """What pydantic says about one option; of a word that is none of a few, also which was probably meant."""
    option, *inside = entry["loc"]
    place = ".".join(map(str, [option if option in given else to_snake(str(option)), *inside]))
    words = re.findall(r"'([^']*)'", str(entry.get("ctx", {}).get("expected", "")))
    came = entry["input"]
    meant = _meant(came, words) if isinstance(came, str) else ""
    return place, f"{place}: {entry['msg']}, got {_WORDS_OF_JSON.get(repr(came)) or repr(came)}.{meant}"


_WORDS_OF_JSON = {"True": "true", "False": "false", "None": "null"}
"""Criteria come from JSON and YAML."""


def _meant(came: str, words: Sequence[str]) -> str:
    """As `did_you_mean`, whatever the case of the letters."""
    return next(
        (hint for form in (came, came.upper(), came.lower()) if (hint := did_you_mean(form, words))), ""
    )
