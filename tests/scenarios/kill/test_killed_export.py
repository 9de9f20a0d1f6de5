"""An export that is killed leaves the old file whole, or the new one whole; never a part, and nothing in the way."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proctor.files.results.read import read_runs
from proctor.runs.storage.export import export_run
from tests.reports.sample_runs import good, run

pytestmark = pytest.mark.slow  # exports are killed

_FOREVER = """
import sys
sys.path[:0] = [{source!r}, {root!r}]
from proctor.runs.storage.export import export_run
from tests.reports.sample_runs import good, run
new = run(*(good(f"new_{{n}}") for n in range(60)))
new.started_at = 5.0
print("ready", flush=True)
while True:
    export_run(new, {form!r}, {path!r})
"""


def _kill_an_export(form: str, path: Path, root: Path, seconds: float) -> None:
    code = _FOREVER.format(source=str(root / "src"), root=str(root), form=form, path=str(path))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(seconds)
        process.kill()


def _cases(form: str, path: Path) -> set[int]:
    file = next(iter(sorted(path.glob("*.evalset_result.json")))) if path.is_dir() else path
    if form == "csv":
        rows = file.read_text(encoding="utf-8").splitlines()
        return {len(rows) - 1 if all(row.count('"') % 2 == 0 for row in rows) else -1}
    return {len(each.result.cases) for each in read_runs(file)}


def _check(form: str, tmp_path: Path, root: Path, times: int) -> None:
    seen = set()
    for attempt in range(times):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        path = folder if form == "adk" else folder / f"run.{form}"
        old = run(*(good(f"old_{n}") for n in range(7)))
        old.started_at = 5.0
        export_run(old, form, path)
        _kill_an_export(form, path, root, random.Random(attempt).uniform(0.0, 0.15))
        seen |= _cases(form, path)
        visible = [each for each in folder.iterdir() if not each.name.startswith(".")]
        assert len(visible) == 1
    assert seen <= {7, 60}


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "adk"])
def test_a_killed_export(form: str, tmp_path: Path, root: Path) -> None:
    _check(form, tmp_path, root, 3)


@pytest.mark.nightly
@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "adk"])
def test_a_killed_export_a_hundred_times(form: str, tmp_path: Path, root: Path) -> None:
    _check(form, tmp_path, root, 100)


def test_what_a_kill_left_behind_is_not_taken_for_a_result(tmp_path: Path) -> None:
    """The draft of a killed export stays; google-adk's listing and an import of the folder ignore it."""
    from proctor.runs.importing.import_runs import read_results

    (path,) = export_run(run(good("a")), "adk", tmp_path)
    draft = tmp_path / f".{path.name}.0123456789ab.tmp"
    draft.write_text(path.read_text(encoding="utf-8")[:100], encoding="utf-8")
    assert [each.name for each in sorted(tmp_path.rglob("*.evalset_result.json"))] == [path.name]
    assert len(read_results(path)) == 1
    assert json.loads(path.read_text(encoding="utf-8"))["eval_set_id"] == "booking"
