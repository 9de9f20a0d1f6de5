"""An audit with a judge behind HTTP, in the protocols of the providers: the verdicts, their cost, and answers that are unusable."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from proctor.authoring.audit.audit_sentence import shortfall
from proctor.schema.analysis.audit_result import Fate
from tests.authoring.audit_judge import ignores_digits, script_of
from tests.authoring.test_audit_judges import audit, only_judge
from tests.models.loopback import Answer, Completion, ModelRequest, ModelServer
from tests.models.loopback.server import Script
from tests.models.loopback.start import servers

pytest.importorskip("pydantic_ai", reason="the extra `judges` is not installed")


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Script], ModelServer]]:
    with servers(monkeypatch) as start:
        yield start


MODELS = {
    "openai-chat": "openai:gpt-4.1",
    "openai-responses": "openai-responses:gpt-4.1",
    "gemini": "gemini-2.5-flash",
    "anthropic": "claude-opus-4-8",
}


@pytest.mark.slow
@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(("protocol", "model"), MODELS.items(), ids=MODELS)
def test_a_judge_of_a_provider_is_audited_through_its_protocol(
    protocol: str, model: str, serve: Callable[[Script], ModelServer]
) -> None:
    server = serve(script_of(ignores_digits))
    found = audit(model, mutants=["wrong-number", "negation"])
    one = only_judge(found)
    assert {asked.protocol for asked in server.requests} == {protocol}
    assert one.classes["wrong-number"][0] == 0
    assert one.classes["negation"][0] == one.classes["negation"][1] > 0
    assert found.judged is not None
    assert f"{server.count} calls, {server.count * 120:,} tokens" in found.judged.usage


@pytest.mark.slow
def test_an_answer_that_cannot_be_used_is_no_catch(
    serve: Callable[[Script], ModelServer],
) -> None:
    proper = script_of(str.__eq__)

    def answers_some(asked: ModelRequest) -> Answer:
        return Completion(text="I cannot decide.") if "June 3" in asked.text else proper(asked)

    serve(answers_some)
    found = audit("openai:gpt-4.1", mutants=["wrong-number"])
    fates = [each.fate for case in found.cases for each in case.mutants]
    assert Fate.CAUGHT in fates
    assert only_judge(found).without_verdict > 0
    assert shortfall(found, 0.99)
