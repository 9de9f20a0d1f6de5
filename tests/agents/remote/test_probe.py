"""A bare URL: the protocol behind it is detected and reported."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from proctor.agents.load import load_agent
from proctor.errors import AgentLoadError
from tests.agents.remote.misbehaving import Exchange, Server, serving, unused_port

pytest.importorskip("httpx", reason="the extra `http` is not installed")


def answering(paths: Mapping[str, Any]) -> Any:
    """A server that has JSON at some paths, and a refusal at all others."""

    def script(exchange: Exchange) -> None:
        if exchange.path in paths:
            exchange.answer(paths[exchange.path])
        else:
            exchange.answer(b"<html>no such page</html>", "text/html", 404)

    return serving(script)


def opened(url: str) -> str:
    """The name that the agent found there has."""

    async def run() -> str:
        agent: Any = load_agent(url)
        try:
            await agent.open()
            name: str = (await agent.describe()).name
            return name
        finally:
            await agent.close()

    return asyncio.run(run())


MODELS = {"data": [{"id": "solo"}]}


@pytest.mark.parametrize(
    ("url", "paths", "name"),
    [
        ("{}", {"/v1/models": MODELS}, "openai+http:{}/v1 (solo)"),
        ("{}/", {"/v1/models": MODELS}, "openai+http:{}/v1 (solo)"),
        ("{}/v1", {"/v1/models": MODELS}, "openai+http:{}/v1 (solo)"),
        ("{}/team/v1/", {"/team/v1/models": MODELS}, "openai+http:{}/team/v1/ (solo)"),
        ("{}/chat", {"/chat": {"protocol": 1}}, "http+sse:{}/chat"),
        ("{}", {"/": {"protocol": 1, "name": "shop"}}, "shop"),
    ],
)
def test_what_is_found_is_run(url: str, paths: dict[str, Any], name: str) -> None:
    with answering(paths) as server:
        assert opened(url.format(server.url)) == name.format(server.url)


def test_who_asks_goes_along() -> None:
    with answering({"/v1/models": MODELS}) as server:
        name = opened(server.url.replace("//", "//me:hunter2@"))
    assert name == f"openai+http:{server.url}/v1 (solo)"
    assert {exchange.headers.get("authorization") for exchange in server.requests} == {
        "Basic bWU6aHVudGVyMg=="
    }


def refused(server: Server, path: str = "") -> str:
    with pytest.raises(AgentLoadError) as caught:
        opened(f"{server.url}{path}")
    return str(caught.value)


def test_refused_attempts_are_counted() -> None:
    with answering({}) as server:
        message = refused(server, "/x")
    assert "tried 5 addresses: all answered 404 (Not Found).\n" in message
    assert "Call it from a Python function: docs/how-to/agents/remote.md#any-other-http-api\n" in message
    assert "no such page" not in message
    assert "Chat completions" not in message


def test_different_answers_are_listed() -> None:
    with answering({"/x": {"hello": "there"}}) as server:
        message = refused(server, "/x")
    for path in ("/x/.well-known/agent-card.json", "/x/list-apps", "/x/v1/models"):
        assert f"\n  {path}: 404 (Not Found)\n" in message
    assert "\n  /x: something else\n" in message


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/chat/completions/"])
def test_url_of_chat_completions_names_the_base_url(path: str) -> None:
    with answering({}) as server:
        message = refused(server, path)
        assert f"Write the base URL: openai+http:{server.url}/v1?model=NAME\n" in message


def test_more_than_one_thing_is_not_chosen_from() -> None:
    with answering({"/v1/models": MODELS, "/": {"protocol": 1}}) as server:
        message = refused(server)
    assert f"openai+http:{server.url}/v1 or http+sse:{server.url}" in message


@pytest.mark.parametrize(
    "data", [{}, [], "text", {"data": 7}, {"data": ["m"]}, {"protocol": 2}, [1, 2], {"name": "x"}]
)
def test_what_only_looks_alike_is_not_taken(data: Any) -> None:
    paths = ("/", "/list-apps", "/v1/models", "/.well-known/agent.json", "/.well-known/agent-card.json")
    with answering(dict.fromkeys(paths, data)) as server:
        assert "something else" in refused(server)


def test_refused_connection_is_reported() -> None:
    with pytest.raises(AgentLoadError, match="nothing listens there"):
        opened(f"http://127.0.0.1:{unused_port()}")


def test_silent_server_does_not_block_the_detection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.agents.remote.detect._SECONDS", 0.3)
    with serving(Exchange.hang) as server:
        assert "/list-apps: no answer within 0.3 s" in refused(server)


def test_no_redirect_is_followed() -> None:
    with answering({"/list-apps": ["app"]}) as there:
        with serving(lambda e: e.answer(b"", status=302, Location=f"{there.url}{e.path}")) as server:
            assert "redirects (302)" in refused(server)
        assert not there.requests
