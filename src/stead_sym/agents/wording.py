"""Quote untrusted text in an error: on one line, in printable characters, truncated.

The decision: secrets are removed from the whole text before it is truncated. Otherwise truncation could leave
the start of a secret, which would not be recognized.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from stead_sym.support.printable import printable

_MAX_CHARACTERS = 300
_USER = re.compile(r"(?<=//)[^/?#\s]*@")
_QUERY = re.compile(r"\?[^#\s]*")


def without_credentials(text: str) -> str:
    """Return a text with the users, passwords and queries of URLs removed."""
    return _QUERY.sub("", _USER.sub("", text)) if "//" in text else text


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return a text with each of the secrets replaced by three stars; longer ones are replaced first."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def one_line(text: str, most: int = _MAX_CHARACTERS) -> str:
    """Return the text on one line, with unprintable characters escaped, cut after ``most`` characters."""
    seen = printable(" ".join(text[: 4 * most].split()))
    return seen if len(seen) <= most else f"{seen[:most]}…"
