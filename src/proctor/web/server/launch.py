"""The start of a server: what it was told is checked, then it listens, says where, and serves."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.common.project_root import project_root
from proctor.errors import ProctorError, SetupError, StoreError
from proctor.runs.settings import load_settings
from proctor.runs.setup.project_defaults import prepare_process
from proctor.stores.sqlite.file import make_folder
from proctor.web.pages.built_page import is_built
from proctor.web.server.access import Access, read_names, read_token
from proctor.web.server.adk.dev_ui import find_adk_page
from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext
from proctor.web.server.http.static import HOW_TO_BUILD
from proctor.web.server.runs.active_runs import ActiveRuns
from proctor.web.server.security.allowed_agents import guard_targets
from proctor.web.server.serve import server_of


@dataclass(frozen=True, slots=True)
class Address:
    """A host that was named, and the address that it comes down to."""

    host: str
    family: socket.AddressFamily
    ip: str
    port: int
    scope: int = 0
    """Of an IPv6 address within one network."""

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return ipaddress.ip_address(self.ip).is_loopback

    @property
    def is_any(self) -> bool:
        """Whether it stands for all addresses of this machine."""
        return ipaddress.ip_address(self.ip).is_unspecified

    def url(self, port: int) -> str:
        """Return where a browser on this machine finds the server that listens at `port`."""
        host = "127.0.0.1" if self.is_any else self.host if self.is_loopback else self.ip
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def find_address(host: str, port: int) -> Address:
    """Return the address that `host` comes down to.

    Raises:
        SetupError: there is none.
    """
    try:
        found: list[Any] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise SetupError(f"--host {host}: this names no address of this machine: {error}") from None
    family, _, _, _, place = min(found, key=lambda one: one[0] != socket.AF_INET)
    ip = str(place[0]).partition("%")[0]
    return Address(host, family, ip, port, place[3] if len(place) > 3 else 0)


def listen(address: Address, *, has_token: bool) -> socket.socket:
    """Return a socket that listens at `address`; port 0 takes any that is free.

    Raises:
        SetupError: others could reach it and there is no token, or it cannot be listened at.
    """
    if not address.is_loopback and not has_token:
        raise SetupError(
            f"--host {address.host}: others could reach the server there, and it would run agents and show all runs to "
            "anybody. Give it a token (--token-file FILE, or PROCTOR_WEB_TOKEN in the environment), or leave --host out "
            "and only this machine reaches it"
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
        raise SetupError(_why_not(address, error)) from None
    return listening


def _place(address: Address) -> tuple[Any, ...]:
    place = (address.ip, address.port)
    return (*place, 0, address.scope) if address.family == socket.AF_INET6 else place


def _why_not(address: Address, error: OSError) -> str:
    import errno

    if error.errno == errno.EADDRINUSE:
        return (
            f"port {address.port} of {address.host} is taken by another program (maybe by another `proctor web`): "
            "give another --port, or --port 0 for any that is free"
        )
    if error.errno == errno.EACCES:
        return f"port {address.port} may not be used by you: give another --port (from 1024 on, or 0 for any free one)"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"--host {address.host}: {address.ip} is no address of this machine"
    return f"cannot listen at {address.host}:{address.port}: {error.strerror}"


_A_MOMENT = 0.5
"""Seconds until a browser is opened: then the server answers."""


def serve_page(
    agents: Path | None,
    given: Mapping[str, Any],
    *,
    tell: Callable[[str], object],
    warn: Callable[[str], object],
) -> None:
    """Serve the page and the API until somebody ends it; `tell` is told where, `warn` what is missing.

    Raises:
        SetupError: it cannot be listened there, others could reach it without a token, or an option is none.
    """
    here = Path.cwd()
    access = Access(
        token=read_token(given["token"], given["token_file"]),
        hosts=read_names(given["hosts"], "--allow-host"),
        targets=read_names(given["targets"], "--allow-target"),
        any_agent=given["any_agent"],
    )
    settings = load_settings(here)
    prepare_process(settings)
    guard_targets(access, settings.agent)
    root = project_root(here) or here
    adk_page = find_adk_page() if given["adk_ui"] else None
    context = ServerContext(
        root=root, store_url=given["store"], agents=agents, access=access, adk_page=adk_page
    )
    app = create_app(context)
    address = find_address(given["host"], given["port"])
    listening = listen(address, has_token=access.token is not None)
    port = listening.getsockname()[1]
    url = link = address.url(port)
    ending = ExitStack()
    if access.token is not None:
        link = f"{url}login#token={access.token}"
    if access.token is None or sys.stdout.isatty():
        tell(f"Proctor is at {link}  (Ctrl-C ends it)")
    else:  # the output is kept somewhere, and others may read it
        tell(f"Proctor is at {url}  (Ctrl-C ends it)")
        tell(_where_to_sign_in(url, ending.enter_context(login_file(root, port, link))))
    if adk_page is not None:
        tell(f"google-adk's own page is at {address.url(listening.getsockname()[1])}dev-ui/")
    if not is_built():
        warn(HOW_TO_BUILD)
    if given["opens"]:
        opening = threading.Timer(_A_MOMENT, webbrowser.open, [link])
        opening.daemon = True
        opening.start()
    threading.Thread(target=warm_cache, args=(context,), daemon=True).start()
    server = server_of(app)
    with ending:
        server.run(sockets=[listening])
    live: ActiveRuns | None = getattr(app.state, "active_runs", None)
    if (
        server.force_exit and live is not None
    ):  # by a second Ctrl-C; then the application was not asked to end
        live.children.close(at_once=True)


def _where_to_sign_in(url: str, file: Path | None) -> str:
    if file is None:
        return f"Sign in at {url}login with the token."
    return (
        f"The address with the token is in {file}, which only you can read and which is removed at the end."
    )


def warm_cache(context: ServerContext) -> None:
    """Look at the newest run before anybody asks: it is the one that they will ask for."""
    with suppress(ProctorError), context.runs() as store:  # who asks is told what is wrong
        context.run_pages.rows(store, "latest")


# --- The address with the token: on a terminal, else in a file that only the user can read, never in a log ------------


FOLDER = ".proctor"


@contextmanager
def login_file(root: Path, port: int, link: str) -> Iterator[Path | None]:
    """Keep `link` in a file of the project while the server runs; `None` if it cannot be written.

    The file is new, and only its owner can read it (0600). Whatever an earlier server left in its place is removed.
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
