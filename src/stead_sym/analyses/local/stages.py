"""Conditions by way of which a run leads to what is asked for, one stage after the other.

AG (p → EF q) follows from AG (r → EF q) and AG (p → EF (q ∨ r)): the one run goes on with the other, and what
fairness asks of it concerns its continuation alone. Which r is tried decides about time alone. It is what a
tool or an event requires that makes an atom of q true, as far as that is about names; then less of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.facts import as_fact
from stead_sym.analyses.local.start import names_in
from stead_sym.analyses.local.writes import required
from stead_sym.deployment.tool import Choose, Effect, Fresh, Insert, Tool
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.substitution import substitute
from stead_sym.relational.schema import Schema, tells_history

MOST_IN_VAIN = 2
"""The maximum number of stages that are tried in vain."""


class Shows(Protocol):
    """A test whether a question is shown; ``briefly`` on very few facts."""

    def __call__(self, question: fo.Formula, /, *, briefly: bool) -> bool:
        """Return if the question is shown."""


def in_stages(question: fo.Formula, tools: Sequence[Tool], schema: Schema, shows: Shows) -> bool:
    """Return if a question AG (p → EF q) is shown in stages."""
    if (parts := asked_for(question)) is None:
        return False
    start, goal = parts
    failed = 0

    def leads_on(needed: Sequence[Core]) -> bool:
        nonlocal failed
        if not needed or failed > MOST_IN_VAIN:
            return False
        is_shown = shows(leads(needed, targets), briefly=False)
        failed += not is_shown
        return is_shown

    targets, waiting = [goal], [*atoms_about_names([goal])]
    for needed in (one for atom in waiting for one in before(atom, tools, schema)):
        if any(set(fo.conjuncts(one)) <= set(needed) for one in targets) or not leads_on(needed):
            continue
        targets.append(core(fo.conjunction(tuple(needed))))
        for one in less(needed):
            fewer = [other for other in needed if other != one]
            if leads_on(fewer):
                needed, targets[-1] = fewer, core(fo.conjunction(tuple(fewer)))
        waiting += [new for new in atoms_about_names(needed) if new not in waiting]
        if shows(leads(start, targets), briefly=True):
            return True
    return False


def asked_for(question: fo.Formula) -> tuple[Sequence[Core], Core] | None:
    """Return the parts of p, and q, of a question AG (p → EF q); None for any other one."""
    if not isinstance(question, fo.Globally) or question.path != "A":
        return None
    parts = [core(part) for part in fo.conjuncts(core(fo.Not(question.body)))]
    match [part for part in parts if fo.is_temporal(part)]:
        case [fo.Not(fo.Until("E", fo.Truth(True), goal, weak=False))] if not fo.is_temporal(goal):
            return [part for part in parts if not fo.is_temporal(part)], core(goal)
        case _:
            return None


def leads(parts: Sequence[fo.Formula], targets: Sequence[fo.Formula]) -> fo.Formula:
    """Return AG (p → EF (q1 ∨ …)) for the parts of p."""
    goal = targets[0] if len(targets) == 1 else fo.Or(tuple(targets))
    return fo.Globally("A", fo.Implies(fo.conjunction(tuple(parts)), fo.Future("E", goal)))


def atoms_about_names(formulas: Iterable[fo.Formula]) -> Iterator[fo.Atom]:
    """Yield the atoms of the database in some formulas that mention names, and no variables."""
    for part in (part for formula in formulas for part in fo.subformulas(formula)):
        if isinstance(part, fo.Atom) and names_in(part) and as_fact(part) is not None:
            yield part


def before(atom: fo.Atom, tools: Iterable[Tool], schema: Schema) -> Iterator[Sequence[Core]]:
    """Yield what each alternative that inserts an atom requires, as far as that is about names."""
    for tool in tools:
        for effect in tool.effects:
            own = {s.binder.name for s in effect.statements if isinstance(s, Fresh)}
            for statement in effect.statements:
                if isinstance(statement, Insert) and statement.atom.relation == atom.relation:
                    values = _matching(statement.atom, atom)
                    taken = own | {binder.name for binder in statement.binders}
                    if values is not None and taken.isdisjoint(values):
                        yield [*dict.fromkeys(_required(tool, effect, values, schema))]


def less(parts: Sequence[Core]) -> Iterator[Core]:
    """Yield the parts in the order in which they are tried to be left out: negations, then the last ones."""
    negations = [part for part in parts if isinstance(part, fo.Not)]
    yield from (*negations, *(part for part in reversed(parts) if part not in negations))


def _matching(pattern: fo.Atom, atom: fo.Atom) -> dict[str, fo.Term] | None:
    """Return the values of variables with which a pattern is the atom; None if there are none."""
    values = dict[str, fo.Term]()
    for term, wanted in zip(pattern.args, atom.args, strict=True):
        image = values.setdefault(term.name, wanted) if isinstance(term, fo.Var) else term
        if image != wanted:
            return None
    return values


def _required(tool: Tool, effect: Effect, values: dict[str, fo.Term], schema: Schema) -> Iterator[Core]:
    """Yield literals that an alternative requires: of what has other variables that there is a tuple."""
    conditions = (tool.guard, effect.when, *(s.where for s in effect.statements if isinstance(s, Choose)))
    for part in (part for f in conditions for part in fo.conjuncts(core(substitute(f, values)))):
        fact = core(part.body if isinstance(part, fo.Not) else part)
        if as_fact(fact) is not None:
            yield core(part)
            continue
        for atom in required(core(part)):
            if names_in(atom) and not tells_history(atom.relation):
                sorts = zip(atom.args, schema.relation(atom.relation).sorts, strict=True)
                own = {term.name: sort for term, sort in sorts if isinstance(term, fo.Var)}
                binders = [fo.Binder(name, sort) for name, sort in own.items()]
                yield core(fo.quantify(fo.Exists, binders, atom))
