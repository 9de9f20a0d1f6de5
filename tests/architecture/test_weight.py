"""Starting is light: what a user does not use is not loaded."""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import proctor

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
        "httpx2",
        "pydantic_ai",
        "genai_prices",
        "openai",
        "anthropic",
        "boto3",
        "pytest",
    }
)


def _run(*arguments: str) -> set[str]:
    """The modules that a fresh interpreter loads. Read from its own log: the command line ends the process at once."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    log = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    assert done.returncode == 0, "\n".join(line for line in done.stderr.splitlines() if line not in log)
    return {line.rpartition("|")[2].strip() for line in log}


def _loaded_by(*arguments: str) -> set[str]:
    return _run(*arguments) - _run("-c", "pass")


def _tops(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_importing_proctor_loads_nothing_but_proctor() -> None:
    loaded = _loaded_by("-c", "import proctor")
    assert "proctor" in loaded
    assert _tops(loaded) & (OPTIONAL | {"pydantic", "asyncio", "sqlite3"}) == set()
    assert len(loaded) < 40, sorted(loaded)


@pytest.mark.slow
@pytest.mark.parametrize(
    "names", ["EvalSet, EvalCase, Invocation", "evaluate, evaluate_sync, score, load_eval_set"]
)
def test_what_users_import_loads_no_optional_package(names: str) -> None:
    loaded = _loaded_by("-c", f"from proctor import {names}")
    assert "proctor" in loaded
    assert _tops(loaded) & OPTIONAL == set()


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--help", "--version"])
def test_asking_the_command_line_for_help_loads_neither_models_nor_drawing(option: str) -> None:
    loaded = _loaded_by("-m", "proctor", option)
    assert "proctor.cli.main" in loaded
    assert _tops(loaded) & ((OPTIONAL - {"click"}) | {"pydantic", "asyncio"}) == set()


def test_the_version_is_that_of_the_package() -> None:
    assert proctor.__version__ == version("proctor")


def test_importing_the_entry_loads_what_evaluates_only_when_it_is_called() -> None:
    loaded = _loaded_by("-c", "from proctor import evaluate, evaluate_sync")
    assert "proctor.runs.arguments" in loaded
    assert _tops(loaded) & {"pydantic", "asyncio", "sqlite3"} == set()


@pytest.mark.slow
def test_a_run_of_sound_files_loads_nothing_for_other_files(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("def agent(text):\n    return 'hello'\n")
    turn = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hello"}]}}
    (tmp_path / "s.evalset.json").write_text(
        json.dumps({"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [turn]}]})
    )
    (tmp_path / "c.json").write_text('{"criteria": {"response_match_score": 0.5}}')
    words = [f"{tmp_path}/agent.py:agent", f"{tmp_path}/s.evalset.json", "--config", f"{tmp_path}/c.json"]
    loaded = _loaded_by("-m", "proctor", "eval", *words, "--store", f"{tmp_path}/runs.sqlite3")
    assert "proctor.engine.planning.plan" in loaded
    assert (
        loaded & {"proctor.schema.format.legacy", "proctor.files.text.json_scanner", "rich", "yaml"} == set()
    )


@pytest.mark.slow
def test_a_command_that_shows_no_report_loads_none(tmp_path: Path) -> None:
    turn = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hello"}]}}
    cases = tmp_path / "s.evalset.json"
    cases.write_text(
        json.dumps({"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [turn]}]})
    )
    store = tmp_path / "runs.sqlite3"
    proctor.evaluate_sync(
        lambda _: "bye", cases, config={"criteria": {"response_match_score": 1.0}}, store=store
    )
    loaded = _loaded_by("-m", "proctor", "bless", "latest", "a", "--dry-run", "--store", str(store))
    assert "proctor.authoring.bless" in loaded
    unused = {
        "proctor.reports.content",
        "proctor.schema.analysis",
        "proctor.schema.format.config",
        "rich",
        "yaml",
    }
    assert loaded & unused == set()


def _loaded_by_pytest(folder: Path, *words: str) -> set[str]:
    script = (
        "import sys, pytest; code = pytest.main(sys.argv[1:]); print('LOADED', *sys.modules); sys.exit(code)"
    )
    words = (
        *words,
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:asyncio",
        "--rootdir",
        str(folder),
        str(folder),
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return set(done.stdout.partition("LOADED ")[2].split())


DECLARED_OPTIONS = {
    "proctor.common.limits",
    "proctor.common.option_kinds",
    "proctor.engine",
    "proctor.engine.run_options",
    "proctor.errors",
}
"""The declarations of a run's options, from which the plug-in makes its own: the standard library is all that they import."""


@pytest.mark.slow
def test_the_pytest_plugin_loads_nothing_until_a_session_asks_for_it(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it():\n    assert True\n")
    (tmp_path / "data.test.json").write_text("{}")
    more = _loaded_by_pytest(tmp_path) - _loaded_by_pytest(tmp_path, "-p", "no:proctor")
    assert more == {
        "proctor",
        "proctor.common",
        "proctor.common.renamed_modules",
        "proctor.common.version",
        "proctor.runs",
        "proctor.runs.attempts",
        "proctor.pytest_plugin",
        "proctor.pytest_plugin.options",
        "proctor.pytest_plugin.session_report",
        "proctor.pytest_plugin.session_watch",
        *DECLARED_OPTIONS,
    }
