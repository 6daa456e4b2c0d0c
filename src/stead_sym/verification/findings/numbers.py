"""Findings on comparisons and pasts without effect: constant, never reached or never true.

One decision: a comparison without `count` and `sum` is constant by the ranges of its sorts, which needs no
exploration. Everything else is decided over the reachable states, and only under any agent: a policy may
legitimately stay below a limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.deployment.expansion import expanded
from stead_sym.deployment.following import Scope, scoped_formulas, spoken
from stead_sym.logic.integers import coefficients
from stead_sym.relational.schema import Schema, is_numeral
from stead_sym.verification.findings.finding import Finding
from stead_sym.verification.findings.occurrences import occurrences

if TYPE_CHECKING:
    from stead_sym.deployment.deployment import Deployment
    from stead_sym.deployment.parts import Spec
    from stead_sym.engines.protocol import Engine
    from stead_sym.errors import Span

Scoped: TypeAlias = tuple[fo.Formula, Scope]


def constant_comparisons(deployment: Deployment) -> Iterator[Finding]:
    """Yield the comparisons of integers that have one truth value for all numbers of their sorts."""
    written, schema = deployment.written, deployment.schema
    params = {tool.name: tool.params for tool in written.tools}
    formulas = scoped_formulas(written)
    formulas += [(d.body, {p.name: p.sort for p in d.params}) for d in written.definitions]
    formulas += [(line.where, {}) for line in written.initially]
    for line in (line for gate in written.gates for line in gate.lines):
        named = zip(line.args, params[line.tool], strict=True)
        formulas.append((line.when, {t.name: p.sort for t, p in named if isinstance(t, fo.Var)}))
    for part, scope in _subformulas(formulas):
        if not isinstance(part, fo.Compare | fo.Equal):
            continue
        differences = _differences(part.left, part.right, scope, schema)
        if differences is not None and (truth := _decided(part, *differences)) is not None:
            yield Finding(
                "constant comparison",
                part.span,
                f"`{part}` is {str(truth).lower()} for all numbers of the sorts that it compares",
                "correct the number or the sort, or leave the comparison out",
            )


def never_reached(deployment: Deployment, engine: Engine, specs: Sequence[Spec]) -> Iterator[Finding]:
    """Yield limits of a `count` or a `sum`, and pasts, that have no effect in any reachable state.

    Limits of guards are skipped behind gates, which may be stricter.
    """
    parts = expanded(deployment.written, deployment.schema)
    places: dict[tuple[Span, type], list[Scoped]] = {}  # a define is used in several places
    for part, scope in _subformulas(scoped_formulas(parts, running={})):
        if part.span is not None and (
            isinstance(part, fo.Past) or (_is_limit(part) and not deployment.gated)
        ):
            places.setdefault((part.span, type(part)), []).append((part, scope))

    def reached(formula: fo.Formula, scope: Scope) -> bool:
        told = deployment.told(formula, scope)
        for name in sorted(fo.free_variables(told)):
            listed = deployment.schema.is_finite(scope[name])
            told = fo.Exists(fo.Binder(name, scope[name], declared=listed), told)
        return bool(engine.satisfying(told, {}))

    for (span, _), uses in places.items():
        part, _ = uses[0]
        true = any(reached(use, scope) for use, scope in uses)
        if isinstance(part, fo.Past):
            if not true:
                yield Finding(
                    "past never true",
                    span,
                    f"`{spoken(part)}` is true in no reachable state",
                    "check what it asks for, and whether that is ever so; or leave it out",
                )
        elif true != any(reached(fo.Not(use), scope) for use, scope in uses):
            yield Finding(
                "limit never reached",
                span,
                f"`{part}` is {str(true).lower()} in every reachable state",
                "choose a limit that matters, or leave the comparison out",
            )
    for spec in specs:
        yield from _slack(spec, engine)


def _slack(spec: Spec, engine: Engine) -> Iterator[Finding]:
    """Yield the limits of a specification that are never tight: `t <= u` such that t is never u."""
    for one in occurrences(spec.formula):
        part = one.formula
        if one.polarity <= 0 or not isinstance(part, fo.Compare) or not _is_limit(part):
            continue
        lower, upper = (part.left, part.right) if part.ordering in ("<", "<=") else (part.right, part.left)
        tight: fo.Formula = fo.Equal(
            fo.Sum(lower, "+", fo.Const("1")) if part.ordering in ("<", ">") else lower, upper
        )
        broken: fo.Formula = fo.Not(part)
        for around in reversed(one.above):
            if isinstance(around, fo.Quantified):
                tight, broken = fo.Exists(around.binder, tight), fo.Exists(around.binder, broken)
        if not engine.satisfying(tight, {}) and not engine.satisfying(broken, {}):
            yield Finding(
                "limit never reached",
                one.place,
                f"{spec.name}: `{part}` has room to spare in every reachable state",
                "ask for the limit that you mean, or check what is counted",
                spec.name,
            )


def _is_limit(formula: fo.Formula) -> bool:
    """Return True if the formula compares a `count` or a `sum` by an order."""
    return isinstance(formula, fo.Compare) and any(map(_has_tally, fo.arguments(formula)))


def _has_tally(term: fo.Term) -> bool:
    match term:
        case fo.Sum(left, _, right):
            return _has_tally(left) or _has_tally(right)
        case _:
            return isinstance(term, fo.Tally)


def _subformulas(formulas: Iterable[Scoped]) -> Iterator[Scoped]:
    """Yield all subformulas, each with the sorts of the variables around it."""
    todo = list(formulas)
    while todo:
        formula, scope = todo.pop()
        yield formula, scope
        if isinstance(formula, fo.Quantified):
            scope = {**scope, formula.binder.name: formula.binder.sort}
        todo += [(child, scope) for child in fo.children(formula)]


def _differences(left: fo.Term, right: fo.Term, scope: Scope, schema: Schema) -> tuple[int, int] | None:
    """Return the least and the greatest left - right, or None unless both are integers without tallies."""

    def is_known(term: fo.Term) -> bool:
        match term:
            case fo.Sum(one, _, other):
                return is_known(one) and is_known(other)
            case fo.Const(value):
                return is_numeral(value)
            case fo.Var(name):
                return schema.sort(scope[name]).is_numeric
            case _:
                return False

    if left == right or not (is_known(left) and is_known(right)):
        return None
    factors, least = coefficients(fo.Sum(left, "-", right))
    most = least
    for part, factor in factors.items():
        assert isinstance(part, fo.Var), "the terms have no tallies"
        values = schema.sort(scope[part.name]).values or ()
        ends = [factor * int(value) for value in (values[0], values[-1])]
        least, most = least + min(ends), most + max(ends)
    return least, most


def _decided(comparison: fo.Compare | fo.Equal, least: int, most: int) -> bool | None:
    """Return the truth value that all differences between these give, or None if it varies."""
    match comparison.ordering if isinstance(comparison, fo.Compare) else "=":
        case "=":
            return True if least == most == 0 else None if least <= 0 <= most else False
        case "<":
            return True if most < 0 else False if least >= 0 else None
        case "<=":
            return True if most <= 0 else False if least > 0 else None
        case ">":
            return True if least > 0 else False if most <= 0 else None
        case ">=":
            return True if least >= 0 else False if most < 0 else None
        case _:
            return None
