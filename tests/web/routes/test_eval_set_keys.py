"""The keys of a set that are none of its cases, changed over HTTP: everything else in the file stays, byte for byte."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from tests.web.routes.test_eval_sets import set_id

CASES = '[\n    {"eval_id": "a", "conversation": [],   "n": 1.50},\n    // kept\n    {"eval_id": "b", "conversation": []}\n  ]'
JSON = (
    '{\n  "eval_set_id": "trip",  // the id\n  "name": "Trips",\n  "mine": {"deep": [1.50, 12345678901234567890123]},\n'
    f'  "eval_cases": {CASES},\n  "creation_timestamp": 1700000000.25\n}}\n'
)
YAML = """\
# of the file
eval_set: trip
name: Trips   # short
extra:
  mine: 1   # why
cases:
  # of the case
  - case: a
    ask: hi
    expect: hello
"""
LINES = (
    '# of the file\n{"eval_set_id":"trip","name":"Trips","mine":1.50}\n{"eval_id":"a","conversation":[]}\n'
)


def head_path(client: TestClient) -> str:
    return f"/api/eval-sets/{set_id(client)}/head"


def read(client: TestClient) -> tuple[dict[str, Any], str]:
    answer = client.get(head_path(client))
    assert answer.status_code == 200, answer.text
    assert answer.headers["etag"] == f'"{answer.json()["version"]}"'
    return answer.json()["value"], answer.headers["etag"]


def save(client: TestClient, value: Any, etag: str, **more: Any) -> httpx.Response:
    return client.put(head_path(client), json={"value": value, **more}, headers={"If-Match": etag})


def without(value: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name != key}


@pytest.mark.parametrize(
    ("suffix", "text", "change", "old", "new"),
    [
        pytest.param("json", JSON, {"name": "Journeys"}, '"Trips"', '"Journeys"', id="a name"),
        pytest.param("json", JSON, {"description": "All."}, '  "eval_cases"', '  "description": "All.",\n  "eval_cases"', id="a new key, of JSON"),
        pytest.param("json", JSON, {"mine": {"deep": [1.5, 7]}}, "12345678901234567890123", "7", id="deep in a key of one's own"),
        pytest.param("json", JSON, {"name": None}, '"Trips"', "null", id="null"),
        pytest.param("yaml", YAML, {"name": "Journeys"}, "name: Trips", "name: Journeys", id="a name, of YAML"),
        pytest.param("yaml", YAML, {"description": "All."}, "extra:", "description: All.\nextra:", id="a new key, of YAML"),
        pytest.param("yaml", YAML, {"mine": 2}, "mine: 1 ", "mine: 2 ", id="a key of one's own, of YAML"),
        pytest.param("yaml", YAML, {"yours": [1]}, "# why\n", "# why\n  yours:\n    - 1\n", id="a new key of one's own, of YAML"),
        pytest.param("jsonl", LINES, {"name": "Journeys"}, '"Trips"', '"Journeys"', id="a name, of lines"),
        pytest.param("jsonl", LINES, {"yours": {"k": []}}, '"mine":1.50', '"mine":1.50,"yours":{"k":[]}', id="a new key, of lines"),
    ],
)  # fmt: skip
def test_what_is_changed_is_all_that_changes(
    client: TestClient, tmp_path: Path, suffix: str, text: str, change: dict[str, Any], old: str, new: str
) -> None:
    path = tmp_path / f"trip.evalset.{suffix}"
    path.write_text(text)
    value, etag = read(client)
    answer = save(client, {**value, **change}, etag)
    assert answer.status_code == 200, answer.text
    assert path.read_text() == text.replace(old, new, 1)
    assert read(client) == ({**value, **change}, answer.headers["etag"])


@pytest.mark.parametrize(
    ("suffix", "text", "key", "gone"),
    [
        pytest.param("json", JSON, "creation_timestamp", ',\n  "creation_timestamp": 1700000000.25', id="behind the cases"),
        pytest.param("json", JSON, "mine", ',\n  "mine": {"deep": [1.50, 12345678901234567890123]}', id="before them"),
        pytest.param("jsonl", LINES, "mine", ',"mine":1.50', id="of lines"),
    ],
)  # fmt: skip
def test_a_key_goes(client: TestClient, tmp_path: Path, suffix: str, text: str, key: str, gone: str) -> None:
    path = tmp_path / f"trip.evalset.{suffix}"
    path.write_text(text)
    value, etag = read(client)
    assert save(client, without(value, key), etag).status_code == 200
    assert path.read_text() == text.replace(gone, "")


def test_a_yaml_file_with_the_formats_own_keys_stays_so(client: TestClient, tmp_path: Path) -> None:
    text = "eval_set_id: trip\nmine: 1  # why\neval_cases:\n  - eval_id: a\n    conversation: []\n"
    path = tmp_path / "trip.evalset.yaml"
    path.write_text(text)
    value, etag = read(client)
    assert save(client, {**value, "mine": 2, "yours": "x"}, etag).status_code == 200
    assert path.read_text() == text.replace("mine: 1  # why\n", "mine: 2  # why\nyours: x\n")


@pytest.mark.parametrize("suffix", ["json", "yaml", "jsonl"])
def test_saving_what_was_read_changes_no_byte(client: TestClient, tmp_path: Path, suffix: str) -> None:
    text = {"json": JSON, "yaml": YAML, "jsonl": LINES}[suffix]
    path = tmp_path / f"trip.evalset.{suffix}"
    path.write_text(text)
    value, etag = read(client)
    assert save(client, value, etag).status_code == 200
    assert path.read_text() == text


def test_lines_without_a_line_for_the_set_get_one(client: TestClient, tmp_path: Path) -> None:
    path = tmp_path / "trip.evalset.jsonl"
    path.write_text('{"eval_id":"a","conversation":[]}\n')
    value, etag = read(client)
    assert value == {}
    refused = save(client, {"mine": 1}, etag)
    assert refused.status_code == 422
    assert "eval_set_id" in refused.json()["fields"][0]["hint"]
    assert save(client, {"eval_set_id": "trip", "mine": 1}, etag).status_code == 200
    assert path.read_text() == '{"eval_set_id": "trip", "mine": 1}\n{"eval_id":"a","conversation":[]}\n'


@pytest.mark.slow
def test_no_set_of_the_corpus_loses_a_byte(client: TestClient, tmp_path: Path, shared: Path) -> None:
    """A description is put in, or another one, and taken back: the file is what it was; between, only that differs."""
    checked = 0
    path = tmp_path / "trip.evalset.json"
    for origin in sorted((shared / "corpus").rglob("*.evalset.json"))[::6]:
        shutil.copyfile(origin, path)
        path.chmod(0o644)
        if not client.get(f"/api/eval-sets/{set_id(client)}").json()["has_head"]:
            continue
        text, (value, etag) = path.read_bytes().decode(), read(client)
        answer = save(client, {**value, "description": "Ünlike any other"}, etag)
        assert answer.status_code == 200, (origin, answer.text)
        before, after = json.loads(text), json.loads(path.read_text())
        assert after == {**before, "description": "Ünlike any other"}, origin
        assert save(client, value, answer.headers["etag"]).status_code == 200
        assert path.read_bytes().decode() == text, origin
        checked += 1
    assert checked > 5


# --- what is refused ---------------------------------------------------------------------------------------------------


@pytest.fixture
def trip(tmp_path: Path) -> Path:
    path = tmp_path / "trip.evalset.json"
    path.write_text(JSON)
    return path


def test_without_a_version_nothing_is_changed(client: TestClient, trip: Path) -> None:
    for headers in ({}, {"If-Match": "*"}):
        answer = client.put(head_path(client), json={"value": {"eval_set_id": "trip"}}, headers=headers)
        assert answer.status_code == 428
    assert trip.read_text() == JSON


def test_a_stale_version_is_refused_with_the_content_of_the_file(client: TestClient, trip: Path) -> None:
    value, etag = read(client)
    text = JSON.replace('"Trips"', '"Theirs"')
    trip.write_text(text)
    answer = save(client, {**value, "description": "mine"}, etag)
    assert answer.status_code == 412
    reported = answer.json()
    assert reported["theirs"] == {**value, "name": "Theirs"}
    assert sorted(reported["changed"]) == ["/description", "/name"]
    assert trip.read_text() == text
    assert (
        save(client, reported["theirs"] | {"description": "mine"}, f'"{reported["version"]}"').status_code
        == 200
    )


def test_a_case_that_another_user_changes_makes_no_conflict(client: TestClient, trip: Path) -> None:
    value, etag = read(client)
    text = JSON.replace('"n": 1.50', '"n": 2')
    trip.write_text(text)
    assert save(client, {**value, "name": "Journeys"}, etag).status_code == 200
    assert trip.read_text() == text.replace('"Trips"', '"Journeys"')


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        pytest.param({"name": 5}, "/name", id="no text"),
        pytest.param({"creation_timestamp": "soon"}, "/creation_timestamp", id="no time"),
        pytest.param({"eval_set_id": "other"}, "/eval_set_id", id="another id"),
        pytest.param({"eval_cases": []}, "/eval_cases", id="cases"),
        pytest.param({"evalCases": []}, "/evalCases", id="cases, in the other spelling"),
        pytest.param({"eval_set_result_id": "x"}, "", id="another kind of file"),
        pytest.param({"x": "\ud800"}, "", id="half a character"),
    ],
)
def test_what_cannot_be_there_is_refused_at_its_field(
    client: TestClient, trip: Path, change: dict[str, Any], pointer: str
) -> None:
    value, etag = read(client)
    body = json.dumps({"value": {**value, **change}})
    for method, path in (("PUT", head_path(client)), ("POST", f"{head_path(client)}/preview")):
        headers = {"If-Match": etag, "Content-Type": "application/json"}
        answer = client.request(method, path, content=body, headers=headers)
        assert answer.status_code == 422, answer.text
        assert answer.json()["fields"][0]["pointer"] == pointer
    assert trip.read_text() == JSON


@pytest.mark.parametrize("key", ["eval_cases", "evalCases"])
def test_cases_among_the_keys_are_one_problem(client: TestClient, trip: Path, key: str) -> None:
    value, etag = read(client)
    fields = save(client, {**value, key: []}, etag).json()["fields"]
    assert [(field["pointer"], field["message"]) for field in fields] == [
        (f"/{key}", "the cases cannot be edited here: edit them one by one")
    ]


def test_the_id_does_not_go(client: TestClient, trip: Path) -> None:
    value, etag = read(client)
    assert save(client, without(value, "eval_set_id"), etag).status_code == 422
    assert trip.read_text() == JSON


def test_comments_are_not_lost_without_confirmation(client: TestClient, trip: Path) -> None:
    text = JSON.replace('{"deep": [', '{"deep": [ // because\n').replace("  // the id", "")
    trip.write_text(text)
    value, etag = read(client)
    wanted = {**value, "mine": "flat"}
    shown = client.post(f"{head_path(client)}/preview", json={"value": wanted}).json()
    assert shown["lost"] == ["4: // because"]
    assert {line["sign"] for line in shown["lines"]} == {" ", "-", "+"}
    refused = save(client, wanted, etag)
    assert (refused.status_code, refused.json()["lost"]) == (409, ["4: // because"])
    assert trip.read_text() == text
    assert save(client, wanted, etag, comments_may_go=True).status_code == 200
    assert "// kept" in trip.read_text()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("trip.evalset.json", '[{"eval_id": "a", "conversation": []}]', id="a list of cases"),
        pytest.param("trip.test.json", '[{"query": "hi", "reference": "x"}]', id="an old format"),
    ],
)
def test_without_a_place_for_them_it_is_reported(
    client: TestClient, tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    assert not client.get(f"/api/eval-sets/{set_id(client)}").json()["has_head"]
    answer = client.get(head_path(client))
    assert answer.status_code == 400
    assert "convert" in answer.json()["detail"]


def test_an_anchor_is_not_changed_in_all_its_places(client: TestClient, tmp_path: Path) -> None:
    text = "eval_set: trip\nextra:\n  one: &it\n    k: 1\n  two: *it\ncases:\n  - ask: hi\n    expect: x\n"
    path = tmp_path / "trip.evalset.yaml"
    path.write_text(text)
    value, etag = read(client)
    refused = save(client, {**value, "one": {"k": 2}}, etag)
    assert refused.status_code == 409
    assert "anchor" in refused.json()["detail"]
    assert path.read_text() == text


@pytest.mark.parametrize(
    "text",
    ['{"eval_set_id": "trip", "eval_cases": []}\n', '\ufeff{"eval_set_id": "trip", "eval_cases": [ ]}'],
)
def test_a_set_without_cases_has_a_head(client: TestClient, tmp_path: Path, text: str) -> None:
    path = tmp_path / "trip.evalset.json"
    path.write_text(text)
    value, etag = read(client)
    assert save(client, {**value, "name": "x"}, etag).status_code == 200
    assert path.read_text() == text.replace('"trip"', '"trip", "name": "x"')


def test_a_comment_behind_the_cases_has_its_line(client: TestClient, trip: Path) -> None:
    trip.write_text(JSON.replace("1700000000.25", '1700000000.25,\n  "late": [1, // last\n  2]'))
    value, _ = read(client)
    shown = client.post(f"{head_path(client)}/preview", json={"value": {**value, "late": "x"}}).json()
    line = trip.read_text().split("// last")[0].count("\n") + 1
    assert shown["lost"] == [f"{line}: // last"]


def test_two_cases_of_one_id_are_no_hindrance(client: TestClient, tmp_path: Path) -> None:
    path = tmp_path / "trip.evalset.json"
    text = JSON.replace('"eval_id": "b"', '"eval_id": "a"')
    path.write_text(text)
    value, etag = read(client)
    assert save(client, {**value, "name": "Journeys"}, etag).status_code == 200
    assert path.read_text() == text.replace('"Trips"', '"Journeys"')
