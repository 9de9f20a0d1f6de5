"""Requests made from the description of the API, and from what it does not allow: none is answered with a bug (5xx)."""

import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, seed, settings

from proctor.web.server.adk.routes import adk_router
from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext
from tests.web.adk.adk_apps import PLAIN, write_app
from tests.web.stored_runs import run, write_greetings

SHORT, LONG = 2, 20_000
"""Requests of an operation in every run of the tests; of all operations together in a nightly one."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with an agent, two sets and a run; and an app, with its own set, as google-adk's clients know them."""
    project = tmp_path_factory.mktemp("project")
    write_greetings(project)
    app = write_app(project / "agents", PLAIN, {"*": [{"parts": [{"text": "Hello."}]}]})
    (app / "set1.evalset.json").write_text(
        (project / "more.evalset.json").read_text().replace('"more"', '"set1"')
    )
    run(project, "moody.py greetings.evalset.json --num-runs 2")
    return project


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    context = ServerContext(
        root=folder, store_url=folder / ".proctor" / "store.sqlite3", agents=folder / "agents"
    )
    # `raise_server_exceptions`: what is raised behind the last handler would not be seen as an answer
    with TestClient(
        create_app(context),
        base_url="http://127.0.0.1:8000",
        raise_server_exceptions=False,
        client=("127.0.0.1", 50_000),
    ) as one:
        yield one


def descriptions(client: TestClient) -> dict[str, Any]:
    """What our own API and the ADK-compatible one state that they take."""
    adk = FastAPI(title="adk")
    adk.include_router(adk_router())
    return {"ours": client.get("/api/openapi.json").json(), "adk": adk.openapi()}


def operations(description: Any) -> list[Any]:
    import schemathesis

    schema: Any = schemathesis.openapi.from_dict(description)
    return [found.ok() for found in schema.get_all_operations()]


def there(client: TestClient) -> dict[str, Any]:
    """What parameters of addresses may be so that they name something that is there."""
    sets = client.get("/api/eval-sets").json()["items"]
    client.post("/apps/weather_app/users/user/sessions/session")
    return {
        "run": "latest", "position": 1, "number": 0, "metric": "response_match_score", "eval_set": sets[0]["id"],
        "app_name": "weather_app", "user_id": "user", "session_id": "session", "eval_set_id": "set1", "eval_id": "moody",
        "eval_case_id": "moody",
    }  # fmt: skip


def refusable(operation: Any) -> bool:
    """Whether a request can break the rules of an operation. The generator looks in vain for one where all is free text."""
    free = [
        one.location == "path" and set(one.definition["schema"]) <= {"type", "title"}
        for one in operation.iter_parameters()
    ]
    return bool(operation.body) or not all(free)


def asked(client: TestClient, operation: Any, requests: int, number: int) -> Counter[int]:
    """Ask an operation so many times, half of it by the rules, half of it of what is there; count the answers by status."""
    known = there(client)
    import schemathesis

    statuses: Counter[int] = Counter()
    modes = [schemathesis.GenerationMode.POSITIVE]
    if refusable(operation):
        modes.append(schemathesis.GenerationMode.NEGATIVE)
    for mode in modes:

        @seed(number)
        @settings(
            max_examples=max(1, requests // 2), deadline=None, database=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=operation.as_strategy(generation_mode=mode))
        def once(case: Any) -> None:
            if statuses.total() % 2:
                named = {name: known.get(name, value) for name, value in (case.path_parameters or {}).items()}
                case.path_parameters = named
            reported = case.as_transport_kwargs(base_url="http://127.0.0.1:8000")
            reported.pop("cookies", None)
            try:
                request = client.build_request(
                    **{key: value for key, value in reported.items() if key in _KNOWN},
                    content=reported.get("data") if isinstance(reported.get("data"), bytes | str) else None,
                )
            except (ValueError, TypeError, UnicodeError):  # no client could send it
                return
            request.headers["host"] = "127.0.0.1:8000"
            statuses[client.send(request).status_code] += 1

        try:
            once()
        except Exception as error:  # there is nothing that it does not take
            if "Unsatisfiable" not in type(error).__name__ and "negative" not in str(error).lower():
                raise
    return statuses


_KNOWN = {"method", "url", "params", "json", "headers", "files"}


def found_in(client: TestClient, requests: int, every: int = 1) -> tuple[int, dict[str, Counter[int]]]:
    """Ask every operation, or one of `every`; return the number of requests, and the answers of those that had a bug."""
    total, broken = 0, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for whose, description in descriptions(client).items():
            for number, operation in enumerate(operations(description)[::every]):
                statuses = asked(client, operation, requests, number)
                total += statuses.total()
                if any(status >= 500 for status in statuses):
                    broken[f"{whose}: {operation.label}"] = statuses
    return total, broken


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_no_request_meets_a_bug(client: TestClient) -> None:
    total, broken = found_in(client, SHORT, every=5)
    assert broken == {}
    assert total >= 20


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_no_request_of_very_many_meets_a_bug(client: TestClient) -> None:
    every = sum(len(operations(description)) for description in descriptions(client).values())
    total, broken = found_in(client, 2 * LONG // every)
    assert broken == {}
    assert total >= LONG
