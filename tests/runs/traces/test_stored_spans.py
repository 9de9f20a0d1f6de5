"""The spans of a trace stay with the trial: through the store, JSON Lines and back, and onto the page."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.reports.base import load_report
from proctor.runs.importing.import_runs import import_run
from proctor.runs.storage.open import open_store
from proctor.schema.evidence.turn import Span, SpanKind, TurnTrace
from proctor.web.pages.built_page import FOLDER
from proctor.web.pages.case.load_case import CaseLoader
from tests.runs.traces.otlp import Json, agent, chat, model, one_turn, request, span, tool, written
from tests.runs.traces.test_score import EXACT, a_set, case
from tests.web.pages.single_file import Read, make_page


def looked(*more: Json, trace: str = "a1", at: float = 0) -> Json:
    """A turn with two model calls, a tool, and a step around the tool."""
    return agent(
        "root",
        chat("hi", [model(("c1", "look", {"at": "hi"}))], at=at, took=0.5),
        span("retry", {"http.response.status_code": 200}, tool("look", {"at": "hi"}, {"seen": 1}, call="c1", at=at + 1), at=at + 1),
        chat("hi", "Seen.", at=at + 2),
        *more, trace=trace, at=at, took=4,
    )  # fmt: skip


def kept(tmp_path: Path, *spans: Json) -> list[Span]:
    return list(one_turn(tmp_path, *spans).spans())


def test_each_span_has_its_kind_and_parent(tmp_path: Path) -> None:
    spans = kept(tmp_path, looked())
    names = {one.id: one.name for one in spans}
    assert [(one.name, one.kind, names.get(one.parent_id or ""), one.duration) for one in spans] == [
        ("invoke_agent root", SpanKind.AGENT, None, 4.0),
        ("chat m-1", SpanKind.MODEL, "invoke_agent root", 0.5),
        ("retry", SpanKind.STEP, "invoke_agent root", 1.0),
        ("execute_tool look", SpanKind.TOOL, "retry", 1.0),
        ("chat m-1", SpanKind.MODEL, "invoke_agent root", 1.0),
    ]
    asked, executed = spans[1], spans[3]
    assert json.loads(asked.request or "") == {"messages": [{"role": "user", "parts": [{"text": "hi"}]}]}
    assert json.loads(asked.response or "")[0]["parts"][0]["function_call"]["name"] == "look"
    assert (asked.input_tokens, asked.output_tokens, asked.agent) == (10, 5, "root")
    assert (executed.call_id, executed.request, executed.response) == ("c1", '{"at": "hi"}', '{"seen": 1}')
    assert not {"gen_ai.input.messages", "gen_ai.tool.call.arguments"} & {
        *asked.attributes,
        *executed.attributes,
    }


CONTENTS: list[Any] = [
    pytest.param({"gcp.vertex.agent.llm_request": '{"model": "m", "contents": []}', "gcp.vertex.agent.llm_response": '{"x": 1}'},
                 '{"model": "m", "contents": []}', '{"x": 1}', id="google-adk's whole request"),
    pytest.param({"gcp.vertex.agent.llm_request": "{}", "gcp.vertex.agent.llm_response": "{}"}, "{}", "{}", id="google-adk, not captured"),
    pytest.param({"gen_ai.input.messages": '[{"role": "us', "gen_ai.output.messages": '[{"ro'}, '[{"role": "us', '[{"ro', id="cut on the way"),
    pytest.param({"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "hi",
                  "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "Yes."},
                 '{"messages": [{"role": "user", "parts": [{"text": "hi"}]}]}', '[{"role": "model", "parts": [{"text": "Yes."}]}]', id="in pieces"),
    pytest.param({"gen_ai.system_instructions": '[{"type": "text", "content": "Be kind."}]'}, '{"instructions": "Be kind."}', None, id="instructions alone"),
    pytest.param({}, None, None, id="nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("extra", "asked", "answered"), CONTENTS)
def test_request_and_response_of_every_spelling(
    extra: dict[str, str], asked: str | None, answered: str | None, tmp_path: Path
) -> None:
    one = kept(tmp_path, agent("root", chat(None, None, extra=extra)))[1]
    assert (one.request, one.response) == (asked, answered)


def test_error_is_reported(tmp_path: Path) -> None:
    raised = {"exception.type": "TimeoutError", "exception.message": "no answer of 10.0.0.1"}
    failed = chat("hi", None, error="x", events=[("exception", raised)])
    assert kept(tmp_path, agent("root", failed))[1].error == "TimeoutError: no answer of 10.0.0.1"


@pytest.fixture
def stored(tmp_path: Path) -> tuple[Path, proctor.RunResult]:
    """A run of one conversation of two turns, in a store."""
    named = {"gen_ai.conversation.id": "c"}
    first, second = looked(), looked(trace="a2", at=10)
    for one in (first, second):
        one["attributes"] += [{"key": key, "value": {"stringValue": value}} for key, value in named.items()]
    file = written(tmp_path / "t.jsonl", request(first, second))
    expected = case("c", "hi", "Seen.")
    expected["conversation"] *= 2
    run = proctor.score_trace_sync(
        file, a_set(expected), config=EXACT, store=f"sqlite:///{tmp_path}/s.sqlite3"
    )
    assert run.passed
    return tmp_path / "s.sqlite3", run


def traces_of(run: proctor.RunResult) -> list[TurnTrace | None]:
    trial = run.cases[0].trials[0].trial
    assert trial is not None
    return [turn.trace for turn in trial.turns]


def test_a_store_has_them_turn_by_turn(stored: tuple[Path, proctor.RunResult]) -> None:
    path, _ = stored
    with_spans = traces_of(proctor.load_run(str(path) and "latest", store=f"sqlite:///{path}"))
    assert [len(trace.spans) if trace else 0 for trace in with_spans] == [5, 5]
    assert {one.trace_id for one in (with_spans[1] or TurnTrace()).spans} == {"a2"}


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_exported_and_imported_nothing_is_lost(
    stored: tuple[Path, proctor.RunResult], form: str, tmp_path: Path
) -> None:
    path, _ = stored
    run = proctor.load_run("latest", store=f"sqlite:///{path}")
    with (tmp_path / f"out.{form}").open("w", encoding="utf-8") as out:
        load_report(form).write([run], out)
    again = f"sqlite:///{tmp_path}/again.sqlite3"
    import_run(tmp_path / f"out.{form}", again)
    assert traces_of(proctor.load_run("latest", store=again)) == traces_of(run)
    assert traces_of(run)[0] is not None


def test_the_report_in_one_file_shows_them(
    stored: tuple[Path, proctor.RunResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(make_page(tmp_path / "page")))
    run = proctor.load_run("latest", store=f"sqlite:///{stored[0]}")
    out = io.StringIO()
    load_report("html").write([run], out)
    page = Read(out.getvalue()).get(f"/api/runs/{run.run_id}/cases/0/trials/0/spans")
    assert [one["name"] for one in page["spans"]][:3] == ["turn 1", "invoke_agent root", "chat m-1"]
    assert "look" in page["spans"][2]["response"]["text"]


def test_the_page_leads_from_a_span_to_its_call(stored: tuple[Path, proctor.RunResult]) -> None:
    store = open_store(f"sqlite:///{stored[0]}")
    try:
        page = CaseLoader(store, "latest", 0).spans(0)
    finally:
        store.close()
    assert page.note == "Turns contain their traced spans with measured times."
    assert [(one.turn, one.depth, one.kind, one.call) for one in page.spans[:6]] == [
        (0, 0, "turn", None),
        (0, 1, "agent", None),
        (0, 2, "model", 0),
        (0, 2, "step", None),
        (0, 3, "tool", 0),
        (0, 2, "model", None),
    ]
    assert [round(one.start or 0.0, 3) for one in page.spans] == [0, 0, 0, 1, 1, 2, 10, 10, 10, 11, 11, 12]
    assert {one.timing for one in page.spans} == {"clock", "span"}
