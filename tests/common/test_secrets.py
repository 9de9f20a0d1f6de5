"""Secrets stay out of what is written down about a run."""

from pathlib import Path

import pytest

from proctor.common.secrets import HIDDEN, hide_secrets, redact_arguments, redact_text


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
        pytest.param(["http://me:p@w@host/x"], [f"http://{HIDDEN}@host/x"], id="a password with an at sign"),
        pytest.param(["http://host/x?to=a@b"], ["http://host/x?to=a@b"], id="an at sign behind the host"),
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
            ["--tokens-per-case", "5"], ["--tokens-per-case", "5"], id="a count of tokens is not a secret"
        ),
        *(
            pytest.param(
                [f"cmd:bot {option}{secret} --fast"],
                [f"cmd:bot {option}{HIDDEN} --fast"],
                id=f"{option}{secret} in a command",
            )
            for option in ("--api-key ", "--api-key=", "-token  ", "MY_API_KEY=")
            for secret in ("c4n", "'c4n c4n'", '"c4n c4n"')
        ),
        pytest.param(
            ["cmd:bot --api-key 'c4n c4n"], [f"cmd:bot --api-key {HIDDEN}"], id="a quote that does not end"
        ),
        pytest.param(
            ["cmd:bot --no-auth --key-file a b"],
            ["cmd:bot --no-auth --key-file a b"],
            id="options without a secret",
        ),
        pytest.param(
            ["--max-tokens", "5000"], ["--max-tokens", "5000"], id="a limit of tokens is not a secret"
        ),
        pytest.param(["monkey=7", "keyboard=us"], ["monkey=7", "keyboard=us"], id="words that hold a word"),
    ],
)
def test_a_command_line_without_its_secrets(arguments: list[str], kept: list[str]) -> None:
    assert redact_arguments(arguments) == kept


@pytest.mark.parametrize("text", ["", "roll a die", "tokens: 5", "risk-free-and-long-enough-word"])
def test_text_without_secrets_is_unchanged(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("401: key c4n4ry-of-mine is no key", "401: key *** is no key", id="a variable's value"),
        pytest.param("c4n4ry-of-mine-too", "***", id="the longer of two values"),
        pytest.param("http://u:c4n@host/x?key=c4n&q=1", "http://***@host/x?key=***&q=1", id="a URL"),
        pytest.param("Incorrect API key provided: sk-proj-0123456789abcdef.", "Incorrect API key provided: ***.", id="a shape"),
        pytest.param("{'x-goog-api-key': 'c4n', 'a': 'b'}", "{'x-goog-api-key': '***', 'a': 'b'}", id="headers as a dict"),
        pytest.param('{"Authorization": "Bearer c4n"}', '{"Authorization": "***"}', id="headers as JSON"),
        pytest.param("Authorization: Basic dTpw", "Authorization: ***", id="a header"),
        pytest.param("connect(password=c4n, host=h)", "connect(password=***, host=h)", id="an argument"),
        pytest.param("api_key=c4n; access_token=c4n", "api_key=***; access_token=***", id="two"),
        pytest.param(r'{"h": "{\"api_key\": \"c4n\"}"}', r'{"h": "{\"api_key\": \"***\"}"}', id="JSON inside of JSON"),
        pytest.param(r"password=c4\n4ry end", "password=*** end", id="a backslash in it"),
    ],
)  # fmt: skip
def test_an_error_without_its_secrets(text: str, kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "c4n4ry-of-mine")
    monkeypatch.setenv("OTHER_TOKEN", "c4n4ry-of-mine-too")
    assert hide_secrets(text) == kept
    assert hide_secrets(kept) == kept


@pytest.mark.parametrize(
    "text",
    [
        "unknown key: covers", "KeyError: 'covers'", "Unexpected token: }", "key=covers", "the secret is out", "token 5 of 7",
        "state `table` is {'key': 1}", "no code: 5", "monkey: 7", "auth: none", "the token: it's under the mat",
    ],
)  # fmt: skip
def test_error_without_secrets_is_unchanged(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHORT_TOKEN", "covers")
    monkeypatch.setenv("NOT_A_SECRET_AT_ALL", "Unexpected")
    assert hide_secrets(text) == text


def test_path_is_not_a_secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PWD", str(tmp_path))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path))
    assert hide_secrets(f"{tmp_path}/agent.py:1") == f"{tmp_path}/agent.py:1"
