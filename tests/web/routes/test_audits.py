"""The pages of audits: the list, one audit, a case with its mutants; apart from runs, and the same in a file."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import proctor
from proctor.runs.storage.open import open_store
from proctor.web.pages.bundle.single_file import read_page
from proctor.web.pages.bundle.store_pages import write_audit_file
from proctor.web.server.context import ServerContext
from tests.authoring.audit_judge import ignores_digits, judge_by
from tests.web.pages.single_file import Read, make_page

CALL = {"name": "book", "args": {"covers": 4}}
STRICT = {"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}}
BLIND = {"criteria": {"response_match_score": 0.000_1}}
"""It passes an answer that shares a word with the reference."""


def case(eval_id: str, text: str, answer: str) -> dict[str, Any]:
    turn = {
        "user_content": {"parts": [{"text": text}]},
        "final_response": {"parts": [{"text": answer}]},
        "intermediate_data": {"tool_uses": [CALL]},
    }
    return {"eval_id": eval_id, "conversation": [turn]}


CASES = [
    case("seats", "Book a table for 4.", "The table is booked for 4 people and costs $30."),
    case("again", "Book a table for 4.", "The table is booked for 4 people and costs $30."),
    {"eval_id": "played", "conversation_scenario": {"starting_prompt": "Hi", "conversation_plan": "Book."}},
]
SET = {"eval_set_id": "tables", "eval_cases": CASES}
RECORDED = {"eval_set_id": "tables", "eval_cases": CASES[:2]}


def audit(
    context: ServerContext, config: dict[str, Any], eval_set: dict[str, Any] = SET, **options: Any
) -> str:
    return proctor.audit_sync(eval_set, config=config, store=context.store_url, **options).run_id


def get(client: TestClient, path: str) -> Any:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_list_has_audits_alone_newest_first(context: ServerContext, client: TestClient) -> None:
    assert get(client, "/api/audits") == {"items": [], "next": None, "total": 0}
    first, second = audit(context, STRICT), audit(context, BLIND)
    listed = get(client, "/api/audits")
    assert [row["run_id"] for row in listed["items"]] == [second, first]
    assert listed["total"] == 2
    assert get(client, "/api/runs")["total"] == 0
    page = get(client, "/api/audits?limit=1")
    assert get(client, f"/api/audits?limit=1&before={page['next']}")["items"][0]["run_id"] == first
    assert get(client, "/api/audits?set=tables")["items"] == listed["items"]
    assert get(client, "/api/audits?set=other")["items"] == []


@pytest.mark.slow
def test_a_run_has_the_newest_audit_of_its_cases_and_config(
    context: ServerContext, client: TestClient
) -> None:
    run = proctor.evaluate_sync(lambda _: "no", RECORDED, config=STRICT, store=context.store_url).run_id
    assert get(client, f"/api/audits?run={run}")["items"] == []
    audit(context, STRICT, RECORDED)
    audit(context, BLIND, RECORDED)
    audit(context, STRICT, RECORDED, mutants=["calls"])
    kept = audit(context, STRICT, RECORDED)
    (row,) = get(client, f"/api/audits?run={run}")["items"]
    assert row["run_id"] == kept
    (of_set,) = row["sets"]
    assert 0 < of_set["classes_caught"] < of_set["classes"]
    assert "negations" in of_set["blind"]


@pytest.mark.slow
def test_no_route_of_runs_takes_an_audit_and_the_reverse(context: ServerContext, client: TestClient) -> None:
    run = proctor.evaluate_sync(lambda _: "no", RECORDED, config=STRICT, store=context.store_url).run_id
    kept = audit(context, STRICT)
    for path in (
        "",
        "/cases",
        "/cases/0",
        "/cases/0/trials/0",
        "/notes",
        "/case-extras",
        "/texts?text=x",
        "/labelling/x",
    ):
        answer = client.get(f"/api/runs/{kept}{path}")
        assert (answer.status_code, f"{kept} is an audit" in answer.text) == (404, True), path
    for path in (f"/api/compare?base={run}&candidate={kept}", f"/api/matrix?runs={run},{kept}"):
        assert f"{kept} is an audit" in client.get(path).text, path
    answer = client.get(f"/api/audits/{run}")
    assert (answer.status_code, "an audit is expected" in answer.text) == (404, True)


def test_an_audit_has_its_classes_cases_metrics_and_changes(
    context: ServerContext, client: TestClient
) -> None:
    found = proctor.audit_sync(SET, config=BLIND, store=context.store_url)
    page = get(client, f"/api/audits/{found.run_id[:6]}")
    assert page["sentence"].startswith(f"Catches {found.score.caught} of {found.score.made} mutants")
    assert page["caught"]["count"] == found.score.caught
    classes = {one["label"]: one for one in page["classes"]}
    assert classes["missing calls"]["standing"] == "blind"
    assert classes["wrong dates"]["standing"] == "not_applicable"
    assert classes["an agent that only apologizes"]["is_agent"]
    lost = [one["caught"]["of"] - one["caught"]["count"] for one in page["classes"] if one["caught"]["of"]]
    assert lost == sorted(lost, reverse=True)
    seats, again, played = page["cases"]
    assert "missing calls" in seats["faults"]
    assert seats["passed_by"]
    assert again["same_as"] == "seats"
    assert played["problem"]
    assert played["caught"]["of"] == 0
    (group, *_) = page["changes"]
    assert '"tool_trajectory_avg_score": 1.0' in "".join(group["snippets"])


VOTE = {"threshold": 1.0, "judge_model_options": {"num_samples": 1}}
JUDGED = {"criteria": {"tool_trajectory_avg_score": 1.0, "final_response_match_v2": VOTE}}


def test_an_audit_has_the_true_negative_rate_of_its_judge_for_each_class(
    context: ServerContext, client: TestClient
) -> None:
    judge, _ = judge_by(ignores_digits)
    page = get(client, f"/api/audits/{audit(context, JUDGED, judge=judge, proposals=False)}")
    (one,) = page["judges"]
    assert (one["metric"], one["passes_everything"]) == ("final_response_match_v2", False)
    assert (one["recorded"]["count"], one["recorded"]["of"], one["recorded"]["rate"]) == (2, 2, 1.0)
    classes = {each["label"]: each["noticed"] for each in one["classes"]}
    assert classes["wrong amounts"]["rate"] == 0.0
    assert classes["wrong amounts"]["high"] < 1.0
    assert classes["negations"]["rate"] == 1.0
    assert one["mutants"]["of"] == sum(each["of"] for each in classes.values())
    rates = [each["noticed"]["rate"] for each in one["classes"]]
    assert rates == sorted(rates)
    assert re.search(
        r"^If it passes 90 of 100 conversations, \d+ \(95 % CI \d+ to \d+\) are right$", one["notes"][0]
    )
    assert page["asked"].startswith("Judges were asked about ")


def test_a_limit_of_the_judges_and_a_judge_that_passes_everything_are_named(
    context: ServerContext, client: TestClient
) -> None:
    judge, _ = judge_by(lambda reference, answer: True)
    kept = audit(context, JUDGED, judge=judge, proposals=False, max_judge_calls=9)
    page = get(client, f"/api/audits/{kept}")
    assert page["judges"][0]["passes_everything"]
    assert "the others are not counted (--max-judge-calls 9)" in page["asked"]
    without = get(client, f"/api/audits/{audit(context, JUDGED, proposals=False)}")
    assert (without["judges"], without["asked"]) == ([], "")


def test_an_audit_that_was_interrupted_is_in_no_list_and_explains_itself(
    context: ServerContext, client: TestClient
) -> None:
    def interrupts(_: str) -> None:
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        audit(context, JUDGED, judge=judge_by(str.__eq__)[0], notify=interrupts)
    assert get(client, "/api/audits")["items"] == []
    (entry,) = proctor.list_runs(store=context.store_url, kind="audit")
    for path in ("", "/cases/0"):
        answer = client.get(f"/api/audits/{entry.run_id}{path}")
        assert answer.status_code == 400, answer.text
        assert "was interrupted and has no result" in answer.text


def test_a_case_has_its_survivors_with_what_was_recorded(context: ServerContext, client: TestClient) -> None:
    kept = audit(context, STRICT)
    page = get(client, f"/api/audits/{kept}/cases/0")
    lines = {one["number"]: one for one in page["mutants"]}
    survived = [one["number"] for one in page["mutants"] if one["fate"] == "survived"]
    assert [one["number"] for one in page["survivors"]] == survived
    survivor = next(one for one in page["survivors"] if lines[one["number"]]["label"] == "wrong amounts")
    answer = survivor["turns"][0]["answer"]
    assert not answer["same"]
    assert "costs $30" in "".join(piece["text"] for piece in answer["expected"]["pieces"])
    assert {score["name"]: score["outcome"] for score in survivor["scores"]} == {
        "tool_trajectory_avg_score": "passed",
        "response_match_score": "passed",
    }
    caught = next(one for one in page["mutants"] if one["label"] == "missing calls")
    assert (caught["fate"], caught["metrics"]) == ("caught", ["tool_trajectory_avg_score"])
    assert page["next"]["eval_id"] == "again"
    assert client.get(f"/api/audits/{kept}/cases/9").status_code == 404


@pytest.mark.slow
def test_a_file_has_what_the_server_answers(
    context: ServerContext, client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_PAGE_DIR", str(make_page(tmp_path / "page")))
    audit(context, BLIND)
    kept, out, store = audit(context, STRICT), StringIO(), open_store(context.store_url)
    try:
        write_audit_file(store, kept, read_page(), out)
    finally:
        store.close()
    file = Read(out.getvalue())
    assert file.head["start"] == f"/audits/{kept}"
    assert [row["run_id"] for row in file.get("/api/audits")["items"]] == [kept]
    for path in (f"/api/audits/{kept}", *(f"/api/audits/{kept}/cases/{at}" for at in range(3))):
        assert file.get(path) == get(client, path), path
