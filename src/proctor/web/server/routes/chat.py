"""Conversations with an agent, and saving one as a case."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import time
from collections.abc import AsyncIterator, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, HTTPException, Request
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from proctor.authoring.check_files import warning_texts
from proctor.authoring.edit_eval_set import Added, add_cases
from proctor.authoring.eval_set_files import ListedFile
from proctor.authoring.record import case_of_conversation
from proctor.common.safe_text import has_lone_surrogate
from proctor.common.secrets import hide_secrets
from proctor.errors import EvalFileError, SetupError
from proctor.files.edit.add_remove_cases import check_new_case
from proctor.files.edit.editable_file import lock_folder
from proctor.files.eval_sets.selectors import require_new_case_id
from proctor.schema.format.case import EvalCase, SessionInput
from proctor.schema.format.content import Content, FunctionResponse, Part, user_text
from proctor.schema.format.wire_model import PageModel
from proctor.web.pages.chat import ChatList, ChatPage, ChatSaved
from proctor.web.server.chat.chats import MOST_CHATS, Chats
from proctor.web.server.chat.conversation import BusyError, Chat
from proctor.web.server.context import ContextDep
from proctor.web.server.eval_set_edits import edit_session
from proctor.web.server.http.sse import COMMENT, EventResponse, event, number_in

router = APIRouter()

PAUSE = 0.04
"""Seconds between two checks for new entries."""
HEARTBEAT = 15.0

_SSE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events: `entry` (ChatEntry), each with its number as id; the last one is of kind `end`.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    },
    409: {"description": "The agent is answering, or has lost its session."},
}


def _chats(request: Request) -> Chats:
    chats: Chats = request.app.state.chats
    return chats


ChatsDep = Annotated[Chats, Depends(_chats)]


class NewChat(PageModel):
    """A new conversation."""

    agent: str
    """A name from the list of agents."""
    state: dict[str, Any] = Field(default={})
    """The initial state of the session."""
    app_name: str = ""
    user_id: str = ""


class ToolAnswer(PageModel):
    """The response of a long-running tool, which a person gives."""

    name: str
    call_id: str
    response: dict[str, Any]


class NewMessage(PageModel):
    """A message of the user: a text, or the response to an open call."""

    text: str = Field(default="", max_length=1_000_000)
    answer: ToolAnswer | None = None


class NewCaseForm(PageModel):
    """The new case that a conversation becomes."""

    eval_id: str
    eval_set: str | None = None
    """The id of an existing set; else `new_set` is the name of a new one."""
    new_set: str | None = None
    folder: str = ""
    form: str = "json"
    final_state: bool = False
    """Whether the case also expects the state keys that the conversation changed."""


@router.get("/chats")
def list_chats(chats: ChatsDep) -> ChatList:
    """Return the open conversations."""
    return ChatList(items=[chat.summary() for chat in chats.all()], most=MOST_CHATS)


@router.post("/chats", status_code=201)
async def open_chat(chats: ChatsDep, form: NewChat) -> ChatPage:
    """Start a conversation with an agent in a separate process."""
    _check_text(json.dumps(form.model_dump(), ensure_ascii=False))
    has_session = form.state or form.app_name or form.user_id
    session = (
        SessionInput(app_name=form.app_name, user_id=form.user_id, state=form.state) if has_session else None
    )
    try:
        chat = await chats.open(form.agent, session)
    except BusyError as error:
        raise HTTPException(409, str(error)) from None
    return chat.page()


@router.get("/chats/{chat}")
def get_chat(chats: ChatsDep, chat: str) -> ChatPage:
    """Return a conversation, as far as it has come."""
    return chats.find(chat).page()


@router.post("/chats/{chat}/messages", responses=_SSE, response_class=EventResponse)
async def send_message(chats: ChatsDep, chat: str, message: NewMessage) -> EventResponse:
    """Send a message and stream the agent's answer. The answer continues if the client disconnects."""
    conversation = chats.find(chat)
    before = await _run_on_loop(chats, conversation.begin(_content(message)))
    return EventResponse(_stream_entries(conversation, before))


@router.get("/chats/{chat}/events", responses=_SSE, response_class=EventResponse)
async def get_chat_events(
    chats: ChatsDep, chat: str, last_event_id: Annotated[str, Header()] = ""
) -> EventResponse:
    """Resume the stream of an answer after the entry that `Last-Event-ID` names."""
    conversation = chats.find(chat)
    return EventResponse(_stream_entries(conversation, number_in(last_event_id)))


@router.post("/chats/{chat}/stop")
async def stop_chat(chats: ChatsDep, chat: str) -> ChatPage:
    """Stop the present answer."""
    conversation = chats.find(chat)
    await chats.on_loop(conversation.stop())
    return conversation.page()


@router.post("/chats/{chat}/undo", responses=_SSE, response_class=EventResponse)
async def undo_turn(chats: ChatsDep, chat: str) -> EventResponse:
    """Undo the last turn: send the earlier messages again in a new session."""
    return await _replay(chats, chat, without_last=True)


@router.post("/chats/{chat}/again", responses=_SSE, response_class=EventResponse)
async def repeat_conversation(chats: ChatsDep, chat: str) -> EventResponse:
    """Send all messages again in a new session, after an answer that failed or was stopped."""
    return await _replay(chats, chat, without_last=False)


@router.post("/chats/{chat}/case", status_code=201)
async def save_chat(context: ContextDep, chats: ChatsDep, chat: str, form: NewCaseForm) -> ChatSaved:
    """Save the conversation as a case of a set, as `proctor record` does."""
    conversation = chats.find(chat)
    if conversation.state == "answering":
        raise HTTPException(409, "the agent is still answering: wait, or stop it")
    if not conversation.conversation.turns:
        raise HTTPException(409, "there is nothing to save: no turn is complete")
    file = await run_in_threadpool(_target, context, form)
    case = await chats.on_loop(
        case_of_conversation(conversation.conversation, form.eval_id, with_final_state=form.final_state)
    )
    try:
        added = await run_in_threadpool(_write, file, case)
    except EvalFileError as error:
        raise HTTPException(409, str(error)) from None
    edit_session(context).loader.forget(file)
    conversation.touched = time.monotonic()
    agent = conversation.reference.removeprefix(f"{context.root}{os.sep}")
    words = ["proctor", "record", agent, "--output", file.label, "--id", form.eval_id]
    return ChatSaved(
        eval_set=file.id,
        path=file.label,
        eval_id=form.eval_id,
        turns=len(case.conversation or ()),
        command=shlex.join([*map(hide_secrets, words), *(["--final-state"] if form.final_state else [])]),
        warnings=warning_texts(added.warnings),
    )


@router.delete("/chats/{chat}", status_code=204)
async def close_chat(chats: ChatsDep, chat: str) -> None:
    """End a conversation, and the agent's process."""
    await chats.close(chats.find(chat))


# --- helpers ---------------------------------------------------------------------------------------------------


async def _replay(chats: Chats, chat: str, *, without_last: bool) -> EventResponse:
    conversation = chats.find(chat)
    if without_last and not conversation.conversation.turns:
        raise HTTPException(409, "there is no turn to undo")
    return EventResponse(
        _stream_entries(
            conversation, await _run_on_loop(chats, conversation.replay(without_last=without_last))
        )
    )


async def _run_on_loop(chats: Chats, work: Coroutine[object, object, int]) -> int:
    try:
        return await chats.on_loop(work)
    except BusyError as error:
        raise HTTPException(409, str(error)) from None


def _content(message: NewMessage) -> Content:
    _check_text(message.text)
    if (answer := message.answer) is not None:
        function_response = FunctionResponse(
            id=answer.call_id or None, name=answer.name, response=answer.response
        )
        return Content(role="user", parts=[Part(function_response=function_response)])
    if not message.text.strip():
        raise HTTPException(422, "text: the message is empty; write a text, or answer an open call")
    return user_text(message.text)


def _check_text(text: str) -> None:
    if "\0" in text or "\\u0000" in text or has_lone_surrogate(text):
        raise HTTPException(422, "the text has characters that no file can store (NUL, or a lone surrogate)")


def _target(context: ContextDep, form: NewCaseForm) -> ListedFile:
    """Return the file for the case; report the problems that would prevent writing it."""
    sets = edit_session(context).sets
    require_new_case_id(form.eval_id)
    if (form.eval_set is None) == (form.new_set is None):
        raise SetupError("name either an existing set (`eval_set`) or a new one (`new_set`)")
    if form.new_set is not None:
        file = sets.new(form.new_set, form.folder, form.form)
        if file.path.exists():
            raise HTTPException(409, f"{file.label}: this file exists already: choose it, or another name")
    else:
        file = sets.find(form.eval_set or "")
        if file.fault:
            raise SetupError(f"{file.label}: {file.fault}")
    try:
        check_new_case(file.path, form.eval_id)
    except EvalFileError as error:
        raise HTTPException(409, str(error)) from None
    return file


def _write(file: ListedFile, case: EvalCase) -> Added:
    with lock_folder(file.path):
        return add_cases(file.path, [case])


async def _stream_entries(chat: Chat, number: int) -> AsyncIterator[bytes]:
    """Yield the entries after this number until the answer is complete."""
    quiet = 0.0
    while True:
        is_over = chat.state != "answering"  # read first, so that the last entries are not missed
        news = chat.since(number)
        for entry in news:
            number, quiet = entry.number, 0.0
            yield event("entry", entry.model_dump_json().encode(), str(number))
        if is_over:
            return
        if not news:
            await asyncio.sleep(PAUSE)
            quiet += PAUSE
            if quiet >= HEARTBEAT:
                quiet = 0.0
                yield COMMENT
