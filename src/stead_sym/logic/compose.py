"""Compose formulas in Python: ``forall("c", AG(atom("Open", "c") >> AF(atom("Closed", "c"))))``.

One decision: names are strings, resolved as in text. A name becomes a variable when a quantifier is applied
around it, so a composed formula equals the parsed one; both are raw. An argument of the wrong type raises
`TypeError` at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias, get_args

from stead_sym.logic.parser import parse_binders, parse_tallied
from stead_sym.logic.syntax import (
    OFFERED,
    Atom,
    Binder,
    Compare,
    Comparison,
    Count,
    Derived,
    Did,
    Each,
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
    Ordering,
    Previously,
    Quantified,
    Same,
    Since,
    Sum,
    Tally,
    Term,
    Until,
    Use,
    Var,
    Weight,
    map_children,
    map_terms,
)

Given: TypeAlias = str | int | Sum | Tally
"""An argument that denotes a term: a name, an integer, or a composed term."""


def atom(relation: str, *args: Given, **columns: Given) -> Atom:
    """Return the atom `P(t1, …, tq)`, `P'(…)` if the name ends with a prime, or `P(c = t, …)`.

    Keyword arguments are named columns. Raise `TypeError` for arguments of both kinds.
    """
    name = _name(relation)
    if columns:
        if args or name.endswith("'"):
            raise TypeError(
                f"the arguments of {name} have no names here; name the columns of all, or of none"
            )
        return Atom(name, tuple(map(_term, columns.values())), columns=tuple(columns))
    return Atom(name.removesuffix("'"), tuple(map(_term, args)), primed=name.endswith("'"))


def equal(left: Given, right: Given) -> Equal:
    """Return `t = u`."""
    return Equal(_term(left), _term(right))


def compare(left: Given, ordering: Ordering, right: Given) -> Compare:
    """Return `t < u`, `t <= u`, `t > u` or `t >= u`, or with ``"succ"`` `succ(t, u)`.

    The terms are of one ordered sort, or integers. Raise `ValueError` for another ordering.
    """
    if ordering not in get_args(Ordering):
        raise ValueError(f"{ordering!r} compares nothing; there are {', '.join(get_args(Ordering))}")
    return Compare(ordering, _term(left), _term(right))


def plus(left: Given, right: Given) -> Sum:
    """Return the term `t + u`."""
    return Sum(_term(left), "+", _term(right))


def minus(left: Given, right: Given) -> Sum:
    """Return the term `t - u`."""
    return Sum(_term(left), "-", _term(right))


def count(variables: str, body: Formula) -> Tally:
    """Return the term `count x: s, y in t. f`; ``variables`` is the list as in text.

    Raise `ParseError` if it is not such a list.
    """
    return _tally((), variables, body)


def total(term: Given, variables: str, body: Formula) -> Tally:
    """Return the term `sum t for x: s, y in t. f`; ``variables`` is the list as in text.

    Raise `ParseError` if it is not such a list.
    """
    return _tally((_term(term),), variables, body)


def iff(left: Formula, right: Formula) -> Iff:
    """Return `f <-> g`."""
    return Iff(as_formula(left), as_formula(right))


def leads_to(left: Formula, right: Formula) -> Derived:
    """Return `f ~> g`."""
    return Derived("~>", (as_formula(left), as_formula(right)))


def did(tool: str, *args: Given, by: str | None = None) -> Did:
    """Return `did w(t1, …, tq)`, with ``by`` `did w(t1, …, tq) by a`."""
    return Did(_name(tool), tuple(map(_term, args)), None if by is None else _name(by))


def refused(tool: str, *args: Given, by: str | None = None) -> Did:
    """Return `refused w(t1, …, tq)`, with ``by`` `refused w(t1, …, tq) by a`."""
    return replace(did(tool, *args, by=by), refused=True)


def offered(tool: str, *args: Given) -> Use:
    """Return `offered w(t1, …, tq)`."""
    return Use(OFFERED + _name(tool), tuple(map(_term, args)))


def once(body: Formula) -> Derived:
    """Return `once f`."""
    return Derived("once", (as_formula(body),))


def historically(body: Formula) -> Derived:
    """Return `historically f`."""
    return Derived("historically", (as_formula(body),))


def previously(body: Formula) -> Previously:
    """Return `previously f`."""
    return Previously(as_formula(body))


def since(left: Formula, right: Formula) -> Since:
    """Return `f since g`."""
    return Since(as_formula(left), as_formula(right))


def same(relation: str) -> Same:
    """Return `same(P)`, for `ensure`."""
    return Same(_name(relation))


def empty(relation: str) -> Empty:
    """Return `empty(P)`, for `ensure`."""
    return Empty(_name(relation))


def exists(variables: str, body: Formula) -> Formula:
    """Return `exists x, y: s. f` or `exists x in s. f`; ``variables`` is the list as in text.

    Raise `ParseError` if it is not such a list.
    """
    return _quantified(Exists, variables, body)


def forall(variables: str, body: Formula) -> Formula:
    """Return `forall x, y: s. f` or `forall x in s. f`; ``variables`` is the list as in text.

    Raise `ParseError` if it is not such a list.
    """
    return _quantified(Forall, variables, body)


def atleast(number: int, variable: str, body: Formula) -> Count:
    """Return `atleast n x: s. f`."""
    return _count("atleast", number, variable, body)


def atmost(number: int, variable: str, body: Formula) -> Count:
    """Return `atmost n x: s. f`."""
    return _count("atmost", number, variable, body)


def exactly(number: int, variable: str, body: Formula) -> Count:
    """Return `exactly n x: s. f`."""
    return _count("exactly", number, variable, body)


def AX(body: Formula) -> Next:  # noqa: N802 (the functions have the operators' names)
    """Return `AX f`."""
    return Next("A", as_formula(body))


def EX(body: Formula) -> Next:  # noqa: N802
    """Return `EX f`."""
    return Next("E", as_formula(body))


def AF(body: Formula) -> Future:  # noqa: N802
    """Return `AF f`."""
    return Future("A", as_formula(body))


def EF(body: Formula) -> Future:  # noqa: N802
    """Return `EF f`."""
    return Future("E", as_formula(body))


def AG(body: Formula) -> Globally:  # noqa: N802
    """Return `AG f`."""
    return Globally("A", as_formula(body))


def EG(body: Formula) -> Globally:  # noqa: N802
    """Return `EG f`."""
    return Globally("E", as_formula(body))


def AU(left: Formula, right: Formula) -> Until:  # noqa: N802
    """Return `A[f U g]`."""
    return Until("A", as_formula(left), as_formula(right))


def EU(left: Formula, right: Formula) -> Until:  # noqa: N802
    """Return `E[f U g]`."""
    return Until("E", as_formula(left), as_formula(right))


def AW(left: Formula, right: Formula) -> Until:  # noqa: N802
    """Return `A[f W g]`."""
    return Until("A", as_formula(left), as_formula(right), weak=True)


def EW(left: Formula, right: Formula) -> Until:  # noqa: N802
    """Return `E[f W g]`."""
    return Until("E", as_formula(left), as_formula(right), weak=True)


def _quantified(quantifier: Callable[[Binder, Formula], Formula], variables: str, body: Formula) -> Formula:
    body = as_formula(body)
    for binder in reversed(parse_binders(_name(variables))):
        body = quantifier(binder, _bound(body, binder.name))
    return body


def _tally(of: tuple[Term, ...], variables: str, body: Formula) -> Tally:
    each: Formula = Weight(of, as_formula(body))
    for binder in reversed(parse_tallied(_name(variables))):
        each = Each(binder, _bound(each, binder.name))
    return Tally(each)


def _count(comparison: Comparison, number: int, variable: str, body: Formula) -> Count:
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(f"{comparison} counts to a whole number, not to {number!r}; give one")
    binders = parse_binders(_name(variable))
    if len(binders) != 1:
        raise ValueError(f"{comparison} counts the values of one variable, not of {variable}; give one")
    return Count(comparison, number, binders[0], _bound(as_formula(body), binders[0].name))


def as_formula(formula: object) -> Formula:
    """Return the argument if it is a formula; raise `TypeError` otherwise."""
    if not isinstance(formula, Formula):
        hint = "; `parse_formula` reads text" if isinstance(formula, str) else "; compose one, such as TRUE"
        raise TypeError(f"{formula!r} is no formula{hint}")
    return formula


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is no text where a name, or a list of variables, is wanted")
    return name


def _term(given: object) -> Term:
    if isinstance(given, Sum | Tally):
        return given
    whole = isinstance(given, int) and not isinstance(given, bool)
    return Name(str(given) if whole else _name(given))


def _bound(formula: Formula, name: str) -> Formula:
    """Return the formula with the free occurrences of ``name`` as variables."""

    def term(t: Term) -> Term:
        return Var(name) if isinstance(t, Name) and t.text == name else t

    if isinstance(formula, Quantified) and formula.binder.name == name:
        return formula
    return map_children(lambda f: _bound(f, name), map_terms(term, formula))
