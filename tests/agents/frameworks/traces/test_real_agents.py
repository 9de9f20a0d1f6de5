"""Real frameworks, the real SDK, its real exporter: what arrives is scored as the run itself was."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

import proctor
from proctor.authoring.record import eval_set_of
from proctor.files.traces.conversations import read_conversations
from proctor.runs.traces.receiver import TraceReceiver

HERE = Path(__file__).resolve().parents[1]
SET, CONFIG = HERE / "toy.evalset.json", HERE / "test_config.json"
CONTENTS = {
    "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY",
}
OLD_ADK = {"ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN": "1"}

pytestmark = pytest.mark.filterwarnings("ignore")  # the frameworks warn about themselves


class NamesTheCase(SpanProcessor):
    """Put the id of the running case onto every span, as a project's own tests do for equal users."""

    def __init__(self) -> None:
        self.case = ""

    def begin(self, case: proctor.EvalCase) -> None:
        self.case = case.eval_id

    def on_start(self, span: Span, parent_context: Any = None) -> None:
        if self.case:
            span.set_attribute("proctor.eval_id", self.case)


CASE = NamesTheCase()


@pytest.fixture(scope="module")
def named(provider: TracerProvider) -> TracerProvider:
    """The provider, with the id of the case on every span."""
    provider.add_span_processor(CASE)
    return provider


def traced(provider: TracerProvider, toy: str, file: Path) -> proctor.RunResult:
    """Run the toy agent of a framework, its spans sent over HTTP into a file; returns the run itself."""
    agent = import_module(f"tests.agents.frameworks.toys.{toy}").root_agent
    with TraceReceiver(file, "127.0.0.1:0") as receiver:
        exporter = OTLPSpanExporter(f"{receiver.url}/v1/traces", compression=Compression.Gzip)
        processor = BatchSpanProcessor(exporter)
        provider.add_span_processor(processor)
        try:
            run = proctor.evaluate_sync(agent, SET, config=CONFIG, concurrency=1, setup=CASE.begin)
        finally:
            CASE.case = ""
            processor.force_flush()
            processor.shutdown()
        assert run.outcome is proctor.Outcome.FAILED  # by the case that must
        assert receiver.received.spans > 0
        assert receiver.received.refused == 0
    return run


def compared_cases(run: proctor.RunResult) -> dict[str, Any]:
    """What is compared: by case the verdict, the scores that decide, calls, answers, tokens."""
    return {case.eval_id: _compared_case(case) for case in run.cases}


def _compared_case(case: proctor.CaseResult) -> dict[str, Any]:
    trial = case.trials[0].trial
    assert trial is not None
    found: dict[str, Any] = {"outcome": case.outcome}
    if trial.failure is not None:
        return {**found, "failure": (trial.failure.where, trial.failure.kind, trial.failure.turn)}
    decide = ("tool_trajectory_avg_score", "response_match_score", "token_usage_v1", "tool_call_count_v1")
    turns = trial.invocations
    return {
        **found,
        "scores": {name: case.metrics[name].score for name in decide},
        "calls": [[(call.name, call.args) for call in turn.tool_calls] for turn in turns],
        "answers": [turn.final_response and turn.final_response.joined_text() for turn in turns],
        "authors": {event.author for turn in trial.turns for event in turn.events},
        "responses": [
            [one.response for one in turn.tool_responses if one.name != "transfer_to_agent"] for turn in turns
        ],
    }


@pytest.mark.parametrize(
    ("toy", "variables"),
    [
        pytest.param("google_adk", CONTENTS, id="google-adk"),
        pytest.param("google_adk", OLD_ADK, id="google-adk, as it traced before it followed the conventions"),
        pytest.param("with_pydantic_ai", {}, id="pydantic-ai"),
    ],
)
def test_a_trace_scores_as_the_run_did(
    toy: str,
    variables: dict[str, str],
    named: TracerProvider,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    file = tmp_path / "traces.jsonl"
    run = traced(named, toy, file)
    scored = proctor.score_trace_sync(file, SET, config=CONFIG)
    assert compared_cases(scored) == compared_cases(run)
    assert scored.outcome is run.outcome
    assert scored.warnings == []


def test_where_contents_are_not_captured_nothing_passes(
    named: TracerProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "NO_CONTENT")
    file = tmp_path / "traces.jsonl"
    traced(named, "google_adk", file)
    scored = proctor.score_trace_sync(file, SET, config=CONFIG)
    assert scored.outcome is proctor.Outcome.ERROR
    assert {case.outcome for case in scored.cases} == {proctor.Outcome.ERROR}


def test_what_was_traced_becomes_a_set_that_its_own_trace_passes(
    named: TracerProvider, tmp_path: Path
) -> None:
    file = tmp_path / "traces.jsonl"
    traced(named, "with_pydantic_ai", file)
    made, left = eval_set_of(file)
    assert len(made.eval_cases) + len(left) == len(read_conversations([file]).conversations)
    assert proctor.score_trace_sync(file, made, config=CONFIG).counts[proctor.Outcome.PASSED] == len(
        made.eval_cases
    )
