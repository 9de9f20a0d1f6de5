"""What the one-file report shows besides the results of its runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from proctor.schema.analysis.label import Labelled
    from proctor.schema.format.case import EvalCase
    from proctor.schema.format.invocation import Invocation
    from proctor.schema.results.page_model import PageModel
    from proctor.web.pages.runs.run import Against
    from proctor.web.pages.runs.run_parts import KeptRun


class Beside(Protocol):
    """What is known of runs beside their results, where they are kept."""

    def kept(self, run_id: str) -> KeptRun | None:
        """Return the run as its store has it; `None` where it is not there."""
        ...

    def rows(self, run_id: str) -> tuple[Sequence[bytes], Against | None]:
        """Return its cases as rows of JSON, held against the run before of its like, where there is one."""
        ...

    def case(self, run_id: str, position: int) -> EvalCase | None:
        """Return a case as it was run."""
        ...

    def labels(self, run_id: str) -> Sequence[Labelled]:
        """Return what people said of its answers."""
        ...

    def around(self, run_ids: Sequence[str]) -> Iterator[tuple[str, PageModel]]:
        """Yield pages of what lies around runs (how they compare, what was before), each behind its path in our own API."""
        ...

    def align(self, expected: Invocation, actual: Invocation) -> Sequence[Mapping[str, Any]]:
        """Put the calls of a turn beside the expected ones."""
        ...
