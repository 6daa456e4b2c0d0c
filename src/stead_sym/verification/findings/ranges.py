"""Findings on quantifiers that range over active values, and on identifiers that return after deletion.

One decision: there is no finding on a quantifier if an inactive value makes no difference. This is decided by
taking every atom that mentions the value as false, and every equality as either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import Spec
from stead_sym.deployment.tool import Clear, Delete, Effect, Ensure, Insert, Tool
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.substitution import fresh_name
from stead_sym.relational.schema import Value
from stead_sym.verification.findings.finding import Finding
from stead_sym.verification.findings.occurrences import Occurrence, Path, occurrences, replaced

# finite sorts


def misses_inactive(deployment: Deployment) -> Iterator[Finding]:
    """Yield quantifiers over a finite sort that may miss an inactive value which makes a difference."""
    may_miss = Missing(deployment)
    for spec in deployment.specs:
        for _, finding in _missing_in(spec, may_miss):
            yield finding


def without_difference(
    deployment: Deployment, specs: Iterable[Spec], holds: Callable[[fo.Formula], bool | None]
) -> frozenset[Finding]:
    """Return the findings of `misses_inactive` whose advice leaves the verdict as it is.

    The advice is tried by itself, and together with all advice on the same specification. If the verdicts of
    ``specs`` change with all of it and not with any by itself, each finding stands.
    """
    in_text = Counter(misses_inactive(deployment.unfollowed))
    idle = Counter[Finding]()
    may_miss = Missing(deployment)
    for spec in specs:
        found = list(_missing_in(spec, may_miss))
        if not found or (verdict := holds(spec.formula)) is None:
            continue
        same = [holds(_declaring(spec.formula, paths)) is verdict for paths, _ in found]
        if not all(same) or holds(_declaring(spec.formula, sum((p for p, _ in found), ()))) is verdict:
            idle.update(finding for (_, finding), stays in zip(found, same, strict=True) if stays)
    # a finding may be about several quantifiers, some of them below an operator of the past
    return frozenset(finding for finding, number in idle.items() if number == in_text[finding])


def _declaring(formula: fo.Formula, paths: Iterable[Path]) -> fo.Formula:
    """Return the formula in which the quantifiers at these paths range over all declared values."""
    for path in paths:
        quantifier = formula
        for child in path:
            quantifier = fo.children(quantifier)[child]
        assert isinstance(quantifier, fo.Exists | fo.Forall)
        binder = replace(quantifier.binder, declared=True)
        formula = replaced(formula, path, replace(quantifier, binder=binder))
    return formula


def _missing_in(spec: Spec, may_miss: Missing) -> Iterator[tuple[tuple[Path, ...], Finding]]:
    """Yield a finding for each quantifier of a specification that may miss a value.

    With it come the paths of the quantifiers that its advice changes.
    """
    for occurrence in occurrences(spec.formula):
        part = occurrence.formula
        if not isinstance(part, fo.Exists | fo.Forall) or not may_miss.may_differ(part):
            continue
        sort, missing = part.binder.sort, may_miss.values(part.binder)
        word = "exists" if isinstance(part, fo.Exists) else "forall"
        wild = part.binder.wild
        shown = fo.WILDCARD if wild else f"{word} {part.binder.name}"
        name = fresh_name("y", fo.free_variables(part)) if wild else part.binder.name
        place = f", with {name} in the place of `_`," if wild else ""
        keep = f"keep every value of {sort} in some fact"
        paths: tuple[Path, ...] = (occurrence.path,)
        head = f"{word} {name} in {sort}."
        listed = _list_of(part, occurrence.above)
        if len(listed) > 1:  # one variable stands before `in`
            first = occurrence.path[: len(occurrence.path) - listed.index(part)]
            missing_too = [may_miss.may_differ(one) for one in listed]
            paths = tuple((*first, *[0] * k) for k, misses in enumerate(missing_too) if misses)
            head = " ".join(
                f"{word} {one.binder.name}{' in' if misses else ':'} {one.binder.sort}."
                for one, misses in zip(listed, missing_too, strict=True)
            )
        write = f"write `{head}`{place}"
        if word == "exists":  # `exists x in s` is only easier to satisfy, also for an idle agent
            remedy = f"{keep}; or {write} if one that no fact holds is to count"
        else:
            remedy = f"{write} for all declared values, or {keep}"
        text = (
            f"`{shown}` ranges over the values of {sort} that some fact holds"
            f" at the time, not over all declared ones: {missing[0]} may be left out"
        )
        yield paths, Finding("inactive values", part.span or spec.span, text, remedy, spec.name)


def _list_of(part: fo.Exists | fo.Forall, above: tuple[fo.Formula, ...]) -> list[fo.Exists | fo.Forall]:
    """Return the quantifiers that were written as one list of variables with this one, itself included.

    The first of a list is placed where the list begins, every other one where its variable stands.
    """

    def continues(outer: fo.Quantified, inner: fo.Quantified) -> bool:
        return (
            type(outer) is type(inner)
            and inner.span is not None
            and inner.span == inner.binder.span
            and not outer.binder.wild
            and not inner.binder.wild
        )

    listed = [part]
    for around in reversed(above):
        if not isinstance(around, fo.Exists | fo.Forall) or not continues(around, listed[0]):
            break
        listed.insert(0, around)
    while isinstance(inner := listed[-1].body, fo.Exists | fo.Forall) and continues(listed[-1], inner):
        listed.append(inner)
    return listed


class Missing:
    """The values that may be inactive in some state, and the quantifiers that this affects."""

    def __init__(self, deployment: Deployment) -> None:
        self._schema = deployment.schema
        self._always = _always_active(deployment)

    def values(self, binder: fo.Binder) -> list[Value]:
        """Return the declared values of a finite sort that may be inactive at the quantifier."""
        declared = () if binder.declared else self._schema.sort(binder.sort).values or ()
        return [value for value in declared if value not in self._always]

    def parts(self, formula: fo.Expanded) -> list[fo.Exists | fo.Forall]:
        """Return the quantifiers over finite sorts for which an inactive value makes a difference."""
        quantifiers = (part for part in fo.subformulas(formula) if isinstance(part, fo.Exists | fo.Forall))
        return [part for part in quantifiers if self.may_differ(part)]

    def may_differ(self, part: fo.Exists | fo.Forall) -> bool:
        """Return True if the quantifier is over a finite sort and an inactive value makes a difference."""
        return (
            not isinstance(part.body, fo.Truth)
            and bool(self.values(part.binder))
            and isinstance(part, fo.Exists) in _truths(core(part.body), part.binder.name)
        )

    def ranged(self, occurrence: Occurrence, by: fo.Formula) -> frozenset[str]:
        """Return the variables whose range is the occurrence.

        With the occurrence an inactive value makes no difference to the quantifier of the variable; with
        ``by`` in its place it may. Then ``by`` does not remove a condition but changes the values that are
        quantified over. The body of `forall` as a whole is no range: with `false` in its place nothing is
        required of inactive values.
        """
        inner, found = set[str](), set[str]()
        for depth in reversed(range(len(occurrence.above))):
            around, path = occurrence.above[depth], occurrence.path[depth + 1 :]
            if not isinstance(around, fo.Quantified) or around.binder.name in inner:
                continue
            inner.add(name := around.binder.name)
            if (isinstance(around, fo.Forall) and not path) or not self._may_be_inactive(around.binder):
                continue
            without = replaced(around.body, path, by)
            neutral = {isinstance(around, fo.Forall)}
            if _truths(core(around.body), name) == neutral != _truths(core(without), name):
                found.add(name)
        return frozenset(found)

    def _may_be_inactive(self, binder: fo.Binder) -> bool:
        return not self._schema.is_finite(binder.sort) or bool(self.values(binder))


def ranges_of(premise: fo.Formula, variables: Collection[str]) -> fo.Formula:
    """Return what the premise requires of these variables as a range.

    For each variable this is the disjunction of the conjuncts that are false of every inactive value. A range
    that the range of another variable implies is not repeated.
    """
    parts = tuple(dict.fromkeys(fo.conjuncts(premise)))
    guards = {name: [p for p in parts if _truths(core(p), name) == {False}] for name in sorted(variables)}
    asked: list[list[fo.Formula]] = []
    for one in sorted(filter(None, guards.values()), key=len):
        if not any(set(other) <= set(one) for other in asked):
            asked.append(one)
    return fo.conjunction(tuple(fo.disjunction(tuple(one)) for one in asked))


def _always_active(deployment: Deployment) -> frozenset[str]:
    """Return the values in facts of `init` that no tool can delete."""
    changed = {
        relation for tool in deployment.tools_and_events for e in tool.effects for relation in deleting(e)
    }
    if deployment.has_ensure:
        return frozenset()
    return frozenset(u for fact in deployment.init if fact.relation not in changed for u in fact.args)


def deleting(effect: Effect) -> Iterator[str]:
    """Yield the relations whose facts the alternative may delete; for `ensure` all mentioned primed."""
    for statement in effect.statements:
        match statement:
            case Delete(atom):
                yield atom.relation
            case Clear(relations):
                yield from relations
            case Ensure(formula):
                yield from (f.relation for f in fo.subformulas(formula) if isinstance(f, fo.Atom | fo.Empty))
            case _:
                pass


_EITHER = frozenset([True, False])


def _truths(formula: Core, name: str) -> frozenset[bool]:
    """Return the truth values that the formula can have if the variable stands for an inactive value.

    Atoms that mention the variable are false, and everything else may be either. Under a temporal operator
    the value may have become active.
    """
    if name not in fo.free_variables(formula):
        return frozenset([formula.value]) if isinstance(formula, fo.Truth) else _EITHER
    match formula:
        case fo.Atom():
            return frozenset([False])
        case fo.Equal(left, right) if left == right:
            return frozenset([True])
        case fo.Not(body):
            return frozenset(not truth for truth in _truths(body, name))
        case fo.And(parts):
            every = [_truths(part, name) for part in parts]
            false, true = any(False in truths for truths in every), all(True in truths for truths in every)
            return frozenset([False] * false + [True] * true)
        case fo.Exists(_, body):
            return _truths(body, name) | {False}  # over an empty range `exists` is false
        case fo.Count(_, number, binder, body) if binder.name != name and _truths(body, name) == {False}:
            return frozenset([number == 0])  # no value satisfies the body
        case _:
            return _EITHER


# identifiers that return


def reads_once_ever(deployment: Deployment) -> Iterator[Finding]:
    """Yield specifications that something never happens (again) to an identifier whose sort may return.

    The identifier is quantified in an earlier state. Its sort has fresh values that may have been deleted
    before.
    """
    mortal = _mortal_sorts(deployment)
    for spec in deployment.specs:
        for never, name, sort in _never_again(spec.formula, {}):
            if sort in mortal:
                held = fresh_name("y", {name})  # a proposal must not capture the value that it is about
                yield Finding(
                    "identifiers return",
                    never.span or spec.span,
                    f"`{never}` speaks of the identifier {name}, not of the {sort} that had it: once no fact"
                    f" holds it, a fresh {sort} may get the same one, so this is not `at most once ever`",
                    f"say it from where the value is held, for as long as it is"
                    f" (`A[… W ~exists {held}. {held} = {name}]`), or"
                    f" keep a fact about every {sort}",
                    spec.name,
                )  # fmt: skip


def _mortal_sorts(deployment: Deployment) -> frozenset[str]:
    """Return the sorts whose fresh values may lose all their facts.

    Every relation that such values are inserted into can lose facts, or an `ensure` rewrites it.
    """
    effects = [effect for tool in deployment.tools_and_events for effect in tool.effects]
    drawn = {binder.sort for effect in effects for binder in effect.fresh}
    deleted = {relation for effect in effects for relation in deleting(effect)}
    lasting: set[str] = set()
    for effect in effects:
        fresh = {binder.name: binder.sort for binder in effect.fresh}
        kept: dict[str, bool] = dict.fromkeys(fresh, False)
        for statement in effect.statements:
            if isinstance(statement, Insert) and statement.atom.relation not in deleted:
                for term in statement.atom.args:
                    if isinstance(term, fo.Var) and term.name in kept:
                        kept[term.name] = True
        lasting.update(fresh[name] for name, stays in kept.items() if stays)
    return frozenset(sort for sort in drawn if sort not in lasting)


def _never_again(formula: fo.Formula, bound: Mapping[str, str]) -> Iterator[tuple[fo.Formula, str, str]]:
    """Yield (AG ¬f or ¬EF f, x, sort of x) for x in f that is quantified around the formula."""
    for name in sorted(bound):
        if _says_never(formula, name):
            yield formula, name, bound[name]
            return
    if isinstance(formula, fo.Quantified):
        bound = {**bound, formula.binder.name: formula.binder.sort}
    for child in fo.children(formula):
        yield from _never_again(child, bound)


def _says_never(formula: fo.Formula, name: str) -> bool:
    match formula:
        case fo.Globally("A", fo.Not(body)) | fo.Not(fo.Future("E", body)):
            return name in fo.free_variables(body)
        case _:
            return False


def changed_by(tool: Tool) -> Iterator[str]:
    """Yield the relations that the tool may change."""
    for effect in tool.effects:
        yield from changed_in(effect)


def changed_in(effect: Effect) -> Iterator[str]:
    """Yield the relations that the alternative may change."""
    yield from deleting(effect)
    yield from (s.atom.relation for s in effect.statements if isinstance(s, Insert))
