"""Validates a JSON value against a JSON Schema, with readable messages. Nothing is ever fetched."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from types import ModuleType
from typing import TYPE_CHECKING, Any

from proctor.common.optional_packages import import_extra
from proctor.errors import CriterionError, MetricError, did_you_mean
from proctor.metrics.reason_text import TYPE_WORDS, show_name, show_text, show_value
from proctor.metrics.structure.schema_lint import FEATURE, drafts, lint_schema, specifications
from proctor.metrics.text.regex.search import Search, matches

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator


Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Mistake:
    """One place at which a value does not fit its schema."""

    path: Path
    """The keys and positions of the place."""
    keyword: str
    """The violated keyword of JSON Schema."""
    expected: str
    """What the schema expects, in words: `an integer`."""
    actual: object

    def sentence(self, root: str = "the value") -> str:
        """Return `items[1].price is "free", expected a number`; for the value as a whole `root is …`."""
        place = _place(self.path) or root
        if self.keyword == "required":
            return f"{place} is missing, expected {self.expected}"
        if self.keyword == "additionalProperties":
            return f"{place} is {show_value(self.actual)}, and {self.expected}"
        return f"{place} is {show_value(self.actual)}, expected {self.expected}"

    def to_data(self) -> dict[str, object]:
        """Return the data for reports."""
        return {
            "path": [*self.path],
            "keyword": self.keyword,
            "expected": self.expected,
            "actual": None if self.keyword == "required" else self.actual,
        }


class Schema:
    """A valid JSON Schema: drafts 3 to 2020-12 by its `$schema`, else 2020-12."""

    unknown: Sequence[str]
    """Messages about unknown keywords, which are not checked."""
    slips: Sequence[str]
    """Messages about keywords that are certainly mistakes; empty with `strict`."""
    checked: frozenset[str]
    """The keywords of the top level that check something."""

    def __init__(self, document: object, *, formats: bool = False, strict: bool = False) -> None:
        """Read the schema; `formats` also checks `format` (those that need no further package).

        `strict`, for schemas that are written for Proctor: misspelled keywords, which JSON Schema ignores, are errors.

        Raises:
            CriterionError: it is not a JSON Schema, or refers to a schema outside it, or to itself without end.
            MissingExtraError: the package jsonschema is not installed.
        """
        jsonschema = import_extra("jsonschema", extra="jsonschema", feature=FEATURE)
        kind = _draft_of(document, jsonschema)
        try:
            kind.check_schema(document)
            findings = lint_schema(document, kind, kind.FORMAT_CHECKER.checkers if formats else None)
        except jsonschema.SchemaError as error:
            raise CriterionError(_invalid_schema(error)) from None
        except RecursionError:
            raise CriterionError("it is nested too deeply") from None
        if problems := [*findings.dead, *(findings.slips if strict else ())]:
            raise CriterionError("; ".join(problem.rstrip(".") for problem in problems))
        self.unknown, self.slips = findings.unknown, findings.slips
        own = document.keys() & kind.VALIDATORS.keys() if isinstance(document, Mapping) else set[str]()
        self.checked = frozenset(own if document is not False else {"false"})
        self._best = jsonschema.exceptions.best_match
        # with an explicit registry, jsonschema does not fetch references
        kind = jsonschema.validators.extend(kind, keywords_for(kind.VALIDATORS))
        self._validator = kind(
            document,
            registry=specifications(),
            format_checker=kind.FORMAT_CHECKER if formats else None,
        )

    def fits(self, value: object) -> bool:
        """Return whether a value fits the schema."""
        return next(self._errors(value), None) is None

    def mistakes(self, value: object) -> list[Mistake]:
        """Return every mistake, in the order of their places."""
        errors = sorted(self._errors(value), key=lambda error: [str(key) for key in error.absolute_path])
        return [mistake for error in errors for mistake in self._mistakes_of(error)]

    def _errors(self, value: object) -> Iterator[ValidationError]:
        try:
            yield from self._validator.iter_errors(value)
        except RecursionError:
            raise MetricError("the value or its schema is nested too deeply to be checked") from None

    def _mistakes_of(self, error: ValidationError) -> Iterator[Mistake]:
        """Yield the mistakes of one error of jsonschema; of alternatives, the nearest."""
        path: Path = tuple(error.absolute_path)
        describe = _DESCRIPTIONS.get(error.validator)
        if error.validator in _KEY_MISTAKES:
            yield from _KEY_MISTAKES[error.validator](error, path)
        elif error.validator in {"anyOf", "oneOf"} and error.context:
            nearest = self._best(error.context)
            yield Mistake(path, error.validator, _nearest(error, nearest), error.instance)
        elif describe:
            yield Mistake(path, str(error.validator), describe(error.validator_value), error.instance)
        else:
            expected = f"what `{error.validator}` requires: {error.message}"
            yield Mistake(path, str(error.validator), expected, error.instance)


@lru_cache(maxsize=1024)
def _schema_of_text(text: str, formats: bool, strict: bool) -> Schema:  # noqa: FBT001 - the key of the cache
    return Schema(json.loads(text), formats=formats, strict=strict)


def schema_of(document: object, *, formats: bool = False, strict: bool = False) -> Schema:
    """Return the schema; tools of all turns that declare the same share it."""
    try:
        text = json.dumps(document, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise CriterionError("it is not a JSON Schema: it contains values that are not JSON") from None
    return _schema_of_text(text, formats, strict)


def _draft_of(document: object, jsonschema: ModuleType) -> type[Validator]:
    """Return the class of jsonschema for the draft of a schema.

    Raises:
        CriterionError: `$schema` does not name a draft.
    """
    draft = document.get("$schema") if isinstance(document, Mapping) else None
    kind: type[Validator] | None = jsonschema.Draft202012Validator
    if draft is not None:
        kind = jsonschema.validators.validator_for(document, default=None) if isinstance(draft, str) else None
    if kind is None:
        known = [each.META_SCHEMA.get("$id", each.META_SCHEMA.get("id")) for each in drafts(jsonschema)]
        raise CriterionError(
            f"`$schema` is not a known draft: {show_value(draft)}.{did_you_mean(str(draft), known)} Known: {', '.join(known)}"
        )
    return kind


def _invalid_schema(error: ValidationError) -> str:
    """Return why a schema is not valid under its draft."""
    place = _place(tuple(error.absolute_path))
    where = f" at {place}" if place else ""
    if place.rpartition(".")[2] == "type" and isinstance(error.instance, str):
        hint = did_you_mean(error.instance, TYPE_WORDS)
        problem = f"unknown type {show_text(error.instance)}.{hint} Types: {', '.join(TYPE_WORDS)}"
        return f"it is not a JSON Schema{where}: {problem}"
    return f"it is not a JSON Schema{where}: {error.message}"


# --- messages ---


def _place(path: Path) -> str:
    """Return `items[1].price`."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            text += f".{show_name(key)}" if text else show_name(key)
    return text


def _type_name(value: Any) -> str:
    names = [value] if isinstance(value, str) else value
    return " or ".join(TYPE_WORDS.get(name, str(name)) for name in names)


def _plural(number: object, thing: str) -> str:
    return f"{show_value(number)} {thing}{'' if number == 1 else 's'}"


_DESCRIPTIONS: Mapping[str, Callable[[Any], str]] = {
    "type": _type_name,
    "enum": lambda value: f"one of {', '.join(map(show_value, value))}",
    "const": show_value,
    "minimum": lambda value: f"at least {show_value(value)}",
    "maximum": lambda value: f"at most {show_value(value)}",
    "exclusiveMinimum": lambda value: f"more than {show_value(value)}",
    "exclusiveMaximum": lambda value: f"less than {show_value(value)}",
    "multipleOf": lambda value: f"a multiple of {show_value(value)}",
    "minLength": lambda value: f"at least {_plural(value, 'character')}",
    "maxLength": lambda value: f"at most {_plural(value, 'character')}",
    "pattern": lambda value: f"text that matches {show_text(value)}",
    "format": lambda value: f"text of the format {show_value(value)}",
    "minItems": lambda value: f"at least {_plural(value, 'item')}",
    "maxItems": lambda value: f"at most {_plural(value, 'item')}",
    "uniqueItems": lambda _: "items that are all different",
    "minProperties": lambda value: f"at least {_plural(value, 'key')}",
    "maxProperties": lambda value: f"at most {_plural(value, 'key')}",
    "not": lambda value: f"anything but {show_value(value)}",
    "contains": lambda value: f"an item that fits {show_value(value)}",
}


def _missing(error: ValidationError, path: Path) -> Iterator[Mistake]:
    """Yield the missing key; jsonschema reports an error for each."""
    name = next(key for key in error.validator_value if error.message.startswith(f"{key!r} is"))
    declared = error.schema.get("properties", {}).get(name)
    yield Mistake((*path, name), "required", _expected_value(declared), None)


def _expected_value(declared: object) -> str:
    if isinstance(declared, Mapping):
        for keyword in ("const", "enum", "type"):
            if keyword in declared:
                return _DESCRIPTIONS[keyword](declared[keyword])
    return "a value"


def _undeclared_keys(error: ValidationError, path: Path) -> Iterator[Mistake]:
    """Yield each key that the schema does not allow."""
    known: Sequence[str] = [*error.schema.get("properties", {})]
    patterns = [*error.schema.get("patternProperties", {})]

    for name, value in error.instance.items():
        if name in known or any(re.search(pattern, name) for pattern in patterns):
            continue
        hint = did_you_mean(name, known)
        names = f" (known: {', '.join(map(show_name, known))})" if known else ""
        expected = f"no such key is declared{names}{f'.{hint}' if hint else ''}"
        yield Mistake((*path, name), "additionalProperties", expected, value)


_KEY_MISTAKES: Mapping[str, Callable[[object, Path], Iterator[Mistake]]] = {
    "required": _missing,
    "additionalProperties": _undeclared_keys,
}


def _nearest(error: ValidationError, nearest: ValidationError) -> str:
    """Return what an `anyOf` or a `oneOf` expects: all its types, or the alternative that is nearest."""
    types = [each.get("type") for each in error.validator_value if isinstance(each, Mapping)]
    if len(types) == len(error.validator_value) and all(
        isinstance(each, str) and error.instance.__class__ not in _CLASSES.get(each, ()) for each in types
    ):
        return " or ".join(_type_name(each) for each in dict.fromkeys(types))
    place = _place(tuple(nearest.path))
    describe = _DESCRIPTIONS.get(nearest.validator)
    expected = describe(nearest.validator_value) if describe else nearest.message
    return f"one of {len(error.validator_value)} alternatives; the nearest expects {f'{place}: ' if place else ''}{expected}"


_CLASSES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}


# --- Keywords that are checked here instead of by jsonschema: exact decimals, and a time limit for patterns ---


SECONDS = 5.0
"""The time limit for a pattern of a schema on one text."""


def keywords_for(known: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Return the checks of those keywords of a draft (`known`) that differ from jsonschema's."""
    own: dict[str, Callable[..., Any]] = {
        "pattern": _pattern,
        "multipleOf": _multiple_of,
        "divisibleBy": _multiple_of,
    }
    limited = {name: _with_time_limit(known[name]) for name in OF_KEYS if name in known}
    return {name: check for name, check in own.items() if name in known} | limited


def _multiple_of(_validator: object, step: float, value: object, _schema: object) -> Iterator[object]:
    """Check `multipleOf` with decimals as they are written: 0.3 is three times 0.1, but not in binary."""
    from jsonschema import ValidationError

    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return
    if Fraction(repr(value)) % Fraction(repr(step)):
        yield ValidationError(f"{value!r} is not a multiple of {step!r}")


def _pattern(_validator: object, pattern: str, value: object, _schema: object) -> Iterator[object]:
    """Check `pattern` as jsonschema does, with a time limit."""
    if not isinstance(value, str):
        return
    from jsonschema import ValidationError

    if not _is_found(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _is_found(pattern: str, text: str) -> bool:
    """Search within the time limit.

    Raises:
        MetricError: it takes too long.
    """
    return matches(Search(re.compile(pattern), full=False, text=text), SECONDS)


OF_KEYS = ("patternProperties", "additionalProperties", "unevaluatedProperties")
"""Keywords that search keys for the patterns of `patternProperties`."""


def _with_time_limit(keyword: Callable[..., Any]) -> Callable[..., Any]:
    """Return a keyword of jsonschema that first tries each of its searches with the time limit."""

    def check(validator: object, setting: object, value: object, schema: object) -> Iterator[object]:
        patterns = schema.get("patternProperties", {}) if isinstance(schema, Mapping) else {}
        for name in value if isinstance(value, Mapping) else ():
            for pattern in patterns:
                _is_found(pattern, name)
        yield from keyword(validator, setting, value, schema) or ()

    return check
