"""Finish reasons of providers which mean that the answer of a model is incomplete.

They are those of OpenAI's chat completions (`finish_reason`), Anthropic's messages (`stop_reason`) and Gemini's `FinishReason`.
"""

from __future__ import annotations

__all__ = ["why_cut_off"]

_AT_ITS_LIMIT = ("length", "max_tokens", "max_output_tokens")
_HELD_BACK = ("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii")
_WHY = {
    **dict.fromkeys(_AT_ITS_LIMIT, "the model's answer ends at its limit of tokens"),
    **dict.fromkeys(_HELD_BACK, "a content filter held the model's answer back"),
}


def why_cut_off(reason: str) -> str | None:
    """Return why an answer is incomplete; `None` if `reason` (in any case) does not mean that it was cut off."""
    why = _WHY.get(reason.lower())
    return why and f"{why} (finish_reason: {reason})"
