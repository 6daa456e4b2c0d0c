"""Demands of a specification on every state, if there is a most permissive restriction that keeps it.

There is one for conjunctions of AG ψ such that ψ has path quantifiers E only and none below a negation. There
is also one for A[f W g] of first-order sentences f, g, which is equivalent to AG (f | once g). Removing a
transition never makes such a ψ true that was false, so that of all restrictions that keep AG ψ there is a
largest one.

AF has none in general: each number of steps by which the goal is delayed is a restriction of its own, and
their union delays it for ever.
"""

from __future__ import annotations

from collections.abc import Iterator

from stead_sym.errors import InputError
from stead_sym.logic.syntax import (
    TRUE,
    And,
    Count,
    Exists,
    Expanded,
    Forall,
    Future,
    Globally,
    Implies,
    Next,
    Not,
    Or,
    Since,
    Until,
    children,
    is_temporal,
    subformulas,
)

_INSTEAD = "write `AG (p -> EF q)`, that the goal can always be reached"


def demands(formula: Expanded, *, ends: bool = False) -> Iterator[Expanded]:
    """Yield sentences ψ such that the specification holds if all of them are true in every reachable state.

    ``ends``: a run may end in some states, in which no call remains, so that a restriction creates loops.
    Raises `InputError` for a specification of another form.
    """
    if ends and any(isinstance(part, Next | Globally) and part.path == "E" for part in subformulas(formula)):
        raise InputError("where a run may end (`terminal`), a restriction may make EX and EG true; use EF")
    match formula:
        case And(parts):
            for part in parts:
                yield from demands(part)
        case Globally("A", body):
            yield from _always(body)
        case Until("A", left, right, weak=True) if not is_temporal(left) and not is_temporal(right):
            yield Or((left, Since(TRUE, right)))
        case _ if not is_temporal(formula):
            raise InputError("it speaks of the initial states alone, which no restriction changes")
        case _:
            raise InputError(_why(formula))


def _always(body: Expanded) -> Iterator[Expanded]:
    """Yield the demands of AG ψ."""
    match body:
        case And(parts):
            for part in parts:
                yield from _always(part)
        case Forall(binder, And(parts)):
            for part in parts:
                yield from _always(Forall(binder, part))
        case Globally("A", inner):
            yield from _always(inner)
        case _ if _grows(body):
            yield body
        case _:
            raise InputError(_why(body))


def _grows(formula: Expanded) -> bool:
    """Return True if more transitions never make the formula false, by its structure."""
    if not is_temporal(formula):
        return True
    match formula:
        case And() | Or() | Exists() | Forall() | Count("atleast"):
            return all(map(_grows, children(formula)))
        case Implies(left, right):
            return not is_temporal(left) and _grows(right)
        case Next("E") | Future("E") | Globally("E") | Until("E"):
            return all(map(_grows, children(formula)))
        case _:
            return False


def _why(formula: Expanded) -> str:
    """Return why a formula has no largest restriction, by its structure."""
    for part in subformulas(formula):
        match part:
            case Future("A") | Until("A", weak=False):
                return f"of AF and A[… U …] there is no largest restriction in general; {_INSTEAD}"
            case Next("A") | Globally("A") | Until("A"):
                return "a restriction may make the A within it true; state it as a specification of its own"
            case Not(body) if is_temporal(body):
                return "it has a temporal operator below a negation; push the negation inwards"
            case _:
                pass
    return "it is no conjunction of `AG ψ` and `A[f W g]`; write it as one"
