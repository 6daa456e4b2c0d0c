"""Spell a value of the data as a name of the language.

One decision: every value becomes a *name*, since formulas, runs, prompts, certificates and exports hold
names. A cell that is a name is kept. Any other gets its sort as a prefix: `17` in a column of orders is
`order_17`. Most databases identify records by numbers, and the order 17 and the user 17 are two values. A
character that no name can hold is written in digits, so that different cells get different names; a rare
collision is an error (`data.reading`).
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
"""The maximum length of a cell that becomes a value; identifiers of records are short."""

_CODE = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*", re.ASCII)
_OTHER = re.compile(r"[^A-Za-z0-9_]", re.ASCII)


class Unusable(Exception):
    """An error for a cell that is no value; its text gives the reason and the remedy."""


def text_of(cell: object) -> str:
    """Return the text of a cell, "" if the cell is empty. Raise `Unusable`.

    Numbers without a fraction are written as whole numbers, Booleans as true and false, dates and times in
    ISO 8601.
    """
    match cell:
        case None:
            return ""
        case str():
            text = cell
        case bool():
            text = "true" if cell else "false"
        case int() if (
            cell.bit_length() > 4 * MOST_CHARACTERS
        ):  # Python writes no longer ones than 4300 digits
            raise Unusable("holds a number that is too long; give what identifies a record")
        case int() | UUID():
            text = str(cell)
        case float():
            text = _number(Decimal(repr(cell)) if math.isfinite(cell) else None)
        case Decimal():
            text = _number(cell if cell.is_finite() else None)
        case date() | time():  # datetime is a subclass of date
            text = cell.isoformat()
        case _:
            raise Unusable(f"holds {type(cell).__name__}, which is no value; give texts, numbers or dates")
    if len(text) > MOST_CHARACTERS:
        raise Unusable(
            f"holds {len(text):,} characters; give what identifies a record, {MOST_CHARACTERS} at most"
        )
    return text


def _number(number: Decimal | None) -> str:
    """Return the text of a number; equal numbers have equal texts: 3 for 3.0, 1.5 for 1.50."""
    if number is None:
        raise Unusable("holds a number that is not finite; leave it empty")
    if abs(number.adjusted()) > MOST_CHARACTERS:
        raise Unusable("holds a number that is too long; give what identifies a record")
    if number == number.to_integral_value():
        return str(int(number))
    return format(number, "f").rstrip("0")  # `normalize` would round to the precision of the context


def spelled(text: str, sort: Sort, schema: Schema) -> Value:
    """Return the value of the sort that a cell's text denotes; raise `Unusable` if a finite sort lists none.

    In a finite sort it is the listed value with that spelling, or with the one below. In an infinite sort a
    name is kept, unless it is a keyword of formulas or a value that some sort lists. Any other text is
    `prefixed`.
    """
    if text in sort.rank:
        return text
    if sort.values is None and is_name(text) and text not in WORDS and text not in schema.listed:
        return text
    value = prefixed(text, sort.name)
    if sort.values is not None and value not in sort.rank:
        raise Unusable(f"holds {text!r}, which sort {sort.name} does not list; {_advice(sort)}")
    return value


def prefixed(text: str, sort: str) -> Value:
    """Return `SORT_…` for a text that is not kept.

    If the text consists of letters and digits joined by `-`, each `-` becomes `_`; otherwise each character
    except letters, digits and `_` becomes its code point in hexadecimal between two `_`.
    """
    code = text.replace("-", "_") if _CODE.fullmatch(text) else _OTHER.sub(_digits, text)
    return f"{sort}_{code}"


def _digits(character: re.Match[str]) -> str:
    return f"_{ord(character[0]):x}_"


def _advice(sort: Sort) -> str:
    listed = sort.values or ()
    shown = ", ".join(listed[:8]) + ", …" * (len(listed) > 8)
    return f"list it there, or mend the row: there are {shown}"
