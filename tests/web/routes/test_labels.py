"""Votes, what judges were asked, and labels of people, which the commands count as well."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext
from tests.analysis.judged_runs import METRIC, MODEL, Judged, judged_run
from tests.browser.samples import ROOT
from tests.cli.project import in_this_process
from tests.web.stored_runs import run, working_in

RUBRICS = "rubric_based_final_response_quality_v1"
TRIAL = "/api/runs/latest/cases/0/trials/0"


@pytest.fixture
def judged(tmp_path: Path, client: TestClient) -> TestClient:
    """A server over a run of two cases with the verdicts of a judge."""
    cases = [
        Judged("rome", trials=((True, False), (True, True)), threshold=1.0),
        Judged("oslo", rubrics={"polite": 1.0, "short": 0.0}, threshold=1.0),
    ]
    judged_run(tmp_path / "store.sqlite3", cases).close()
    return client


def get(client: TestClient, path: str) -> Any:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_every_vote_is_there_with_its_rationale(judged: TestClient) -> None:
    [judge] = get(judged, f"{TRIAL}/judges")["judges"]
    assert (judge["metric"], judge["score"], judge["outcome"]) == (METRIC, 0.5, "failed")
    assert [(one["turn"], one["outcome"], one["model"]) for one in judge["ballots"]] == [
        (0, "passed", MODEL),
        (1, "failed", MODEL),
    ]
    votes = judge["ballots"][1]["votes"]
    assert [(one["verdict"], one["rationale"]["text"]) for one in votes] == [
        ("yes", "no"),
        ("no", "because it is False"),
    ]


def test_rubrics_are_reported_one_by_one(judged: TestClient) -> None:
    [judge] = get(judged, "/api/runs/latest/cases/1/trials/0/judges")["judges"]
    [ballot] = judge["ballots"]
    assert ballot["rubrics"] is True
    assert [(one["name"], one["holds"], one["why"]) for one in ballot["findings"]] == [
        ("polite", True, "polite 1.0"),
        ("short", False, "short 0.0"),
    ]


# --- labels ------------------------------------------------------------------------------------------------------------


def test_a_label_is_kept_replaced_and_taken_back(judged: TestClient) -> None:
    place = f"{TRIAL}/labels/{METRIC}"
    message = judged.put(place, json={"passes": True, "turn": 1, "note": "it is Tuesday"})
    given = message.json()
    assert given == {
        "metric": METRIC,
        "turn": 1,
        "rubric_id": "",
        "passes": True,
        "note": "it is Tuesday",
        "labeller": "",
        "labelled_at": given["labelled_at"],
    }
    [shown] = [
        one["labels"] for one in get(judged, f"{TRIAL}/judges")["judges"][0]["ballots"] if one["turn"] == 1
    ]
    assert shown == [given]
    judged.put(place, json={"passes": False, "turn": 1, "replaces": given["labelled_at"]})
    assert [one["passes"] for one in get(judged, f"{TRIAL}/judges")["labels"]] == [False]
    assert judged.delete(place, params={"turn": 1}).status_code == 204
    assert get(judged, f"{TRIAL}/judges")["labels"] == []
    assert judged.delete(place, params={"turn": 1}).status_code == 204, "removing nothing is not an error"


def test_the_commands_count_the_labels_of_the_page(judged: TestClient, tmp_path: Path) -> None:
    for number, turn, passes in [(0, 0, True), (0, 1, True), (1, 0, True), (1, 1, False)]:
        place = f"/api/runs/latest/cases/0/trials/{number}/labels/{METRIC}"
        assert judged.put(place, json={"passes": passes, "turn": turn}).status_code == 200
    store = str(tmp_path / "store.sqlite3")
    reported = in_this_process(
        "judge", "calibrate", "latest", "--metric", METRIC, "--held-out", "1", "--json", "--store", store
    )
    assert reported.returncode == 0, reported.stderr
    counts = json.loads(reported.stdout)["agreement"]
    assert [counts[name] for name in ("both_pass", "judge_fails", "judge_passes", "both_fail")] == [
        2,
        1,
        1,
        0,
    ]


WRONG = {
    "no such metric": (
        "final_response_match_v9",
        {"passes": True},
        404,
        "Did you mean 'final_response_match_v2'",
    ),
    "no such turn": (METRIC, {"passes": True, "turn": 7}, 400, "there is no turn 8"),
    "no verdict": (METRIC, {}, 422, "passes"),
    "a key that is none": (METRIC, {"passes": True, "turm": 1}, 422, "turm"),
    "a turn below 0": (METRIC, {"passes": True, "turn": -1}, 422, "turn"),
}


@pytest.mark.parametrize(("metric", "label", "status", "reported"), WRONG.values(), ids=WRONG)
def test_a_label_of_what_is_not_there_is_refused(
    judged: TestClient, metric: str, label: dict[str, Any], status: int, reported: str
) -> None:
    answer = judged.put(f"{TRIAL}/labels/{metric}", json=label)
    assert (answer.status_code, reported in answer.json()["detail"]) == (status, True), answer.text
    assert get(judged, f"{TRIAL}/judges")["labels"] == []


@pytest.mark.slow
def test_a_rubric_that_no_one_judged_by_is_refused(judged: TestClient) -> None:
    place = f"/api/runs/latest/cases/1/trials/0/labels/{METRIC}"
    answer = judged.put(place, json={"passes": True, "turn": 0, "rubric_id": "polit"})
    assert (answer.status_code, "'polite'" in answer.json()["detail"]) == (400, True)
    assert judged.put(place, json={"passes": True, "turn": 0, "rubric_id": "polite"}).status_code == 200


def test_labels_of_the_same_id_in_two_sets_are_distinguished(tmp_path: Path, client: TestClient) -> None:
    judged_run(tmp_path / "store.sqlite3", [Judged("rome"), Judged("rome", eval_set_id="other")]).close()
    place = f"/api/runs/latest/cases/1/trials/0/labels/{METRIC}"
    assert client.put(place, json={"passes": False, "turn": 0}).status_code == 200
    assert get(client, f"{TRIAL}/judges")["labels"] == []
    assert len(get(client, "/api/runs/latest/cases/1/trials/0/judges")["labels"]) == 1


# --- what they were asked ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A server over a run of the city guide, whose judge is scripted."""
    folder = tmp_path_factory.mktemp("guide")
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "proctor.toml").write_text("")
    judge = "--judge scripted:examples/city_guide/judge.json"
    run(folder, f"examples/city_guide/boastful.py examples/city_guide/guide.evalset.yaml {judge}")
    context = ServerContext(root=folder, store_url=folder / ".proctor" / "store.sqlite3")
    with working_in(folder), TestClient(create_app(context), base_url="http://127.0.0.1:8000") as client:
        yield client


def test_the_prompt_is_reconstructed_without_a_call(guide: TestClient) -> None:
    page = get(guide, f"{TRIAL}/judges/{RUBRICS}/prompt?turn=0")
    assert page["same"] is True
    assert [one["role"] for one in page["messages"]] == ["system", "user"]
    material = page["messages"][1]["text"]["text"]
    assert "Tell me about Bern." in material
    assert "The answer has no superlatives and no advertising." in material


def test_a_question_that_rests_on_an_answer_is_there_too(guide: TestClient) -> None:
    page = get(guide, f"{TRIAL}/judges/hallucinations_v1/prompt?turn=0")
    assert page["same"] is True
    assert "It was voted the most beautiful city of the world" in page["messages"][1]["text"]["text"]


def test_a_prompt_that_was_changed_since_is_reported_as_another(
    guide: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    from proctor.common.prompts import Prompt

    monkeypatch.setattr(Prompt, "hash", property(lambda self: "0" * 12))
    page = get(guide, f"{TRIAL}/judges/{RUBRICS}/prompt?turn=0")
    assert (page["same"], "has changed since" in page["note"]) == (False, True)


def test_where_nothing_was_asked_the_page_reports_it(guide: TestClient) -> None:
    for query in (f"{RUBRICS}/prompt", f"{RUBRICS}/prompt?turn=5", "tool_call_count_v1/prompt?turn=0"):
        page = get(guide, f"{TRIAL}/judges/{query}")
        assert page["messages"] == []
        assert page["note"].startswith("The prompt cannot be reconstructed")


def test_whether_a_judge_is_accurate_is_next_to_it(guide: TestClient) -> None:
    for position in (0, 1):
        for one in get(guide, f"/api/runs/latest/cases/{position}/trials/0/judges")["judges"][0]["ballots"][
            0
        ]["findings"]:
            place = f"/api/runs/latest/cases/{position}/trials/0/labels/{RUBRICS}"
            message = guide.put(place, json={"passes": one["holds"], "turn": 0, "rubric_id": one["name"]})
            assert message.status_code == 200, message.text
    reported = in_this_process("judge", "calibrate", "latest", "--metric", RUBRICS, "--held-out", "1")
    assert reported.returncode == 0, reported.stderr
    [judge] = [one for one in get(guide, f"{TRIAL}/judges")["judges"] if one["metric"] == RUBRICS]
    assert judge["badge"].startswith("calibrated")
    [metric] = [one for one in get(guide, "/api/runs/latest/cases/0")["metrics"] if one["name"] == RUBRICS]
    assert metric["badge"] == judge["badge"]
