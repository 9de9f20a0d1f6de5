"""Name, note, star, baseline and deletion of a run: what each does, what it says beforehand, and what it refuses."""

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.analysis.judged_runs import Judged, judged_run
from tests.cli.project import in_this_process
from tests.web.stored_runs import working_in


@pytest.fixture
def run_ids(tmp_path: Path, client: TestClient) -> list[str]:
    """The ids of two runs, newest first."""
    for run_id in ("first-run", "second-run"):
        judged_run(tmp_path / "store.sqlite3", [Judged("rome")], run_id=run_id).close()
    return [one["run_id"] for one in client.get("/api/runs").json()["items"]]


def _ask(client: TestClient, method: str, path: str, body: Any = None) -> Any:
    answer = client.request(method, f"/api/runs/{path}", json=body)
    assert answer.status_code < 300, answer.text
    return answer.json() if answer.content else None


def test_an_annotation_is_shown_in_lists_and_by_the_commands(
    client: TestClient, run_ids: list[str], tmp_path: Path
) -> None:
    written = {"name": "release 1.4", "note": "before the change of the prompt", "starred": True}
    page = _ask(client, "PUT", f"{run_ids[1]}/annotation", written)
    assert page.items() >= written.items()
    rows = client.get("/api/runs").json()["items"]
    assert [(row["name"], row["starred"]) for row in rows] == [("", False), ("release 1.4", True)]
    starred = client.get("/api/runs?starred=true").json()["items"]
    assert [row["run_id"] for row in starred] == [run_ids[1]]
    with working_in(tmp_path):
        listed = in_this_process("runs", "--starred", "--store", "store.sqlite3").stdout
        shown = in_this_process("show", run_ids[1], "--store", "store.sqlite3").stdout
    assert ("release_1.4" in listed, run_ids[0][:6] in listed) == (True, False)
    assert ("release 1.4" in shown, "before the change of the prompt" in shown) == (True, True)


def test_what_a_change_leaves_out_stays_as_it_was(client: TestClient, run_ids: list[str]) -> None:
    path = f"{run_ids[0]}/annotation"
    _ask(client, "PUT", path, {"name": "nightly", "note": "flaky network"})
    _ask(client, "PUT", path, {"starred": True})
    page = _ask(client, "PUT", path, {"note": ""})
    assert (page["name"], page["note"], page["starred"]) == ("nightly", "", True)


def test_no_run_is_deleted_while_a_baseline_cannot_be_read(
    client: TestClient, run_ids: list[str], tmp_path: Path
) -> None:
    _ask(client, "PUT", f"{run_ids[0]}/baselines/main")
    (baseline,) = tmp_path.rglob("main.json")
    baseline.write_text("{broken")
    refused = client.delete(f"/api/runs/{run_ids[0]}")
    assert (refused.status_code, "main.json" in refused.json()["detail"]) == (400, True)
    assert client.get(f"/api/runs/{run_ids[0]}").status_code == 200


def test_a_baseline_is_set_and_keeps_the_run_until_it_is_removed(
    client: TestClient, run_ids: list[str]
) -> None:
    newest = run_ids[0]
    page = _ask(client, "PUT", f"{newest}/baselines/main")
    assert (page["baselines"], page["why_not_deleted"]) == (
        ["main"],
        "it is the baseline main: remove that first",
    )
    refused = client.delete(f"/api/runs/{newest}")
    assert (refused.status_code, "baseline" in refused.json()["detail"]) == (400, True)
    other = client.delete(f"/api/runs/{run_ids[1]}/baselines/main")
    assert (other.status_code, "is not the baseline main" in other.json()["detail"]) == (400, True)
    assert _ask(client, "DELETE", f"{newest}/baselines/main")["baselines"] == []
    _ask(client, "DELETE", newest)
    assert client.get(f"/api/runs/{newest}").status_code == 404


@pytest.mark.parametrize(
    ("if_match", "status", "reason"),
    [
        pytest.param(None, 428, "send its id as If-Match", id="no condition"),
        pytest.param("another-run", 412, "no longer run another-run", id="another run"),
        pytest.param("{present}", 200, "", id="the run that it is"),
        pytest.param('"{present}"', 200, "", id="as an ETag"),
    ],
)
def test_a_baseline_is_replaced_only_by_whom_knows_its_run(
    client: TestClient, run_ids: list[str], if_match: str | None, status: int, reason: str
) -> None:
    newer, older = run_ids
    _ask(client, "PUT", f"{older}/baselines/main")
    headers = {} if if_match is None else {"If-Match": if_match.format(present=older)}
    replaced = client.put(f"/api/runs/{newer}/baselines/main", headers=headers)
    assert (replaced.status_code, reason in str(replaced.json().get("detail", ""))) == (status, True)
    found = {one["name"]: one["run_id"] for one in client.get("/api/baselines").json()["items"]}
    assert found == {"main": newer if status == 200 else older}
    _ask(client, "PUT", f"{found['main']}/baselines/main")  # it is that run already


def test_a_baseline_that_is_missing_is_not_written_in_place_of_a_run(
    client: TestClient, run_ids: list[str]
) -> None:
    answer = client.put(f"/api/runs/{run_ids[0]}/baselines/main", headers={"If-Match": run_ids[1]})
    assert (answer.status_code, "there is no baseline main" in answer.json()["detail"]) == (412, True)
    assert client.get("/api/baselines").json()["items"] == []


@pytest.mark.parametrize(("if_match", "status"), [(None, 428), ("first-run", 412)])
def test_a_baseline_that_cannot_be_read_is_not_replaced(
    client: TestClient, run_ids: list[str], tmp_path: Path, if_match: str | None, status: int
) -> None:
    _ask(client, "PUT", f"{run_ids[0]}/baselines/main")
    (baseline,) = tmp_path.rglob("main.json")
    baseline.write_text("{broken")
    headers = {} if if_match is None else {"If-Match": if_match}
    assert client.put(f"/api/runs/{run_ids[0]}/baselines/main", headers=headers).status_code == status
    assert baseline.read_text() == "{broken"


def test_a_run_is_deleted_by_its_complete_id_only(client: TestClient, run_ids: list[str]) -> None:
    for name in ("latest", run_ids[0][:6]):
        answer = client.delete(f"/api/runs/{name}")
        assert (answer.status_code, "complete id" in answer.json()["detail"]) == (400, True)
    assert len(client.get("/api/runs").json()["items"]) == 2


def test_what_deletion_means_is_known_before(client: TestClient, run_ids: list[str]) -> None:
    page = _ask(client, "GET", f"{run_ids[0]}/management")
    assert (page["why_not_deleted"], page["why_no_baseline"], page["labels"]) == ("", "", 0)
    assert (page["trials"] > 0, page["scorings"]) == (True, 1)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "annotation", {"name": "x" * 201}),
        ("PUT", "annotation", {"starred": "perhaps"}),
        ("PUT", "baselines/latest", None),
        ("PUT", "baselines/..%2Fx", None),
        ("DELETE", "baselines/nothing", None),
    ],
)
def test_what_cannot_be_is_refused(
    client: TestClient, run_ids: list[str], method: str, path: str, body: Any
) -> None:
    answer = client.request(method, f"/api/runs/{run_ids[0]}/{path}", json=body)
    assert 400 <= answer.status_code < 500, answer.text
