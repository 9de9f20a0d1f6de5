"""Judges where google-adk's extra `eval` is installed: by Gemini, Anthropic and Bedrock; OpenAI's package is too old there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module, metadata
from pathlib import Path

import pytest

import proctor
from proctor.errors import MissingExtraError
from proctor.models.load import load_model
from tests.models.loopback import Completion, ModelServer
from tests.models.loopback.server import Script
from tests.models.loopback.start import servers
from tests.models.model_calls import YES, ask

pytestmark = pytest.mark.filterwarnings("ignore")  # google-adk and litellm warn about themselves

PROVIDERS = ["gemini-2.5-flash", "claude-opus-4-8", "bedrock:amazon.nova-pro-v1:0"]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Script], ModelServer]]:
    with servers(monkeypatch) as start:
        yield start


@pytest.mark.parametrize("module", ["litellm", "google.adk.evaluation.local_eval_service", "pandas"])
def test_the_extra_eval_of_google_adk_is_installed(module: str) -> None:
    assert import_module(module).__name__ == module


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_judge_answers(serve: Callable[[Script], ModelServer], name: str) -> None:
    server = serve(Completion(data=YES))
    assert ask(load_model(name)).structured == YES
    assert (server.count, server.strangers) == (1, [])


def test_openai_needs_a_newer_package_and_the_error_names_both_versions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with pytest.raises(MissingExtraError) as error:
        load_model("gpt-5")
    installed = metadata.version("openai")
    assert f"and openai {installed} is installed. Run: pip install 'proctor[judges-openai]'" in str(
        error.value
    )


def test_a_criterion_with_that_model_is_a_configuration_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    called = []

    def agent(text: str) -> str:
        called.append(text)
        return text

    turn = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hi"}]}}
    eval_set = {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [turn]}]}
    with pytest.raises(proctor.SetupProblems, match=r"judges-openai"):
        proctor.evaluate_sync(
            agent, eval_set, config={"criteria": {"final_response_match_v2": 0.5}}, judge="gpt-5"
        )
    assert called == []
