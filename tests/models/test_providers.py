"""What a provider is sent, and what becomes of its answer: over HTTP, in the protocol of each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.models.base import Finish, Message, ModelFault, ModelOptions, Reply, Usage
from proctor.models.load import load_model
from proctor.models.names import ModelName, is_provider_address
from tests.models.loopback import Completion, ModelRequest, ModelServer, Status
from tests.models.model_calls import MESSAGES, PROVIDERS, SCHEMA, YES, ask, fault, options, patient

pytestmark = pytest.mark.slow  # loads the packages of all providers

Serve = Callable[[Any], ModelServer]

every_provider = pytest.mark.parametrize("name", PROVIDERS)


@every_provider
def test_an_answer_by_a_schema(serve: Serve, name: str) -> None:
    server = serve(Completion(data=YES, tokens=(120, 30), cached_tokens=20, model="the-one-that-answered"))
    reply = ask(load_model(name))
    assert (reply.structured, reply.text) == (YES, '{"verdict": "yes"}')
    assert (reply.finish, reply.requests, reply.model) == (Finish.STOP, 1, "the-one-that-answered")
    assert reply.usage == Usage(input_tokens=120, output_tokens=30, cached_tokens=20)
    asked = server.requests[0]
    assert asked.text == "You judge.\nIs it so?"
    assert asked.model == name.partition(":")[2]
    assert asked.schema is not None
    assert asked.schema["properties"]["verdict"]["enum"] == ["yes", "no"]
    assert (server.count, server.strangers) == (1, [])


@every_provider
def test_an_answer_in_words(serve: Serve, name: str) -> None:
    server = serve(Completion(text="It is so."))
    reply = ask(load_model(name), options(schema=None))
    assert (reply.text, reply.structured, reply.finish) == ("It is so.", None, Finish.STOP)
    assert server.requests[0].schema is None


@pytest.mark.parametrize("name", ["anthropic:claude-3-5-haiku-latest", "ollama/llama3.2-cloud"])
def test_an_answer_by_a_tool_call_where_there_are_no_schemas(serve: Serve, name: str) -> None:
    server = serve(Completion(data=YES))
    reply = ask(load_model(name))
    assert server.requests[0].tool == "verdict"
    assert (reply.structured, reply.text, reply.finish) == (YES, '{"verdict":"yes"}', Finish.STOP)


@pytest.mark.nightly(check=2)
@every_provider
def test_the_whole_text_is_the_answer_or_there_is_none(serve: Serve, name: str) -> None:
    texts = [
        'Sure! {"verdict": "yes"}',
        '{"verdict": "yes"} {"verdict": "no"}',
        '{"verdict": "no", "verdict": "yes"}',
    ]
    texts += ['{"verdict": NaN}', '{"verdict": "ye', "```json\n{}\n```"]
    serve([Completion(text=text) for text in texts])
    model = load_model(name)
    for text in texts:
        reply = ask(model)
        assert (reply.structured, reply.text) == (None, text)


@pytest.mark.parametrize("name", PROVIDERS)
def test_an_answer_nested_without_end_is_none(serve: Serve, name: str) -> None:
    """Google's own client already fails at it."""
    serve(Completion(text="[" * 5_000))
    model = patient(name)
    if name.startswith("google"):
        assert fault(model).fault is ModelFault.BROKE_PROTOCOL
    else:
        assert ask(model).structured is None


def test_duplicate_or_unknown_tool_call_is_not_an_answer(serve: Serve) -> None:
    server = serve(Completion(data=YES))
    model = load_model("ollama/llama3.2-cloud")
    server.script = lambda asked: Completion(data=YES)
    call = {"type": "function", "function": {"name": "verdict", "arguments": '{"verdict": "yes"}'}}
    for calls in (
        [call | {"id": "1"}, call | {"id": "2"}],
        [{**call, "id": "1", "function": {"name": "x", "arguments": "{}"}}],
    ):
        server.script = Status(code=200, body=_chat_answer(calls))
        assert ask(model).structured is None


def _chat_answer(calls: list[dict[str, Any]]) -> bytes:
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return json.dumps(
        {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    ).encode()


# --- fault 25: each finish reason is distinguished ----------------------------------------------------------------------------


@pytest.mark.nightly(check=4)
@pytest.mark.parametrize(
    ("name", "completion", "finish"),
    [
        *((name, Completion(finish="length", text='{"verd'), Finish.LENGTH) for name in PROVIDERS),
        *((name, Completion(finish="length"), Finish.LENGTH) for name in PROVIDERS),
        *((name, Completion(text=""), Finish.STOP) for name in PROVIDERS),
        *((name, Completion(finish="content_filter"), Finish.CONTENT_FILTER) for name in PROVIDERS[:3]),
        *((name, Completion(finish="blocked"), Finish.CONTENT_FILTER) for name in PROVIDERS[:3]),
        *((name, Completion(finish="refusal", text="I will not."), Finish.REFUSAL) for name in PROVIDERS[:2]),
        (PROVIDERS[2], Completion(finish="refusal"), Finish.CONTENT_FILTER),
        (PROVIDERS[3], Completion(finish="refusal", text="I will not."), Finish.REFUSAL),
    ],
    ids=lambda value: (
        f"{value.finish}{'+text' if value.text else ''}" if isinstance(value, Completion) else str(value)
    ),
)
def test_each_finish_reason_is_distinguished(
    serve: Serve, name: str, completion: Completion, finish: Finish
) -> None:
    server = serve(completion)
    for wanted in (options(), options(schema=None)):
        reply = ask(load_model(name), wanted)
        assert (reply.finish, reply.structured) == (finish, None)
        assert reply.text == completion.text
    assert server.count == 2, "an answer that is none is not asked for again here: judges do that"


@every_provider
def test_usage_is_reported_for_every_finish_reason(serve: Serve, name: str) -> None:
    serve(Completion(finish="length", text='{"verd', tokens=(7, 3)))
    usage = ask(load_model(name)).usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (7, 3)


@pytest.mark.parametrize("name", PROVIDERS[:3])
def test_uncounted_tokens_are_unknown(serve: Serve, name: str) -> None:
    serve(Completion(data=YES, tokens=None))
    reply = ask(load_model(name))
    assert (reply.usage, reply.cost) == (None, None)


# --- cost -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "answered", "cost"),
    [
        ("google:gemini-2.5-flash", "gemini-2.5-flash", 1000 * 0.30e-6 + 100 * 2.50e-6),
        ("google:gemini-2.5-flash", "gemini-2.5-pro", 1000 * 1.25e-6 + 100 * 10e-6),
        ("google:gemini-2.5-flash", "gemini-of-tomorrow", None),
        ("anthropic:claude-opus-4-8", "claude-opus-4-8", 1000 * 5e-6 + 100 * 25e-6),
        ("openai-chat:gpt-4.1", "gpt-4.1", None),
        ("ollama/gpt-oss:20b", "gpt-oss:20b", None),
    ],
)
def test_the_price_is_that_of_the_model_that_answered(
    serve: Serve, name: str, answered: str, cost: float | None
) -> None:
    """A private server has no price, for any name of its models."""
    serve(Completion(data=YES, tokens=(1000, 100), model=answered))
    assert ask(load_model(name)).cost == (None if cost is None else pytest.approx(cost, rel=1e-9))


# --- addresses and keys -----------------------------------------------------------------------------------------------


def _sent_key(asked: ModelRequest) -> str:
    headers = asked.headers
    return headers.get("authorization") or headers.get("x-goog-api-key") or headers.get("x-api-key") or ""


_SECRETS = {
    "ANTHROPIC_AUTH_TOKEN": "test-key-of-anthropic's token",
    "ANTHROPIC_CUSTOM_HEADERS": "x-more: test-key-of-anthropic's gateway",
    "AWS_ACCESS_KEY_ID": "test-key-of-amazon",
    "AWS_SECRET_ACCESS_KEY": "test-key-of-amazon",
    "AZURE_OPENAI_API_KEY": "test-key-of-azure",
    "GOOGLE_CLOUD_PROJECT": "test-key-of-a-project",
    "GOOGLE_CLOUD_LOCATION": "us-central1",
    "OPENAI_CUSTOM_HEADERS": "x-more: test-key-of-openai's gateway",
    "OPENAI_ORG_ID": "test-key-of-openai's org",
    "OPENAI_PROJECT_ID": "test-key-of-openai's project",
}
_ELSEWHERE = (
    "openai:gpt-4.1", "openai-responses:gpt-4.1", "google:gemini-2.5-flash", "vertex:gemini-2.5-flash",
    "anthropic:claude-opus-4-8", "ollama:llama3.2", "groq:llama-3.3", "azure:mine", "bedrock:us.amazon.nova-pro-v1:0",
)  # fmt: skip


@pytest.mark.nightly(check=4)
@pytest.mark.parametrize("by_vertex", ["", "true"], ids=["", "where Gemini is asked by Vertex AI"])
@pytest.mark.parametrize("model", _ELSEWHERE)
def test_nothing_that_is_for_a_provider_alone_goes_to_an_address_in_a_name(
    serve: Serve, model: str, by_vertex: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(Completion(data=YES, tokens=(100, 10)))
    for variable, value in {**_SECRETS, "GOOGLE_GENAI_USE_VERTEXAI": by_vertex}.items():
        monkeypatch.setenv(variable, value)
    speaks_openai = model.startswith(("openai", "ollama", "groq"))
    name = f"{model}@{server.openai_url if speaks_openai else server.url}"
    reply = ask(load_model(name))
    assert (reply.structured, reply.cost) == (YES, None)  # whose server it is, no price list knows
    sent = [*server.requests[0].headers.values(), server.requests[0].path]
    assert not [one for one in sent if "test-key-of" in one]
    monkeypatch.setenv("PROCTOR_MODEL_API_KEY", "the-key-for-it")
    ask(load_model(name))
    assert "the-key-for-it" in str(server.requests[1].headers)


@pytest.mark.parametrize("variable", ["OPENAI_ORG_ID", "OPENAI_CUSTOM_HEADERS"])
def test_what_is_for_openai_goes_to_openai_alone(
    serve: Serve, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(Completion(data=YES))
    monkeypatch.setenv(variable, _SECRETS[variable])
    for name in ("openai:gpt-4.1", "ollama:llama3.2"):
        ask(load_model(name))
    assert ["test-key-of-openai's" in str(asked.headers) for asked in server.requests] == [True, False]


@pytest.mark.parametrize(
    ("address", "theirs"),
    [
        ("", True),
        ("https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com", True),
        ("http://bedrock-runtime.us-east-1.amazonaws.com", False),
        ("https://amazonaws.com.example", False),
        ("https://notamazonaws.com", False),
    ],
)
def test_whose_an_address_is(address: str, theirs: bool) -> None:
    name = ModelName(text="", provider="bedrock", model="m", url=address)
    assert is_provider_address(name, "amazonaws.com") is theirs


@pytest.mark.parametrize(
    "model", ["openai:gpt-4.1", "google:gemini-2.5-flash", "anthropic:claude-opus-4-8", "ollama:llama3.2"]
)
def test_the_key_of_a_provider_does_not_go_to_an_address_in_a_name(
    serve: Serve, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(Completion(data=YES))
    name = f"{model}@{server.openai_url if 'openai' in model else server.url}"
    ask(load_model(name))
    assert "test-key-of" not in _sent_key(server.requests[0])
    monkeypatch.setenv("PROCTOR_MODEL_API_KEY", "the-key-for-it")
    ask(load_model(name))
    assert "the-key-for-it" in _sent_key(server.requests[1])


@pytest.mark.parametrize("base", ["OLLAMA_BASE_URL", "OLLAMA_HOST"])
@pytest.mark.parametrize("form", ["{url}", "{url}/v1", "{host}"])
def test_where_ollama_is(serve: Serve, monkeypatch: pytest.MonkeyPatch, base: str, form: str) -> None:
    server = serve(Completion(data=YES))
    monkeypatch.delenv("OLLAMA_BASE_URL")
    monkeypatch.setenv(base, form.format(url=server.url, host=server.url.removeprefix("http://")))
    assert ask(load_model("ollama/llama3.2")).structured == YES
    assert server.requests[0].path == "/v1/chat/completions"


def test_vertex_serves_gemini_without_an_api_key(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server = serve(Completion(data=YES))
    monkeypatch.delenv("GOOGLE_API_KEY")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "my-project")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "us-central1")
    monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", server.url)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", _service_account(tmp_path, f"{server.url}/token"))
    reply = ask(load_model("gemini-2.5-flash"))
    assert reply.structured == YES
    asked = server.requests[0]
    assert "projects/my-project/locations/us-central1/publishers/google/models/gemini-2.5-flash" in asked.path
    assert (asked.headers["authorization"], server.tokens) == ("Bearer token-of-the-project", 1)


def _service_account(folder: Path, token_uri: str) -> str:
    """Write the file of a service account whose tokens come from `token_uri`; its key was made for this test."""
    rsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.rsa")
    words = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        words.Encoding.PEM, words.PrivateFormat.PKCS8, words.NoEncryption()
    )
    account = {
        "type": "service_account",
        "project_id": "my-project",
        "private_key_id": "1",
        "private_key": key.decode(),
        "client_email": "judge@my-project.iam.gserviceaccount.com",
        "client_id": "1",
        "token_uri": token_uri,
    }
    file = folder / "account.json"
    file.write_text(json.dumps(account), encoding="utf-8")
    return str(file)


# --- conversations and loops ------------------------------------------------------------------------------------------


@every_provider
def test_a_conversation_keeps_its_turns(serve: Serve, name: str) -> None:
    server = serve(Completion(text="fine"))
    turns = [Message("system", "S"), Message("user", "A"), Message("assistant", "B"), Message("user", "C")]

    async def asked() -> Reply:
        return await load_model(name).complete(turns, options=ModelOptions())

    assert asyncio.run(asked()).text == "fine"
    assert server.requests[0].text.splitlines() == ["S", "A", "B", "C"]


@every_provider
def test_one_model_serves_one_loop_after_the_other(serve: Serve, name: str) -> None:
    server = serve(Completion(data=YES))
    model = load_model(name)
    assert [ask(model).structured for _ in range(3)] == [YES, YES, YES]
    assert server.count == 3


@every_provider
def test_calls_run_at_once_over_few_connections(serve: Serve, name: str) -> None:
    server = serve(Completion(data=YES, delay=0.05))
    model = load_model(name)

    async def many() -> list[Reply]:
        calls = [model.complete(MESSAGES, options=options()) for _ in range(40)]
        replies = await asyncio.gather(*calls)
        await model.close()
        return replies

    assert [reply.structured for reply in asyncio.run(many())] == [YES] * 40
    assert server.count == 40
    assert server.most_at_once > 10
    assert server.connections <= 40


def test_the_schema_that_is_sent_is_the_one_that_was_given(serve: Serve) -> None:
    server = serve(Completion(data=YES))
    ask(load_model("google:gemini-2.5-flash"))
    sent = server.requests[0].schema
    assert sent is not None
    assert {key: sent[key] for key in SCHEMA} == SCHEMA


@pytest.mark.parametrize("name", PROVIDERS)
def test_client_that_cannot_be_created_is_an_error_without_retry(
    serve: Serve, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(Completion(data=YES))
    for variable in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(variable, "nonsense://user:hunter2@proxy")
    monkeypatch.setenv("NO_PROXY", "")
    found = fault(load_model(name))
    assert (found.fault, found.requests, server.count) == (ModelFault.REJECTED, 0, 0)
    assert "cannot be asked: ValueError: Unknown scheme for proxy URL" in str(found)
    assert "hunter2" not in str(found)
