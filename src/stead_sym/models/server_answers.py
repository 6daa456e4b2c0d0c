"""Errors of servers: when to ask again, and the server's own words on what is wrong.

One decision: whatever a server sends is taken for data from outside, of any type and of any shape.
"""

from __future__ import annotations

import json
import math
import time
from email.utils import parsedate_to_datetime
from typing import Any


def json_or_none(content: bytes | bytearray) -> Any:
    """The data that a body is; None where it is no JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def retry_after(header: str | None) -> float | None:
    """The seconds of a `Retry-After` header, which may be a date; None where it says none."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, OverflowError):  # the second for a day or a year beyond all dates
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def words_on_error(data: Any) -> str:
    """The server's own words on an error; empty where it has none."""
    match data:
        case {"error": {"message": str(text)}} | {"message": str(text)} | {"error": str(text)}:
            return text
        case {"detail": detail}:
            return str(detail)
        case _:
            return ""
