"""Looking back, as a page."""

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

import proctor
from proctor.web.server.context import ServerContext

EVIL = "evil </script>\x1b[2J"


def eval_set(*ids: str, name: str = "words") -> dict[str, Any]:
    return {
        "eval_set_id": name,
        "eval_cases": [
            {
                "eval_id": eval_id,
                "conversation": [
                    {
                        "user_content": {"role": "user", "parts": [{"text": eval_id}]},
                        "final_response": {"role": "model", "parts": [{"text": f"You wrote {eval_id}"}]},
                    }
                ],
            }
            for eval_id in ids
        ],
    }


def agent(*wrong: str) -> Callable[[str], str]:
    return lambda text: "Pardon?" if text in wrong else f"You wrote {text}"


@pytest.fixture
def ran(context: ServerContext) -> Callable[..., None]:
    def run(*wrong: str, threshold: float = 0.8, trials: int = 1, name: str = "words") -> None:
        proctor.evaluate_sync(
            agent(*wrong),
            eval_set("a", "b", EVIL, name=name),
            config={"criteria": {"response_match_score": threshold}},
            num_runs=trials,
            store=context.store_url,
        )

    return run


def got(client: TestClient, **query: Any) -> Any:
    answer = client.get("/api/history", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_page_shows_what_python_shows(
    ran: Callable[..., None], client: TestClient, context: ServerContext
) -> None:
    ran()
    ran("b")
    ran("b", EVIL)
    page, found = got(client), proctor.history_sync(store=context.store_url)
    assert page["counts"] == {course.value: count for course, count in found.counts().items()}
    assert [(one["eval_id"], one["course"], one["strip"]) for one in page["cases"]] == [
        (EVIL, "broke", "ppf"),
        ("b", "failing", "pff"),
        ("a", "steady", "ppp"),
    ]
    broke = page["cases"][0]
    ids = [run["run_id"] for run in page["runs"]]
    assert (broke["turning"]["first"], broke["turning"]["before"]) == (ids[0], ids[1])
    assert broke["turning"]["caution"] == "it is unknown whether the agent changed between the runs"
    assert broke["turning"]["command"].startswith("proctor compare ")
    assert page["points"] is None
    assert (page["sets"], len(page["agents"])) == (["words"], 1)


def test_every_metric_over_the_runs_oldest_first(ran: Callable[..., None], client: TestClient) -> None:
    ran()
    ran("b", threshold=0.7)
    page = got(client)
    passed, match, *rest = page["series"]
    assert (passed["name"], match["name"], match["decides"]) == ("passed", "response_match_score", True)
    assert not any(one["decides"] for one in rest)
    assert [round(point["score"], 2) for point in passed["points"]] == [1.0, 0.67]
    assert [point["threshold"] for point in match["points"]] == [0.8, 0.7]
    assert all(
        point["low"] <= point["score"] <= point["high"] for point in (*passed["points"], *match["points"])
    )
    assert [point["run_id"] for point in match["points"]] == [run["run_id"] for run in reversed(page["runs"])]


def test_one_case_run_by_run(ran: Callable[..., None], client: TestClient) -> None:
    ran(trials=2)
    ran("b", threshold=0.7, trials=2)
    page = got(client, set="words", case="b")
    newest, oldest = page["points"]
    assert (newest["outcome"], newest["strip"], oldest["outcome"], newest["position"]) == (
        "failed",
        "ff",
        "passed",
        1,
    )
    assert [one["what"] for one in newest["changed"]] == ["threshold"]
    assert newest["reason"]
    (match,) = [one for one in page["series"] if one["name"] == "response_match_score"]
    assert [(point["score"], point["count"]) for point in match["points"]] == [(1.0, 2), (0.0, 2)]
    assert page["cases"][0]["turning"]["caution"].startswith(
        "not alike: the threshold of response_match_score"
    )
    assert page["command"] == "proctor history words/b"


def test_hostile_names_go_as_they_are(ran: Callable[..., None], client: TestClient) -> None:
    ran()
    assert got(client, case=EVIL)["cases"][0]["eval_id"] == EVIL


def test_runs_are_narrowed_down(ran: Callable[..., None], client: TestClient) -> None:
    ran()
    ran(name="others")
    ran()
    assert [
        len(got(client, **query)["runs"]) for query in ({}, {"set": "others"}, {"limit": 1}, {"limit": 0})
    ] == [
        3,
        1,
        1,
        3,
    ]
    assert got(client, limit=1)["older"] == 2
    assert {one["eval_set_id"] for one in got(client, set="others")["cases"]} == {"others"}


@pytest.mark.parametrize(
    ("query", "status", "message"),
    [
        ({"case": "c"}, 404, "has no case 'c'"),
        ({"case": "a"}, 400, "several sets have a case 'a': say "),
        ({"limit": -1}, 422, "limit"),
        ({"case": "../../x"}, 404, "x"),
    ],
    ids=str,
)
def test_what_cannot_be_shown_is_reported(
    ran: Callable[..., None], client: TestClient, query: dict[str, Any], status: int, message: str
) -> None:
    ran(name="others")
    if status == 400:
        ran()
    answer = client.get("/api/history", params=query)
    assert (answer.status_code, message in answer.json()["detail"]) == (status, True), answer.text


def test_where_nothing_was_run_the_history_is_empty(client: TestClient) -> None:
    assert got(client)["runs"] == []
