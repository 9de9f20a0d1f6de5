"""Labels of people and the run that they are about: each finds the one thing that it means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.common.safe_text import count_text
from proctor.errors import SetupError, SetupProblems, UnknownNameError, did_you_mean
from proctor.runs.attempts import find_current_run
from proctor.runs.storage.open import StoreLike, as_store, name_of_run
from proctor.schema.analysis.calibration import WHOLE, HumanLabel, Labelled
from proctor.schema.results.run_result import CaseResult, RunResult

if TYPE_CHECKING:
    from proctor.stores.base import Store
    from proctor.stores.labels import StoredLabel


def labels_of_file(path: str | Path, result: RunResult) -> list[Labelled]:
    """Return the labels of a file, each with what it means in a run.

    Raises:
        EvalFileError: what is wrong in the file.
        SetupProblems: labels of what the run has not, or has several of; all of them, with their places.
    """
    from proctor.files.results.labels import read_labels

    labels = read_labels(path)
    cases = _index_cases(result.cases, {label.eval_id for label in labels})
    problems: list[SetupError] = []
    matches = []
    for label in labels:
        try:
            matches.append(_label_of(label, cases))
        except SetupError as problem:
            problems.append(SetupError(f"{label.place}: {problem}"))
    if problems:
        raise SetupProblems(problems)
    return matches


def labels_for(store: Store, result: RunResult) -> list[Labelled]:
    """Return the labels that are kept with a run."""
    labels = store.labels(result.run_id)
    if not labels:
        return []
    positions = sorted({label.position for label in labels})
    planned = {case.position: case for case in store.planned(result.run_id, positions)}
    matches = []
    for label in labels:
        case, turn = planned[label.position], WHOLE if label.turn is None else label.turn
        key = (case.eval_set_id, case.eval_id, label.number, turn, label.rubric_id)
        matches.append(
            Labelled(key, label.passes, label.metric, label.note, "store", label.labeller, label.labelled_at)
        )
    return matches


def label_run(
    run: str | RunResult,
    labels: Sequence[HumanLabel] | str | Path,
    *,
    store: StoreLike = None,
) -> list[Labelled]:
    """Store labels of people with their run; a later label of a person for the same item replaces the earlier one.

    `labels`: the labels, or a file of them.

    Raises:
        EvalFileError: what is wrong in the file.
        SetupError: a label of what the run has not.
        StoreError: the store does not exist, or it cannot be written.
    """
    run_store = as_store(store, read_only=False)
    try:
        result = run_store.load(find_current_run(run_store, name_of_run(run)))
        if isinstance(labels, str | Path):
            located = labels_of_file(labels, result)
        else:
            cases = _index_cases(result.cases, {label.eval_id for label in labels})
            located = [_label_of(label, cases) for label in labels]
        positions = {(one.eval_set_id, one.eval_id): one.position for one in run_store.planned(result.run_id)}
        run_store.label(result.run_id, [_stored_label(label, positions) for label in located])
    finally:
        if run_store is not store:
            run_store.close()
    return located


class LabelChangedError(SetupError):
    """The stored label is not the one that was read: it was given, changed or removed meanwhile."""


def label_case(
    store: Store, run: str, position: int, label: HumanLabel, *, replaces: float | None = None
) -> Labelled:
    """Store a label of the case at `position` of a run; the name of the case in the label is ignored.

    `replaces`: `labelled_at` of the label that it replaces; `None`: there must be none of this person yet.

    Raises:
        UnknownNameError: the run is unknown or case, or the case has no such metric.
        SetupError: a label of what the case has not.
        LabelChangedError: the label to replace is another one; nothing is stored.
    """
    run_id, located, stored = _locate_label(store, run, position, label)
    labelled_at = store.label(run_id, [stored], lambda present: _check_unchanged(present, stored, replaces))
    return replace(located, labelled_at=labelled_at)


def unlabel_case(
    store: Store, run: str, position: int, label: HumanLabel, *, labelled_at: float | None = None
) -> None:
    """Remove the label of this person for the item of `label`; if there is none, nothing happens. Raises as `label_case`.

    `labelled_at`: that of the label that was read; `None`: remove any.
    """
    run_id, _, stored = _locate_label(store, run, position, label)

    def check(present: Sequence[StoredLabel]) -> None:
        if labelled_at is not None:
            _check_unchanged(present, stored, labelled_at)

    store.unlabel(run_id, [stored], check)


def _check_unchanged(present: Sequence[StoredLabel], label: StoredLabel, labelled_at: float | None) -> None:
    now = next((one.labelled_at for one in present if _item(one) == _item(label)), None)
    if now != labelled_at:
        reason = "was removed" if now is None else "was changed" if labelled_at is not None else "was given"
        raise LabelChangedError(
            f"nothing was changed: the label of {label.labeller or 'a person without a name'} for this {reason} meanwhile. "
            "Read it again. Two people who label at the same time need two names"
        )


def _item(label: StoredLabel) -> tuple[object, ...]:
    return label.position, label.number, label.turn, label.rubric_id, label.metric, label.labeller


def _locate_label(
    store: Store, run: str, position: int, label: HumanLabel
) -> tuple[str, Labelled, StoredLabel]:
    """Return the id of the run, and the label of the case at `position` with the item that it refers to."""
    run_id = store.find(run)
    cases = store.load(run_id).cases
    if not 0 <= position < len(cases):
        raise UnknownNameError(f"no case {position}: the run {run_id} has {count_text(len(cases), 'case')}")
    case = cases[position]
    if label.metric and label.metric not in case.metrics:
        hint = did_you_mean(label.metric, case.metrics)
        raise UnknownNameError(f"the case {case.eval_id!r} was not scored by {label.metric!r}.{hint}")
    known = _Cases()
    known.named[case.eval_id] = [case]
    located = _label_of(replace(label, eval_id=case.eval_id, eval_set_id=case.eval_set_id), known)
    return run_id, located, _stored_label(located, {(case.eval_set_id, case.eval_id): position})


def _stored_label(label: Labelled, positions: dict[tuple[str, str], int]) -> StoredLabel:
    from proctor.stores.labels import StoredLabel

    eval_set_id, eval_id, number, turn, rubric_id = label.key
    return StoredLabel(
        position=positions[eval_set_id, eval_id],
        number=number,
        passes=label.passes,
        turn=None if turn == WHOLE else turn,
        rubric_id=rubric_id,
        metric=label.metric,
        note=label.note,
        labeller=label.labeller,
    )


# --- what a label means ------------------------------------------------------------------------------------------------


class _Cases:
    """The cases of a run that labels name, and the ids of all of them."""

    def __init__(self) -> None:
        self.named: dict[str, list[CaseResult]] = {}
        self.ids: list[str] = []


def _index_cases(cases: Iterable[CaseResult], eval_ids: set[str]) -> _Cases:
    index = _Cases()
    for case in cases:
        index.ids.append(case.eval_id)
        if case.eval_id in eval_ids:
            index.named.setdefault(case.eval_id, []).append(case)
    return index


def _label_of(label: HumanLabel, cases: _Cases) -> Labelled:
    case = _case(label, cases)
    trial = _trial(label, case)
    turn = _turn(label, case, trial)
    _check_rubric(label, case, trial)
    key = (case.eval_set_id, case.eval_id, trial, turn, label.rubric_id)
    return Labelled(key, label.passes, label.metric, label.note, label.place, label.labeller)


def _case(label: HumanLabel, cases: _Cases) -> CaseResult:
    matches = cases.named.get(label.eval_id, [])
    if not matches:
        raise SetupError(f"the run has no case {label.eval_id!r}.{did_you_mean(label.eval_id, cases.ids)}")
    sets = [case.eval_set_id for case in matches]
    chosen = [case for case in matches if label.eval_set_id in ("", case.eval_set_id)]
    if len(chosen) == 1:
        return chosen[0]
    if chosen:
        raise SetupError(
            f"several sets have a case {label.eval_id!r}: {', '.join(sets)}; name one (eval_set_id)"
        )
    raise SetupError(f"the case {label.eval_id!r} is in {', '.join(sets)}, not in {label.eval_set_id!r}")


def _trial(label: HumanLabel, case: CaseResult) -> int:
    total = len(case.trials)
    if not total:
        raise SetupError(f"the case {case.eval_id!r} was not run")
    if label.trial is None:
        if total > 1:
            raise SetupError(f"the case {case.eval_id!r} has {total} trials: name the labelled one (trial)")
        return 0
    if label.trial >= total:
        raise SetupError(
            f"the case {case.eval_id!r} has {count_text(total, 'trial')}, there is no trial {label.trial + 1}"
        )
    return label.trial


def _turn(label: HumanLabel, case: CaseResult, trial: int) -> int:
    evidence = case.trials[trial].trial
    total = len(evidence.turns) if evidence is not None else 0
    if label.turn is not None:
        if label.turn >= total:
            raise SetupError(
                f"the case {case.eval_id!r} has {count_text(total, 'turn')}, there is no turn {label.turn + 1}"
            )
        return label.turn
    return 0 if label.rubric_id and total == 1 else WHOLE


def _check_rubric(label: HumanLabel, case: CaseResult, trial: int) -> None:
    """Refuse a rubric without a verdict, if the trial has verdicts on rubrics: it is probably misspelled."""
    known = _judged_rubrics(case, trial)
    if label.rubric_id and known and label.rubric_id not in known:
        hint = did_you_mean(label.rubric_id, known) or f" There is: {', '.join(sorted(known))}."
        raise SetupError(f"the case {case.eval_id!r} was not scored by a rubric {label.rubric_id!r}.{hint}")


def _judged_rubrics(case: CaseResult, trial: int) -> set[str]:
    return {
        str(rubric.get("rubric_id"))
        for metric in case.metrics.values()
        for score in metric.per_trial[trial : trial + 1]
        if score is not None
        for details in (score.details, *(each.details for each in score.per_invocation))
        for rubric in (details or {}).get("rubrics") or ()
    }
