"""Models of OpenAI and of servers with its protocol: Azure, Ollama, OpenRouter and others, and servers of users."""

from __future__ import annotations

from urllib.parse import urlsplit

from proctor.errors import SetupError
from proctor.models.names import ModelName, first_set, key_for, missing_key, require_package
from proctor.models.providers.pydantic_ai import ProviderModel, client

_OFFICIAL = "api.openai.com"
_CHAT = "openai:OpenAIChatModel"

COMPATIBLE = {
    "deepseek": ("https://api.deepseek.com", "DEEPSEEK_API_KEY"),
    "fireworks": ("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    "groq": ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "together": ("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "xai": ("https://api.x.ai/v1", "XAI_API_KEY"),
}
"""Providers with this protocol: their address, and the variable of their key."""


def openai_model(name: ModelName) -> ProviderModel:
    """Return a model of OpenAI. At another address it uses chat completions, which all servers support."""
    address = _address(name)
    return responses_model(name) if _is_official(address) else chat_model(name)


def responses_model(name: ModelName) -> ProviderModel:
    """Return a model that uses OpenAI's responses API."""
    require_package(name, "openai")
    address, key = _address(name), _key(name)
    build = client(
        "openai:OpenAIResponsesModel", "openai:OpenAIProvider", name.model, base_url=address, api_key=key
    )
    own = not _is_official(address)
    return ProviderModel(name, dialect="openai-responses", build=build, own_address=own)


def chat_model(name: ModelName) -> ProviderModel:
    """Return a model that uses OpenAI's chat completions."""
    require_package(name, "openai")
    address, key = _address(name), _key(name)
    if not _is_official(address):
        return _compatible(name, "openai-compatible", address, key, own_address=True)
    build = client(_CHAT, "openai:OpenAIProvider", name.model, base_url=address, api_key=key)
    return ProviderModel(name, dialect="openai", build=build)


def compatible_model(name: ModelName) -> ProviderModel:
    """Return a model of one of the providers in `COMPATIBLE`."""
    require_package(name, "openai")
    address, variable = COMPATIBLE[name.provider]
    key = key_for(name, variable)
    return _compatible(name, name.provider, name.url or address, key, own_address=bool(name.url))


def ollama_model(name: ModelName) -> ProviderModel:
    """Return a model of Ollama at OLLAMA_BASE_URL, OLLAMA_HOST or on this machine."""
    require_package(name, "openai")
    address = name.url or first_set("OLLAMA_BASE_URL", "OLLAMA_API_BASE", "OLLAMA_HOST") or "localhost:11434"
    if "//" not in address:
        address = f"http://{address}"
    if urlsplit(address).path in {"", "/"}:
        address = f"{address.rstrip('/')}/v1"
    key = key_for(name, "OLLAMA_API_KEY", optional=True)
    build = client("ollama:OllamaModel", "ollama:OllamaProvider", name.model, base_url=address, api_key=key)
    return ProviderModel(name, dialect="openai", build=build, own_address=True)


def azure_model(name: ModelName) -> ProviderModel:
    """Return a deployment on Azure; the model's name is the name of the deployment."""
    require_package(name, "openai")
    key = key_for(name, "AZURE_OPENAI_API_KEY", "AZURE_API_KEY")
    address = name.url or first_set("AZURE_OPENAI_ENDPOINT", "AZURE_API_BASE")
    if not address:
        raise missing_key(name, "AZURE_OPENAI_ENDPOINT")
    version = first_set("OPENAI_API_VERSION", "AZURE_API_VERSION") or None
    if version is None and "/openai" not in address:  # the API without versions
        address = f"{address.rstrip('/')}/openai/v1"
    access = {"azure_endpoint": address, "api_version": version, "api_key": key}
    build = client(_CHAT, "azure:AzureProvider", name.model, **access)
    return ProviderModel(name, dialect="openai", build=build, own_address=bool(name.url))


def _compatible(
    name: ModelName, provider: str, address: str, key: str, *, own_address: bool
) -> ProviderModel:
    access = {"name": provider, "base_url": address, "api_key": key}
    build = client(_CHAT, "openai_compatible:OpenAICompatibleProvider", name.model, **access)
    return ProviderModel(name, dialect="openai", build=build, own_address=own_address)


def _address(name: ModelName) -> str:
    address = name.url or first_set("OPENAI_BASE_URL", "OPENAI_API_BASE") or f"https://{_OFFICIAL}/v1"
    if not urlsplit(address).hostname:
        raise SetupError(f"The model {name.text} cannot be asked: OPENAI_BASE_URL={address!r} has no host.")
    return address


def _is_official(address: str) -> bool:
    return urlsplit(address).hostname == _OFFICIAL


def _key(name: ModelName) -> str:
    """Return the key; a server of the user may need none."""
    return key_for(name, "OPENAI_API_KEY", optional=not _is_official(_address(name)))
