"""The work of `proctor compare`: where it writes to, and one case side by side."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from proctor.analysis.compare.baselines import load_baseline
from proctor.analysis.compare.reports.case_diff import parting, write_parting
from proctor.analysis.compare.reports.error import write_comparison_error
from proctor.analysis.compare.reports.parting_json import write_parting_json
from proctor.analysis.compare.reports.write import NAMES, Writer, writer_of
from proctor.analysis.compare.sides import find_run
from proctor.cli.report_outputs import named_place, output_guard, parse_placed
from proctor.common.quick_dataclasses import dataclass
from proctor.errors import SetupError, UnknownNameError, did_you_mean
from proctor.reports.base import ReportOptions
from proctor.runs.lookup import find_case
from proctor.runs.output_guard import OutputGuard
from proctor.runs.queries import open_runs
from proctor.schema.analysis.comparison import Comparison
from proctor.stores.baselines import is_file

HTML = "html"
"""The report that has the runs in it, too, and is read from their store."""


@dataclass(frozen=True, slots=True)
class Place:
    """One report of a comparison and where it goes; `path` is `None` for stdout."""

    name: str
    write: Writer
    path: Path | None
    guard: OutputGuard


def parse_places(given: Mapping[str, Any], store_url: str | None, baseline: str = "") -> list[Place]:
    """Read `--report NAME=PATH` and `--format NAME`; the runs are in `store_url`, the base has this name, if any.

    Raises:
        SetupProblems: an unknown report, a place that cannot be written, two reports in one place.
    """
    inputs = [Path(baseline)] if is_file(baseline) else []
    guard = output_guard({**given, "store": store_url}, inputs=inputs)
    return parse_placed(
        given["reports"], given["format_"], lambda word: _place(word, guard, store_url, baseline)
    )


@contextmanager
def reported_comparison_errors(
    given: Mapping[str, Any], store_url: str | None, baseline: str
) -> Iterator[None]:
    """Write a configuration error that is raised inside into every requested report, and raise it again."""
    try:
        yield
    except SetupError as error:
        words = [*given["reports"], *([f"{given['format_']}=-"] if given["format_"] else [])]
        for word in words:
            with suppress(SetupError, OSError):
                (place,) = parse_places({**given, "reports": [word], "format_": None}, store_url, baseline)
                name = place.name.removeprefix("comparison ")
                if place.path is None:
                    write_comparison_error(name, str(error), sys.stdout)
                    continue
                with place.guard.open(place.path, place.name, errors="backslashreplace") as file:
                    write_comparison_error(name, str(error), file)
        raise


def _place(word: str, guard: OutputGuard, store_url: str | None, baseline: str) -> Place:
    name, path = named_place(word)
    writer = _page_writer(store_url, baseline) if name == HTML else writer_of(name)
    if writer is None:
        known = [*NAMES, HTML]
        raise SetupError(
            f"no report of a comparison is called {name!r}.{did_you_mean(name, known)} Known: {', '.join(known)}"
        )
    if path is not None:
        guard.check(path, f"comparison {name}", f"--report {word}")
    return Place(f"comparison {name}", writer, path, guard)


def _page_writer(store_url: str | None, baseline: str) -> Writer:
    from proctor.web.pages.bundle.comparison_file import write_comparison_file
    from proctor.web.pages.bundle.single_file import read_page

    page = read_page()

    def write(found: Comparison, out: TextIO) -> None:
        with closing(open_runs(store_url, read_only=True)) as store:
            write_comparison_file(store, found, page, out, baseline=baseline)

    return write


def write_places(places: Sequence[Place], found: Comparison, stdout: TextIO) -> None:
    """Write every report; a file is whole or not there.

    Raises:
        OSError: one could not be written; it says which.
    """
    for place in places:
        if place.path is None:
            place.write(found, stdout)
            continue
        try:
            with place.guard.open(place.path, place.name, errors="backslashreplace") as file:
                place.write(found, file)
        except OSError as error:  # a full disk names no file
            what = f"the report could not be written to {place.path}"
            raise OSError(error.errno, error.strerror, what) from error


def run_of_baseline(name: str, store_url: str | None) -> str:
    """Return the id of the run of a baseline, which must be in the store: the evidence is where the run is.

    Raises:
        UnknownNameError: there is no such baseline, or its run is not there.
        EvalFileError: the baseline cannot be read.
    """
    run_id = load_baseline(name, store_url).run_id
    with closing(open_runs(store_url, read_only=True)) as store:
        try:
            return store.find(run_id)
        except UnknownNameError:
            raise UnknownNameError(
                f"The run {run_id} of the baseline {name} is not in {store.url}, and a case side by side takes what its agent "
                "did: leave the case out, or name the store that has it with --store"
            ) from None


def show_parting(
    names: tuple[str, str], case: str, store_url: str | None, stdout: TextIO, options: ReportOptions | None
) -> None:
    """Show one case of two runs side by side; without options as JSON.

    Raises:
        SetupError: there is no such run or case.
    """
    with closing(open_runs(store_url, read_only=True)) as store:
        runs = [find_run(store, name) for name in names]
        found = [store.load(run).cases[find_case(store.planned(run), case).position] for run in runs]
        two = parting(*found)
        if options is None:
            write_parting_json(two, stdout)
        else:
            write_parting(two, stdout, options=options)
