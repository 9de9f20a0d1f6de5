"""Comparing two runs: did the candidate get worse?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from proctor.analysis.compare.absent_cases import absent_cases, unread_text
from proctor.analysis.compare.sides import KnownSide, side_of_result, side_of_run
from proctor.common.registry import METRICS
from proctor.errors import ProctorError, SetupError, SetupProblems
from proctor.runs.arguments import refuse_unknown_options
from proctor.runs.attempts import ended
from proctor.runs.storage.open import StoreLike, is_open, open_runs, store_option
from proctor.schema.analysis.comparison import Change, Comparison
from proctor.schema.format.criterion import EFFICIENCY_METRICS
from proctor.schema.results.run_result import RunResult

if TYPE_CHECKING:
    from proctor.analysis.compare.compare_cases import CompareOptions
    from proctor.analysis.compare.sides import Side
    from proctor.metrics.base import MetricFacts
    from proctor.schema.results.manifest import JudgedSet, Manifest


class ComparingOptions(TypedDict, total=False):
    """The keyword arguments of `compare`."""

    store: StoreLike
    margin: float | None
    confidence: float
    require_proof: bool
    generalize: bool
    deterministic: bool | None
    keep_changed_cases: bool
    keep_changed_metrics: bool
    strict: bool
    baseline: str | Path | None


async def compare(
    base: str | RunResult = "previous",
    candidate: str | RunResult = "latest",
    **options: Unpack[ComparingOptions],
) -> Comparison:
    """Compare two runs case by case; `compare_sync` documents the arguments."""
    return ended(await asyncio.to_thread(_compare_runs, base, candidate, _request(options)))


def compare_sync(
    base: str | RunResult = "previous",
    candidate: str | RunResult = "latest",
    **options: Unpack[ComparingOptions],
) -> Comparison:
    """Compare two runs case by case: did the candidate get worse?

    Each is a result, or the name of a run in `store`: its id, the beginning of one, `latest`, `latest~1` (the one before;
    `previous` for short).

    * `margin`: the drop of the pass rate that "no regression" rules out (0.05: 5 points, or the margin that the candidate
      was run with until it was decided against this baseline). A given margin is a requirement, as with `require_proof`.
    * `confidence`: one minus the probability of a false regression (0.95).
    * `require_proof`: "no difference seen" is *inconclusive* as long as a drop larger than the margin is not ruled out.
    * `generalize`: a significant drop in general, for cases like these, is a regression, too.
    * `deterministic`: the agent always does the same, so that a case that passed and now fails is a regression. Default:
      whether the candidate was made with `deterministic`.
    * `keep_changed_cases`: pair cases whose content has changed, which are left out otherwise.
    * `keep_changed_metrics`: metrics that were scored differently (another option, judge, prompt …) decide, and so do pass and
      fail, which rest on them.
    * `strict`: refuse runs that differ in more than the agent.
    * `baseline`: replaces `base`: the name of a baseline in `store`, or a file (`baselines/main.json`).

    Raises:
        SetupError: a number is out of range, the runs have no case in common, both sides are one run with the same scores,
            the last attempt to run failed and a run is named by `latest`, `strict` found a difference, or the trials of a
            deterministic agent differ.
        UnknownNameError: the run is unknown.
        StoreError: the store does not exist, or it cannot be read.
        EvalFileError: the baseline's file cannot be read.
    """
    return ended(_compare_runs(base, candidate, _request(options)))


def _compare_runs(base: str | RunResult, candidate: str | RunResult, request: _Request) -> Comparison:
    for name, value, least in (("margin", request.margin, 0.0), ("confidence", request.confidence, 0.5)):
        if value is not None and not least < value < 1:
            raise SetupError(f"{name} must be above {least:g} and below 1, got {value}")
    store = request.store
    if request.baseline is not None:
        return _compare(_sided_baseline(request.baseline, store), _side(candidate, store), request)
    if isinstance(base, RunResult) and isinstance(candidate, RunResult):
        if base is candidate:
            raise SetupError("both sides are the same result: a run does not differ from itself")
        return _compare(side_of_result(base), side_of_result(candidate), request)
    if not is_open(store):
        with closing(open_runs(store, read_only=True)) as opened:
            return _compare(side_of_run(opened, base), side_of_run(opened, candidate), request)
    return _compare(side_of_run(store, base), side_of_run(store, candidate), request)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    store: StoreLike = None
    margin: float | None = None
    confidence: float = 0.95
    require_proof: bool = False
    generalize: bool = False
    deterministic: bool | None = None
    keep_changed_cases: bool = False
    keep_changed_metrics: bool = False
    strict: bool = False
    baseline: str | Path | None = None


def _request(options: ComparingOptions) -> _Request:
    if not options.keys() <= ComparingOptions.__annotations__.keys():
        refuse_unknown_options(options, ComparingOptions.__annotations__)
    return _Request(**options)


# --- the two sides ---------------------------------------------------------------------------------------------------


def _sided_baseline(name: str | Path, store: StoreLike) -> KnownSide:
    from proctor.analysis.compare.baselines import load_baseline, side_of_baseline

    return side_of_baseline(load_baseline(str(name), store))


def _side(run: str | RunResult, store: StoreLike) -> KnownSide:
    if isinstance(run, RunResult):
        return side_of_result(run)
    if not is_open(store):
        with closing(open_runs(store, read_only=True)) as opened:
            side, conditions = side_of_run(opened, run)
            return replace(side, cases=[*side.cases]), conditions
    return side_of_run(store, run)


def _compare(base: KnownSide, candidate: KnownSide, request: _Request) -> Comparison:
    from proctor.analysis.compare.compare_cases import compare_cases
    from proctor.analysis.compare.interim_looks import apply_last_look
    from proctor.runs.run_differences import (
        case_differences,
        find_differences,
        knows_cases,
        stopping_differences,
        unread_differences,
    )
    from proctor.runs.setup.judge_and_user import AN_OBJECT

    options = _compare_options(base, candidate, request)
    _refuse_same_scores(base, candidate)
    before, now = (one[0] for one in (base, candidate))
    if not knows_cases(base[1][0], candidate[1][0]):
        now = replace(now, cases=[case._replace(content_hash="") for case in now.cases])
    if now.run.against and now.run.against == before.run.run_id:
        now, options = apply_last_look(before, now, options)
    if options.deterministic:
        before, now = check_deterministic(before), check_deterministic(now)
    comparison = compare_cases(before, now, options)
    comparison.next_steps = _next_steps(comparison, base, candidate, options, request)
    comparison.unlike = [
        *unread_differences(before.run.unread_sets, now.run.unread_sets),
        *case_differences(
            comparison.changed_cases,
            comparison.only_base,
            comparison.only_candidate,
            keep_changed=request.keep_changed_cases,
        ),
        *find_differences(base[1], candidate[1], objects=AN_OBJECT),
        *stopping_differences(comparison),
    ]
    _check_comparison(comparison, strict=request.strict)
    return comparison


def _next_steps(
    comparison: Comparison, base: KnownSide, candidate: KnownSide, options: CompareOptions, request: _Request
) -> list[str]:
    """Return what would decide a comparison, and how to score both runs alike; nothing if it is decided and they were."""
    is_decided = comparison.outcome not in (Change.INCONCLUSIVE, Change.ERROR)
    if is_decided and not any(one.apart for one in comparison.measures):
        return []
    from proctor.analysis.compare.next_steps import as_scored, next_steps, rescore_step

    store, is_baseline = store_option(request.store), request.baseline is not None
    rescore = rescore_step(comparison, base[1][1], candidate[1][1], is_baseline=is_baseline, store=store)
    conditions = as_scored(base[1], candidate[1])
    shared = [side.run.run_id for side, _ in (base, candidate) if side.is_shared]
    steps = next_steps(
        comparison, *conditions, options.budget.cases, is_baseline=is_baseline, shared=shared, store=store
    )
    return [rescore, *steps] if rescore else [*steps]


def _compare_options(base: KnownSide, candidate: KnownSide, request: _Request) -> CompareOptions:
    from proctor.analysis.compare.compare_cases import MARGIN, CompareOptions

    manifests = base[1][0], candidate[1][0]
    return CompareOptions(
        margin=request.margin or _margin(base, candidate) or MARGIN,
        confidence=request.confidence,
        require_proof=request.require_proof or request.margin is not None or _requires_proof(*manifests),
        generalize=request.generalize,
        deterministic=_is_deterministic(request, manifests[1]),
        keep_changed=request.keep_changed_cases,
        ranges=score_ranges([*base[1][1].sets, *candidate[1][1].sets]),
        apart=frozenset() if request.keep_changed_metrics else _incomparable(base, candidate),
        base_absent=absent_cases(*manifests),
        candidate_absent=absent_cases(*reversed(manifests)),
    )


def _is_deterministic(request: _Request, candidate: Manifest) -> bool:
    """Return whether the agent is declared to do always the same: by the request, or else when the candidate was made."""
    declared = request.deterministic
    return bool(candidate.options.get("deterministic")) if declared is None else declared


def _incomparable(base: KnownSide, candidate: KnownSide) -> frozenset[str]:
    from proctor.runs.run_differences import incomparable_metrics

    return incomparable_metrics(base[1][1].sets, candidate[1][1].sets)


def _requires_proof(base: Manifest, candidate: Manifest) -> bool:
    """Return whether the candidate was run until a drop larger than a given margin was ruled out against this baseline."""
    return candidate.against == base.run_id and candidate.options.get("margin") is not None


def check_deterministic(side: Side) -> Side:
    """Refuse a side whose trials contradict the declaration that the agent always does the same."""
    cases = [*side.cases]
    for case in cases:
        trials = case.result.trials
        if trials.passed and trials.failed:
            name = f"{case.eval_set_id}/{case.eval_id}"
            raise SetupError(
                f"deterministic: {trials.passed} of {trials.total} trials of {name} passed in run "
                f"{side.run.run_id or side.run.agent}, so the agent does not always do the same. Compare with --no-deterministic "
                "(in Python deterministic=False), and remove the declaration"
            )
    return replace(side, cases=cases)


def _check_comparison(comparison: Comparison, *, strict: bool) -> None:
    """Refuse runs without a common case, and with `strict` runs that differ in more than the agent."""
    if not comparison.pairs:
        raise SetupError(_nothing_in_common(comparison))
    if strict and comparison.warnings:
        raise SetupProblems(
            [SetupError(f"not compared, as --strict asks: {text}") for text in comparison.warnings]
        )


def _refuse_same_scores(base: KnownSide, candidate: KnownSide) -> None:
    """Refuse a run and itself with the same scores; a re-scored run may be compared with how it was scored before."""
    from proctor.runs.run_differences import RESCORED

    run_id, (before, now) = base[0].run.run_id, (one[1][1] for one in (base, candidate))
    if not run_id or run_id != candidate[0].run.run_id:
        return
    is_same_pass = not (before.created_at and now.created_at) or before.created_at == now.created_at
    if before.number == now.number and before.number != RESCORED and is_same_pass:
        raise SetupError(
            f"both sides are run {run_id} with the same scores: a run does not differ from itself. Name another run, or "
            f"re-score it first (`proctor score {run_id}`) to compare its scores with a baseline of it"
        )


def _margin(base: KnownSide, candidate: KnownSide) -> float | None:
    """The margin that the candidate was made with until it was decided against this baseline; `None`: it was not."""
    manifest = candidate[1][0]
    margin = manifest.options.get("margin") if manifest.against == base[0].run.run_id else None
    return margin if isinstance(margin, float) and 0 < margin < 1 else None


def _nothing_in_common(comparison: Comparison) -> str:
    if comparison.changed_cases:
        return (
            "every case that both runs have is another one by now: "
            "--changed-cases keep (in Python keep_changed_cases=True) compares them anyway"
        )
    unread = unread_text(comparison.unknown_sets)
    return (
        f"the runs have no case in common (by eval set and case id): the baseline has {comparison.base.cases}, "
        f"the candidate {comparison.candidate.cases} others{f'; {unread} in either run' if unread else ''}. "
        "`proctor runs` shows the sets of each run"
    )


def score_ranges(sets: Iterable[JudgedSet]) -> dict[str, tuple[float, float]]:
    """Return the lowest and the highest score of each metric of which both are known, over all `sets`.

    Results in memory and runs of older versions do not record them: then they are known of built-in metrics only.
    """
    ranges: dict[str, tuple[float, float]] = {}
    for judged in sets:
        by_name = {one.name: one.score_range for one in judged.metrics}
        for name, known in (by_name or dict.fromkeys(judged.config.get("criteria") or ())).items():
            if (known := known or _registered_range(name)) is not None:
                low, high = ranges.get(name, known)
                ranges[name] = min(low, known[0]), max(high, known[1])
    return ranges


def _registered_range(name: str) -> tuple[float, float] | None:
    if name in EFFICIENCY_METRICS:  # a count or a duration has no highest value
        return None
    try:
        facts: MetricFacts = METRICS.get(name).facts
    except (ProctorError, AttributeError):  # a custom metric, or a plain function of a plug-in
        return None
    return facts.score_range
