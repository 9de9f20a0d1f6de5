"""Where agents may be that a page names: not this machine, not its network, not where clouds serve their secrets."""

import asyncio
import socket
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address
from threading import Thread
from typing import Any

import pytest

from proctor.agents.remote.http.address import Address, read_address
from proctor.agents.remote.http.allowed_addresses import (
    TARGETS,
    Targets,
    allowed_targets,
    read_target,
    reason_not_allowed,
)
from proctor.agents.remote.http.client import HttpClient
from proctor.errors import AgentError, AgentLoadError, SetupError
from proctor.web.server.context import Access, read_names
from proctor.web.server.security.allowed_names import address_of, check_agent, guard_targets

ANY = Access(any_agent=True)
NAMES = {"localhost": "127.0.0.1", "localhost.": "127.0.0.1"}


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Every spelling of an address as this system's C library reads it, and names that a test gives, one answer a time.

    (Tests may not ask the real one about addresses elsewhere.)
    """
    given: dict[str, list[str]] = {}

    def look_up(host: Any, port: Any, *_: Any, **more: Any) -> Any:
        text = host.decode() if isinstance(host, bytes) else host
        text = text.encode("idna").decode() if not text.isascii() else text
        if text in given:
            text = given[text].pop(0)
        bare = NAMES.get(text.lower(), text).partition("%")[0]
        if ":" in bare:
            return [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", (str(ip_address(bare)), port, 0, 0))]
        try:
            address = socket.inet_ntoa(socket.inet_aton(bare.removesuffix(".")))
        except OSError:
            raise socket.gaierror(socket.EAI_NONAME, "not known") from None
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return given


METADATA = [
    "http+sse:http://169.254.169.254/", "http+sse:http://169.254.169.254:80/latest/meta-data", "adk+http:http://169.254.169.254",
    "http+sse:http://2852039166/", "http+sse:http://0xa9fea9fe/", "http+sse:http://0xA9.0xFE.0xA9.0xFE/",
    "http+sse:http://0251.0376.0251.0376/", "http+sse:http://169.254.43518/", "http+sse:http://169.16689662/",
    "http+sse:http://0251.254.169.254/", "http+sse:http://169.254.169.254./", "http+sse:http://[::ffff:169.254.169.254]/",
    "http+sse:http://[::ffff:a9fe:a9fe]/", "http+sse:http://[0:0:0:0:0:ffff:a9fe:a9fe]/", "http+sse:http://[64:ff9b::a9fe:a9fe]/",
    "http+sse:http://[2002:a9fe:a9fe::]/", "http+sse:http://[::a9fe:a9fe]/", "http+sse:http://[fd00:ec2::254]/",
    "http+sse:http://[FD00:0EC2::0254]/", "http+sse:http://user@169.254.169.254/", "http+sse:http://example.com@169.254.169.254/",
    "http+sse:http://example.com:80@169.254.169.254/", "http+sse:http://100.100.100.200/", "http+sse:http://168.63.129.16/",
    "http+sse:http://192.0.0.192/", "http+sse:http://169.254.0.1/", "http+sse:http://[fe80::1]/", "http+sse:http://[fe80::1%25lo]/",
    "http+sse://169.254.169.254/", "a2a+http:http://169.254.169.254", "openai+http:http://169.254.169.254/v1",
    "openai+http:HTTP://169.254.169.254/v1", "http+sse:http://\u2460\u2465\u2468.254.169.254/",
    "http+sse:http://169\u3002254\u3002169\u3002254/",
]  # fmt: skip
PRIVATE = [
    "http+sse:http://127.0.0.1:9000/", "http+sse:http://localhost:9000/", "http+sse:http://LOCALHOST:9000/",
    "http+sse:http://localhost.:9000/", "http+sse:http://127.1:9000/", "http+sse:http://2130706433:9000/",
    "http+sse:http://0x7f000001:9000/", "http+sse:http://0x7f.1:9000/", "http+sse:http://017700000001:9000/",
    "http+sse:http://0177.0.0.1:9000/", "http+sse:http://127.255.255.254:9000/", "http+sse:http://0:9000/",
    "http+sse:http://0.0.0.0:9000/", "http+sse:http://[::1]:9000/", "http+sse:http://[::]:9000/",
    "http+sse:http://[0000::1]:9000/", "http+sse:http://[::ffff:127.0.0.1]:9000/", "http+sse:http://[::ffff:7f00:1]:9000/",
    "http+sse:http://[::127.0.0.1]:9000/", "http+sse:http://[2002:7f00:1::]:9000/", "http+sse:http://[64:ff9b::7f00:1]:9000/",
    "http+sse:http://10.0.0.1/", "http+sse:http://172.16.0.1/", "http+sse:http://172.31.255.255/", "http+sse:http://192.168.1.1/",
    "http+sse:http://100.64.0.1/", "http+sse:http://0xc0a80101/", "http+sse:http://3232235777/", "http+sse:http://[fc00::1]/",
    "http+sse:http://[fd12:3456::1]/", "http+sse:http://[fec0::1]/", "http+sse:http://198.18.0.1/", "http+sse:http://240.0.0.1/",
    "http+sse:http://255.255.255.255/", "http+sse:http://224.0.0.1/", "http+sse:http://[ff02::1]/", "http+sse:http://192.0.2.1/",
    "http+sse:http://evil@127.0.0.1:9000/", "http+sse:http://evil:pw@[::1]:9000/", "adk+http:http://localhost:9000",
    "http+sse:https://127.0.0.1:9000/", "http+sse://127.0.0.1:9000", "http+sse:http://127.0.0.1:9000#@example.com/",
]  # fmt: skip
OTHER_SCHEMES = [
    "http+sse:file:///etc/passwd", "http+sse:ftp://example.com/", "http+sse:gopher://127.0.0.1:25/", "http+sse:ws://127.0.0.1/",
    "http+sse:data://x", "adk+http:unix:///var/run/docker.sock", "http+sse:http:///etc/passwd", "http+sse:http://exa mple.com/",
    "http+sse:http://example.com\r\nx: y/", "http+sse:http://example.com:99999/", "http+sse:http://[::1/",
]  # fmt: skip


def test_there_are_as_many_spellings_as_were_asked_for() -> None:
    assert len({*METADATA, *PRIVATE, *OTHER_SCHEMES}) >= 85


@pytest.mark.parametrize("reference", [*METADATA, *PRIVATE, *OTHER_SCHEMES], ids=ascii)
def test_no_spelling_of_an_address_in_here_is_taken(reference: str) -> None:
    with pytest.raises((SetupError, AgentLoadError)):
        check_agent(reference, ANY)


@pytest.mark.parametrize("reference", METADATA, ids=ascii)
def test_link_local_addresses_are_refused_even_where_they_were_allowed(reference: str) -> None:
    hosts = {found.host for one in METADATA if (found := _address_of(one)) is not None}
    with pytest.raises((SetupError, AgentLoadError)):
        check_agent(reference, Access(any_agent=True, targets=frozenset((host, None) for host in hosts)))


def _address_of(reference: str) -> Address | None:
    try:
        return address_of(reference)
    except AgentLoadError:
        return None


@pytest.mark.parametrize(
    "reference", ["my.agent", "agent.py", "cmd:rm -rf /", "http+sse:http://93.184.215.14/"]
)
def test_without_permission_the_page_names_no_agent_at_all(reference: str) -> None:
    with pytest.raises(SetupError, match="--allow-any-agent"):
        check_agent(reference, Access())


@pytest.mark.parametrize(
    "reference",
    ["my.agent", "agent.py", "http+sse:http://93.184.215.14/", "adk+http:https://[2606:4700::1111]"],
)
def test_with_permission_it_names_agents_of_this_machine_and_public_ones(reference: str) -> None:
    check_agent(reference, ANY)


ALLOWED = {
    "by its name and port": ("localhost:9000", "http://localhost:9000", True),
    "by its name": ("localhost", "http://localhost:9000", True),
    "by its address": ("127.0.0.1:9000", "http://127.0.0.1:9000", True),
    "an address, called by a name": ("127.0.0.1:9000", "http://localhost:9000", None),
    "another port": ("localhost:9000", "http://localhost:9001", False),
    "another host": ("10.0.0.1", "http://10.0.0.2", False),
    "IPv6": ("[::1]:9000", "http://[::1]:9000", True),
}


@pytest.mark.parametrize(("reported", "url", "may"), ALLOWED.values(), ids=ALLOWED)
def test_private_addresses_are_taken_where_the_server_allows_them(
    reported: str, url: str, may: bool | None
) -> None:
    access = Access(any_agent=True, targets=read_names((reported,), "--allow-target"))
    try:
        check_agent(f"http+sse:{url}", access)
    except (SetupError, AgentLoadError):
        assert may in {False, None}
    else:
        assert may in {True, None}  # whether localhost is ::1, too, is the machine's matter


@pytest.mark.parametrize(
    "text", ["8.8.8.8", "93.184.215.14", "2606:4700::1111", "2001:4860:4860::8888", "172.32.0.1"]
)
def test_public_addresses_are_public(text: str) -> None:
    assert reason_not_allowed(ip_address(text)) == ""


# --- when the connection is made -------------------------------------------------------------------------------------


class _Server(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/away":
            self.send_response(302)
            self.send_header("Location", "/secret")
        else:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"host": "%b"}' % str(self.headers["Host"]).encode())
        _SEEN.append(self.path)

    def log_message(self, *_: Any) -> None:
        pass


_SEEN: list[str] = []


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A server of this machine that no one from outside is to reach; its port."""
    _SEEN.clear()
    server = HTTPServer(("127.0.0.1", 0), _Server)
    Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def get(url: str) -> Any:
    async def asked() -> Any:
        client = HttpClient(read_address(url, kind="http+sse"))
        try:
            return await client.ask()
        finally:
            await client.close()

    return asyncio.run(asked())


def test_what_is_checked_is_what_is_connected_to(
    inside: int, names: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name server that states a public address first, and one of this machine from then on."""
    names["rebinding.example"] = ["93.184.215.14", "127.0.0.1", "127.0.0.1"]
    monkeypatch.setenv(TARGETS, "")
    check_agent(f"http+sse:http://rebinding.example:{inside}/", ANY)  # it looks public now
    with pytest.raises(AgentError, match="an address of this machine"):
        get(f"http://rebinding.example:{inside}/")
    assert _SEEN == []


def test_a_name_is_asked_for_once_for_each_connection(
    inside: int, names: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    names["once.example"] = ["127.0.0.1", "93.184.215.14"]
    monkeypatch.setenv(TARGETS, f"127.0.0.1:{inside}")
    assert get(f"http://once.example:{inside}/") == {"host": f"once.example:{inside}"}
    assert names["once.example"] == ["93.184.215.14"]


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "127.1", "[::1]"])
def test_nothing_in_here_is_connected_to(inside: int, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv(TARGETS, "other.example:80")
    with pytest.raises(AgentError, match="no agent named by a page may be there"):
        get(f"http://{host}:{inside}/")
    assert _SEEN == []


def test_what_was_allowed_is_connected_to(inside: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TARGETS, f"localhost:{inside}")
    assert get(f"http://localhost:{inside}/") == {"host": f"localhost:{inside}"}


def test_redirects_are_not_followed(inside: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TARGETS, f"localhost:{inside}")
    with pytest.raises(AgentError):
        get(f"http://localhost:{inside}/away")
    assert _SEEN == ["/away"]


def test_from_the_command_line_any_address_may_be_named(inside: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TARGETS, raising=False)
    assert allowed_targets() is None
    assert get(f"http://127.0.0.1:{inside}/") == {"host": f"127.0.0.1:{inside}"}


def test_agents_that_the_server_was_started_with_may_be_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TARGETS, "x")
    guard_targets(
        Access(targets=frozenset({("[::1]", 80)})),
        ["my.agent", "http+sse:http://127.0.0.1:9000/", "a:file:///x"],
    )
    assert allowed_targets() == Targets(frozenset({("127.0.0.1", 9000), ("::1", 80)}))


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("a.example", ("a.example", None)),
        ("A:80", ("a", 80)),
        ("[::1]:80", ("::1", 80)),
        ("[::1]", ("::1", None)),
    ],
)
def test_targets_are_read(text: str, target: tuple[str, int | None]) -> None:
    assert read_target(text) == target
