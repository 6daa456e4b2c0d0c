"""Formulas composed in Python: ``forall("c", AG(atom("Open", "c") >> AF(atom("Closed", "c"))))``.

One decision: names are strings, told apart as in text. A name becomes a variable when a quantifier is
put around it, so that a composed formula equals the parsed one: it is raw, like it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stead_sym.logic.parser import parse_binders
from stead_sym.logic.syntax import (
    Atom,
    Binder,
    Comparison,
    Count,
    Empty,
    Equal,
    Exists,
    Forall,
    Formula,
    Future,
    Globally,
    Iff,
    Name,
    Next,
    Quantified,
    Same,
    Term,
    Until,
    Var,
    map_children,
)


def atom(relation: str, *args: str) -> Atom:
    """`P(t1, …, tq)`; with a prime at the end of the name, `P'(…)`."""
    return Atom(relation.removesuffix("'"), tuple(map(Name, args)), primed=relation.endswith("'"))


def equal(left: str, right: str) -> Equal:
    """`t = u`."""
    return Equal(Name(left), Name(right))


def iff(left: Formula, right: Formula) -> Iff:
    """`f <-> g`."""
    return Iff(left, right)


def same(relation: str) -> Same:
    """`same(P)`, for `ensure`."""
    return Same(relation)


def empty(relation: str) -> Empty:
    """`empty(P)`, for `ensure`."""
    return Empty(relation)


def exists(variables: str, body: Formula) -> Formula:
    """`exists x, y: s. f`, the list as in text. Raises `ParseError` for another text."""
    return _quantified(Exists, variables, body)


def forall(variables: str, body: Formula) -> Formula:
    """`forall x, y: s. f`, the list as in text. Raises `ParseError` for another text."""
    return _quantified(Forall, variables, body)


def atleast(number: int, variable: str, body: Formula) -> Count:
    """`atleast n x: s. f`."""
    return _count("atleast", number, variable, body)


def atmost(number: int, variable: str, body: Formula) -> Count:
    """`atmost n x: s. f`."""
    return _count("atmost", number, variable, body)


def exactly(number: int, variable: str, body: Formula) -> Count:
    """`exactly n x: s. f`."""
    return _count("exactly", number, variable, body)


def AX(body: Formula) -> Next:  # noqa: N802 (the operators keep the names that they have in text)
    """`AX f`."""
    return Next("A", body)


def EX(body: Formula) -> Next:  # noqa: N802
    """`EX f`."""
    return Next("E", body)


def AF(body: Formula) -> Future:  # noqa: N802
    """`AF f`."""
    return Future("A", body)


def EF(body: Formula) -> Future:  # noqa: N802
    """`EF f`."""
    return Future("E", body)


def AG(body: Formula) -> Globally:  # noqa: N802
    """`AG f`."""
    return Globally("A", body)


def EG(body: Formula) -> Globally:  # noqa: N802
    """`EG f`."""
    return Globally("E", body)


def AU(left: Formula, right: Formula) -> Until:  # noqa: N802
    """`A[f U g]`."""
    return Until("A", left, right)


def EU(left: Formula, right: Formula) -> Until:  # noqa: N802
    """`E[f U g]`."""
    return Until("E", left, right)


def AW(left: Formula, right: Formula) -> Until:  # noqa: N802
    """`A[f W g]`."""
    return Until("A", left, right, weak=True)


def EW(left: Formula, right: Formula) -> Until:  # noqa: N802
    """`E[f W g]`."""
    return Until("E", left, right, weak=True)


def _quantified(quantifier: Callable[[Binder, Formula], Formula], variables: str, body: Formula) -> Formula:
    for binder in reversed(parse_binders(variables)):
        body = quantifier(binder, _bound(body, binder.name))
    return body


def _count(comparison: Comparison, number: int, variable: str, body: Formula) -> Count:
    binders = parse_binders(variable)
    if len(binders) != 1:
        raise ValueError(f"{comparison} counts the values of one variable, not of {variable}; give one")
    return Count(comparison, number, binders[0], _bound(body, binders[0].name))


def _bound(formula: Formula, name: str) -> Formula:
    """The formula with ``name`` a variable wherever no inner quantifier binds it."""

    def term(t: Term) -> Term:
        return Var(name) if isinstance(t, Name) and t.text == name else t

    match formula:
        case Atom(_, args):
            return replace(formula, args=tuple(map(term, args)))
        case Equal(left, right):
            return replace(formula, left=term(left), right=term(right))
        case _ if isinstance(formula, Quantified) and formula.binder.name == name:
            return formula
        case _:
            return map_children(lambda f: _bound(f, name), formula)
