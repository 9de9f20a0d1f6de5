"""The work of `proctor show`."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TextIO

import click

from proctor.api.runs import open_runs
from proctor.cli.failures import ERROR, say
from proctor.cli.outputs import parse_outputs, write_outputs
from proctor.errors import SetupError, UnknownNameError, did_you_mean
from proctor.registry import METRICS
from proctor.reports.base import ReportOptions
from proctor.reports.case_view import CaseView, Judged, write_case
from proctor.reports.run_head import write_head
from proctor.reports.run_list import ListedRun, short_ids
from proctor.reports.show import show as show_report
from proctor.sanitize import clean_json
from proctor.schema.run import PlannedCase, RunRecord, RunState, counting
from proctor.schema.trial import Trial
from proctor.schema.verdict import CaseResult, RunResult

if TYPE_CHECKING:
    from proctor.schema.scenario import ConversationScenario
    from proctor.stores.base import Store

_MOST_NAMES = 5_000
"""Case ids among which the closest one is searched."""


def show_run(name: str, store_url: str | None, given: Mapping[str, Any], stdout: TextIO) -> None:
    """Show a run as its report did.

    Raises:
        SetupError: there is no such run or judging, or an option has nothing to do here.
    """
    if given["trials"]:
        raise SetupError("--trial is about one case: name it after the run (proctor show RUN CASE --trial N)")
    outputs = parse_outputs(given["reports"], "json" if given["as_json"] else given["format_"])
    with closing(open_runs(store_url, read_only=True)) as store:
        run_id = store.find(name)
        judging = judging_of(store, run_id, given["judging"])
        result = store.load(run_id, judging)
        if not any(output.path is None for output in outputs):
            _show_for_people(store, result, judging, given, stdout)
        if not write_outputs(outputs, [result], stdout, verbose=given["verbose"]):
            raise click.exceptions.Exit(ERROR)


def _show_for_people(
    store: Store, result: RunResult, judging: int, given: Mapping[str, Any], stdout: TextIO
) -> None:
    options = ReportOptions(verbose=given["verbose"], color=given["color"])
    listed = listed_run(store, result.run_id)
    write_head(listed, judging, stdout, options=options)
    show_report([result], stdout, options=options)
    if listed.run.state is RunState.UNFINISHED:
        say(_way_on(listed))
    elif (last := store.judgings(result.run_id)[-1]).number > listed.run.judging:
        say(
            f"judging {last.number} does not count: it was broken off, or the run went on after it. "
            f"`proctor score {listed.short}` judges all of it again"
        )


def _way_on(listed: ListedRun) -> str:
    """Say what becomes of a run that did not come to its end."""
    if listed.imported_from:
        return (
            f"not whole: its import from {listed.imported_from} was broken off. "
            f"`proctor prune --run {listed.short}` deletes it, and the file can be imported again"
        )
    return f"unfinished: `proctor resume {listed.short}` goes on with it"


def show_case(name: str, case: str, store_url: str | None, given: Mapping[str, Any], stdout: TextIO) -> None:
    """Show everything about one case of a run.

    Raises:
        SetupError: there is no such run, case, trial or judging, or an option has nothing to do here.
    """
    if given["reports"] or given["format_"]:
        raise SetupError("--report and --format are about a whole run: leave the case out, or use --json")
    with closing(open_runs(store_url, read_only=True)) as store:
        run_id = store.find(name)
        judging = judging_of(store, run_id, given["judging"])
        planned = find_case(store.planned(run_id), case)
        view = _view(store, listed_run(store, run_id), planned, judging)
    view = replace(view, trials=_checked(given["trials"], view.case))
    if given["as_json"]:
        stdout.write(_as_json(view))
    else:
        write_case(view, stdout, options=ReportOptions(verbose=given["verbose"], color=given["color"]))
        if lacks_reasons(view.case):
            stdout.flush()
            say(
                "Why turns passed was not kept, only why they missed. "
                f"`proctor score {view.short} --details` finds it out and keeps it (no agent is called)"
            )


def lacks_reasons(case: CaseResult) -> bool:
    """Tell whether nothing says why a case passed, although metrics that decided could; a miss has its reason."""
    passed = [
        score
        for name, metric in case.metrics.items()
        if metric.gate and metric.threshold is not None and name in METRICS
        for of_trial in metric.per_trial
        for score in (of_trial.per_invocation if of_trial else ())
        if score.value is not None and score.value >= metric.threshold
    ]
    return case.passed and bool(passed) and not any(score.reason or score.details for score in passed)


def judging_of(store: Store, run_id: str, wanted: int | None) -> int:
    """Return the number of the judging that is wanted, by default of the one whose verdicts count.

    Raises:
        UnknownNameError: the run has not been judged so often.
    """
    judgings = store.judgings(run_id)
    numbers = [judging.number for judging in judgings]
    if wanted is not None and wanted not in numbers:
        listed = ", ".join(map(str, numbers))
        raise UnknownNameError(f"--judging {wanted}: the run has {listed}; `proctor score` adds another")
    return wanted or counting(judgings).number


def listed_run(store: Store, run_id: str) -> ListedRun:
    """Return a run as a list has it."""
    records = {run.run_id: run for run in store.runs()}
    record: RunRecord = records[run_id]
    manifest = store.manifest(run_id)
    short = short_ids(list(records))[run_id]
    return ListedRun(record, short, manifest.agent.commit, manifest.imported_from)


def find_case(planned: Iterator[PlannedCase], name: str) -> PlannedCase:
    """Return the case called `name`: its id, or `set/case`.

    Raises:
        UnknownNameError: there is none; the message has the closest id.
        SetupError: several sets have one.
    """
    found: list[PlannedCase] = []
    names: list[str] = []
    for case in planned:
        if name in (case.eval_id, f"{case.eval_set_id}/{case.eval_id}"):
            found.append(case)
        if len(names) < _MOST_NAMES:
            names.append(case.eval_id)
    if not found:
        listed = ", ".join(islice(names, 10)) + (", …" if len(names) > 10 else "")
        raise UnknownNameError(f"the run has no case {name!r}.{did_you_mean(name, names)} Cases: {listed}.")
    if len(found) > 1:
        choice = " or ".join(f"{case.eval_set_id}/{case.eval_id}" for case in found)
        raise SetupError(f"several sets have a case {name!r}: say {choice}")
    return found[0]


def _view(store: Store, listed: ListedRun, planned: PlannedCase, judging: int) -> CaseView:
    run = listed.run
    history = [
        Judged(
            one.number,
            one.created_at,
            _criteria(one.sets, planned),
            _case(store, run.run_id, planned, one.number),
        )
        for one in store.judgings(run.run_id)
    ]
    shown = next(one.case for one in history if one.number == judging)
    badges = {
        name: badge for name, badge in store.load(run.run_id, judging).badges.items() if name in shown.metrics
    }
    earlier: dict[int, list[Trial]] = {}
    for attempt in store.trials(run.run_id, planned.position, judging, every_attempt=True):
        earlier.setdefault(attempt.number, []).append(Trial.model_validate_json(attempt.evidence))
    return CaseView(
        run.run_id, listed.short, run.agent, run.created_at, shown, judging, history, badges=badges,
        earlier={number: attempts[:-1] for number, attempts in earlier.items()},
        scenario=_scenario(store.case(run.run_id, planned.position)),
    )  # fmt: skip


def _scenario(case: bytes | None) -> ConversationScenario | None:
    """Return what the user of a case was to play; a case that was not kept, or is recorded, has none."""
    from proctor.schema.case import EvalCase

    return EvalCase.model_validate_json(case).conversation_scenario if case else None


def _case(store: Store, run_id: str, planned: PlannedCase, judging: int) -> CaseResult:
    return store.load(run_id, judging).cases[planned.position]


def _criteria(sets: Sequence[Any], planned: PlannedCase) -> str:
    return next((one.config_source for one in sets if one.eval_set_id == planned.eval_set_id), "")


def _checked(numbers: Sequence[int], case: CaseResult) -> list[int]:
    """Return the trials to show, counted from 0."""
    there = [trial.number + 1 for trial in case.trials]
    unknown = [number for number in numbers if number not in there]
    if unknown:
        raise UnknownNameError(
            f"--trial {unknown[0]}: the case has {f'trials 1 to {there[-1]}' if there else 'no trial'}"
        )
    return [number - 1 for number in numbers]


def _as_json(view: CaseView) -> str:
    """Return the case as in the JSON report, with its judgings."""
    shown = [trial for trial in view.case.trials if not view.trials or trial.number in view.trials]
    data = {
        "run_id": view.run_id,
        "agent": view.agent,
        "started_at": view.began,
        "judging": view.judging,
        "calibrations": dict(view.badges),
        "case": _reported(replace(view.case, trials=shown)),
        "earlier_attempts": [
            {"trial": number, "evidence": attempt.model_dump(mode="json", exclude_none=True)}
            for number, attempts in view.earlier.items()
            for attempt in attempts
        ],
        "judgings": [
            {
                "number": judged.number,
                "created_at": judged.created_at,
                "config_source": judged.criteria,
                "outcome": judged.case.outcome.value,
                "reason": judged.case.reason,
                "metrics": {
                    name: {
                        "outcome": metric.outcome.value,
                        "score": metric.score,
                        "threshold": metric.threshold,
                    }
                    for name, metric in judged.case.metrics.items()
                },
            }
            for judged in view.history
        ],
    }
    return clean_json(json.dumps(data, indent=2, ensure_ascii=False)) + "\n"


def _reported(case: CaseResult) -> Any:
    from proctor.reports.json_report import JsonReport

    text = io.StringIO()
    JsonReport().write([RunResult("", cases=[case])], text)
    return json.loads(text.getvalue())["runs"][0]["cases"][0]
