"""The generated pages of the reference are current and complete."""

import re
from pathlib import Path
from types import ModuleType

import pytest

import proctor
import proctor.conformance
import proctor.testing
import proctor.types
from proctor.cli.main import COMMANDS
from tests.docs.examples.pages import ROOT
from tests.docs.reference import python_api
from tests.docs.reference.all_pages import DOCS, GENERATED, all_pages

REWRITE = "`make reference` (python -m tests.docs.reference) rewrites the generated pages of docs/reference"


@pytest.fixture(scope="module")
def pages() -> dict[Path, str]:
    return all_pages()


@pytest.mark.slow
def test_generated_pages_are_current(pages: dict[Path, str]) -> None:
    stale = [
        path.relative_to(ROOT).as_posix()
        for path, text in pages.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    assert stale == [], REWRITE


def test_generated_folders_have_no_other_page(pages: dict[Path, str]) -> None:
    kept = {path for folder in GENERATED for path in folder.iterdir()}
    assert kept - set(pages) == set(), REWRITE


@pytest.mark.parametrize(
    "module", [proctor, proctor.testing, proctor.types, proctor.conformance], ids=lambda one: one.__name__
)
def test_every_public_name_is_in_the_python_reference(module: ModuleType) -> None:
    names = set(module.__all__) - {"__version__", "types"}
    missing = names - set(python_api.entries())
    assert missing == set(), "add these names to tests/docs/reference/python_names.py"


def test_every_name_of_the_python_reference_exists() -> None:
    for entry in python_api.entries().values():
        assert entry.value is not None


def test_every_command_has_a_section() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference/commands").glob("*.md"))
    assert set(re.findall(r"^## proctor ([\w-]+)$", text, re.MULTILINE)) == set(COMMANDS)
