"""Agents of the A2A SDK that follow the message: prints its port, and serves until it is ended.

`/v1` speaks 1.0 with streaming, `/plain` 1.0 without, `/old` 0.3. The first word of a message names the action.
"""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from a2a.helpers import (
    new_data_part,
    new_raw_part,
    new_task_from_user_message,
    new_text_message,
    new_text_part,
)
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, Role
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

logging.disable(logging.CRITICAL)

CANCELLED: list[str] = []
Do = Callable[[TaskUpdater, Any], Awaitable[None]]


def message(up: TaskUpdater, text: str) -> Any:
    return up.new_agent_message([new_text_part(text)])


async def artifact(up: TaskUpdater, context: Any) -> None:
    await up.start_work(message(up, "I am at it."))
    await up.add_artifact([new_text_part("The "), new_text_part("answer.")], name="answer")
    await up.complete()


async def said(up: TaskUpdater, context: Any) -> None:
    await up.complete(message(up, f"You sent {context.get_user_input()}"))


async def chunks(up: TaskUpdater, context: Any) -> None:
    for number, text in enumerate(("Piece ", "by ", "piece.")):
        await up.add_artifact(
            [new_text_part(text)], artifact_id="a", append=number > 0, last_chunk=number == 2
        )
    await up.complete()


async def twice(up: TaskUpdater, context: Any) -> None:
    """The same words as a message and as an artifact."""
    await up.start_work(message(up, "Forty-two."))
    await up.add_artifact([new_text_part("Forty-two.")], last_chunk=True)
    await up.complete()


async def ask(up: TaskUpdater, context: Any) -> None:
    await up.requires_input(message(up, "Which city?"))


async def fail(up: TaskUpdater, context: Any) -> None:
    await up.failed(message(up, "the model is away"))


async def reject(up: TaskUpdater, context: Any) -> None:
    await up.reject(message(up, "not for you"))


async def auth(up: TaskUpdater, context: Any) -> None:
    await up.requires_auth(message(up, "sign in first"))


async def crash(up: TaskUpdater, context: Any) -> None:
    raise LookupError("no such thing")


async def data(up: TaskUpdater, context: Any) -> None:
    await up.add_artifact([new_data_part({"total": 3, "half": 0.5})])
    await up.complete()


async def image(up: TaskUpdater, context: Any) -> None:
    await up.add_artifact([new_raw_part(b"\x00\x01", media_type="image/png")])
    await up.complete()


async def told(up: TaskUpdater, context: Any) -> None:
    """Answer with the received data: metadata, and the kinds of parts."""
    parts = [part.WhichOneof("content") for part in context.message.parts]
    await up.add_artifact([new_data_part({"metadata": dict(context.metadata), "parts": parts})])
    await up.complete()


async def wait(up: TaskUpdater, context: Any) -> None:
    await up.start_work()
    await asyncio.sleep(60)


DO: dict[str, Do] = {
    do.__name__: do
    for do in (artifact, said, chunks, twice, ask, fail, reject, auth, crash, data, image, told, wait)
}


class Obedient(AgentExecutor):
    """Run the action named by the first word of a message."""

    async def execute(self, context: Any, event_queue: Any) -> None:
        words = context.get_user_input().split() or [""]
        if words[0] == "direct":
            await event_queue.enqueue_event(
                new_text_message("Hello.", role=Role.ROLE_AGENT, context_id=context.context_id)
            )
            return
        task = context.current_task
        if task is None:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        up = TaskUpdater(event_queue, context.task_id, context.context_id)
        if words[0] == "cancelled":
            await up.complete(message(up, ",".join(CANCELLED)))
        elif task is not None:
            await up.complete(message(up, f"So {words[0]} it is."))
        else:
            await DO[words[0]](up, context)

    async def cancel(self, context: Any, event_queue: Any) -> None:
        CANCELLED.append("yes")
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def card(url: str, *, streams: bool) -> AgentCard:
    return AgentCard(
        name="obedient",
        description="Follows the message.",
        version="7",
        supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=streams),
    )


def old_card(url: str) -> dict[str, Any]:
    return {
        "name": "obedient",
        "description": "Follows the message.",
        "version": "7",
        "protocolVersion": "0.3.0",
        "url": url,
        "preferredTransport": "JSONRPC",
        "capabilities": {"streaming": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [],
    }


def routes(base: str) -> list[Any]:
    found: list[Any] = []
    for path in ("/v1", "/plain", "/old"):
        told_card = card(f"{base}{path}", streams=path != "/plain")
        handler = DefaultRequestHandler(
            agent_executor=Obedient(), task_store=InMemoryTaskStore(), agent_card=told_card
        )
        found += create_jsonrpc_routes(handler, path, enable_v0_3_compat=path == "/old")
        if path != "/old":
            found += create_agent_card_routes(told_card, card_url=f"{path}/.well-known/agent-card.json")
    answer = JSONResponse(old_card("http://elsewhere.example/old"))
    return [*found, Route("/old/.well-known/agent.json", lambda request: answer)]


def main() -> None:
    uvicorn: Any = import_module("uvicorn")
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)
        port = listening.getsockname()[1]
        print(port, flush=True)
        app = Starlette(routes=routes(f"http://127.0.0.1:{port}"))
        uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listening])


if __name__ == "__main__":
    main()
