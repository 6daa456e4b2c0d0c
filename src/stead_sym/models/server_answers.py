"""Parse the errors of servers: the time of a retry, and the server's message.

One decision: data from a server are untrusted, of any type and structure.
"""

from __future__ import annotations

import json
import math
import time
from email.utils import parsedate_to_datetime
from typing import Any


def json_or_none(content: bytes | bytearray) -> Any:
    """Return the data of a JSON body; None if it is not JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


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
