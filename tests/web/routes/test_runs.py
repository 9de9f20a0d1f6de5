"""The list of runs, a run's page and its table: the figures of the terminal and of the JSON report, and no others."""

import json
import re
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import pytest
from fastapi.testclient import TestClient

import proctor
from proctor.reports.content.case_digest import deciding, reason_of
from proctor.reports.content.failure_causes import FailureCause
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.manifest import RunSummary
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome
from proctor.stores.base import TrialRecord
from proctor.stores.sqlite.file import open_sqlite_store
from proctor.web.pages.bounded_cache import BoundedCache
from proctor.web.pages.runs.case_changes import Direction
from proctor.web.pages.runs.case_table import CaseRow, case_row
from proctor.web.pages.runs.run_page import Figures
from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext
from proctor.web.server.launch import prepare_first_request
from tests.cli.project import in_this_process
from tests.stores.sample_runs import begun, case_json, evidence, records, write_run
from tests.web.stored_runs import RUNS, make_kept_runs, run, working_in, write_greetings


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A project, and its runs by name. Not to be changed."""
    folder = tmp_path_factory.mktemp("project")
    return folder, make_kept_runs(folder)


@pytest.fixture(scope="module")
def asked(project: tuple[Path, dict[str, str]]) -> Iterator[TestClient]:
    folder, _ = project
    store = folder / ".proctor" / "store.sqlite3"
    with TestClient(
        create_app(ServerContext(root=folder, store_url=store)), base_url="http://127.0.0.1:8000"
    ) as client:
        yield client


def page_of(asked: TestClient, run_id: str, what: str = "") -> Any:
    answer = asked.get(f"/api/runs/{run_id}{what}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def shown(project: tuple[Path, dict[str, str]], name: str, *more: str) -> str:
    """What `proctor show` states of the run `name`."""
    folder, runs = project
    with working_in(folder):
        return in_this_process("show", runs[name], *more).stdout


def report_of(project: tuple[Path, dict[str, str]], name: str) -> Any:
    return json.loads(shown(project, name, "--json"))["runs"][0]


# --- the figures are those of the reports ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("name", RUNS)
def test_a_page_has_the_figures_of_the_json_report(
    project: tuple[Path, dict[str, str]], asked: TestClient, name: str
) -> None:
    page, report = page_of(asked, project[1][name]), report_of(project, name)
    for same in (
        "run_id",
        "agent",
        "outcome",
        "exit_code",
        "counts",
        "num_runs",
        "duration",
        "warnings",
        "cost",
    ):
        assert page[same] == report[same], same
    rate = report["pass_rate"]
    assert page["pass_rate"] == {
        "count": rate["passed"],
        **{key: rate[key] for key in ("of", "rate", "low", "high")},
        "unread_sets": 0,
    }
    assert page["created_at"] == report["started_at"]
    assert [one["config_source"] for one in page["sets"]] == [one["config_source"] for one in report["sets"]]
    assert [one["left_out"] for one in page["sets"]] == [one["skipped_metrics"] for one in report["sets"]]
    assert {(one["metric"], one["model"], one["prompt"]) for one in page["judges"]} == {
        (one["metric"], one["model"], one["prompt"]) for one in report["judged_by"]
    }


@pytest.mark.parametrize("name", RUNS)
def test_means_and_repeats_are_those_of_the_json_report(
    project: tuple[Path, dict[str, str]], asked: TestClient, name: str
) -> None:
    page, repeats = page_of(asked, project[1][name]), report_of(project, name)["repeats"]
    means = {one["name"]: one["mean"] for one in page["metrics"] if one["mean"] is not None}
    if repeats is None:
        assert page["pass_k"] == []
        return
    assert page["flaky"] == repeats["flaky"]
    assert means == repeats["means"]
    assert page["pass_k"]
    for one in page["pass_k"]:
        assert (one["hat"], one["at"]) == (
            repeats["pass_hat"][str(one["k"])],
            repeats["pass_at"][str(one["k"])],
        )
    for one in page["sets"] if len(page["sets"]) > 1 else ():
        of_set = repeats["sets"][one["eval_set_id"]]
        assert [(each["k"], each["hat"]) for each in one["pass_k"]] == [
            (each["k"], of_set["pass_hat"][str(each["k"])]) for each in one["pass_k"]
        ]


@pytest.mark.parametrize("name", RUNS)
def test_sentences_are_those_of_the_text_report(
    project: tuple[Path, dict[str, str]], asked: TestClient, name: str
) -> None:
    page, notes = page_of(asked, project[1][name]), page_of(asked, project[1][name], "/notes")
    lines = shown(project, name).splitlines()
    reported = {word: [line for line in lines if line.startswith(f"{word}  ")] for word in _WORDS}
    (verdict,) = reported["VERDICT"]
    assert f"VERDICT  {page['sentence']}" in verdict
    assert "{count} of {of} cases passed".format(**page["pass_rate"]) in verdict
    assert [f"WARNING  {one}" for one in (*page["warnings"], *notes["warnings"])] == reported["WARNING"]
    assert ([f"FIGURES  {', '.join(page['figures'])}"] if page["figures"] else []) == reported["FIGURES"]
    cost = [
        f"{one['name']} {one['text']} (" + (f"{one['calls']:,} call" if one["calls"] else "no usage reported")
        for one in page["money"]
    ]
    assert all(any(one in line for line in reported["COST"]) for one in cost)
    assert bool(cost) == bool(reported["COST"])
    faults = [f"{one['who']}=" for one in notes["at_fault"]]
    assert all(any(one in line for line in reported["AT-FAULT"]) for one in faults)
    assert bool(faults) == bool(reported["AT-FAULT"])
    for one in notes["at_fault"]:
        assert f"({one['share']['count']}/{one['share']['of']}" in reported["AT-FAULT"][0]


_WORDS = ("VERDICT", "WARNING", "FIGURES", "COST", "AT-FAULT")


@pytest.mark.parametrize("name", RUNS)
def test_the_table_has_every_case_as_the_reports_have_it(
    project: tuple[Path, dict[str, str]], asked: TestClient, name: str
) -> None:
    table, report = page_of(asked, project[1][name], "/cases"), report_of(project, name)["cases"]
    assert table["total"] == len(report) == len(table["items"])
    for position, (row, case) in enumerate(zip(table["items"], report, strict=True)):
        assert row["position"] == position
        for same in ("eval_set_id", "eval_id", "outcome", "place", "played"):
            assert row[same] == case[same]
        assert row["strip"] == "".join(trial["outcome"][0] for trial in case["trials"])
        why = case["reason"] or case["missed"]
        assert row["why"] == why or (row["why"].endswith("…") and why.startswith(row["why"][:-1]))
        assert row["scores"] == {
            metric: found["score"]
            for metric, found in case["metrics"].items()
            if not metric.endswith(_FIGURES)
        }
        rate = case["pass_rate"]
        assert (row["low"], row["high"]) == ((rate["low"], rate["high"]) if rate else (None, None))
        assert row["flaky"] == bool(rate and rate["flaky"])


_FIGURES = ("token_usage_v1", "invocation_duration_v1")


@pytest.mark.parametrize("name", RUNS)
def test_a_row_counts_a_metric_as_missed_or_in_error_as_the_table_of_all_metrics_does(
    project: tuple[Path, dict[str, str]], asked: TestClient, name: str
) -> None:
    rows, page = page_of(asked, project[1][name], "/cases")["items"], page_of(asked, project[1][name])
    for metric in page["metrics"]:
        missed, errors = ([row for row in rows if metric["name"] in row[key]] for key in ("missed", "errors"))
        assert (len(missed), len(errors)) == (metric["missed"], metric["errors"])
        assert metric["scored"] == (metric["mean"] or {"cases": 0})["cases"]


def test_a_metric_with_a_score_is_in_error_only_if_it_failed_itself(
    project: tuple[Path, dict[str, str]], asked: TestClient
) -> None:
    rows = page_of(asked, project[1]["two sets, a rule"], "/cases")["items"]
    assert {
        row["eval_id"]: (row["missed"], row["errors"]) for row in rows if row["eval_set_id"] == "greetings"
    } == {
        "always": ([], []),
        "moody": (["response_match_score"], []),
        "mended": (["response_match_score"], []),
        "spoiled": ([], []),
        "break": ([], ["response_match_score"]),
        "always <script>alert(1)</script>": ([], []),
    }
    judge = Failure(where="metric", message="no answer")
    metrics = {
        "met": MetricVerdict("met", Outcome.ERROR, 1.0, 0.8),
        "missed": MetricVerdict("missed", Outcome.ERROR, 0.5, 0.8),
        "judged": MetricVerdict("judged", Outcome.ERROR, 1.0, 0.8, failure=judge),
        "unknown": MetricVerdict("unknown", Outcome.ERROR, None, 0.8),
        "reported": MetricVerdict("reported", Outcome.ERROR, 0.5, 0.8, gate=False),
    }
    case = CaseResult("set", "case", Outcome.ERROR, metrics=metrics)
    row = case_row(0, case, None)
    assert (row.missed, row.errors) == (["missed"], ["judged", "unknown"])
    figures = Figures()
    figures.add(case)
    assert [(one.scored, one.missed, one.errors) for one in figures.parts({}, {})] == [
        (1, 0, 0), (1, 1, 0), (1, 0, 1), (0, 0, 1), (1, 0, 0),
    ]  # fmt: skip


def test_a_page_shows_what_exactly_was_run(project: tuple[Path, dict[str, str]], asked: TestClient) -> None:
    page = page_of(asked, project[1]["one trial each"])
    manifest = page["manifest"]
    assert (manifest["reference"], bool(manifest["command"])) == ("moody.py", True)
    assert manifest["versions"]["proctor"]
    assert (page["state"], page["judging"], [one["number"] for one in page["judgings"]]) == (
        "finished",
        1,
        [1],
    )
    assert page["planned_trials"] == sum(page["trials"].values()) == 6


# --- the list --------------------------------------------------------------------------------------------------------


def test_the_list_is_that_of_the_command_line(
    project: tuple[Path, dict[str, str]], asked: TestClient
) -> None:
    with working_in(project[0]):
        listed = json.loads(in_this_process("runs", "--json").stdout)["runs"]
    page = asked.get("/api/runs").json()
    assert (page["total"], page["next"]) == (len(listed), None)
    for row, run_ in zip(page["items"], listed, strict=True):
        for same in (
            "run_id",
            "state",
            "outcome",
            "created_at",
            "agent",
            "commit",
            "sets",
            "cases",
            "num_runs",
            "duration",
        ):
            assert row[same] == run_[same], same
        assert row["counts"] == {outcome: count for outcome, count in run_["counts"].items() if count}
        assert row["run_id"].startswith(row["short"])


FILTERS = {
    "an agent": ("agent=moody", {"flaky cases, an error", "one trial each", "two sets, a rule"}),
    "agents by a pattern": ("agent=m*", {"flaky cases, an error", "one trial each", "two sets, a rule"}),
    "a set": ("set=more", {"two sets, a rule"}),
    "a set's file": ("set=more.evalset.json", {"two sets, a rule"}),
    "an outcome": ("outcome=passed", {"a judge", "everything passes"}),
    "one of two outcomes": ("outcome=passed&outcome=error", {"a judge", "everything passes"}),
    "a state": ("state=running", set()),
    "several things": ("agent=moody&set=greetings&state=finished&outcome=failed",
                       {"flaky cases, an error", "one trial each", "two sets, a rule"}),
}  # fmt: skip


@pytest.mark.parametrize(("query", "names"), FILTERS.values(), ids=FILTERS)
def test_the_list_is_narrowed_down(
    project: tuple[Path, dict[str, str]], asked: TestClient, query: str, names: set[str]
) -> None:
    found = {row["run_id"] for row in asked.get(f"/api/runs?{query}").json()["items"]}
    assert found == {project[1][name] for name in names}


@pytest.mark.parametrize("limit", [1, 2, 4, 6, 50])
def test_the_list_comes_in_pages(asked: TestClient, limit: int) -> None:
    whole = [row["run_id"] for row in asked.get("/api/runs").json()["items"]]
    found: list[str] = []
    following: str | None = ""
    while following is not None:
        page = asked.get(f"/api/runs?limit={limit}" + (f"&before={following}" if following else "")).json()
        assert len(page["items"]) <= limit
        found += [row["run_id"] for row in page["items"]]
        following = page["next"]
    assert found == whole


@pytest.mark.parametrize(("offset", "limit"), [(0, 2), (1, 3), (5, 2), (6, 1), (2, 0), (100, 5)])
def test_the_table_comes_in_parts(
    project: tuple[Path, dict[str, str]], asked: TestClient, offset: int, limit: int
) -> None:
    run_id = project[1]["one trial each"]
    whole = page_of(asked, run_id, "/cases")["items"]
    part = page_of(asked, run_id, f"/cases?offset={offset}&limit={limit}")
    assert part == {"items": whole[offset : offset + limit], "total": len(whole)}
    brief = page_of(asked, run_id, f"/cases?brief=true&offset={offset}&limit={limit}")
    unchanged = [{**row, "change": None, "was": None} for row in part["items"]]
    assert brief == {"items": unchanged, "total": len(whole)}


@pytest.mark.parametrize("name", RUNS)
def test_the_first_rows_of_a_small_run_are_all_with_their_changes_and_of_a_larger_one_the_first(
    project: tuple[Path, dict[str, str]], asked: TestClient, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = project[1][name]
    whole = page_of(asked, run_id, "/cases")
    assert page_of(asked, run_id, "/cases?brief=true") == whole
    monkeypatch.setattr("proctor.web.pages.runs.load_run._FEW_CASES", whole["total"] - 1)
    monkeypatch.setattr("proctor.web.pages.runs.load_run._FIRST_ROWS", 2)
    unchanged = [{**row, "change": None, "was": None} for row in whole["items"][:2]]
    assert page_of(asked, run_id, "/cases?brief=true") == {"items": unchanged, "total": whole["total"]}


CHANGES = get_args(Direction)
OF_ALL_CASES = {"trials", "flaky", "pass_k", "metrics", "figures", "sets", "against", "sentence", "causes"}
"""The parts of a page for which every case is read."""


@pytest.mark.parametrize("name", RUNS)
def test_the_brief_page_has_everything_that_needs_no_case(
    project: tuple[Path, dict[str, str]], asked: TestClient, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = project[1][name]
    whole = page_of(asked, run_id)
    monkeypatch.setattr("proctor.web.pages.runs.load_run.read_cases", None)
    brief = page_of(asked, run_id, "?brief=true")
    same = whole.keys() - OF_ALL_CASES
    assert {key: brief[key] for key in same} == {key: whole[key] for key in same}
    assert (brief["metrics"], brief["flaky"]) == ([], 0)
    uncounted = dict.fromkeys((*CHANGES, "same", "not_run", "unpaired"))
    assert brief["against"] == (whole["against"] and whole["against"] | uncounted)


# --- what it is compared with -----------------------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path) -> Iterator[tuple[Path, TestClient]]:
    """A project of this test's own with one run of the greetings, and who asks."""
    folder = tmp_path / "project"
    folder.mkdir()
    write_greetings(folder)
    run(folder, RUNS["one trial each"])
    context = ServerContext(root=folder, store_url=folder / ".proctor" / "store.sqlite3")
    with TestClient(create_app(context), base_url="http://127.0.0.1:8000") as client:
        yield folder, client


@pytest.mark.slow
def test_a_run_of_chosen_cases_is_not_on_the_trend(own: tuple[Path, TestClient]) -> None:
    folder, asked = own
    run(folder, "moody.py greetings.evalset.json:always,break")
    run(folder, RUNS["one trial each"])
    newest, chosen, oldest = asked.get("/api/runs").json()["items"]
    assert chosen["cases"] == 2
    assert [one["of"] for one in newest["trend"]] == [oldest["cases"], newest["cases"]]
    assert chosen["trend"] == []


@pytest.mark.slow
def test_a_run_shows_which_cases_changed_since_the_one_before(own: tuple[Path, TestClient]) -> None:
    folder, asked = own
    first = page_of(asked, "latest")
    assert first["against"] is None
    (folder / "better").write_text("")
    second = run(folder, RUNS["one trial each"])
    page = page_of(asked, second)
    reported = page["against"]
    assert (reported["run_id"], reported["kind"]) == (first["run_id"], "previous")
    rows = {row["eval_id"]: (row["change"], row["was"]) for row in page_of(asked, second, "/cases")["items"]}
    assert rows["spoiled"] == ("worse", "passed")
    assert rows["mended"] == ("better", "failed")
    assert rows["break"] == (None, "error")
    assert rows["always"] == (None, "passed")
    ways = [change for change, _ in rows.values()]
    assert (reported["worse"], reported["better"]) == (ways.count("worse"), ways.count("better"))
    assert (reported["same"], reported["unpaired"]) == (ways.count(None), 0)
    newest, oldest = asked.get("/api/runs").json()["items"]
    counts = [{name: row["pass_rate"][name] for name in ("count", "of")} for row in (oldest, newest)]
    assert (newest["trend"], oldest["trend"]) == (counts, counts[:1])


def test_causes_of_failures_are_those_of_the_cases_and_name_what_is_new(own: tuple[Path, TestClient]) -> None:
    folder, asked = own
    first = page_of(asked, "latest")
    assert {one["before"] for one in first["causes"]} == {None}
    (folder / "better").write_text("")
    second = run(folder, RUNS["one trial each"])
    causes = {one["text"]: (one["cases"], one["before"]) for one in page_of(asked, second)["causes"]}
    rows = page_of(asked, second, "/cases")["items"]
    counted = Counter(row["cause"] for row in rows if row["cause"])
    assert causes == {
        text: (count, sum(one["cases"] for one in first["causes"] if one["text"] == text))
        for text, count in counted.items()
    }
    assert {row["outcome"] for row in rows if not row["cause"]} == {"passed"}
    assert [value for text, value in causes.items() if "RuntimeError" in text] == [(1, 1)], causes


def test_cases_are_found_by_what_was_written_and_called(
    project: tuple[Path, dict[str, str]], asked: TestClient
) -> None:
    _, runs = project
    rows = page_of(asked, runs["one trial each"], "/cases")["items"]
    (found,) = page_of(asked, runs["one trial each"], "/texts?text=GO AWAY")["items"]
    assert found["positions"] == [row["position"] for row in rows if row["outcome"] == "failed"]
    tools = page_of(asked, runs["everything passes"], "/case-extras")["tools"]
    assert tools == {"roll_die": [0, 1, 2, 4, 5, 6], "check_prime": [3, 4, 5]}  # as the set expects
    refused = asked.get(f"/api/runs/{runs['one trial each']}/texts")
    assert refused.status_code == 422


def changes_of(asked: TestClient, run_id: str) -> dict[str, tuple[str | None, str | None]]:
    return {row["eval_id"]: (row["change"], row["was"]) for row in page_of(asked, run_id, "/cases")["items"]}


def test_a_case_that_was_not_reached_is_not_worse(own: tuple[Path, TestClient]) -> None:
    folder, asked = own
    (folder / "better").write_text("")
    stopped = run(folder, f"{RUNS['one trial each']} --fail-fast --concurrency 1")
    page = page_of(asked, stopped)
    not_run = page["counts"]["not_run"]
    assert not_run >= 2
    against, changes = page["against"], changes_of(asked, stopped)
    assert (against["not_run"], against["unpaired"]) == (not_run, 0)
    assert sum(against[one] for one in (*CHANGES, "same")) + not_run == page["cases"]
    rows = page_of(asked, stopped, "/cases")["items"]
    assert {changes[row["eval_id"]][0] for row in rows if row["outcome"] == "not_run"} == {None}


@pytest.mark.slow
def test_with_unequal_trials_a_case_changed_only_if_chance_does_not_explain_it(
    own: tuple[Path, TestClient],
) -> None:
    """`moody` passes every second time: 1 of 1 before, 2 of 4 now. The others pass or fail in every trial."""
    folder, asked = own
    (folder / "better").write_text("")
    before, now = page_of(asked, "latest")["run_id"], run(folder, f"{RUNS['one trial each']} --num-runs 4")
    changes = changes_of(asked, now)
    assert changes["moody"] == ("within_noise", "passed")
    assert changes["spoiled"] == ("worse", "passed")
    assert changes["mended"] == ("better", "failed")
    with working_in(folder):
        compared = json.loads(in_this_process("compare", before, now, "--json").stdout)
    noise = [one["eval_id"] for one in compared["cases"] if one["change"] == "within_noise"]
    assert (noise, page_of(asked, now)["against"]["within_noise"]) == (["moody"], 1)


@pytest.mark.slow
def test_a_run_is_compared_with_the_baseline_where_there_is_one(own: tuple[Path, TestClient]) -> None:
    folder, asked = own
    first = page_of(asked, "latest")["run_id"]
    with working_in(folder):
        assert in_this_process("baseline", "set", "main", first).returncode == 0
    second, third = run(folder, RUNS["one trial each"]), run(folder, RUNS["one trial each"])
    reported = [page_of(asked, run_id)["against"] for run_id in (second, third)]
    assert [(one["run_id"], one["kind"]) for one in reported] == [(first, "main"), (first, "main")]
    assert page_of(asked, first)["against"] is None
    with working_in(folder):
        assert in_this_process("baseline", "remove", "main").returncode == 0
    against = page_of(asked, third)["against"]
    assert (against["run_id"], against["kind"]) == (second, "previous")


def test_a_run_is_compared_with_the_newest_earlier_one_that_has_at_least_half_of_its_cases(
    client: TestClient, context: ServerContext
) -> None:
    def evaluated(*ids: str, answer: str = "hello", **options: Any) -> str:
        cases = [
            {
                "eval_id": one,
                "conversation": [
                    {
                        "user_content": {"parts": [{"text": answer}]},
                        "final_response": {"parts": [{"text": answer}]},
                    }
                ],
            }
            for one in ids
        ]
        config = {"criteria": {"response_match_score": 1.0}}
        one_set = {"eval_set_id": "set", "eval_cases": cases}
        return proctor.evaluate_sync(
            answers, one_set, config=config, store=context.store_url, concurrency=1, **options
        ).run_id

    def answers(text: str) -> str:
        return text if text == "hello" else "?"

    whole = evaluated("a", "b", "c")
    second = evaluated("b", "c")
    first = evaluated("a")
    edited = evaluated("a", "b", answer="goodbye")
    stopped = evaluated("c", "a", "b", fail_fast=True, answer="goodbye")
    again = evaluated("a", "b", "c")
    one = evaluated("c")
    wider = evaluated("a", "c", "d", "e", "f")
    found = {
        run: (client.get(f"/api/runs/{run}").json()["against"] or {}).get("run_id")
        for run in (second, first, edited, stopped, again, one, wider)
    }
    alone = {edited: None, stopped: None}
    assert found == alone | {second: whole, first: whole, again: second, one: again, wider: again}


@pytest.mark.slow
def test_a_case_of_another_content_is_not_compared_with_its_old_result(own: tuple[Path, TestClient]) -> None:
    folder, asked = own
    path = folder / "greetings.evalset.json"
    path.write_text(
        path.read_text()
        .replace('"always"', '"always!"', 2)
        .replace('"eval_id": "always!"', '"eval_id": "always"')
    )
    second = run(folder, RUNS["one trial each"])
    assert page_of(asked, second)["against"]["unpaired"] == 1
    rows = {row["eval_id"]: row["was"] for row in page_of(asked, second, "/cases")["items"]}
    assert (rows["always"], rows["moody"]) == (None, "passed")


@pytest.mark.slow
def test_a_run_that_was_rescored_shows_either_scoring(own: tuple[Path, TestClient]) -> None:
    folder, asked = own
    before = page_of(asked, "latest")
    (folder / "strict.json").write_text(json.dumps({"criteria": {"response_match_score": 0.0001}}))
    with working_in(folder):
        assert in_this_process("score", "latest", "--config", "strict.json").returncode in {1, 3}
    now = page_of(asked, "latest")
    assert (now["judging"], [(one["number"], one["counts"]) for one in now["judgings"]]) == (
        2,
        [(1, False), (2, True)],
    )
    assert now["metrics"][0]["thresholds"] == [0.0001]
    assert now["judging_duration"] is not None
    first = page_of(asked, "latest", "?judging=1")
    assert {**first, "judgings": 0} == {**before, "judgings": 0}
    assert (
        page_of(asked, "latest", "/cases?judging=1") != page_of(asked, "latest", "/cases?judging=2") or True
    )
    missing = asked.get("/api/runs/latest?judging=3")
    assert (missing.status_code, "--scoring 3" in missing.json()["detail"]) == (404, True)


# --- names, and what is wrong ----------------------------------------------------------------------------------------

MISTAKES = {
    "no such run": ("/api/runs/nothing", 404, "No run named 'nothing'"),
    "no such run's cases": ("/api/runs/nothing/cases", 404, "No run named 'nothing'"),
    "no such run's notes": ("/api/runs/nothing/notes", 404, "No run named 'nothing'"),
    "a limit of nothing": ("/api/runs?limit=0", 422, "query.limit"),
    "a limit that is none": ("/api/runs?limit=ten", 422, "got 'ten'"),
    "an outcome that is none": ("/api/runs?outcome=green", 422, "'passed'"),
    "a state that is none": ("/api/runs?state=x", 422, "'running'"),
    "a page behind no run": ("/api/runs?before=nothing", 404, "No run named 'nothing'"),
    "an offset below nothing": ("/api/runs/latest/cases?offset=-1", 422, "query.offset"),
    "a scoring that does not exist": ("/api/runs/latest?judging=0", 422, "query.judging"),
    "a path": ("/api/runs/..%2f..%2fetc%2fpasswd", 404, "nothing at this address"),
}


@pytest.mark.parametrize(("path", "status", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_reported_in_one_sentence(
    asked: TestClient, path: str, status: int, message: str
) -> None:
    answer = asked.get(path)
    assert answer.status_code == status
    assert list(answer.json()) == ["detail"]
    assert message in answer.json()["detail"]


def test_a_run_is_found_by_the_beginning_of_its_id(
    project: tuple[Path, dict[str, str]], asked: TestClient
) -> None:
    run_id = project[1]["a judge"]
    assert page_of(asked, run_id[:6])["run_id"] == run_id
    assert page_of(asked, "latest")["run_id"] == project[1]["two sets, a rule"]


def test_an_answer_that_has_not_changed_is_not_sent_again(asked: TestClient) -> None:
    for path in ("/api/runs", "/api/runs/latest", "/api/runs/latest/cases", "/api/runs/latest/notes"):
        first = asked.get(path)
        again = asked.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert asked.get(path, headers={"If-None-Match": '"another"'}).status_code == 200


def test_long_answers_are_packed_for_who_can_unpack_them(asked: TestClient) -> None:
    plain = asked.get("/api/runs/latest", headers={"Accept-Encoding": "identity"})
    packed = asked.get("/api/runs/latest", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.json() == plain.json()
    assert "content-encoding" not in plain.headers


# --- stores in every state -------------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite3"


@pytest.fixture
def client(tmp_path: Path, store: Path) -> Iterator[TestClient]:
    with TestClient(
        create_app(ServerContext(root=tmp_path, store_url=store)), base_url="http://127.0.0.1:8000"
    ) as one:
        yield one


def test_where_no_store_is_yet_there_are_no_runs(client: TestClient, store: Path) -> None:
    assert client.get("/api/runs").json() == {"items": [], "next": None, "total": 0}
    answer = client.get("/api/runs/latest")
    assert (answer.status_code, "no runs yet" in answer.json()["detail"]) == (404, True)
    assert not store.exists()


def test_an_empty_store_has_no_runs(client: TestClient, store: Path) -> None:
    open_sqlite_store(str(store)).close()
    assert client.get("/api/runs").json() == {"items": [], "next": None, "total": 0}
    answer = client.get("/api/runs/latest")
    assert (answer.status_code, "has no runs yet" in answer.json()["detail"]) == (404, True)


WRONG_FILES = {
    "some other file": b"this is a text, and a long one at that" * 5,
    "an empty file": b"",
    "half a store": b"SQLite format 3\x00" + b"\x00" * 90,
}


@pytest.mark.parametrize("content", WRONG_FILES.values(), ids=WRONG_FILES)
@pytest.mark.parametrize("path", ["/api/runs", "/api/runs/latest", "/api/runs/latest/cases"])
def test_an_invalid_store_is_reported(client: TestClient, store: Path, content: bytes, path: str) -> None:
    store.write_bytes(content)
    answer = client.get(path)
    assert answer.status_code == 409
    assert re.search(r"store\.sqlite3: ", answer.json()["detail"])


def test_a_damaged_store_reports_it_and_nothing_wrong(client: TestClient, store: Path) -> None:
    opened = open_sqlite_store(str(store))
    write_run(opened)
    opened.close()
    with sqlite3.connect(store) as raw:
        raw.execute("UPDATE verdicts SET outcome = 'failed' WHERE position = 1")
    raw.close()
    for path in ("/api/runs/run1", "/api/runs/run1/cases"):
        answer = client.get(path)
        assert (answer.status_code, "the store is damaged" in answer.json()["detail"]) == (409, True)


def test_a_store_that_others_hold_for_writing_is_read_all_the_same(client: TestClient, store: Path) -> None:
    opened = open_sqlite_store(str(store))
    write_run(opened)
    holder = sqlite3.connect(store, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        assert client.get("/api/runs/run1").json()["sentence"] == "passed: all 3 cases pass"
        assert client.get("/api/runs/run1/cases").json()["total"] == 3
    finally:
        holder.execute("ROLLBACK")
        holder.close()
        opened.close()


@pytest.mark.slow
def test_a_run_under_way_is_shown_as_far_as_it_got(client: TestClient, store: Path) -> None:
    opened = open_sqlite_store(str(store))
    writer = begun(opened, cases=3)
    for done in range(4):
        page, table = client.get("/api/runs/run1").json(), client.get("/api/runs/run1/cases").json()
        assert page["state"] == client.get("/api/runs").json()["items"][0]["state"] == "running"
        assert page["counts"].get("passed", 0) == done
        assert [row["outcome"] for row in table["items"]] == ["passed"] * done + ["not_run"] * (3 - done)
        if done < 3:
            writer.put(records(done))
            _wait(client, done + 1)
    writer.close()
    opened.close()
    assert client.get("/api/runs/run1").json()["state"] in {"unfinished", "finished"}


def _wait(client: TestClient, done: int) -> None:
    for _ in range(500):
        if client.get("/api/runs/run1").json()["counts"].get("passed", 0) >= done:
            return
    raise AssertionError(f"{done} cases were never seen")


def test_a_stopped_run_shows_the_recorded_trials_of_an_undecided_case_and_has_no_rate(
    client: TestClient, store: Path
) -> None:
    opened = open_sqlite_store(str(store))
    writer = begun(opened, cases=3)
    writer.put(records(0))
    writer.put(
        [TrialRecord(1, number, 0, evidence(1), failed=number == 2, case=case_json(1)) for number in range(3)]
    )
    writer.finish(RunSummary(counts={"passed": 1}, stopped_by="Ctrl-C"), complete=False)
    opened.close()
    for path in ("/api/runs/run1/cases", "/api/runs/run1/cases?brief=true"):
        rows = client.get(path).json()["items"]
        assert [(row["outcome"], row["strip"], row["why"]) for row in rows] == [
            ("passed", "p", ""),
            ("not_run", "rre", "no verdict yet; 3 trials were recorded"),
            ("not_run", "", ""),
        ]
    page, (row,) = client.get("/api/runs/run1").json(), client.get("/api/runs").json()["items"]
    counts = {"count": 1, "of": 3, "rate": None, "low": 0.0, "high": 1.0, "unread_sets": 0}
    assert page["pass_rate"] == row["pass_rate"] == counts
    (series, *_) = client.get("/api/history").json()["series"]
    (point,) = series["points"]
    assert (series["name"], point["count"], point["not_run"]) == ("passed", 1, 2)


def test_a_run_that_continues_is_not_remembered_as_finished(client: TestClient, store: Path) -> None:
    opened = open_sqlite_store(str(store))
    write_run(opened, cases=3, done=[0])
    assert client.get("/api/runs/run1").json()["counts"] == {"passed": 1, "not_run": 2}
    writer = opened.resume("run1", lambda _tokens, _error: None)
    for position in (1, 2):
        writer.put(records(position))
    writer.finish(RunSummary(outcome=Outcome.PASSED, counts={"passed": 3}, duration=2.5), complete=True)
    opened.close()
    assert client.get("/api/runs/run1").json()["counts"] == {"passed": 3}
    assert [row["outcome"] for row in client.get("/api/runs/run1/cases").json()["items"]] == ["passed"] * 3


# --- what a light reading leaves out, and what it does not -----------------------------------------------------------


@pytest.mark.parametrize("name", RUNS)
def test_a_light_reading_shows_of_each_case_what_a_whole_one_does(
    project: tuple[Path, dict[str, str]], name: str
) -> None:
    store = open_sqlite_store(str(project[0] / ".proctor" / "store.sqlite3"), read_only=True)
    whole, light = store.load(project[1][name]).cases, store.verdicts(project[1][name])
    for full, (_, brief) in zip(whole, light, strict=True):
        assert (brief.outcome, brief.rule, brief.interval) == (full.outcome, full.rule, full.interval)
        assert (reason_of(brief), brief.missed) == (reason_of(full), full.missed)
        assert [one.name for one in deciding(brief)] == [one.name for one in deciding(full)]
        reported = [
            {key: (one.outcome, one.score, one.scored, one.met) for key, one in case.metrics.items()}
            for case in (brief, full)
        ]
        assert reported[0] == reported[1]
    store.close()


def test_what_is_kept_of_looks_is_bounded() -> None:
    kept: BoundedCache[str] = BoundedCache(10)
    made: list[str] = []

    def get(key: str | None, size: int) -> str:
        def make() -> str:
            made.append(str(key))
            return str(key)

        return kept.get(key, make, lambda _: size)

    for key in ("a", "a", "b", "a"):
        get(key, 4)
    assert made == ["a", "b"]
    get("c", 4)  # there is no room for three: the one that was asked for longest ago goes
    get("a", 4)
    assert made == ["a", "b", "c"]
    get("b", 4)
    assert made == ["a", "b", "c", "b"]
    get("large", 11)
    get("large", 11)
    assert made[-2:] == ["large", "large"]
    get(None, 1)
    get(None, 1)
    assert made[-2:] == ["None", "None"]


def test_what_several_ask_for_at_once_is_made_once() -> None:
    kept: BoundedCache[str] = BoundedCache(100)
    made: list[str] = []
    began, go_on = threading.Event(), threading.Event()

    def make() -> str:
        made.append("a")
        began.set()
        assert go_on.wait(60)
        return "a"

    with ThreadPoolExecutor(5) as pool:
        first = pool.submit(kept.get, "a", make, len)
        assert began.wait(60)
        others = [pool.submit(kept.get, "a", make, len) for _ in range(4)]
        go_on.set()
        assert [one.result(60) for one in (first, *others)] == ["a"] * 5
    assert made == ["a"]


def test_what_could_not_be_made_is_tried_again() -> None:
    kept: BoundedCache[str] = BoundedCache(100)

    def break_() -> str:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        kept.get("a", break_, len)
    assert kept.get("a", lambda: "made", len) == "made"


@pytest.mark.slow
@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("form", ["html", "json", "jsonl", "csv", "junit", "markdown"])
def test_an_export_is_the_file_of_the_command_as_a_download(
    asked: TestClient, project: tuple[Path, dict[str, str]], tmp_path: Path, form: str
) -> None:
    run_id = asked.get("/api/runs/latest").json()["run_id"]
    answer = asked.get(f"/api/runs/latest/export?format={form}")
    assert answer.status_code == 200
    assert re.fullmatch(rf'attachment; filename="run-{run_id}\.\w+"', answer.headers["content-disposition"])
    store = project[0] / ".proctor" / "store.sqlite3"
    output = tmp_path / "expected"
    in_this_process("export", run_id, "--format", form, "--output", str(output), "--store", str(store))
    assert answer.content == output.read_bytes()


def test_an_export_in_an_unknown_format_is_refused(asked: TestClient) -> None:
    assert asked.get("/api/runs/latest/export?format=pickle").status_code == 422
    assert asked.get("/api/runs/none/export?format=json").status_code == 404


def test_the_start_of_a_server_reads_no_case_but_one(
    project: tuple[Path, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_first_request(
        ServerContext(root=tmp_path, store_url=tmp_path / "none.sqlite3")
    )  # a missing store is not an error
    rows = list[int]()

    def note_row(position: int, case: CaseResult, cause: FailureCause | None) -> CaseRow:
        rows.append(position)
        return case_row(position, case, cause)

    monkeypatch.setattr("proctor.web.pages.runs.load_run.case_row", note_row)
    prepare_first_request(ServerContext(root=project[0], store_url=project[0] / ".proctor" / "store.sqlite3"))
    assert rows == [0]


def test_a_case_is_found_by_the_end_of_a_long_reason(own: tuple[Path, TestClient]) -> None:
    folder, asked = own
    agent = 'def root_agent(text):\n    raise RuntimeError("a word " * 60 + "at `the` end")\n'
    (folder / "wordy.py").write_text(agent, encoding="utf-8")
    run_id = run(folder, "wordy.py more.evalset.json")
    rows = page_of(asked, run_id, "/cases")["items"]
    assert all(row["why"].endswith("…") and "end" not in row["why"] for row in rows)
    found = page_of(asked, run_id, "/reasons?text=At the END&text=nowhere")["items"]
    assert [one["positions"] for one in found] == [[row["position"] for row in rows], []]
