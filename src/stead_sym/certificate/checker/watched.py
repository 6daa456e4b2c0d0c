"""Claims about runs until an event, as invariants over additional relations that remember.

For a claim that is a conjunction of A[l W r] and of AG ∀x (p → A[l W r]), AG ∀x (p → AG l), AG ∀x (p → AX l)
there is a relation G per part, initially empty, which each step from D also writes; the invariant of each
part is in the last column:

    A[l W r]               G' = G ∨ r                         G ∨ r ∨ l
    AG ∀x (p → A[l W r])   G' = { x : (G(x) ∨ p) ∧ ¬r }       ∀x. (G(x) ∨ p) ∧ ¬r → l     (AG l: r is false)
    AG ∀x (p → AX l)       G' = { x : p }                     ∀x. G(x) → l

where everything is read in D. The claim follows (`docs/theory.md`) if no part has variables x, or if in each
part l and r require a fact with x, so that x is active, and each quantifier in p, l and r does so for its
value. These are obligations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import stead_sym.logic.syntax as fo
from stead_sym.certificate.checker.needed import names_in_fact
from stead_sym.certificate.document import remembering
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Clear, Delete, Insert, Statement
from stead_sym.logic.kernel import Core, core
from stead_sym.relational.schema import Relation


@dataclass(frozen=True)
class _Part:
    """A part ∀x (p → l until r), at each state or ``initially``; for ``next`` ∀x (p → AX l)."""

    binders: tuple[fo.Binder, ...]
    since: fo.Expanded
    left: fo.Expanded
    right: fo.Expanded = fo.FALSE
    next: bool = False
    initially: bool = False


def watched(
    deployment: Deployment, formula: fo.Expanded, claim: str
) -> tuple[Deployment, tuple[fo.Expanded, ...]]:
    """Return the deployment with the relations that remember, and the invariants to prove.

    Raise `CertificateRejected` for a claim that does not follow from them.
    """
    place = f"spec {claim}"
    parts = tuple(_parts(formula))
    if None in parts:
        raise CertificateRejected("it says what is to be until something comes, or in the next state", place)
    found = tuple(part for part in parts if part is not None)
    if any(part.binders for part in found) and not all(map(_is_about_facts, found)):
        raise CertificateRejected("its variables have values of facts", place)
    relations: list[Relation] = []
    statements: list[Statement] = []
    kept: list[fo.Expanded] = []
    for number, part in enumerate(found):
        relations.append(Relation(remembering(number), tuple(binder.sort for binder in part.binders)))
        seen = fo.Atom(remembering(number), fo.variables_of(part.binders))
        own, sentence = _remembered(part, seen)
        statements += own
        kept.append(fo.quantify(fo.Forall, part.binders, sentence))
    tools = tuple(
        replace(
            tool,
            effects=tuple(replace(e, statements=(*e.statements, *statements)) for e in tool.effects),
        )
        for tool in deployment.tools_and_events
    )
    return deployment.with_tools(tools, relations), tuple(kept)


def _remembered(part: _Part, seen: fo.Atom) -> tuple[tuple[Statement, ...], fo.Expanded]:
    if part.initially:
        return (Insert(seen, where=part.right),), fo.Or((seen, part.right, part.left))
    if part.next:
        return (Clear((seen.relation,)), Insert(seen, part.binders, part.since)), fo.Implies(seen, part.left)
    open_ = fo.Not(part.right)
    return (
        (
            Delete(seen, part.binders, fo.And((seen, part.right))),
            Insert(seen, part.binders, fo.And((part.since, open_))),
        ),
        fo.Or((fo.Not(fo.Or((seen, part.since))), part.right, part.left)),
    )


def _parts(formula: fo.Expanded) -> Iterator[_Part | None]:
    match formula:
        case fo.And(parts):
            for part in parts:
                yield from _parts(part)
        case fo.Until("A", left, right, True) if not fo.is_temporal(left) and not fo.is_temporal(right):
            yield _Part((), fo.TRUE, left, right, initially=True)
        case fo.Globally("A", body):
            yield from _everywhere(body, (), ())
        case _:
            yield None


def _everywhere(
    body: fo.Expanded, binders: tuple[fo.Binder, ...], since: tuple[fo.Expanded, ...]
) -> Iterator[_Part | None]:
    """Yield the parts of AG ∀x (p → body), where p is a conjunction."""
    asked = fo.And(since) if since else fo.TRUE
    match body:
        case fo.Forall(binder, inner) if not since and binder.name not in {b.name for b in binders}:
            yield from _everywhere(inner, (*binders, binder), since)
        case fo.And(parts):
            for part in parts:
                yield from _everywhere(part, binders, since)
        case fo.Implies(left, right) if not fo.is_temporal(left):
            yield from _everywhere(right, binders, (*since, left))
        case fo.Next("A", left) if not fo.is_temporal(left):
            yield _Part(binders, asked, left, next=True)
        case fo.Globally("A", left) if not fo.is_temporal(left):
            yield _Part(binders, asked, left)
        case fo.Until("A", left, right, True) if not fo.is_temporal(left) and not fo.is_temporal(right):
            yield _Part(binders, asked, left, right)
        case _:
            yield None


def _is_about_facts(part: _Part) -> bool:
    said = [part.left] if part.right == fo.FALSE else [part.left, part.right]
    return all(_are_quantifiers(core(f)) for f in (part.since, *said)) and all(
        not binder.declared and names_in_fact(core(f), binder.name) for binder in part.binders for f in said
    )


def _are_quantifiers(f: Core) -> bool:
    """Return whether each quantifier requires a fact with its value, so that the value is active."""
    match f:
        case fo.Exists(binder, body) | fo.Count(_, _, binder, body):
            if not binder.declared and not names_in_fact(body, binder.name):
                return False
        case fo.Each():
            return False
        case _:
            pass
    return all(map(_are_quantifiers, fo.children(f)))
