"""Limits on the shape of the code, at the values that were reached. A limit may be lowered, never raised.

`python -m tests.architecture.test_ratchets` prints the present figures.
"""

import ast
from collections.abc import Callable
from math import floor

import pytest

from tests.architecture.figures import (
    complexity,
    cyclic_modules,
    dialect_rate,
    fragments,
    functions,
    participle_variables,
    shared_names,
    shared_stems,
    vague_modules,
    widths,
)
from tests.architecture.source import SRC, imports, modules

WIDER = {"compat/adk/evaluation": "mirrors google-adk's own modules", ".": "the root holds the packages"}
"""Folders of the package that may have more entries than the others, and why."""
TESTS = SRC.parent / "tests"


def _widest() -> int:
    return max(count for folder, count in widths(SRC / "proctor").items() if folder not in WIDER)


def _widest_tests() -> int:
    return max(count for folder, count in widths(TESTS).items() if folder != ".")


def _complex_share() -> float:
    found = [complexity(function) for _, function in functions()]
    return 100 * sum(each > 10 for each in found) / len(found)


def _longest_body() -> int:
    """Return the lines of the longest function body, without its docstring."""
    return max(_body_lines(function) for _, function in functions())


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    has_docstring = ast.get_docstring(function, clean=False) is not None
    if has_docstring and len(function.body) == 1:
        return 0
    return (function.end_lineno or 0) - function.body[has_docstring].lineno + 1


def _package_dialect() -> float:
    return dialect_rate((module.path, module.tree) for module in modules().values())


def _tests_dialect() -> float:
    paths = [path for path in TESTS.rglob("*.py") if path.name != "figures.py"]  # it lists the words
    return dialect_rate((path, ast.parse(path.read_text(encoding="utf-8"))) for path in paths)


LIMITS: dict[str, tuple[Callable[[], float], float]] = {
    "entries in the root of the package": (lambda: widths(SRC / "proctor")["."], 25),
    "entries in the widest other folder of the package": (_widest, 20),
    "entries in the root of the tests, which mirrors the packages": (lambda: widths(TESTS)["."], 26),
    "entries in the widest other folder of the tests": (_widest_tests, 18),
    "modules with a vague name": (lambda: len(vague_modules()), 0),
    "file names that several modules have": (lambda: len(shared_stems()), 49),
    "public names that several modules define": (lambda: len(shared_names()), 100),
    "modules under 100 lines with one importer": (lambda: len(fragments()), 21),
    "modules in an import cycle of any kind": (lambda: len(cyclic_modules(imports())), 0),
    "functions of a complexity over 10, in percent": (_complex_share, 1.3),
    "lines of the longest function body": (_longest_body, 44),
    "variables that are a bare participle": (lambda: len(participle_variables()), 12),
    "words of the dialect in 1,000 words": (_package_dialect, 0.7),
    "words of the dialect in 1,000 words of the tests": (_tests_dialect, 1.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("figure", LIMITS)
def test_figure_stays_within_its_limit(figure: str) -> None:
    measure, limit = LIMITS[figure]
    assert measure() <= limit


if __name__ == "__main__":
    for name, (measured, most) in LIMITS.items():
        print(f"{name:52} {floor(100 * measured()) / 100:8} (at most {most})")
