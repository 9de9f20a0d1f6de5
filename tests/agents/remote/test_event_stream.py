"""Server-sent events: what is in a stream does not depend on how it is cut."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from proctor.agents.remote.http.response_reader import EventTooLargeError, ServerEvent, StreamReader

M = ServerEvent
STREAMS = [
    (b"data: one\n\n", [M("one")]),
    (b"data:one\n\n", [M("one")]),
    (b"data:  two blanks\n\n", [M(" two blanks")]),
    (b"data: a\ndata: b\n\n", [M("a\nb")]),
    (b"data\n\n", [M("")]),
    (b"data: a\r\n\r\ndata: b\r\n\r\n", [M("a"), M("b")]),
    (b"data: a\r\rdata: b\r\r", [M("a"), M("b")]),
    (b": a comment\n\n:\n\ndata: a\n: within\ndata: b\n\n", [M("a\nb")]),
    (b"event: done\ndata: {}\n\n", [M("{}", "done")]),
    (b"event: nothing\n\ndata: a\n\n", [M("a")]),
    (b"id: 7\nretry: 10\nunknown: x\ndata: a\n\n", [M("a")]),
    (b"\xef\xbb\xbfdata: a\n\n", [M("a")]),
    ("data: \xe4\u20ac\U0001f600\n\n".encode(), [M("\xe4\u20ac\U0001f600")]),
    (b"data: \xff\n\n", [M("\ufffd")]),
    (b"data: a\x0bb\x1c\xe2\x80\xa8c\n\n", [M("a\x0bb\x1c\u2028c")]),
    (b"\n\n\n", []),
]


@pytest.mark.parametrize(("stream", "events"), STREAMS, ids=[repr(stream) for stream, _ in STREAMS])
def test_a_stream_and_its_events_however_it_is_cut(stream: bytes, events: list[ServerEvent]) -> None:
    for size in range(1, len(stream) + 1):
        reader = StreamReader(1000)
        pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
        assert [event for piece in pieces for event in reader.feed(piece)] == events, size
        assert not reader.is_unfinished


@pytest.mark.slow
@given(st.data())
def test_what_is_written_is_read(data: st.DataObject) -> None:
    texts = data.draw(
        st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r")), max_size=5)
    )
    end = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    stream = "".join(
        end.join(f"data: {line}" for line in text.split("\n")) + end + end for text in texts
    ).encode()
    reader, at = StreamReader(10_000), 0
    came: list[ServerEvent] = []
    while at < len(stream):
        step = data.draw(st.integers(1, 20))
        came += reader.feed(stream[at : at + step])
        at += step
    assert [event.data for event in came] == texts


@pytest.mark.parametrize("stream", [b"data: a", b"data: a\n", b"data: a\n\ndata: b\n"])
def test_event_without_a_blank_line_is_dropped(stream: bytes) -> None:
    reader = StreamReader(1000)
    assert M("b") not in list(reader.feed(stream))
    assert reader.is_unfinished


@pytest.mark.parametrize(
    "stream", [b"data: " + b"x" * 200, b"data: x\n" * 30, b"x" * 200, b": " + b"x" * 200]
)
def test_an_event_has_bounds(stream: bytes) -> None:
    reader = StreamReader(100)
    with pytest.raises(EventTooLargeError):
        list(reader.feed(stream))


def test_comments_that_keep_a_stream_alive_add_up_to_nothing() -> None:
    reader = StreamReader(100)
    for _ in range(1000):
        assert list(reader.feed(b": ping\n\n: ping\n")) == []
    assert list(reader.feed(b"data: a\n\n")) == [M("a")]
