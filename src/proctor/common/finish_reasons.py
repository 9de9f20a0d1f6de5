"""Why a model's answer ended, in the words of those who serve models: which of them mean that it is not whole.

Words of OpenAI's chat completions (`finish_reason`), Anthropic's messages (`stop_reason`) and Gemini's `FinishReason`.
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
    """Say why an answer is not whole; `None` where `reason`, in capitals or not, does not mean that it was cut off."""
    why = _WHY.get(reason.lower())
    return why and f"{why} (finish_reason: {reason})"
