"""What a file carries next to its runs is what the server answers to the same path: comparisons, the matrix, history, judges."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import proctor
from proctor.models.scripted import ScriptedModel
from proctor.runs.storage.open import open_store
from proctor.schema.analysis.calibration import HumanLabel
from proctor.web.pages.bundle import store_pages
from proctor.web.pages.bundle.single_file import json_pieces
from proctor.web.pages.bundle.store_pages import StoreExtras, api_path
from proctor.web.server.context import ServerContext

ODD = "a/b #1 100% ?x=1&y=2 (!'*~) </script> ünï"
RUBRIC = {"rubric_id": "polite", "rubric_content": {"text_property": "It is polite."}}
CONFIG = {
    "criteria": {
        "response_match_score": 0.8,
        "rubric_based_final_response_quality_v1": {"threshold": 0.5, "rubrics": [RUBRIC]},
    }
}
Ran = Callable[..., str]


def judge(name: str) -> ScriptedModel:
    """Finds everything right."""
    message = {"verdicts": [{"number": 1, "evidence": "", "rationale": "it is", "verdict": "yes"}]}
    return ScriptedModel(message, name=name)


def eval_set(name: str) -> dict[str, Any]:
    cases = [
        {
            "eval_id": eval_id,
            "tags": ["odd"] if eval_id == ODD else [],
            "conversation": [
                {
                    "user_content": {"parts": [{"text": eval_id}]},
                    "final_response": {"parts": [{"text": f"You wrote {eval_id}"}]},
                }
            ],
        }
        for eval_id in ("a", "b", "c", ODD)
    ]
    return {"eval_set_id": name, "eval_cases": cases}


@pytest.fixture
def ran(context: ServerContext) -> Ran:
    def run(*wrong: str, name: str = "words & <b>") -> str:
        result = proctor.evaluate_sync(
            lambda text: "Pardon?" if text in wrong else f"You wrote {text}",
            eval_set(name),
            config=CONFIG,
            judge=judge("one"),
            num_runs=2,
            store=context.store_url,
        )
        return result.run_id

    return run


def carried(context: ServerContext, *runs: str) -> dict[str, Any]:
    store = open_store(context.store_url)
    try:
        pages = StoreExtras(store).related_pages(runs)
        return {path: json.loads("".join(json_pieces(page))) for path, page in pages}
    finally:
        store.close()


@pytest.mark.slow
@pytest.mark.parametrize("last", [1, 2, 3], ids=["one run", "two runs", "three runs"])
def test_every_page_is_as_the_server_has_it(
    ran: Ran, context: ServerContext, client: TestClient, last: int
) -> None:
    runs = [ran(), ran("a", ODD), ran("a"), ran("b", ODD)]
    found = carried(context, *runs[-last:])
    screens = {path.partition("?")[0] for path in found}
    assert {"/api/compare", "/api/compare/case", "/api/history", "/api/judges"} <= screens
    assert ("/api/matrix" in screens) == (last > 1)
    for path, page in found.items():
        answer = client.get(path)
        assert answer.status_code == 200, (path, answer.text)
        assert answer.json() == page, path
    ids = {
        page["cases"][0]["eval_id"]
        for path, page in found.items()
        if "/history?" in path and "&case=" in path
    }
    assert ids == {"a", "b", "c", ODD}
    assert found[f"/api/runs/{runs[-1]}/case-extras"]["tags"] == {"odd": [3]}
    assert len(found[f"/api/runs/{runs[-1]}/cause-trend?judging=1"]["runs"]) == 4


def test_the_history_of_a_set_that_cannot_be_read_any_more(
    context: ServerContext, client: TestClient, tmp_path: Path
) -> None:
    file = tmp_path / "words.evalset.json"
    config = {"criteria": {"response_match_score": 0.8}}
    for text in (json.dumps(eval_set("words")), "{"):
        file.write_text(text)
        proctor.evaluate_sync(
            lambda text: text, file, config=config, keep_going=True, store=context.store_url
        )
    run = proctor.load_run("latest", context.store_url)
    found = {path: page for path, page in carried(context, run.run_id).items() if "/history?" in path}
    assert sum(path.startswith("/api/history?set=words&case=") for path in found) == 4
    assert {api_path("/api/history", set=name) for name in ("words", str(file))} < found.keys()
    for path, page in found.items():
        assert client.get(path).json() == page, path
        if "case=" not in path:
            assert page["unread"], path
            assert len(page["cases"]) == 4


def test_only_judges_of_these_runs_are_reported(ran: Ran, context: ServerContext) -> None:
    ours = ran()
    proctor.evaluate_sync(
        lambda text: text,
        eval_set("others"),
        config=CONFIG,
        judge=judge("two"),
        store=context.store_url,
    )
    store = open_store(context.store_url)
    wanted = store.summary(ours).judged_by
    store.close()
    reported = carried(context, ours)["/api/judges"]["items"]
    assert [(one["metric"], one["model"]) for one in reported] == [(one.metric, one.model) for one in wanted]


@pytest.mark.slow
def test_only_sets_of_these_runs_are_looked_back_at(ran: Ran, context: ServerContext) -> None:
    ran(name="other")
    reported = [path for path in carried(context, ran("a")) if "history" in path]
    assert reported
    assert all("set=words" in path for path in reported)


def test_a_first_run_has_nothing_to_be_compared_with(ran: Ran, context: ServerContext) -> None:
    assert not [path for path in carried(context, ran()) if "compare" in path or "matrix" in path]


@pytest.mark.slow
def test_runs_without_a_case_in_common_are_not_compared(ran: Ran, context: ServerContext) -> None:
    found = carried(context, ran(), ran(name="other"))
    assert not [path for path in found if "compare" in path]
    assert [path for path in found if "matrix" in path]


@pytest.mark.slow
def test_what_is_much_is_left_out_from_its_end(
    ran: Ran, context: ServerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    latest = [ran(*wrong) for wrong in ((), ("b",), (), ("b", "c"))][-1]
    monkeypatch.setattr(store_pages, "MOST_VERDICTS", 12)
    monkeypatch.setattr(store_pages, "MOST_READ", 7)
    monkeypatch.setattr(store_pages, "MOST_PAIRS", 1)
    found = carried(context, latest)
    every = found["/api/history?set=words%20%26%20%3Cb%3E"]
    assert (len(every["runs"]), every["older"]) == (3, 1)
    alone = [
        page["cases"][0]["eval_id"] for path, page in found.items() if "&case=" in path and "history" in path
    ]
    assert alone == [one["eval_id"] for one in every["cases"][:2]]
    pairs = [page for path, page in found.items() if "/compare/case?" in path]
    changed = next(page for path, page in found.items() if "/compare?" in path)["cases"]
    assert [page["name"] for page in pairs] == [
        f"{one['eval_set_id']}/{one['eval_id']}" for one in changed[:1]
    ]


def test_what_people_labelled_is_reported_with_the_judge(ran: Ran, context: ServerContext) -> None:
    run = ran()
    label = HumanLabel(
        eval_id="b",
        trial=0,
        passes=False,
        note="rude </script>",
        metric="rubric_based_final_response_quality_v1",
    )
    proctor.label_run(run, [label], store=context.store_url)
    store = open_store(context.store_url)
    (reported,) = StoreExtras(store).labels(run)
    store.close()
    assert (reported.passes, reported.note) == (False, "rude </script>")
