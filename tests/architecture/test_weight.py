"""Starting is light: what a user does not use is not loaded."""

import json
import subprocess
import sys

import pytest

OPTIONAL = frozenset(
    {
        "rich",
        "yaml",
        "click",
        "dotenv",
        "google",
        "numpy",
        "fastapi",
        "uvicorn",
        "nltk",
        "rouge_score",
        "httpx",
        "pytest",
    }
)
_REPORT = (
    "import atexit, json, sys\n"
    "before = set(sys.modules)\n"
    "atexit.register(lambda: sys.stderr.write('LOADED' + json.dumps(sorted(set(sys.modules) - before))))\n"
)


def _loaded_by(code: str) -> set[str]:
    """The modules that running this code in a fresh interpreter loads."""
    done = subprocess.run(
        [sys.executable, "-c", _REPORT + code], capture_output=True, text=True, check=False, timeout=60
    )
    text, marker, loaded = done.stderr.rpartition("LOADED")
    assert marker, done.stderr
    assert done.returncode == 0, text
    return set(json.loads(loaded))


def _tops(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_importing_proctor_loads_nothing_but_proctor() -> None:
    loaded = _loaded_by("import proctor")
    assert _tops(loaded) & (OPTIONAL | {"pydantic", "asyncio", "sqlite3"}) == set()
    assert len(loaded) < 40, sorted(loaded)


def test_the_names_of_the_format_load_no_optional_package() -> None:
    assert _tops(_loaded_by("from proctor import EvalSet, EvalCase, Invocation")) & OPTIONAL == set()


def test_the_main_entry_loads_no_optional_package() -> None:
    assert _tops(_loaded_by("from proctor import evaluate, evaluate_sync, score")) & OPTIONAL == set()


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_asking_the_command_line_for_help_loads_neither_models_nor_drawing(option: str) -> None:
    loaded = _loaded_by(
        "from proctor.cli.main import main\n"
        f"sys.argv = ['proctor', {option!r}]\n"
        "try:\n    code = main()\n"
        "except SystemExit as leaving:\n    code = leaving.code\n"
        "assert not code, code"
    )
    assert _tops(loaded) & ((OPTIONAL - {"click"}) | {"pydantic", "asyncio"}) == set()
