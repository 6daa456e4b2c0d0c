"""JSON over HTTP with the server of a model.

The decision: what is temporary (no connection, a busy server) is tried again a bounded number of times by
urllib3, with growing pauses; everything else that goes wrong is one line with the server's own words.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from stead_sym.agent.models.tokenizer import library
from stead_sym.errors import InputError, ModelError

EXTRA = "server"
"""The extra of the package that has what a server's client needs."""
IN_FLIGHT = 64
"""So many connections are kept."""
_BUSY = (429, 500, 502, 503, 504)


class Connection:
    """A server that speaks JSON. Requests may be made from several threads."""

    def __init__(self, url: str, tries: int = 6) -> None:
        """Raises `InputError` for what is no URL, `ModelError` where the library is not installed."""
        self._urllib3 = library("urllib3", url, EXTRA)
        self._errors = self._urllib3.exceptions
        self.url = url.rstrip("/").removesuffix("/v1")
        try:
            parts = self._urllib3.util.parse_url(self.url)
        except self._errors.LocationParseError:
            parts = None
        if parts is None or parts.scheme not in ("http", "https") or not parts.host:
            raise InputError(f"{url!r} is no address of a server; write http://HOST:PORT#MODEL")
        key = os.environ.get("VLLM_API_KEY")
        self._pool = self._urllib3.PoolManager(
            maxsize=IN_FLIGHT,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=self._urllib3.Timeout(connect=10.0, read=600.0),
        )
        retry = self._urllib3.Retry(
            total=tries - 1,
            backoff_factor=0.5,
            status_forcelist=_BUSY,
            allowed_methods=None,  # POST too: to ask a second time changes nothing on the server
            raise_on_status=False,
        )
        # The first request to a server is a GET: with few tries a wrong address is soon reported.
        self._retries = {"POST": retry, "GET": retry.new(total=min(tries, 2) - 1)}

    def get(self, path: str, *, optional: bool = False) -> dict[str, Any]:
        """The answer to GET. Raises `ModelError` as `post` does."""
        return self._answer("GET", path, None, optional)

    def post(self, path: str, body: Mapping[str, Any], *, optional: bool = False) -> dict[str, Any]:
        """The answer to POST; with ``optional`` an empty one where the server does not know ``path``.

        Raises `ModelError` where there is no answer after all tries, or one that is an error or no JSON.
        """
        return self._answer("POST", path, dict(body), optional)

    def _answer(self, method: str, path: str, body: dict[str, Any] | None, optional: bool) -> dict[str, Any]:
        place = f"{self.url}{path}"
        try:
            response = self._pool.request(method, place, json=body, retries=self._retries[method])
        except self._errors.HTTPError as error:
            raise ModelError(
                f"{place}: no answer: {_reason(error)}; start the server, or mend the address"
            ) from None
        if optional and response.status == 404:
            return {}
        try:
            data = json.loads(response.data)
        except ValueError:
            data = None
        if response.status != 200:
            raise ModelError(
                f"{place}: {response.status} {_message(data) or response.reason}; see the server's log, "
                "or set VLLM_API_KEY where it wants a key"
            )
        if not isinstance(data, dict):
            raise ModelError(f"{place}: the answer is not a JSON object; name the address of a vLLM server")
        return data


def _reason(error: Exception) -> str:
    """Why there was no answer, without what urllib3 wraps around it."""
    cause = getattr(error, "reason", None) or error
    inner = [part for part in cause.args if isinstance(part, Exception)]
    return str(inner[-1] if inner else cause).rsplit(": ", 1)[-1]


def _message(data: Any) -> str:
    """The server's own words on an error, on one line."""
    for path in (("error", "message"), ("message",), ("detail",), ("error",)):
        found = data
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, str):
            return " ".join(found.split())
    return ""
