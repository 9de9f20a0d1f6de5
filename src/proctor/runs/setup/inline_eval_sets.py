"""Eval sets made in Python: models, or dicts and lists in any form that a file may have."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from proctor.errors import EvalFileError
from proctor.schema.format.case import EvalSet

if TYPE_CHECKING:
    from proctor.engine.planning.plan import GivenSet
    from proctor.runs.argument_types import EvalSetLike

_NAME = "<eval set>"


def listed(eval_sets: EvalSetLike | Sequence[EvalSetLike]) -> list[EvalSetLike]:
    """Return the given sets as a list. A list of cases, or of turns as in old files, is one set."""
    if isinstance(eval_sets, str | bytes | Path | Mapping) or not isinstance(eval_sets, Iterable):
        return [cast("EvalSetLike", eval_sets)]
    if hasattr(eval_sets, "model_dump"):  # Proctor's or google-adk's model, which iterates over its fields
        return [cast("EvalSet", eval_sets)]
    sets = list(eval_sets)
    return [cast("EvalSetLike", sets)] if _is_one(sets) else sets


def _is_one(items: list[Any]) -> bool:
    from proctor.files.eval_sets.detect_format import Kind, kind

    lists = (Kind.CASE_LIST, Kind.OLD_TURNS, Kind.OLD_CASES)
    all_dicts = bool(items) and all(isinstance(item, dict) for item in items)
    return all_dicts and kind(items) in lists and all(kind(item) is not Kind.EVAL_SET for item in items)


def given_set(
    entry: EvalSet | Mapping[str, Any], *, allow_duplicate_ids: bool = False, allow_unknown_keys: bool = True
) -> GivenSet:
    """Read an eval set made in Python: a model, or a dict in any form that a file may have.

    With `allow_duplicate_ids` the second case `x` runs as `x#2`. Without `allow_unknown_keys`, unknown keys that look like
    an expectation are refused.

    Raises:
        EvalFileError: the dict is not an eval set.
        SetupProblems: the refused keys.
        SetupError: two cases share an id.
    """
    from proctor.engine.planning.plan import GivenSet

    eval_set, warnings = _read(
        entry, allow_duplicate_ids=allow_duplicate_ids, allow_unknown_keys=allow_unknown_keys
    )
    return GivenSet(eval_set, warnings=warnings)


def given_eval_set(entry: EvalSet | Mapping[str, Any], *, allow_duplicate_ids: bool = False) -> EvalSet:
    """Return the eval set that `given_set` would read; raises as `given_set`."""
    from proctor.engine.planning.plan import GivenSet

    eval_set, _ = _read(entry, allow_duplicate_ids=allow_duplicate_ids, allow_unknown_keys=True)
    GivenSet(eval_set)  # refuses duplicate ids
    return eval_set


def _read(
    entry: EvalSet | Mapping[str, Any], *, allow_duplicate_ids: bool, allow_unknown_keys: bool
) -> tuple[EvalSet, list[str]]:
    """Return the set and its warnings."""
    from proctor.files.eval_sets.strictness import (
        keys_of_set,
        refusal_of,
        refuse_keys,
        refused_in,
        warnings_of,
    )

    if isinstance(entry, EvalSet):
        misread, doubtful = keys_of_set(entry)
        refuse_keys([] if allow_unknown_keys else misread)
        return (_told_apart(entry) if allow_duplicate_ids else entry), [*misread, *doubtful]
    from proctor.files.eval_sets.source import open_eval_set_text

    opened = open_eval_set_text(_text(entry), _NAME, allow_duplicate_ids=allow_duplicate_ids)
    if refused := refused_in(opened, allow_unknown_keys=allow_unknown_keys):
        raise refusal_of(refused, allows=True)
    return opened.eval_set(), [
        each.without_severity for each in warnings_of(opened, allow_unknown_keys=allow_unknown_keys)
    ]


def _text(entry: object) -> str:
    if isinstance(entry, bytes):
        raise EvalFileError(f"{_NAME}: expected a path, an EvalSet or a dict, got bytes")
    try:
        return json.dumps(entry, default=_plain)
    except RecursionError:
        raise EvalFileError(f"{_NAME}: it is nested too deep") from None
    except (TypeError, ValueError) as error:  # a key that is not a string, an object that contains itself
        raise EvalFileError(f"{_NAME}: it cannot be written as JSON: {error}") from None


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_unset=True)
    raise EvalFileError(f"{_NAME}: {type(value).__name__} is not JSON and no model")


def _told_apart(eval_set: EvalSet) -> EvalSet:
    from proctor.files.eval_sets.duplicate_ids import rename_duplicates

    renamed = rename_duplicates([case.eval_id for case in eval_set.eval_cases])
    cases = [
        case.model_copy(update={"eval_id": renamed[index]}) if index in renamed else case
        for index, case in enumerate(eval_set.eval_cases)
    ]
    return eval_set.model_copy(update={"eval_cases": cases})
