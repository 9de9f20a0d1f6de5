"""Secrets stay out of what is written down about a run."""

import pytest

from proctor.redaction import HIDDEN, redacted, redacted_text


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        pytest.param(["proctor", "eval", "dice"], ["proctor", "eval", "dice"], id="nothing secret"),
        pytest.param(["--api-key", "abc", "x"], ["--api-key", HIDDEN, "x"], id="the value after an option"),
        pytest.param(["--api-key=abc"], [f"--api-key={HIDDEN}"], id="the value of an option"),
        pytest.param(["OPENAI_API_KEY=abc"], [f"OPENAI_API_KEY={HIDDEN}"], id="a variable"),
        pytest.param(
            ["--password", "--verbose"], ["--password", "--verbose"], id="an option without a value"
        ),
        pytest.param(
            ["--auth-token", "a", "--token", "b"], ["--auth-token", HIDDEN, "--token", HIDDEN], id="two"
        ),
        pytest.param(["http://me:pw@host/x"], [f"http://{HIDDEN}@host/x"], id="user and password in a URL"),
        pytest.param(["http://host/x?token=abc"], [f"http://host/x?token={HIDDEN}"], id="a token in a query"),
        pytest.param(
            ["http://host/?access_token=abc&q=1"],
            [f"http://host/?access_token={HIDDEN}&q=1"],
            id="the rest of the query stays",
        ),
        pytest.param(["sk-proj-0123456789abcdef"], [HIDDEN], id="a key of a known shape"),
        pytest.param(["AIzaSyA0123456789012345678901234567"], [HIDDEN], id="another known shape"),
        pytest.param(["Authorization: Bearer abc.def"], [f"Authorization: {HIDDEN}"], id="a header"),
        pytest.param(
            ["--tokens-per-case", "5"], ["--tokens-per-case", "5"], id="a count of tokens is no secret"
        ),
        pytest.param(["--max-tokens", "5000"], ["--max-tokens", "5000"], id="a limit of tokens is no secret"),
        pytest.param(["monkey=7", "keyboard=us"], ["monkey=7", "keyboard=us"], id="words that hold a word"),
    ],
)
def test_a_command_line_without_its_secrets(arguments: list[str], kept: list[str]) -> None:
    assert redacted(arguments) == kept


@pytest.mark.parametrize("text", ["", "roll a die", "tokens: 5", "risk-free-and-long-enough-word"])
def test_text_without_secrets_stays_as_it_is(text: str) -> None:
    assert redacted_text(text) == text
