"""Check eval sets and configs as a run does, with the location of every problem. Nothing is run, and no user code is loaded."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, cast

from proctor.authoring.audit.audit_sets import find_passed_by_idle
from proctor.common.registry import METRICS
from proctor.engine.execution.run_control import run_sync
from proctor.engine.planning.case_checks import cannot_run, classify, reader_of
from proctor.engine.planning.criteria import Bound, bind
from proctor.engine.planning.plan import Plan, make_plan, problems_of_trials, trials_per_case
from proctor.engine.planning.set_plan import (
    ASSERTS_NOTHING,
    REMEDIES,
    Assertions,
    SetPlan,
    SetRequest,
    and_others,
)
from proctor.engine.run_options import RunOptions
from proctor.errors import CriterionError, SettingsError, SetupError, SetupProblems, UnknownNameError
from proctor.files.eval_sets.documents import Document, problems_at
from proctor.files.eval_sets.eval_set_file import EvalSetFile
from proctor.files.eval_sets.file_problems import NO_CASES, FileCheck, check_file
from proctor.files.eval_sets.source import open_eval_set
from proctor.files.text.problems import Problem, Severity
from proctor.files.text.validation_messages import DocumentFinding, locate_message, near_key, resolve
from proctor.metrics.builtin import METRICS as BUILT_IN
from proctor.runs.arguments import EvaluateOptions, refuse_unknown_options
from proctor.runs.load import Configs, trial_overrides
from proctor.runs.setup.judge_and_user import JudgesOnDemand, UsersOnDemand, is_function
from proctor.runs.setup.settings import engine_options, load_settings
from proctor.schema.format.case import EvalCase
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.invocation import Invocation

_REFUSED = "is refused"
_SAID = 100  # problems of the cases of one set
_TRIED = 200  # cases of one set that agents that do nothing are tried on
_SEE_AUDIT = "`proctor audit` shows which faults a case notices"


def check_files(paths: Iterable[str | Path], **options: Unpack[EvaluateOptions]) -> list[FileCheck]:
    """Return all errors and warnings in files of the format, including those that stop a run of them with these options.

    Sets are scored by `config`, or by the one that a run would find. A config that is not among `paths`, and that sets
    could not be run with, has a separate report. The options are those of `evaluate`; those that decide nothing before a
    run are ignored, and code of one's own is not loaded. With `allow_unknown_keys`, keys that
    state an expectation and that nothing reads are warnings; with `warnings_as_errors` every warning is an error.

    Raises:
        SetupProblems: an option that `evaluate` does not have.
    """
    refuse_unknown_options(options, EvaluateOptions.__annotations__)
    file_options = {name: bool(options.get(name)) for name in ("allow_duplicate_ids", "allow_unknown_keys")}
    reports = [check_file(path, **file_options) for path in paths]
    reports += check_meaning(reports, options)
    for report in reports if options.get("warnings_as_errors") else ():
        report.refuse_warnings()
    return reports


def check_meaning(reports: Sequence[FileCheck], options: EvaluateOptions) -> list[FileCheck]:
    """Add to `reports` what a run of their sets would refuse or warn about; returns those of further configs that would stop it."""
    meaning = _Meaning(reports, options)
    meaning.check_sets()
    _refuse_empty_sets(reports)
    return meaning.check_configs()


def _refuse_empty_sets(reports: Iterable[FileCheck]) -> None:
    """Make an error of a set without cases, as a run does."""
    for report in reports:
        report.problems = [
            replace(each, severity="error") if each.message == NO_CASES else each for each in report.problems
        ]


def _never_called_user(_so_far: object) -> None:
    """Replace a simulated user that is a function of the user's code, which is not loaded here."""
    raise NotImplementedError


_DECIDING = (
    "allow_unasserted", "compat", "confidence", "metrics", "min_pass_rate", "no_judge", "num_runs", "pass_k",
)  # fmt: skip
"""The options that decide whether a run begins, besides `config`, `judge` and `user`."""


def _run_options(options: EvaluateOptions) -> RunOptions:
    user = options.get("user")
    plays = _never_called_user if isinstance(user, str) and is_function(user) else user
    values: dict[str, Any] = {name: value for name, value in options.items() if name in _DECIDING}
    return RunOptions(
        judges=JudgesOnDemand(options.get("judge")),
        users=UsersOnDemand(plays),
        **{name: value for name, value in values.items() if value is not None},
    )


def without_code(config: EvalConfig) -> EvalConfig:
    """Return the config with its custom functions replaced: no code that a file names is loaded here.

    A built-in metric under another name is Proctor's code, and is built from its criterion as in a run.
    """
    if not config.custom_metrics:
        return config
    own = {where.replace(":", ".") for where in BUILT_IN.values()}
    stand_ins = {name: one.model_copy(deep=True) for name, one in config.custom_metrics.items()}
    for one in stand_ins.values():
        if one.code_config.name in own:
            continue
        one.code_config.name = f"{never_called_metric.__module__}.{never_called_metric.__name__}"
    return config.model_copy(update={"custom_metrics": stand_ins})


class _Meaning:
    def __init__(
        self,
        reports: Sequence[FileCheck],
        options: EvaluateOptions,
    ) -> None:
        self._named = reports
        self._by_path = {os.path.realpath(report.file): report for report in reports}
        self._problems: list[SetupError] = []
        self._without_code: dict[int, EvalConfig] = {}
        self._options = _run_options(options)
        self._configs = Configs(options.get("config"), self._problems, [], trial_overrides(self._options))

    # --- sets: planned together, as in one run ---

    def check_sets(self) -> None:
        """Plan a run of the sets, and put into each report what is wrong with its file."""
        planned = [*self._planned_sets()]
        try:
            self._warnings_of(make_plan(planned, self._options))
        except SetupProblems as refused:
            for file in dict.fromkeys(problem.file for problem in refused.problems):
                self._add_problems(
                    self._report(file), [each for each in refused.problems if each.file == file]
                )

    def _planned_sets(self) -> Iterator[SetRequest]:
        for report in self._named:
            if not isinstance(report.content, EvalSetFile) or not report.cases:
                continue
            before = len(self._problems)
            config, origin = self._configs.of(Path(report.file))
            self._report(origin)
            for problem in self._problems[before:]:
                self._not_readable(problem, report)
            yield SetRequest(report.content, self._ready(config or EvalConfig.default()), origin)

    def _not_readable(self, problem: SetupError, report: FileCheck) -> None:
        """Report a config that sets cannot be run with, unless the check of its file reports it."""
        problems: list[Problem] = getattr(problem, "problems", [])
        if not problems:
            report.problems.append(Problem("error", report.file, 1, 1, "", str(problem)))
        elif self._report(problems[0].file).usable:  # the file does not exist
            self._report(problems[0].file).problems += problems

    def _ready(self, config: EvalConfig) -> EvalConfig:
        """Return `without_code` of the config, once for each."""
        if id(config) not in self._without_code:
            self._without_code[id(config)] = without_code(config)
        return self._without_code[id(config)]

    def _warnings_of(self, plan: Plan) -> None:
        for warning in plan.criteria_warnings:
            self._add_problems(self._report(warning.file), [warning], "warning")
        for chosen in plan.sets:
            origin, file = chosen.summary.config_source, chosen.source.label or ""
            self._assertions_of(chosen, self._report(file))
            self._passed_by_idle(chosen, self._report(file))
            for key, count in chosen.unread.items() if Path(origin).is_file() else ():
                message = f"{count} case(s) state `{key}`, which nothing reads"
                hint = f"name `{reader_of(key)}` in the criteria of {origin}"
                self._report(file).problems.append(Problem("warning", file, 1, 1, "", message, hint))

    @staticmethod
    def _assertions_of(chosen: SetPlan, report: FileCheck) -> None:
        """Warn about each case that would run although it asserts nothing, or only something negative."""
        if not isinstance(report.content, EvalSetFile):
            return
        assertions = chosen.assertions
        for message, indexes in (*assertions.groups(), *assertions.skips()) if assertions else ():
            findings = [(index, [DocumentFinding((), message)]) for index in indexes[:_SAID]]
            report.problems += report.content.problems(findings, "warning")

    @staticmethod
    def _passed_by_idle(chosen: SetPlan, report: FileCheck) -> None:
        """Warn about each case that an agent passes that does nothing, although the case asserts something."""
        if isinstance(report.content, EvalSetFile):
            passed = run_sync(lambda: find_passed_by_idle(chosen, _TRIED))
            known = chosen.assertions.negative if chosen.assertions else ()
            findings = [
                (index, [DocumentFinding((), f"an agent that does nothing passes it: it {what}", _SEE_AUDIT)])
                for index, what in passed.items()
                if index not in known
            ]
            report.problems += report.content.problems(findings, "warning")

    # --- configs ---

    def check_configs(self) -> list[FileCheck]:
        """Build the metrics of all configs, and return the reports of the configs that were not named, if they stop a run."""
        for report in [*self._by_path.values()]:
            if report.content is not None and not isinstance(report.content, EvalSetFile):
                self._check_config(report, report.content)
        for report in self._by_path.values():
            report.problems = _without_echoes(report.problems)
            report.sort_problems()
        named_ids = {id(report) for report in self._named}
        others = (report for report in self._by_path.values() if id(report) not in named_ids)
        return [report for report in others if any(map(_refuses, report.problems))]

    def _check_config(self, report: FileCheck, document: Document) -> None:
        config = EvalConfig.model_validate(document.value)
        bound = bind(self._ready(config), self._options)
        num_runs = trials_per_case(config, self._options)
        of_trials = problems_of_trials(config, config.rule_for(num_runs), num_runs)
        for problem in [*bound.problems, *_paths(config), *of_trials]:
            report.problems += _config_findings(document, problem, "error")
        for warning in bound.warnings:
            report.problems += _config_findings(document, warning, "warning")

    def _add_problems(
        self, report: FileCheck, problems: Sequence[SetupError], severity: Severity = "error"
    ) -> None:
        """Add problems to the report of their file; a problem without a location is left to the check of the file."""
        if isinstance(report.content, EvalSetFile):
            report.problems += _case_problems_of_file(
                report.content, [each for each in problems if each.path]
            )
        elif report.content is not None:
            for problem in problems:
                report.problems += _config_findings(report.content, problem, severity) if problem.path else []

    def _report(self, file: str | None) -> FileCheck:
        """Return the report of a file, which is created if the file was not named; an empty one for a missing file."""
        path = os.path.realpath(file or os.devnull)
        if path not in self._by_path:
            is_file = file is not None and Path(file).is_file()
            self._by_path[path] = check_file(file or "") if is_file else FileCheck(file or "", "")
        return self._by_path[path]


def never_called_metric(actual: Invocation) -> float:
    """Replace a custom metric, whose code is not loaded here; it is never called."""
    raise NotImplementedError(actual.invocation_id)


def _paths(config: EvalConfig) -> Iterator[SetupError]:
    """Dotted paths of metrics in the criteria that can be none."""
    from proctor.metrics.custom.function_metric import read_path

    custom_metrics = {
        name: one for name, one in (config.custom_metrics or {}).items() if name in config.criteria
    }
    for name, custom in custom_metrics.items():
        try:
            read_path(name, custom.code_config.name)
        except CriterionError as problem:
            problem.path = ("custom_metrics", name)
            yield problem


def _case_problems_of_file(source: EvalSetFile, problems: Iterable[SetupError]) -> Iterator[Problem]:
    """Problems of cases, each at its place; what this version cannot do is one warning for the whole set."""
    findings: dict[int, list[DocumentFinding]] = {}
    undone: list[int] = []
    for count, problem in enumerate(problems):
        index = int(problem.path[1])
        if not problem.is_mistake:
            undone.append(index)
            findings.setdefault(-1, [DocumentFinding((), f"a run of it {_REFUSED}: {problem.parts[0]}")])
        elif count < _SAID:
            value = source.value(index)
            findings.setdefault(index, []).extend(_finding_in_case(part, value) for part in problem.parts)
    if undone:
        (warning,) = source.problems([(undone[0], findings.pop(-1))], "warning")
        more = f" (and {len(undone) - 1} more cases are)" if len(undone) > 1 else ""
        yield replace(warning, message=f"{warning.message}{more}")
    yield from source.problems([*findings.items()], "error")


def _finding_in_case(message: str, value: object) -> DocumentFinding:
    """A sentence about a case, at its place; a case that asserts nothing comes with the ways to fix it."""
    finding = locate_message(message, value)
    return replace(finding, hint=REMEDIES) if message == ASSERTS_NOTHING else finding


def _config_findings(document: Document, problem: SetupError, severity: Severity) -> list[Problem]:
    """A problem of a config in its single parts, each at its place."""
    path, _ = resolve(problem.path, document.value)
    value = document.value
    for step in path:
        value = value[step]
    if isinstance(problem, UnknownNameError) and path:
        near = near_key(str(path[-1]), METRICS.names())
        finding = DocumentFinding(
            path, f"{path[-1]!r} is not a metric", f"did you mean `{near}`?", at_key=True
        )
        return problems_at(document, [finding]) if near else []  # else code of the user's own may register it
    parts = [part.rpartition(" does not fit: ")[2] for part in problem.parts or [str(problem)]]
    findings = [locate_message(part, value, path) for part in parts]
    if not problem.is_mistake:
        severity = "warning"
        findings = [
            DocumentFinding(each.path, f"a run with this config {_REFUSED}: {each.message}")
            for each in findings
        ]
    return problems_at(document, findings, severity)


def _refuses(problem: Problem) -> bool:
    """Whether a run ends at it before it begins."""
    return problem.severity == "error" or _REFUSED in problem.message


def _without_echoes(problems: Sequence[Problem]) -> list[Problem]:
    """Remove the warnings about a criterion that has errors, because they repeat the errors."""
    wrong = {_criterion(each) for each in problems if each.severity == "error"} - {""}
    return [each for each in problems if each.severity == "error" or _criterion(each) not in wrong]


def _criterion(problem: Problem) -> str:
    match = re.match(r"criteria(\.[^.\[]+|\[[^\]]*\])", problem.field)
    return match[0] if match else ""


# --- cases that assert nothing, or only what must not happen ----------------------------------------------------------


_RUN_REFUSES = "a run refuses it"


def assertion_problems_of_file(path: str | Path, eval_ids: Collection[str] | None = None) -> list[Problem]:
    """Return the warnings about the cases of a file; `eval_ids`: about these only.

    Raises:
        EvalFileError: the file cannot be read.
    """
    source = open_eval_set(path, allow_empty=True, allow_duplicate_ids=True)
    return assertion_problems(source, Path(path), eval_ids)


def assertion_problems(
    source: EvalSetFile,
    path: Path,
    eval_ids: Collection[str] | None = None,
    *,
    consequence: str = _RUN_REFUSES,
) -> list[Problem]:
    """Return the warnings about the cases of a set, by the config that a run of the file at `path` would use.

    One warning for all cases of which the same is true, at the place of the first. Where the config cannot be used, none: a
    run and `check` report that. `consequence`: what becomes of a case that asserts nothing.
    """
    options = options_of_project(Path.cwd())
    bound = _bind_metrics(path, options)
    if bound is None:
        return []
    assertions = Assertions(options.get("allow_unasserted", False))
    ids = source.ids()
    for index in range(len(source)):
        if eval_ids is None or ids[index] in eval_ids:
            _look_at(assertions, index, source.case(index), bound)
    problems: list[Problem] = []
    for message, hint, indexes in _groups(assertions, consequence):
        text = f"case {ids[indexes[0]]!r}{and_others(source, indexes[1:])}: {message}"
        problems += source.problems([(indexes[0], [DocumentFinding((), text, hint)])], "warning")
    return problems


def assertion_findings(case: EvalCase, path: Path) -> list[DocumentFinding]:
    """Return the same of one case that is being written into the file at `path`."""
    options = options_of_project(Path.cwd())
    bound = _bind_metrics(path, options)
    if bound is None:
        return []
    assertions = Assertions(options.get("allow_unasserted", False))
    _look_at(assertions, 0, case, bound)
    return [DocumentFinding((), message, hint) for message, hint, _ in _groups(assertions, _RUN_REFUSES)]


def warning_texts(problems: Iterable[Problem]) -> list[str]:
    """Return warnings for a reader who knows which case they are about: without their place in the file."""
    return [f"{one.message} ({one.hint})" if one.hint else one.message for one in problems]


def _look_at(assertions: Assertions, index: int, case: EvalCase, bound: Bound) -> None:
    if not cannot_run(case):
        classify(case, index, bound, assertions)


def _groups(assertions: Assertions, consequence: str) -> Iterable[tuple[str, str, Sequence[int]]]:
    """Return message, hint and indexes of the cases."""
    refused: dict[str, list[int]] = {}
    for index, reason in () if assertions.allowed else assertions.unasserted.items():
        refused.setdefault(reason, []).append(index)
    for reason, indexes in refused.items():
        yield f"{reason}; {consequence}", REMEDIES, indexes
    for message, indexes in (*assertions.groups(), *assertions.skips()):
        yield message, "", indexes


def options_of_project(folder: Path) -> EvaluateOptions:
    """Return the options of a run that the settings of the project around `folder` state; none if they cannot be read."""
    try:
        return cast("EvaluateOptions", engine_options({}, load_settings(folder)))
    except SettingsError:  # every command reports it
        return {}


def _bind_metrics(path: Path, options: EvaluateOptions) -> Bound | None:
    """Return the metrics that a run of a set would use; `None` if it would not begin with them."""
    problems: list[SetupError] = []
    config, _ = Configs(options.get("config"), problems, []).of(path)
    if config is None or problems:
        return None
    bound = bind(without_code(config), _run_options(options))
    return None if bound.problems else bound
