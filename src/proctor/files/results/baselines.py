"""Baselines as files: read whole or refused, written whole or not at all, a line a case so that a diff reads well."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from proctor.common.atomic_write import new_file
from proctor.errors import EvalFileError
from proctor.schema.analysis.baseline import Baseline


def read_baseline(path: Path) -> Baseline:
    """Return what is in `path`.

    Raises:
        EvalFileError: it is not there, cannot be read, or is no baseline.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise EvalFileError(f"{path}: the baseline cannot be read: {error}") from None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise EvalFileError(f"{path}: no baseline: it is no JSON ({error}). {_MAKE}") from None
    if not isinstance(data, dict) or "proctor_baseline" not in data:
        raise EvalFileError(f"{path}: no baseline: it has no `proctor_baseline`. {_MAKE}")
    if data["proctor_baseline"] != 1:
        raise EvalFileError(
            f"{path}: a baseline of another version ({data['proctor_baseline']!r}, and 1 is known here). {_MAKE}"
        )
    try:
        return _sound(Baseline.model_validate(data), path)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise EvalFileError(
            f"{path}: no baseline that can be read: {where}: {first['msg']}. {_MAKE}"
        ) from None


_MAKE = "`proctor baseline set NAME RUN` makes one, `proctor baseline export NAME FILE` writes it to a file"


def _sound(found: Baseline, path: Path) -> Baseline:
    for row in found.cases:
        if len(row[-1]) != len(found.metrics):
            raise EvalFileError(
                f"{path}: no baseline that can be read: case {row[0]}/{row[1]} has {len(row[-1])} means for "
                f"{len(found.metrics)} metrics. {_MAKE}"
            )
    for judged in found.judging.sets:
        for name in ("criteria", "trials", "user_simulator_config"):
            if not isinstance(judged.config.get(name), dict | None):
                raise EvalFileError(
                    f"{path}: no baseline that can be read: `{name}` in the config of {judged.eval_set_id} is no object. {_MAKE}"
                )
    if not isinstance(found.manifest.options.get("user"), str | None):
        raise EvalFileError(
            f"{path}: no baseline that can be read: manifest.options.user is no text. {_MAKE}"
        )
    return found


def text_of_baseline(found: Baseline) -> str:
    """Return it as JSON: the same run always as the same text, a line a case."""
    head = found.model_dump(mode="json", exclude={"cases"}, exclude_defaults=True)
    text = json.dumps({**head, "cases": []}, indent=1, sort_keys=False, ensure_ascii=False, allow_nan=False)
    rows = [
        json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")) for row in found.cases
    ]
    cases = ",\n".join(f"  {row}" for row in rows)
    return text.removesuffix("[]\n}") + (f"[\n{cases}\n ]\n}}\n" if rows else "[]\n}\n")


def write_baseline(found: Baseline, path: Path) -> None:
    """Write it in place of what is there.

    Raises:
        EvalFileError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_file(path) as file:
            file.write(text_of_baseline(found))
    except OSError as error:
        raise EvalFileError(f"{path}: the baseline cannot be written: {error}") from None
