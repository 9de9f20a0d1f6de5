"""Cases that are enormous, broken or written by strangers: the page has them all the same, and stays small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from proctor.reports.content.case_data import StoredCase
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import user_text
from proctor.schema.results.score import MetricScore, Outcome, Score
from proctor.web.pages.case.case import case_page
from proctor.web.pages.case.page_parts import MOST_TEXT
from tests.browser.markup import MARKUP
from tests.reports.hostile_texts import HOSTILE
from tests.reports.sample_runs import case, metric
from tests.web.extreme_runs import (
    Made,
    big_answer,
    called,
    hostile_case,
    long_talk,
    many_trials,
    turn,
    write_made,
)

CASE = "/api/runs/latest/cases/0"


def get(client: TestClient, path: str) -> Any:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text[:1000]
    return answer.json()


@pytest.mark.slow
def test_a_thousand_turns_are_all_there(tmp_path: Path, client: TestClient) -> None:
    write_made(tmp_path / "store.sqlite3", [long_talk(1000)])
    answer = client.get(f"{CASE}/trials/0")
    page = answer.json()
    assert len(page["turns"]) == 1000
    assert [turn["index"] for turn in page["turns"] if turn["differs"]] == [699]
    [step] = page["turns"][699]["steps"]
    assert step["kind"] == "differs"
    assert len(answer.content) < 4_000_000
    assert len(get(client, f"{CASE}/trials/0/spans")["spans"]) == 2000


@pytest.mark.slow
def test_ten_megabytes_of_an_answer_are_cut_and_the_evidence_has_them(
    tmp_path: Path, client: TestClient
) -> None:
    size = 10_000_000
    write_made(tmp_path / "store.sqlite3", [big_answer(size)])
    answer = client.get(f"{CASE}/trials/0")
    assert len(answer.content) < 20 * MOST_TEXT
    [one] = answer.json()["turns"]
    [step] = one["steps"]
    assert len(step["response"]["text"]) + step["response"]["left_out"] == size + len('{"text": ""}')
    assert step["kind"] == "differs"
    assert one["answer"]["actual"]["left_out"] > size - 5 * MOST_TEXT
    assert len(client.get(f"{CASE}/trials/0/evidence").content) > 2 * size
    assert len(client.get(f"{CASE}/trials/0/spans").content) < 20 * MOST_TEXT


def test_a_hundred_trials_are_listed_and_each_can_be_seen(tmp_path: Path, client: TestClient) -> None:
    write_made(tmp_path / "store.sqlite3", [many_trials(100)])
    page = get(client, CASE)
    assert [one["outcome"] for one in page["trials"][:4]] == ["failed", "passed", "passed", "failed"]
    assert page["share"]["passed"] == 66
    assert page["sentence"].startswith("66 of 100 trials passed (66 %, 95 % CI: 56–75), flaky")
    assert get(client, f"{CASE}/trials/99")["outcome"] == "failed"
    [metric] = page["metrics"]
    assert 0.5 < metric["low"] < metric["score"] < metric["high"] < 0.8


def test_the_interval_of_a_score_over_trials_is_within_its_range() -> None:
    result = case("a", Outcome.FAILED, metric("m", [1.0, 1.0, 0.0], 0.8))
    view = StoredCase("run", "run", "agent", 0.0, result, 1, ranges={"m": (0.0, 1.0)})
    [shown] = case_page(view, 0, 1).metrics
    assert (shown.low, shown.high) == (0.0, 1.0)


ODD: dict[str, Made] = {
    "no turn": Made("odd", [Trial(eval_set_id="made", eval_id="odd")], [MetricScore(0.0, [])]),
    "a turn without events": Made(
        "odd",
        [Trial(eval_set_id="made", eval_id="odd", turns=[Turn(user_content=user_text(""))])],
        [MetricScore(0.0, [])],
    ),
    "details of any kind": Made(
        "odd",
        [Trial(eval_set_id="made", eval_id="odd", turns=[turn("a", "b", *called("n", {}, {}))])],
        [
            MetricScore(
                0.0,
                [
                    Score(
                        0.0,
                        details={
                            "alignment": ["x", 1, {"kind": 5, "expected": "y", "actual": []}],
                            "text": 5,
                            "ballot": 7,
                        },
                    )
                ],
                details={"state": [1, {"key": 5}], "ballot": {"votes": [3, {"verdict": [{"number": "x"}]}]}},
            )
        ],
    ),
    "a score that is not a number": Made(
        "odd",
        [Trial(eval_set_id="made", eval_id="odd", turns=[turn("a", "b")])],
        [MetricScore(float("nan"), [Score(float("inf"))])],
    ),
    "calls without names, answers without calls": Made(
        "odd",
        [
            Trial(
                eval_set_id="made",
                eval_id="odd",
                turns=[
                    turn(
                        "a",
                        "b",
                        Event.returned("x", {"y": 1}),
                        Event.called("", None),
                        Event.returned("z", {}),
                    )
                ],
            )
        ],
        [MetricScore(1.0, [Score(1.0)])],
    ),
}


@pytest.mark.parametrize("made", ODD.values(), ids=ODD)
def test_odd_evidence_is_shown_as_far_as_it_goes(tmp_path: Path, client: TestClient, made: Made) -> None:
    write_made(tmp_path / "store.sqlite3", [made])
    for what in ("", "/trials/0", "/trials/0/spans", "/trials/0/judges", "/trials/0/evidence"):
        get(client, f"{CASE}{what}")


@pytest.mark.slow
def test_what_strangers_write_comes_unchanged(tmp_path: Path, client: TestClient) -> None:
    texts = [*MARKUP, *HOSTILE[::7]]
    write_made(tmp_path / "store.sqlite3", [hostile_case(texts)])
    for what in ("", "/trials/0", "/trials/0/spans", "/trials/0/judges"):
        assert client.get(f"{CASE}{what}").headers["content-type"] == "application/json"
    page = get(client, f"{CASE}/trials/0")
    judged = get(client, f"{CASE}/trials/0/judges")["judges"][0]["ballots"]
    for text, one, ballot in zip(texts, page["turns"], judged, strict=False):
        kept = "".join("\ufffd" if "\ud800" <= sign <= "\udfff" else sign for sign in text)
        data = kept.replace("\0", "\ufffd")  # names, arguments and details are kept without NUL
        assert one["user"]["text"] == kept
        assert one["messages"][0]["text"]["text"] == f"thinks {kept}"
        assert one["authors"] == [f"a{kept}", f"b{kept}"]
        assert "".join(piece["text"] for piece in one["steps"][0]["actual"]["pieces"]).startswith(
            f"n{data}(x="
        )
        assert one["scores"][0]["findings"][0]["text"] == data
        assert ballot["votes"][0]["rationale"]["text"] == f"because {data}"
