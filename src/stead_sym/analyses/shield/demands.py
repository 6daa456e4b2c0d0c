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

import stead_sym.logic.syntax as fo
from stead_sym.errors import InputError

_INSTEAD = "write `AG (p -> EF q)`, that the goal can always be reached"


def demands(formula: fo.Expanded, *, ends: bool = False) -> Iterator[fo.Expanded]:
    """Yield sentences ψ such that the specification holds if all of them are true in every reachable state.

    ``ends``: a run may end in some states, in which no call remains, so that a restriction creates loops.
    Raises `InputError` for a specification of another form.
    """
    if ends and any(
        isinstance(part, fo.Next | fo.Globally) and part.path == "E" for part in fo.subformulas(formula)
    ):
        raise InputError("where a run may end (`terminal`), a restriction may make EX and EG true; use EF")
    match formula:
        case fo.And(parts):
            for part in parts:
                yield from demands(part)
        case fo.Globally("A", body):
            yield from _always(body)
        case fo.Until("A", left, right, weak=True) if not fo.is_temporal(left) and not fo.is_temporal(right):
            yield fo.Or((left, fo.Since(fo.TRUE, right)))
        case _ if not fo.is_temporal(formula):
            raise InputError("it speaks of the initial states alone, which no restriction changes")
        case _:
            raise InputError(_why(formula))


def _always(body: fo.Expanded) -> Iterator[fo.Expanded]:
    """Yield the demands of AG ψ."""
    match body:
        case fo.And(parts):
            for part in parts:
                yield from _always(part)
        case fo.Forall(binder, fo.And(parts)):
            for part in parts:
                yield from _always(fo.Forall(binder, part))
        case fo.Globally("A", inner):
            yield from _always(inner)
        case _ if _grows(body):
            yield body
        case _:
            raise InputError(_why(body))


def _grows(formula: fo.Expanded) -> bool:
    """Return True if more transitions never make the formula false, by its structure."""
    if not fo.is_temporal(formula):
        return True
    match formula:
        case fo.And() | fo.Or() | fo.Exists() | fo.Forall() | fo.Count("atleast"):
            return all(map(_grows, fo.children(formula)))
        case fo.Implies(left, right):
            return not fo.is_temporal(left) and _grows(right)
        case fo.Next("E") | fo.Future("E") | fo.Globally("E") | fo.Until("E"):
            return all(map(_grows, fo.children(formula)))
        case _:
            return False


def _why(formula: fo.Expanded) -> str:
    """Return why a formula has no largest restriction, by its structure."""
    for part in fo.subformulas(formula):
        match part:
            case fo.Future("A") | fo.Until("A", weak=False):
                return f"of AF and A[… U …] there is no largest restriction in general; {_INSTEAD}"
            case fo.Next("A") | fo.Globally("A") | fo.Until("A"):
                return "a restriction may make the A within it true; state it as a specification of its own"
            case fo.Not(body) if fo.is_temporal(body):
                return "it has a temporal operator below a negation; push the negation inwards"
            case _:
                pass
    return "it is no conjunction of `AG ψ` and `A[f W g]`; write it as one"
