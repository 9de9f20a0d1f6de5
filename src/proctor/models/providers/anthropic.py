"""Claude, at Anthropic."""

from __future__ import annotations

from proctor.models.names import ModelName, first_set, key_for, require_package
from proctor.models.providers.pydantic_ai import ProviderModel, client


def anthropic_model(name: ModelName) -> ProviderModel:
    """Return a model of Anthropic's."""
    require_package(name, "anthropic")
    key = key_for(name, "ANTHROPIC_API_KEY")
    address = name.url or first_set("ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE") or None
    build = client(
        "anthropic:AnthropicModel", "anthropic:AnthropicProvider", name.model, api_key=key, base_url=address
    )
    return ProviderModel(name, dialect="anthropic", build=build, own_address=bool(name.url))
