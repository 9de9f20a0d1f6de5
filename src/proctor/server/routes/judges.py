"""The judges that gave verdicts, and what they are worth."""

from __future__ import annotations

from fastapi import APIRouter

from proctor.api.known_judges import known_judges
from proctor.api.runs import NoRunsError
from proctor.reports.pages.known_judges import KnownJudgesPage
from proctor.server.context import Here

router = APIRouter()


@router.get("/judges")
def list_judges(here: Here) -> KnownJudgesPage:
    """Each judge of the newest runs with its calibration; none where no run asked one."""
    try:
        with here.runs() as store:
            return known_judges(store)
    except NoRunsError:
        return KnownJudgesPage(items=[], runs=0)
