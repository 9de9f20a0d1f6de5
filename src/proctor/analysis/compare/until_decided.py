"""The baseline of a run that stops when its comparison is decided, and whether the two are comparable."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.errors import SetupError, SetupProblems
from proctor.runs.arguments import EvaluateOptions
from proctor.stores.baselines import base_name

if TYPE_CHECKING:
    from proctor.analysis.compare.compare_cases import CompareOptions
    from proctor.analysis.compare.interim_looks import InterimLooks
    from proctor.analysis.compare.sides import Side, SideCase
    from proctor.engine.planning.plan import Plan
    from proctor.schema.analysis.comparison import Comparison, Trials
    from proctor.schema.results.manifest import Manifest, ScoringManifest
    from proctor.schema.results.run_result import RunResult, SetSummary
    from proctor.stores.base import Store


def looks_of(
    options: EvaluateOptions, plan: Plan, unreadable: Sequence[SetSummary], store: Store | None
) -> InterimLooks:
    """Return the interim looks of a run that is compared with another one (option `against`) while its trials are made.

    Raises:
        SetupProblems: the other run is not there or has nothing in common, or too few trials are allowed.
        StoreError: the store does not exist to find it in, or it cannot be read.
    """
    from proctor.analysis.compare.compare_runs import check_deterministic
    from proctor.analysis.compare.interim_looks import InterimLooks

    counts = {chosen.num_runs for chosen in plan.sets}
    if len(counts) > 1 or min(counts) < 2:
        raise SetupProblems([SetupError(_too_few(counts))])
    base, (manifest, scoring) = _base(str(options.get("against")), store, options.get("store"))
    if manifest.imported_from:  # its cases have no content hashes: they are paired by their ids alone
        base = replace(base, cases=[case._replace(content_hash="") for case in base.cases])
    _check_common(base, plan)
    _check_alike(base, scoring, plan)
    if options.get("deterministic"):
        check_deterministic(base)
    candidate = _planned_manifest(options, plan, unreadable)
    return InterimLooks(base, _compare_options(options, plan, manifest, candidate), counts.pop())


def _planned_manifest(options: EvaluateOptions, plan: Plan, unreadable: Sequence[SetSummary]) -> Manifest:
    """Return the manifest of the planned run without what identifies it: its sets and the options that leave out cases."""
    from proctor.runs.setup.manifest import set_manifests
    from proctor.schema.results.manifest import AgentManifest, Manifest

    sets = set_manifests(plan, unreadable)
    return Manifest(
        run_id="", created_at=0, agent=AgentManifest(), sets=sets, options={**options}, command=sys.argv
    )


def _compare_options(
    options: EvaluateOptions, plan: Plan, base: Manifest, candidate: Manifest
) -> CompareOptions:
    from proctor.analysis.compare.absent_cases import absent_cases
    from proctor.analysis.compare.compare_cases import MARGIN, CompareOptions

    margin = options.get("margin")
    return CompareOptions(
        margin=margin or MARGIN,
        require_proof=margin is not None,
        deterministic=bool(options.get("deterministic")),
        ranges=_score_ranges(plan),
        base_absent=absent_cases(base, candidate),
        candidate_absent=absent_cases(candidate, base),
    )


def _too_few(counts: set[int]) -> str:
    if len(counts) > 1:
        numbers = ", ".join(map(str, sorted(counts)))
        return f"against: the sets have different numbers of trials ({numbers}): num_runs (--num-runs N) sets one number for all"
    return "against: num_runs (--num-runs N) must be at least 2: it is how many trials a case gets at most until it is decided"


def _check_alike(base: Side, scoring: ScoringManifest, plan: Plan) -> None:
    """Where pass and fail are not judged alike, no number of trials decides anything."""
    from proctor.runs.run_differences import config_differences, incomparable_metrics
    from proctor.runs.setup.manifest import judged_set
    from proctor.schema.analysis.comparison import PASSED

    sets = [judged_set(chosen) for chosen in plan.sets]
    if PASSED in incomparable_metrics(scoring.sets, sets):
        differs = "; ".join(one.text for one in config_differences(scoring.sets, sets))
        raise SetupProblems(
            [
                SetupError(
                    f"against run {base.run.run_id}: it was not scored as this one would be, so that nothing can be decided "
                    f"({differs}). `proctor score {base.run.run_id} --config FILE` scores it by the same criteria"
                )
            ]
        )


def _base(name: str, store: Store | None, url: Any) -> tuple[Side, tuple[Manifest, ScoringManifest]]:
    from proctor.analysis.compare.baselines import load_baseline, side_of_baseline
    from proctor.analysis.compare.sides import side_of_run
    from proctor.stores.baselines import baseline_names, is_file

    if is_file(name):
        return side_of_baseline(load_baseline(name))
    with nullcontext(store) if store is not None else closing(_runs(url)) as opened:
        if name in {one for names in baseline_names(opened).values() for one in names}:
            return side_of_baseline(load_baseline(name, opened))
        side, conditions = side_of_run(opened, opened.find(name))
        return replace(side, cases=[*side.cases]), conditions


def compared_as_begun(
    run: RunResult, against: str, store: Store | None, margin: float | None = None
) -> Comparison:
    """Compare a run with its baseline `against`, with which it was compared while it was made.

    Raises:
        ProctorError: the baseline is not there any more, or cannot be read.
    """
    from proctor.analysis.compare.compare_runs import compare_sync

    base, candidate = base_name(against, run.against, store), run.run_id or run
    if base == run.against:
        return compare_sync(base, candidate, store=store, margin=margin)
    return compare_sync(candidate=candidate, store=store, margin=margin, baseline=base)


def _runs(url: Any) -> Store:
    from proctor.runs.storage.open import open_runs

    return open_runs(url if isinstance(url, str | Path) else None, read_only=True)


def _check_common(base: Side, plan: Plan) -> None:
    """Refuse a baseline without a common case that was judged in all trials."""
    if why := _undecidable_reason(_common_cases(base, plan)):
        raise SetupProblems([SetupError(f"against run {base.run.run_id}: {why}")])


def _common_cases(base: Side, plan: Plan) -> list[tuple[Trials, bool]]:
    """Return the trials of the cases of the baseline that are planned, and whether each case has the same content."""
    there: defaultdict[tuple[str, str], list[SideCase]] = defaultdict(list)
    for case in base.cases:
        there[case.eval_set_id, case.eval_id].append(case)
    return [
        (case.result.trials, not (case.content_hash and hashed and case.content_hash != hashed))
        for name, hashed in _planned_cases(plan)
        for case in there.get(name, ())
    ]


def _undecidable_reason(cases: Sequence[tuple[Trials, bool]]) -> str:
    if not cases:
        return "it has no case in common with what is to be run"
    common = [trials for trials, is_same in cases if is_same]
    if not common:
        return "every case that it has in common with what is to be run is another one by now, so that nothing can be decided"
    if all(trials.rate is None for trials in common):
        return "no case of it could be scored in all trials, so that nothing can be decided"
    return ""


def _planned_cases(plan: Plan) -> Iterator[tuple[tuple[str, str], str]]:
    """The cases that are to be run, by eval set and id, each with the hash of its content."""
    for chosen in plan.sets:
        ids = chosen.source.ids()
        for place, index in enumerate(chosen.cases):
            yield (chosen.summary.eval_set_id, ids[index]), chosen.content_hash(place)


def _score_ranges(plan: Plan) -> dict[str, tuple[float, float]]:
    metrics = [metric for chosen in plan.sets for metric in chosen.metrics]
    return {one.name: one.facts.score_range for one in metrics if one.facts.score_range}
