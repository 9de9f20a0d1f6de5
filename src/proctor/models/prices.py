"""What an answer costs, by the price list that comes with genai-prices; never from the network."""

from __future__ import annotations

from typing import Any

__all__ = ["cost_of"]


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
