"""What google-adk's page asks besides: its switch for telemetry, tests of agents, the builder. And what nobody serves."""

from __future__ import annotations

from typing import NoReturn

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import PlainTextResponse

from proctor.agents.reference import CONFIG_FILE
from proctor.web.server.adk.adk_route import AdkRoute
from proctor.web.server.adk.app_state import AdkDep
from proctor.web.server.http.not_found import NOT_SERVED, methods_at

router = APIRouter(route_class=AdkRoute, tags=["ADK: others"])
_OF_APP = "/dev/apps/{app_name}"


@router.get("/config/telemetry")
@router.post("/config/telemetry")
def adk_telemetry() -> dict[str, bool]:
    """Whether anything is reported to anybody: never, whatever is asked for."""
    return {"telemetry": False}


@router.get(f"{_OF_APP}/tests")
def adk_list_tests(adk: AdkDep, app_name: str) -> list[str]:
    """The names of an app's test files (`tests/*.json`), which `adk test` plays; here they are only listed."""
    folder = adk.app(app_name).folder / "tests"
    return sorted(path.name for path in folder.glob("*.json")) if folder.is_dir() else []


@router.get(f"{_OF_APP}/builder", response_model=None)
def adk_builder(adk: AdkDep, app_name: str, file_path: str = "") -> Response:
    """The YAML of an app that is written in YAML, to be read; empty for all others. It is not changed here."""
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
    """Say so: google-adk's agent tests, its builder of YAML agents and its deployment are not offered here."""
    if methods_at(request):
        raise HTTPException(405)
    raise HTTPException(
        404, f"Not Found: Proctor does not serve {path!r} (docs/adk-rest.md says what it serves)"
    )
