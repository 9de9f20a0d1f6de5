"""Sets of one name in one run: a reader of the report must be able to distinguish their cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import proctor
from tests.engine.scripted import Scripted, case, eval_set

TEXT = {"criteria": {"response_match_score": 0.5}}


def _warned(*sets: Any, **options: Any) -> list[str]:
    result = proctor.evaluate_sync(Scripted(), list(sets), config=TEXT, **options)
    assert result.passed
    return [one for one in result.warnings if "cannot distinguish these" in one]


@pytest.mark.parametrize(
    ("sets", "warned"),
    [
        ([("same", "a"), ("same", "a")], "'same', and each has a case 'a': "),
        ([("same", "abc"), ("same", "cab")], "'same', and each has a case 'c' (and 2 more): "),
        ([("same", "ab"), ("same", "cd"), ("same", "db")], "'same', and each has a case 'd' (and 1 more): "),
        ([("same", "ab"), ("same", "cd")], ""),
        ([("one", "a"), ("other", "a")], ""),
        ([("one", "a")], ""),
    ],
    ids=str,
)
def test_cases_of_one_name_are_reported_once(sets: list[tuple[str, str]], warned: str) -> None:
    warnings = _warned(*(eval_set(*map(case, ids), eval_set_id=name) for name, ids in sets))
    assert len(warnings) == bool(warned)
    assert all(warned in one for one in warnings)


def test_the_warning_names_the_files_and_only_what_is_run(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one.evalset.json", "two.evalset.json")]
    for file in files:
        file.write_text(eval_set(case("a"), case("b")).model_dump_json(), encoding="utf-8")
    (warning,) = _warned(*files)
    assert warning.startswith(
        f"{files[0]} and {files[1]} are both called 'set', and each has a case 'a' (and 1 more)"
    )
    assert not _warned(f"{files[0]}:a", f"{files[1]}:b")
