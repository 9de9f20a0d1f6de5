"""Fault 40: CI servers and pull requests show no secret."""

import io

import pytest

import proctor
from proctor.reports.base import load_report
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import RunResult, SetSummary
from tests.reports.hostile_texts import everywhere
from tests.reports.sample_runs import E, F, P, case, metric, run, trial

PUBLIC = ["junit", "markdown", "github", "svg"]
CANARY = "c4n4ry-0f-the-m1ne"
SAID = [
    CANARY, f"key {CANARY} is wrong", f"https://user:{CANARY}@host/", f"https://host/?key={CANARY}", f"Authorization: Bearer {CANARY}",
    f"{{'x-goog-api-key': '{CANARY}'}}", f"api_key={CANARY}",
]  # fmt: skip
KNOWN = [
    "sk-proj-0123456789abcdefghij",
    "AIzaSyA0123456789012345678901234567",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
]


def written(name: str, *results: RunResult) -> str:
    out = io.StringIO()
    load_report(name).write(list(results), out)
    return out.getvalue()


def telling(text: str) -> RunResult:
    """A run with `text` in every place that an agent or a provider can fill."""
    failure = Failure(where="agent", type="AuthenticationError", message=text, traceback=text, turn=0)
    broke = case(
        "broke",
        E,
        metric("m", [None], 0.5, E),
        reason=failure.cause,
        trials=[trial(0, E, text, failure=failure)],
    )
    result = run(*everywhere(f" {text} ").cases[:1], broke, case("missed", F, reason=text))
    for one in result.cases:  # names are the project's own, and stay
        one.eval_set_id = one.eval_id = one.place = "x"
        for verdict in one.metrics.values():
            verdict.name = "m"
        one.metrics = dict(zip("mnop", one.metrics.values(), strict=False))
    flaky = case("flaky", P, trials=[trial(0, P), trial(1, F)])
    flaky.missed = text
    result.cases = [*result.cases, flaky]
    result.warnings = [text]
    result.sets = [SetSummary("torn", "t.json", "", 0, failure=failure)]
    result.failure = failure
    return result


@pytest.mark.parametrize("name", PUBLIC)
@pytest.mark.parametrize("text", SAID)
def test_a_key_of_the_environment_is_hidden(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE_API_KEY", CANARY)
    assert CANARY not in written(name, telling(text))


@pytest.mark.parametrize("name", PUBLIC)
@pytest.mark.parametrize("text", [*SAID[2:], *KNOWN])
def test_so_is_what_looks_like_one(name: str, text: str) -> None:
    shown = written(name, telling(text))
    assert CANARY not in shown
    assert all(key not in shown for key in KNOWN)


def test_what_an_agent_raises_is_recorded_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE_API_KEY", CANARY)

    def agent(message: str) -> str:
        raise PermissionError(f"401 for {CANARY} and https://u:{CANARY}@host")

    turn = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hi"}]}}
    eval_set = {"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [turn]}]}
    result = proctor.evaluate_sync(agent, eval_set, config={"criteria": {"response_match_score": 0.5}})
    assert result.cases[0].reason.startswith("agent raised in turn 1: PermissionError: 401 for ***")
    for name in ("json", "jsonl", "csv", "text", *PUBLIC):
        assert CANARY not in written(name, result)
