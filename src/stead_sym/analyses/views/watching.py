"""Turn what runs must do until something happens into an invariant, with a relation that remembers.

Definition. Let f be AG ∀x (p → A[l W r]). The deployment *watched* for f has a relation G more, empty
initially, and each step from D with the facts G of it leads to D' with

    G' = { x : (G(x) ∨ p) ∧ ¬r },   and is to keep   AG ∀x ((G(x) ∨ p) ∧ ¬r → l).

AG ∀x (p → AG l) is that with r = false. For AG ∀x (p → AX l) G' = { x : p }, and AG ∀x (G(x) → l). For
A[l W r] G holds once r was true: G' = G ∨ r, and AG (G ∨ r ∨ l).

Theorem. If the watched deployment keeps its sentences then the deployment satisfies f, provided that there
are no x, or that l and r imply that each value of x is active, and each quantifier in p, l and r says in a
fact that its value is.

Proof. Take a run D_0 … D_n of the deployment to the first state in which f is refuted: some x with p in D_i,
¬r in D_i, …, D_n, and ¬l in D_n. With G as defined it is a run of the watched deployment: up to D_(n-1) each
x in G satisfies l or r, and is active without G, so that guards, conditions and fresh values are the same,
and so does each x with p, which is thus remembered. In D_n p, l and r are true of the same values with G as
without, since their quantifiers are about values of facts that are not of G, and x is refuted there. ∎

One decision: a deployment is watched for one specification at a time, since after it has refuted that one its
steps may be others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Clear, Delete, Insert, Statement, Tool
from stead_sym.deployment.witnesses import is_old
from stead_sym.logic.kernel import core
from stead_sym.logic.substitution import fresh_name
from stead_sym.relational.schema import Relation


@dataclass(frozen=True, slots=True)
class Watched:
    """The ``deployment`` watched for a specification, and the ``sentences`` that it has to keep."""

    deployment: Deployment
    sentences: tuple[fo.Expanded, ...]


def watched(deployment: Deployment, formula: fo.Expanded) -> Watched | None:
    """Return the deployment watched for a specification, or None.

    Returns None if the specification has another shape, if the theorem does not apply to it, or if effects
    are formulas.
    """
    if deployment.has_ensure:
        return None
    found = tuple(_obligations(formula))
    values = any(one is not None and one.binders for one in found)
    sentences: list[fo.Expanded] = []
    for one in found:
        if one is None or (values and not one.is_known()):
            return None
        deployment, sentence = one.watch(deployment)
        sentences.append(sentence)
    return Watched(deployment, tuple(sentences))


@dataclass(frozen=True, slots=True)
class _Obligation:
    """The formula AG ∀x (p → A[l W r]), ``once`` AG ∀x (p → AX l); without ``since`` for p just A[l W r]."""

    binders: tuple[fo.Binder, ...]
    since: fo.Expanded | None
    left: fo.Expanded
    right: fo.Expanded = fo.FALSE
    once: bool = False

    def is_known(self) -> bool:
        """Return whether the theorem applies."""
        said = (self.left,) if self.once else (self.left, self.right)
        return all(
            _is_about_facts(f) for f in (fo.TRUE if self.since is None else self.since, *said)
        ) and all(
            not binder.declared and is_old(f, binder.name, frozenset())
            for binder in self.binders
            for f in said
        )

    def watch(self, deployment: Deployment) -> tuple[Deployment, fo.Expanded]:
        """Return the deployment with the relation that remembers, and the sentence that it has to keep."""
        name = fresh_name("watched", {relation.name for relation in deployment.schema.relations})
        relation = Relation(name, tuple(binder.sort for binder in self.binders))
        seen = fo.Atom(name, fo.variables_of(self.binders))
        statements, kept = self._remembered(seen)
        watching = deployment.with_tools(
            (_with(tool, statements) for tool in deployment.tools_and_events), [relation]
        )
        return watching, fo.quantify(fo.Forall, self.binders, kept)

    def _remembered(self, seen: fo.Atom) -> tuple[tuple[Statement, ...], fo.Formula]:
        if self.since is None:
            return (Insert(seen, where=self.right),), fo.Or((seen, self.right, self.left))
        if self.once:
            return (Clear((seen.relation,)), Insert(seen, self.binders, self.since)), fo.Implies(
                seen, self.left
            )
        asked = fo.And((self.since, fo.Not(self.right)))
        ended = fo.And((seen, self.right))
        kept = fo.Implies(fo.And((fo.Or((seen, self.since)), fo.Not(self.right))), self.left)
        return (Delete(seen, self.binders, ended), Insert(seen, self.binders, asked)), kept


def _with(tool: Tool, statements: tuple[Statement, ...]) -> Tool:
    return replace(
        tool,
        effects=tuple(
            replace(effect, statements=(*effect.statements, *statements)) for effect in tool.effects
        ),
    )


def _obligations(formula: fo.Expanded) -> Iterator[_Obligation | None]:
    """Yield the conjuncts of a specification; None for one of another shape."""
    match formula:
        case fo.And(parts):
            for part in parts:
                yield from _obligations(part)
        case fo.Until("A", left, right, True) if not fo.is_temporal(left) and not fo.is_temporal(right):
            yield _Obligation((), None, left, right)
        case fo.Globally("A", body):
            yield from _always(body, (), fo.TRUE)
        case _:
            yield None


def _always(
    body: fo.Expanded, binders: tuple[fo.Binder, ...], since: fo.Expanded
) -> Iterator[_Obligation | None]:
    """Yield the obligations of AG ∀x (p → body); None for one of another shape."""
    match body:
        case fo.Forall(binder, inner) if binder.name not in {b.name for b in binders}:
            if since == fo.TRUE:
                yield from _always(inner, (*binders, binder), since)
            else:
                yield None
        case fo.And(parts):
            for part in parts:
                yield from _always(part, binders, since)
        case fo.Implies(left, right) if not fo.is_temporal(left):
            yield from _always(right, binders, left if since == fo.TRUE else fo.And((since, left)))
        case fo.Next("A", inner) if not fo.is_temporal(inner):
            yield _Obligation(binders, since, inner, once=True)
        case fo.Globally("A", inner) if not fo.is_temporal(inner):
            yield _Obligation(binders, since, inner)
        case fo.Until("A", left, right, True) if not fo.is_temporal(left) and not fo.is_temporal(right):
            yield _Obligation(binders, since, left, right)
        case _:
            yield None


def _is_about_facts(formula: fo.Formula) -> bool:
    """Return whether each quantifier states in a fact that its value is active."""

    def check(f: fo.Formula) -> bool:
        match f:
            case fo.Exists(binder, body) | fo.Count(_, _, binder, body):
                if not binder.declared and not is_old(body, binder.name, frozenset()):
                    return False
            case fo.Each():
                return False
            case _:
                pass
        return all(map(check, fo.children(f)))

    return check(core(formula))
