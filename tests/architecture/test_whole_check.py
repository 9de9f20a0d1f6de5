"""The parts of `.ci/run` that decide whether it is green: its lanes, its command of the tests, its second look at what failed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def script(root: Path) -> str:
    return (root / ".ci" / "run").read_text(encoding="utf-8")


def _bash(script: str, ending: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the functions of the script that come before its first lane, then some lines."""
    functions = re.search(r"^step\(\).*?(?=^# --- first)", script, re.MULTILINE | re.DOTALL)
    assert functions is not None
    text = f"set -euo pipefail\nscratch=$PWD\nlanes=()\n{functions[0]}\n{ending}"
    return subprocess.run(["bash", "-c", text], cwd=folder, capture_output=True, text=True, check=False)


LANES = """
left() { step "a step" echo "printed in left"; }
right() { step "another" test -e missing; echo "not reached"; }
"""


def test_lanes_print_their_output_and_record_seconds(script: str, tmp_path: Path) -> None:
    done = _bash(script, LANES + "in_lanes left left\n", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert '##### lane "left": exit code 0' in done.stdout
    assert "printed in left" in done.stdout
    assert "a step" in (tmp_path / "seconds").read_text()


def test_a_step_that_fails_ends_its_lane_and_the_check(script: str, tmp_path: Path) -> None:
    done = _bash(script, LANES + "in_lanes right left\necho 'continued'\n", tmp_path)
    assert done.returncode == 1
    assert "printed in left" in done.stdout, "the other lane runs to its end"
    assert "not reached" not in done.stdout
    assert "continued" not in done.stdout


def test_the_check_runs_the_command_of_the_readme(script: str, root: Path) -> None:
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert 0 < readme.index("$ make demo") < readme.index("$ make test")
    assert "\n    make test ARGS=\"-m 'not benchmark'\"" in script
    assert "export PROCTOR_REQUIRE_ALL=1" in script


SAMPLE = {
    "test_one.py": "def test_red():\n    assert False\n\ndef test_green():\n    pass\n",
    "test_two.py": "import pytest\n\n@pytest.mark.parametrize('x', [1], ids=['an id'])\ndef test_red(x):\n    assert not x\n",
}


def _pytest(folder: Path, *words: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-p", "no:asyncio", "-p", "no:proctor", "-q", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.nightly
@pytest.mark.slow  # starts pytest
def test_what_fails_in_two_processes_is_run_again_in_one(root: Path, tmp_path: Path) -> None:
    """As the second look does: from the cache of pytest, by `@FILE`, with the options of `make test` before its own."""
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    options = re.search(r"-m pytest -n \$\(WORKERS\) (.*) \$\(ARGS\)", makefile)
    assert options is not None
    for name, text in SAMPLE.items():
        (tmp_path / name).write_text(text)
    assert "2 failed, 1 passed" in _pytest(tmp_path, "-n", "2", *options[1].split())
    failed = json.loads((tmp_path / ".pytest_cache/v/cache/lastfailed").read_text())
    assert sorted(failed) == ["test_one.py::test_red", "test_two.py::test_red[an id]"]
    (tmp_path / "red.txt").write_text("\n".join(failed))
    again = _pytest(tmp_path, "-n", "0", *options[1].split(), "@red.txt")
    assert "2 failed" in again
    assert "passed" not in again
