"""Where a run goes: its store and its reports. Both are validated before the run; the reports are written after it, or
after an error that prevented it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TextIO, TypeVar

from proctor.cli.messages import notify
from proctor.common.error_text import safe_str
from proctor.errors import SetupError, SetupProblems, StoreError, did_you_mean
from proctor.reports.base import Report, ReportOptions, is_terminal, load_report
from proctor.runs.output_guard import OutputGuard
from proctor.runs.setup.settings import Settings
from proctor.runs.storage.open import is_for_results, kept_stores, open_store
from proctor.schema.evidence.trial import CONFIGURATION, Failure, FailureKind
from proctor.schema.results.exit_code import ExitCode
from proctor.schema.results.run_result import RunResult

if TYPE_CHECKING:
    from proctor.stores.adk_history import AdkFiles
    from proctor.stores.base import Store

STDOUT = "-"
HTML = "html"
"""The report that is a page, which reads what it shows from a store."""
_PICTURE = "svg"
"""The report that a Markdown report in the same folder shows."""
_STDOUTS = (STDOUT, "/dev/stdout")
MakeGuard = Callable[[], OutputGuard]
"""Makes the guard of output files, which a command without reports does not need."""


_Report = TypeVar("_Report")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Output(Generic[_Report]):
    """One report and its target; `path` is `None` for stdout."""

    name: str
    report: _Report
    path: Path | None
    guard: OutputGuard
    kind: str
    """The kind of file, as the output guard knows it: `audit json`."""

    @property
    def word(self) -> str:
        """The value of `--report` for this output, with an absolute path."""
        return f"{self.name}={self.path or STDOUT}"

    @contextmanager
    def open(self, stdout: TextIO) -> Iterator[TextIO]:
        """Open the target; a file is written completely or not at all.

        Raises:
            OSError: it could not be written; the message names it.
            SetupError: the file has changed since the check and may not be overwritten.
        """
        if self.path is None:
            yield stdout
            return
        try:
            with self.guard.open(self.path, self.kind, errors="backslashreplace") as file:
                yield file
        except OSError as error:
            if not error.strerror:
                raise
            what = f"the report could not be written to {self.path}"  # the error of a full disk names no file
            raise OSError(error.errno, error.strerror, what) from error


RunOutput = Output[Report]
"""A report of runs."""


def parse_outputs(
    reports: Sequence[str], format_: str | None, guard: MakeGuard = OutputGuard
) -> list[RunOutput]:
    """Parse `--report NAME=PATH` and `--format NAME`; `guard` is called if there are any.

    Raises:
        SetupProblems: a report is unknown, a path is missing or cannot be written, or two reports have one target.
    """
    return parse_targets(reports, format_, partial(_parse, cache(guard)))


def parse_targets(
    reports: Sequence[str], format_: str | None, parse: Callable[[str], Output[_Report]]
) -> list[Output[_Report]]:
    """Parse each `NAME=PATH` with `parse`, and `format_` as that report on stdout; collect all problems before raising.

    Raises:
        SetupProblems: the problems that `parse` raises, or two reports with one target.
    """
    problems: list[SetupError] = []
    targets: list[Output[_Report]] = []
    for word in _words(reports, format_):
        try:
            targets.append(parse(word))
        except SetupError as problem:
            problems.append(problem)
    places = [str(each.path or "stdout") for each in targets]
    twice = sorted({place for place in places if places.count(place) > 1})
    problems += [SetupError(f"two reports go to {place}: give each its own place") for place in twice]
    if problems:
        raise SetupProblems(problems)
    return targets


def usable_outputs(
    reports: Sequence[str], format_: str | None, parse: Callable[[str], Output[_Report]]
) -> list[Output[_Report]]:
    """Return the requested reports that can be written; other code reports the problems of the rest."""
    outputs: dict[Path | None, Output[_Report]] = {}
    for word in _words(reports, format_):
        with suppress(SetupError):
            output = parse(word)
            outputs.setdefault(output.path, output)
    return list(outputs.values())


def _words(reports: Sequence[str], format_: str | None) -> list[str]:
    return [*reports, *([f"{format_}={STDOUT}"] if format_ else [])]


def _parse(make_guard: MakeGuard, word: str) -> RunOutput:
    name, path = parse_target(word)
    report, guard = load_report(name), make_guard()
    if path is not None:
        guard.check(path, name, f"--report {word}")
    return Output(name, report, path, guard, name)


def parse_target(word: str) -> tuple[str, Path | None]:
    """Parse NAME=PATH; a path of `None` is stdout.

    Raises:
        SetupError: `word` does not have this form.
    """
    name, equals, place = word.partition("=")
    if not equals or not name or not place:
        raise SetupError(
            f"--report takes NAME=PATH, for example json=out.json or json=- for stdout; got {word!r}"
        )
    return name, None if place in _STDOUTS else Path(
        place
    ).absolute()  # the agent may change the working folder


def output_guard(
    options: Mapping[str, Any], *, project: str | Path | None = None, **files: Any
) -> OutputGuard:
    """Return the output guard of a command, from its options and from the stores of the command and the project.

    `project`: the project's store, if the command knows it already.
    """
    urls = [*(options.get("stores") or ()), *([options["store"]] if options.get("store") else [])]
    return OutputGuard(
        overwrite=bool(options.get("overwrite")),
        make_parents=bool(options.get("make_parents")),
        stores=kept_stores([*urls, project]),
        **files,
    )


def write_outputs(
    outputs: Sequence[RunOutput],
    runs: Sequence[RunResult],
    stdout: TextIO,
    *,
    verbose: bool,
    exit_code: int | None = None,
    store: Store | None = None,
    scoring: int | None = None,
) -> bool:
    """Write every report, print an error for each one that fails, and return whether all were written.

    `exit_code` is that of an interrupted run, which differs from the one of its outcomes. `store` holds the runs, for
    reports that need more than the results; `scoring` is the number of the scoring shown, if it is not the last one.
    """
    extras = None
    if store is not None and any(_shows_extras(output.report) for output in outputs):
        from proctor.web.pages.bundle.store_pages import StoreExtras

        extras = StoreExtras(store, scoring)
    options = ReportOptions(verbose=verbose, color=False, exit_code=exit_code, extras=extras)
    fine = True
    for output in outputs:
        try:
            _write(output, runs, stdout, replace(options, picture=_picture_of(output, outputs)))
        except BrokenPipeError:
            pass  # the reader has closed the pipe, as `head` does
        except (Exception, SystemExit) as error:  # noqa: BLE001  (a report may be a plug-in; continue with the other reports)
            fine = False
            place = output.path or "stdout"
            cause = error.strerror if isinstance(error, OSError) and error.strerror else safe_str(error)
            notify(
                f"error: the report {output.name} could not be written to {place}: {type(error).__name__}: {cause}"
            )
    return fine


def _write(output: RunOutput, runs: Sequence[RunResult], stdout: TextIO, options: ReportOptions) -> None:
    with output.open(stdout) as out:
        output.report.write(runs, out, options=options)
        out.flush()


def _picture_of(output: RunOutput, outputs: Sequence[RunOutput]) -> str:
    """Return the relative path of a picture that is written to the folder of `output`, or below it; empty if none is.

    A report elsewhere, such as the summary of a job or a text for a comment, would show a broken picture.
    """
    for other in outputs:
        if (
            output.path
            and other.path
            and other.name == _PICTURE
            and other.path.is_relative_to(output.path.parent)
        ):
            return other.path.relative_to(output.path.parent).as_posix()
    return ""


def _shows_extras(report: Report) -> bool:
    """Return whether a report shows more data of the store; `looks_beside` is the former name of `shows_extras`."""
    return any(getattr(report, name, False) for name in ("shows_extras", "looks_beside"))


# --- Reports of commands that ran nothing: a report file never keeps the result of an earlier run ---------------------


@contextmanager
def reported_errors(options: Mapping[str, Any], guard: MakeGuard) -> Iterator[list[Any]]:
    """Write a configuration error raised inside the block into every requested report, then re-raise it.

    The block gets a list for each `Execution`. If one of them has run, write nothing: the reports then belong to a run.
    """
    executions: list[Any] = []
    try:
        yield executions
    except SetupError as error:
        if not any(one.has_run for one in executions) and (options["reports"] or options["format_"]):
            failure = Failure(where=CONFIGURATION, kind=FailureKind.NOT_LOADED, message=safe_str(error))
            run = RunResult("proctor", failure=failure, started_at=time.time())
            outputs = usable_outputs(options["reports"], options["format_"], partial(_parse, cache(guard)))
            write_nothing_run(outputs, [run], sys.stdout, failure.cause)
        raise


def write_nothing_run(
    outputs: Sequence[RunOutput],
    runs: Sequence[RunResult],
    stdout: TextIO,
    text: str,
    *,
    is_empty: bool = False,
) -> None:
    """Write reports without cases: either `runs` hold a configuration error, or `text` becomes the note of an empty report.

    If a report format fails without cases (a plug-in may expect them), write `text` to its file instead.
    """
    options = ReportOptions(
        color=False,
        exit_code=ExitCode.PASSED if is_empty else ExitCode.CONFIGURATION_ERROR,
        note=text if is_empty else "",
    )
    for output in outputs:
        try:
            _write(output, runs, stdout, options)
        except Exception:  # noqa: BLE001  (a report may be a plug-in, and the old report must not remain)
            with suppress(OSError, SetupError):
                if output.path is not None:
                    with output.open(stdout) as file:
                        file.write(f"proctor: {text}\n")


# --- Reports of a comparison or an audit, whose result is not a run ------------------------------------------------------


Write = Callable[[_Result, TextIO], None]
"""Writes a result as a report."""


ResultOutput = Output[Write[_Result]]
"""A report of another result."""


@dataclass(frozen=True, slots=True)
class ResultReports(Generic[_Result]):
    """The reports of one kind of result."""

    kind: str
    """The result in a word: `audit`."""
    writers: Mapping[str, Write[_Result]]
    page: Callable[[], Write[_Result]]
    """Makes the writer of the report `html`; it may raise `SetupError`."""
    write_error: Callable[[str, str, TextIO], None]
    """Writes a configuration error as the report of a name."""
    guard: MakeGuard

    def outputs(self, reports: Sequence[str], format_: str | None) -> list[ResultOutput[_Result]]:
        """Parse `--report NAME=PATH` and `--format NAME`.

        Raises:
            SetupProblems: a report is unknown, a path cannot be written, or two reports have one target.
        """
        return parse_targets(reports, format_, self._parse)

    def _parse(self, word: str) -> ResultOutput[_Result]:
        name, path = parse_target(word)
        known = [*self.writers, HTML]
        if name not in known:
            raise SetupError(
                f"no {self.kind} report is called {name!r}.{did_you_mean(name, known)} Known: {', '.join(known)}"
            )
        guard = self.guard()
        if path is not None:
            guard.check(path, f"{self.kind} {name}", f"--report {word}")
        write = self.page() if name == HTML else self.writers[name]
        return Output(name, write, path, guard, f"{self.kind} {name}")

    @contextmanager
    def reported_errors(self, reports: Sequence[str], format_: str | None) -> Iterator[None]:
        """Write a configuration error raised inside the block into every requested report, then re-raise it."""
        try:
            yield
        except SetupError as error:
            for output in usable_outputs(reports, format_, self._parse):
                with suppress(SetupError, OSError), output.open(sys.stdout) as out:
                    self.write_error(output.name, str(error), out)
            raise


def write_result(outputs: Sequence[ResultOutput[_Result]], result: _Result, stdout: TextIO) -> None:
    """Write every report.

    Raises:
        OSError: a report could not be written; the message names it.
    """
    for output in outputs:
        with output.open(stdout) as out:
            output.report(result, out)


# --- Targets of a run: its store, and the folders to which its results are also written -------------------------------


NOWHERE = "memory:"


@dataclass(frozen=True, slots=True)
class RunTargets:
    """The store of a run and its further targets."""

    store: Store | None = None
    """`None`: the run is not stored."""
    adk: list[AdkFiles] = field(default_factory=list)
    """Agent folders to whose `.adk/eval_history` the results are also written."""

    def close(self) -> None:
        """Close the store."""
        if self.store is not None:
            self.store.close()

    def write_results(self, runs: Sequence[RunResult]) -> bool:
        """Write the results to the further targets, print an error for each failure, and return whether all succeeded."""
        fine = True
        for place in self.adk:
            for run in runs:
                try:
                    place.write(run)
                except StoreError as error:
                    fine = False
                    notify(f"error: {error}")
        return fine


def open_targets(stores: Sequence[str], settings: Settings) -> RunTargets:
    """Open the stores of `--store` or of the settings; the project's own store if neither names one.

    Raises:
        SetupError: two stores are named, or one cannot be used.
    """
    urls = list(stores) or list(settings.store)
    store, adk = store_of(urls), result_folders(urls)
    return RunTargets(None if store == NOWHERE else open_store(store, settings), adk)


def store_of(urls: Sequence[str]) -> str | None:
    """Return the URL of the store for the run; `None` if all `urls` are targets for results only.

    Raises:
        SetupError: `urls` name two stores.
    """
    stores = [url for url in urls if not is_for_results(url)]
    if len(stores) > 1:
        raise SetupError(f"a run lives in one store, and there are two: {' and '.join(stores)}")
    return stores[0] if stores else None


def result_folders(urls: Sequence[str]) -> list[AdkFiles]:
    """Return the folders among `urls` to which results are also written.

    Raises:
        StoreError: a folder does not exist, or may not be written.
    """
    return [_results(url) for url in urls if is_for_results(url)]


def _results(url: str) -> AdkFiles:
    from proctor.stores.adk_history import AdkFiles

    place = AdkFiles.from_url(url)
    place.check()
    return place


# --- The report on the screen ----------------------------------------------------------------------------------------


def report_for(out: TextIO) -> Report:
    """Return the report that suits `out`; rich is loaded only for a terminal."""
    if is_terminal(out):
        from proctor.reports.terminal.run import TerminalReport

        return TerminalReport()
    from proctor.reports.plain import PlainReport

    return PlainReport()
