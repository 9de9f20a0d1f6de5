"""What an agent's own calls cost, from the tokens and the model that its framework reports; never from the network."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any


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
