"""Labelling the verdicts of an LLM judge: the next ones without the verdict, the progress, and the agreement of people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from proctor.analysis.calibration.calibrate import (
    HELD_OUT,
    judged_items,
    label_dispute,
    metric_to_calibrate,
)
from proctor.analysis.calibration.judge_verdicts import JudgedItem, judged_unit
from proctor.analysis.calibration.label_order import (
    AIM_WIDTH,
    is_held_out,
    labelling_progress,
    next_to_label,
    second_to_label,
)
from proctor.analysis.calibration.labellers import (
    SettledLabels,
    labeller_pairs,
    labels_of_metric,
    settle_labels,
)
from proctor.analysis.calibration.labels import labels_for
from proctor.common.registry import METRICS
from proctor.reports.evidence.trajectory_diff import call_text
from proctor.runs.storage.lookup import read_case_as_run
from proctor.schema.analysis.calibration import (
    WHOLE,
    Agreement,
    Calibration,
    Key,
    LabelDispute,
    Labelled,
    LabellerPair,
)
from proctor.schema.format.content import text_of
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.manifest import RunState
from proctor.schema.results.run_result import CaseResult, RunResult
from proctor.schema.results.score import JudgedBy
from proctor.stores.base import Store
from proctor.web.pages.analysis.known_judges import CalibrationPart, FigurePart, calibration_part
from proctor.web.pages.base import copy_fields
from proctor.web.pages.bounded_cache import BoundedCache
from proctor.web.pages.case.judge_votes import LabelPart, label_part
from proctor.web.pages.case.page_parts import Clip, clip


class LabelledItem(PageModel):
    """The place of a verdict that a person labels."""

    eval_set_id: str
    eval_id: str
    position: int
    """The position of the case in the run."""
    number: int
    """The trial, from 0."""
    turn: int | None
    """From 0; null: the trial as a whole."""
    rubric_id: str
    """Empty: none."""


class ProgressPart(PageModel):
    """The labels so far, of each verdict the label that counts."""

    passes: int
    """The number of labels *pass* of held-out cases."""
    fails: int
    """The number of labels *fail* of held-out cases."""
    other_labels: int
    """The number of labels of the other cases."""
    accuracy: FigurePart
    tpr: FigurePart
    tnr: FigurePart
    kappa: FigurePart
    aim: float
    """The aim: the width of the confidence intervals of `tpr` and `tnr`."""
    wanted_passes: int
    """How many more labels *pass* of held-out cases reach the aim, if the rate remains as it is."""
    wanted_fails: int
    """The same for labels *fail*."""
    wanted: int
    """The estimated number of labels of all cases until both are reached."""


class PairPart(PageModel):
    """Two people who labelled the same verdicts."""

    first: str
    second: str
    both_pass: int
    both_fail: int
    differ: int
    kappa: FigurePart


class DisputePart(PageModel):
    """A verdict that people label differently."""

    item: LabelledItem
    asked: Clip
    answered: Clip
    labels: list[LabelPart]
    counted: bool | None
    """The label of the majority; null if there is none: the verdict is left out of the calibration."""


class MissPart(PageModel):
    """A verdict of the judge that differs from the label that counts; its case is not held out."""

    item: LabelledItem
    passes: bool
    """The label that counts, which may be that of other people."""
    note: str
    reason: Clip
    """The reason of the judge."""


class LabellerPart(PageModel):
    """A person with the number of labels."""

    name: str
    labels: int


class LabellingPage(PageModel):
    """The labels of one judge's verdicts in a run."""

    run_id: str
    metric: str
    description: str
    """What the metric measures."""
    model: str
    """Empty if there are several judges."""
    unit: str
    """What is labelled: a `trial`, a `turn` or a `rubric`."""
    verdicts: int
    unlabelled: int
    """The verdicts that have no label yet."""
    to_second: int
    """The verdicts that others have labelled, and this person has not."""
    labellers: list[LabellerPart]
    progress: ProgressPart
    pairs: list[PairPart]
    disputes: list[DisputePart]
    """Only of verdicts that this person has labelled: the labels of others must not influence the next one."""
    misses: list[MissPart]
    """Only of verdicts that this person has labelled."""
    calibration: CalibrationPart | None
    """The newest calibration of this judge."""
    current: bool
    """Whether that calibration has the present labels."""


class LabelTurn(PageModel):
    """A turn up to the one to label."""

    user: Clip
    calls: list[str]
    """The calls of tools."""
    answer: Clip
    expected: Clip | None
    """The reference response of the case; null if it has none."""


class ItemToLabel(PageModel):
    """A verdict to label, without the verdict."""

    item: LabelledItem
    rubric: str
    """The text of the rubric."""
    turns: list[LabelTurn]


class ItemsToLabel(PageModel):
    """The next verdicts to label."""

    items: list[ItemToLabel]


@dataclass(frozen=True, slots=True)
class _Judged:
    """The verdicts of a metric in a run, which stay the same once the run is finished."""

    unit: str
    items: dict[Key, JudgedItem]
    positions: dict[tuple[str, str], int]


class LabellingCache:
    """Loads what people label; the verdicts of finished runs that were used last remain in memory."""

    def __init__(self) -> None:
        self._judged: BoundedCache[_Judged] = BoundedCache(4)

    def load(self, store: Store, run: str, metric: str) -> Labelling:
        """Return the verdicts of a metric in a run with the labels of people.

        Raises:
            UnknownNameError: there is no such run.
            SetupError: no model was asked for the metric.
        """
        run_id = store.find(run)
        result = store.load(run_id)
        labels = labels_of_metric(labels_for(store, result), metric)
        unit = _labelled_unit(labels)
        record = store.record(run_id)
        key = (store.url, run_id, record.scoring, metric, unit) if record.state is RunState.FINISHED else None
        judged = self._judged.get(key, lambda: _judge_items(result, metric, unit))
        return Labelling(store, result, metric, judged, labels)


def _labelled_unit(labels: Sequence[Labelled]) -> str | None:
    """Return what most of the labels are of."""
    counts = Counter(label.unit for label in labels)
    return max(sorted(counts), key=lambda unit: counts[unit], default=None)


def _judge_items(result: RunResult, metric: str, unit: str | None) -> _Judged:
    metric_to_calibrate(result, metric)
    if unit is None:
        units = {judged_unit(case, metric) for case in result.cases}
        unit = next(one for one in ("rubric", "turn", "trial") if one in units)
    positions = {(case.eval_set_id, case.eval_id): place for place, case in enumerate(result.cases)}
    return _Judged(unit, {item.key: item for item in judged_items(result, metric, unit)}, positions)


class Labelling:
    """The verdicts of a metric in a run, with the labels of people."""

    def __init__(
        self, store: Store, result: RunResult, metric: str, judged: _Judged, labels: Sequence[Labelled]
    ) -> None:
        self._store, self._result, self._metric, self._judged = store, result, metric, judged
        self._labels = [label for label in labels if label.key in judged.items]
        self.unit = judged.unit

    def next(self, labeller: str, count: int, *, second: bool) -> ItemsToLabel:
        """Return the next `count` verdicts for a person: those without a label, or those that only others have labelled."""
        items, mine = self._judged.items.values(), self._labelled_by(labeller)
        everyone = {label.key for label in self._labels}
        if second:
            chosen = second_to_label(items, everyone, mine, count, held_out=HELD_OUT)
        else:
            chosen = next_to_label(items, everyone, count, held_out=HELD_OUT)
        return ItemsToLabel(items=[self._item_to_label(item) for item in chosen])

    def page(self, labeller: str) -> LabellingPage:
        """Return the progress, and the agreement of people."""
        items, settled = self._judged.items, settle_labels(self._labels)
        progress = labelling_progress(items, settled.counted, held_out=HELD_OUT)
        verdicts = {key for key, item in items.items() if item.passes is not None}
        everyone, mine = {label.key for label in self._labels}, self._labelled_by(labeller)
        counts = Counter(label.labeller for label in self._labels)
        calibration = self._calibration()
        return LabellingPage(
            run_id=self._result.run_id,
            metric=self._metric,
            description=METRICS.get(self._metric).facts.description if self._metric in METRICS else "",
            model=by.model if (by := self._judged_by()) is not None else "",
            unit=self.unit,
            verdicts=len(verdicts),
            unlabelled=len(verdicts - everyone),
            to_second=len((everyone & verdicts) - mine),
            labellers=[LabellerPart(name=name, labels=counts[name]) for name in sorted(counts)],
            progress=copy_fields(
                ProgressPart, progress.agreement,
                passes=progress.agreement.confusion.human_passes, fails=progress.agreement.confusion.human_fails,
                other_labels=progress.other_labels, aim=AIM_WIDTH, wanted_passes=progress.wanted_passes,
                wanted_fails=progress.wanted_fails, wanted=progress.wanted,
            ),
            pairs=[_pair_part(pair) for pair in labeller_pairs(self._labels)],
            disputes=[
                self._dispute_part(label_dispute(self._result, one))
                for one in settled.disputed if one[0].key in mine
            ],
            misses=[*self._misses(settled, mine)],
            calibration=calibration_part(calibration) if calibration is not None else None,
            current=calibration is not None and self._is_current(calibration, progress.agreement),
        )  # fmt: skip

    def _labelled_by(self, labeller: str) -> set[Key]:
        return {label.key for label in self._labels if label.labeller == labeller}

    def _judged_by(self) -> JudgedBy | None:
        """Return the judge of all verdicts; `None` if there are several."""
        by = {one for item in self._judged.items.values() for one in item.by}
        return JudgedBy(self._metric, *by.pop()) if len(by) == 1 else None

    def _is_current(self, calibration: Calibration, agreement: Agreement) -> bool:
        """Return whether a calibration has the present labels and verdicts of this run."""
        thresholds = {item.threshold for item in self._judged.items.values()}
        return (
            (calibration.run_id, calibration.unit) == (self._result.run_id, self.unit)
            and (self.unit == "rubric" or thresholds == {calibration.threshold})
            and calibration.agreement.confusion == agreement.confusion
        )

    def _calibration(self) -> Calibration | None:
        by = self._judged_by()
        if by is None:
            return None
        own = (one for one in reversed(self._store.calibrations()) if one.metric == self._metric)
        return next((one for one in own if not one.changed(by, one.threshold)), None)

    def _misses(self, settled: SettledLabels, mine: set[Key]) -> Iterator[MissPart]:
        for label in settled.counted:
            item = self._judged.items[label.key]
            if (
                label.key in mine
                and item.passes is (not label.passes)
                and not is_held_out(label.key, HELD_OUT)
            ):
                place = self._place(label.key)
                yield MissPart(
                    item=place, passes=label.passes, note=label.note, reason=clip(item.reason, _SHORT)
                )

    def _dispute_part(self, dispute: LabelDispute) -> DisputePart:
        return DisputePart(
            item=self._place(dispute.labels[0].key),
            asked=clip(dispute.asked, _SHORT),
            answered=clip(dispute.answered, _SHORT),
            labels=[label_part(label) for label in dispute.labels],
            counted=None if dispute.counted is None else dispute.counted.passes,
        )

    def _place(self, key: Key) -> LabelledItem:
        eval_set_id, eval_id, number, turn, rubric_id = key
        return LabelledItem(
            eval_set_id=eval_set_id,
            eval_id=eval_id,
            position=self._judged.positions[eval_set_id, eval_id],
            number=number,
            turn=None if turn == WHOLE else turn,
            rubric_id=rubric_id,
        )

    def _item_to_label(self, item: JudgedItem) -> ItemToLabel:
        place = self._place(item.key)
        case = self._result.cases[place.position]
        stored = read_case_as_run(self._store, self._result.run_id, place.position)
        expected = (stored.conversation or []) if stored is not None else []
        turns = [*_turns(case, item.key, expected)]
        return ItemToLabel(item=place, rubric=_rubric_text(case, self._metric, item.key), turns=turns)


_SHORT = 1_000
"""The characters of a text in a list."""


def _pair_part(pair: LabellerPair) -> PairPart:
    confusion = pair.confusion
    return PairPart(
        first=pair.first,
        second=pair.second,
        both_pass=confusion.both_pass,
        both_fail=confusion.both_fail,
        differ=confusion.judge_fails + confusion.judge_passes,
        kappa=copy_fields(FigurePart, pair.kappa),
    )


def _turns(case: CaseResult, key: Key, expected: Sequence[Invocation]) -> Iterator[LabelTurn]:
    trial = next((one.trial for one in case.trials if one.number == key[2]), None)
    if trial is None:
        return
    last = key[3] + 1 if key[3] != WHOLE else len(trial.turns)
    for at, turn in enumerate(trial.invocations[:last]):
        reference = text_of(expected[at].final_response) if at < len(expected) else ""
        yield LabelTurn(
            user=clip(text_of(turn.user_content)),
            calls=[call_text(call.name or "", call.args)[:_SHORT] for call in turn.tool_calls],
            answer=clip(text_of(turn.final_response, thoughts=False)),
            expected=clip(reference) if reference else None,
        )


def _rubric_text(case: CaseResult, metric: str, key: Key) -> str:
    score = case.metrics[metric].per_trial[key[2]]
    if score is None or not key[4]:
        return ""
    details: Mapping[str, object] | None = (
        score.details if key[3] == WHOLE else score.per_invocation[key[3]].details
    )
    rubrics = (details or {}).get("rubrics")
    matches = (
        [one for one in rubrics if str(one.get("rubric_id")) == key[4]] if isinstance(rubrics, list) else []
    )
    return str(matches[0].get("text") or "") if matches else ""
