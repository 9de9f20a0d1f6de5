"""Where the result of a run that goes on is written: as when it was begun, unless something else is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from proctor.cli.errors import problems_of
from proctor.cli.eval.stores import Keeping, results_places
from proctor.cli.report_outputs import Output, output_guard, parse_outputs
from proctor.errors import SetupError, SetupProblems
from proctor.runs.output_guard import OutputGuard
from proctor.runs.resume import Outputs, known_places, nothing_to_do, outputs_of
from proctor.settings import Settings

if TYPE_CHECKING:
    from proctor.stores.base import Store


def where_to(
    store: Store, run_id: str, given: Mapping[str, Any], settings: Settings
) -> tuple[list[Output], Keeping]:
    """Return the reports and the places that the result of a run goes to.

    What was asked for when the run was begun holds: a report is given up for one of the same name that is asked for
    now, google-adk's folders for others that are. To a run with nothing left to do only what is asked for now.

    Raises:
        SetupProblems: what is asked for cannot be; or a place cannot be written any more.
    """
    guard = output_guard(given)
    asked = parse_outputs(given["reports"], given["format_"], guard)
    adk = results_places(given["stores"])
    if nothing_to_do(store, run_id, retry_errors=given["retry_errors"]):
        return asked, Keeping(store, adk)
    before = outputs_of(store.manifest(run_id)) or Outputs([], list(settings.store))
    reports = _reports_again(before.reports, asked, guard)
    return [*asked, *reports], Keeping(store, adk or _again(results_places, before.results, "--store"))


def _reports_again(words: Sequence[str], asked: Sequence[Output], guard: OutputGuard) -> list[Output]:
    names = {output.name for output in asked if output.path is not None}
    left = [word for word in words if word.partition("=")[0] not in names]
    found: list[Output] = _again(lambda known: parse_outputs(known, None, guard), left, "--report")
    taken = {output.path for output in asked}
    return [output for output in found if output.path not in taken]


def _again(read: Any, places: Sequence[str], option: str) -> Any:
    """Read what was asked for when the run was begun; a problem says that, for nobody has asked for it now."""
    try:
        return read(known_places(places, option))
    except SetupError as problem:
        begun = f"(it was asked for when the run was begun; {option} names another place)"
        raise SetupProblems([SetupError(f"{one} {begun}") for one in problems_of(problem)]) from None
