"""Eval sets over HTTP: listed with their problems, made, migrated; their cases changed, and nothing lost by it."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from fastapi.testclient import TestClient

from tests.files.sample_sets import case, content, eval_set, turn

TRIP = """\
{
  "eval_set_id": "trip",
  "unknown_of_set": 1.50,
  "eval_cases": [
    {
      "evalId": "rome",
      "conversation": [
        {"userContent": {"parts": [{"text": "Where to?"}], "role": "user"}, "mine": 1.0}
      ],
      "big": 12345678901234567890123, "sessionInput": {"appName": "a", "userId": "u", "state": {"k": null}}
    },
    {"eval_id": "oslo", "conversation": [], "tags": ["x"]}
  ]
}"""


@pytest.fixture
def trip(tmp_path: Path) -> Path:
    path = tmp_path / "trip.evalset.json"
    path.write_text(TRIP)
    return path


def set_id(client: TestClient, name: str = "trip") -> str:
    rows = client.get("/api/eval-sets").json()["items"]
    return str(next(row["id"] for row in rows if name in row["path"]))


def address(client: TestClient, eval_id: str, name: str = "trip") -> str:
    return f"/api/eval-sets/{set_id(client, name)}/case?id={quote(eval_id, safe='')}"


def read(client: TestClient, eval_id: str, name: str = "trip") -> tuple[Any, str]:
    answer = client.get(address(client, eval_id, name))
    assert answer.status_code == 200, answer.text
    return answer.json()["value"], answer.headers["etag"]


def save(
    client: TestClient, eval_id: str, value: Any, etag: str, name: str = "trip", **more: Any
) -> httpx.Response:
    return client.put(
        address(client, eval_id, name), json={"value": value, **more}, headers={"If-Match": etag}
    )


# --- sets --------------------------------------------------------------------------------------------------------------


def test_every_set_is_listed_with_what_is_wrong_with_it(
    client: TestClient, trip: Path, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "old.test.json").write_text('[{"query": "hi", "reference": "x"}]')
    (tmp_path / "sub" / "broken.evalset.json").write_text('{"eval_set_id": "b",\n "eval_cases": [{}]}')
    (tmp_path / "sub" / "people.evalset.yaml").write_text("eval_set: p\ncases:\n  - ask: hi\n    expect: x\n")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "no.evalset.json").write_text("{}")
    found = client.get("/api/eval-sets").json()
    rows = {row["path"]: row for row in found["items"]}
    assert list(rows) == sorted(rows)
    assert found["folders"] == ["", "sub"]
    reported = {
        path: (row["form"], row["cases"], row["can_edit"], row["is_old"]) for path, row in rows.items()
    }
    assert reported == {
        "trip.evalset.json": ("json", 2, True, False),
        "sub/old.test.json": ("json", 1, False, True),
        "sub/broken.evalset.json": ("json", None, False, False),
        "sub/people.evalset.yaml": ("yaml", 1, True, False),
    }
    assert rows["sub/broken.evalset.json"]["errors"] >= 1
    assert rows["sub/broken.evalset.json"]["first_problem"].startswith("2:")


def test_a_set_is_checked_with_the_settings_of_the_project(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "PROCTOR_JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "trip.evalset.json").write_text(
        json.dumps(eval_set(case(conversation=[turn(final_response=content("Rome"))])))
    )
    (tmp_path / "test_config.json").write_text('{"criteria": {"final_response_match_v2": 0.5}}')
    (tmp_path / "judge.json").write_text('[{"when": "Rome", "say": "{}"}]')
    monkeypatch.chdir(tmp_path)
    messages = [
        [one["message"] for one in client.get(f"/api/eval-sets/{set_id(client)}").json()["problems"]]
        for settings in ("", 'judge = "scripted:judge.json"\n')
        if (tmp_path / "proctor.toml").write_text(settings) is not None
    ]
    assert "gemini-2.5-flash cannot be asked" in " ".join(messages[0])
    assert messages[1] == []


def test_a_set_has_its_problems_with_line_column_and_case(client: TestClient, trip: Path) -> None:
    page = client.get(f"/api/eval-sets/{set_id(client)}").json()
    problems = [(one["severity"], one["line"], one["position"]) for one in page["problems"]]
    assert ("warning", 8, 0) in problems  # `mine`, which google-adk refuses
    assert all(one["column"] >= 1 and one["message"] for one in page["problems"])
    assert page["command"] == "proctor eval AGENT trip.evalset.json"


def test_the_cases_of_a_set(client: TestClient, trip: Path) -> None:
    found = client.get(f"/api/eval-sets/{set_id(client)}/cases").json()
    assert found["total"] == 2
    rome, oslo = found["items"]
    assert (rome["eval_id"], rome["asks"], rome["turns"], rome["line"], rome["warnings"] > 0) == (
        "rome", "Where to?", 1, 5, True,
    )  # fmt: skip
    assert oslo["tags"] == ["x"]
    page = client.get(f"/api/eval-sets/{set_id(client)}/cases?offset=1&limit=1").json()
    assert [row["eval_id"] for row in page["items"]] == ["oslo"]


@pytest.mark.parametrize("form", ["json", "yaml", "lines"])
def test_a_set_is_made_and_gets_cases(client: TestClient, tmp_path: Path, form: str) -> None:
    made = client.post("/api/eval-sets", json={"name": "new_one", "form": form})
    assert made.status_code == 201
    there = tmp_path / made.json()["path"]
    assert there.is_file()
    set_ = f"/api/eval-sets/{made.json()['id']}"
    empty = client.get(set_).json()
    assert (empty["eval_set_id"], empty["cases"], empty["can_edit"]) == ("new_one", 0, True)
    assert client.get(f"{set_}/cases").json() == {"items": [], "total": 0}
    for name in ("a", "b"):
        added = client.post(f"{set_}/case", json={"value": case(name, mine={"kept": [1.5]})})
        assert added.status_code == 201, added.text
    rows = client.get(f"{set_}/cases").json()["items"]
    assert [row["eval_id"] for row in rows] == ["a", "b"]
    page = client.get(f"{set_}/case?id=b").json()
    assert page["value"]["mine"] == {"kept": [1.5]}
    assert (page["previous"], page["next"]) == ("a", None)
    again = client.post("/api/eval-sets", json={"name": "new_one", "form": form})
    assert again.status_code == 409
    assert "already exists" in again.json()["detail"]


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    ("wanted", "status"),
    [
        pytest.param({"name": "../x"}, 400, id="a path"),
        pytest.param({"name": "a b"}, 400, id="a blank"),
        pytest.param({"name": ""}, 400, id="nothing"),
        pytest.param({"name": "x" * 300}, 400, id="too long"),
        pytest.param({"name": "x", "folder": ".."}, 400, id="a folder above"),
        pytest.param({"name": "x", "folder": "a/../.."}, 400, id="a folder above, hidden"),
        pytest.param({"name": "x", "folder": "/tmp"}, 400, id="an absolute folder"),
        pytest.param({"name": "x", "folder": "C:\\x"}, 400, id="a drive"),
        pytest.param({"name": "x", "folder": "gone"}, 400, id="a folder that is not there"),
        pytest.param({"name": "x", "folder": "a\0b"}, 400, id="NUL"),
        pytest.param({"name": "x", "folder": ".git"}, 400, id="a hidden folder"),
        pytest.param({"name": "x", "folder": "out"}, 400, id="a link out of the project"),
        pytest.param({"name": "x", "form": "toml"}, 422, id="another form"),
        pytest.param({"name": "x", "more": 1}, 422, id="an unknown key"),
    ],
)
def test_a_set_is_not_made_elsewhere(client: TestClient, tmp_path: Path, wanted: Any, status: int) -> None:
    (tmp_path / "out").symlink_to(tmp_path.parent)
    before = sorted(tmp_path.parent.rglob("*.evalset*"))
    answer = client.post("/api/eval-sets", json=wanted)
    assert answer.status_code == status
    assert answer.json()["detail"]
    assert sorted(tmp_path.parent.rglob("*.evalset*")) == before


@pytest.mark.parametrize(
    "name", ["nope", "..", "trip.evalset.json", "%2e%2e%2ftrip", "a\0b", "trip-00000000", "é"]
)
def test_an_id_is_never_a_path(client: TestClient, trip: Path, name: str) -> None:
    assert client.get(f"/api/eval-sets/{quote(name, safe='')}").status_code == 404


def test_a_link_that_leads_out_is_not_opened(client: TestClient, tmp_path: Path) -> None:
    (tmp_path.parent / "secret.evalset.json").write_text(json.dumps(eval_set()))
    (tmp_path / "trip.evalset.json").symlink_to(tmp_path.parent / "secret.evalset.json")
    row = client.get("/api/eval-sets").json()["items"][0]
    assert (row["cases"], row["can_edit"]) == (None, False)
    assert "leads out of the project" in row["first_problem"]
    answer = client.get(f"/api/eval-sets/{row['id']}/cases")
    assert answer.status_code == 400


def test_an_old_format_is_shown_and_migrated_next_to_itself(client: TestClient, tmp_path: Path) -> None:
    old = tmp_path / "trip.test.json"
    old.write_text('[{"query": "hi", "expected_tool_use": [], "reference": "hello", "note": 1}]')
    before = old.read_bytes()
    page = client.get(f"/api/eval-sets/{set_id(client)}").json()
    assert page["migrates_to"] == "trip.evalset.json"
    assert "migrate" in page["why_not"]
    eval_id = client.get(f"/api/eval-sets/{page['id']}/cases").json()["items"][0]["eval_id"]
    shown = client.get(address(client, eval_id)).json()
    assert not shown["can_edit"]
    refused = save(client, eval_id, shown["value"], f'"{shown["version"]}"')
    assert refused.status_code == 409
    made = client.post(f"/api/eval-sets/{page['id']}/migrate")
    assert made.status_code == 201
    assert old.read_bytes() == before
    row = next(r for r in client.get("/api/eval-sets").json()["items"] if r["path"] == "trip.evalset.json")
    assert row["can_edit"]
    assert client.post(f"/api/eval-sets/{row['id']}/migrate").status_code == 400


# --- one case ----------------------------------------------------------------------------------------------------------


def test_a_document_inside_a_json_string_is_shown_and_only_read(client: TestClient, tmp_path: Path) -> None:
    path = tmp_path / "trip.evalset.json"
    path.write_text(json.dumps(json.dumps(eval_set(case("a")))))
    before = path.read_text()
    page = client.get(f"/api/eval-sets/{set_id(client)}").json()
    assert (page["cases"], page["can_edit"]) == (1, False)
    assert "inside a JSON string" in page["why_not"]
    value, etag = read(client, "a")
    for answer in (
        save(client, "a", {**value, "tags": ["x"]}, etag),
        client.post(f"/api/eval-sets/{set_id(client)}/case", json={"value": case("b")}),
        client.delete(address(client, "a"), headers={"If-Match": etag}),
    ):
        assert (answer.status_code, "proctor convert" in answer.json()["detail"]) == (409, True)
    assert path.read_text() == before


def test_saving_what_was_read_changes_no_byte(client: TestClient, trip: Path) -> None:
    value, etag = read(client, "rome")
    assert value["big"] == 12345678901234567890123
    assert save(client, "rome", value, etag).status_code == 200
    assert trip.read_text() == TRIP


def test_one_field_is_changed_and_nothing_else(client: TestClient, trip: Path) -> None:
    value, etag = read(client, "rome")
    value["conversation"][0]["userContent"]["parts"][0]["text"] = "Where from?"
    answer = save(client, "rome", value, etag)
    assert answer.status_code == 200
    assert trip.read_text() == TRIP.replace("Where to?", "Where from?")
    assert answer.headers["etag"] != etag
    assert f'"{answer.json()["version"]}"' == answer.headers["etag"] == read(client, "rome")[1]


def test_a_case_is_renamed_in_its_place(client: TestClient, trip: Path) -> None:
    value, etag = read(client, "rome")
    answer = save(client, "rome", {**value, "evalId": "paris"}, etag)
    assert answer.status_code == 200, answer.text
    assert trip.read_text() == TRIP.replace('"rome"', '"paris"')
    assert client.get(address(client, "rome")).status_code == 404
    value, etag = read(client, "paris")
    taken = save(client, "paris", {**value, "evalId": "oslo"}, etag)
    assert taken.status_code == 422
    assert taken.json()["fields"][0]["pointer"] == "/eval_id"


def test_without_a_version_nothing_is_changed(client: TestClient, trip: Path) -> None:
    value, _ = read(client, "rome")
    for headers in ({}, {"If-Match": "*"}, {"If-Match": '""'}):
        put = client.put(address(client, "rome"), json={"value": value}, headers=headers)
        gone = client.delete(address(client, "rome"), headers=headers)
        assert (put.status_code, gone.status_code) == (428, 428)
        assert "If-Match" in put.json()["detail"]
    assert trip.read_text() == TRIP


def test_a_stale_version_is_refused_with_the_content_of_the_file(client: TestClient, trip: Path) -> None:
    mine, etag = read(client, "rome")
    theirs = json.loads(json.dumps(mine))
    theirs["conversation"][0]["mine"] = "theirs"
    assert save(client, "rome", theirs, etag).status_code == 200
    written = trip.read_bytes()
    mine["tags"] = ["mine"]
    answer = save(client, "rome", mine, etag)
    assert answer.status_code == 412
    reported = answer.json()
    assert reported["theirs"] == theirs
    assert reported["changed"] == ["/conversation/0/mine", "/tags"]
    assert trip.read_bytes() == written
    assert save(client, "rome", mine, f'"{reported["version"]}"').status_code == 200


@pytest.mark.parametrize("same_size", [True, False])
def test_an_editor_on_the_disk_counts_too(client: TestClient, trip: Path, *, same_size: bool) -> None:
    value, etag = read(client, "rome")
    text = TRIP.replace("Where to?", "Where so?" if same_size else "Somewhere else?")
    trip.write_text(text)
    value["tags"] = ["mine"]
    assert save(client, "rome", value, etag).status_code == 412
    assert client.delete(address(client, "rome"), headers={"If-Match": etag}).status_code == 412
    assert trip.read_text() == text


def test_what_others_change_elsewhere_in_the_file_makes_no_conflict(client: TestClient, trip: Path) -> None:
    value, etag = read(client, "rome")
    text = TRIP.replace('["x"]', '["x", "y"]').replace('"unknown_of_set": 1.50', '"unknown_of_set": 2')
    trip.write_text(text)
    value["tags"] = ["mine"]
    assert save(client, "rome", value, etag).status_code == 200
    after = json.loads(trip.read_text())
    assert after["unknown_of_set"] == 2
    assert after["eval_cases"][1]["tags"] == ["x", "y"]
    assert after["eval_cases"][0]["tags"] == ["mine"]


def test_a_case_that_is_gone_cannot_be_saved(client: TestClient, trip: Path) -> None:
    value, etag = read(client, "rome")
    assert client.delete(address(client, "rome"), headers={"If-Match": etag}).status_code == 200
    answer = save(client, "rome", value, etag)
    assert answer.status_code == 412
    assert answer.json()["theirs"] is None


@pytest.mark.nightly
@pytest.mark.slow
def test_two_editors_never_lose_an_update(client: TestClient, tmp_path: Path) -> None:
    """Two people, fifty changes each: every one that was reported to be saved is in the file."""
    path = tmp_path / "trip.evalset.json"
    path.write_text(json.dumps(eval_set(case("a", counts={"x": 0, "y": 0})), indent=2))
    conflicts: list[int] = []

    def work(name: str) -> None:
        for _ in range(50):
            while True:
                value, etag = read(client, "a")
                value["counts"][name] += 1
                answer = save(client, "a", value, etag)
                if answer.status_code == 200:
                    break
                assert answer.status_code == 412
                conflicts.append(1)

    threads = [threading.Thread(target=work, args=(name,)) for name in "xy"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read(client, "a")[0]["counts"] == {"x": 50, "y": 50}


def test_an_invalid_case_is_refused_field_by_field(client: TestClient, trip: Path) -> None:
    value, etag = read(client, "rome")
    value["conversation"][0]["userContent"]["parts"][0]["text"] = 5
    value["conversation"].append({"invocationId": "without a message"})
    value["sessionInput"] = {"userId": "u", "state": []}
    answer = save(client, "rome", value, etag)
    assert answer.status_code == 422
    reported = {one["pointer"]: one["message"] for one in answer.json()["fields"]}
    assert reported["/conversation/0/userContent/parts/0/text"].startswith("expected text, got")
    assert reported["/sessionInput/state"].startswith("expected an object")
    [missing] = [
        message for pointer, message in reported.items() if re.fullmatch(r"/conversation/\d+", pointer)
    ]
    assert "userContent` is missing" in missing
    assert "/sessionInput" not in reported  # a session need not name the app
    assert trip.read_text() == TRIP


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"value": {"eval_id": "a", "conversation": [], "x": NaN}}', id="NaN"),
        pytest.param(b'{"value": {"eval_id": "a", "conversation": [], "x": 1e999}}', id="infinite"),
        pytest.param(b'{"value": {"eval_id": "a", "conversation": [], "x": "\\ud800"}}', id="half a character"),
        pytest.param(b'{"value": {"eval_id": "a", "conversation": [], "x": "\\u0000"}}', id="NUL"),
        pytest.param(b'{"value": {"eval_id": "a", "conversation": [], "x": ' + b"9" * 5000 + b"}}", id="a huge number"),
        pytest.param(b'{"value": {"eval_id": "a", "conversation": [], "x": ' + b"[" * 3000 + b"]" * 3000 + b"}}", id="deep"),
        pytest.param(b'{"value": []}', id="a list"),
        pytest.param(b"{", id="no JSON"),
        pytest.param(b"", id="nothing"),
    ],
)  # fmt: skip
def test_what_no_file_may_hold_is_refused(client: TestClient, trip: Path, body: bytes) -> None:
    headers = {"Content-Type": "application/json", "If-Match": read(client, "rome")[1]}
    for method in ("PUT", "POST"):
        answer = client.request(method, address(client, "rome"), content=body, headers=headers)
        assert answer.status_code in {400, 422}, (method, answer.text)
        assert answer.json()["detail"]
    assert trip.read_text() == TRIP


def test_comments_are_not_lost_without_confirmation(client: TestClient, tmp_path: Path) -> None:
    path = tmp_path / "trip.evalset.json"
    path.write_text(
        '{"eval_set_id": "s", "eval_cases": [\n  // first\n  {"eval_id": "a", "conversation": [],\n'
        '   "list": [\n     // why\n     {"k": 1},\n     // because\n     {"k": 2}\n   ]}\n]}'
    )
    value, etag = read(client, "a")
    value["tags"] = ["new"]
    assert save(client, "a", value, etag).status_code == 200
    assert "// why" in path.read_text()
    value, etag = read(client, "a")
    value["list"] = ["other"]
    before = path.read_bytes()
    shown = client.post(f"/api/eval-sets/{set_id(client)}/case/preview?id=a", json={"value": value}).json()
    assert [one.partition(": ")[2] for one in shown["lost"]] == ["// because"]
    refused = save(client, "a", value, etag)
    assert refused.status_code == 409
    assert [one.partition(": ")[2] for one in refused.json()["lost"]] == ["// because"]
    assert path.read_bytes() == before
    assert save(client, "a", value, etag, comments_may_go=True).status_code == 200
    assert "// first" in path.read_text()
    assert "// why" in path.read_text()


def test_the_change_is_shown_before_it_is_written(client: TestClient, trip: Path) -> None:
    value, _ = read(client, "rome")
    value["conversation"][0]["userContent"]["parts"][0]["text"] = "Where from?"
    answer = client.post(f"/api/eval-sets/{set_id(client)}/case/preview?id=rome", json={"value": value})
    lines = [(one["sign"], one["number"]) for one in answer.json()["lines"]]
    assert lines == [(" ", 5), (" ", 6), (" ", 7), ("-", 8), ("+", 8), (" ", 9), (" ", 10), (" ", 11)]
    assert trip.read_text() == TRIP


def test_a_yaml_set_stays_yaml(client: TestClient, tmp_path: Path) -> None:
    path = tmp_path / "trip.evalset.yaml"
    text = "# mine\neval_set: s\ncases:\n  - case: a\n    ask: hi   # a question\n    expect: hello\n  - ask: two\n    expect: x\n"
    path.write_text(text)
    value, etag = read(client, "a")
    value["conversation"][0]["final_response"]["parts"][0]["text"] = "good day"
    assert save(client, "a", value, etag).status_code == 200
    assert path.read_text() == text.replace("expect: hello", "expect: good day")


def test_a_case_goes_and_comes_back_byte_for_byte(client: TestClient, trip: Path) -> None:
    _, etag = read(client, "oslo")
    gone = client.delete(address(client, "oslo"), headers={"If-Match": etag})
    assert gone.status_code == 200
    assert len(json.loads(trip.read_text())["eval_cases"]) == 1
    undo = {"undo": gone.json()["undo"]}
    path = f"/api/eval-sets/{set_id(client)}/undo"
    assert client.post(path, json={"undo": "nope"}).status_code == 404
    trip.write_text(trip.read_text() + "\n")
    assert client.post(path, json=undo).status_code == 412
    trip.write_text(trip.read_text()[:-1])
    assert client.post(path, json=undo).status_code == 200
    assert trip.read_text() == TRIP
    assert client.post(path, json=undo).status_code == 404


def test_several_cases_go_together_or_none_does(client: TestClient, trip: Path) -> None:
    versions = {eval_id: read(client, eval_id)[1].strip('"') for eval_id in ("rome", "oslo")}
    path = f"/api/eval-sets/{set_id(client)}/cases/remove"

    def asked(stated: dict[str, str]) -> httpx.Response:
        cases = [{"eval_id": eval_id, "version": version} for eval_id, version in stated.items()]
        return client.post(path, json={"cases": cases})

    assert asked({}).status_code == 422
    assert asked({**versions, "oslo": "stale"}).status_code == 412
    assert asked({**versions, "gone": "x"}).status_code == 412
    assert trip.read_text() == TRIP
    gone = asked(versions)
    assert (gone.status_code, gone.json()["eval_ids"]) == (200, ["rome", "oslo"])
    assert json.loads(trip.read_text())["eval_cases"] == []
    undone = client.post(f"/api/eval-sets/{set_id(client)}/undo", json={"undo": gone.json()["undo"]})
    assert undone.status_code == 200
    assert trip.read_text() == TRIP


def test_a_file_keeps_its_mode_and_a_link_stays_a_link(
    client: TestClient, trip: Path, tmp_path: Path
) -> None:
    (tmp_path / "real").mkdir()
    real = trip.rename(tmp_path / "real" / "x.json")
    real.chmod(0o640)
    trip.symlink_to(real)
    value, etag = read(client, "oslo")
    assert save(client, "oslo", {**value, "tags": []}, etag).status_code == 200
    assert trip.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert json.loads(real.read_text())["eval_cases"][1]["tags"] == []


HOSTILE = [
    "../x",
    "a/b",
    "..",
    ".",
    "",
    " ",
    "%2e%2e",
    "a?b=c&d#e",
    "<script>",
    "x\ny",
    "é😀",
    "\u202eabc",
    "a,b:c",
    "%",
]


@pytest.mark.parametrize("eval_id", HOSTILE)
def test_a_case_may_be_called_anything(client: TestClient, tmp_path: Path, eval_id: str) -> None:
    path = tmp_path / "trip.evalset.json"
    path.write_text(json.dumps(eval_set(case("first"), case(eval_id))))
    value, etag = read(client, eval_id)
    assert value["eval_id"] == eval_id
    value["tags"] = ["x"]
    assert save(client, eval_id, value, etag).status_code == 200
    assert json.loads(path.read_text())["eval_cases"][1] == value
    assert sorted(tmp_path.iterdir()) == [path]


def test_two_cases_of_one_id_are_distinguished(client: TestClient, tmp_path: Path) -> None:
    path = tmp_path / "trip.evalset.json"
    path.write_text(json.dumps(eval_set(case("a", n=1), case("a", n=2))))
    value, etag = read(client, "a#2")
    assert (value["eval_id"], value["n"]) == ("a", 2)
    assert save(client, "a#2", {**value, "eval_id": "b"}, etag).status_code == 200
    assert [one["eval_id"] for one in json.loads(path.read_text())["eval_cases"]] == ["a", "b"]


def test_every_sort_of_field_can_be_written(client: TestClient, tmp_path: Path) -> None:
    (tmp_path / "trip.evalset.json").write_text(json.dumps(eval_set(case("a")), indent=2))
    value, etag = read(client, "a")
    rubric = {
        "rubric_id": "r",
        "rubric_content": {"text_property": "polite?"},
        "type": "FINAL_RESPONSE_QUALITY",
    }
    events = {"invocation_events": [{"author": "agent", "content": content("hm", "model"), "of_mine": 1}]}
    older = {
        "tool_uses": [{"name": "f", "args": {"a": 1.0}}],
        "tool_responses": [{"name": "f", "response": {"ok": True}}],
        "intermediate_responses": [["agent", [{"text": "one moment"}]]],
    }
    value |= {
        "conversation": [
            turn("one", intermediate_data=older, final_response=content("x", "model"), rubrics=[rubric]),
            turn("two", intermediate_data=events),
        ],
        "rubrics": [rubric],
        "session_input": {"app_name": "a", "user_id": "u", "state": {"deep": {"k": [1, None]}}, "mine": 2},
        "final_session_state": {"covers": 2, "when": {"$match": "regex", "pattern": "^19"}},
        "tags": ["one"],
        "mine": {"kept": None},
    }
    assert save(client, "a", value, etag).status_code == 200
    assert read(client, "a")[0] == value
    scenario = {
        "eval_id": "a",
        "opening": ["hello"],
        "conversation_scenario": {
            "starting_prompt": "hi",
            "conversation_plan": "ask",
            "user_persona": "NOVICE",
            "x": 1,
        },
    }
    assert save(client, "a", scenario, read(client, "a")[1]).status_code == 200
    assert read(client, "a")[0] == scenario
