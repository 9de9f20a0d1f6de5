"""Blessing over HTTP: reviewed before it is written, and only what was reviewed is."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fastapi import HTTPException, Request
from fastapi.testclient import TestClient

from proctor.authoring.bless import OnCase, bless
from proctor.web.pages.bless import BlessPage, Review
from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext
from proctor.web.server.routes.bless import work_while_connected
from tests.cli.project import case, in_this_process, make_project, write_set
from tests.web.stored_runs import run, working_in

SET = "cases.evalset.json"
PREVIEW, BLESS = "/api/runs/latest/bless/preview", "/api/runs/latest/bless"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Three cases, of which two fail."""
    make_project(
        tmp_path,
        case("right", "hello"),
        case("wrong", "bye", answer="You sent nothing."),
        case("off", "hm", answer="Hm."),
    )
    (tmp_path / "proctor.toml").write_text("")
    run(tmp_path, f"agent.py {SET}")
    return tmp_path


@pytest.fixture
def asked(project: Path) -> Iterator[TestClient]:
    context = ServerContext(root=project, store_url=project / ".proctor" / "store.sqlite3")
    with working_in(project), TestClient(create_app(context), base_url="http://127.0.0.1:8000") as client:
        yield client


def preview(asked: TestClient, **wanted: Any) -> Any:
    answer = asked.post(PREVIEW, json=wanted)
    assert answer.status_code == 200, answer.text
    assert answer.headers["etag"] == f'"{answer.json()["etag"]}"'
    return answer.json()


def write(asked: TestClient, etag: str, cases: list[int], **more: Any) -> Any:
    return asked.post(BLESS, json={"cases": cases, **more}, headers={"If-Match": f'"{etag}"'})


def answers(project: Path) -> dict[str, str]:
    document = json.loads((project / SET).read_text())
    return {
        one["eval_id"]: one["conversation"][0]["final_response"]["parts"][0]["text"]
        for one in document["eval_cases"]
    }


def test_a_preview_shows_each_case_that_failed_and_writes_nothing(project: Path, asked: TestClient) -> None:
    before = (project / SET).read_bytes()
    page = preview(asked)
    assert [(one["eval_id"], one["status"], one["trial"]) for one in page["cases"]] == [
        ("wrong", "changes", 0),
        ("off", "changes", 0),
    ]
    [change] = page["cases"][0]["changes"]
    assert change["path"] == "conversation[0].final_response.parts[0].text"
    changed = [
        [one["text"] for one in change[side]["pieces"] if one["changed"]] for side in ("before", "after")
    ]
    assert changed == [["nothing"], ["bye"]]
    [hunk] = page["cases"][0]["hunks"]
    assert [line["text"].strip() for line in hunk["lines"] if line["sign"] != " "] == [
        '"text": "You sent nothing."',
        '"text": "You sent bye."',
    ]
    assert (project / SET).read_bytes() == before


def test_the_lines_are_those_of_the_command(project: Path, asked: TestClient) -> None:
    reported = in_this_process("bless", "--dry-run").stdout.splitlines()
    signed = [line for line in reported if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    lines = [line for one in preview(asked)["cases"] for hunk in one["hunks"] for line in hunk["lines"]]
    assert [line["sign"] + line["text"] for line in lines if line["sign"] != " "] == signed


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two.evalset.yaml", "two.evalset.json"])
def test_the_second_case_with_an_id_is_written_by_itself(project: Path, asked: TestClient, name: str) -> None:
    text = "cases:\n- case: a\n  ask: hi\n  expect: You sent hi.\n- case: b\n  ask: no call\n  expect: Hm.\n"
    Path("two.evalset.yaml").write_text(text)
    if name.endswith(".json"):
        in_this_process("convert", "two.evalset.yaml", name)
    before = Path(name).read_text().replace('"b"', '"a"').replace("case: b", "case: a")
    Path(name).write_text(before)
    Path("text.json").write_text('{"criteria": {"response_match_score": 1.0}}')
    run(project, f"agent.py {name} --config text.json --allow-duplicate-ids")
    page = preview(asked)
    assert [(one["eval_id"], one["status"]) for one in page["cases"]] == [("a#2", "changes")]
    assert write(asked, page["etag"], [1]).json()["files"] == [{"path": name, "cases": ["a#2"]}]
    assert Path(name).read_text() == before.replace("Hm.", "You sent no call.")


@pytest.mark.slow
def test_only_what_was_accepted_is_written(project: Path, asked: TestClient) -> None:
    page = preview(asked)
    done = write(asked, page["etag"], [1])
    assert done.status_code == 200, done.text
    assert done.json()["files"] == [{"path": SET, "cases": ["wrong"]}]
    assert answers(project) == {"right": "You sent hello.", "wrong": "You sent bye.", "off": "Hm."}
    assert preview(asked)["etag"] == done.json()["etag"] != page["etag"]
    assert [(one["eval_id"], one["status"]) for one in preview(asked, cases=[0, 1])["cases"]] == [
        ("right", "same"),
        ("wrong", "refused"),
    ]
    assert "run it again" in preview(asked, cases=[1])["cases"][0]["why"]


@pytest.mark.slow
def test_a_file_that_changed_in_between_is_not_written(project: Path, asked: TestClient) -> None:
    page = preview(asked)
    mine = (project / SET).read_text().replace("Hm.", "Hm!")
    (project / SET).write_text(mine)
    refused = write(asked, page["etag"], [1])
    assert (refused.status_code, "review it again" in refused.json()["detail"]) == (412, True)
    assert (project / SET).read_text() == mine


def test_a_preview_and_a_write_validate_only_their_cases(project: Path, asked: TestClient) -> None:
    document = json.loads((project / SET).read_text())
    document["eval_cases"][2]["conversation"] = "none"
    broken = json.dumps(document)
    (project / SET).write_text(broken)
    page = preview(asked, cases=[1])
    assert [(one["eval_id"], one["status"]) for one in page["cases"]] == [("wrong", "changes")]
    assert write(asked, page["etag"], [1]).status_code == 200
    assert (project / SET).read_text() == broken.replace("You sent nothing.", "You sent bye.")


def test_a_preview_refuses_a_case_that_is_broken_in_the_file(project: Path, asked: TestClient) -> None:
    document = json.loads((project / SET).read_text())
    document["eval_cases"][1]["conversation"] = "none"
    (project / SET).write_text(json.dumps(document))
    page = preview(asked, cases=[1])
    assert (page["cases"][0]["status"], "conversation" in page["cases"][0]["why"]) == ("refused", True)


@pytest.mark.slow
def test_a_preview_refuses_a_file_in_which_other_cases_share_an_id(project: Path, asked: TestClient) -> None:
    document = json.loads((project / SET).read_text())
    document["eval_cases"][2]["eval_id"] = "right"
    (project / SET).write_text(json.dumps(document))
    page = preview(asked, cases=[1])
    assert (page["cases"], "already used" in page["problems"][0]) == ([], True)


def test_the_same_review_is_not_written_twice(project: Path, asked: TestClient) -> None:
    page = preview(asked)
    assert [write(asked, page["etag"], [1]).status_code for _ in range(2)] == [200, 412]


def test_without_a_review_nothing_is_written(project: Path, asked: TestClient) -> None:
    before = (project / SET).read_bytes()
    assert asked.post(BLESS, json={"cases": [1]}).status_code == 428
    assert write(asked, "another", [1]).status_code == 412
    assert (project / SET).read_bytes() == before


@pytest.mark.slow
def test_of_several_cases_all_or_none_are_written(project: Path, asked: TestClient) -> None:
    before = (project / SET).read_bytes()
    page = preview(asked, cases=[0, 1, 2])
    (project / "agent.py").write_text("root_agent = None")
    write_set(project / "other.evalset.json", case("x", "y"))
    refused = write(asked, page["etag"], [1, 2], trials={"1": 7})
    assert (refused.status_code, "no trial 8" in refused.json()["detail"]) == (400, True)
    assert (project / SET).read_bytes() == before


@pytest.mark.slow
def test_trials_that_did_not_go_alike_have_to_be_chosen_among(tmp_path: Path) -> None:
    from tests.web.stored_runs import write_greetings

    write_greetings(tmp_path)
    run(tmp_path, "moody.py greetings.evalset.json --num-runs 4")
    context = ServerContext(root=tmp_path, store_url=tmp_path / ".proctor" / "store.sqlite3")
    with working_in(tmp_path), TestClient(create_app(context), base_url="http://127.0.0.1:8000") as client:
        [moody] = preview(client, cases=[1])["cases"]
        assert (moody["status"], moody["choose"], moody["trials"]) == ("refused", True, 4)
        found = [preview(client, cases=[1], trials={"1": number})["cases"][0] for number in range(4)]
        assert sorted(one["status"] for one in found) == ["changes", "changes", "same", "same"]
        assert [one["trial"] for one in found] == [0, 1, 2, 3]
        assert {(one["strip"], one["flaky"], one["differ"]) for one in found} == {
            (moody["strip"], True, True)
        }
        assert sorted(moody["strip"]) == ["f", "f", "p", "p"]
        [broken] = preview(client, cases=[4])["cases"]
        assert (broken["status"], broken["choose"]) == ("refused", False)


COMMENTED = """\
cases:
  - case: wrong
    ask: bye
    tools:
      # only one
      - seek(at=bye)  # here
    expect: You sent bye.
"""


@pytest.mark.slow
def test_comments_are_never_lost_silently(tmp_path: Path) -> None:
    make_project(tmp_path)
    path = tmp_path / "noted.evalset.yaml"
    path.write_text(COMMENTED)
    (tmp_path / "proctor.toml").write_text("")
    with working_in(tmp_path):
        assert in_this_process("eval", "agent.py", path.name).returncode == 1
    context = ServerContext(root=tmp_path, store_url=tmp_path / ".proctor" / "store.sqlite3")
    with working_in(tmp_path), TestClient(create_app(context), base_url="http://127.0.0.1:8000") as client:
        page = preview(client)
        [only] = page["cases"]
        assert only["lost"] == ["5: # only one"]
        refused = write(client, page["etag"], [0])
        assert (refused.status_code, "comments would be lost" in refused.json()["detail"]) == (409, True)
        assert path.read_text() == COMMENTED
        assert write(client, page["etag"], [0], lose_comments=True).status_code == 200
        assert "look(at=bye)" in path.read_text()


def test_other_cases_of_yaml_need_not_be_valid_but_the_file_must_be_readable(tmp_path: Path) -> None:
    make_project(tmp_path)
    path = tmp_path / "two.evalset.yaml"
    path.write_text(
        "cases:\n- case: a\n  ask: bye\n  expect: Bye.\n- case: b\n  ask: hm\n  expect: Hm.\n"
        "- case: c\n  ask: hi\n  expect: You sent hi.\n"
    )
    (tmp_path / "proctor.toml").write_text("")
    context = ServerContext(root=tmp_path, store_url=tmp_path / ".proctor" / "store.sqlite3")
    with working_in(tmp_path), TestClient(create_app(context), base_url="http://127.0.0.1:8000") as client:
        assert in_this_process("eval", "agent.py", path.name).returncode == 1
        path.write_text(broken := path.read_text().replace("ask: bye", "as: bye"))
        page = preview(client, cases=[1])
        assert [(one["eval_id"], one["status"]) for one in page["cases"]] == [("b", "changes")]
        assert [hunk["before"] for hunk in page["cases"][0]["hunks"]] == [5]
        assert write(client, page["etag"], [1]).status_code == 200
        written = broken.replace("ask: hm\n", "ask: hm\n  tools: [look(at=hm)]\n").replace(
            "Hm.", "You sent hm."
        )
        assert path.read_text() == written
        path.write_text(broken := broken.replace("as: bye", 'ask: "bye'))
        unreadable = preview(client, cases=[1])
        assert (unreadable["cases"], f"{path.name}:" in unreadable["problems"][0]) == ([], True)
        assert write(client, unreadable["etag"], [1]).status_code == 400
        assert path.read_text() == broken


LAYOUTS = {
    "one.evalset.yaml": (
        "cases:\n- case: a\n  ask: bye\n  tools: [look(at=bye)]\n  expect: 007\n",
        ["expect"],
    ),
    "turns.evalset.yaml": (
        "- case: a\n  turns:\n  - ask: bye\n    tools:\n    - seek(at=bye)\n    expect: You sent bye.\n",
        ["turns[0].tools[0]"],
    ),
    "long.evalset.yaml": (
        (
            "evalCases:\n- evalId: a\n  conversation:\n  - userContent: {parts: [{text: bye}]}\n"
            "    finalResponse:\n      parts:\n      - text: Bye.\n"
        ),
        ["conversation[0].finalResponse.parts[0].text", "conversation[0].intermediateData"],
    ),
    "camel.evalset.json": (
        (
            '{"evalSetId": "s", "evalCases": [{"evalId": "a", "conversation": [{"userContent": {"parts": [{"text": "bye"}]},'
            '"finalResponse": {"parts": [{"text": "Bye."}]}}]}]}'
        ),
        ["conversation[0].finalResponse.parts[0].text", "conversation[0].intermediateData"],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_the_paths_of_changes_are_those_of_the_file(name: str, tmp_path: Path) -> None:
    text, paths = LAYOUTS[name]
    make_project(tmp_path)
    (tmp_path / name).write_text(text)
    (tmp_path / "proctor.toml").write_text("")
    context = ServerContext(root=tmp_path, store_url=tmp_path / ".proctor" / "store.sqlite3")
    with working_in(tmp_path), TestClient(create_app(context), base_url="http://127.0.0.1:8000") as client:
        assert in_this_process("eval", "agent.py", name).returncode == 1
        [only] = preview(client)["cases"]
        assert sorted(change["path"] for change in only["changes"]) == paths
        if name.startswith("one"):
            pieces = only["changes"][0]["before"]["pieces"]
            assert "".join(piece["text"] for piece in pieces) == '"007"'


def test_nothing_outside_of_the_project_is_read_or_written(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    context = ServerContext(root=elsewhere, store_url=project / ".proctor" / "store.sqlite3")
    before = (project / SET).read_bytes()
    with TestClient(create_app(context), base_url="http://127.0.0.1:8000") as client:
        page = preview(client)
        assert {one["status"] for one in page["cases"]} == {"refused"}
        whys = {one["why"].partition(" is outside of the project ")[2] for one in page["cases"]}
        assert whys == {
            f"{elsewhere}: this page changes only files of the project"
        }  # it proposes no other place
        assert all(not one["changes"] and not one["hunks"] for one in page["cases"])
        assert write(client, page["etag"], [1]).status_code == 400
    assert (project / SET).read_bytes() == before


@pytest.mark.slow
def test_a_copied_project_writes_into_its_own_files(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The store was copied with the project: its runs name the folder of the original."""
    copy = tmp_path_factory.mktemp("copies") / "copy"
    shutil.copytree(project, copy)
    before = (project / SET).read_bytes()
    context = ServerContext(root=copy, store_url=copy / ".proctor" / "store.sqlite3")
    with TestClient(create_app(context), base_url="http://127.0.0.1:8000") as client:
        page = preview(client, cases=[1])
        assert page["cases"][0]["path"] == str(copy / SET)
        assert write(client, page["etag"], [1]).status_code == 200
    with working_in(copy):
        assert "You sent nothing" not in in_this_process("bless", "--dry-run").stdout
    assert (project / SET).read_bytes() == before
    assert answers(copy)["wrong"] == "You sent bye."


def test_a_run_of_another_project_is_refused(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "proctor.toml").write_text("")
    with working_in(other):
        refused = in_this_process("bless", "--store", str(project / ".proctor" / "store.sqlite3"), "--yes")
    assert refused.returncode == 2
    assert f"was made in {project}, and this project ({other}) has no file {SET}" in refused.stderr


def test_a_case_that_was_changed_since_is_marked_and_can_be_included(
    project: Path, asked: TestClient
) -> None:
    (project / SET).write_text((project / SET).read_text().replace("You sent nothing.", "You sent nil."))
    refused, _ = preview(asked)["cases"]
    assert (refused["status"], refused["changed_since"]) == ("refused", True)
    included, _ = preview(asked, force=True)["cases"]
    assert (included["status"], included["changed_since"]) == ("changes", False)


@pytest.mark.slow
def test_a_file_is_read_once_until_it_changes(project: Path, asked: TestClient) -> None:
    preview(asked)
    context: ServerContext = asked.app.state.context
    source = context.open_cases(project / SET, ["right"])
    assert context.open_cases(project / SET, ["wrong"]) is source
    (project / SET).write_text((project / SET).read_text().replace("hello", "hello!"))
    assert context.open_cases(project / SET, ["wrong"]) is not source
    assert [one["status"] for one in preview(asked)["cases"]] == ["changes", "changes"]


def test_what_is_not_there_is_reported(asked: TestClient) -> None:
    assert asked.post("/api/runs/nothing/bless/preview", json={}).status_code == 404
    assert asked.post(PREVIEW, json={"cases": [99]}).status_code == 404
    assert asked.post(PREVIEW, json={"cases": [-1]}).status_code == 422
    assert asked.post(PREVIEW, json={"casees": [1]}).status_code == 422


def test_a_preview_ends_when_its_client_disconnects() -> None:
    """The work is endless: only the disconnection can end it."""

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    def endless(on_case: OnCase) -> BlessPage:
        while True:
            on_case()

    request = Request({"type": "http"}, receive)
    with pytest.raises(HTTPException) as ended:
        asyncio.run(work_while_connected(request, endless))
    assert ended.value.status_code == 499


def test_a_write_whose_client_disconnects_before_its_end_writes_nothing(
    project: Path, asked: TestClient
) -> None:
    context: ServerContext = asked.app.state.context
    before, etag = (project / SET).read_bytes(), preview(asked)["etag"]

    def is_written(steps: int) -> bool:
        """Whether the cases are written if the client disconnects after this number of steps."""
        left = iter(range(steps))

        def on_case() -> None:
            if next(left, None) is None:
                raise InterruptedError

        with context.runs() as store, suppress(InterruptedError):
            review = Review(store, "latest", project, context.open_cases)
            review.write([1, 2], {}, etag, on_case=on_case)
        return (project / SET).read_bytes() != before

    first = next(filter(is_written, range(100)))
    assert first > 2
    assert answers(project) == {"right": "You sent hello.", "wrong": "You sent bye.", "off": "You sent hm."}


def test_a_step_that_raises_ends_a_blessing(project: Path) -> None:
    steps = iter(range(2))

    def on_case() -> None:
        if next(steps, None) is None:
            raise InterruptedError

    with working_in(project), pytest.raises(InterruptedError):
        bless(on_case=on_case)
