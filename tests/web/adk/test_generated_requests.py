"""Requests that no one would send, made of the API's own description: none is answered with a 5xx."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from starlette.testclient import TestClient

from proctor.web.server.adk.app_state import AdkState
from proctor.web.server.adk.routes import adk_router
from proctor.web.server.context import ServerContext
from proctor.web.server.http.errors import add_handlers
from tests.web.adk.adk_apps import PLAIN, write_app

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

KNOWN = {
    "app_name": "weather_app",
    "user_id": "u",
    "session_id": "s",
    "eval_set_id": "set1",
    "eval_case_id": "c1",
    "artifact_name": "a.txt",
}
"""Names of what is there: without them nearly everything is a 404."""
CASE = {"eval_id": "c1", "conversation": [{"user_content": {"parts": [{"text": "hello"}]}}]}
_LIMITS = settings(max_examples=8, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def described(root: Path) -> FastAPI:
    """The ADK-compatible routes by themselves."""
    app = FastAPI()
    context = ServerContext(root=root, store_url=root / "s.sqlite3", agents=root / "agents")
    app.state.context, app.state.adk = context, AdkState(context)
    add_handlers(app)
    app.include_router(adk_router())
    return app


OPERATIONS = [
    f"{method.upper()} {path}"
    for path, methods in described(Path()).openapi()["paths"].items()
    for method in methods
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The routes as schemathesis reads them, with an agent, a session and an eval set behind them."""
    schemathesis = pytest.importorskip("schemathesis")
    root = tmp_path_factory.mktemp("any")
    folder = write_app(root / "agents", PLAIN, {"*": [{"parts": [{"text": "Hello."}]}]})
    app = described(root)
    with TestClient(app) as client, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADK_ALLOW_REMOTE_AGENT_BUILDER", "1")
        client.post("/apps/weather_app/users/u/sessions/s").raise_for_status()
        yield folder, schemathesis.openapi.from_asgi("/openapi.json", app)


@pytest.mark.nightly(check=3)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_request_breaks_the_server(server: Any, operation: str) -> None:
    """Each is sent as made, and of what is there."""
    folder, schema = server
    method, path = operation.split(" ")

    @settings(_LIMITS)
    @given(case=schema[path][method].as_strategy())
    def ask(case: Any) -> None:
        (folder / "set1.evalset.json").write_text(json.dumps({"eval_set_id": "set1", "eval_cases": [CASE]}))
        _answered(case)
        case.path_parameters = {name: KNOWN.get(name, given) for name, given in case.path_parameters.items()}
        _answered(case)

    ask()


def _answered(case: Any) -> None:
    answer = case.call()
    assert answer.status_code < 500, f"{case.as_curl_command()}\n{answer.text}"
