"""The benchmarks run from end to end, with sizes too small to mean anything; figures are not checked."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SLOW = pytest.mark.slow  # many processes, one after the other


@pytest.mark.nightly(check=2)
@pytest.mark.slow  # runs every benchmark
@pytest.mark.parametrize(
    ("workload", "rows"),
    [
        pytest.param("W1", 5, marks=SLOW),
        pytest.param("W2", 11, marks=SLOW),
        pytest.param("W3", 6, marks=SLOW),
        pytest.param("W4", 3, marks=SLOW),
        ("W5", 3),
        pytest.param("W6", 6, marks=SLOW),
        ("W7", 5),
        ("W8", 4),
        pytest.param("W9", 5, marks=SLOW),
        ("W10", 1),
        pytest.param("W11", 10, marks=SLOW),
        ("W12", 2),
        pytest.param("W13", 4, marks=SLOW),
    ],
)
def test_every_workload_gives_its_rows(workload: str, rows: int) -> None:
    command = [sys.executable, "benchmarks/run.py", "--tiny", "--repeats", "0", "--json", "--only", workload]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode in {0, 1}, done.stderr  # 1: outside a budget, meaningless for these sizes
    found = json.loads(done.stdout)["rows"]
    assert [row["workload"] for row in found] == [workload] * rows
    nothing = [row["what"] for row in found if not row["figures"]["proctor"]]
    # what was answered before is not asked for
    assert all(what.endswith("re-scored: calls") for what in nothing), found


@pytest.mark.slow
@pytest.mark.parametrize("script", ["ours", "bare"])
def test_both_sides_find_the_cases_that_must_fail(script: str) -> None:
    for metric in ("exact", "rouge"):
        command = [sys.executable, "-m", f"benchmarks.{script}", "evaluate", "30", metric]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        assert json.loads(done.stdout)["failed"] == 3


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [("writers", "40"), ("totals", "1000"), ("kill", "processes", "1")], ids=" ".join
)
def test_ratios_of_several_processes_are_computed(words: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "benchmarks.scale_ratios", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert re.search(r"^\| scale \| .* \| -?[\d.]+ × \|", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.slow
def test_an_unknown_workload_is_refused() -> None:
    command = [sys.executable, "benchmarks/run.py", "--only", "W2,W77"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2
    assert "expected some of W1, W2" in done.stderr
