"""The verdict of the benchmarks' table on a budget."""

from pathlib import Path

import pytest

from benchmarks.installed import sizes
from benchmarks.measuring import Found, alternate
from benchmarks.table import BARE, OURS, Budget, Row, markdown

FIGURES = {OURS: 30.0, BARE: 4.0, "adk": 3000.0}


@pytest.mark.parametrize(
    ("budget", "formula", "holds"),
    [
        pytest.param(Budget(8, BARE), "≤ 8 × bare limit", True, id="within a multiple"),
        pytest.param(Budget(7, BARE, "50 µs"), "≤ 7 × bare limit (50 µs)", False, id="outside a multiple"),
        pytest.param(Budget(1 / 100, "adk"), "≤ adk / 100", True, id="a part of a peer"),
        pytest.param(Budget(1 / 101, "adk"), "≤ adk / 101", False, id="too large a part of a peer"),
        pytest.param(Budget(1 / 5, "inspect"), "≤ inspect / 5", None, id="a peer that is not there"),
        pytest.param(Budget(30, size="30 MB"), "≤ 30 MB", True, id="a number by itself"),
        pytest.param(Budget(7.5, BARE, at_least=True), "≥ 7.5 × bare limit", True, id="at least"),
        pytest.param(Budget(7.6, BARE, at_least=True), "≥ 7.6 × bare limit", False, id="not enough"),
    ],
)
def test_a_budget_is_a_number_or_a_multiple_of_what_another_took(
    budget: Budget, formula: str, holds: bool | None
) -> None:
    assert str(budget) == formula
    assert budget.holds(FIGURES) is holds


@pytest.mark.parametrize(
    ("budgets", "verdict"),
    [
        ([], ""),
        ([Budget(8, BARE)], "within"),
        ([Budget(8, BARE), Budget(7, BARE)], "OUTSIDE"),
        ([Budget(8, BARE), Budget(1 / 5, "inspect")], "within"),
        ([Budget(1 / 5, "inspect")], "not measured"),
    ],
)
def test_row_is_within_when_every_known_budget_holds(budgets: list[Budget], verdict: str) -> None:
    assert Row("W2", "per invocation", "µs", FIGURES, budgets).verdict == verdict


def test_nothing_measured_is_never_within() -> None:
    assert Row("W1", "installed size", "MB", {}, [Budget(30)]).verdict == "not measured"


def test_the_table_shows_peers_the_ratio_and_the_wall_clock() -> None:
    row = Row("W2", "per invocation", "µs", FIGURES, [Budget(8, BARE)], {OURS: 41.0})
    assert markdown([row]).splitlines()[-1] == (
        "| W2 | per invocation | 30 µs (wall 41) | 4 µs | adk 3,000 µs | 7.5 × | ≤ 8 × bare limit | within |"
    )


def test_contestants_alternate_and_the_first_round_does_not_count() -> None:
    order: list[str] = []

    def contestant(name: str, times: list[float]) -> Found:
        order.append(name)
        return {"wall": times[order.count(name) - 1]}

    found = alternate(
        {"a": lambda: contestant("a", [9, 1, 3, 2]), "b": lambda: contestant("b", [9, 5, 5, 4])}, 3
    )
    assert order == ["a", "b"] * 4
    assert found == {"a": {"wall": 2}, "b": {"wall": 5}}


def test_installed_size_is_counted_without_byte_code_and_tools(tmp_path: Path) -> None:
    for name, size in {
        "proctor/a.py": 2_000_000,
        "proctor/__pycache__/a.cpython-311.pyc": 3_000_000,
        "pip/b.py": 5_000_000,
        "pip-24.0.dist-info/RECORD": 7_000_000,
        "pydantic/core.so": 4_000_000,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    assert sizes(tmp_path) == (6.0, 3.0)
