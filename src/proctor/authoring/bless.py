"""What an agent did becomes what is expected of it: the files of a run's cases, changed where they differ."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from proctor.errors import EvalFileError, SetupError, SetupProblems, did_you_mean
from proctor.files.edit.bless import bless_case, empty_answer, has_text, same_calls, same_text, turns_to_bless
from proctor.files.edit.case import YamlCases, case_edits
from proctor.files.edit.editable_file import require_editable, text_of_file
from proctor.files.edit.line_changes import LineChange, TextLines
from proctor.files.eval_sets.eval_set_file import EvalSetFile, read_case
from proctor.files.eval_sets.source import open_cases, open_eval_set
from proctor.files.text.json_stream import no_collection
from proctor.runs.attempts import find_current_run
from proctor.runs.setup.settings import project_root
from proctor.runs.storage.lookup import EndedCases, read_case_as_run
from proctor.runs.storage.open import StoreLike, as_store
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import text_of
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.manifest import PlannedCase
from proctor.schema.results.run_result import CaseResult, Outcome
from proctor.schema.serialize import case_hash

OnCase = Callable[[], None]
OpenFile = Callable[[Path, Collection[str]], EvalSetFile]
"""Opens a file for its cases with some ids; other cases need not be in the result, nor be valid."""


class AcceptedCase(NamedTuple):
    """A case that changes, as plain data with the keys that the file has, and its lines in the file, from 1."""

    before: object
    after: object
    lines: range


@dataclass(slots=True)
class Blessing:
    """One file of eval cases: how it is, and how it would be."""

    path: Path
    before: str
    after: str
    cases: list[str] = field(default_factory=list)
    """The ids of the cases that change."""
    unchanged: list[str] = field(default_factory=list)
    """Ids of cases that expect already what was done."""
    refused: list[SetupError] = field(default_factory=list)
    """Why other cases that were asked for stay as they are."""
    trials: dict[str, int] = field(default_factory=dict)
    """By the id of a case the trial, from 0, that was learnt from."""
    lost: list[str] = field(default_factory=list)
    """Comments in the replaced text, each with its line: they are lost."""
    changed: dict[str, AcceptedCase] = field(default_factory=dict)
    """By id, the cases that change."""
    line_changes: list[LineChange] = field(default_factory=list)
    lines: TextLines = field(default_factory=lambda: TextLines(""))
    """The lines of `before`."""

    def write(self) -> None:
        """Put the new text in the place of the old.

        Raises:
            EvalFileError: the file was changed since it was read, or it cannot be written.
        """
        from proctor.files.eval_sets.save import write_text

        if text_of_file(self.path) != self.before:
            raise EvalFileError(
                f"{self.path}: the file was changed since it was read; nothing was written to it"
            )
        if self.after != self.before:
            write_text(self.path, self.after)


class RefusedCase(SetupError):  # noqa: N818 - it is about a case, and reads so
    """Why a case stays unchanged."""

    def __init__(self, message: str, case: str, *, choose: bool = False, changed_since: bool = False) -> None:
        """`case`: as `set/case`; `choose`: a trial has to be chosen; `changed_since`: the case was changed since it was run."""
        super().__init__(message)
        self.case, self.choose, self.changed_since = case, choose, changed_since


@no_collection()
def bless(
    run: str = "latest",
    cases: Sequence[str] = (),
    *,
    store: StoreLike = None,
    trial: int | Mapping[str, int] | None = None,
    force: bool = False,
    on_case: OnCase | None = None,
    root: Path | None = None,
) -> list[Blessing]:
    """Return what has to change in the files of a run's cases for them to expect what the agent did; nothing is written.

    `run` is an id, the beginning of one, `latest` or `latest~1`; `cases` are ids of cases (`set/case` where sets share one), by
    default all that failed. Each turn's answer and tool calls are taken from the evidence (of `trial`, counted from 1;
    needed where a case's trials did not go alike; by `set/case`, where each has its own), and the keys of the expected final state. `Blessing.write` writes.

    The files are those of the project in which this runs, or of the folder `root`, even if the run was made in another copy
    of the project. Only the text of these cases changes, and the new text of each is read again. The file must be readable, but
    its other cases need not be valid: they keep every byte, so the file has the same errors afterwards and no new one.
    `on_case` is called before each step of a case; an exception that it raises ends the work.

    A case that was not run to its end, has another content than it was run with (`force` goes on where its turns are
    still the same), or is written in a form that cannot be changed in place, is in `refused` of its file.

    Raises:
        SetupProblems: a case is unknown, or no case at all can be blessed, e.g. because the file cannot be parsed.
        StoreError: the store or the run does not exist.
    """
    runs = as_store(store)
    ended = EndedCases.read(runs, find_current_run(runs, run))
    return bless_opened(
        open_cases,
        ended,
        _cases_named(ended, cases) if cases else None,
        trial,
        on_case or (lambda: None),
        force=force,
        root=root,
    )


def bless_opened(
    open_file: OpenFile,
    run: EndedCases,
    cases: Sequence[PlannedCase] | None,
    trial: int | Mapping[str, int] | None,
    on_case: OnCase,
    *,
    force: bool,
    root: Path | None,
) -> list[Blessing]:
    """As `bless`, with another way to open a file; `cases` are planned ones, `None`: all that failed."""
    if run.manifest.options.get("allow_duplicate_ids"):  # which case is `a#2` depends on the whole file
        open_file = lambda path, _: open_eval_set(path, allow_duplicate_ids=True, validate=False)  # noqa: E731 - it is one expression
    chosen = _Chosen(run, trial, on_case)
    picked = list(chosen.pick(cases))
    blessings = []
    for eval_set_id, path in chosen.files({one.case.eval_set_id for one in picked}, root):
        mine = [one for one in picked if one.case.eval_set_id == eval_set_id]
        try:
            source = open_file(path, [one.case.eval_id for one in mine])
            blessings.append(_File(path, source, on_case, force=force).bless(mine))
        except EvalFileError as problem:
            blessings.append(Blessing(path, "", "", refused=[problem]))
    return _add_refusals(blessings, chosen.refused)


def _add_refusals(blessings: list[Blessing], refused: list[SetupError]) -> list[Blessing]:
    """Add the problems that were found before the files were read.

    Raises:
        SetupProblems: nothing but refusals is left.
    """
    every = [*refused, *(problem for one in blessings for problem in one.refused)]
    if every and not any(one.cases or one.unchanged for one in blessings):
        raise SetupProblems(every)
    if refused:
        blessings[0].refused[:0] = refused
    return blessings


def _cases_named(run: EndedCases, names: Sequence[str]) -> list[PlannedCase]:
    """Return the cases with these names.

    Raises:
        SetupProblems: a case is unknown.
    """
    planned, name_set = [*run.store.planned(run.run_id)], {*names}
    cases = [case for case in planned if case.eval_id in name_set or _full_name(case) in name_set]
    if unknown := name_set - _names(cases):
        known = _names(planned)
        raise SetupProblems(
            [
                SetupError(f"run {run.run_id} has no case {name!r}.{did_you_mean(name, known)}")
                for name in filter(unknown.__contains__, names)
            ]
        )
    return cases


class _ChosenTrial(NamedTuple):
    case: PlannedCase
    trial: Trial
    turns: list[Invocation]
    """What the agent did in the turns of the trial."""


class _Chosen:
    """A run, and the cases of it that are to be blessed."""

    def __init__(self, run: EndedCases, trial: int | Mapping[str, int] | None, on_case: OnCase) -> None:
        self._run, self._trial, self._on_case = run, trial, on_case
        self.refused: list[SetupError] = []
        """Cases of which nothing can be learnt."""

    def pick(self, cases: Sequence[PlannedCase] | None) -> Iterator[_ChosenTrial]:
        """Return these cases, or those that failed, each with the trial to bless."""
        if cases is None:
            cases = self._run.cases_that(Outcome.FAILED)
            if not cases:
                for case, result in self._results(self._run.cases_that(Outcome.ERROR)):
                    self._refuse(case, f"is in error: {result.reason}")
        for case, result in self._results(cases):
            self._on_case()
            if picked := self._pick_trial(case, result):
                yield picked

    def _results(self, cases: Sequence[PlannedCase]) -> Iterator[tuple[PlannedCase, CaseResult]]:
        """Return cases with their results, which are read from the store together."""
        results = self._run.store.cases(self._run.run_id, positions=[case.position for case in cases])
        return zip(cases, results, strict=True)

    def _pick_trial(self, case: PlannedCase, result: CaseResult) -> _ChosenTrial | None:
        number = self._trial.get(_full_name(case)) if isinstance(self._trial, Mapping) else self._trial
        trials = _trials_of(result, number)
        sound = [trial for trial, its in trials if trial.failure is None and its is not Outcome.ERROR]
        if not sound:
            which = "no trial" if number is None else f"no trial {number}"
            ended = any(trial.failure is None for trial, _ in trials)
            how = "could be scored" if ended else "came to its end"
            self._refuse(case, f"has {which} that {how} (it is {result.outcome.value.replace('_', ' ')})")
            return None
        if len(sound) < len(trials):
            self._refuse(
                case, "has a trial that ended in an error: choose one that did not, --trial N", choose=True
            )
            return None
        return self._common_trial(case, sound)

    def _common_trial(self, case: PlannedCase, trials: Sequence[Trial]) -> _ChosenTrial | None:
        """Return the first of some trials if the agent did the same in all of them, and gave an answer."""
        picked = _ChosenTrial(case, trials[0], trials[0].invocations)
        if len(trials) == 1 and all(map(has_text, picked.turns)):
            return picked  # the content of the case does not matter
        content = read_case_as_run(self._run.store, self._run.run_id, case.position) or EvalCase()
        state_keys = (content.final_session_state or {}).keys()
        if len({_written_content(trial, state_keys) for trial in trials}) > 1:
            why = f"went differently from trial to trial ({len(trials)} trials): choose one, --trial N"
            self._refuse(case, why, choose=True)
            return None
        if why := empty_answer(content, picked.turns):
            self._refuse(case, why)
            return None
        return picked

    def _refuse(self, case: PlannedCase, why: str, *, choose: bool = False) -> None:
        name = _full_name(case)
        self.refused.append(RefusedCase(f"{name} {why}", name, choose=choose))

    def _check_names(self, set_ids: Collection[str]) -> None:
        """Raise SetupError if two sets have one of these ids."""
        ids = [one.eval_set_id for one in self._run.manifest.sets]
        for eval_set_id in sorted(set_ids):
            if ids.count(eval_set_id) > 1:
                raise SetupError(
                    f"two sets of run {self._run.run_id} are called {eval_set_id}: run each by itself, and bless that run"
                )

    def files(self, set_ids: Collection[str], root: Path | None) -> Iterator[tuple[str, Path]]:
        """The sets of these ids, with their files."""
        self._check_names(set_ids)
        manifest = self._run.manifest
        folder, here = Path(manifest.folder or "."), root or project_root(Path.cwd()) or Path.cwd()
        for one in manifest.sets:
            if one.eval_set_id not in set_ids:
                continue
            if one.path is None:
                raise SetupError(f"the set {one.eval_set_id} was made in Python: there is no file to change")
            path = set_in_project(folder, one.path, here)
            if path is None:
                raise SetupError(
                    f"the run {self._run.run_id} was made in {folder}, and this project ({here}) has no file {one.path}: "
                    "run `proctor bless` in the project that has it"
                )
            yield one.eval_set_id, path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def set_in_project(folder: Path, path: str, root: Path) -> Path | None:
    """Return the file of a set that was run in `folder`, for the project at `root`; `None` if that has no such file.

    The run may have been made in another copy of the project: its folder is then looked up below `root` by its last parts.
    """
    file = folder / path
    if folder.resolve().is_relative_to(root.resolve()):
        return file
    if not file.is_relative_to(folder):
        return None
    starts = range(1, len(folder.parts) + 1)
    return next((one for at in starts if (one := root.joinpath(*file.parts[at:])).is_file()), None)


def _trials_of(result: CaseResult, number: int | None) -> list[tuple[Trial, Outcome]]:
    """Return the trials of a case with their outcomes, or only the trial `number`, counted from 1."""
    trials = [(each.trial, each.outcome) for each in result.trials if each.trial is not None]
    return [pair for pair in trials if number is None or pair[0].number == number - 1]


def _full_name(case: PlannedCase) -> str:
    return f"{case.eval_set_id}/{case.eval_id}"


def _names(cases: Iterable[PlannedCase]) -> set[str]:
    return {name for case in cases for name in (case.eval_id, _full_name(case))}


def _written_content(trial: Trial, state_keys: Collection[str]) -> str:
    """The content that a blessing writes for a trial, to compare two trials."""
    state = {key: value for key, value in (trial.final_state or {}).items() if key in state_keys}
    turns = [
        [
            text_of(turn.final_response, thoughts=False),
            [[call.name, call.args] for call in turn.tool_calls],
            [[answer.name, answer.response] for answer in turn.tool_responses],
        ]
        for turn in trial.invocations
    ]
    return json.dumps([state, turns], sort_keys=True, default=str)


class _File:
    """A file of eval cases that were run, and what becomes of it."""

    def __init__(self, path: Path, source: EvalSetFile, on_case: OnCase, *, force: bool) -> None:
        self._path, self._source, self._force, self._on_case = path, source, force, on_case
        self._before = text_of_file(path)
        self._places: dict[str, int] = {}
        """By id, the present position of each case in its file."""
        self._present: dict[str, EvalCase] = {}
        """By id, the present content of each case."""
        require_editable(self._source)

    def bless(self, picked: Sequence[_ChosenTrial]) -> Blessing:
        """Bless the cases that can be blessed; `refused` has the problems of the others."""
        known, refused = [], []
        for one in picked:
            try:
                self._locate(one.case)
                known.append(one)
            except SetupError as problem:
                refused.append(problem)
        try:
            blessings = self._change_cases([], known)
        except EvalFileError:
            blessings = self._change_cases([], self._sound([], known, refused))
        blessings.refused = [*refused, *blessings.refused]
        return blessings

    def _sound(
        self, settled: list[_ChosenTrial], picks: list[_ChosenTrial], refused: list[SetupError]
    ) -> list[_ChosenTrial]:
        """Return those of `picks` that can be changed together with `settled`; by bisection, because each try reads the file."""
        try:
            self._change_cases(settled, picks)
            return picks
        except EvalFileError as problem:
            if len(picks) == 1:
                refused.append(_refused_case(picks[0].case, problem))
                return []
        half = len(picks) // 2
        first = self._sound(settled, picks[:half], refused)
        return first + self._sound([*settled, *first], picks[half:], refused)

    def _change_cases(self, settled: list[_ChosenTrial], picks: list[_ChosenTrial]) -> Blessing:
        """Return the file with all of these cases changed, after reading it again. Raises EvalFileError: the result differs from the intended one."""
        blessing = Blessing(self._path, self._before, self._before)
        edits = case_edits(self._source, self._before, [*self._places.values()], may_rewrite=False)
        turns, new_cases = dict[str, list[Invocation]](), dict[str, EvalCase]()
        written = dict[str, object]()
        for case, trial, its_turns in [*settled, *picks]:
            self._on_case()
            index = self._places[case.eval_id]
            try:
                present, value = self._present[case.eval_id], self._source.value(index)
                value = bless_case(present, value, its_turns, trial.final_state)
                changed = edits.change(index, value)
            except EvalFileError as problem:
                blessing.refused.append(_refused_case(case, _at_place(problem, self._source.where(index))))
                continue
            (blessing.cases if changed else blessing.unchanged).append(case.eval_id)
            turns[case.eval_id], new_cases[case.eval_id] = its_turns, read_case(value)[0]
            written[case.eval_id], blessing.trials[case.eval_id] = value, trial.number
        blessing.after, blessing.lost = edits.text(), edits.lost_comments()
        blessing.line_changes, blessing.lines = edits.line_changes(), edits.lines
        if isinstance(edits, YamlCases):  # of JSON only the text of the case is replaced
            after = edits.check(self._path, dict.fromkeys(blessing.cases))
            new_cases = {eval_id: after.case_of(eval_id) for eval_id in blessing.cases}
            written = {
                name: after.written(index) for index, name in enumerate(after.ids()) if name in new_cases
            }
        for eval_id in blessing.cases:
            _check(self._path, new_cases[eval_id], turns[eval_id])
            blessing.changed[eval_id] = self._changed_case(eval_id, written[eval_id])
        return blessing

    def _changed_case(self, eval_id: str, after: object) -> AcceptedCase:
        index = self._places[eval_id]
        start, is_last = self._source.line(index), index + 1 == len(self._source)
        end = 10**9 if is_last else self._source.line(index + 1)
        return AcceptedCase(self._source.written(index), after, range(start, max(end, start + 1)))

    def _locate(self, case: PlannedCase) -> None:
        """Note the present position and content of the case in its file."""
        index = self._source.position(case.eval_id)
        if index is None:
            message = f"{self._path}: the case {case.eval_id} is not in this file any more"
            raise RefusedCase(message, _full_name(case))
        try:
            present = self._source.case(index)
        except EvalFileError as problem:
            raise _refused_case(case, problem) from None
        if not self._force and case_hash(present).hex() != case.content_hash:
            changed = (
                f"{self._source.where(index)}: the case {case.eval_id} was changed since it was run: run it again, or "
                "change the present case with --force (force=True)"
            )
            raise RefusedCase(changed, _full_name(case), changed_since=True)
        self._places[case.eval_id], self._present[case.eval_id] = index, present


def _refused_case(case: PlannedCase, problem: EvalFileError) -> RefusedCase:
    return RefusedCase(str(problem), _full_name(case))


def _at_place(problem: EvalFileError, where: str) -> EvalFileError:
    """Return the problem of a case with its location."""
    message = str(problem)
    return problem if message.startswith(where.rpartition(":")[0]) else EvalFileError(f"{where}: {message}")


def _check(path: Path, after: EvalCase, turns: Sequence[Invocation]) -> None:
    """Check that a case, as it would be written, expects what was done."""
    for _, expected, actual in turns_to_bless(after, turns):
        if not (same_text(expected, actual) and same_calls(expected, actual)):
            raise EvalFileError(
                f"{path}: the case {after.eval_id} cannot be changed in place: it would not expect what was done. "
                "Nothing was written of it; change it by hand, or `proctor convert` the file first"
            )
