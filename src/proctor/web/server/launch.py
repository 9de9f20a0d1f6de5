"""The start of a server: check the options, listen at the address, print it, and serve."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from proctor.errors import ProctorError, SetupError, StoreError
from proctor.runs.setup.settings import load_settings, prepare_process, project_root
from proctor.stores.sqlite.file import make_folder
from proctor.web.pages.built_page import is_built
from proctor.web.pages.runs.load_run import brief_page, brief_rows
from proctor.web.server.adk.dev_ui import find_adk_page
from proctor.web.server.app import create_app
from proctor.web.server.context import Access, ServerContext, read_names, read_token
from proctor.web.server.http.static import HOW_TO_BUILD
from proctor.web.server.runs.active_runs import ActiveRuns
from proctor.web.server.security.allowed_names import guard_targets


@dataclass(frozen=True, slots=True)
class HostAddress:
    """A host name and its address."""

    host: str
    family: socket.AddressFamily
    ip: str
    port: int
    scope: int = 0
    """The scope id of a link-local IPv6 address."""

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return ipaddress.ip_address(self.ip).is_loopback

    @property
    def is_any(self) -> bool:
        """Whether it means all addresses of this machine."""
        return ipaddress.ip_address(self.ip).is_unspecified

    def url(self, port: int) -> str:
        """Return the URL at which a browser on this machine reaches the server at `port`."""
        host = "127.0.0.1" if self.is_any else self.host if self.is_loopback else self.ip
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def find_address(host: str, port: int) -> HostAddress:
    """Resolve `host` to an address.

    Raises:
        SetupError: it cannot be resolved.
    """
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise SetupError(f"--host {host}: not an address of this machine: {error}") from None
    family, _, _, _, place = min(addresses, key=lambda one: one[0] != socket.AF_INET)
    ip = str(place[0]).partition("%")[0]
    return HostAddress(host, family, ip, port, int(place[3]) if len(place) > 3 else 0)


def listen(address: HostAddress, *, has_token: bool) -> socket.socket:
    """Return a socket that listens at `address`; port 0 selects any free one.

    Raises:
        SetupError: other machines could reach it and there is no token, or listening fails.
    """
    if not address.is_loopback and not has_token:
        raise SetupError(
            f"--host {address.host}: other machines could reach the server there, and any client could run agents and read "
            "all runs. Give it a token (--token-file FILE, or PROCTOR_WEB_TOKEN in the environment), or leave --host out "
            "so that only this machine reaches it"
        )
    listening = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if address.family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listening.bind(_place(address))
        listening.listen(1024)
    except OSError as error:
        listening.close()
        raise SetupError(_bind_problem(address, error)) from None
    return listening


def _place(address: HostAddress) -> tuple[str | int, ...]:
    place = (address.ip, address.port)
    return (*place, 0, address.scope) if address.family == socket.AF_INET6 else place


def _bind_problem(address: HostAddress, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {address.port} of {address.host} is taken by another program (maybe by another `proctor web`): "
            "give another --port, or --port 0 for any free one"
        )
    if error.errno == errno.EACCES:
        return f"no permission for port {address.port}: give another --port (from 1024 on, or 0 for any free one)"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"--host {address.host}: {address.ip} is not an address of this machine"
    return f"cannot listen at {address.host}:{address.port}: {error.strerror}"


_A_MOMENT = 0.5
"""Seconds after which the browser is opened, so that the server already responds."""


def serve_page(
    agents: Path | None,
    options: Mapping[str, Any],
    *,
    announce: Callable[[str], object],
    warn: Callable[[str], object],
) -> None:
    """Serve the page and the API until a signal; `announce` receives the address, `warn` a warning about a missing page.

    Raises:
        SetupError: listening fails, other machines could reach it without a token, or an option is invalid.
    """
    here = Path.cwd()
    access = Access(
        token=read_token(options["token"], options["token_file"]),
        hosts=read_names(options["hosts"], "--allow-host"),
        targets=read_names(options["targets"], "--allow-target"),
        any_agent=options["any_agent"],
    )
    settings = load_settings(here)
    prepare_process(settings)
    guard_targets(access, settings.agent)
    root = project_root(here) or here
    adk_page = find_adk_page() if options["adk_ui"] else None
    context = ServerContext(
        root=root, store_url=options["store"], agents=agents, access=access, adk_page=adk_page
    )
    app = create_app(context)
    address = find_address(options["host"], options["port"])
    listening = listen(address, has_token=access.token is not None)
    port = listening.getsockname()[1]
    url = address.url(port)
    link = f"{url}login#token={access.token}" if access.token is not None else url
    ending = ExitStack()
    hides_token = access.token is not None and not sys.stdout.isatty()  # other people may read the output
    announce(f"Proctor is at {url if hides_token else link}  (Ctrl-C ends it)")
    if hides_token:
        announce(_sign_in_address(url, ending.enter_context(login_file(root, port, link))))
    if adk_page is not None:
        announce(f"google-adk's own page is at {url}dev-ui/")
    if not is_built():
        warn(HOW_TO_BUILD)
    if options["opens"]:
        opening = threading.Timer(_A_MOMENT, webbrowser.open, [link])
        opening.daemon = True
        opening.start()
    threading.Thread(target=prepare_first_request, args=(context,), daemon=True).start()
    server = server_of(app)
    with ending:
        server.run(sockets=[listening])
    active: ActiveRuns = app.state.active_runs
    if server.force_exit:  # after a second Ctrl-C the application has no shutdown
        active.children.close(at_once=True)


def _sign_in_address(url: str, file: Path | None) -> str:
    if file is None:
        return f"Sign in at {url}login with the token."
    return f"The address with the token is in {file}, which only you can read and which the server removes at its end."


def prepare_first_request(context: ServerContext) -> None:
    """Load the modules and models that the page of a run needs, and open the store.

    The cases are not read: the first request usually comes at once, and would wait for the same interpreter.
    """
    with suppress(ProctorError), context.runs() as store:  # the request itself reports the problem
        brief_page(store, "latest")
        brief_rows(store, "latest", None, 0, 1)


# --- The address with the token: on a terminal, else in a file that only the user can read, never in a log ------------


FOLDER = ".proctor"


@contextmanager
def login_file(root: Path, port: int, link: str) -> Iterator[Path | None]:
    """Write `link` to a file of the project while the server runs; yield `None` if that fails.

    The file is new, and only its owner can read it (0600). A file of an earlier server is replaced.
    """
    folder = root / FOLDER
    path = folder / f"web-{port}.url"
    try:
        make_folder(folder)
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{link}\n")
    except (OSError, StoreError):
        with suppress(OSError):
            path.unlink(missing_ok=True)
        yield None
        return
    try:
        yield path
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


# --- the uvicorn server with limits: slow clients are disconnected, shutdown waits for clients only briefly -----------


MOST_CONNECTIONS = 1_000
"""The limit of concurrent connections; further ones receive 503."""
MOST_HEADERS = 64 * 1024
"""The most bytes of a request before its body."""
HEADERS_WITHIN = 15.0
"""Seconds that a client has to send a request's headers, from its first byte or from a new connection on."""
READ_WITHIN = 60.0
"""Seconds after which a client that does not read is disconnected."""
GRACE = 1
"""Seconds that clients have to finish when the server shuts down."""


class BoundedProtocol(H11Protocol):
    """A connection that ends if the client sends its headers too slowly, or does not read."""

    _headers_due: asyncio.TimerHandle | None = None
    _read_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Start to wait for the first request."""
        super().connection_made(transport)
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        """Receive data, which belongs to the headers of the next request if no request is running."""
        super().data_received(data)
        if not _is_idle(self.cycle):
            self._headers_due = _cancel(self._headers_due)
        elif self._headers_due is None and self.transport.get_protocol() is self:
            self._wait_for_headers()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Stop waiting for headers: a web socket may be silent, and is pinged."""
        self._headers_due = _cancel(self._headers_due)
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Start to wait again if a part of the next request has already arrived."""
        super().on_response_complete()
        if _is_idle(self.cycle) and self._headers_due is None and self.conn.trailing_data[0]:
            self._wait_for_headers()

    def pause_writing(self) -> None:
        """Start the time limit of a client that does not read."""
        super().pause_writing()
        self._read_due = self._read_due or self.loop.call_later(READ_WITHIN, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the time limit: the client has read."""
        super().resume_writing()
        self._read_due = _cancel(self._read_due)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all time limits."""
        self._headers_due, self._read_due = _cancel(self._headers_due), _cancel(self._read_due)
        super().connection_lost(exc)

    def _wait_for_headers(self) -> None:
        self._headers_due = self.loop.call_later(HEADERS_WITHIN, self._too_slow)

    def _too_slow(self) -> None:
        self._headers_due = None
        if _is_idle(self.cycle):
            self.transport.abort()


def _is_idle(cycle: RequestResponseCycle | None) -> bool:
    return cycle is None or cycle.response_complete


def _cancel(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Cancel a timer, and return `None` as its replacement."""
    if timer is not None:
        timer.cancel()
    return None


class PageServer(uvicorn.Server):
    """A server that ends normally on a signal, because that is how users stop it; `should_exit = True` ends it, too."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Handle SIGINT and SIGTERM; only the main thread can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {
            number: signal.signal(number, self._handle_signal) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:
        self.handle_exit(number, frame)


def server_of(app: FastAPI) -> PageServer:
    """Return the server of `app`, with its limits; `run(sockets=[...])` starts it."""
    logging.getLogger("uvicorn.error").setLevel(
        logging.CRITICAL
    )  # its messages on shutdown are not for users
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="websockets-sansio",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=GRACE,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=MOST_HEADERS,
        backlog=1024,
    )
    return PageServer(config)
