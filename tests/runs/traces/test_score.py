"""`proctor score-trace` and its Python twin: a whole run over traces, and nothing passes by accident."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import proctor
from proctor.authoring.record import eval_set_of
from proctor.cli.main import cli
from proctor.runs.storage.open import open_store
from tests.runs.traces.otlp import Json, agent, chat, model, request, tool, user, written

EXACT = {"criteria": {"tool_trajectory_avg_score": 1.0, "exact_match": 1.0}}


def answer(
    text: str, reply: str, *, extra: dict[str, Any] | None = None, trace: str = "a1", at: float = 0
) -> Json:
    """Return one turn of an agent that calls a tool, and answers."""
    return agent(
        "root",
        chat(text, [model(("c1", "look", {"at": text}))], at=at),
        tool("look", {"at": text}, {"seen": 1}, call="c1", at=at + 1),
        chat(text, reply, at=at + 2),
        extra=extra,
        trace=trace,
        at=at,
    )


def case(eval_id: str, text: str, reply: str, **more: Any) -> Json:
    """A case of one turn that expects what `answer` does."""
    turn = {
        "user_content": {"role": "user", "parts": [{"text": text}]},
        "final_response": {"role": "model", "parts": [{"text": reply}]},
        "intermediate_data": {"tool_uses": [{"name": "look", "args": {"at": text}}]},
    }
    return {"eval_id": eval_id, "conversation": [turn], **more}


def a_set(*cases: Json) -> Json:
    return {"eval_set_id": "s", "eval_cases": list(cases)}


def outcomes(run: proctor.RunResult) -> dict[str, str]:
    return {one.eval_id: one.outcome.value for one in run.cases}


def scored(file: Path, *cases: Json, config: Any = EXACT) -> proctor.RunResult:
    return proctor.score_trace_sync(file, a_set(*cases), config=config)


# --- which conversation is which case -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("extra", "more"),
    [
        pytest.param({"proctor.eval_id": "x"}, {}, id="the span names the case"),
        pytest.param({"test.case.name": "x"}, {}, id="the span names the test case"),
        pytest.param({"gen_ai.conversation.id": "x"}, {}, id="the conversation has the case's id"),
        pytest.param(
            {"gen_ai.conversation.id": "pinned"},
            {"session_input": {"app_name": "a", "user_id": "u", "session_id": "pinned"}},
            id="the conversation has the case's session",
        ),
    ],
)
def test_a_case_is_found_by_id(extra: Json, more: Json, tmp_path: Path) -> None:
    file = written(tmp_path / "t.jsonl", request(answer("hi", "Hello.", extra=extra)))
    run = scored(file, case("x", "hi", "Hello.", **more), case("y", "hi", "Hello."))
    assert outcomes(run) == {"x": "passed", "y": "error"}


def test_case_is_found_by_the_messages_of_the_user(tmp_path: Path) -> None:
    file = written(
        tmp_path / "t.jsonl", request(answer("ho", "B", trace="t2"), answer("hi", "A", trace="t1"))
    )
    run = scored(file, case("x", "hi", "A"), case("y", "  ho ", "B"))
    assert outcomes(run) == {"x": "passed", "y": "failed"}  # `y` compares something else
    assert run.warnings == []


def test_a_case_without_a_conversation_is_an_error(tmp_path: Path) -> None:
    run = scored(
        written(tmp_path / "t.jsonl", request(answer("hi", "A"))),
        case("x", "hi", "A"),
        case("z", "never", "B"),
    )
    assert outcomes(run) == {"x": "passed", "z": "error"}
    assert run.outcome is proctor.Outcome.ERROR
    assert "none of the conversations in the traces belongs to this case" in run.cases[1].reason


def test_conversation_without_a_case_is_reported(tmp_path: Path) -> None:
    file = written(tmp_path / "t.jsonl", request(answer("hi", "A"), answer("who?", "B", trace="t2", at=9)))
    run = scored(file, case("x", "hi", "A"))
    assert run.passed
    assert run.warnings == [
        f"{file}:1: the conversation 't2' belongs to no case: no case has its id or the same user messages"
    ]


def test_ambiguous_conversation_is_not_guessed(tmp_path: Path) -> None:
    run = scored(
        written(tmp_path / "t.jsonl", request(answer("hi", "A"))), case("x", "hi", "A"), case("y", "hi", "A")
    )
    assert outcomes(run) == {"x": "error", "y": "error"}
    assert "it could be x, y; the attribute proctor.eval_id on a span names it" in run.warnings[0]
    assert "1 could, and as well to another case" in run.cases[0].reason


def test_each_of_several_conversations_of_a_case_is_judged(tmp_path: Path) -> None:
    spans = [answer("hi", text, trace=f"t{at}", at=at) for at, text in enumerate(("A", "other", "A"))]
    store = f"sqlite:///{tmp_path / 'runs.sqlite3'}"
    file = written(tmp_path / "t.jsonl", request(*spans))
    run = proctor.score_trace_sync(file, a_set(case("x", "hi", "A")), config=EXACT, store=store)
    assert outcomes(run) == {"x": "passed", "x#2": "failed", "x#3": "passed"}
    assert outcomes(
        proctor.rescore_sync(run, store=store, config={"criteria": {"exact_match": 0.0001}})
    ) == outcomes(run)


def test_a_conversation_of_another_length_than_its_case_is_an_error(tmp_path: Path) -> None:
    named = {"gen_ai.conversation.id": "x"}
    spans = answer("hi", "A", extra=named), answer("more", "B", extra=named, trace="t2", at=9)
    run = scored(written(tmp_path / "t.jsonl", request(*spans)), case("x", "hi", "A"))
    assert outcomes(run) == {"x": "error"}
    assert "the case has 1 turn(s), and the conversation in the trace 2" in run.cases[0].reason


def test_different_user_message_is_reported(tmp_path: Path) -> None:
    file = written(tmp_path / "t.jsonl", request(answer("hi", "A", extra={"gen_ai.conversation.id": "x"})))
    run = scored(file, case("x", "hello", "A"))
    assert run.warnings == ["case x: in turn 1 the user's message in the trace differs from the case"]
    assert outcomes(run) == {"x": "failed"}


def test_a_case_that_is_named_and_not_there_is_not_looked_for_by_words(tmp_path: Path) -> None:
    file = written(
        tmp_path / "t.jsonl", request(answer("hi", "A", extra={"proctor.eval_id": "of another set"}))
    )
    run = scored(file, case("x", "hi", "A"))
    assert outcomes(run) == {"x": "error"}
    assert (
        "its spans name the case 'of another set' (proctor.eval_id), which does not exist" in run.warnings[0]
    )


def test_a_name_that_a_test_framework_gave_is_one_way_of_several(tmp_path: Path) -> None:
    file = written(tmp_path / "t.jsonl", request(answer("hi", "A", extra={"test.case.name": "test_all"})))
    assert outcomes(scored(file, case("x", "hi", "A"))) == {"x": "passed"}


def test_cases_of_one_session_are_distinguished_by_their_names(tmp_path: Path) -> None:
    turns = (("x", "hi", "A"), ("y", "ho", "B"), ("x", "hi", "C"))
    spans = [
        answer(text, back, extra={"proctor.eval_id": name, "session.id": "tests"}, trace=f"t{at}", at=at * 9)
        for at, (name, text, back) in enumerate(turns)
    ]
    two_turns = {
        **case("x", "hi", "A"),
        "conversation": [*case("", "hi", "A")["conversation"], *case("", "hi", "C")["conversation"]],
    }
    run = scored(written(tmp_path / "t.jsonl", request(*spans)), two_turns, case("y", "ho", "B"))
    assert outcomes(run) == {"x": "passed", "y": "passed"}
    assert run.warnings == []


def test_same_start_of_a_conversation_is_not_a_match(tmp_path: Path) -> None:
    turns = [
        case("", text, reply)["conversation"][0] for text, reply in (("hi", "A"), ("and in Bergen?", "B"))
    ]
    named = {"gen_ai.conversation.id": "c"}
    spans = [answer("hi", "A", extra=named), answer("thanks", "B", extra=named, trace="a2", at=9)]
    run = scored(
        written(tmp_path / "t.jsonl", request(*spans)),
        {"eval_id": "x", "conversation": turns},
        config={"criteria": {"exact_match": 1.0}},
    )
    assert outcomes(run) == {"x": "error"}
    assert "it only begins as x, and the user's later messages differ" in run.warnings[0]


# --- verdicts -----------------------------------------------------------------------------------------------------------


def test_a_wrong_call_fails(tmp_path: Path) -> None:
    run = scored(written(tmp_path / "t.jsonl", request(answer("hi", "A"))), case("x", "hi", "B"))
    assert outcomes(run) == {"x": "failed"}
    assert run.exit_code == 1


def test_expected_final_state_cannot_be_checked(tmp_path: Path) -> None:
    expecting = case("x", "hi", "A", final_session_state={"done": True})
    assert outcomes(scored(written(tmp_path / "t.jsonl", request(answer("hi", "A"))), expecting)) == {
        "x": "error"
    }


def test_without_a_set_rules_judge_each_conversation(tmp_path: Path) -> None:
    file = written(
        tmp_path / "t.jsonl",
        request(
            answer("hi", "A"),
            agent("root", chat("ho", "B"), extra={"gen_ai.conversation.id": "s/1:2"}, trace="t2", at=9),
        ),
    )
    rules = {"criteria": {"trajectory_rules": {"threshold": 1.0, "rules": [{"never": "look"}]}}}
    assert outcomes(proctor.score_trace_sync(file, config=rules)) == {"a1": "failed", "s_1_2": "passed"}


@pytest.mark.parametrize("config", [None, EXACT, {"criteria": {"final_session_state": 1.0}}])
def test_without_a_set_nothing_is_compared(config: Any, tmp_path: Path) -> None:
    file = written(tmp_path / "t.jsonl", request(answer("hi", "A")))
    with pytest.raises(
        proctor.SetupProblems,
        match=r"and none is given: give --set|states no final session state|nothing decides it",
    ):
        proctor.score_trace_sync(file, config=config)


def test_judge_reads_the_content_of_the_trace(tmp_path: Path) -> None:
    asked: list[str] = []

    def judge(messages: Any) -> str:
        asked.append(str(messages))
        return "no verdict"

    file = written(tmp_path / "t.jsonl", request(answer("hi there", "Hello.")))
    run = proctor.score_trace_sync(file, config={"criteria": {"safety_v1": 1.0}}, judge=judge)
    assert outcomes(run) == {"a1": "error"}
    assert "hi there" in asked[0]
    assert "Hello." in asked[0]


def test_the_run_is_kept_whole(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'runs.sqlite3'}"
    file = written(tmp_path / "t.jsonl", request(answer("hi", "A"), resource={"service.name": "shop"}))
    run = proctor.score_trace_sync(file, a_set(case("x", "hi", "A")), config=EXACT, store=store)
    kept = open_store(store)
    manifest = kept.manifest(run.run_id)
    assert (manifest.agent.label, manifest.options["imported"]) == (
        "trace:t.jsonl",
        {"file": str(file), "form": "trace"},
    )
    trial = kept.load(run.run_id).cases[0].trials[0].trial
    assert trial is not None
    assert (trial.session_id, trial.app_name, trial.started_at) == ("a1", "shop", 1_700_000_000.0)
    assert [turn.duration for turn in trial.turns] == [1.0]
    kept.close()


def test_without_a_store_it_is_kept_nowhere(tmp_path: Path) -> None:
    run = scored(written(tmp_path / "t.jsonl", request(answer("hi", "A"))), case("x", "hi", "A"))
    assert run.run_id == ""
    assert run.cases[0].trials[0].trial is not None


def test_a_set_made_of_a_trace_passes_with_it(tmp_path: Path) -> None:
    file = written(
        tmp_path / "t.jsonl", request(answer("hi", "A"), agent("root", chat(None, None), trace="t2", at=9))
    )
    made, left = eval_set_of(file)
    (only,) = made.eval_cases
    assert [call.name for call in only.conversation[0].tool_calls] == ["look"]  # type: ignore[index]  # it has one
    assert [why.partition(":")[0] for why in left] == ["t2"]
    assert outcomes(proctor.score_trace_sync(file, made, config=EXACT)) == {"a1": "passed"}


# --- what is refused ----------------------------------------------------------------------------------------------------


def test_a_trace_without_agents_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "t.jsonl", request({**agent("x"), "attributes": []}))
    with pytest.raises(proctor.EvalFileError, match="no span of an agent, a model or a tool"):
        proctor.score_trace_sync(file)


def test_an_option_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(proctor.SetupProblems, match="there is no option 'num_runs'"):
        proctor.score_trace_sync(tmp_path / "t.jsonl", num_runs=2)  # type: ignore[call-arg]  # that is the point


# --- the command --------------------------------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "t.jsonl", request(answer("hi", "A")))
    for name, text in (("right", "A"), ("wrong", "B")):
        (tmp_path / f"{name}.evalset.json").write_text(
            json.dumps(a_set(case("x", "hi", text))), encoding="utf-8"
        )
    (tmp_path / "exact.json").write_text(json.dumps(EXACT), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["--set", "right.evalset.json"], 0, id="passed"),
        pytest.param(["--set", "wrong.evalset.json"], 1, id="failed"),
        pytest.param(["--set", "missing.json"], 2, id="a set that is not there"),
        pytest.param([], 2, id="nothing to compare with"),
        pytest.param(
            ["--set", "right.evalset.json:x", "--metrics", "exact_match"], 0, id="one case, one metric"
        ),
    ],
)
def test_exit_codes(arguments: list[str], code: int, here: Path) -> None:
    done = CliRunner().invoke(cli, ["score-trace", "t.jsonl", "--config", "exact.json", *arguments])
    assert done.exit_code == code, done.output


def test_a_trace_without_contents_ends_with_3(here: Path) -> None:
    written(here / "t.jsonl", request(agent("root", chat(None, None), extra={"gen_ai.conversation.id": "x"})))
    done = CliRunner().invoke(
        cli, ["score-trace", "t.jsonl", "--set", "right.evalset.json", "--config", "exact.json"]
    )
    assert done.exit_code == 3
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY" in done.output


def test_the_run_can_be_shown_and_judged_again(here: Path) -> None:
    invoke = CliRunner().invoke
    assert (
        invoke(
            cli, ["score-trace", "t.jsonl", "--set", "right.evalset.json", "--config", "exact.json"]
        ).exit_code
        == 0
    )
    assert "look" in invoke(cli, ["show", "latest", "x"]).output
    assert (
        invoke(cli, ["score", "latest", "--metrics", "exact_match", "--config", "exact.json"]).exit_code == 0
    )
    assert invoke(cli, ["resume", "latest"]).exit_code == 0


def test_reports_are_written(here: Path) -> None:
    arguments = [
        "t.jsonl",
        "--set",
        "right.evalset.json",
        "--config",
        "exact.json",
        "--report",
        "json=out.json",
    ]
    assert CliRunner().invoke(cli, ["score-trace", *arguments]).exit_code == 0
    assert json.loads((here / "out.json").read_text(encoding="utf-8"))["outcome"] == "passed"


def test_recording_a_trace_makes_cases(here: Path) -> None:
    done = CliRunner().invoke(
        cli, ["record", "--from-trace", "t.jsonl", "--into", "new.evalset.json", "--id", "greeting"]
    )
    assert (done.exit_code, done.output.splitlines()) == (
        0,
        [
            "new.evalset.json: 1 case added for review: greeting",
            "audit: catches 7 of 7 mutants (100 %, 95 % CI 65–100 %).",
        ],
    )
    assert CliRunner().invoke(cli, ["score-trace", "t.jsonl", "--set", "new.evalset.json"]).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["agent", "--from-trace", "t.jsonl"], "leave the agent", id="with an agent"),
        pytest.param(
            ["--from-trace", "two.jsonl", "--id", "x"], "--id names one case", id="one id for two cases"
        ),
        pytest.param(
            ["--from-trace", "none.jsonl"], "nothing was written", id="nothing that could be expected"
        ),
    ],
)
def test_recording_refuses(arguments: list[str], message: str, here: Path) -> None:
    written(here / "two.jsonl", request(answer("hi", "A"), answer("ho", "B", trace="t2", at=9)))
    written(here / "none.jsonl", request(agent("root", chat(None, None))))
    done = CliRunner().invoke(cli, ["record", *arguments, "--into", "new.evalset.json"])
    assert done.exit_code == 2
    assert message in done.output
    assert not (here / "new.evalset.json").exists()


def test_showing_a_trace(here: Path) -> None:
    done = CliRunner().invoke(cli, ["trace", "show", "t.jsonl"])
    assert done.output == ('trace a1\n  you> hi\n    root  look(at=hi)\n      -> {"seen": 1}\n    root> A\n')
    shown = json.loads(CliRunner().invoke(cli, ["trace", "show", "t.jsonl", "--json"]).output)
    assert [turn["user"] for turn in shown["conversations"][0]["turns"]] == ["hi"]


def test_what_is_shown_reaches_no_terminal_raw(here: Path) -> None:
    written(here / "t.jsonl", request(agent("ro\x1b[31mot", chat([user("hi\x07")], "A\x1b]0;x\x07"))))
    assert "\x1b" not in CliRunner().invoke(cli, ["trace", "show", "t.jsonl"]).output


def test_case_with_a_simulated_user_needs_no_simulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    scenario = {"eval_id": "x", "conversation_scenario": {"starting_prompt": "hi", "conversation_plan": "p"}}
    rules = {"criteria": {"trajectory_rules": {"threshold": 1.0, "rules": [{"never": "delete"}]}}}
    file = written(tmp_path / "t.jsonl", request(answer("hi", "A", extra={"proctor.eval_id": "x"})))
    assert outcomes(scored(file, scenario, config=rules)) == {"x": "passed"}
