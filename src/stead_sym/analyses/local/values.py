"""Values of an abstract state and their equality, which may be unknown.

Beside constants there are
- names: each stands for one value that no formula mentions, in a run the same throughout; names differ;
- individuals, which a step brings in: `other` than all constants and names of its sort, `any` value, or
  `new`, which stands in no fact yet and is no constant;
- `some` individual that a quantifier ranges over, other than all constants and names, too. It need not be the
  same in two formulas.

No value of a file begins as these do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

from stead_sym.relational.schema import Value

Kind: TypeAlias = Literal["named", "other", "any", "new", "some"]

MARK = "\0"
"""The first character of names, which no value and no variable of a file begins with."""

_KINDS: dict[str, Kind] = {one: one for one in get_args(Kind)}


def name(sort: str, number: int) -> Value:
    """Return the name of a sort with this number."""
    return f"{MARK}named:{sort}:{number}"


def numbered(names: Iterable[Value], sort: str) -> int:
    """Return the number from which on no name of a sort is among these."""
    return max((int(one.rsplit(":", 1)[1]) + 1 for one in names if sort_of(one) == sort), default=0)


def is_name(value: Value) -> bool:
    """Return if the value is a name."""
    return value.startswith(f"{MARK}named:")


def sort_of(value: Value) -> str:
    """Return the sort of a name or an individual."""
    return value.split(":")[1]


def individual(kind: Kind, sort: str, variable: str) -> Value:
    """Return the individual that a variable stands for."""
    return f"{MARK}{kind}:{sort}:{variable}"


def is_constant(value: Value) -> bool:
    """Return if the value stands for itself."""
    return not value.startswith(MARK)


def kind(value: Value) -> Kind:
    """Return the kind of the value; a constant is `named`, too."""
    return _KINDS[value[1 : value.index(":")]] if value.startswith(MARK) else "named"


def same(left: Value, right: Value) -> bool | None:
    """Return if two values of one sort are the same; None if that is not known.

    A step's `new` value is none of its other values, which are active or constants. `Some` individual may be
    any other, also one that reads the same: two quantifiers may have one variable.
    """
    kinds = {kind(left), kind(right)}
    if "some" in kinds and "named" not in kinds:
        return None
    if left == right:
        return True
    if "any" in kinds or kinds == {"other"}:
        return None
    return False
