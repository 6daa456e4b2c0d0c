"""Find the slices of a deployment in which a specification can be asked, the smallest first.

One decision: they grow from the relations that the specification speaks of, by what is read for the
alternatives that change these: first what guards and conditions ask for, then all that they speak of. The
whole deployment is a slice only as the last one, which has U_S for each sort S of a variable that no fact
ties: without it the values beside each such value are looked at, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import stead_sym.logic.syntax as fo
from stead_sym.analyses.views.slicing import Slice, lost, sliced
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Choose, Delete, Effect, Insert, Tool
from stead_sym.logic.kernel import Core, core
from stead_sym.verification.findings.ranges import changed_in


def slices(deployment: Deployment, sentences: Iterable[fo.Expanded]) -> Iterator[Slice]:
    """Yield the slices in which these sentences can be asked; none if effects are formulas."""
    if deployment.has_ensure:
        return
    every = {relation.name for relation in deployment.schema.relations}
    asked = tuple(sentences)
    kept = _closed(deployment, frozenset(name for sentence in asked for name in fo.relations_in(sentence)))
    while kept != every:
        yield sliced(deployment, kept, asked)
        for reading in (_asked_for, fo.relations_in):
            read = (
                _read(effect, kept, tool, reading)
                for tool in deployment.tools_and_events
                for effect in tool.effects
            )
            wider = _closed(deployment, kept.union(*read))
            if wider != kept:
                break
        else:
            break
        kept = wider
    last = sliced(deployment, kept, asked, every_sort=True)
    if last.using.keys() - lost(deployment, kept):
        yield last


def _closed(deployment: Deployment, kept: frozenset[str]) -> frozenset[str]:
    """Return these relations with those that the conditions of statements about them read."""
    while True:
        wider = kept.union(
            *(
                fo.relations_in(statement.where)
                for tool in deployment.tools_and_events
                for effect in tool.effects
                for statement in effect.statements
                if isinstance(statement, Insert | Delete) and statement.atom.relation in kept
            )
        )
        if wider == kept:
            return kept
        kept = wider


def _read(
    effect: Effect, kept: frozenset[str], tool: Tool, reading: Callable[[fo.Expanded], Iterable[str]]
) -> Iterator[str]:
    """Yield the relations that are read for an alternative that changes some of these relations."""
    if not kept.isdisjoint(changed_in(effect)):
        chosen = (s.where for s in effect.statements if isinstance(s, Choose))
        for formula in (tool.guard, effect.when, *chosen):
            yield from reading(formula)


def _asked_for(formula: fo.Expanded) -> Iterator[str]:
    """Return the relations for whose facts a formula asks."""

    def asked(f: Core) -> Iterator[str]:
        match f:
            case fo.Atom(relation):
                yield relation
            case fo.And() | fo.Exists():
                for child in fo.children(f):
                    yield from asked(child)
            case _:
                pass

    return asked(core(formula))
