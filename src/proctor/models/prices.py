"""What an answer costs, by the price list that comes with genai-prices; never from the network."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
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


# --- What an agent's own calls cost, from the tokens and the model that its framework reports; never from the network ---


def price_of(model: str, *, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float | None:
    """Return the US dollars that one call costs, by the price list that comes with genai-prices (extra `judges`).

    `cached_tokens`: those of the input tokens that were read from the provider's cache. `None`, for unknown, where the
    model has no price in the list, or the list is not installed.
    """
    price = _calculator()
    if price is None:
        return None
    for name in dict.fromkeys([model, model.rpartition("/")[2]]):  # models/gemini-…, openai/gpt-…
        try:
            found = price(name, input_tokens, output_tokens, cached_tokens)
        except (LookupError, ValueError):  # no such model; counts that no price fits
            continue
        return found
    return None


@cache
def _calculator() -> Callable[[str, int, int, int], float] | None:
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None

    def price(name: str, input_tokens: int, output_tokens: int, cached_tokens: int) -> float:
        usage: Any = Usage(
            input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=cached_tokens or None
        )
        return float(calc_price(usage, name).total_price)

    return price
