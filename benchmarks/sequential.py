"""What adding trials until it is decided saves, and how often it is wrong.

python -m benchmarks.sequential [CASES]     10,000 by default; a fifth as many runs, a tenth of those that are large or
                                            differ; the same figures every time

Two uses: cases whose share of passes is compared with a rate, and runs that are compared with another run. Both are drawn,
and decided by the very code that decides runs; each row also has the result of the same test with all trials.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from proctor.analysis.compare.compare_cases import CompareOptions, compare_cases
from proctor.analysis.compare.interim_looks import DECIDED, InterimLooks
from proctor.analysis.compare.sides import Side, side_cases
from proctor.schema.analysis.comparison import Change, ComparedRun
from proctor.schema.results.run_result import CaseResult, Outcome, TrialResult
from proctor.stats.intervals import wilson
from proctor.stats.sequential import ShareBounds, share_bounds

RATE, MOST, CONFIDENCE = 0.8, 100, 0.95
SHARES = (0.5, 0.65, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Of trials that pass in truth, where 0.8 are asked for."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The results of cases whose share of passes was compared with the rate; shares from 0 to 1."""

    right: float
    """Decided, and rightly."""
    wrong: float
    right_beforehand: float
    """The same where all trials are made and the interval decides."""
    wrong_beforehand: float
    saved: float
    """Trials that were not made, of all that there could be."""


def gate(share: float, cases: int, seed: int = 1) -> Gate:
    """Draw so many cases of which `share` of the trials passes."""
    random, bounds = Random(f"{share} {seed}"), share_bounds(RATE, MOST, CONFIDENCE)
    truth = 1 if share >= RATE else -1
    found, beforehand, made = Counter[int](), Counter[int](), 0
    for _ in range(cases):
        passes = [random.random() < share for _ in range(MOST)]
        trials = _made(bounds, passes)
        found[bounds.decided(passes[:trials])[0] * truth] += 1
        made += trials
        low, high = wilson(sum(passes), MOST, confidence=CONFIDENCE)
        beforehand[truth * (1 if low >= RATE else -1 if high < RATE else 0)] += 1
    return Gate(
        found[1] / cases,
        found[-1] / cases,
        beforehand[1] / cases,
        beforehand[-1] / cases,
        1 - made / (cases * MOST),
    )


def _made(bounds: ShareBounds, passes: Sequence[bool]) -> int:
    """How many of these trials are made, added as a run adds them: as few at a time as could decide."""
    made = bounds.more(0, 0)
    while not bounds.decided(passes[:made])[0] and (more := bounds.more(sum(passes[:made]), made)):
        made += more
    return made


# --- against another run -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Model:
    """How the cases of two builds come about: flaky ones of mixed difficulty."""

    name: str
    cases: int
    trials: int
    """Of a case of the base, and at most of the candidate."""
    drop: float
    """By how much the candidate's pass rate is lower in truth: so many of the cases that pass break wholly."""
    margin: float = 0.05


MODELS = (
    Model("60 cases x 5, the same", 60, 5, 0.0),
    Model("100 cases x 5, the same", 100, 5, 0.0),
    Model("60 cases x 10, the same", 60, 10, 0.0),
    Model("60 cases x 10, the same, margin 10", 60, 10, 0.0, 0.1),
    Model("200 cases x 10, the same", 200, 10, 0.0),
    Model("60 cases x 5, 10 points worse", 60, 5, 0.1),
    Model("60 cases x 10, 15 points worse", 60, 10, 0.15),
    Model("200 cases x 10, 10 points worse", 200, 10, 0.1),
    Model("200 cases x 10, worse by just the margin", 200, 10, 0.05),
)
_MEAN = 1.5 / 2.2
"""Pass rate of the cases that are drawn."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The results of runs that were compared with another one; shares from 0 to 1."""

    outcomes: dict[Change, float]
    beforehand: dict[Change, float]
    """The same with all trials, analysed once."""
    saved: float


def against(model: Model, runs: int, seed: int = 1) -> Compared:
    """Draw so many pairs of runs."""
    random = Random(f"{model.name} {seed}")
    found, beforehand, made = Counter[Change](), Counter[Change](), 0
    for _ in range(runs):
        rates = [random.betavariate(1.5, 0.7) for _ in range(model.cases)]
        base = [_drawn(random, rate, model.trials) for rate in rates]
        now = [0.0 if random.random() < model.drop / _MEAN else rate for rate in rates]
        candidate = [_drawn(random, rate, model.trials) for rate in now]
        options = CompareOptions(margin=model.margin)
        looks = InterimLooks(_side(base), options, model.trials)
        outcome, trials = _looked(looks, candidate)
        found[outcome] += 1
        made += trials
        beforehand[compare_cases(_side(base), _side(candidate), options).outcome] += 1
    return Compared(
        {one: count / runs for one, count in found.items()},
        {one: count / runs for one, count in beforehand.items()},
        1 - made / (runs * model.trials),
    )


def _drawn(random: Random, rate: float, trials: int) -> list[bool]:
    return [random.random() < rate for _ in range(trials)]


def _looked(looks: InterimLooks, candidate: Sequence[Sequence[bool]]) -> tuple[Change, int]:
    """Return the outcome of the candidate, and the number of trials of each case."""
    made = looks.next_round(0)
    while True:
        found = looks.comparison_at(_cases([case[:made] for case in candidate]), made)
        following = looks.next_round(made)
        if found.outcome in DECIDED or found.futile or not following:
            return found.outcome, made
        made = following


_ENDS = {
    True: TrialResult(0, Outcome.PASSED, evidence=None),
    False: TrialResult(0, Outcome.FAILED, evidence=None),
}


def _cases(trials: Sequence[Sequence[bool]]) -> list[tuple[str, CaseResult]]:
    return [
        ("", CaseResult("set", str(number), Outcome.PASSED, trials=[_ENDS[one] for one in case]))
        for number, case in enumerate(trials)
    ]


def _side(trials: Sequence[Sequence[bool]]) -> Side:
    run = ComparedRun("", "drawn", len(trials), len(trials[0]))
    return Side(replace(run), [*side_cases(_cases(trials))])


def main(runs: int) -> None:
    """Print the tables."""
    print(
        f"{runs:,} each\n\n{RATE:g} of the trials asked for at {CONFIDENCE:.0%}, up to {MOST} trials a case"
    )
    print(
        f"{'pass in truth':>14} {'right':>8} {'wrong':>8}   {'of all trials: right':>20} {'wrong':>8} {'saved':>8}"
    )
    for share in SHARES:
        one = gate(share, runs)
        print(
            f"{share:14.0%} {one.right:8.1%} {one.wrong:8.1%}   {one.right_beforehand:20.1%} "
            f"{one.wrong_beforehand:8.1%} {one.saved:8.0%}",
            flush=True,
        )
    print(
        f"\n{'against another run':42} {'regression':>11} {'no regr.':>9}   {'of all trials:':>14} {'no regr.':>9} {'saved':>7}"
    )
    for model in MODELS:
        two = against(model, max(100, runs // (5 if model.cases < 100 and not model.drop else 10)))
        shares = [found.get(change, 0.0) for found in (two.outcomes, two.beforehand) for change in _DECIDED]
        print(
            f"{model.name:42} {shares[0]:11.1%} {shares[1]:9.1%}   {shares[2]:14.1%} {shares[3]:9.1%} {two.saved:7.0%}",
            flush=True,
        )


_DECIDED = (Change.REGRESSION, Change.NO_REGRESSION)

if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
