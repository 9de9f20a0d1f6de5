"""The pages of a case: what `proctor show` states , and nothing else."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from proctor.common.safe_text import clean
from proctor.reports.content.summary import duration
from proctor.schema.results.score import score_text
from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext
from tests.cli.project import in_this_process
from tests.web.case_project import RUNS, make_case_project
from tests.web.stored_runs import working_in

Project = tuple[Path, dict[str, str]]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project, and its runs by name. Not to be changed."""
    folder = tmp_path_factory.mktemp("project")
    return folder, make_case_project(folder)


@pytest.fixture(scope="module")
def asked(project: Project) -> Iterator[TestClient]:
    folder, _ = project
    context = ServerContext(root=folder, store_url=folder / ".proctor" / "store.sqlite3")
    with working_in(folder), TestClient(create_app(context), base_url="http://127.0.0.1:8000") as client:
        yield client


def get(asked: TestClient, path: str) -> Any:
    answer = asked.get(f"/api{path}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def show(project: Project, run: str, case: str, *more: str) -> list[str]:
    """The lines of `proctor show RUN CASE`."""
    folder, runs = project
    with working_in(folder):
        return in_this_process("show", runs[run], case, *more).stdout.splitlines()


def every_trial(
    project: Project, asked: TestClient, run: str
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    run_id = project[1][run]
    for position in range(get(asked, f"/runs/{run_id}/cases")["total"]):
        case = get(asked, f"/runs/{run_id}/cases/{position}")
        for trial in case["trials"]:
            yield case, get(asked, f"/runs/{run_id}/cases/{position}/trials/{trial['number']}")


# --- a trial is what `proctor show` shows --------------------------------------------------------------------------

SIGNS = {"same": "=", "differs": "#", "missing": "-", "extra": "+", "moved": "~"}


def marked(side: dict[str, Any], before: str, after: str) -> str:
    assert side["left_out"] == 0
    return "".join(
        f"{before}{one['text']}{after}" if one["changed"] else one["text"] for one in side["pieces"]
    )


def step_lines(step: dict[str, Any]) -> list[str]:
    """A step as the plain report writes it; of one that matches, or of which nothing is known, the call."""
    expected, actual = step["expected"], step["actual"]
    if step["kind"] == "differs":
        return [f"# expected {marked(expected, '[-', '-]')}", f"# actual   {marked(actual, '{+', '+}')}"]
    sign = SIGNS[step["kind"]] if step["kind"] else "="
    return [f"{sign} {marked(expected or actual, '', '')}"]


def reported_steps(lines: list[str], turn: int) -> list[str]:
    """The steps of a turn in the plain report: `call: …` is a call that no metric read."""
    found = []
    for line in lines:
        message = re.fullmatch(rf" +turn {turn}: ((?:[=#+~-]|call:) .*)", line)
        if message and not re.match(r"[=?-] (?:rubric|claim) ", message[1]):
            found.append(message[1].replace("call: ", "= ", 1))
    return found


@pytest.mark.slow
@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("run", RUNS)
def test_the_steps_of_every_turn_are_those_of_show(project: Project, asked: TestClient, run: str) -> None:
    seen = 0
    for case, trial in every_trial(project, asked, run):
        lines = show(project, run, case["eval_id"], "--trial", str(trial["number"] + 1))
        for turn in trial["turns"]:
            reported = reported_steps(lines, turn["index"] + 1)
            made = [clean(line) for step in turn["steps"] for line in step_lines(step)]
            if turn["failure"]:  # it stopped early: the page shows its expectations all the same
                made = [line for line in made if not line.startswith("- ")]
            failed = [score["name"] for score in turn["scores"] if score["outcome"] == "failed"]
            assert not Counter(made) - Counter(reported), (case["eval_id"], turn["index"])
            if len(failed) < 2:  # of a second metric that aligns the calls, the page has only the reason
                assert len(made) == len(reported), (case["eval_id"], turn["index"])
            seen += len(made)
    assert seen > 0 or run == "breaks"


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("run", RUNS)
def test_words_scores_and_reasons_are_those_of_show(project: Project, asked: TestClient, run: str) -> None:
    for case, trial in every_trial(project, asked, run):
        text = "\n".join(show(project, run, case["eval_id"], "--trial", str(trial["number"] + 1)))
        took = [duration(trial["seconds"])] if trial["seconds"] else []  # the page has its own units
        assert (
            "  ".join(["TRIAL", str(trial["number"] + 1), trial["outcome"], *took, *trial["facts"]]) in text
        )
        assert clean(trial["reason"]) in text
        for turn in trial["turns"]:
            message = clean(turn["user"]["text"]).strip()
            assert f"turn {turn['index'] + 1}: user: {message}".rstrip() in text
            deciding = [one for one in turn["scores"] if one["gate"] and one["score"] is not None]
            for one in deciding:
                assert f"{one['name']} {score_text(one['score'], one['threshold'])}" in text
        if trial["failure"]:
            assert clean(trial["failure"]["error"]) in text
            assert clean(trial["failure"]["place"]) in text
        for row in trial["state"]["rows"]:
            if row["kind"] not in (None, "same"):
                sides = [side["text"] if side else "not set" for side in (row["expected"], row["actual"])]
                assert f"state: {row['key']}: {sides[0]} -> {sides[1]}" in text


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_a_case_has_the_head_of_show(project: Project, asked: TestClient, run: str) -> None:
    run_id = project[1][run]
    for position in range(get(asked, f"/runs/{run_id}/cases")["total"]):
        page = get(asked, f"/runs/{run_id}/cases/{position}")
        lines = show(project, run, page["eval_id"])
        letters = "".join(one["outcome"][0].upper() for one in page["trials"])
        assert lines[0].startswith(
            f"CASE  {page['eval_set_id']}/{page['eval_id']}  {page['outcome']}  trials={letters}"
        )
        assert f"place={page['place']}" in lines[0]
        if page["reason"] and page["outcome"] != "passed":
            assert f"    reason: {clean(page['reason'])}" in lines
        metrics = {one["name"]: one["outcome"] for one in page["metrics"]}
        reported = dict(line.split("  ")[1:3] for line in lines if line.startswith("METRIC"))
        assert {name: outcome for name, outcome in metrics.items() if name in reported} == reported


# --- what a page states besides -------------------------------------------------------------------------------------------


def test_a_passed_trial_has_its_alignment_though_nothing_was_kept_of_it(
    project: Project, asked: TestClient
) -> None:
    run_id = project[1]["passes"]
    trial = get(asked, f"/runs/{run_id}/cases/0/trials/0")
    assert trial["outcome"] == "passed"
    steps = trial["turns"][1]["steps"]
    assert [step["kind"] for step in steps] == ["same", "same"]
    assert steps[1]["response"]["text"] == '{"confirmed": true}'
    assert trial["turns"][1]["answer"]["same"] is True
    assert [row["kind"] for row in trial["state"]["rows"] if row["expected"]] == ["same"]


def test_the_difference_of_a_text_and_of_a_state_is_marked(project: Project, asked: TestClient) -> None:
    trial = get(asked, f"/runs/{project[1]['fails']}/cases/0/trials/2")
    answer = trial["turns"][1]["answer"]
    changed = [
        [piece["text"] for piece in answer[side]["pieces"] if piece["changed"]]
        for side in ("expected", "actual")
    ]
    assert changed == [["2"], ["4"]]
    state = {row["key"]: row["kind"] for row in trial["state"]["rows"]}
    assert state == {"table.covers": "differs", "asked": None, "heard": None}, (
        "and what nothing is expected of"
    )
    assert trial["turns"][1]["differs"]
    assert not trial["turns"][0]["differs"]


def test_an_error_has_its_cause_and_the_whole_traceback(project: Project, asked: TestClient) -> None:
    trial = get(asked, f"/runs/{project[1]['breaks']}/cases/4/trials/0")
    cause = trial["turns"][0]["failure"]
    assert (cause["where"], cause["error"]) == ("agent", "RuntimeError: no answer to 'break'")
    assert cause["place"].startswith("moody.py:") or "/moody.py:" in cause["place"]
    assert cause["traceback"]["text"].startswith("Traceback")
    assert trial["failure"] == cause


def test_cases_know_their_neighbours_and_what_they_were(project: Project, asked: TestClient) -> None:
    run_id = project[1]["fails"]
    first, last = get(asked, f"/runs/{run_id}/cases/0"), get(asked, f"/runs/{run_id}/cases/7")
    assert (first["previous"], first["next"]["position"], last["next"]) == (None, 1, None)
    assert first["before"] is None, "the runs before are of another agent"
    folder, _ = project
    with working_in(folder):
        in_this_process("eval", "examples/travel/flawed.py", "examples/travel/bookings.evalset.json")
    again = get(asked, "/runs/latest/cases/0")
    assert (again["before"]["run_id"], again["before"]["outcome"], again["before"]["position"]) == (
        run_id,
        "failed",
        0,
    )


def test_a_case_is_shown_as_each_scoring_has_it(project: Project, asked: TestClient, tmp_path: Path) -> None:
    config = tmp_path / "lenient.json"
    config.write_text('{"criteria": {"response_match_score": 0.1}}')
    folder, runs = project
    with working_in(folder):
        assert in_this_process("score", runs["passes"], "--config", str(config)).returncode == 0
    now, before = (get(asked, f"/runs/{runs['passes']}/cases/0{query}") for query in ("", "?judging=1"))
    assert [one["number"] for one in now["history"]] == [1, 2]
    assert (now["judging"], before["judging"]) == (2, 1)
    assert "tool_trajectory_avg_score" in {one["name"] for one in before["metrics"]}
    assert "tool_trajectory_avg_score" not in {one["name"] for one in now["metrics"]}
    assert "--scoring 1" in before["command"]
    assert asked.get(f"/api/runs/{runs['passes']}/cases/0?judging=9").status_code == 404


def test_a_played_conversation_shows_who_played_and_by_which_plan(
    project: Project, asked: TestClient
) -> None:
    run_id = project[1]["played"]
    case, trial = get(asked, f"/runs/{run_id}/cases/0"), get(asked, f"/runs/{run_id}/cases/0/trials/0")
    assert [one["label"] for one in case["scenario"]][:2] == ["start", "plan"]
    assert (trial["played"]["simulator"], trial["played"]["model"]) == ("function", "customer")
    assert trial["played"]["ended"] == "by the user"
    assert all(step["kind"] is None for turn in trial["turns"] for step in turn["steps"])


MISSING = {
    "a run": "/runs/nothing/cases/0",
    "a case": "/runs/latest/cases/99",
    "a trial": "/runs/latest/cases/0/trials/9",
    "spans of a trial": "/runs/latest/cases/0/trials/9/spans",
    "judges of a trial": "/runs/latest/cases/0/trials/9/judges",
    "a prompt": "/runs/latest/cases/0/trials/0/judges/unknown/prompt",
}


@pytest.mark.parametrize("path", MISSING.values(), ids=MISSING)
def test_what_is_not_there_is_reported(asked: TestClient, path: str) -> None:
    answer = asked.get(f"/api{path}")
    assert answer.status_code == 404
    assert len(answer.json()["detail"]) > 10


@pytest.mark.parametrize("position", ["-1", "x", "99999999999", "0.5"])
def test_a_position_is_a_number(asked: TestClient, position: str) -> None:
    assert asked.get(f"/api/runs/latest/cases/{position}").status_code == 422


def test_the_whole_evidence_can_be_had(project: Project, asked: TestClient) -> None:
    answer = asked.get(f"/api/runs/{project[1]['fails']}/cases/0/trials/1/evidence")
    assert answer.headers["content-disposition"].startswith("attachment")
    kept = json.loads(answer.content)
    assert (kept["eval_id"], kept["number"], len(kept["turns"])) == ("two_turn_booking", 1, 2)
