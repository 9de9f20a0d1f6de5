"""Models in a run: what a user sees of settings, keys and providers that turn every call away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

import proctor
from proctor.errors import SetupError
from proctor.models.retries import Patience
from proctor.schema.results.run_result import Outcome, RunResult
from tests.models.loopback import Answer, Completion, ModelRequest, ModelServer, Status

Serve = Callable[[Any], ModelServer]

V2 = "final_response_match_v2"


def _run(model: str, *, cases: int = 2, settings: dict[str, Any] | None = None) -> RunResult:
    options = {"judge_model": model, "judge_model_config": settings or {}}
    hello = {"final_response": {"parts": [{"text": "hello"}]}}
    eval_set = {
        "eval_set_id": "s",
        "eval_cases": [
            # Each question is different: earlier answers of judges are cached in this process.
            {
                "eval_id": f"case_{number}",
                "conversation": [{"user_content": {"parts": [{"text": f"{uuid4()}"}]}, **hello}],
            }
            for number in range(cases)
        ],
    }
    config = {"criteria": {V2: {"threshold": 0.5, "judge_model_options": options}}}
    return proctor.evaluate_sync(lambda text: f"hello, {text}", eval_set, config=config, store="memory:")


def _agrees(asked: ModelRequest) -> Answer:
    """Answer as a model that reads its instructions: they contain the number of the ballot."""
    number = asked.text.partition("The number of this ballot: ")[2].split()[0]
    return Completion(data={"ballot": number, "rationale": "The content is the same.", "verdict": "valid"})


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    "model",
    ["gemini-2.5-flash", "openai:gpt-4.1", "openai-responses:gpt-4.1", "claude-opus-4-8", "ollama/llama3.2"],
)
def test_a_judge_of_every_protocol_decides_a_run(serve: Serve, model: str) -> None:
    server = serve(_agrees)
    result = _run(model)
    assert [case.outcome for case in result.cases] == [Outcome.PASSED] * 2
    assert server.count == 2 * 3, "three votes that agree decide"


@pytest.mark.slow
def test_unsupported_setting_of_a_provider_is_reported(serve: Serve) -> None:
    serve(_agrees)
    result = _run("openai-responses:gpt-4.1", settings={"temperature": 0.5, "seed": 3})
    assert [warning for warning in result.warnings if "seed" in warning] == [
        f"{V2}: openai-responses:gpt-4.1 is not sent seed: its provider has no such setting"
    ]


def test_a_setting_that_there_is_not_stops_the_run_before_it_begins(serve: Serve) -> None:
    server = serve(_agrees)
    with pytest.raises(SetupError, match=r"there is no setting 'temprature'\. Did you mean 'temperature'\?"):
        _run("gemini-2.5-flash", settings={"temprature": 0.5})
    assert server.count == 0


@pytest.mark.slow
def test_wrong_key_is_one_error_after_few_requests(serve: Serve) -> None:
    server = serve(Status(code=401, message="no such key"))
    result = _run("gemini-2.5-flash", cases=60)
    assert result.outcome is Outcome.ERROR
    assert {case.outcome for case in result.cases} <= {Outcome.ERROR, Outcome.NOT_RUN}
    assert all("401 Unauthorized: no such key" in case.reason for case in result.cases)
    patience = Patience()  # each that comes back lets another go, until so many in a row were turned away
    assert server.count <= patience.at_first + patience.in_a_row - 1
