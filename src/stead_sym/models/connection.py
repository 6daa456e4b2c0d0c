"""JSON over HTTP with the server of a model; every request has a deadline.

The decision: aiohttp runs in an event loop in a separate thread. There a deadline covers a whole request
(name resolution, connection, a slow head or body), pending requests can be cancelled at once, and a request
costs half of what it costs with threads. The thread lives as long as a `Talk`, however that ends. Retries are
not handled here: they depend on the answers to other requests.

Every part of a URL except scheme, host, port and path is treated as a secret: it is sent in requests and
never appears in a name, an error, a report or a store. Data from a server are untrusted, of any type and
structure.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, Self, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from stead_sym.agents.in_flight import in_thread
from stead_sym.errors import InputError, ModelError
from stead_sym.models.tokenizer import library
from stead_sym.support.printable import one_line, without_credentials, without_secrets

EXTRA = "server"
"""The extra of the package that has the client's libraries."""
_BUSY = (429, 503)
_BROKEN = (408, 500, 502, 504)
_MAX_ANSWER_BYTES = 1 << 20
"""The maximum size of an answer in bytes, without the data about the request's tokens."""
_SENT_BACK_RATIO = 4
"""The maximum size of an answer that repeats the request, as a multiple of the request's."""
_CLOSE_SECONDS = 2.0
"""The time in seconds to wait, after an interrupt, for a thread that is started but not running yet."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Address:
    """The address of a server: ``url`` is public, the rest is for requests only."""

    url: str
    query: str = field(default="", repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, words: str) -> Address:
        """Return the address that ``words`` denote; raise `InputError` if they are no URL.

        The environment variable VLLM_API_KEY has the key for a server that requires one.
        """
        try:
            parts = urlsplit(words.strip())
            host, port = parts.hostname, parts.port
        except ValueError:
            parts, host, port = None, None, None
        if parts is None or parts.scheme not in ("http", "https") or not host or re.search(r"\s", words):
            raise InputError(
                f"{without_credentials(words)!r} is no address of a server; write http://HOST:PORT#MODEL"
            )
        where = f"[{host}]" if ":" in host else host
        path = parts.path.rstrip("/").removesuffix("/v1").rstrip("/")
        url = f"{parts.scheme}://{where}{f':{port}' if port is not None else ''}{path}"
        key, user, password = os.environ.get("VLLM_API_KEY"), parts.username, parts.password
        secrets = [value for _, value in parse_qsl(parts.query, keep_blank_values=True)]
        headers = []
        if user is not None or password is not None:
            pair = f"{unquote(user or '')}:{unquote(password or '')}"
            basic = b64encode(pair.encode()).decode()
            headers = [("Authorization", f"Basic {basic}")]
            secrets += [basic, password or "", unquote(password or ""), "" if password else user or ""]
        if key:
            headers = [("Authorization", f"Bearer {key}")]
            secrets.append(key)
        return cls(url, parts.query, tuple(headers), tuple(s for s in secrets if s))

    def target(self, path: str) -> str:
        """Return the URL of a request."""
        return f"{self.url}{path}" + (f"?{self.query}" if self.query else "")

    def said(self, text: str) -> str:
        """Return a text, such as a server's error, on one line, truncated and without the secrets."""
        return one_line(without_credentials(without_secrets(text, self.secrets)))


@dataclass(frozen=True)
class Patience:
    """Timeouts for a server, in seconds, and the number of tries.

    ``request`` is for one request including retries, ``whole`` for all requests of a batch (None: no limit),
    ``connect`` for a connection, and ``pause`` is the longest pause that a server may demand (`Retry-After`).
    A server that fails ``tries`` times in a row is given up. Raises `InputError` for a number that is not
    positive and finite.
    """

    request: float = 600.0
    whole: float | None = None
    connect: float = 10.0
    pause: float = 30.0
    tries: int = 6

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("request", "whole", "connect", "pause", "tries"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise InputError(f"the patience has {name} {value}; give a number above 0")


class Temporary(Exception):
    """The request failed and may be retried; ``error`` has the reason.

    ``busy``: the server has rejected it, perhaps for ``after`` seconds. ``late``: the deadline has passed.
    """

    def __init__(
        self, words: str, *, busy: bool = False, late: bool = False, after: float | None = None
    ) -> None:
        super().__init__(words)
        self.error = ModelError(words)
        self.busy = busy
        self.late = late
        self.after = after


def json_or_none(content: bytes | bytearray) -> Any:
    """Return the data of a JSON body; None if it is not JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


class Talk:
    """An HTTP session in a thread, as a context manager.

    At its end no request is pending, and no thread is left.
    """

    def __init__(self, name: str, connect: float) -> None:
        """Create the session.

        ``name`` is that of its owner, ``connect`` the timeout of a connection in seconds. Raise `ModelError`
        if the library is not installed.
        """
        self._connect = connect
        self._aiohttp = library("aiohttp", name, EXTRA)
        self._begun: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="requests of stead-sym", daemon=True)

    def __enter__(self) -> Self:
        """Start the thread."""
        try:
            self._thread.start()
            self._begun.result()
        except BaseException:  # Ctrl-C may come at any time, whether the thread runs or not
            wait([self._begun], timeout=_CLOSE_SECONDS)
            self._end()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        """Cancel pending requests and join the thread."""
        self._end()

    def _end(self) -> None:
        if self._begun.done() and self._begun.exception() is None:
            self.loop.call_soon_threadsafe(self._ending.set)
            self._thread.join()

    def start(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Run ``work`` in the loop, and return its future."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run ``work`` in the loop, and return its result."""
        return self.start(work).result()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if self._begun.done():
                raise
            self._begun.set_exception(error)

    async def _serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._ending = asyncio.Event()
        connector = self._aiohttp.TCPConnector(limit=0, ttl_dns_cache=60)
        async with self._aiohttp.ClientSession(
            connector=connector,
            timeout=self._aiohttp.ClientTimeout(total=None, sock_connect=self._connect),
            cookie_jar=self._aiohttp.DummyCookieJar(),
        ) as self.session:
            self._begun.set_result(None)
            await self._ending.wait()
            # Pending requests are cancelled before the session is closed.
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

    async def ask(
        self,
        address: Address,
        path: str,
        body: bytes | None = None,
        *,
        seconds: float,
        optional: bool = False,
        said: int | None = None,
        read: Callable[[bytearray], Any] = json_or_none,
    ) -> dict[str, Any]:
        """Return the answer to a POST of ``body``, or to a GET without one, within ``seconds``.

        ``read`` converts it. With ``optional`` the result is empty if the server does not know ``path``.
        ``said`` is the maximum size in bytes of the data about the body's tokens, by default enough to send
        them back.

        Raise `Temporary` if the request may be retried, and `ModelError` if not.
        """
        place = f"{address.url}{path}"
        try:
            async with asyncio.timeout(max(seconds, 0.0)):
                most = _MAX_ANSWER_BYTES + (_SENT_BACK_RATIO * len(body or b"") if said is None else said)
                return await self._ask(address, path, body, optional, most, read)
        except self._aiohttp.ServerTimeoutError:
            raise Temporary(
                f"{place}: no connection within {self._connect:.3g} s; start the server, or mend the address"
            ) from None
        except TimeoutError:
            raise Temporary(
                f"{place}: no whole answer within {seconds:.3g} s; see the server's log, or wait longer",
                late=True,
            ) from None
        except (self._aiohttp.ClientError, OSError, ValueError) as error:
            raise Temporary(
                f"{place}: no answer: {address.said(_reason(error))}; start the server, or mend the address"
            ) from None

    async def _ask(
        self,
        address: Address,
        path: str,
        body: bytes | None,
        optional: bool,
        most: int,
        read: Callable[[bytearray], Any],
    ) -> dict[str, Any]:
        method = "GET" if body is None else "POST"
        place = f"{address.url}{path}"
        headers = {**dict(address.headers), **({} if body is None else {"Content-Type": "application/json"})}
        async with self.session.request(
            method, address.target(path), data=body, headers=headers, allow_redirects=False
        ) as response:
            content = bytearray()
            async for chunk in response.content.iter_any():
                content += chunk
                if len(content) > most:
                    raise ModelError(
                        f"{place}: the answer has more than {most} bytes; name the address of a vLLM server"
                    )
            status, reason, after = response.status, response.reason, response.headers.get("Retry-After")
        data = await in_thread(read if status == 200 else json_or_none, content)
        if status == 200 and isinstance(data, dict):
            return data
        if status == 200:
            raise ModelError(f"{place}: the answer is not a JSON object; name the address of a vLLM server")
        words = address.said(f"{status} {words_on_error(data) or reason or ''}".strip())
        told = f"{place}: {words}; see the server's log, or set VLLM_API_KEY where it wants a key"
        if status in _BUSY:
            raise Temporary(told, busy=True, after=retry_after(after))
        if status in _BROKEN:
            raise Temporary(told)
        if status == 404 and optional:
            return {}
        raise ModelError(told)


def _reason(error: Exception) -> str:
    """Return the reason of a failed request, without the library's own words."""
    inner = getattr(error, "os_error", None) or error
    number = getattr(inner, "errno", None)
    if isinstance(number, int) and number > 0:
        return f"[Errno {number}] {os.strerror(number)}"
    if type(error).__name__ == "ServerDisconnectedError":
        return "the server hung up"
    return str(inner) or type(inner).__name__


def retry_after(header: str | None) -> float | None:
    """Return the seconds of a `Retry-After` header, which may be a date; None if it has none."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, OverflowError):  # OverflowError: a day or a year outside the calendar
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def words_on_error(data: Any) -> str:
    """Return the server's own message on an error; "" if it has none."""
    match data:
        case {"error": {"message": str(text)}} | {"message": str(text)} | {"error": str(text)}:
            return text
        case {"detail": detail}:
            return str(detail)
        case _:
            return ""
