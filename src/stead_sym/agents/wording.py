"""What somebody else has said, in an error: on one line, in characters that can be seen, and not without
end.

The decision: secrets are looked for in the whole text, and only then is it cut. The other way round a cut
leaves the beginning of one, which nothing recognises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from stead_sym.support.printable import printable

_MAX_CHARACTERS = 300
_USER = re.compile(r"(?<=//)[^/?#\s]*@")
_QUERY = re.compile(r"\?[^#\s]*")


def without_credentials(text: str) -> str:
    """A text that may have URLs in it, without the users, passwords and queries of these."""
    return _QUERY.sub("", _USER.sub("", text)) if "//" in text else text


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """A text with three stars for each of the secrets; of those that overlap the longest counts."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def one_line(text: str, most: int = _MAX_CHARACTERS) -> str:
    """The text with its white space closed up, other characters that cannot be printed as escape sequences,
    and cut after ``most`` characters."""
    seen = printable(" ".join(text[: 4 * most].split()))
    return seen if len(seen) <= most else f"{seen[:most]}…"
