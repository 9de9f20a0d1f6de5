"""A comparison as one file: its page, both runs, and every case that changed side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from proctor.schema.analysis.comparison import Comparison
from proctor.stores.base import Store
from proctor.web.pages.analysis.load_comparison import as_page
from proctor.web.pages.bundle.html_report import add_runs
from proctor.web.pages.bundle.related_pages import asked, side_by_side
from proctor.web.pages.bundle.single_file import BuiltPage, OneFile
from proctor.web.pages.bundle.store_extras import KeptBeside
from proctor.web.pages.runs.run_parts import KeptRun


def write_comparison_file(
    store: Store, found: Comparison, page: BuiltPage, out: TextIO, *, baseline: str = ""
) -> None:
    """Write `found`, a comparison of runs in `store`, to `out`; of a baseline whose run is gone only the figures are told.

    `baseline`: the name of the base, where that is one.
    """
    shown = as_page(store, found, baseline)
    path = asked("/api/compare", base=found.base.run_id, candidate=found.candidate.run_id)
    file = OneFile(page, out, path.removeprefix("/api"))
    file.begin()
    file.keep(path, shown)
    beside = KeptBeside(store)
    kept = _kept(beside, [side.run_id for side in (shown.base, shown.candidate) if side.kept])
    if len(kept) == len({found.base.run_id, found.candidate.run_id}):
        for place, pair in side_by_side(store, shown):
            file.add(place, pair)
    add_runs(file, [store.load(one.listed.run.run_id) for one in kept], kept, beside)
    file.end()


def _kept(beside: KeptBeside, run_ids: Sequence[str]) -> list[KeptRun]:
    found = (beside.kept(run_id) for run_id in dict.fromkeys(run_ids))
    return [one for one in found if one is not None]
