"""Validation of a criterion against the facts of its metric, so that a misspelled option is an error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic.alias_generators import to_camel, to_snake

from proctor.errors import CriterionError, did_you_mean
from proctor.metrics.base import COMMON_OPTIONS, MetricFacts, example_of, how_to_declare, range_of
from proctor.schema.format.criterion import BaseCriterion

OURS = frozenset({"gate", "applies_to", "aggregate", "compat"})
"""Proctor's own options, which have one spelling. All others may also be written in camelCase, as in ADK."""

C = TypeVar("C", bound=BaseCriterion)


def check_criterion(facts: MetricFacts, criterion: BaseCriterion | None, kind: type[C]) -> C:
    """Return the criterion as the metric's own type, or the metric's default if there is none.

    Raises:
        CriterionError: an unknown option, an invalid value, a required option without a value, a threshold that cannot
            fail or cannot pass. One message names all problems.
    """
    problems: list[Problem] = []
    typed: C | None = None
    if criterion is None:
        typed = kind(threshold=1.0 if facts.default_threshold is None else facts.default_threshold)
    else:
        problems += [*_unknown_options(facts, criterion), *_compat(criterion), *_threshold(facts, criterion)]
        values = criterion.model_dump()
        try:
            typed = kind.model_validate(values)
        except ValidationError as error:
            problems += [_invalid_value(entry, values) for entry in error.errors()]
    if typed is not None and not problems:  # a misspelled option is not missing, too
        problems += _missing_options(facts, typed)
    if problems or typed is None:
        raise misfit(facts.name, [message for _, message in problems], [place for place, _ in problems])
    return typed


def misfit(metric: str, problems: Sequence[str], places: Iterable[str] = ()) -> CriterionError:
    """Return the error for a criterion that does not fit its metric.

    A problem is a sentence that begins with the option that it is about (`rules[0].same: expected …`); if it does not,
    `places` names the option.
    """
    message = "; ".join(problem.rstrip(".") for problem in problems)
    error = CriterionError(
        f"The criterion of {metric!r} does not fit: {message}{'' if message.endswith('?') else '.'}"
    )
    error.parts = [
        problem if not place or problem.startswith(f"{place}: ") else f"{place}: {problem}"
        for place, problem in zip_longest(places, problems, fillvalue="")
    ]
    return error


def informational_error(facts: MetricFacts) -> CriterionError:
    """Return the error for a criterion of an informational metric."""
    return CriterionError(
        f"{facts.name!r} is informational: it is always reported, never decides, and takes no threshold. "
        "Take it out of the criteria."
    )


Problem = tuple[str, str]
"""The option and what is wrong with it."""


def _unknown_options(facts: MetricFacts, criterion: BaseCriterion) -> Iterator[Problem]:
    if facts.kind == "custom":  # its function may read any option
        return
    known = {*COMMON_OPTIONS, *facts.options}
    accepted = known | {to_camel(name) for name in known - OURS}
    for option in criterion.model_extra or {}:
        is_comment = option.startswith("_") or option in {"description", "comment", "$comment"}
        if option not in accepted and not is_comment:
            takes = f"It takes: {', '.join(sorted([*facts.options, *COMMON_OPTIONS]))}"
            yield option, f"unknown option {option!r}.{did_you_mean(option, known)} {takes}"


def _missing_options(facts: MetricFacts, criterion: BaseCriterion) -> Iterator[Problem]:
    values = criterion.model_dump()
    for option in sorted(facts.required):
        if values.get(option) in (None, "", {}, []):
            example = {facts.name: example_of(facts)[facts.name]}
            yield option, f"{option}: expected a value, as in {json.dumps(example, ensure_ascii=False)}"


def _compat(criterion: BaseCriterion) -> Iterator[Problem]:
    compat = (criterion.model_extra or {}).get("compat")
    if compat not in (None, "adk"):
        yield "compat", f"compat: expected 'adk', got {compat!r}"


def _threshold(facts: MetricFacts, criterion: BaseCriterion) -> Iterator[Problem]:
    """Yield a threshold that always passes or always fails; a metric with `gate: false` may have any threshold."""
    threshold = criterion.threshold
    if (criterion.model_extra or {}).get("gate") is False:
        return
    if threshold <= facts.minimum:
        problem = "cannot fail"
    elif facts.maximum is not None and threshold > facts.maximum:
        problem = "cannot pass"
    else:
        return
    report = 'to report the metric without deciding anything, add "gate": false'
    yield (
        "threshold",
        f"threshold {threshold:g} {problem} (scores go from {range_of(facts)}); {report}{how_to_declare(facts)}",
    )


def _invalid_value(entry: Mapping[str, Any], values: Mapping[str, Any]) -> Problem:
    """Return pydantic's message about one option, with the allowed word that was probably intended."""
    option, *inside = entry["loc"]
    place = ".".join(map(str, [option if option in values else to_snake(str(option)), *inside]))
    words = re.findall(r"'([^']*)'", str(entry.get("ctx", {}).get("expected", "")))
    value = entry["input"]
    hint = _hint(value, words) if isinstance(value, str) else ""
    return place, f"{place}: {entry['msg']}, got {_WORDS_OF_JSON.get(repr(value)) or repr(value)}.{hint}"


_WORDS_OF_JSON = {"True": "true", "False": "false", "None": "null"}
"""Criteria are JSON or YAML, so messages show JSON."""


def _hint(value: str, words: Sequence[str]) -> str:
    """Return the hint of `did_you_mean`, ignoring case."""
    return next(
        (hint for form in (value, value.upper(), value.lower()) if (hint := did_you_mean(form, words))), ""
    )
