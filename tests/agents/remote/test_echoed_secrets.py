"""A secret of an agent's address is absent from all stored data, for any answer of its server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.common.secrets import HIDDEN
from tests.agents.remote import test_a2a_faults as a2a, test_adk_faults as adk
from tests.agents.remote.misbehaving import EVENT_STREAM, Exchange, Script, serving, stream
from tests.agents.remote.test_openai import call, completion, pieces

pytest.importorskip("httpx", reason="the extra `http` is not installed")

SECRET = "canary-7d20ab"
CASE = {
    "eval_id": "c",
    "conversation": [
        {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": f"It is {HIDDEN}"}]}}
    ],
}  # fmt: skip
TEXT = f"It is {SECRET}"
EVENT = {
    "author": "bot",
    "content": {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": [SECRET], SECRET: 1}}}]},
}  # fmt: skip
ANSWER = {"author": "bot", "content": {"role": "model", "parts": [{"text": TEXT}]}}
CHANGED = {**ANSWER, "actions": {"stateDelta": {"k": SECRET}}}


def as_json(body: Any, kind: str = "application/json") -> Script:
    return lambda exchange: exchange.answer(body, kind)


def posted(script: Script, got: Any = None) -> Script:
    """Answer a POST by `script`, and a GET with `got`."""
    return lambda exchange: script(exchange) if exchange.method == "POST" else exchange.answer(got or {}, status=200 if got else 404)  # fmt: skip


RESPONSE = {
    "status": "completed",
    "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": TEXT}]}],
}
SPLIT: list[dict[str, Any]] = [
    {"content": "It is " + SECRET[:5]},
    {"content": SECRET[5:], "tool_calls": [{"index": 0, **call("f", f'{{"a": "{SECRET[:7]}')}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": f'{SECRET[7:]}"}}'}}]},
]
CARD = {**a2a.CARD, "name": f"bot {SECRET}", "description": SECRET}
STREAMED = stream({"text": TEXT}, {"type": "done", "state": {"k": SECRET, SECRET: [SECRET]}})
TASK = a2a.result(
    task={
        "id": "t",
        "contextId": "c",
        "status": {"state": "TASK_STATE_COMPLETED"},
        "artifacts": [{"artifactId": "a", "parts": [{"text": TEXT}]}],
    }
)
SERVERS: dict[str, tuple[str, Script]] = {
    "http+sse at once": ("http+sse:{}", posted(as_json({"text": TEXT, "state_delta": {SECRET: SECRET}}), {"name": SECRET})),
    "http+sse": ("http+sse:{}", posted(as_json(STREAMED, EVENT_STREAM), {"name": SECRET})),
    "openai+http": ("openai+http:{}?model=m", posted(as_json(completion({"content": TEXT, "tool_calls": [call("f", json.dumps({"a": SECRET}))]})))),
    "openai+http in pieces": ("openai+http:{}?model=m&stream=true", posted(as_json(pieces(*SPLIT), EVENT_STREAM))),
    "openai+http responses": ("openai+http:{}?model=m&api=responses", posted(as_json(RESPONSE))),
    "adk+http": ("adk+http:{}/app", adk.server(as_json(stream(EVENT, CHANGED, ANSWER), EVENT_STREAM), make=lambda body, _path: (body["sessionId"], {**body["state"], "made_for": SECRET}))),
    "adk+http without streams": ("adk+http:{}/app?via=run", adk.server(as_json([EVENT, ANSWER]))),
    "a2a+http": ("a2a+http:{}", a2a.server(as_json(stream(a2a.status("TASK_STATE_COMPLETED", TEXT)), EVENT_STREAM), CARD)),
    "a2a+http without streams": ("a2a+http:{}", a2a.server(as_json(TASK), {**CARD, "capabilities": {}})),
}  # fmt: skip


def _by_password(url: str, _patch: pytest.MonkeyPatch) -> str:
    return url.replace("//", f"//me:{SECRET}@")


def _by_environment(url: str, patch: pytest.MonkeyPatch) -> str:
    patch.setenv("PROCTOR_AGENT_TOKEN", SECRET)
    return url


@pytest.mark.parametrize("asker", [_by_password, _by_environment])
@pytest.mark.parametrize(("agent", "script"), SERVERS.values(), ids=SERVERS)
def test_what_a_server_repeats_shows_no_secret(
    agent: str,
    script: Script,
    asker: Callable[[str, pytest.MonkeyPatch], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    eval_set = {"eval_set_id": "s", "eval_cases": [CASE]}
    with serving(script) as server:
        address = agent.format(asker(f"http://127.0.0.1:{server.port}", monkeypatch))
        store = tmp_path / "runs.sqlite3"
        run = proctor.evaluate_sync(address, eval_set, config={"criteria": {"exact_match": 1}}, store=store)
    assert any(SECRET in text or "Basic" in text for text in map(_asked_by, server.requests))
    assert run.failure is None
    assert run.cases[0].trials[0].trial is not None
    assert run.cases[0].trials[0].trial.failure is None, run.cases[0].reason
    proctor.export_run(run, "json", tmp_path / "run.json")
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert HIDDEN.encode() in kept["run.json"]
    assert [name for name, content in kept.items() if SECRET.encode() in content] == []


def _asked_by(exchange: Exchange) -> str:
    return exchange.headers.get("authorization", "")


def test_names_of_the_protocol_are_as_they_are(tmp_path: Path) -> None:
    """A password that is part of an app's name does not change the address that is asked."""
    app_server = adk.server(as_json(stream(adk.ANSWER), EVENT_STREAM), apps=["demo_app"])
    with serving(app_server) as server:
        agent = f"adk+http:http://me:demo@127.0.0.1:{server.port}/demo_app"
        run = proctor.evaluate_sync(agent, {"eval_set_id": "s", "eval_cases": [CASE]}, config={"criteria": {"exact_match": 1}})  # fmt: skip
    assert run.failure is None
    assert run.cases[0].trials[0].trial is not None
    assert run.cases[0].trials[0].trial.failure is None, run.cases[0].reason
