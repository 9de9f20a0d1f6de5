"""Labelling the verdicts of a judge: what comes next, what the labels show, two people at once, and the calibration."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from proctor.analysis.calibration.calibrate import HELD_OUT
from proctor.analysis.calibration.label_order import is_held_out
from proctor.schema.analysis.calibration import Key
from proctor.stores.sqlite.file import open_sqlite_store
from tests.analysis.judged_runs import METRIC, Judged, judged_run

LABELLING = f"/api/runs/run1/labelling/{METRIC}"
CASES = 40


@pytest.fixture
def judged(tmp_path: Path, client: TestClient) -> TestClient:
    """A server over a run of 40 cases, whose judge fails every third."""
    cases = [Judged(f"case{number}", ((number % 3 != 0,),)) for number in range(CASES)]
    judged_run(tmp_path / "store.sqlite3", cases).close()
    return client


def get(client: TestClient, path: str = LABELLING, **query: Any) -> Any:
    answer = client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def label(client: TestClient, item: dict[str, Any], *, passes: bool, **more: Any) -> Any:
    place = f"/api/runs/run1/cases/{item['position']}/trials/{item['number']}/labels/{METRIC}"
    thing = {"turn": item["turn"], "rubric_id": item["rubric_id"]}
    return client.put(place, json={"passes": passes, **thing, **more})


def next_items(client: TestClient, **query: Any) -> list[dict[str, Any]]:
    return [one["item"] for one in get(client, f"{LABELLING}/next", **query)["items"]]


def test_the_next_verdicts_come_with_the_conversation_and_without_the_verdict(judged: TestClient) -> None:
    answer = judged.get(f"{LABELLING}/next")
    items = answer.json()["items"]
    assert len(items) == 20
    name = items[0]["item"]["eval_id"]
    assert [turn["user"]["text"] for turn in items[0]["turns"]] == [f"question 1 of {name}"]
    assert "because it is" not in answer.text
    assert "passes" not in answer.text
    assert items == get(judged, f"{LABELLING}/next")["items"], "the order is always the same"


@pytest.mark.slow
def test_labels_count_at_once_and_are_not_asked_for_again(judged: TestClient) -> None:
    before = get(judged)
    assert (before["verdicts"], before["unlabelled"], before["unit"]) == (CASES, CASES, "turn")
    chosen = next_items(judged, limit=10)
    for place, item in enumerate(chosen):
        assert label(judged, item, passes=place % 2 == 0).status_code == 200
    page = get(judged)
    progress = page["progress"]
    assert progress["passes"] + progress["fails"] + progress["other_labels"] == 10
    assert progress["passes"] + progress["fails"] == 5  # half of what comes next is of held-out cases
    assert page["unlabelled"] == CASES - 10
    assert progress["wanted"] > 10
    assert progress["tpr"]["high"] - progress["tpr"]["low"] < 1
    later = [item["eval_id"] for item in next_items(judged, limit=40)]
    assert sorted(later + [item["eval_id"] for item in chosen]) == sorted(f"case{n}" for n in range(CASES))


@pytest.mark.slow
def test_a_second_person_labels_the_same_and_kappa_is_shown(judged: TestClient) -> None:
    chosen = next_items(judged, limit=4, labeller="ann")
    for item in chosen:
        label(judged, item, passes=True, labeller="ann")
    assert get(judged, labeller="ben")["to_second"] == 4
    seconds = next_items(judged, labeller="ben", second=True)
    assert [one["eval_id"] for one in seconds] == [one["eval_id"] for one in chosen]
    for place, item in enumerate(seconds):
        label(judged, item, passes=place > 0, labeller=" ben ", note="wrong day")
    page = get(judged, labeller="ben")
    assert page["labellers"] == [{"name": "ann", "labels": 4}, {"name": "ben", "labels": 4}]
    [pair] = page["pairs"]
    assert (pair["first"], pair["second"], pair["both_pass"], pair["differ"]) == ("ann", "ben", 3, 1)
    assert pair["kappa"]["low"] < pair["kappa"]["value"] < pair["kappa"]["high"]
    [dispute] = page["disputes"]
    assert dispute["item"]["eval_id"] == seconds[0]["eval_id"]
    assert [(one["labeller"], one["passes"]) for one in dispute["labels"]] == [("ann", True), ("ben", False)]
    assert dispute["counted"] is None
    progress = page["progress"]
    assert progress["passes"] + progress["fails"] + progress["other_labels"] == 3, (
        "the disputed one is left out"
    )


@pytest.mark.slow
def test_the_judge_is_calibrated_with_the_present_labels(judged: TestClient) -> None:
    for place, item in enumerate(next_items(judged)):
        label(judged, item, passes=place % 2 == 0)
    assert (get(judged)["calibration"], get(judged)["current"]) == (None, False)
    answer = judged.post(f"{LABELLING}/calibration")
    assert answer.status_code == 201, answer.text
    page = get(judged)
    assert (page["calibration"], page["current"]) == (answer.json(), True)
    assert page["calibration"]["tpr"] == page["progress"]["tpr"]
    for item in next_items(judged):
        label(judged, item, passes=True)
    assert get(judged)["current"] is False


def test_a_judge_without_labels_is_not_calibrated(judged: TestClient) -> None:
    answer = judged.post(f"{LABELLING}/calibration")
    assert (answer.status_code, "has no labels" in answer.json()["detail"]) == (400, True)


@pytest.mark.slow
def test_a_calibration_of_another_threshold_is_not_current(judged: TestClient, tmp_path: Path) -> None:
    for place, item in enumerate(next_items(judged)):
        label(judged, item, passes=place % 2 == 0)
    assert judged.post(f"{LABELLING}/calibration").status_code == 201
    with closing(open_sqlite_store(f"sqlite:///{tmp_path}/store.sqlite3")) as store:
        [calibration] = store.calibrations()
        store.calibrate(calibration.model_copy(update={"threshold": 0.9}))
    page = get(judged)
    assert (page["calibration"]["run_id"], page["current"]) == ("run1", False)


@pytest.mark.slow
def test_the_labels_of_others_are_hidden_until_a_person_has_labelled_the_same(judged: TestClient) -> None:
    [item] = next_items(judged, limit=1)
    for name in ("ann", "ben"):
        label(judged, item, passes=name == "ann", labeller=name)
    assert [len(get(judged, labeller=name)["disputes"]) for name in ("ann", "ben", "cid")] == [1, 1, 0]
    label(judged, item, passes=True, labeller="cid")
    assert get(judged, labeller="cid")["disputes"][0]["counted"] is True


@pytest.mark.slow
def test_a_miss_of_the_judge_has_the_label_that_counts(judged: TestClient) -> None:
    item = next(one for one in next_items(judged) if not is_held_out(key_of(one), HELD_OUT))
    is_passed = item["position"] % 3 != 0  # the verdict of the judge
    for name in ("ann", "ben", "cid"):
        label(judged, item, passes=is_passed is (name == "cid"), labeller=name)
    for name in ("ann", "cid"):
        [miss] = get(judged, labeller=name)["misses"]
        assert miss["passes"] is not is_passed
    assert get(judged, labeller="eve")["misses"] == []


def key_of(item: dict[str, Any]) -> Key:
    return item["eval_set_id"], item["eval_id"], item["number"], item["turn"], item["rubric_id"]


class TestTwoAtOnce:
    """A label is never lost: who writes second is refused, and reads what is there."""

    def test_two_people_without_a_name(self, judged: TestClient) -> None:
        item = next_items(judged)[0]
        assert label(judged, item, passes=True).status_code == 200
        answer = label(judged, item, passes=False)
        assert answer.status_code == 412
        assert "was given meanwhile" in answer.json()["detail"]
        assert get(judged)["labellers"] == [{"name": "", "labels": 1}]

    def test_a_label_that_was_changed_is_not_removed(self, judged: TestClient) -> None:
        item = next_items(judged)[0]
        first = label(judged, item, passes=True, labeller="ann").json()
        second = label(judged, item, passes=False, labeller="ann", replaces=first["labelled_at"])
        assert second.json()["labelled_at"] > first["labelled_at"]
        place = f"/api/runs/run1/cases/{item['position']}/trials/0/labels/{METRIC}"
        query = {"turn": item["turn"], "labeller": "ann"}
        stale = judged.delete(place, params={**query, "labelled_at": first["labelled_at"]})
        assert (stale.status_code, "was changed meanwhile" in stale.json()["detail"]) == (412, True)
        fresh = {**query, "labelled_at": second.json()["labelled_at"]}
        assert judged.delete(place, params=fresh).status_code == 204
        gone = judged.delete(place, params=fresh)
        assert (gone.status_code, "was removed meanwhile" in gone.json()["detail"]) == (412, True)

    def test_a_name_that_no_store_can_hold_is_refused(self, judged: TestClient) -> None:
        """A store would change it, and the label of that person would be replaced without a condition."""
        answer = label(judged, next_items(judged)[0], passes=True, labeller="an\0n")
        assert (answer.status_code, "labeller" in answer.json()["detail"]) == (422, True)

    def test_people_with_names_have_a_label_each(self, judged: TestClient) -> None:
        item = next_items(judged)[0]
        for name in ("ann", "ben"):
            assert label(judged, item, passes=name == "ann", labeller=name).status_code == 200
        assert len(get(judged)["labellers"]) == 2


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        pytest.param("/api/runs/none/labelling/x", 404, "No run named 'none'", id="no run"),
        pytest.param("/api/runs/run1/labelling/safty", 400, "safty is not among its metrics", id="no judge"),
        pytest.param("/api/runs/run1/labelling/x/next?limit=0", 422, "limit", id="no number"),
    ],
)
def test_what_cannot_be_labelled_is_refused(judged: TestClient, path: str, status: int, message: str) -> None:
    answer = judged.get(path)
    assert (answer.status_code, message in answer.json()["detail"]) == (status, True), answer.text
