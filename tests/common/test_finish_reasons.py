"""Which ends of a model's answer mean that it is not whole."""

from __future__ import annotations

import pytest

from proctor.schema.evidence.event import incomplete_answer_reason


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        pytest.param("length", "limit of tokens (finish_reason: length)", id="chat completions"),
        pytest.param("max_tokens", "limit of tokens (finish_reason: max_tokens)", id="Anthropic"),
        pytest.param("MAX_TOKENS", "limit of tokens (finish_reason: MAX_TOKENS)", id="Gemini"),
        pytest.param("SAFETY", "content filter held the model's answer back", id="Gemini's filter"),
        pytest.param("content_filter", "content filter held the model's answer back", id="Azure's filter"),
    ],
)
def test_truncated_answer_is_reported(reason: str, message: str) -> None:
    assert message in (incomplete_answer_reason(reason) or "")


@pytest.mark.parametrize("reason", ["stop", "STOP", "tool_calls", "end_turn", "", "None", "lengthy"])
def test_any_other_end_is_none(reason: str) -> None:
    assert incomplete_answer_reason(reason) is None
