"""Where the reports of a run go: checked before the run, written after it."""

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
    """One report and where it goes; `path` is `None` for stdout."""

    name: str
    report: Report
    path: Path | None
    guard: OutputGuard = field(default_factory=OutputGuard)

    @property
    def word(self) -> str:
        """What `--report` takes for it, wherever one stands."""
        return f"{self.name}={self.path or STDOUT}"

    def write(self, runs: Sequence[RunResult], stdout: TextIO, options: ReportOptions) -> None:
        """Write the report; a file is whole or not there.

        Raises:
            OSError: it could not be written.
            SetupError: the file became one that may not be overwritten.
        """
        if self.path is None:
            self.report.write(runs, stdout, options=options)
            stdout.flush()
            return
        with self.guard.open(self.path, self.name, errors="backslashreplace") as file:
            self.report.write(runs, file, options=options)


class Placed(Protocol):
    """Something that is written to a place of its own; `None` is stdout."""

    @property
    def path(self) -> Path | None:
        """The file."""


_Placed = TypeVar("_Placed", bound=Placed)


def parse_outputs(
    reports: Sequence[str], format_: str | None, guard: OutputGuard | None = None
) -> list[Output]:
    """Read `--report NAME=PATH` and `--format NAME`; `guard` decides what they may overwrite.

    Raises:
        SetupProblems: an unknown report, no path, a place that cannot be written, two reports on stdout.
    """
    return parse_placed(reports, format_, lambda word: _parse(word, guard or OutputGuard()))


def parse_placed(
    reports: Sequence[str], format_: str | None, parse: Callable[[str], _Placed]
) -> list[_Placed]:
    """Read each `NAME=PATH` with `parse`, and `format_` as that name on stdout; every problem is told at once.

    Raises:
        SetupProblems: what `parse` refuses, or two reports in one place.
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
    """Read NAME=PATH; `None` is stdout.

    Raises:
        SetupError: it is nothing of the kind.
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
    """Return the guard for what a command writes: its options, and the stores that it and the project use."""
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
    """Write every report; say which could not be written. Returns whether all could.

    `exit_code` is that of an interrupted run, which is not what its outcomes say. `store` is where the runs are kept, for
    reports that look there for more than results say, `judging` the one that is shown, where that is not the last.
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
            pass  # the reader has seen enough
        except (Exception, SystemExit) as error:  # noqa: BLE001  (a report may be a plug-in; the others are still to be written)
            fine = False
            place = output.path or "stdout"
            cause = error.strerror if isinstance(error, OSError) and error.strerror else safe_str(error)
            say(
                f"error: the report {output.name} could not be written to {place}: {type(error).__name__}: {cause}"
            )
    return fine
