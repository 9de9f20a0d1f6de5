"""Prices of calls, from the price list in the package genai-prices, without network access."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse


def cost_of(response: ModelResponse, *, own_address: bool) -> float | None:
    """Return the cost of a response of pydantic-ai in US dollars, by the model that answered.

    `None` (unknown) if the list has no price for the model, or no tokens were counted. `own_address`: the user named the
    address of the server, so only a price for that address applies; a local model does not cost OpenAI's price.
    """
    from genai_prices import calc_price

    if not response.model_name or not (response.usage.input_tokens or response.usage.output_tokens):
        return None
    lookups: list[dict[str, Any]] = (
        [{"provider_api_url": response.provider_url}] if response.provider_url else []
    )
    if not own_address:
        lookups.append({"provider_id": response.provider_name})
    for provider in lookups:
        try:
            price = calc_price(
                response.usage,
                response.model_name,
                genai_request_timestamp=response.timestamp,
                **provider,
            )
        except (LookupError, ValueError):  # unknown provider or model, or implausible token counts
            continue
        return float(price.total_price)
    return None


def similar_model(name: str, provider: str) -> str:
    """Return the provider's model in the price list with the closest name; `""` if none is close, or `name` is listed."""
    from genai_prices.data_snapshot import get_snapshot

    known = [model.id for each in get_snapshot().providers if each.id == provider for model in each.models]
    close = get_close_matches(name, known, n=1, cutoff=0.75)
    return close[0] if close and name not in known else ""


# --- Prices of an agent's own calls, from the tokens and the model that its framework reports ---


def price_of(model: str, *, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float | None:
    """Return the price of one call in US dollars, from the price list of genai-prices (extra `judges`).

    `cached_tokens`: the input tokens from the provider's cache. `None` (unknown) if the list has no price for the model, or
    is not installed.
    """
    price = _calculator()
    if price is None:
        return None
    for name in dict.fromkeys([model, model.rpartition("/")[2]]):  # models/gemini-…, openai/gpt-…
        try:
            return price(name, input_tokens, output_tokens, cached_tokens)
        except (LookupError, ValueError):  # unknown model, or implausible token counts
            continue
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
