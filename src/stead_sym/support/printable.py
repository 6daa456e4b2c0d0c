"""Convert text from any source to text that shows every character, and that may be quoted in an error.

One decision: a character that would be invisible or misplaced is written as its escape sequence (control
characters, line breaks, characters that change the direction of writing). Values, and evidence from files,
may hold any text. Secrets are removed from a whole text before it is truncated: otherwise truncation could
leave the start of a secret, which would not be recognized.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_UNSEEN = re.compile(r"[^ -~]")
_USER = re.compile(r"(?<=//)[^/?#\s]*@")
_QUERY = re.compile(r"\?[^#\s]*")
_MAX_CHARACTERS = 300  # of a text that an error quotes


def printable(text: object) -> str:
    """Return an object's text on one line, with each unprintable character as its escape sequence."""
    return _UNSEEN.sub(lambda match: _seen(match[0]), str(text))


def printable_lines(text: str) -> str:
    """Return a text with unprintable characters escaped; line breaks and tabs are kept."""
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))


def _seen(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def plural(number: int, one: str, many: str = "") -> str:
    """Return a count with its noun: "1 state", "1,000 states"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


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
