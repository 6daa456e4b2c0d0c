"""Addresses of servers, and their display in messages without secrets.

The decision: every part of a URL except scheme, host, port and path is treated as a secret: it is sent in
requests and never appears in a name, an error, a report or a store.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from stead_sym.errors import InputError
from stead_sym.support.printable import one_line, without_credentials, without_secrets


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
