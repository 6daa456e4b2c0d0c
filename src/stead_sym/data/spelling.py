"""How a value of the data is spelled in the language.

One decision: every value becomes a *name*, since names are what formulas, runs, prompts, certificates and
exports hold. A cell that is a name stands as it is. Any other gets the name of its sort in front, `17` in a
column of orders is `order_17`: numbers identify records in most databases, and the order 17 and the user 17
are two values. What no name can hold is written out in digits, so that different cells get different names;
the rare pair that would not is an error (`data.reading`).
"""

from __future__ import annotations

import math
import re
from datetime import date, time
from decimal import Decimal
from uuid import UUID

from stead_sym.logic.names import WORDS, is_name
from stead_sym.relational.schema import Schema, Sort, Value

MOST_CHARACTERS = 200
"""The longest cell that becomes a value: what identifies a record is short."""

_CODE = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*", re.ASCII)
_OTHER = re.compile(r"[^A-Za-z0-9_]", re.ASCII)


class Unusable(Exception):
    """The cell is no value; ``str`` says why and what to do."""


def text_of(cell: object) -> str:
    """The text of a cell, "" where it is empty: numbers without a fraction as whole numbers, true and false,
    dates and times in ISO 8601. Raises `Unusable`."""
    match cell:
        case None:
            return ""
        case str():
            text = cell
        case bool():
            text = "true" if cell else "false"
        case int() | UUID():
            text = str(cell)
        case float():
            text = _number(Decimal(repr(cell)) if math.isfinite(cell) else None)
        case Decimal():
            text = _number(cell if cell.is_finite() else None)
        case date() | time():  # a datetime is a date
            text = cell.isoformat()
        case _:
            raise Unusable(f"holds {type(cell).__name__}, which is no value; give texts, numbers or dates")
    if len(text) > MOST_CHARACTERS:
        raise Unusable(
            f"holds {len(text):,} characters; give what identifies a record, {MOST_CHARACTERS} at most"
        )
    return text


def _number(number: Decimal | None) -> str:
    """Equal numbers have one text: 3 for 3.0, 1.5 for 1.50."""
    if number is None:
        raise Unusable("holds a number that is not finite; leave it empty")
    if abs(number.adjusted()) > MOST_CHARACTERS:
        raise Unusable("holds a number that is too long; give what identifies a record")
    if number == number.to_integral_value():
        return str(int(number))
    return format(number, "f").rstrip("0")  # `normalize` would round to the precision of the context


def spelled(text: str, sort: Sort, schema: Schema) -> Value:
    """The value of the sort that a cell with this text stands for. Raises `Unusable` where a finite sort
    lists none.

    In a finite sort the listed value of that spelling, or of the one below. In another a name stands as it
    is, unless it is a word of the formulas or a value that a sort lists; all else is `SORT_…`: letters and
    digits joined by `-` with `_` for each `-`, and otherwise each character but letters, digits and `_` as
    its number in hexadecimal digits between two `_`.
    """
    if text in sort.rank:
        return text
    if sort.values is None and is_name(text) and text not in WORDS and text not in schema.listed:
        return text
    code = text.replace("-", "_") if _CODE.fullmatch(text) else _OTHER.sub(_digits, text)
    value = f"{sort.name}_{code}"
    if sort.values is not None and value not in sort.rank:
        raise Unusable(f"holds {text!r}, which sort {sort.name} does not list; {_advice(sort)}")
    return value


def _digits(character: re.Match[str]) -> str:
    return f"_{ord(character[0]):x}_"


def _advice(sort: Sort) -> str:
    listed = sort.values or ()
    shown = ", ".join(listed[:8]) + ", …" * (len(listed) > 8)
    return f"list it there, or mend the row: there are {shown}"
