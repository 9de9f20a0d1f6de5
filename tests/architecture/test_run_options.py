"""Each option of a run is declared once, and what is generated from the declarations is current."""

import re
import subprocess
from dataclasses import fields

import pytest

from proctor.engine.run_options import OPTIONS, RunOptions
from proctor.pytest_plugin.options import OPTIONS as OF_PYTEST
from proctor.runs.setup.settings import Settings, setting_kinds
from proctor.web.pages.start import StartRun
from tests.architecture.generate_options import generated
from tests.architecture.source import SRC

DECLARATIONS = "src/proctor/engine/run_options.py"
GENERATED = "src/proctor/runs/arguments.py"


def test_generated_types_and_docstrings_are_current() -> None:
    stale = [path.name for path, text in generated().items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run `make options`"


def _places(pattern: str) -> set[str]:
    done = subprocess.run(
        ["git", "grep", "-lE", pattern, "--", "src"],
        cwd=SRC.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("name", OPTIONS)
def test_option_is_declared_once(name: str) -> None:
    declared = _places(rf"^    {name}: .* = option\($")
    assert declared == {DECLARATIONS}


OFFER_RUNS = [
    "cli/eval/",
    "cli/run_flags.py",
    "cli/tools/score_trace.py",
    "pytest_plugin",
    "runs/",
    "web/server",
]
"""Where runs are started. Other commands have flags of the same spelling that mean something else."""
MENTIONS = {"cli/eval/eval_request.py", "cli/eval/failed_cases.py"}
"""Modules that name `--config` in a message."""
OTHER_MEANING = {
    "--retry-errors": "a flag of `proctor resume`",
    "--limit": "the server's list of runs has a parameter `limit`",
}


@pytest.mark.parametrize("flag", [flag for option in OPTIONS.values() for flag in option.flags])
def test_flag_is_written_once(flag: str) -> None:
    written = _places(rf"\"{re.escape(flag)}\"")
    assert DECLARATIONS in written
    paths = {path.removeprefix("src/proctor/") for path in written} - MENTIONS
    if flag not in OTHER_MEANING:
        assert [path for path in paths if path.startswith(tuple(OFFER_RUNS))] == []


def test_settings_and_plugin_and_page_take_only_declared_options() -> None:
    own = {"file", "root", "agent", "sets", "store", "artefacts", "env"}
    assert setting_kinds().keys() - OPTIONS.keys() <= own
    assert {field.name for field in fields(Settings)} == {*own, "options"}
    assert {option.key for option in OF_PYTEST} - OPTIONS.keys() == {"agent"}
    own_of_page = {"agent", "eval_sets", "failed_of", "options_of", "criteria"}
    assert StartRun.model_fields.keys() - OPTIONS.keys() == own_of_page


def test_every_option_has_a_help_text_and_a_valid_default() -> None:
    assert [option.name for option in OPTIONS.values() if not option.help.endswith(".")] == []
    assert RunOptions().problems() == []
