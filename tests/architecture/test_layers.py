"""Imports point down, never in a cycle, and never make an optional package necessary."""

from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.architecture.layers import breaks_dependencies, breaks_layers
from tests.architecture.source import PACKAGE, Import, imports


def _import(importer: str, target: str, *, at_import: bool = True) -> Import:
    return Import(importer, target, 1, at_import)


def _cycle(found: list[Import]) -> list[str]:
    graph: dict[str, set[str]] = {}
    for one in found:
        if one.at_import and one.top == PACKAGE and one.target != one.importer:
            graph.setdefault(one.importer, set()).add(one.target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.slow
def test_imports_point_down() -> None:
    assert [str(one) for one in imports() if breaks_layers(one)] == []


def test_each_layer_has_only_its_dependencies() -> None:
    assert [str(one) for one in imports() if breaks_dependencies(one)] == []


def test_no_import_cycle() -> None:
    assert _cycle(imports()) == []


# --- the rules themselves see what they should ------------------------------------------------------------------------

ALLOWED = [
    ("proctor.common.registry", "proctor.errors"),
    ("proctor.common.secrets", "proctor.errors"),
    ("proctor.schema.format.case", "proctor.errors"),
    ("proctor.schema.format.case", "proctor.schema.format.wire_model"),
    ("proctor.files.eval_sets.load", "proctor.schema.format.case"),
    ("proctor.metrics.judged.safety", "proctor.judges.base"),
    ("proctor.judges.votes", "proctor.models.base"),
    ("proctor.stores.adk_history", "proctor.files.eval_sets.save"),
    ("proctor.engine.planning.plan", "proctor.metrics.base"),
    ("proctor.runs.evaluate", "proctor.engine.execution.run"),
    ("proctor.runs.evaluate", "proctor.files.eval_sets.load"),
    ("proctor.analysis.history.history", "proctor.runs.storage.queries"),
    ("proctor.authoring.bless", "proctor.runs.storage.queries"),
    ("proctor.web.pages.runs.load_run", "proctor.runs.storage.queries"),
    ("proctor.web.server.app", "proctor.web.pages.base"),
    ("proctor.cli.eval.command", "proctor.runs.evaluate"),
    ("proctor.__main__", "proctor.cli.main"),
    ("proctor", "proctor.runs.evaluate"),
]

FORBIDDEN = [
    ("proctor.common.registry", "proctor.schema.format.case"),
    ("proctor.common.secrets", "proctor.schema.format.case"),
    ("proctor.stats.intervals", "proctor.schema.results.score"),
    ("proctor.schema.format.case", "proctor.files.eval_sets.load"),
    ("proctor.schema.format.case", "proctor.engine.execution.run"),
    ("proctor.files.eval_sets.load", "proctor.agents.base"),
    ("proctor.reports.terminal.run", "proctor.metrics.base"),
    ("proctor.metrics.judged.safety", "proctor.models.base"),
    ("proctor.metrics.judged.safety", "proctor.engine.scoring.verdict"),
    ("proctor.engine.planning.plan", "proctor.metrics.trajectory.tool_trajectory"),
    ("proctor.engine.planning.plan", "proctor.files"),
    ("proctor.engine.planning.plan", "proctor.runs.evaluate"),
    ("proctor.runs.evaluate", "proctor.analysis.compare.compare_runs"),
    ("proctor.runs.evaluate", "proctor.authoring.record"),
    ("proctor.runs.evaluate", "proctor"),
    ("proctor.analysis.compare.compare_runs", "proctor.authoring.bless"),
    ("proctor.analysis.compare.compare_runs", "proctor.web.pages.base"),
    ("proctor.web.pages.runs.load_run", "proctor.web.server.app"),
    ("proctor.cli.eval.command", "proctor.web.server.app"),
    ("proctor.engine.execution.run", "proctor"),
]


@pytest.mark.parametrize(("importer", "target"), ALLOWED)
def test_allowed(importer: str, target: str) -> None:
    assert not breaks_layers(_import(importer, target))


@pytest.mark.parametrize(("importer", "target"), FORBIDDEN)
def test_forbidden(importer: str, target: str) -> None:
    assert breaks_layers(_import(importer, target))


@pytest.mark.parametrize(
    ("importer", "target", "at_import", "broken"),
    [
        ("proctor.errors", "json", True, False),
        ("proctor.errors", "pydantic", False, True),
        ("proctor.schema.format.wire_model", "pydantic", True, False),
        ("proctor.schema.format.wire_model", "yaml", False, True),
        ("proctor.cli.main", "click", True, False),
        ("proctor.agents.adk", "google.adk.runners", False, False),
        ("proctor.agents.adk", "google.adk.runners", True, True),
        ("proctor", "pydantic", True, True),
    ],
)
def test_dependencies(importer: str, target: str, at_import: bool, broken: bool) -> None:
    assert breaks_dependencies(_import(importer, target, at_import=at_import)) is broken


SAMPLE = {
    "proctor/__init__.py": "",
    "proctor/a.py": "from . import b\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import rich\n",
    "proctor/b.py": "def f():\n    from proctor import a\nclass C:\n    import proctor.room.c\n",
    "proctor/room/__init__.py": "from .c import name\n",
    "proctor/room/c.py": "from ..a import anything\n",
}


@pytest.fixture
def sample(tmp_path: Path) -> list[Import]:
    for name, text in SAMPLE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return imports(tmp_path)


def test_imports_are_found_with_their_place(sample: list[Import]) -> None:
    assert [(one.importer, one.target, one.line, one.at_import) for one in sample] == [
        ("proctor.a", "proctor.b", 1, True),
        ("proctor.a", "typing", 2, True),
        ("proctor.a", "rich", 4, False),
        ("proctor.b", "proctor.a", 2, False),
        ("proctor.b", "proctor.room.c", 4, True),
        ("proctor.room", "proctor.room.c", 1, True),
        ("proctor.room.c", "proctor.a", 1, True),
    ]


def test_a_cycle_is_found_and_named(sample: list[Import]) -> None:
    assert set(_cycle(sample)) == {"proctor.a", "proctor.b", "proctor.room.c"}
