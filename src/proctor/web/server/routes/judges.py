"""The judges that gave verdicts, and what they are worth."""

from __future__ import annotations

from fastapi import APIRouter

from proctor.runs.queries import NoRunsError
from proctor.web.pages.analysis.judges import KnownJudgesPage
from proctor.web.pages.analysis.load_judges import known_judges
from proctor.web.server.context import Here

router = APIRouter()


@router.get("/judges")
def list_judges(here: Here) -> KnownJudgesPage:
    """Each judge of the newest runs with its calibration; none where no run asked one."""
    try:
        with here.runs() as store:
            return known_judges(store)
    except NoRunsError:
        return KnownJudgesPage(items=[], runs=0)
