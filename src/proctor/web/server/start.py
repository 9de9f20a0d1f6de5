"""The start of a server: what it was told is checked, then it listens, says where, and serves."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from proctor.common.project_root import project_root
from proctor.errors import ProctorError, StoreError
from proctor.runs.settings import load_settings
from proctor.runs.setup.project_defaults import prepare_process
from proctor.stores.sqlite.file import make_folder
from proctor.web.pages.built_page import is_built
from proctor.web.server.adk.page import find_adk_page
from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext
from proctor.web.server.http.static import HOW_TO_BUILD
from proctor.web.server.options import Access, read_names, read_token
from proctor.web.server.runs.live import Live
from proctor.web.server.security.address import find_address, listen
from proctor.web.server.security.allowed_agents import guard_targets
from proctor.web.server.serve import server_of

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
    threading.Thread(target=look_ahead, args=(context,), daemon=True).start()
    server = server_of(app)
    with ending:
        server.run(sockets=[listening])
    live: Live | None = getattr(app.state, "live", None)
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


def look_ahead(context: ServerContext) -> None:
    """Look at the newest run before anybody asks: it is the one that they will ask for."""
    with suppress(ProctorError), context.runs() as store:  # who asks is told what is wrong
        context.looks.look(store, "latest", None)


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
