"""The HTTP client of agents elsewhere: what it sends, what it reads, and what it makes of what no server should do."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import ssl
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from proctor.agents.remote.http.address import read_address
from proctor.agents.remote.http.client import HttpClient
from proctor.agents.remote.http.errors import NotConnectedError
from proctor.agents.remote.http.response_reader import EVENTS, Bounds
from proctor.errors import (
    AgentError,
    AgentLoadError,
    AgentRaisedError,
    AgentTruncatedError,
    AgentUnreachableError,
)
from tests.agents.remote.misbehaving import Exchange, Server, chunk, gzip_bomb, head, serving, unused_port

pytest.importorskip("httpx", reason="the extra `http` is not installed")


def client(url: str, **bounds: Any) -> HttpClient:
    return HttpClient(read_address(url, kind="http+sse"), bounds=Bounds(**bounds))


def asked(url: str, path: str = "", body: Any = None, **bounds: Any) -> Any:
    """The JSON that one request brings."""

    async def ask() -> Any:
        http = client(url, **bounds)
        try:
            return await http.ask(path, body)
        finally:
            await http.close()

    return asyncio.run(ask())


def streamed(url: str, **bounds: Any) -> list[str]:
    async def read() -> list[str]:
        http = client(url, **bounds)
        try:
            async with http.send("", {}, accept=EVENTS) as reply:
                return [event.data async for event in reply.events()]
        finally:
            await http.close()

    return asyncio.run(read())


def test_json_goes_out_and_comes_back() -> None:
    with serving(lambda exchange: exchange.answer({"got": exchange.json, "é": "\ud83d\ude00"})) as server:
        assert asked(f"{server.url}/base?team=red", "run", {"text": "grüezi"}) == {
            "got": {"text": "grüezi"},
            "é": "😀",
        }
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/base/run?team=red")
    assert request.headers["content-type"] == "application/json"
    assert request.headers["accept-encoding"] == "identity"
    assert "authorization" not in request.headers


def test_without_a_body_it_is_a_get_and_nothing_is_none() -> None:
    with serving(lambda exchange: exchange.answer(b"")) as server:
        assert asked(server.url, "list-apps") is None
    assert server.requests[0].method == "GET"


def test_a_connection_serves_one_request_after_the_other() -> None:
    async def ask(http: HttpClient) -> None:
        for _ in range(5):
            await http.ask("", {})
        await asyncio.gather(*(http.ask("", {}) for _ in range(20)))
        await http.close()

    def script(exchange: Exchange) -> None:
        if exchange.number >= 5:
            time.sleep(0.05)
        exchange.answer({})

    with serving(script) as server:
        asyncio.run(ask(client(server.url)))
        assert server.connections <= 20
        assert server.requests[4].sock is server.requests[0].sock
        assert server.all_closed()


def test_no_cookie_goes_from_one_conversation_to_another() -> None:
    with serving(
        lambda exchange: exchange.answer({}, Set_Cookie=f"conversation={exchange.number}")
    ) as server:
        http = client(server.url)

        async def ask() -> None:
            await http.ask("", {})
            await http.ask("", {})
            await http.close()

        asyncio.run(ask())
        assert [exchange.headers.get("cookie") for exchange in server.requests] == [None, None]


def test_client_closed_in_the_middle_of_an_answer_leaves_nothing_open() -> None:
    async def read(url: str) -> None:
        http = client(url)
        async with http.send("", {}) as reply:
            await http.close()
            assert await reply.json() == {}

    with serving(lambda exchange: exchange.answer({})) as server:
        asyncio.run(read(server.url))
        assert server.all_closed()


def test_a_client_is_used_in_one_event_loop_after_the_other() -> None:
    with serving(lambda exchange: exchange.answer(exchange.number)) as server:
        http = client(server.url)

        async def ask() -> Any:
            answer = await http.ask()
            await http.close()
            return answer

        assert [asyncio.run(ask()), asyncio.run(ask())] == [0, 1]


# --- what no server should do -----------------------------------------------------------------------------------------

Fault = Callable[[Exchange], object]
GOOD = b'{"text": "an answer"}'


def packed(encoding: str, content: bytes) -> Fault:
    return lambda exchange: exchange.answer(content, Content_Encoding=encoding)


def raw(data: bytes) -> Fault:
    def script(exchange: Exchange) -> bool:
        exchange.send(data)
        return False

    return script


FAULTS: dict[str, tuple[Fault, type[AgentError], str]] = {
    "reset": (Exchange.reset, AgentTruncatedError, "closed the connection without an answer"),
    "closed": (lambda exchange: False, AgentTruncatedError, "closed the connection without an answer"),
    "cut": (raw(head(200, "application/json", length=99) + GOOD), AgentTruncatedError, "broke off in the middle"),
    "cut in a chunk": (
        raw(head(200, "application/json", Transfer_Encoding="chunked") + b"15\r\n" + GOOD[:5]),
        AgentTruncatedError,
        "broke off in the middle",
    ),
    "chunks without an end": (
        raw(head(200, "application/json", Transfer_Encoding="chunked") + chunk(GOOD)),
        AgentTruncatedError,
        "broke off in the middle",
    ),
    "more behind the end": (
        raw(head(200, "application/json", length=len(GOOD)) + GOOD + b"and more"),
        AgentError,
        "sent more behind the end of its answer: 'and more'",
    ),
    "a chunk behind the end": (
        raw(head(200, "application/json", Transfer_Encoding="chunked") + chunk(GOOD) + chunk(b"") + chunk(GOOD)),
        AgentError,
        "sent more behind the end",
    ),
    "no HTTP": (raw(b"SSH-2.0-OpenSSH\r\n\r\n"), AgentError, "does not speak HTTP as it should"),
    "endless head": (raw(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000), AgentError, "does not speak HTTP as it should"),
    "two lengths": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} "), AgentError, "HTTP"),
    "HTML": (
        lambda exchange: exchange.answer(b"<html>Sign in to this network</html>", "text/html"),
        AgentError,
        "answered with an HTML page where JSON was expected",
    ),
    "no JSON": (lambda exchange: exchange.answer(b"{'text': 1}"), AgentError, "Expecting property name"),
    "half JSON": (lambda exchange: exchange.answer(GOOD[:9]), AgentError, "where JSON was expected"),
    "deep JSON": (lambda exchange: exchange.answer(b"[" * 100_000), AgentError, "nested too deep"),
    "long number": (lambda exchange: exchange.answer(b"9" * 5_000), AgentError, "where JSON was expected"),
    "no gzip": (packed("gzip", GOOD), AgentError, "declares a compressed answer, but it is not"),
    "half gzip": (packed("gzip", gzip.compress(GOOD)[:-9]), AgentTruncatedError, "in the middle of its packed answer"),
    "gzip bomb": (lambda exchange: exchange.answer(gzip_bomb(), Content_Encoding="gzip"), AgentError, "sends too much: more than 33,554,432"),
    "brotli": (packed("br", GOOD), AgentError, "packs its answer as str 'br'"),
    "redirect to a file": (
        lambda exchange: exchange.answer(b"", status=302, Location="file:///etc/passwd"),
        AgentError,
        "redirects (302) to file:///etc/passwd, which is not followed",
    ),
    "redirect elsewhere": (
        lambda exchange: exchange.answer(b"", status=307, Location="http://other.example/"),
        AgentError,
        "redirects (307) to http://other.example/",
    ),
    "a promise": (lambda exchange: exchange.answer({}, status=202), AgentError, "status 202, which is not a complete answer"),
    "a part": (lambda exchange: exchange.answer({}, status=206), AgentError, "status 206, which is not a complete answer"),
    "redirect to nowhere": (lambda exchange: exchange.answer(b"", status=301), AgentError, "to nowhere"),
    "unauthorized": (lambda exchange: exchange.answer({}, status=401), AgentError, "Set PROCTOR_AGENT_TOKEN"),
    "not found": (lambda exchange: exchange.answer(b"no such page", "text/plain", 404), AgentError, "Is the path right?"),
    "invalid": (
        lambda exchange: exchange.answer({"detail": "field required"}, status=422),
        AgentError,
        "refuses the request with status 422: 'field required'",
    ),
    "too many": (lambda exchange: exchange.answer({}, status=429), AgentUnreachableError, "accepts no request now: status 429"),
    "unavailable for long": (
        lambda exchange: exchange.answer(b"", status=503, Retry_After="3600"),
        AgentUnreachableError,
        "status 503, and asks to wait 3.6e+03 s",
    ),
    "crashed": (
        lambda exchange: exchange.answer({"error": {"message": "KeyError: 'city'"}}, status=500),
        AgentRaisedError,
        'failed with status 500: "KeyError: \'city\'"',
    ),
    "bad gateway": (lambda exchange: exchange.answer(b"<h1>nginx</h1>", "text/html", 502), AgentRaisedError, "status 502"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_protocol_violations_of_a_server_are_distinguished(name: str) -> None:
    script, kind, message = FAULTS[name]
    with serving(script) as server, pytest.raises(AgentError) as caught:
        asked(server.url, "", {})
    assert (type(caught.value), caught.value.args[0][: len(server.url) + 13]) == (
        kind,
        f"the agent at {server.url}",
    )
    assert message in str(caught.value)
    assert len(str(caught.value)) < 600


def test_packed_well_it_is_read_all_the_same() -> None:
    for encoding, content in (("gzip", gzip.compress(GOOD)), ("deflate", zlib.compress(GOOD))):
        with serving(packed(encoding, content)) as server:
            assert asked(server.url) == json.loads(GOOD)


def test_nothing_listens() -> None:
    with pytest.raises(NotConnectedError, match="nothing listens there; is it running"):
        asked(f"http://127.0.0.1:{unused_port()}")


def test_the_name_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HTTP_PROXY")
    with pytest.raises(NotConnectedError, match=re.escape("'127.nowhere.invalid' is not known (DNS)")):
        asked("http://127.nowhere.invalid:8000")


def test_the_name_can_be_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HTTP_PROXY")
    with pytest.raises(NotConnectedError, match="is not known"):
        asked(f"http://127.{'a' * 70}.invalid/")


@pytest.mark.parametrize("url", ["http://ä..b/", "http://h/" + "x" * 70_000])
def test_what_no_client_takes_is_a_mistake_of_set_up(url: str) -> None:
    with pytest.raises(AgentLoadError, match="has no usable address"):
        client(url)


def test_no_tls_where_https_is_written(server: Server) -> None:
    with pytest.raises(NotConnectedError, match=r"no TLS connection .* is it http:// rather than https://"):
        asked(server.url.replace("http", "https"), connect=3)


def test_untrusted_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cryptography", reason="the extra `judges`, which brings it, is not installed")
    certificate = _certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    with serving(lambda exchange: exchange.answer("an answer"), tls=context) as server:
        with pytest.raises(NotConnectedError, match=r"its TLS certificate is not trusted .* SSL_CERT_FILE"):
            asked(server.url)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert asked(server.url) == "an answer"
        with pytest.raises(NotConnectedError, match="not valid for 'localhost'"):
            asked(server.url.replace("127.0.0.1", "localhost"))


def _certificate(folder: Path) -> Path:
    """A file with a key and a certificate for 127.0.0.1, signed by itself."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a test")])
    now = datetime.now(UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(address, critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "server.pem"
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def server() -> Any:
    with serving(lambda exchange: exchange.answer({})) as running:
        yield running


# --- time and size ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "kind", "message"),
    [
        (Exchange.hang, AgentUnreachableError, "sent no answer"),
        (lambda e: (e.send(head(200, "application/json", length=9)), e.hang()), AgentTruncatedError, "nothing for too long"),
    ],
    ids=["before its head", "after its head"],
)  # fmt: skip
def test_silence_has_a_separate_limit(script: Fault, kind: type[AgentError], message: str) -> None:
    with serving(script) as server, pytest.raises(kind, match=message):
        asked(server.url, silence=0.2)


def test_what_trickles_has_one_too() -> None:
    with serving(lambda e: e.trickle(head(200, "application/json", length=999) + b" " * 999, 0.05)) as server:
        began = time.monotonic()
        with pytest.raises(AgentTruncatedError, match="was not done within"):
            asked(server.url, longest=0.5)
        assert 0.4 < time.monotonic() - began < 30
        assert server.all_closed()


@pytest.mark.parametrize("script", [
    Exchange.hang,
    lambda e: e.trickle(head(200, EVENTS) + b": x\n" * 999, 0.05),
    lambda e: [e.send(head(200, EVENTS)), *(e.send(b": x\n\n" * 1000) for _ in iter(e.over.is_set, True))],
], ids=["hangs", "slow loris", "endless comments"])  # fmt: skip
def test_cancelled_request_is_released_at_once(script: Fault) -> None:
    async def cancelled(url: str) -> float:
        http = client(url)

        async def read() -> None:
            async with http.send("", {}, accept=EVENTS) as reply:
                async for _ in reply.events():
                    pass

        reading = asyncio.create_task(read())
        await asyncio.sleep(0.3)
        began = time.monotonic()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        return time.monotonic() - began

    with serving(script) as server:
        assert asyncio.run(cancelled(server.url)) < 10  # nothing of it ends by itself
        assert server.all_closed()


def test_an_endless_stream_has_bounds() -> None:
    def script(exchange: Exchange) -> bool:
        exchange.send(head(200, EVENTS))
        while not exchange.over.is_set():
            exchange.send(b"data: " + b"x" * 1000 + b"\n\n")
        return False

    with serving(script) as server:
        with pytest.raises(AgentError, match="more than 1,000,000 bytes in an answer"):
            streamed(server.url, max_body=1_000_000)
        assert server.all_closed()


def test_a_stream_that_ends_within_an_event_is_truncated() -> None:
    with (
        serving(lambda e: e.answer(b'data: 1\n\ndata: {"type": "done"}\n', EVENTS)) as server,
        pytest.raises(AgentTruncatedError, match="no blank line after it"),
    ):
        streamed(server.url)


# --- waiting as asked -------------------------------------------------------------------------------------------------


def test_a_server_that_asks_to_wait_is_waited_for() -> None:
    def script(exchange: Exchange) -> None:
        if exchange.number < 3:
            exchange.answer({}, status=(429, 503)[exchange.number % 2], Retry_After="0.1")
        else:
            exchange.answer("an answer")

    with serving(script) as server:
        began = time.monotonic()
        assert asked(server.url) == "an answer"
        assert 0.3 <= time.monotonic() - began < 30
    assert len(server.requests) == 4


def test_but_not_for_ever() -> None:
    with (
        serving(lambda e: e.answer({}, status=429, Retry_After="0.1")) as server,
        pytest.raises(AgentUnreachableError, match=r"asks to wait 0\.1 s"),
    ):
        asked(server.url, patience=0.25)
    assert len(server.requests) == 3


# --- credentials and destinations -----------------------------------------------------------------------------------------------

SECRET = "hunter2-canary-7f3a"


@pytest.mark.parametrize(
    ("url", "token", "header"),
    [
        ("http://{}/", SECRET, f"Bearer {SECRET}"),
        (f"http://me:{SECRET}@{{}}/", "", "Basic bWU6aHVudGVyMi1jYW5hcnktN2YzYQ=="),
        (f"http://me:{SECRET}@{{}}/", "another-token", "Basic bWU6aHVudGVyMi1jYW5hcnktN2YzYQ=="),
        (f"http://{SECRET}@{{}}/", "", "Basic aHVudGVyMi1jYW5hcnktN2YzYTo="),
        (f"http://{{}}/?token={SECRET}", "", None),
        (f"http://{{}}/?x=1&api_key={SECRET}", "", None),
    ],
)
def test_credentials_are_sent_to_the_server_only(
    url: str, token: str, header: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_AGENT_TOKEN", token)

    def script(exchange: Exchange) -> None:
        message = f"{exchange.path} {exchange.headers.get('authorization')} {SECRET} not good"
        exchange.answer({"error": message}, status=(401, 500, 302)[exchange.number], Location=exchange.path)

    with serving(script) as server:
        address = url.format(server.url.removeprefix("http://"))
        http = client(address)
        for _ in range(3):
            with pytest.raises(AgentError) as caught:
                asked(address)
            assert "hunter2" not in str(caught.value)
            assert "bWU6" not in str(caught.value)
        assert "hunter2" not in repr(http.address) + http.address.shown
    assert server.requests[0].headers.get("authorization") == header
    assert ("hunter2" in server.requests[0].path) == (header is None)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("", "has no address after its colon"),
        ("localhost:8000", "expected http:// or https://"),
        ("ftp://host/", "expected http:// or https://"),
        ("file:///etc/passwd", "expected http:// or https://"),
        ("http://", "expected http:// or https://"),
        ("http://host:99999/", "Port out of range"),
        ("http://host:x/", "Port could not be cast"),
        ("http://[::1/", "Invalid IPv6"),
        ("http://ho st/", "a blank or a control character"),
        (f"http://me:{SECRET}@host:x/", "Port could not be cast"),
    ],
)
def test_invalid_address_is_a_configuration_error(address: str, message: str) -> None:
    with pytest.raises(AgentLoadError, match=re.escape(message)) as caught:
        read_address(address, kind="adk+http")
    assert "adk+http:http://127.0.0.1:8000" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("//host:1", "http://host:1"),
        ("http://me:x@host/a?b=1#c", "http://host/a?b=1"),
        ("HTTPS://Host/", "https://Host/"),
        ("http://[::1]:8000/x", "http://[::1]:8000/x"),
    ],
)
def test_addresses(text: str, url: str) -> None:
    assert read_address(text, kind="http+sse").url == url


def test_options_are_taken_out_of_the_query() -> None:
    address = read_address("http://host/v1?team=red&model=a%2Fb&x=", kind="openai+http")
    taken, left = address.take("model")
    assert (taken, left.url) == ({"model": "a/b"}, "http://host/v1?team=red&x=")
    assert left.join("chat/completions") == "http://host/v1/chat/completions?team=red&x="


def test_no_proxy_is_used_for_this_machine(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{unused_port()}")
    monkeypatch.delenv("NO_PROXY")
    assert asked(server.url) == {}


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "schlüssel"])
def test_a_token_that_no_header_carries(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_AGENT_TOKEN", token)
    with pytest.raises(AgentLoadError, match="PROCTOR_AGENT_TOKEN is not a valid token"):
        read_address("http://host", kind="http+sse")


def test_a_proxy_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://me:{SECRET}@127.0.0.1:{(port := unused_port())}")
    with pytest.raises(NotConnectedError, match=re.escape(f"by the proxy http://***@127.0.0.1:{port}")):
        asked("http://agent.example/")
