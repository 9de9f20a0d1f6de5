"""Comparisons as pages: what `proctor compare` states, one case of two runs, several runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient

import proctor
from proctor.cli.main import cli
from proctor.web.pages.analysis.comparison import ComparisonPage
from proctor.web.server.context import ServerContext
from tests.reports.formats.test_markdown import page as markdown_page
from tests.scenarios.judges.test_costs import CONFIG as JUDGED, Judge

EVIL = "<script>alert(1)</script>\x1b[2J"
IDS = [*(f"case{number}" for number in range(11)), EVIL]
SET: dict[str, Any] = {
    "eval_set_id": "words & <b>",
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
        for eval_id in IDS
    ],
}
CONFIG = {"criteria": {"response_match_score": 0.8}}


def good(text: str) -> str:
    return f"You wrote {text}"


def bad(text: str) -> str:
    return "Pardon? <img src=x onerror=alert(1)>\x1b[31m" if text in IDS[:9] or text == EVIL else good(text)


def broken(text: str) -> str:
    if text == IDS[3]:
        raise RuntimeError("no connection")
    return good(text)


Ran = Callable[..., None]


@pytest.fixture
def ran(context: ServerContext) -> Ran:
    def run(*agents: Any, config: Any = CONFIG, trials: int = 1) -> None:
        for agent in agents:
            proctor.evaluate_sync(agent, SET, config=config, num_runs=trials, store=context.store_url)

    return run


def got(client: TestClient, path: str, **query: Any) -> Any:
    answer = client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def by_command(context: ServerContext, *arguments: str) -> Any:
    done = CliRunner().invoke(cli, ["compare", *arguments, "--json", "--store", str(context.store_url)])
    return json.loads(done.stdout) | {"left": done.exit_code}


# --- two runs --------------------------------------------------------------------------------------------------------

PAIRS = {"worse": (good, bad), "better": (bad, good), "in error": (good, broken), "the same": (good, good)}


@pytest.mark.slow
@pytest.mark.parametrize("agents", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("margin", [0.05, 0.5])
def test_the_page_shows_what_the_command_shows(
    ran: Ran, client: TestClient, context: ServerContext, agents: tuple[Any, Any], margin: float
) -> None:
    ran(*agents)
    page = got(client, "/api/compare", margin=margin)
    reported = by_command(context, "--margin", str(margin))
    assert (page["sentence"], page["outcome"], page["exit_code"]) == (
        reported["sentence"],
        reported["outcome"],
        reported["left"],
    )
    assert [one["text"] for one in page["unlike"]] == [one["text"] for one in reported["unlike"]]
    figures = ("name", "base", "candidate", "difference", "low", "high", "p_value", "confidence", "pairs")
    assert [[one[key] for key in figures] for one in page["measures"]] == [
        [one[key] for key in figures] for one in reported["measures"]
    ]
    assert [(one["eval_id"], one["change"]) for one in page["cases"]] == [
        (one["eval_id"], one["change"]) for one in reported["cases"]
    ]


def test_changed_cases_show_where_they_are_and_how_their_trials_ended(
    ran: Ran, client: TestClient, context: ServerContext
) -> None:
    ran(good, bad, trials=2)
    page = got(client, "/api/compare")
    assert page["same"] == 2
    for case in page["cases"]:
        assert case["base_position"] == case["candidate_position"] == IDS.index(case["eval_id"])
        assert (case["base"], case["candidate"], case["change"]) == ("pp", "ff", "now_fails")
    assert EVIL in {
        case["eval_id"] for case in page["cases"]
    }  # text goes unchanged: the page shows it as text
    assert page["command"].startswith("proctor compare ")
    assert page["command"].endswith(f" --store={context.store_url}")
    assert page["markdown"].startswith("### ✕ regression: ")
    shown = markdown_page(page["markdown"])  # no HTML: it is in code
    assert "<script>" not in shown.loud
    assert "words & <b>" in shown.quiet


def test_cases_of_one_run_only_are_listed_with_their_places(
    ran: Ran, client: TestClient, context: ServerContext
) -> None:
    ran(good)
    fewer = {**SET, "eval_cases": SET["eval_cases"][2:4]}
    proctor.evaluate_sync(good, fewer, config=CONFIG, store=context.store_url)
    page = got(client, "/api/compare", base="previous", candidate="latest")
    assert len(page["only_base"]) == 10
    assert page["only_base"][0] == {
        "name": f"{SET['eval_set_id']}/case0",
        "base_position": 0,
        "candidate_position": None,
    }


def test_runs_that_are_not_comparable_show_their_differences(ran: Ran, client: TestClient) -> None:
    ran(good)
    ran(good, config={"criteria": {"response_match_score": 0.7}})
    reported = [one for one in got(client, "/api/compare")["unlike"] if not one["expected"]]
    assert [one["what"] for one in reported] == ["threshold"]


@pytest.mark.parametrize(
    ("query", "status", "message"),
    [
        ({"base": "unknown"}, 404, "unknown"),
        ({"base": "latest~9"}, 404, "latest~9"),
        ({"margin": 0}, 422, "margin"),
        ({"margin": 1}, 422, "margin"),
        ({"margin": "nan"}, 422, "margin"),
        ({"base": "../../etc/passwd"}, 404, "passwd"),
        ({"base": "\x00"}, 404, ""),
    ],
    ids=str,
)
def test_what_cannot_be_compared_is_reported(
    ran: Ran, client: TestClient, query: dict[str, Any], status: int, message: str
) -> None:
    ran(good, good)
    answer = client.get("/api/compare", params=query)
    assert (answer.status_code, message in answer.json()["detail"]) == (status, True), answer.text


def test_runs_without_a_common_case_are_the_asker_s_mistake(
    ran: Ran, client: TestClient, context: ServerContext
) -> None:
    ran(good)
    other = {**SET, "eval_set_id": "others"}
    proctor.evaluate_sync(good, other, config=CONFIG, store=context.store_url)
    answer = client.get("/api/compare")
    assert answer.status_code == 400
    assert "no case in common" in answer.json()["detail"]


def test_without_a_store_there_is_nothing_to_compare(client: TestClient) -> None:
    assert client.get("/api/compare").status_code == 404


# --- one case --------------------------------------------------------------------------------------------------------


def test_a_case_of_two_runs_from_where_they_part(ran: Ran, client: TestClient) -> None:
    ran(good, bad)
    page = got(client, "/api/compare/case", set=SET["eval_set_id"], case="case1")
    assert (page["turn"], page["alike"], page["base"]["outcome"], page["candidate"]["outcome"]) == (
        0,
        1,
        "passed",
        "failed",
    )
    assert page["sentence"] == "first difference in turn 1, after 1 equal step"
    same, answer = page["lines"]
    assert (same["kind"], same["what"]) == ("same", "user")
    assert (answer["kind"], answer["what"]) == ("differs", "answer")
    texts = ["".join(piece["text"] for piece in answer[side]["pieces"]) for side in ("base", "candidate")]
    assert texts == [good("case1"), bad("case1")]
    assert any(piece["changed"] for piece in answer["candidate"]["pieces"])
    assert [one["metric"] for one in page["reasons"]] == ["response_match_score"]


def test_a_step_of_one_run_has_no_partner(ran: Ran, client: TestClient) -> None:
    ran(good, broken)
    page = got(client, "/api/compare/case", set=SET["eval_set_id"], case="case3")
    kinds = [(line["kind"], line["what"]) for line in page["lines"]]
    assert kinds == [("same", "user"), ("missing", "answer"), ("extra", "failure")]


def test_a_case_that_is_not_there_is_reported_with_the_closest(ran: Ran, client: TestClient) -> None:
    ran(good, good)
    answer = client.get("/api/compare/case", params={"set": SET["eval_set_id"], "case": "case"})
    assert answer.status_code == 404
    assert "Did you mean" in answer.json()["detail"]


# --- several runs ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_runs_side_by_side_those_that_differ_first(ran: Ran, client: TestClient) -> None:
    ran(good, bad, good)
    ids = [run["run_id"] for run in got(client, "/api/runs")["items"]]
    page = got(client, "/api/matrix", runs=",".join(ids))
    assert [run["run_id"] for run in page["runs"]] == ids
    assert [run["passed"]["count"] for run in page["runs"]] == [12, 2, 12]
    assert (page["different"], [row["differs"] for row in page["rows"]]) == (10, [True] * 10 + [False] * 2)
    first = page["rows"][0]
    assert [cell["outcome"] for cell in first["cells"]] == ["passed", "failed", "passed"]
    assert [cell["score"] for cell in first["cells"]] == [1.0, 0.0, 1.0]
    assert first["cells"][1]["why"]


def test_a_case_that_no_run_passes_shows_the_metric_that_it_misses(
    client: TestClient, context: ServerContext
) -> None:
    config = {"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}}
    one = {**SET, "eval_cases": SET["eval_cases"][:1]}
    for _ in range(2):
        proctor.evaluate_sync(lambda _: "Pardon?", one, config=config, store=context.store_url)
    (row,) = got(client, "/api/matrix", runs="latest,previous")["rows"]
    assert (row["metric"], [cell["score"] for cell in row["cells"]]) == ("response_match_score", [0.0, 0.0])


def test_a_case_that_failed_only_by_another_metric_shows_that_metric(
    client: TestClient, context: ServerContext
) -> None:
    config = {"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}}
    one = {**SET, "eval_cases": SET["eval_cases"][:1]}
    answers: list[dict[str, Any]] = [
        {"text": "Pardon?"},
        {"text": good(IDS[0]), "tool_calls": [{"name": "send", "args": {}}]},
    ]
    for answer in answers:
        proctor.evaluate_sync(lambda _, answer=answer: answer, one, config=config, store=context.store_url)
    (row,) = got(client, "/api/matrix", runs="latest,previous")["rows"]
    shown = [(cell["metric"], cell["score"]) for cell in row["cells"]]
    assert row["metric"] == "tool_trajectory_avg_score"
    assert shown == [("tool_trajectory_avg_score", 0.0), ("response_match_score", 0.0)]


def test_a_run_with_more_trials_is_not_more_expensive(client: TestClient, context: ServerContext) -> None:
    def priced(text: str) -> dict[str, Any]:
        usage = {"prompt_token_count": 1000, "candidates_token_count": 10}
        return {"text": good(text), "usage_metadata": usage, "model_version": "gpt-4o"}

    one = {**SET, "eval_cases": SET["eval_cases"][:1]}
    for trials in (1, 4):
        proctor.evaluate_sync(priced, one, config=CONFIG, num_runs=trials, store=context.store_url)
    costs = [run["cost"] for run in got(client, "/api/matrix", runs="latest,previous")["runs"]]
    assert costs[0] > 0
    assert costs[0] == pytest.approx(costs[1])


@pytest.mark.parametrize("agent", [good, bad], ids=["runs that passed", "runs that failed"])
def test_if_no_run_is_named_the_newest_two_that_share_cases_are_compared(
    client: TestClient, context: ServerContext, agent: Callable[[str], str]
) -> None:
    def evaluated(first: int, last: int, name: str = "set") -> str:
        some = {"eval_set_id": name, "eval_cases": SET["eval_cases"][first:last]}
        return proctor.evaluate_sync(agent, some, config=CONFIG, store=context.store_url).run_id

    def compared() -> tuple[str, str]:
        page = got(client, "/api/compare")
        return page["base"]["run_id"], page["candidate"]["run_id"]

    whole, one = evaluated(0, 4), evaluated(0, 1)
    assert compared() == (whole, one)
    again = evaluated(0, 4)
    assert compared() == (whole, again)  # `one` has too few of its cases
    evaluated(0, 1)
    other = evaluated(1, 3)
    assert compared() == (again, other)  # the run before has another case
    evaluated(0, 4, "another set")
    assert compared() == (again, other)


def test_the_matrix_has_the_pass_hat_k_of_the_page_of_the_run(
    client: TestClient, context: ServerContext
) -> None:
    one = {**SET, "eval_cases": SET["eval_cases"][:1]}
    proctor.evaluate_sync(good, one, config=CONFIG, num_runs=3, store=context.store_url)
    (head,) = got(client, "/api/matrix", runs="latest")["runs"]
    shown = got(client, "/api/runs/latest")["pass_k"][-1]
    assert (head["k"], head["pass_hat"]) == (shown["k"], shown["hat"])
    assert head["k"] == 2


def test_a_trial_that_crashed_without_usage_is_not_in_the_mean_cost(
    client: TestClient, context: ServerContext
) -> None:
    asked: list[str] = []

    def crashes(text: str) -> dict[str, Any]:
        asked.append(text)
        if len(asked) % 2:
            raise ValueError("no answer")
        usage = {"prompt_token_count": 1000, "candidates_token_count": 10}
        return {"text": good(text), "usage_metadata": usage, "model_version": "gpt-4o"}

    one = {**SET, "eval_cases": SET["eval_cases"][:1]}
    run = proctor.evaluate_sync(
        crashes, one, config=CONFIG, num_runs=4, concurrency=1, store=context.store_url
    )
    (agent,) = run.spent
    assert agent.cost
    (head,) = got(client, "/api/matrix", runs="latest")["runs"]
    (listed,) = got(client, "/api/history")["runs"]
    assert head["cost"] == listed["trial_cost"] == pytest.approx(agent.cost / 2)
    extras = got(client, "/api/runs/latest/case-extras")
    assert (extras["attempts"], extras["cost_texts"]) == ([2], ["at least $0.0052"])
    page, (row,) = got(client, "/api/runs/latest"), got(client, "/api/runs")["items"]
    assert run.cost is page["cost"] is row["cost"] is page["money"][0]["cost"] is None
    assert page["cost_text"] == row["cost_text"] == page["money"][0]["text"] == "at least $0.0052"


def test_a_cost_without_that_of_the_agent_is_unknown(client: TestClient, context: ServerContext) -> None:
    proctor.evaluate_sync(good, SET, config=JUDGED, judge=Judge(), store=context.store_url)
    (run,) = got(client, "/api/matrix", runs="latest")["runs"]
    (row,) = got(client, "/api/runs")["items"]
    (listed,) = got(client, "/api/history")["runs"]
    page = got(client, "/api/runs/latest")
    assert run["cost"] is row["cost"] is listed["trial_cost"] is page["cost"] is None
    assert page["cost_text"] == row["cost_text"] == f"at least {page['money'][0]['text']}"
    assert [(part["purpose"], part["cost"]) for part in page["money"][1:]] == [("agent", None)]
    proctor.evaluate_sync(good, SET, config=CONFIG, store=context.store_url)
    compared = got(client, "/api/compare", base="latest~1", candidate="latest")
    assert compared["costs"] == [row["cost_text"], "unknown"]


def test_a_case_that_a_run_does_not_have_is_empty_there(
    ran: Ran, client: TestClient, context: ServerContext
) -> None:
    ran(good)
    fewer = {**SET, "eval_cases": SET["eval_cases"][:1]}
    proctor.evaluate_sync(good, fewer, config=CONFIG, store=context.store_url)
    page = got(client, "/api/matrix", runs="latest,previous")
    cells = {row["eval_id"]: row["cells"] for row in page["rows"]}
    assert cells["case1"][0] is None
    assert cells["case0"][0]["position"] == 0


@pytest.mark.parametrize(
    ("runs", "status"), [("", 400), (",", 400), (",".join(["latest"] * 13), 400), ("unknown", 404)], ids=repr
)
def test_what_cannot_be_side_by_side_is_reported(
    ran: Ran, client: TestClient, runs: str, status: int
) -> None:
    ran(good)
    assert client.get("/api/matrix", params={"runs": runs}).status_code == status


# --- at size ---------------------------------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.slow
def test_a_comparison_of_many_cases_names_every_one(tmp_path: Path) -> None:
    from proctor.runs.storage.open import open_runs
    from proctor.web.pages.analysis.load_comparison import load_comparison

    cases = [{**SET["eval_cases"][0], "eval_id": f"c{number}"} for number in range(2_000)]
    for agent in (good, lambda _: "Pardon?"):
        proctor.evaluate_sync(
            agent, {**SET, "eval_cases": cases}, config=CONFIG, store=tmp_path / "s.sqlite3"
        )
    store = open_runs(tmp_path / "s.sqlite3", read_only=True)
    page = load_comparison(store, "previous", "latest")
    store.close()
    assert len(page.cases) == 2_000
    assert ComparisonPage.model_validate_json(page.model_dump_json()) == page


# --- baselines -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_baseline_is_compared_with_by_its_name(
    ran: Ran, client: TestClient, context: ServerContext
) -> None:
    from proctor.analysis.compare.baselines import set_baseline

    assert got(client, "/api/baselines") == {"items": []}
    ran(good, bad)
    set_baseline("main", "previous", context.store_url)
    (named,) = got(client, "/api/baselines")["items"]
    page, by_id = got(client, "/api/compare", base="main"), got(client, "/api/compare", base=named["run_id"])
    assert (named["name"], page["base"]["baseline"], page["base"]["kept"]) == ("main", "main", True)
    assert page["sentence"] == by_id["sentence"]
    assert page["cases"] == by_id["cases"]
    assert page["command"].startswith("proctor compare --baseline main ")


@pytest.mark.parametrize("name", ["./main.json", "../main.json", "/etc/passwd.json", "main.json"])
def test_a_file_cannot_be_a_baseline_here(
    ran: Ran, client: TestClient, context: ServerContext, name: str
) -> None:
    from proctor.analysis.compare.baselines import export_baseline, set_baseline

    ran(good, good)
    set_baseline("main", "latest", context.store_url)
    export_baseline("main", context.root / "main.json", context.store_url)
    assert client.get("/api/compare", params={"base": name}).status_code == 404
