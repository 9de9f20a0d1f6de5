"""Baselines: runs that others are compared with by name, and files of them that go with the code."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.errors import EvalFileError, SetupError
from proctor.reports.content.case_words import WORDS
from proctor.runs.storage.open import StoreLike, is_open, open_runs, store_url
from proctor.schema.results.score import Outcome
from proctor.stores.baselines import (
    SUFFIX,
    baseline_files,
    baseline_folder,
    find_baseline,
    is_file,
    read_named_baseline,
)
from proctor.stores.open import store_file

if TYPE_CHECKING:
    from proctor.analysis.compare.sides import Side, SideCase
    from proctor.schema.analysis.comparison import Baseline, NamedBaseline
    from proctor.schema.results.manifest import Manifest, ScoringManifest
    from proctor.stores.base import Store

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TAKEN = frozenset({"latest", "previous"})


def set_baseline(name: str, run: str = "latest", store: StoreLike = None) -> NamedBaseline:
    """Make `run` the baseline called `name`, in place of the one that was; what a comparison needs of it is kept from now on.

    `run` is an id, the beginning of one, `latest` or `latest~1`, in `store` (default: the project's). A run that did not
    pass is taken with a `UserWarning`, and so is one with an eval set that could not be run.

    Raises:
        SetupError: the name cannot be one, the run has not come to its end, or no case of it could be judged.
        UnknownNameError: the run is unknown.
        StoreError: the store does not exist, or it is none in a file.
    """
    from proctor.files.results.baselines import write_baseline

    _check_name(name)
    with _open_store(store) as opened:
        baseline = _baseline_of(opened, run)
        write_baseline(baseline, baseline_folder(opened) / f"{name}{SUFFIX}")
    for warning in _warnings(baseline):
        warnings.warn(f"baseline {name}: {warning}", stacklevel=2)
    return _named_baseline(name, baseline)


def _warnings(baseline: Baseline) -> Iterator[str]:
    """Yield a warning about each set that the run could not run, and one if a case did not pass."""
    from proctor.analysis.compare.absent_cases import unread_causes

    for name, cause in unread_causes(baseline.manifest).items():
        yield f"{name} could not be run in run {baseline.run_id}: its verdicts are missing in every comparison ({cause})"
    outcomes = [row[3] for row in baseline.cases if row[3] not in (Outcome.PASSED, Outcome.SKIPPED)]
    if outcomes:
        counts = ", ".join(f"{count} {WORDS[outcome]}" for outcome, count in Counter(outcomes).items())
        yield f"run {baseline.run_id} did not pass ({counts} of {len(baseline.cases)} cases): a run that is not better shows no regression"


def list_baselines(store: StoreLike = None) -> list[NamedBaseline]:
    """Return the baselines of a store, by name.

    Raises:
        StoreError: the store does not exist, or it is none in a file.
        EvalFileError: one cannot be read.
    """
    from proctor.files.results.baselines import read_baseline

    with _open_store(store) as opened:
        return [_named_baseline(path.stem, read_baseline(path)) for path in baseline_files(opened)]


def load_baseline(name: str, store: StoreLike = None) -> Baseline:
    """Return the baseline called `name`; a name that ends in `.json`, or has a slash, is that of a file.

    Raises:
        UnknownNameError: there is none.
        EvalFileError: it cannot be read.
    """
    if is_file(name):
        return read_named_baseline(str(name), None)
    with _open_store(store) as opened:
        return read_named_baseline(str(name), opened)


def remove_baseline(name: str, store: StoreLike = None) -> None:
    """Forget the baseline called `name`, also one that cannot be read; its run stays, and may be pruned from now on.

    Raises:
        UnknownNameError: there is none.
    """
    with _open_store(store) as opened:
        find_baseline(opened, name).unlink(missing_ok=True)


def export_baseline(
    name: str,
    path: str | Path,
    store: StoreLike = None,
    *,
    overwrite: bool = False,
    make_parents: bool = False,
) -> Path:
    """Write the baseline called `name` as a file that goes with the code: `compare(baseline=path)` needs no store.

    An existing file that is not a baseline needs `overwrite`, a missing parent folder `make_parents`.

    Raises:
        UnknownNameError: there is none.
        SetupError: the file is one that Proctor reads or keeps, or it exists and may not be overwritten.
        EvalFileError: it cannot be written.
    """
    from proctor.files.results.baselines import text_of_baseline
    from proctor.runs.output_guard import BASELINE, OutputGuard
    from proctor.runs.storage.open import default_store

    target = Path(path)
    if target.is_dir():
        raise SetupError(f"{target} is a folder: name a file in it, such as {target / f'{name}{SUFFIX}'}")
    baseline = load_baseline(name, store)
    url = store if not is_open(store) else store.url
    stores = [default_store(), *filter(None, [store_file(store_url(url))])]
    guard = OutputGuard(overwrite, make_parents, stores=stores)
    try:
        with guard.open(target, BASELINE) as file:
            file.write(text_of_baseline(baseline))
    except OSError as error:
        raise EvalFileError(f"{target}: the baseline cannot be written: {error}") from None
    return target


# --- where they are ----------------------------------------------------------------------------------------------------


@contextmanager
def _open_store(store: StoreLike) -> Iterator[Store]:
    if not is_open(store):
        with closing(open_runs(store, read_only=True)) as opened:
            yield opened
        return
    yield store


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in _TAKEN or name.endswith(SUFFIX):
        raise SetupError(
            f"a baseline cannot be called {name!r}: give letters, digits, - _ and . (64 at most, not latest or previous, and "
            "not *.json, which is a file)"
        )


def _named_baseline(name: str, baseline: Baseline) -> NamedBaseline:
    from proctor.schema.analysis.comparison import NamedBaseline

    return NamedBaseline(
        name=name,
        run_id=baseline.run_id,
        agent=baseline.agent,
        started_at=baseline.started_at,
        cases=len(baseline.cases),
        num_runs=baseline.num_runs,
    )


# --- what they are -----------------------------------------------------------------------------------------------------


def _baseline_of(store: Store, name: str) -> Baseline:
    from proctor.analysis.compare.sides import side_of_run
    from proctor.runs.attempts import find_current_run
    from proctor.schema.analysis.comparison import VERSION, Baseline
    from proctor.schema.results.manifest import RunState

    run_id = find_current_run(store, name)
    state = next((run.state for run in store.runs() if run.run_id == run_id), None)
    if state is not RunState.FINISHED:
        status = "is running" if state is RunState.RUNNING else "is unfinished"
        raise SetupError(f"run {run_id} {status}: only a finished run can be a baseline")
    side, (manifest, scoring) = side_of_run(store, run_id)
    cases = sorted(side.cases, key=lambda one: (one.eval_set_id, one.eval_id))
    if not any(case.result.trials.passed + case.result.trials.failed for case in cases):
        raise SetupError(
            f"run {run_id} cannot be a baseline: no case of it has a verdict. See `proctor show {run_id}`"
        )
    judged = (metric.name for one in scoring.sets for metric in one.metrics)
    metrics = list(dict.fromkeys([*judged, *(name for case in cases for name in case.result.scores)]))
    run = side.run
    return Baseline(
        proctor_baseline=VERSION, run_id=run_id, agent=run.agent, started_at=run.started_at, num_runs=run.num_runs,
        most=run.most, against=run.against, cost=run.cost, known_cost=run.known_cost, manifest=_brief(manifest), judging=_nameless(scoring), metrics=metrics,
        cases=[_row(case, metrics) for case in cases],
    )  # fmt: skip


def _brief(manifest: Manifest) -> Manifest:
    """Return the parts of the manifest that a comparison needs, without the command, the folder and the description of the agent."""
    from proctor.schema.results.manifest import AGAINST_RUN, USER_CODE, AgentManifest, Manifest

    agent = manifest.agent
    options = {
        name: manifest.options[name]
        for name in ("user", USER_CODE, AGAINST_RUN, "until_decided")
        if name in manifest.options
    }
    if manifest.imported_from:
        options["imported"] = {"file": Path(manifest.imported_from).name}
    return Manifest(
        run_id=manifest.run_id,
        created_at=manifest.created_at,
        agent=AgentManifest(
            label=agent.label, version=agent.version, source_hash=agent.source_hash, modules=agent.modules
        ),
        sets=[one.model_copy(update={"path": None}) for one in manifest.sets],
        num_runs=manifest.num_runs,
        options=options,
        versions=manifest.versions,
    )


def _nameless(scoring: ScoringManifest) -> ScoringManifest:
    """How it was judged, but for the names of files, which are those of one machine."""
    sets = [one.model_copy(update={"config_source": ""}) for one in scoring.sets]
    return scoring.model_copy(update={"sets": sets})


def _row(case: SideCase, metrics: list[str]) -> tuple[object, ...]:
    result, trials = case.result, case.result.trials
    means = [result.scores.get(name) for name in metrics]
    counts = trials.passed, trials.failed, trials.other
    return case.eval_set_id, case.eval_id, case.content_hash, result.outcome, *counts, means


def side_of_baseline(baseline: Baseline) -> tuple[Side, tuple[Manifest, ScoringManifest]]:
    """Return a baseline as one side of a comparison."""
    from proctor.analysis.compare.absent_cases import unread_causes
    from proctor.analysis.compare.sides import Side
    from proctor.schema.analysis.comparison import ComparedRun

    run = ComparedRun(
        baseline.run_id, baseline.agent, len(baseline.cases), baseline.num_runs, baseline.started_at, baseline.cost, baseline.known_cost,
        against=baseline.against, most=baseline.most, unread_sets=unread_causes(baseline.manifest),
    )  # fmt: skip
    return Side(run, [*_cases(baseline)]), (baseline.manifest, baseline.judging)


def _cases(baseline: Baseline) -> Iterator[SideCase]:
    from proctor.analysis.compare.sides import CaseMetric, SideCase, brief

    gates = {
        (one.eval_set_id, metric.name): metric.gate for one in baseline.judging.sets for metric in one.metrics
    }
    for set_id, eval_id, content_hash, outcome, passed, failed, others, means in baseline.cases:
        metrics = (
            CaseMetric(name, outcome, mean, gate=gates.get((set_id, name), False))
            for name, mean in zip(baseline.metrics, means, strict=True)
            if mean is not None
        )
        ends = [Outcome.PASSED] * passed + [Outcome.FAILED] * failed + [Outcome.ERROR] * others
        yield SideCase(set_id, eval_id, content_hash, brief(outcome, ends, metrics))
