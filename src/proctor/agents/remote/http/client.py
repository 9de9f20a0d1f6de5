"""The one HTTP client of agents that live elsewhere.

How an adapter uses it::

    self._http = HttpClient(read_address(rest, kind="adk+http"))            # in its factory; MissingExtraError without httpx
    apps = await self._http.ask("list-apps")                                # GET, JSON in one piece
    made = await self._http.ask("apps/x/users/u/sessions", {"state": {}})   # POST, as there is a body
    async with self._http.send("run_sse", body, accept=EVENTS) as reply:    # POST, read as it comes
        if reply.is_stream:
            async for event in reply.events(): ...                          # event.data, event.name
        else:
            data = await reply.json()
    await self._http.close()                                                # in its close()

Callers need not catch exceptions: each is an `AgentError` of the right kind, whose message names the address and
contains no secret. For this client, an event stream ends as HTTP defines; whether that was the *answer's* end
is for the adapter to know (`reply.truncated(…)` builds the error).

* not connected (refused, unknown name, TLS, missing proxy): `NotConnectedError`, an `AgentUnreachableError`
* 408, 429, 503: `AgentUnreachableError`
* began to answer and broke off, or ended the connection without an answer: `AgentTruncatedError`
* any other 5xx: `AgentRaisedError`, with the status as its type
* redirects (none is followed), other 4xx, HTML, bad gzip, not JSON, more than the bounds allow: `AgentError`
* timed out: the engine cancels the task that waits; connections are closed at once.

429 and 503 with Retry-After are waited for and repeated here, within `Bounds.patience`: such a request has not been
worked on. Nothing else is repeated: an agent's turn has effects.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from http.cookiejar import DefaultCookiePolicy
from typing import TYPE_CHECKING

from proctor.agents.json_protocol import MOST_SHOWN
from proctor.agents.remote.http.address import Address
from proctor.agents.remote.http.allowed_addresses import allowed_targets, checked_transport
from proctor.agents.remote.http.errors import NotConnectedError, from_httpx, from_status, truncation_error
from proctor.agents.remote.http.response_reader import JSON, Bounds, HttpResponse
from proctor.common.error_text import safe_str
from proctor.common.network import read_retry_after
from proctor.common.optional_packages import import_extra
from proctor.common.version import __version__
from proctor.errors import AgentError, AgentLoadError

if TYPE_CHECKING:
    import httpx

    from proctor.common.json_values import Json


class HttpClient:
    """HTTP client of one agent's server. Connections are kept, one for each concurrent turn.

    It belongs to its current event loop, and may be used in another one after `close`.
    """

    def __init__(
        self, address: Address, *, bounds: Bounds | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        """Take the address of the server, and headers of all requests.

        Raises:
            AgentLoadError: its host is not a valid name.
            MissingExtraError: httpx is not installed.
        """
        library = import_extra("httpx", extra="http", feature=f"An agent at {address.shown}")
        try:
            library.URL(address.url)
        except library.InvalidURL as error:
            raise AgentLoadError(
                f"The agent at {address.shown} has no usable address: {safe_str(error)}."
            ) from None
        self.address = address
        self.bounds = bounds or Bounds()
        self._headers = dict(headers or {})
        self._targets = allowed_targets()
        self._idle: list[httpx.AsyncClient] = []
        """Clients of httpx with one connection each: a client with many searches all of them, twice, for each request."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tls: ssl.SSLContext | bool | None = None

    async def close(self) -> None:
        """Close all connections; a later request opens them again."""
        idle, self._idle = self._idle, []
        if self._loop is asyncio.get_running_loop():
            for client in idle:
                await client.aclose()

    async def ask(
        self, path: str = "", body: object = None, *, method: str = "", allow: Collection[int] = ()
    ) -> Json:
        """Send a request and return the JSON of the answer (`None` if it is empty); arguments as for `send`."""
        async with self.send(path, body, method=method, allow=allow) as reply:
            return await reply.json()

    async def glance(self, path: str = "", *, seconds: float = 3.0) -> Json:
        """Check before a run that the server answers; return the JSON of a GET, `None` if there is none.

        Raises:
            AgentLoadError: the server does not answer: unknown name, closed port, TLS error.
        """
        try:
            async with asyncio.timeout(seconds):
                return await self.ask(path)
        except NotConnectedError as error:
            raise error.at_opening() from None
        except (AgentError, TimeoutError):  # requests for turns may still succeed
            return None

    @asynccontextmanager
    async def send(
        self,
        path: str = "",
        body: object = None,
        *,
        method: str = "",
        accept: str = JSON,
        allow: Collection[int] = (),
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[HttpResponse]:
        """Send one request and return the head of its answer; leaving the block ends the answer, read or not.

        `path` is below the address (`""`: the address itself). With a `body`, JSON data, it is a POST, otherwise a GET,
        unless `method` is set. `allow`: statuses that are returned; all others but `_ANSWERS` are raised.

        Raises:
            AgentError: there is no answer, or it is invalid; see above for the kinds.
        """
        request_headers = {"Accept": f"{accept}, {JSON}" if accept != JSON else JSON, **(headers or {})}
        content = None if body is None else self._as_json(body)
        if content is not None:
            request_headers["Content-Type"] = JSON
        method = method or ("GET" if content is None else "POST")
        limit = asyncio.timeout(self.bounds.longest)
        client, idle = self._acquire_client()
        try:
            async with limit:
                response = await self._patiently(
                    client, (method, self.address.join(path), content, request_headers), allow
                )
                reply = HttpResponse(response, self.address, self.bounds)
                try:
                    yield reply
                finally:
                    await reply.close()
        except TimeoutError:
            if not limit.expired():
                raise
            raise truncation_error(self.address, f"was not done within {self.bounds.longest:g} s") from None
        finally:
            idle.append(client)
            if idle is not self._idle:  # closed in between
                await client.aclose()

    async def _patiently(
        self, client: httpx.AsyncClient, request: _Request, allow: Collection[int]
    ) -> httpx.Response:
        """Return the first response that is not a request to wait, after those waits."""
        left = self.bounds.patience
        while True:
            response = await self._send_once(client, request)
            if response.status_code in _ANSWERS or response.status_code in allow:
                return response
            try:
                may_wait = response.status_code in {429, 503}
                retry_after = read_retry_after(response.headers, now=time.time()) if may_wait else None
                if retry_after is None or retry_after > left:
                    raise await self._refusal(response, retry_after)
            finally:
                await response.aclose()
            left -= retry_after
            await asyncio.sleep(retry_after)

    async def _send_once(self, client: httpx.AsyncClient, request: _Request) -> httpx.Response:
        import httpx

        method, url, content, headers = request
        try:
            built = client.build_request(method, url, content=content, headers=headers)
            return await client.send(built, stream=True)
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise from_httpx(error, self.address, answering=False) from None

    async def _refusal(self, response: httpx.Response, retry_after: float | None) -> AgentError:
        """Read a little of the body of an error response, for a limited time."""
        body = b""
        with suppress(AgentError, TimeoutError):
            async with (
                asyncio.timeout(2),
                aclosing(HttpResponse(response, self.address, self.bounds).chunks()) as chunks,
            ):
                async for chunk in chunks:
                    body += chunk
                    if len(body) > 20 * MOST_SHOWN:
                        break
        return from_status(
            self.address,
            response.status_code,
            location=response.headers.get("location", ""),
            content_type=response.headers.get("content-type", ""),
            body=body,
            retry_after=retry_after,
        )

    def _as_json(self, body: object) -> bytes:
        try:
            text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        except (ValueError, TypeError, RecursionError) as error:
            raise AgentError(
                f"the request to {self.address.shown} cannot be sent as JSON: {safe_str(error)}"
            ) from None
        return text.encode("utf-8", "replace")

    def _acquire_client(self) -> tuple[httpx.AsyncClient, list[httpx.AsyncClient]]:
        """Return a client of this event loop for one request, and the list to put it back into."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._idle, self._loop = [], loop
        return (self._idle.pop() if self._idle else self._make()), self._idle

    def _make(self) -> httpx.AsyncClient:
        import httpx

        headers = {"User-Agent": f"proctor/{__version__}", "Accept-Encoding": "identity", **self._headers}
        if self.address.authorization:
            headers["Authorization"] = self.address.authorization
        if self._tls is None:
            self._tls = httpx.create_ssl_context() if self._may_need_tls else False
        bounds = self.bounds
        # shorter than servers keep them: a request must not meet a connection that is just being closed
        limits = httpx.Limits(max_connections=None, keepalive_expiry=2.0)
        targets = self._targets
        is_allowed = targets is None or targets.allows(self.address.host, self.address.port)
        client = httpx.AsyncClient(
            headers=headers,
            follow_redirects=False,
            trust_env=not self.address.is_loopback and is_allowed,  # proxies
            verify=self._tls,
            timeout=httpx.Timeout(bounds.silence, connect=bounds.connect, pool=None),
            limits=limits,
            transport=checked_transport(targets, verify=self._tls, limits=limits) if targets else None,
        )
        client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))  # of another conversation
        return client

    @property
    def _may_need_tls(self) -> bool:
        """Reading all certificates takes longer than many an answer."""
        return self.address.url.startswith("https:") or not self.address.is_loopback


_ANSWERS = frozenset({200, 201, 203, 204})
"""Statuses of whole answers; 202 is a promise of one, and 206 a part."""

_Request = tuple[str, str, bytes | None, Mapping[str, str]]
"""A request: method, URL, body, headers."""
