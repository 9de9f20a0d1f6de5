"""Output files of reports: validated before the run, written after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO, TypeVar

from proctor.cli.errors import say
from proctor.common.error_text import safe_str
from proctor.errors import SetupError, SetupProblems
from proctor.reports.base import Report, ReportOptions, load_report
from proctor.runs.output_guard import OutputGuard, kept_stores
from proctor.schema.results.run_result import RunResult

if TYPE_CHECKING:
    from proctor.stores.base import Store

STDOUT = "-"
_STDOUTS = (STDOUT, "/dev/stdout")


@dataclass(frozen=True, slots=True)
class Output:
    """One report and its target; `path` is `None` for stdout."""

    name: str
    report: Report
    path: Path | None
    guard: OutputGuard = field(default_factory=OutputGuard)

    @property
    def word(self) -> str:
        """The value of `--report` for this output, with an absolute path."""
        return f"{self.name}={self.path or STDOUT}"

    def write(self, runs: Sequence[RunResult], stdout: TextIO, options: ReportOptions) -> None:
        """Write the report; a file is written completely or not at all.

        Raises:
            OSError: it could not be written.
            SetupError: the file has changed since the check and may not be overwritten.
        """
        if self.path is None:
            self.report.write(runs, stdout, options=options)
            stdout.flush()
            return
        with self.guard.open(self.path, self.name, errors="backslashreplace") as file:
            self.report.write(runs, file, options=options)


class Placed(Protocol):
    """An output with a target path; `None` is stdout."""

    @property
    def path(self) -> Path | None:
        """The file."""


_Placed = TypeVar("_Placed", bound=Placed)


def parse_outputs(
    reports: Sequence[str], format_: str | None, guard: OutputGuard | None = None
) -> list[Output]:
    """Parse `--report NAME=PATH` and `--format NAME`; `guard` decides which files may be overwritten.

    Raises:
        SetupProblems: a report is unknown, a path is missing or cannot be written, or two reports have one target.
    """
    return parse_placed(reports, format_, lambda word: _parse(word, guard or OutputGuard()))


def parse_placed(
    reports: Sequence[str], format_: str | None, parse: Callable[[str], _Placed]
) -> list[_Placed]:
    """Parse each `NAME=PATH` with `parse`, and `format_` as that report on stdout; collect all problems before raising.

    Raises:
        SetupProblems: the problems that `parse` raises, or two reports with one target.
    """
    asked = [*reports, *([f"{format_}={STDOUT}"] if format_ else [])]
    problems: list[SetupError] = []
    found: list[_Placed] = []
    for word in asked:
        try:
            found.append(parse(word))
        except SetupError as problem:
            problems.append(problem)
    places = [str(each.path or "stdout") for each in found]
    twice = sorted({place for place in places if places.count(place) > 1})
    problems += [SetupError(f"two reports go to {place}: give each its own place") for place in twice]
    if problems:
        raise SetupProblems(problems)
    return found


def _parse(word: str, guard: OutputGuard) -> Output:
    name, path = named_place(word)
    report = load_report(name)
    if path is not None:
        guard.check(path, name, f"--report {word}")
    return Output(name, report, path, guard)


def named_place(word: str) -> tuple[str, Path | None]:
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


def output_guard(given: Mapping[str, Any], **files: Any) -> OutputGuard:
    """Return the output guard of a command, from its options and from the stores of the command and the project."""
    return OutputGuard(
        overwrite=bool(given.get("overwrite")),
        make_parents=bool(given.get("make_parents")),
        stores=kept_stores([*(given.get("stores") or ()), *([given["store"]] if given.get("store") else [])]),
        **files,
    )


def write_outputs(
    outputs: Sequence[Output],
    runs: Sequence[RunResult],
    stdout: TextIO,
    *,
    verbose: bool,
    exit_code: int | None = None,
    store: Store | None = None,
    judging: int | None = None,
) -> bool:
    """Write every report, print an error for each one that fails, and return whether all were written.

    `exit_code` is that of an interrupted run, which differs from the one of its outcomes. `store` holds the runs, for
    reports that need more than the results; `judging` is the number of the scoring shown, if it is not the last one.
    """
    beside = None
    if store is not None and any(getattr(output.report, "looks_beside", False) for output in outputs):
        from proctor.web.pages.bundle.store_pages import StoreExtras

        beside = StoreExtras(store, judging)
    options = ReportOptions(verbose=verbose, color=False, exit_code=exit_code, beside=beside)
    fine = True
    for output in outputs:
        try:
            output.write(runs, stdout, options)
        except BrokenPipeError:
            pass  # the reader has closed the pipe, as `head` does
        except (Exception, SystemExit) as error:  # noqa: BLE001  (a report may be a plug-in; continue with the other reports)
            fine = False
            place = output.path or "stdout"
            cause = error.strerror if isinstance(error, OSError) and error.strerror else safe_str(error)
            say(
                f"error: the report {output.name} could not be written to {place}: {type(error).__name__}: {cause}"
            )
    return fine
