"""The text of a set that cannot be read is put right in the page: with what is wrong, and nothing else changed by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from hypothesis import given, strategies as st

from proctor.authoring.edit_text import normalize_line_ends, restore_line_ends
from tests.web.routes.test_eval_sets import set_id

BROKEN = '{"eval_set_id": "trip",\n "eval_cases": [\n  {"eval_id": "rome", "conversation": []},\n  {"evl_id": 1}\n]}\n'
MENDED = BROKEN.replace('{"evl_id": 1}', '{"eval_id": "oslo", "conversation": []}')


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "trip.evalset.json"
    path.write_text(BROKEN)
    return path


def address(client: TestClient, name: str = "trip") -> str:
    return f"/api/eval-sets/{set_id(client, name)}/text"


def read(client: TestClient, name: str = "trip") -> tuple[dict[str, Any], str]:
    answer = client.get(address(client, name))
    assert answer.status_code == 200, answer.text
    return answer.json(), answer.headers["etag"]


def save(client: TestClient, text: str, etag: str | None, name: str = "trip", **more: Any) -> httpx.Response:
    headers = {} if etag is None else {"If-Match": etag}
    return client.put(address(client, name), json={"text": text, **more}, headers=headers)


def test_the_text_is_read_with_every_problem_at_its_line(client: TestClient, broken: Path) -> None:
    page, etag = read(client)
    assert (page["text"], page["readable"], etag) == (BROKEN, False, f'"{page["version"]}"')
    places = [(one["severity"], one["line"], one["file"]) for one in page["problems"]]
    assert ("error", 4, None) in places


def test_a_set_is_put_right_and_can_be_edited_then(client: TestClient, broken: Path) -> None:
    assert client.get(f"/api/eval-sets/{set_id(client)}").json()["cases"] is None
    _, etag = read(client)
    checked = client.post(f"{address(client)}/check", json={"text": MENDED}).json()
    assert (checked["readable"], broken.read_text()) == (True, BROKEN)
    answer = save(client, MENDED, etag)
    assert (answer.status_code, answer.json()["readable"]) == (200, True)
    assert answer.headers["etag"] != etag
    assert broken.read_text() == MENDED
    assert client.get(f"/api/eval-sets/{set_id(client)}").json()["cases"] == 2


def test_what_still_cannot_be_read_is_written_only_when_that_is_confirmed(
    client: TestClient, broken: Path
) -> None:
    _, etag = read(client)
    half = BROKEN.replace('"evl_id"', '"eval_id"')
    answer = save(client, half, etag)
    assert answer.status_code == 422
    assert ":4:" in answer.json()["detail"]
    assert broken.read_text() == BROKEN
    assert save(client, half, etag, unreadable_may_be=True).status_code == 200
    assert broken.read_text() == half


@pytest.mark.parametrize(("etag", "status"), [(None, 428), ("*", 428), ('"other"', 412)])
def test_a_text_that_was_not_read_is_not_replaced(
    client: TestClient, broken: Path, etag: str | None, status: int
) -> None:
    answer = save(client, MENDED, etag)
    assert answer.status_code == status
    assert answer.json()["theirs"] == (BROKEN if status == 412 else None)
    assert broken.read_text() == BROKEN


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(BROKEN.replace("\n", "\r\n"), id="CRLF"),
        pytest.param("\ufeff" + BROKEN, id="a byte-order mark"),
        pytest.param(BROKEN.replace("\n", "\r\n", 2), id="both"),
        pytest.param(BROKEN.replace("\n", "\r"), id="CR"),
        pytest.param(BROKEN.rstrip("\n"), id="no end"),
    ],
)
def test_lines_that_stay_keep_their_bytes(client: TestClient, broken: Path, before: str) -> None:
    broken.write_bytes(before.encode())
    page, etag = read(client)
    assert "\r" not in page["text"]
    text = page["text"].replace('{"evl_id": 1}', '{"eval_id": "oslo", "conversation": []}')
    assert save(client, text, etag).status_code == 200
    assert broken.read_bytes().decode() == before.replace(
        '{"evl_id": 1}', '{"eval_id": "oslo", "conversation": []}'
    )


LINES = st.lists(st.tuples(st.sampled_from(["a", "b", "", "c d"]), st.sampled_from(["\n", "\r\n", "\r"])))


@given(LINES, st.sampled_from(["", "x"]), st.booleans())
def test_what_was_not_edited_is_what_it_was(lines: list[tuple[str, str]], last: str, mark: bool) -> None:
    before = ("\ufeff" if mark else "") + "".join(map("".join, lines)) + last
    assert restore_line_ends(normalize_line_ends(before), before) == before


@given(LINES, LINES)
def test_an_edited_text_shows_what_was_edited(
    one: list[tuple[str, str]], other: list[tuple[str, str]]
) -> None:
    before, after = ("".join(map("".join, lines)) for lines in (one, other))
    assert normalize_line_ends(restore_line_ends(normalize_line_ends(after), before)) == normalize_line_ends(
        after
    )


def test_a_line_that_comes_leaves_the_ends_of_all_others() -> None:
    assert restore_line_ends("a\nnew\nb\nc", "a\r\nb\nc") in {"a\r\nnew\r\nb\nc", "a\r\nnew\nb\nc"}


def test_a_link_that_leads_out_is_not_read_and_not_written(client: TestClient, tmp_path: Path) -> None:
    outside = tmp_path.parent / "secret.evalset.json"
    outside.write_text(BROKEN)
    (tmp_path / "trip.evalset.json").symlink_to(outside)
    assert client.get(address(client)).status_code == 409
    assert save(client, MENDED, '"x"').status_code == 409
    assert client.post(f"{address(client)}/check", json={"text": MENDED}).status_code == 409
    assert outside.read_text() == BROKEN


def test_a_file_that_becomes_a_link_that_leads_out_is_not_read_and_not_written(
    client: TestClient, tmp_path: Path, broken: Path
) -> None:
    where = address(client)
    _, etag = read(client)
    outside = tmp_path.parent / "secret.evalset.json"
    outside.write_text(BROKEN)
    broken.unlink()
    broken.symlink_to(outside)
    assert client.get(where).status_code == 409
    assert client.put(where, json={"text": MENDED}, headers={"If-Match": etag}).status_code == 409
    assert outside.read_text() == BROKEN


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        pytest.param(b"\xff\xfe{\x00", "cannot be read", id="UTF-16"),
        pytest.param(b'{"a": "' + b"x" * (2 << 20) + b'"', "MiB", id="too large"),
    ],
)
def test_what_a_page_cannot_edit_reports_it(
    client: TestClient, broken: Path, content: bytes, reported: str
) -> None:
    broken.write_bytes(content)
    answer = client.get(address(client))
    assert (answer.status_code, reported in answer.json()["detail"]) == (409, True)


def test_half_a_character_is_refused(client: TestClient, broken: Path) -> None:
    _, etag = read(client)
    headers = {"If-Match": etag, "Content-Type": "application/json"}
    answer = client.put(address(client), content=rb'{"text": "\ud800"}', headers=headers)
    assert answer.status_code == 422
    assert broken.read_text() == BROKEN


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("lines.evalset.jsonl", '{"eval_id": "a", "conversation": []}\n{"eval_id":\n', '{"eval_id": "a", "conversation": []}\n'),
        ("people.evalset.yaml", "eval_set: p\ncases:\n  - ask: hi\n   expect: x\n", "eval_set: p\ncases:\n  - ask: hi\n    expect: x\n"),
        ("old.test.json", '[{"query": "hi" "reference": "x"}]', '[{"query": "hi", "reference": "x"}]'),
    ],
)  # fmt: skip
def test_every_form_is_put_right_so(
    client: TestClient, tmp_path: Path, name: str, before: str, after: str
) -> None:
    (tmp_path / name).write_text(before)
    page, etag = read(client, name)
    assert not page["readable"]
    assert save(client, after, etag, name).status_code == 200
    assert (tmp_path / name).read_text() == after
    assert client.get(f"/api/eval-sets/{set_id(client, name)}").json()["cases"] == 1


# --- what a run would refuse, reported while a case is written -------------------------------------------------------------


def _noted(client: TestClient, value: Any, eval_id: str = "x") -> dict[str, dict[str, str]]:
    path = f"/api/eval-sets/{set_id(client)}/case/check"
    found = client.post(path, params={"id": eval_id}, json={"value": value}).json()
    return {kind: {one["pointer"]: one["message"] for one in notes} for kind, notes in found.items()}


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({}, "asserts nothing"),
        ({"intermediate_data": {"tool_uses": []}}, "negative only"),
        ({"final_response": {"parts": [{"text": "hello"}]}}, None),
    ],
)
def test_a_case_that_asserts_nothing_is_a_warning(
    client: TestClient, broken: Path, stated: Any, message: str | None
) -> None:
    turn = {"user_content": {"parts": [{"text": "hi"}]}, **stated}
    warnings = _noted(client, {"eval_id": "x", "conversation": [turn]})["warnings"]
    assert [text.split(":")[0].split(",")[0] for text in warnings.values()] == ([message] if message else [])


@pytest.mark.parametrize(
    ("more", "pointer", "reported"),
    [
        ({"expectations": {"calls": [{"tool": ""}]}}, "/expectations/calls/0/tool", "a tool's name"),
        ({"expectations": {"calls": [{"tool": "a", "args": {"x/y": {"$match": "regex"}}}]}}, "/expectations/calls/0/args/x~1y/pattern", "`pattern`"),
        ({"expectations": {"calls": [{"tool": "a", "args": {"n": {"$match": "number", "value": 1}}}]}}, "/expectations/calls/0/args/n", "`number` needs"),
        ({"expectations": {"limits": [{"tool": "b"}]}}, "/expectations/limits/0", "a limit needs"),
        ({"expectations": {"calls": [], "turn": 9}}, "/expectations/turn", "1 turn"),
        ({"trajectoryRules": [{"call": "y", "at_most": -1}]}, "/trajectoryRules/0/at_most", "from 0"),
        ({"response_schema": {"type": "objekt"}}, "/response_schema", "objekt"),
        ({"final_session_state": {"k": {"$match": "numbr"}}}, "/final_session_state/k", "numbr"),
    ],
)  # fmt: skip
def test_what_a_run_would_refuse_is_reported_at_its_field(
    client: TestClient, broken: Path, more: Any, pointer: str, reported: str
) -> None:
    value = {"eval_id": "x", "conversation": [{"user_content": {"parts": [{"text": "hi"}]}}], **more}
    found = _noted(client, value)
    assert found["errors"] == {}
    assert reported in found["refused"][pointer]


@pytest.mark.parametrize(
    ("more", "pointer", "reported"),
    [
        ({"final_sesion_state": {"a": 1}}, "/final_sesion_state", "unknown key"),
        ({"conversation": []}, "", "no turns"),
    ],
)
def test_a_case_that_every_run_refuses_is_no_warning(
    client: TestClient, broken: Path, more: Any, pointer: str, reported: str
) -> None:
    turn = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hello"}]}}
    found = _noted(client, {"eval_id": "x", "conversation": [turn], **more})
    assert (found["errors"], found["warnings"]) == ({}, {})
    assert reported in found["refused"][pointer]


def test_an_unknown_expectation_that_the_settings_allow_is_a_warning(
    client: TestClient, broken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.proctor]\nallow_unknown_keys = true\n")
    monkeypatch.chdir(tmp_path)
    turn = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hello"}]}}
    found = _noted(client, {"eval_id": "x", "conversation": [turn], "final_sesion_state": {"a": 1}})
    assert (found["refused"], [*found["warnings"]]) == ({}, ["/final_sesion_state"])


def test_an_id_that_another_case_has_is_reported_before_it_is_saved(client: TestClient, broken: Path) -> None:
    broken.write_text(MENDED)
    value = {"eval_id": "oslo", "conversation": []}
    assert "has this id already" in _noted(client, value, "rome")["errors"]["/eval_id"]
    assert _noted(client, value, "oslo")["errors"] == {}


def test_an_invalid_case_is_reported(client: TestClient, broken: Path) -> None:
    found = _noted(client, {"eval_id": "x", "conversation": [{}], "tagz": 1})
    assert "user_content" in found["errors"]["/conversation/0"]
    assert broken.read_text() == BROKEN
