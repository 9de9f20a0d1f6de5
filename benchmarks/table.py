"""The table: what was measured, its budget, and whether it is within."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

BARE = "bare limit"
OURS = "proctor"


@dataclass(frozen=True, slots=True)
class Budget:
    """A bound on our figure: a number by itself, or a multiple of what another contestant took in the same run."""

    bound: float
    of: str = ""
    """The contestant whose figure is multiplied; empty: the bound is absolute."""
    size: str = ""
    """The bound as performance.md gives it, where that is a figure of another machine."""
    at_least: bool = False

    def holds(self, figures: dict[str, float]) -> bool | None:
        """Whether it holds; `None` when what it needs was not measured."""
        if OURS not in figures or (self.of and self.of not in figures):
            return None
        limit = self.bound * figures.get(self.of, 1.0)
        return figures[OURS] >= limit if self.at_least else figures[OURS] <= limit

    def __str__(self) -> str:
        """As a formula."""
        sign = "≥" if self.at_least else "≤"
        if not self.of:
            return f"{sign} {self.size or _number(self.bound)}"
        size = f" ({self.size})" if self.size else ""
        times = (
            f"{self.of} / {_number(1 / self.bound)}"
            if self.bound < 0.6
            else f"{_number(self.bound)} × {self.of}"
        )
        return f"{sign} {times}{size}"


@dataclass(slots=True)
class Row:
    """One line of the table. Figures are those that the budgets are about; `wall` is shown in addition to processor time."""

    workload: str
    what: str
    unit: str
    figures: dict[str, float]
    budgets: list[Budget] = field(default_factory=list)
    wall: dict[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def verdict(self) -> str:
        """`within`, `OUTSIDE`, or the reason why neither is known."""
        held = [holds for budget in self.budgets if (holds := budget.holds(self.figures)) is not None]
        if not self.budgets:
            return ""
        if not held:
            return "not measured"
        return "within" if all(held) else "OUTSIDE"

    def as_json(self) -> dict[str, Any]:
        """Everything, for `--json`."""
        ratios = {
            name: self.figures[OURS] / value
            for name, value in self.figures.items()
            if OURS in self.figures and name != OURS and value
        }
        budgets = [{"budget": str(budget), "holds": budget.holds(self.figures)} for budget in self.budgets]
        return {**asdict(self), "ratios": ratios, "budgets": budgets, "verdict": self.verdict}


HEADING = "| | workload | Proctor | bare limit | peers | Proctor / bare | budget | |"


def markdown(rows: list[Row]) -> str:
    """The table as performance.md lays it out."""
    return "\n".join([HEADING, "|---|---|---|---|---|---|---|---|", *map(_line, rows)])


def _line(row: Row) -> str:
    peers = " · ".join(f"{name} {_figure(row, name)}" for name in row.figures if name not in {OURS, BARE})
    ratio = ""
    if row.figures.get(BARE) and OURS in row.figures:
        ratio = f"{_number(row.figures[OURS] / row.figures[BARE])} ×"
    what = f"{row.what} ({row.note})" if row.note else row.what
    cells = [
        row.workload,
        what,
        _figure(row, OURS),
        _figure(row, BARE),
        peers or "–",
        ratio or "–",
        "; ".join(map(str, row.budgets)) or "–",
        row.verdict,
    ]
    return f"| {' | '.join(cells)} |"


def _figure(row: Row, name: str) -> str:
    if name not in row.figures:
        return "–"
    text = f"{_number(row.figures[name])} {row.unit}".strip()
    return f"{text} (wall {_number(row.wall[name])})" if name in row.wall else text


def _number(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


Column = Literal["wall", "cpu", "peak"]
"""What of a measurement a row is about."""
