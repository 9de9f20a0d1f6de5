"""What an answer costs, by the price list that comes with genai-prices; never from the network."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

__all__ = ["cost_of", "similar_model"]


def cost_of(response: Any, *, own_address: bool) -> float | None:
    """Return the US dollars that an answer of pydantic-ai's costs, by the model that answered.

    `None`, for unknown, where that model has no price in the list, or no tokens were counted. `own_address`: it was
    served at an address that the user named, so only a price for that address holds; a model that runs on one's own
    machine does not cost what OpenAI takes for one of its name.
    """
    from genai_prices import calc_price

    if not response.model_name or not (response.usage.input_tokens or response.usage.output_tokens):
        return None
    told: list[dict[str, Any]] = (
        [{"provider_api_url": response.provider_url}] if response.provider_url else []
    )
    if not own_address:
        told.append({"provider_id": response.provider_name})
    for provider in told:
        try:
            price = calc_price(
                response.usage,
                response.model_name,
                genai_request_timestamp=response.timestamp,
                **provider,
            )
        except (LookupError, ValueError):  # no such provider or model; counts that no price fits
            continue
        return float(price.total_price)
    return None


def similar_model(name: str, provider: str) -> str:
    """Return the model of a provider's in the price list whose name is closest to `name`; `""`: none is, or it is there."""
    from genai_prices.data_snapshot import get_snapshot

    known = [model.id for one in get_snapshot().providers if one.id == provider for model in one.models]
    close = get_close_matches(name, known, n=1, cutoff=0.75)
    return close[0] if close and name not in known else ""
