"""What a store knows of runs beside their results, for reports that show more than these say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from proctor.analysis.calibration.labels import labels_for
from proctor.errors import UnknownNameError
from proctor.runs.lookup import case_of
from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import Invocation
from proctor.web.pages.bundle.related_pages import around
from proctor.web.pages.case.load import aligned
from proctor.web.pages.runs.load import find_kept, look_at
from proctor.web.pages.runs.run import Against
from proctor.web.pages.runs.run_parts import KeptRun

if TYPE_CHECKING:
    from proctor.schema.analysis.label import Labelled
    from proctor.schema.results.page_model import PageModel
    from proctor.stores.base import Store


class KeptBeside:
    """What a store knows (see `proctor.web.pages.bundle.html_report.Beside`)."""

    def __init__(self, store: Store, judging: int | None = None) -> None:
        """Read from `store`, which stays open as long as this is used; `judging`: by default the one that counts."""
        self._store, self._judging = store, judging

    def kept(self, run_id: str) -> KeptRun | None:
        """Return the run as the store has it; `None` where it is not there."""
        try:
            return find_kept(self._store, run_id, self._judging).kept
        except UnknownNameError:
            return None

    def rows(self, run_id: str) -> tuple[Sequence[bytes], Against | None]:
        """Return its cases as rows of JSON, held against the run before of its like, where there is one."""
        look = look_at(self._store, find_kept(self._store, run_id, self._judging))
        return look.rows, look.against

    def case(self, run_id: str, position: int) -> EvalCase | None:
        """Return a case as it was run."""
        return case_of(self._store, run_id, position)

    def labels(self, run_id: str) -> Sequence[Labelled]:
        """Return what people said of the run's answers."""
        return labels_for(self._store, self._store.load(run_id, self._judging))

    def around(self, run_ids: Sequence[str]) -> Iterator[tuple[str, PageModel]]:
        """Yield pages of what lies around runs, each behind its path."""
        return around(self._store, run_ids, self._judging)

    def align(self, expected: Invocation, actual: Invocation) -> Sequence[Mapping[str, Any]]:
        """Put the calls of a turn beside the expected ones."""
        return aligned(expected, actual)
