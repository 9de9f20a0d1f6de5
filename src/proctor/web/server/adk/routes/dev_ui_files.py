"""google-adk's own page at /dev-ui/, if the server serves it."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Response
from fastapi.responses import FileResponse, RedirectResponse

from proctor.web.server.adk.adk_route import AdkRoute
from proctor.web.server.adk.dev_ui import AT
from proctor.web.server.adk.wire import answer
from proctor.web.server.context import ContextDep
from proctor.web.server.http.static import TYPES, file_of

router = APIRouter(route_class=AdkRoute, tags=["ADK: page"])


@router.get(f"{AT}/assets/config/runtime-config.json", response_model=None)
def adk_page_config() -> Response:
    """Return the page's configuration: this server as its backend, and no telemetry."""
    return answer({"backendUrl": "", "telemetry": False})


@router.get(AT, response_model=None, include_in_schema=False)
def adk_page_slash() -> Response:
    """Redirect to /dev-ui/, to which the page's addresses are relative."""
    return RedirectResponse(f"{AT}/")


@router.get(f"{AT}/{{path:path}}", response_model=None, include_in_schema=False)
def adk_page(context: ContextDep, path: str) -> Response:
    """Return a file of the page."""
    if context.adk_page is None:
        raise HTTPException(
            404, "google-adk's own page is not served here: start with `proctor web --adk-ui`"
        )
    file = file_of(context.adk_page, path or "index.html")
    if file is None:
        raise HTTPException(404, "Not Found")
    return FileResponse(file, media_type=TYPES[file.suffix.lower()], headers={"cache-control": "no-cache"})
