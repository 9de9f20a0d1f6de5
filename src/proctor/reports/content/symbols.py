"""What narrow columns show: the signs of outcomes and differences, in two alphabets, and the short names of metrics and runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from proctor.schema.results.run_result import Outcome


class DiffKind(Enum):
    """How the two sides of one line relate."""

    SAME = "same"
    DIFFERS = "differs"
    MISSING = "missing"
    """Expected, and not there."""
    EXTRA = "extra"
    """There, and not expected."""
    MOVED = "moved"
    ALLOWED = "allowed"
    """Other than expected, and accepted by the metric: an extra call where only the expected ones count."""


@dataclass(frozen=True, slots=True)
class Marks:
    """One alphabet of signs."""

    outcomes: dict[Outcome, str]
    trials: dict[Outcome, str]
    steps: dict[DiffKind, str]
    arrow: str
    cut: str
    dot: str
    times: str
    at_least: str
    between: str
    plus_minus: str
    bar: str
    border: str
    """Between two runs if something that the manifest records changed."""
    shift: str
    """Between two runs if their manifests are the same, and something else changed."""
    interval: tuple[str, str, str, str]
    """The low end of an interval, its line, its value, and its high end."""
    newest: str
    """Behind the newest run of a strip."""
    rest: str = ""

    def outcome(self, outcome: Outcome) -> str:
        """Return the sign of an outcome."""
        return self.outcomes.get(outcome, self.rest)

    def trial(self, outcome: Outcome) -> str:
        """Return the sign of a trial in the strip of trials."""
        return self.trials.get(outcome, self.rest)

    def strip(self, outcomes: list[Outcome]) -> str:
        """Return one sign per trial, or counts where they are many: `●12 ○3`."""
        if len(outcomes) <= MOST_TRIALS:
            return "".join(map(self.trial, outcomes))
        counted = [(outcome, outcomes.count(outcome)) for outcome in Outcome]
        return " ".join(f"{self.trial(outcome)}{n}" for outcome, n in counted if n)


MOST_TRIALS = 10
"""Trials of a case that are drawn one by one."""

UNICODE = Marks(
    outcomes={Outcome.PASSED: "✓", Outcome.FAILED: "✕", Outcome.ERROR: "!", Outcome.INCONCLUSIVE: "?"},
    trials={Outcome.PASSED: "●", Outcome.FAILED: "○", Outcome.ERROR: "!", Outcome.INCONCLUSIVE: "?"},
    steps={
        DiffKind.SAME: "=",
        DiffKind.DIFFERS: "≠",
        DiffKind.MISSING: "−",
        DiffKind.EXTRA: "+",
        DiffKind.MOVED: "⇄",
        DiffKind.ALLOWED: "·",
    },
    arrow="→",
    cut="…",
    dot="·",
    times="×",
    at_least="≥",
    between="–",
    plus_minus="±",
    bar="━",
    border="│",
    shift="┊",
    interval=("├", "─", "●", "┤"),
    newest="← newest",
    rest="–",
)
ASCII = Marks(
    outcomes={Outcome.PASSED: "v", Outcome.FAILED: "x", Outcome.ERROR: "!", Outcome.INCONCLUSIVE: "?"},
    trials={Outcome.PASSED: "*", Outcome.FAILED: "o", Outcome.ERROR: "!", Outcome.INCONCLUSIVE: "?"},
    steps={
        DiffKind.SAME: "=",
        DiffKind.DIFFERS: "#",
        DiffKind.MISSING: "-",
        DiffKind.EXTRA: "+",
        DiffKind.MOVED: "~",
        DiffKind.ALLOWED: ".",
    },
    arrow="->",
    cut="...",
    dot="|",
    times="x",
    at_least=">=",
    between="-",
    plus_minus="+/-",
    bar="-",
    border="|",
    shift=":",
    interval=("[", "-", "*", "]"),
    newest="<- newest",
    rest="-",
)


def marks_for(encoding: str | None, *, symbols: bool | None = None) -> Marks:
    """Return the alphabet that a stream of this encoding can write; `symbols` decides it by hand."""
    if symbols is None:
        symbols = _can_write("✓✕●○≠−⇄→←…·×≥–±━│┊├─┤", encoding)
    return UNICODE if symbols else ASCII


def _can_write(text: str, encoding: str | None) -> bool:
    try:
        text.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def interval_bar(low: float, value: float, high: float, width: int, marks: Marks) -> str:
    """Draw a share with its confidence interval, all from 0 to 1, on a line of `width` columns: `   ├──●─┤  `."""
    start, line, mark, end = marks.interval
    left, at, right = (round(each * (width - 1)) for each in (low, value, high))
    signs = [" "] * left + [line] * (right - left + 1) + [" "] * (width - 1 - right)
    signs[left], signs[right] = start, end
    signs[at] = mark
    return "".join(signs)


# --- Numbers over time as a line of signs -----------------------------------------------------------------------------


_SIGNS = "▁▂▃▄▅▆▇█"
_DIGITS = "0123456789"


def sparkline(values: Sequence[float | None], *, rich: bool, low: float = 0.0, high: float = 1.0) -> str:
    """Return a sign for each value, oldest first: blocks (`rich`), else digits from 0 to 9; a gap where there is none.

    `low` to `high` is the range at least; it is widened to hold every value.
    """
    known = [value for value in values if value is not None]
    low, high = min([low, *known]), max([high, *known])
    signs, gap = (_SIGNS, "·") if rich else (_DIGITS, ".")
    span = (high - low) or 1.0
    return "".join(
        gap if value is None else signs[min(int((value - low) / span * len(signs)), len(signs) - 1)]
        for value in values
    )


# --- Short names of metrics and runs --------------------------------------------------------------------------------------------


_SUFFIXES = ("_avg_score", "_score", "_v1", "_v2", "_v3")


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Return metric names without their suffixes, unless two names would be equal."""
    short = {name: _without_suffix(name) for name in names}
    counts = Counter(short.values())
    return {name: name if counts[text] > 1 else text for name, text in short.items()}


def _without_suffix(name: str) -> str:
    return next((name.removesuffix(end) for end in _SUFFIXES if name.endswith(end) and name != end), name)


SHORTEST = 6
"""The shortest prefix of an id that is shown, so that it stays unambiguous for a while."""


def short_ids(run_ids: Sequence[str]) -> dict[str, str]:
    """Return the shortest unambiguous prefix of every id, with at least six characters."""
    ordered = sorted(run_ids)
    shared = [_common_prefix_length(one, other) for one, other in pairwise(ordered)]
    return {
        one: one[: max(SHORTEST, before + 1, after + 1)]
        for one, before, after in zip(ordered, [0, *shared], [*shared, 0], strict=False)
    }


def _common_prefix_length(one: str, other: str) -> int:
    """Return the length of the common prefix of two ids."""
    both = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in both if a != b), min(len(one), len(other)))
