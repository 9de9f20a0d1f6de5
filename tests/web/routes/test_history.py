"""Looking back, as a page."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from fastapi.testclient import TestClient

import proctor
from proctor.schema.evidence.event import Event
from proctor.web.pages.bundle.single_file import json_pieces
from proctor.web.pages.bundle.store_pages import StoreExtras
from proctor.web.pages.runs.run_trends import TrendRun, _since_text
from proctor.web.server.context import ServerContext
from tests.scenarios.judges.test_costs import CONFIG as JUDGED, Judge

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
    assert all(point["low"] <= point["score"] <= point["high"] for point in passed["points"])
    equal, apart = match["points"]
    assert (equal["low"], equal["high"]) == (None, None)  # the spread of equal scores is unknown
    assert apart["low"] <= apart["score"] <= apart["high"]
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


def test_a_run_of_chosen_cases_is_not_a_whole_run(
    client: TestClient, context: ServerContext, tmp_path: Path
) -> None:
    file = tmp_path / "words.evalset.json"
    file.write_text(json.dumps(eval_set("a", "b")))
    for cases in ("", ":a", ":a,b"):
        proctor.evaluate_sync(agent(), f"{file}{cases}", store=context.store_url)
    assert [run["chosen_of"] for run in got(client)["runs"]] == [None, 2, None]


def test_hostile_names_go_as_they_are(ran: Callable[..., None], client: TestClient) -> None:
    ran()
    assert got(client, case=EVIL)["cases"][0]["eval_id"] == EVIL


@pytest.mark.slow
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
        ({"case": "a"}, 400, "several sets have a case 'a': use "),
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


# --- pictures over several runs ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_causes_of_a_run_are_counted_in_the_runs_before_it(
    ran: Callable[..., None], client: TestClient
) -> None:
    ran("a")
    ran()
    ran("a", "b")
    runs = client.get("/api/runs").json()["items"]
    page = client.get(f"/api/runs/{runs[0]['run_id']}").json()
    trend = client.get(f"/api/runs/{runs[0]['run_id']}/cause-trend").json()
    assert [one["run_id"] for one in trend["runs"]] == [one["run_id"] for one in reversed(runs)]
    assert [one["failed"] for one in trend["runs"]] == [1, 0, 2]
    assert [one["text"] for one in trend["causes"]] == [one["text"] for one in page["causes"]]
    for cause, shown in zip(trend["causes"], page["causes"], strict=True):
        assert cause["sizes"][-2:] == [shown["before"], shown["cases"]]
    assert [sum(sizes) for sizes in zip(*(one["sizes"] for one in trend["causes"]), strict=True)] == [1, 0, 2]
    assert {one["since"] for one in trend["causes"]} <= {"new", "again"}


@pytest.mark.parametrize(
    ("sizes", "since"),
    [
        pytest.param([2], "", id="only this run"),
        pytest.param([0, 0, 2], "new", id="new"),
        pytest.param([1, 0, 2], "again", id="gone and back"),
        pytest.param([0, 1, 2], "since b (2 runs)", id="since an earlier run"),
        pytest.param([3, 1, 2], "in all 3 runs", id="always"),
    ],
)
def test_a_trend_names_since_when_a_cause_is_there(sizes: list[int], since: str) -> None:
    runs = [TrendRun(run_id=one, short=one, created_at=0, failed=3) for one in "abc"]
    assert _since_text(sizes, runs) == since


def priced_agent(text: str) -> list[Event]:
    tokens = {"prompt_token_count": 1_000 * len(text), "candidates_token_count": 10}
    return [Event.said(f"You wrote {text}", usage_metadata=tokens, model_version="gpt-4o-mini")]


@pytest.mark.slow
def test_the_cost_of_a_trial_has_the_interval_of_the_mean_over_the_cases(
    client: TestClient, context: ServerContext
) -> None:
    for cases in (eval_set("a", "bb", "c" * 40), eval_set("a")):
        proctor.evaluate_sync(priced_agent, cases, num_runs=2, store=context.store_url)
    one, several = (row["run_id"] for row in client.get("/api/runs").json()["items"])
    found = client.get("/api/history/costs", params={"run": [one, several]}).json()
    (interval,) = found["items"]
    assert (interval["run_id"], interval["cases"]) == (several, 3)  # a run of one case has no interval
    extras = client.get(f"/api/runs/{several}/case-extras").json()
    assert extras["attempts"] == [2, 2, 2]
    costs = [cost / 2 for cost in extras["costs"]]
    half = 4.302652729911275 * stdev(costs) / 3**0.5  # Student's t with 2 degrees of freedom
    assert interval["high"] == pytest.approx(fmean(costs) + half)
    assert interval["low"] == 0.0 > fmean(costs) - half  # a cost is not below 0
    shown = {run["run_id"]: run["trial_cost"] for run in got(client)["runs"]}
    assert shown[several] == pytest.approx(fmean(costs))
    assert client.get("/api/history/costs", params={"run": ["unknown"]}).status_code == 404
    with context.runs() as store:
        in_file = dict(StoreExtras(store).related_pages([several]))
        costs_in_file = "".join(json_pieces(in_file[f"/api/history/costs?run={one}&run={several}"]))
    assert json.loads(costs_in_file) == found


@pytest.mark.slow
def test_the_cost_of_a_trial_has_parts_and_no_interval_where_judges_scored_trials_without_usage(
    client: TestClient, context: ServerContext
) -> None:
    asked = Counter[str]()

    def sometimes(text: str) -> list[Event] | str:
        asked[text] += 1
        return priced_agent(text) if asked[text] == 1 else f"You wrote {text}"

    cases = eval_set("a", "bb", "c" * 40)
    run = proctor.evaluate_sync(
        sometimes, cases, config=JUDGED, judge=Judge(), num_runs=2, store=context.store_url
    )
    agent, *judges = run.spent
    (listed,) = got(client)["runs"]
    assert listed["trial_cost"] == pytest.approx(agent.cost / 3 + sum(judge.cost for judge in judges) / 6)
    found = client.get("/api/history/costs", params={"run": [run.run_id]}).json()
    assert found == {"items": [], "left_out": 0}
