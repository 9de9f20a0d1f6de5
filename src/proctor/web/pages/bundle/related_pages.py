"""What lies around runs, for a file that carries them: how they compare, what they are beside each other, what was before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

from proctor.analysis.history.history import histories
from proctor.errors import SetupError
from proctor.schema.results.judged_by import JudgedBy
from proctor.web.pages.analysis.history import history_page
from proctor.web.pages.analysis.load_comparison import MOST_RUNS, compared_page, lined_up_page, paired_pages
from proctor.web.pages.analysis.load_judges import known_judges
from proctor.web.pages.runs.load import FoundRun, find_kept
from proctor.web.pages.runs.load_extras import case_extras

if TYPE_CHECKING:
    from proctor.schema.results.page_model import PageModel
    from proctor.stores.base import Store
    from proctor.web.pages.analysis.comparison import ComparisonPage

Placed = tuple[str, "PageModel"]
"""A page, behind the path by which the page in a browser asks for it."""

MOST_PAIRS = 200
"""Changed cases of a comparison that stand side by side in a file, those first that matter."""
MOST_VERDICTS = 60_000
"""Verdicts that the history in a file looks back over."""
MOST_READ = 1_000
"""Cases that are read with their evidence for histories of their own: one, run by run."""
_UNRESERVED = "-_.!~*'()"
"""What `encodeURIComponent` leaves as it is, beside letters and digits: the page asks by these paths."""


def asked(path: str, **query: str) -> str:
    """Return a path with its query as the page writes it."""
    told = "&".join(f"{name}={quote(value, _UNRESERVED, errors='replace')}" for name, value in query.items())
    return f"{path}?{told}" if told else path


def around(store: Store, run_ids: Sequence[str], judging: int | None = None) -> Iterator[Placed]:
    """Yield what a server would show around these runs, as far as it is of a sane size."""
    found = [find_kept(store, run_id, judging) for run_id in dict.fromkeys(run_ids)]
    pairs = [(one.earlier.run.run_id, one.kept.listed.run.run_id) for one in found if one.earlier is not None]
    ids = [
        one.kept.listed.run.run_id for one in sorted(found, key=lambda one: one.kept.listed.run.created_at)
    ]
    if len(ids) == 2:
        pairs.append((ids[0], ids[1]))
    for base, candidate in dict.fromkeys(pairs):
        yield from _compared(store, base, candidate)
    if 1 < len(ids) <= MOST_RUNS:
        yield asked("/api/matrix", runs=",".join(ids)), lined_up_page(store, ids)
    for one in found:
        kept = one.kept
        yield (
            f"/api/runs/{kept.listed.run.run_id}/case-extras",
            case_extras(store, kept.listed.run.run_id, kept.judging),
        )
    yield from _judges(store, found)
    for eval_set in sorted({name for one in found for name in one.kept.listed.run.sets}):
        yield from _history(store, eval_set)


def _compared(store: Store, base: str, candidate: str) -> Iterator[Placed]:
    with suppress(SetupError):  # they have no case in common
        page = compared_page(store, base, candidate)
        yield asked("/api/compare", base=base, candidate=candidate), page
        yield from side_by_side(store, page, MOST_PAIRS)


def side_by_side(store: Store, page: ComparisonPage, most: int | None = None) -> Iterator[Placed]:
    """Yield the changed cases (the first `most`) of a comparison whose runs are kept, each with both its trials."""
    runs = {"base": page.base.run_id, "candidate": page.candidate.run_id}
    for case, pair in paired_pages(store, page, most):
        yield asked("/api/compare/case", **runs, set=case.eval_set_id, case=case.eval_id), pair


def _judges(store: Store, found: Sequence[FoundRun]) -> Iterator[Placed]:
    """Those that judged these runs, with all that is known of them."""
    ours = {by for one in found for by in one.kept.listed.run.summary.judged_by}
    if ours:
        page = known_judges(store)
        page.items = [row for row in page.items if JudgedBy(row.metric, row.model, row.prompt) in ours]
        yield "/api/judges", page


def _history(store: Store, eval_set: str) -> Iterator[Placed]:
    for case, told in histories(store, eval_set, most=MOST_VERDICTS, read=MOST_READ):
        if case is None:
            yield asked("/api/history", set=eval_set), history_page(told, options=["--set", eval_set])
        else:
            yield asked("/api/history", set=eval_set, case=case), history_page(told)
