"""The tests of each framework, run in the environment that has it."""

import pytest

from tests.agents.frameworks.environments import NAMES, ROOT, run_in, skip_without
from tests.agents.frameworks.rows import ROWS

FOLDERS = {name: ROOT / "tests" / "agents" / "frameworks" / name.replace("-", "_") for name in NAMES}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if FOLDERS[name].is_dir()])
def test_the_framework_s_own_tests_pass(name: str) -> None:
    skip_without(name)
    folder = str(FOLDERS[name].relative_to(ROOT))
    done = run_in(name, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not benchmark", folder)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]
    assert " passed" in done.stdout


def test_environments_that_rows_name_are_there() -> None:
    assert {row.environment for row in ROWS} - {""} <= set(NAMES)


def test_the_makefile_makes_these_environments() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"FRAMEWORKS := {' '.join(NAMES)}\n" in makefile
