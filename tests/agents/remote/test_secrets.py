"""Secrets of an agent's address reach its server, and nothing that Proctor writes: no output, no store, no report."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.agents.remote.misbehaving import Exchange, serving
from tests.cli.fork_command import fork_command

pytest.importorskip("httpx", reason="the extra `http` is not installed")

CANARY = "canary-5c1f9e"
CASE = {
    "eval_id": "c",
    "conversation": [
        {
            "user_content": {"parts": [{"text": "Hello"}]},
            "final_response": {"parts": [{"text": "Hi"}]},
        }
    ],
}
ADDRESSES = {
    "user and password": ("http://me:%s@127.0.0.1:{}/v1", ""),
    "a password with signs": ("http://me:%s%%40x%%2F@127.0.0.1:{}/v1", ""),
    "a user that is a token": ("http://%s@127.0.0.1:{}/v1", ""),
    "a token in the query": ("http://127.0.0.1:{}/v1?token=%s", ""),
    "a key in the query": ("http://127.0.0.1:{}/v1?x=1&api_key=%s", ""),
    "the environment": ("http://127.0.0.1:{}/v1", CANARY),
}


def _answer(exchange: Exchange, how: str) -> object:
    if exchange.method == "GET":
        return exchange.answer({}, status=404)
    request = f"{exchange.path} {exchange.headers.get('authorization', '')}"
    match how:
        case "redirect":
            return exchange.answer(b"", status=302, Location=f"http://127.0.0.1:1{exchange.path}")
        case "refusal":
            return exchange.answer({"error": {"message": f"not for {request}"}}, status=401)
    return exchange.answer(
        {"text": "Hi", "choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}
    )


@pytest.mark.nightly(check=2)
@pytest.mark.slow
@pytest.mark.parametrize(("where", "how"), [
    ("user and password", "answer"),
    ("user and password", "refusal"),
    ("a password with signs", "refusal"),
    ("a user that is a token", "redirect"),
    ("a token in the query", "redirect"),
    ("a key in the query", "refusal"),
    ("the environment", "refusal"),
])  # fmt: skip
def test_a_secret_goes_to_its_server_and_nowhere_else(where: str, how: str, tmp_path: Path) -> None:
    pattern, token = ADDRESSES[where]
    (tmp_path / "s.evalset.json").write_text(json.dumps({"eval_set_id": "s", "eval_cases": [CASE]}))
    with serving(lambda exchange: _answer(exchange, how)) as server:
        address = (pattern % CANARY if "%s" in pattern else pattern).format(server.port)
        written = []
        for kind in ("http+sse", "openai+http"):
            options = "&" if "?" in address else "?"
            agent = f"{kind}:{address}" + (f"{options}model=m" if kind == "openai+http" else "")
            written += [
                _proctor(tmp_path, token, "eval", agent, "s.evalset.json", "--report", f"json={kind}.json")
            ]
        written += [_proctor(tmp_path, token, *command) for command in (["runs"], ["show"], ["resume"])]
    assert any(
        CANARY in f"{exchange.path} {_decoded(exchange.headers.get('authorization', ''))}"
        for exchange in server.requests
    )
    files = {str(path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert any(name.endswith(".json") and "http+sse" in name for name in files)
    assert any(content.startswith(b"SQLite format 3") for content in files.values())
    hits = [name for name, content in files.items() if CANARY.encode() in content]
    hits += [text for text in written if CANARY in text]
    assert hits == []


def _decoded(header: str) -> str:
    import base64

    kind, _, value = header.partition(" ")
    return base64.b64decode(value).decode() if kind == "Basic" else value


def _proctor(folder: Path, token: str, *arguments: str) -> str:
    env: dict[str, Any] = {
        **os.environ,
        "PROCTOR_AGENT_TOKEN": token,
        "PROCTOR_STORE": f"sqlite:///{folder}/runs.db",
    }
    done = fork_command(*arguments, cwd=folder, environment=env)
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def test_resume_needs_the_secret_again(tmp_path: Path) -> None:
    from proctor.agents.remote.http.address import read_address
    from proctor.errors import AgentLoadError

    with pytest.raises(AgentLoadError, match=r"has lost its secret.* set PROCTOR_AGENT_TOKEN"):
        read_address("http://***@127.0.0.1:1/", kind="http+sse")
