"""Features of google-adk's server that Proctor does not offer: telemetry (always off), tests and builder (read-only), others (404)."""

from __future__ import annotations

from typing import NoReturn

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import PlainTextResponse

from proctor.agents.reference import CONFIG_FILE
from proctor.web.server.adk.adk_route import AdkRoute
from proctor.web.server.adk.app_state import AdkDep
from proctor.web.server.http.static import NOT_SERVED, methods_at

router = APIRouter(route_class=AdkRoute, tags=["ADK: unsupported"])
_OF_APP = "/dev/apps/{app_name}"


@router.get("/config/telemetry")
@router.post("/config/telemetry")
def adk_telemetry() -> dict[str, bool]:
    """Report that telemetry is off; it cannot be enabled."""
    return {"telemetry": False}


@router.get(f"{_OF_APP}/tests")
def adk_list_tests(adk: AdkDep, app_name: str) -> list[str]:
    """List an app's test files (`tests/*.json`), which `adk test` runs; Proctor only lists them."""
    folder = adk.app(app_name).folder / "tests"
    return sorted(path.name for path in folder.glob("*.json")) if folder.is_dir() else []


@router.get(f"{_OF_APP}/builder", response_model=None)
def adk_builder(adk: AdkDep, app_name: str, file_path: str = "") -> Response:
    """Return the YAML of an app that is defined in YAML (else an empty text); it cannot be changed here."""
    file = adk.app(app_name).folder / CONFIG_FILE
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() and not file_path else ""
    return PlainTextResponse(text)


@router.api_route(
    "/dev/{path:path}",
    methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
    include_in_schema=False,
    response_model=None,
    name=NOT_SERVED,
)
@router.api_route(
    "/apps/{path:path}",
    methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
    include_in_schema=False,
    response_model=None,
    name=NOT_SERVED,
)
def adk_reject(request: Request, path: str) -> NoReturn:
    """Refuse unsupported features: running agent tests, building YAML agents, deployment."""
    if methods_at(request):
        raise HTTPException(405)
    raise HTTPException(404, f"Not Found: Proctor does not serve {path!r} (see docs/reference/adk/rest.md)")
