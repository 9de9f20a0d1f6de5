"""Calibrate an LLM judge: compare its verdicts in a run with the labels of people."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from proctor.analysis.calibration.judge_verdicts import JudgedItem, has_judge, items_of, messages_of_verdict
from proctor.analysis.calibration.label_order import is_held_out
from proctor.analysis.calibration.labellers import (
    SettledLabels,
    labeller_pairs,
    labels_of_metric,
    majority_label,
    settle_labels,
)
from proctor.analysis.calibration.labels import labels_for, labels_of_file
from proctor.common.safe_text import count_text
from proctor.errors import SetupError, did_you_mean
from proctor.runs.arguments import ConfigLike, refuse_unknown_options, sync_form
from proctor.runs.attempts import find_current_run
from proctor.runs.storage.open import StoreLike, as_store, name_of_run
from proctor.schema.analysis.calibration import (
    Agreement,
    Calibration,
    CalibrationReport,
    Disagreement,
    Key,
    LabelDispute,
    Labelled,
    Rescoring,
    badge_of,
)
from proctor.schema.results.score import JudgedBy
from proctor.stats.agreement import corrected_rate

if TYPE_CHECKING:
    from proctor.schema.results.run_result import RunResult
    from proctor.stores.base import Store

HELD_OUT = 0.5
"""The default share of the cases whose labels are held out for the figures."""


class CalibrateOptions(TypedDict, total=False):
    """The keyword arguments of `calibrate`."""

    metric: str | None
    unit: str | None
    held_out: float
    confidence: float
    config: ConfigLike
    judge: Any
    max_cost: float | None
    max_judge_calls: int | None
    store: StoreLike
    keep: bool


async def calibrate(
    run: str | RunResult = "latest", labels: str | Path | None = None, **options: Unpack[CalibrateOptions]
) -> CalibrationReport:
    """Calibrate a run's LLM judge: compare its verdicts with labels of people, and store the result.

    `run` is an id, the beginning of one, `latest`, `latest~1`, or a result that has a `run_id`. `labels` is a file (CSV,
    JSON, JSON lines, YAML; see `docs/how-to/calibration.md`); without one those count that were put into the store with
    `proctor judge label` or on the page. Of an item that several people labelled, the majority counts; a tie is left out.
    `metric` is needed where a model was asked for several, `unit` where the labels are of several kinds: `trial`, `turn` or
    `rubric`. `held_out` (above 0, up to 1) is the
    share of the cases whose labels the figures rest on; which ones these are follows from their ids. `config` and
    `judge` re-score the run first, as `rescore` does, within `max_cost` and `max_judge_calls`; without them the stored
    verdicts are used, and no model is called.
    `keep=False` leaves the store unchanged.

    Raises:
        SetupError: the judge cannot be calibrated: no labels, labels without a verdict, verdicts of two judges, a
            scoring that a limit ended …
        EvalFileError: what is wrong in the file, with its places.
        StoreError: the store does not exist, or it cannot be written.
    """
    refuse_unknown_options(options, CalibrateOptions.__annotations__)
    held_out, confidence = options.get("held_out", HELD_OUT), options.get("confidence", 0.95)
    if not 0 < held_out <= 1:
        raise SetupError(f"held_out must be above 0 and at most 1, got {held_out:g}")
    if not 0 < confidence < 1:
        raise SetupError(f"confidence must be between 0 and 1, got {confidence:g}")
    if (unit := options.get("unit")) not in (None, *_A):
        raise SetupError(f"unit must be trial, turn or rubric, got {unit!r}")
    store = options.get("store")
    run_store = as_store(store, read_only=False)
    with nullcontext() if run_store is store else closing(run_store):
        run_id = find_current_run(run_store, name_of_run(run))
        judged = await _rescore(run_id, run_store, options)
        calibrating = _Calibrating(run_store, run_id, options.get("metric"), held_out, confidence)
        report = calibrating.report(labels, unit, keep=options.get("keep", True))
    report.judged = judged
    return report


calibrate_sync = sync_form(calibrate)


async def _rescore(run_id: str, store: Store, options: CalibrateOptions) -> Rescoring | None:
    """Re-score the whole run first if a config or a judge is given; a part would mix the verdicts of two judges."""
    rescore_options: dict[str, Any] = {
        name: value for name in _SCORING if (value := options.get(name)) is not None
    }
    if not rescore_options.keys() & {"config", "judge"}:
        return None
    from proctor.runs.rescore import rescore

    judged = await rescore(run_id, store=store, **rescore_options)
    if judged.stopped_by or judged.interrupted:
        raise SetupError(
            f"run {run_id} was not scored to the end ({judged.stopped_by or 'interrupted'}), so that this judge is not "
            "calibrated. Its answers are kept: the same command with a larger limit continues from there"
        )
    return Rescoring(dict(judged.counts), judged.spent)


_SCORING = ("config", "judge", "max_cost", "max_judge_calls")


class _Calibrating:
    """One metric's verdicts in one run, and the labels for them."""

    def __init__(
        self, store: Store, run_id: str, metric: str | None, held_out: float, confidence: float
    ) -> None:
        self._store, self._run_id = store, run_id
        self._result = store.load(run_id)
        self._metric = metric_to_calibrate(self._result, metric)
        self._held_out, self._confidence = held_out, confidence

    def report(
        self, labels: str | Path | None, requested_unit: str | None, *, keep: bool
    ) -> CalibrationReport:
        run_labels = self._labels(labels, requested_unit)
        unit = _unit(run_labels)
        items = {item.key: item for item in judged_items(self._result, self._metric, unit)}
        unscored = self._labels_without_verdict(run_labels, items, unit)
        run_labels = [label for label in run_labels if label.key in items]
        settled = settle_labels(run_labels)
        labelled = settled.counted
        held_out = {label.key: is_held_out(label.key, self._held_out) for label in labelled}
        pairs = [(label, passes) for label in labelled if (passes := items[label.key].passes) is not None]
        chosen = [pair for pair in pairs if held_out[pair[0].key]]
        if not chosen:
            raise SetupError(
                f"not one of {count_text(len(labelled), 'label')} with a verdict is held out: give more labels, or --held-out 1{_tied(settled)}"
            )
        calibration = self._calibration(items, unit, self._agreement(chosen))
        report = self._build_calibration(calibration, items, labelled, pairs, held_out)
        report.void, report.unsaid = self._void_calibration(calibration), unscored
        report.labellers = labeller_pairs(run_labels, confidence=self._confidence)
        report.disputes = [label_dispute(self._result, labels) for labels in settled.disputed]
        if keep:
            self._store.calibrate(calibration)
        return report

    def _labels(self, labels: str | Path | None, unit: str | None) -> list[Labelled]:
        """Return the labels for this metric (and `unit`) in the file `labels`, else in the store."""
        run_labels = (
            labels_of_file(labels, self._result)
            if labels is not None
            else labels_for(self._store, self._result)
        )
        matches = [
            label for label in labels_of_metric(run_labels, self._metric) if unit in (None, label.unit)
        ]
        if not matches:
            raise SetupError(self._no_labels(labels, unit))
        return matches

    def _build_calibration(
        self,
        calibration: Calibration,
        items: dict[Key, JudgedItem],
        labelled: Sequence[Labelled],
        pairs: Sequence[tuple[Labelled, bool]],
        held_out: dict[Key, bool],
    ) -> CalibrationReport:
        verdicts = [item.passes for item in items.values() if item.passes is not None]
        rate = corrected_rate(
            sum(verdicts), len(verdicts), calibration.agreement.confusion, confidence=self._confidence
        )
        rest = [pair for pair in pairs if not held_out[pair[0].key]]
        return CalibrationReport(
            calibration=calibration,
            pass_rate=rate,
            rest=self._agreement(rest) if rest else None,
            verdicts=len(verdicts),
            without_verdict=len(items) - len(verdicts),
            unjudged=[label for label in labelled if items[label.key].passes is None],
            disagreements=[
                self._disagreement(label, items[label.key], held_out)
                for label, passes in pairs
                if label.passes is not passes
            ],
        )

    def _disagreement(self, label: Labelled, item: JudgedItem, held_out: dict[Key, bool]) -> Disagreement:
        user_message, answer = messages_of_verdict(self._result.case(label.key[1], label.key[0]), label.key)
        return Disagreement(label, bool(item.passes), item.reason, user_message, answer, held_out[label.key])

    def _agreement(self, pairs: Sequence[tuple[Labelled, bool]]) -> Agreement:
        return Agreement.of(((label.passes, passes) for label, passes in pairs), confidence=self._confidence)

    def _calibration(self, items: dict[Key, JudgedItem], unit: str, agreement: Agreement) -> Calibration:
        model, prompt = self._judge(items)
        return Calibration(
            metric=self._metric,
            model=model,
            prompt=prompt,
            threshold=self._threshold(items, unit),
            unit=unit,
            created_at=time.time(),
            run_id=self._run_id,
            confidence=self._confidence,
            held_out=self._held_out,
            agreement=agreement,
        )

    def _judge(self, items: dict[Key, JudgedItem]) -> tuple[str, str]:
        """Return the model and the prompt of the only judge."""
        by = {one for item in items.values() for one in item.by}
        if len(by) > 1:
            judges = " and ".join(f"{model} (prompt {prompt})" for model, prompt in sorted(by))
            raise SetupError(
                f"the verdicts of {self._metric} in run {self._run_id} are those of several judges: {judges}. "
                f"`proctor score {self._run_id} --judge MODEL` judges all of it by one"
            )
        return by.pop()

    def _threshold(self, items: dict[Key, JudgedItem], unit: str) -> float | None:
        """Return the only threshold; of rubrics, which do not use it, the lowest."""
        thresholds = {item.threshold for item in items.values()}
        known = sorted(one for one in thresholds if one is not None)
        if len(thresholds) > 1 and unit != "rubric":
            values = " and ".join(f"{one:g}" for one in known)
            raise SetupError(
                f"the sets of run {self._run_id} have several thresholds of {self._metric}: {values}"
            )
        return min(known, default=None)

    def _void_calibration(self, calibration: Calibration) -> list[str]:
        by = JudgedBy(calibration.metric, calibration.model, calibration.prompt)
        badge = badge_of(self._store.calibrations(), by, calibration.threshold)
        return [badge] if badge.startswith("calibration void") else []

    def _labels_without_verdict(
        self, labelled: Sequence[Labelled], items: dict[Key, JudgedItem], unit: str
    ) -> list[Labelled]:
        """Return the labels of what the metric had nothing to do with."""
        unscored = [label for label in labelled if label.key not in items]
        if len(unscored) == len(labelled):
            examples = "; ".join(f"{label.where}: {label.title}" for label in unscored[:5])
            more = f" (and {len(unscored) - 5} more)" if len(unscored) > 5 else ""
            raise SetupError(
                f"{self._metric} has no verdict for what was labelled as a {unit}: {examples}{more}"
            )
        return unscored

    def _no_labels(self, labels: str | Path | None, unit: str | None) -> str:
        of_unit = f" of a {unit}" if unit else ""
        if labels is not None:
            return f"{labels}: no label in it{of_unit} is for {self._metric}"
        return (
            f"run {self._run_id} has no labels{of_unit} for {self._metric}: give a file with --labels, or label its cases with "
            f"`proctor judge label {self._run_id} CASE --pass` (or --fail)"
        )


def judged_items(result: RunResult, metric: str, unit: str) -> list[JudgedItem]:
    """Return the verdicts of a metric in a run, case by case."""
    return [item for case in result.cases for item in items_of(case, metric, unit)]


def label_dispute(result: RunResult, labels: list[Labelled]) -> LabelDispute:
    """Return an item that people label differently, with the messages that it is about."""
    key = labels[0].key
    return LabelDispute(
        labels, majority_label(labels), *messages_of_verdict(result.case(key[1], key[0]), key)
    )


def metric_to_calibrate(result: RunResult, metric: str | None) -> str:
    """Return the metric to look at: the one that is named, or the only one for which a model was asked.

    Raises:
        SetupError: no model was asked for it, or for several metrics and none is named.
    """
    judge_metrics: dict[str, None] = {}
    all_metrics: dict[str, None] = {}
    for case in result.cases:
        all_metrics |= dict.fromkeys(case.metrics)
        judge_metrics |= dict.fromkeys(
            name for name in case.metrics if name not in judge_metrics and has_judge(case, name)
        )
    if metric is not None:
        if metric in judge_metrics:
            return metric
        why = (
            "asked no model in it"
            if metric in all_metrics
            else f"is not among its metrics.{did_you_mean(metric, judge_metrics)}"
        )
        raise SetupError(f"run {result.run_id}: {metric} {why.rstrip('.')}{_known_names(judge_metrics)}")
    if len(judge_metrics) == 1:
        return next(iter(judge_metrics))
    if not judge_metrics:
        raise SetupError(
            f"run {result.run_id} has no verdict of a model: `proctor score {result.run_id} --config FILE` judges its "
            "evidence by a metric that asks one"
        )
    raise SetupError(
        f"run {result.run_id} has several metrics that ask a model: name one with --metric{_known_names(judge_metrics)}"
    )


def _known_names(names: dict[str, None]) -> str:
    return f". Those that did: {', '.join(names)}" if names else ""


def _tied(settled: SettledLabels) -> str:
    count = len(settled.undecided)
    return f". {count_text(count, 'label')} left out: people label it differently" if count else ""


def _unit(labelled: Sequence[Labelled]) -> str:
    first: dict[str, Labelled] = {}
    for label in labelled:
        first.setdefault(label.unit, label)
    if len(first) == 1:
        return next(iter(first))
    kinds = ", ".join(f"{_A[unit]} ({label.where})" for unit, label in first.items())
    raise SetupError(
        f"the labels are of several kinds: {kinds}. A judge may agree better with one kind than with another: give one kind at a time (--unit)"
    )


_A = {"trial": "a trial as a whole", "turn": "a turn", "rubric": "a rubric"}
