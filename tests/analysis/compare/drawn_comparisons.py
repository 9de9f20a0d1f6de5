"""Comparisons drawn at random: any design, scores, missing verdicts and options, with the verdicts that were hidden."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from proctor.analysis.compare.absent_cases import AbsentCases
from proctor.analysis.compare.compare_cases import CompareOptions, compare_cases
from proctor.analysis.compare.sides import Side, side_cases
from proctor.schema.analysis.comparison import PASSED, ComparedRun, Comparison, Look
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult
from proctor.schema.results.score import MetricScore

Scores = dict[str, float]
"""The score of each metric in one trial."""
THRESHOLD = 0.5
RANGES = {"share": (0.0, 1.0), "steps": (0.0, 1.0)}
"""`any` has no known range; of `token_usage_v1` less is better."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """One comparison with missing verdicts, and the same one if each of these had its value."""

    number: int
    found: Comparison
    complete: Comparison
    options: CompareOptions
    trials_of_candidate: int


@dataclass(frozen=True, slots=True)
class _Design:
    trials: tuple[int, int]
    rates: Sequence[tuple[float, float]]
    """Of each case how many trials pass in either run."""
    metrics: Sequence[str]
    shift: float
    """How much the candidate's scores are lower."""
    every_trial: bool
    """Whether a case passes only if every trial does."""
    unequal: bool
    missing: tuple[float, float]
    where_wrong: bool


def draw(number: int) -> Drawn:
    """Draw the comparison with this number, which is always the same."""
    random = Random(number)
    design = _draw_design(random)
    options = _draw_options(random)
    complete: list[list[tuple[str, CaseResult]]] = []
    hidden: list[list[tuple[str, CaseResult]]] = []
    is_complete = True
    for side in (0, 1):
        drawn = [_draw_trials(random, design, side, place) for place in range(len(design.rates))]
        gone = [_draw_missing(random, design, side, one) for one in drawn]
        complete.append(_cases(design, drawn, [{}] * len(drawn)))
        hidden.append(_cases(design, drawn, gone))
        is_complete &= not any(gone)
    for side, left_out in enumerate((options.base_absent.left_out, options.candidate_absent.left_out)):
        if left_out and not design.unequal:
            hidden[side] = [one for one in hidden[side] if random.random() > design.missing[side]] or hidden[
                side
            ]
    if any(case.trials_passed and case.trials_failed for side in complete for _, case in side):
        options = replace(options, deterministic=False)  # compare refuses such runs
    trials = sum(len(case.trials) for _, case in complete[1])
    found = _compare(design, hidden, options)
    is_complete &= [*map(len, hidden)] == [*map(len, complete)]
    whole = found if is_complete else _compare(design, complete, options)
    return Drawn(number, found, whole, options, trials)


def _compare(
    design: _Design, sides: Sequence[list[tuple[str, CaseResult]]], options: CompareOptions
) -> Comparison:
    base, candidate = (
        Side(ComparedRun("", "drawn", len(cases), trials), [*side_cases(cases)])
        for cases, trials in zip(sides, design.trials, strict=True)
    )
    return compare_cases(base, candidate, options)


# --- the design ------------------------------------------------------------------------------------------------------


def _draw_design(random: Random) -> _Design:
    count = random.choice((1, 2, 3, 7, random.randint(1, 20), random.randint(1, 60)))
    trials = random.choice((1, 1, 2, 3, 5, random.randint(1, 10)))
    now = trials if random.random() < 0.7 else random.randint(1, 10)
    shares = (0.0, 0.0, 0.02, 0.1, 0.4)
    return _Design(
        (trials, now),
        _draw_rates(random, count),
        random.sample([*RANGES, "any", "token_usage_v1"], random.choice((0, 0, 1, 2, 3))),
        random.choice((0.0, 0.0, 0.05, 0.3, -0.1)),
        random.random() < 0.6,
        random.random() < 0.2,
        (random.choice(shares) * (random.random() < 0.4), random.choice(shares)),
        random.random() < 0.4,
    )


def _draw_rates(random: Random, count: int) -> list[tuple[float, float]]:
    kind = random.choice(("steady", "mixed", "mixed", "flaky", "hard"))
    before = [_draw_rate(random, kind) for _ in range(count)]
    if random.random() < 0.3:
        now = before
    else:
        broken, lower = random.choice((0.0, 0.1, 0.5)), random.choice((0.0, 0.15, -0.15))
        now = [0.0 if random.random() < broken else min(1.0, max(0.0, rate - lower)) for rate in before]
    both = list(zip(before, now, strict=True))
    return [(after, rate) for rate, after in both] if random.random() < 0.25 else both


def _draw_rate(random: Random, kind: str) -> float:
    match kind:
        case "steady":
            return 1.0
        case "flaky":
            return 0.5
        case "hard":
            return random.choice((0.0, 0.0, 0.1))
    return random.choice((1.0, 1.0, random.betavariate(1.5, 0.7)))


def _draw_options(random: Random) -> CompareOptions:
    confidence = random.choice((0.95, 0.95, 0.95, 0.8, 0.99))
    return CompareOptions(
        margin=random.choice((0.05, 0.05, 0.01, 0.2)),
        confidence=confidence,
        require_proof=random.random() < 0.25,
        generalize=random.random() < 0.3,
        deterministic=random.random() < 0.05,
        ranges=RANGES,
        apart=frozenset(random.sample([PASSED, *RANGES], 1)) if random.random() < 0.1 else frozenset(),
        candidate_absent=AbsentCases(left_out=random.random() < 0.1),
        look=Look(1, 3, 0.02, 0.01) if random.random() < 0.1 else None,
        base_absent=AbsentCases(left_out=random.random() < 0.1),
    )


# --- the trials ------------------------------------------------------------------------------------------------------


def _draw_trials(random: Random, design: _Design, side: int, place: int) -> list[tuple[bool, Scores]]:
    """Draw the trials of a case; with metrics, a trial passes where the first of them meets its threshold."""
    trials = design.trials[side]
    if design.unequal:
        trials = max(1, trials - random.randint(0, 2))
    rate, found = design.rates[place][side], []
    for _ in range(trials):
        passes = random.random() < rate
        scores = {name: _draw_score(random, name, passes, design.shift * side) for name in design.metrics}
        found.append((all(map(_meets, scores, scores.values())) and (passes or bool(scores)), scores))
    return found


def _draw_score(random: Random, name: str, passes: bool, shift: float) -> float:
    if name == "token_usage_v1":
        return 100.0 + random.randrange(100) + 100 * shift
    if name == "steps":
        return 1.0 if passes else random.choice((0.0, 0.0, 0.25))
    value = random.gauss(0.8 if passes else 0.3, 0.1) - shift
    return min(1.0, max(0.0, value)) if name == "share" else value


def _meets(name: str, score: float) -> bool:
    return name == "token_usage_v1" or score >= THRESHOLD


def _draw_missing(
    random: Random, design: _Design, side: int, trials: Sequence[tuple[bool, Scores]]
) -> dict[int, str]:
    """Draw which trials have no verdict, and of which metric the score is missing (empty: of all of them)."""
    share = design.missing[side]
    return {
        place: random.choice(("", *scores))
        for place, (passes, scores) in enumerate(trials)
        if random.random() < share and not (design.where_wrong and passes)
    }


# --- the results, by the rules of verdicts ---------------------------------------------------------------------------


def _cases(
    design: _Design, drawn: Iterable[Sequence[tuple[bool, Scores]]], gone: Iterable[Mapping[int, str]]
) -> list[tuple[str, CaseResult]]:
    return [
        ("", _case(design, number, trials, missing))
        for number, (trials, missing) in enumerate(zip(drawn, gone, strict=True))
    ]


def _case(
    design: _Design, number: int, trials: Sequence[tuple[bool, Scores]], missing: Mapping[int, str]
) -> CaseResult:
    metrics = {
        name: _metric(
            name,
            [None if missing.get(place) in ("", name) else one[1][name] for place, one in enumerate(trials)],
        )
        for name in design.metrics
    }
    ends = [_end(one, missing.get(place)) for place, one in enumerate(trials)]
    by_trial = design.every_trial or not metrics
    outcomes = ends if by_trial else [one.outcome for one in metrics.values()]
    outcome = next(each for each in (Outcome.FAILED, Outcome.ERROR, Outcome.PASSED) if each in outcomes)
    results = [TrialResult(place, end, evidence=None) for place, end in enumerate(ends)]
    return CaseResult("set", str(number), outcome, metrics=metrics, trials=results)


def _end(trial: tuple[bool, Scores], missing: str | None) -> Outcome:
    passes, scores = trial
    if missing is None:
        return Outcome.PASSED if passes else Outcome.FAILED
    known = {} if not missing else {name: score for name, score in scores.items() if name != missing}
    return Outcome.ERROR if all(map(_meets, known, known.values())) else Outcome.FAILED


def _metric(name: str, scores: Sequence[float | None]) -> MetricVerdict:
    known = [score for score in scores if score is not None]
    if name == "token_usage_v1":
        outcome = Outcome.PASSED if len(known) == len(scores) else Outcome.ERROR
    else:
        outcome = _mean_outcome(name, known, len(scores))
    rows = [None if score is None else MetricScore(score) for score in scores]
    mean = sum(known) / len(known) if known else None
    return MetricVerdict(name, outcome, mean, THRESHOLD, per_trial=rows)


def _mean_outcome(name: str, known: Sequence[float], trials: int) -> Outcome:
    best = RANGES[name][1] if name in RANGES else None
    if len(known) < trials and (best is None or not known):
        return Outcome.ERROR
    highest = (sum(known) + (best or 0.0) * (trials - len(known))) / trials
    if highest < THRESHOLD:
        return Outcome.FAILED
    return Outcome.PASSED if len(known) == trials else Outcome.ERROR
