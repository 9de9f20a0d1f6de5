"""Names of models, and the messages about unknown ones."""

from __future__ import annotations

import pytest

from proctor.common.registry import MODELS
from proctor.errors import SetupError, UnknownNameError
from proctor.models.names import ALIASES, parse_name


@pytest.mark.parametrize(
    ("text", "provider", "model", "url"),
    [
        ("gemini-2.5-flash", "google", "gemini-2.5-flash", ""),
        ("models/gemini-2.5-flash", "google", "gemini-2.5-flash", ""),
        ("  gemini-3-pro-preview ", "google", "gemini-3-pro-preview", ""),
        ("google:gemini-2.5-pro", "google", "gemini-2.5-pro", ""),
        ("gemini/gemini-2.5-pro", "google", "gemini-2.5-pro", ""),
        ("google-gla:gemini-2.5-pro", "google", "gemini-2.5-pro", ""),
        ("vertex:gemini-2.5-pro", "vertex", "gemini-2.5-pro", ""),
        ("vertex_ai/gemini-2.5-pro", "vertex", "gemini-2.5-pro", ""),
        (
            "projects/p/locations/us-central1/publishers/google/models/gemini-2.5-pro",
            "vertex",
            "projects/p/locations/us-central1/publishers/google/models/gemini-2.5-pro",
            "",
        ),
        ("gpt-5", "openai", "gpt-5", ""),
        ("gpt-4o-mini", "openai", "gpt-4o-mini", ""),
        ("o3", "openai", "o3", ""),
        ("o4-mini", "openai", "o4-mini", ""),
        ("openai:gpt-5", "openai", "gpt-5", ""),
        ("openai/gpt-5", "openai", "gpt-5", ""),
        ("OpenAI:gpt-5", "openai", "gpt-5", ""),
        ("openai:ft:gpt-4o:org::id", "openai", "ft:gpt-4o:org::id", ""),
        ("openai-chat:gpt-5", "openai-chat", "gpt-5", ""),
        ("openai-responses:gpt-5", "openai-responses", "gpt-5", ""),
        ("claude-opus-4-8", "anthropic", "claude-opus-4-8", ""),
        ("claude-3-5-sonnet@20240620", "anthropic", "claude-3-5-sonnet@20240620", ""),
        ("anthropic/claude-opus-4-8", "anthropic", "claude-opus-4-8", ""),
        ("bedrock:us.anthropic.claude-opus-4-8-v1:0", "bedrock", "us.anthropic.claude-opus-4-8-v1:0", ""),
        ("us.amazon.nova-pro-v1:0", "bedrock", "us.amazon.nova-pro-v1:0", ""),
        ("ollama/llama3.2", "ollama", "llama3.2", ""),
        ("ollama_chat/gpt-oss:20b", "ollama", "gpt-oss:20b", ""),
        ("openrouter/meta-llama/llama-3.3-70b", "openrouter", "meta-llama/llama-3.3-70b", ""),
        ("groq/llama-3.3-70b", "groq", "llama-3.3-70b", ""),
        ("azure/my-deployment", "azure", "my-deployment", ""),
        ("openai:mine@http://127.0.0.1:8080/v1", "openai", "mine", "http://127.0.0.1:8080/v1"),
        ("openai:mine@http://127.0.0.1:8080/v1/", "openai", "mine", "http://127.0.0.1:8080/v1"),
        ("mine@https://models.example/v1", "openai-chat", "mine", "https://models.example/v1"),
        ("openai:org/mine@http://[::1]:8080/v1", "openai", "org/mine", "http://[::1]:8080/v1"),
    ],
)
def test_a_name_is_taken_apart(text: str, provider: str, model: str, url: str) -> None:
    name = parse_name(text, MODELS.names())
    assert (name.provider, name.model, name.url) == (provider, model, url)
    assert name.text == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gemni-2.5-flash", "Did you mean 'gemini-2.5-flash'?"),
        ("gpt5", "Did you mean 'gpt-5'?"),
        ("GPT-5", "Did you mean 'gpt-5'?"),
        ("Gemini-2.5-Flash", "Did you mean 'gemini-2.5-flash'?"),
        ("mine@http://[::1/v1", "has an invalid address"),
        ("opnai:gpt-5", "Did you mean 'openai:gpt-5'?"),
        ("antropic/claude-opus-4-8", "Did you mean 'anthropic/claude-opus-4-8'?"),
        ("openai", "That is a provider: name one of its models, as in 'openai:MODEL'."),
        ("openai:", "names a provider but no model"),
        ("gpt-oss:20b", "Did you mean 'ollama/gpt-oss:20b'?"),
        ("mine@http://", "has no host in its address 'http://'"),
        ("", "Expected a model's own name"),
        ("whatever", "Providers: anthropic, azure, bedrock"),
    ],
)
def test_a_name_that_is_none(text: str, message: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        parse_name(text, MODELS.names())
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    ["user:hunter2@host/v1", "hunter2@host", "host/v1?key=hunter2", "host/v1#hunter2", "user:hunter2@"],
)
@pytest.mark.parametrize("prefix", ["", "openai:", "nobody:"])
def test_a_secret_in_an_address_is_refused_and_not_repeated(prefix: str, address: str) -> None:
    with pytest.raises(SetupError) as caught:
        parse_name(f"{prefix}mine@https://{address}", MODELS.names())
    assert "PROCTOR_MODEL_API_KEY" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_provider_name_of_another_tool_suggests_ours() -> None:
    assert set(ALIASES.values()) <= set(MODELS.names())
