"""Baselines as files. They are written atomically, with one line per case, so that a diff is readable."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from proctor.common.atomic_write import new_file
from proctor.errors import EvalFileError
from proctor.schema.analysis.comparison import Baseline


def read_baseline(path: Path) -> Baseline:
    """Return the baseline in `path`.

    Raises:
        EvalFileError: the file does not exist, cannot be read, or is not a baseline.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise EvalFileError(f"{path}: the baseline cannot be read: {error}") from None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise EvalFileError(f"{path}: not a baseline: not JSON ({error}). {_MAKE}") from None
    if not isinstance(data, dict) or "proctor_baseline" not in data:
        raise EvalFileError(f"{path}: not a baseline: `proctor_baseline` is missing. {_MAKE}")
    if data["proctor_baseline"] != 1:
        raise EvalFileError(
            f"{path}: unknown version of a baseline: expected 1, got {data['proctor_baseline']!r}. {_MAKE}"
        )
    try:
        return _require_consistent(Baseline.model_validate(data), path)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise EvalFileError(f"{path}: {_INVALID}: {where}: {first['msg']}. {_MAKE}") from None


_MAKE = "`proctor baseline set NAME RUN` makes one, `proctor baseline export NAME FILE` writes it to a file"
_INVALID = "not a valid baseline"


def _require_consistent(baseline: Baseline, path: Path) -> Baseline:
    for row in baseline.cases:
        if len(row[-1]) != len(baseline.metrics):
            raise EvalFileError(
                f"{path}: {_INVALID}: case {row[0]}/{row[1]} has {len(row[-1])} means for "
                f"{len(baseline.metrics)} metrics. {_MAKE}"
            )
    for judged in baseline.judging.sets:
        for name in ("criteria", "trials", "user_simulator_config"):
            if not isinstance(judged.config.get(name), dict | None):
                raise EvalFileError(
                    f"{path}: {_INVALID}: `{name}` in the config of {judged.eval_set_id} must be an object. {_MAKE}"
                )
    if not isinstance(baseline.manifest.options.get("user"), str | None):
        raise EvalFileError(f"{path}: {_INVALID}: manifest.options.user must be a text. {_MAKE}")
    return baseline


def text_of_baseline(baseline: Baseline) -> str:
    """Return the baseline as JSON with one line per case; the same run always gives the same text."""
    head = baseline.model_dump(mode="json", exclude={"cases"}, exclude_defaults=True)
    text = json.dumps({**head, "cases": []}, indent=1, sort_keys=False, ensure_ascii=False, allow_nan=False)
    rows = [
        json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")) for row in baseline.cases
    ]
    cases = ",\n".join(f"  {row}" for row in rows)
    return text.removesuffix("[]\n}") + (f"[\n{cases}\n ]\n}}\n" if rows else "[]\n}\n")


def write_baseline(baseline: Baseline, path: Path) -> None:
    """Write the baseline, and replace an existing file.

    Raises:
        EvalFileError: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_file(path) as file:
            file.write(text_of_baseline(baseline))
    except OSError as error:
        raise EvalFileError(f"{path}: the baseline cannot be written: {error}") from None
