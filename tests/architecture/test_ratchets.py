"""Limits on the shape of the code, at the values that were reached. A limit may be lowered, never raised.

`python -m tests.architecture.test_ratchets` prints the present figures.
"""

from collections.abc import Callable
from math import floor

import pytest

from tests.architecture.figures import (
    complexity,
    cyclic_modules,
    dialect_rate,
    fragments,
    functions,
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


LIMITS: dict[str, tuple[Callable[[], float], float]] = {
    "entries in the root of the package": (lambda: widths(SRC / "proctor")["."], 27),
    "entries in the widest other folder of the package": (_widest, 22),
    "entries in the root of the tests, which mirrors the packages": (lambda: widths(TESTS)["."], 28),
    "entries in the widest other folder of the tests": (_widest_tests, 20),
    "modules with a vague name": (lambda: len(vague_modules()), 1),
    "file names that several modules have": (lambda: len(shared_stems()), 81),
    "modules under 100 lines with one importer": (lambda: len(fragments()), 55),
    "modules in an import cycle of any kind": (lambda: len(cyclic_modules(imports(modules()))), 31),
    "functions of a complexity over 10, in percent": (_complex_share, 4.01),
    "words of the dialect in 1,000 words": (dialect_rate, 13.6),
}


@pytest.mark.parametrize("figure", LIMITS)
def test_figure_stays_within_its_limit(figure: str) -> None:
    measure, limit = LIMITS[figure]
    assert measure() <= limit


if __name__ == "__main__":
    for name, (measured, most) in LIMITS.items():
        print(f"{name:52} {floor(100 * measured()) / 100:8} (at most {most})")
