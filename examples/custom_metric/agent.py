"""Converts units: an agent that is a plain function, text in and text out, with no tool that anyone could see."""

from __future__ import annotations

import re

FACTORS = {
    ("miles", "kilometres"): 1.609344,
    ("pounds", "kilograms"): 0.45359237,
    ("inches", "centimetres"): 2.54,
}


def root_agent(text: str) -> str:
    """Answer "Convert 10 miles to kilometres" and the like."""
    asked = re.search(r"(-?\d+(?:\.\d+)?) (?:degrees )?(\w+) (?:to|in|into) (\w+)", text)
    if asked is None:
        return "Tell me a number, its unit and the unit you want."
    value, source, target = float(asked[1]), asked[2].lower(), asked[3].lower()
    if (converted := _convert(value, source, target)) is None:
        return f"I cannot convert {source} to {target}."
    return f"{converted:.2f} {target}"


def _convert(value: float, source: str, target: str) -> float | None:
    if (source, target) == ("fahrenheit", "celsius"):
        return (value - 32) / 1.8
    if (source, target) == ("celsius", "fahrenheit"):
        return value * 1.8 + 32
    if factor := FACTORS.get((source, target)):
        return value * factor
    if factor := FACTORS.get((target, source)):
        return value / factor
    return None
