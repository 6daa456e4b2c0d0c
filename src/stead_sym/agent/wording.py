"""What somebody else has said, in an error: on one line, in characters that can be seen, and not without
end."""

from __future__ import annotations

import re

from stead_sym.printable import printable

_MOST = 300
_CREDENTIALS = re.compile(r"//[^/@\s]*@")


def without_credentials(text: str) -> str:
    """The text without users and passwords in addresses."""
    return _CREDENTIALS.sub("//", text)


def one_line(text: str, most: int = _MOST) -> str:
    """The text with its white space closed up, other characters that cannot be printed as escape sequences,
    and cut after ``most`` characters."""
    seen = printable(" ".join(text[: 4 * most].split()))
    return seen if len(seen) <= most else f"{seen[:most]}…"
