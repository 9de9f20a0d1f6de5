"""The sources of the web page (`ui/src`) follow the layout of the package: narrow folders, telling names, imports that point down."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.figures import DIALECT, VAGUE
from tests.architecture.source import SRC

UI = SRC.parent / "ui" / "src"
MAX_ENTRIES = 20
VAGUE_STEMS = VAGUE | {"asked", "misc", "own", "parts", "utils", "wanted"}
LAYERS = ("styles", "data", "components", "screens", "app")
"""Each folder may import from those before it. `app` starts the page; its helpers (`APP_HELPERS`) are open to all."""
APP_HELPERS = {"actions", "address", "keyboard"}
MOST_DIALECT = 0.5
"""Words of the dialect in 1,000 words of the sources and their tests, identifiers split into words."""
IMPORT = re.compile(r'(?:from|import|mock\() ?"(\.[^"]+)"')


def _sources() -> Iterator[Path]:
    return (
        path for path in sorted(UI.rglob("*")) if path.suffix in {".ts", ".tsx"} and ".test." not in path.name
    )


def _imports(path: Path) -> Iterator[str]:
    for target in IMPORT.findall(path.read_text(encoding="utf-8")):
        yield (path.parent / target).resolve().relative_to(UI).as_posix()


@pytest.mark.skipif(not UI.is_dir(), reason="an installed package has no sources of the page")
class TestPageSources:
    def test_folders_are_narrow_and_hold_more_than_one_file(self) -> None:
        folders = [UI, *(path for path in UI.rglob("*") if path.is_dir())]
        widths = {folder.relative_to(UI).as_posix(): len(list(folder.iterdir())) for folder in folders}
        assert {folder: width for folder, width in widths.items() if width > MAX_ENTRIES} == {}
        assert [folder for folder, width in widths.items() if width < 2] == []

    def test_names_describe_the_content_of_a_file(self) -> None:
        vague = [
            path.relative_to(UI).as_posix()
            for path in UI.rglob("*.*")
            if path.name.split(".")[0] in VAGUE_STEMS
        ]
        assert vague == []

    def test_texts_and_names_are_plain_english(self) -> None:
        texts = [_words(path) for path in UI.rglob("*.ts*") if path.name != "api.gen.ts"]
        words = sum(len(re.findall(r"\w+", text)) for text in texts)
        assert 1000 * sum(len(DIALECT.findall(text)) for text in texts) / words <= MOST_DIALECT

    def test_imports_point_down(self) -> None:
        upwards = [
            f"{path.relative_to(UI).as_posix()} imports {target}"
            for path in _sources()
            for target in _imports(path)
            if _layer(target) > _layer(path.relative_to(UI).as_posix())
        ]
        assert upwards == []

    def test_no_import_cycle(self) -> None:
        graph = {
            _module(path.relative_to(UI).as_posix()): set(map(_module, _imports(path))) for path in _sources()
        }
        assert [name for name in graph if name in _reachable(graph, name)] == []


def _words(path: Path) -> str:
    """Return the text of a file with a space between the words of an identifier."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", path.read_text(encoding="utf-8"))


def _layer(path: str) -> int:
    folder, _, rest = path.partition("/")
    if folder == "app" and _module(rest) in APP_HELPERS:
        return 0
    return LAYERS.index(folder) if folder in LAYERS else len(LAYERS)


def _module(path: str) -> str:
    return re.sub(r"\.tsx?$", "", path)


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += graph.get(name, ())
    return reached
