"""Compose formulas in Python: ``forall("c", AG(atom("Open", "c") >> AF(atom("Closed", "c"))))``.

One decision: names are strings, resolved as in text. A name becomes a variable when a quantifier is applied
around it, so a composed formula equals the parsed one; both are raw. An argument of the wrong type raises
`TypeError` at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias, get_args

import stead_sym.logic.syntax as fo
from stead_sym.logic.parser import parse_binders, parse_tallied

Given: TypeAlias = str | int | fo.Sum | fo.Tally
"""An argument that denotes a term: a name, an integer, or a composed term."""


def atom(relation: str, *args: Given, **columns: Given) -> fo.Atom:
    """Return the atom `P(t1, …, tq)`, `P'(…)` if the name ends with a prime, or `P(c = t, …)`.

    Keyword arguments are named columns. Raise `TypeError` for arguments of both kinds.
    """
    name = _name(relation)
    if columns:
        if args or name.endswith("'"):
            raise TypeError(
                f"the arguments of {name} have no names here; name the columns of all, or of none"
            )
        return fo.Atom(name, tuple(map(_term, columns.values())), columns=tuple(columns))
    return fo.Atom(name.removesuffix("'"), tuple(map(_term, args)), primed=name.endswith("'"))


def equal(left: Given, right: Given) -> fo.Equal:
    """Return `t = u`."""
    return fo.Equal(_term(left), _term(right))


def compare(left: Given, ordering: fo.Ordering, right: Given) -> fo.Compare:
    """Return `t < u`, `t <= u`, `t > u` or `t >= u`, or with ``"succ"`` `succ(t, u)`.

    The terms are of one ordered sort, or integers. Raise `ValueError` for another ordering.
    """
    if ordering not in get_args(fo.Ordering):
        raise ValueError(f"{ordering!r} compares nothing; there are {', '.join(get_args(fo.Ordering))}")
    return fo.Compare(ordering, _term(left), _term(right))


def plus(left: Given, right: Given) -> fo.Sum:
    """Return the term `t + u`."""
    return fo.Sum(_term(left), "+", _term(right))


def minus(left: Given, right: Given) -> fo.Sum:
    """Return the term `t - u`."""
    return fo.Sum(_term(left), "-", _term(right))


def count(variables: str, body: fo.Formula) -> fo.Tally:
    """Return the term `count x: s, y in t. f`; ``variables`` is the list as in text.

    Raise `ParseError` if it is not such a list.
    """
    return _tally((), variables, body)


def total(term: Given, variables: str, body: fo.Formula) -> fo.Tally:
    """Return the term `sum t for x: s, y in t. f`; ``variables`` is the list as in text.

    Raise `ParseError` if it is not such a list.
    """
    return _tally((_term(term),), variables, body)


def iff(left: fo.Formula, right: fo.Formula) -> fo.Iff:
    """Return `f <-> g`."""
    return fo.Iff(as_formula(left), as_formula(right))


def leads_to(left: fo.Formula, right: fo.Formula) -> fo.Derived:
    """Return `f ~> g`."""
    return fo.Derived("~>", (as_formula(left), as_formula(right)))


def did(tool: str, *args: Given, by: str | None = None) -> fo.Did:
    """Return `did w(t1, …, tq)`, with ``by`` `did w(t1, …, tq) by a`."""
    return fo.Did(_name(tool), tuple(map(_term, args)), None if by is None else _name(by))


def refused(tool: str, *args: Given, by: str | None = None) -> fo.Did:
    """Return `refused w(t1, …, tq)`, with ``by`` `refused w(t1, …, tq) by a`."""
    return replace(did(tool, *args, by=by), refused=True)


def offered(tool: str, *args: Given) -> fo.Use:
    """Return `offered w(t1, …, tq)`."""
    return fo.Use(fo.OFFERED + _name(tool), tuple(map(_term, args)))


def once(body: fo.Formula) -> fo.Derived:
    """Return `once f`."""
    return fo.Derived("once", (as_formula(body),))


def historically(body: fo.Formula) -> fo.Derived:
    """Return `historically f`."""
    return fo.Derived("historically", (as_formula(body),))


def previously(body: fo.Formula) -> fo.Previously:
    """Return `previously f`."""
    return fo.Previously(as_formula(body))


def since(left: fo.Formula, right: fo.Formula) -> fo.Since:
    """Return `f since g`."""
    return fo.Since(as_formula(left), as_formula(right))


def same(relation: str) -> fo.Same:
    """Return `same(P)`, for `ensure`."""
    return fo.Same(_name(relation))


def empty(relation: str) -> fo.Empty:
    """Return `empty(P)`, for `ensure`."""
    return fo.Empty(_name(relation))


def exists(variables: str, body: fo.Formula) -> fo.Formula:
    """Return `exists x, y: s. f` or `exists x in s. f`; ``variables`` is the list as in text.

    Raise `ParseError` if it is not such a list.
    """
    return _quantified(fo.Exists, variables, body)


def forall(variables: str, body: fo.Formula) -> fo.Formula:
    """Return `forall x, y: s. f` or `forall x in s. f`; ``variables`` is the list as in text.

    Raise `ParseError` if it is not such a list.
    """
    return _quantified(fo.Forall, variables, body)


def atleast(number: int, variable: str, body: fo.Formula) -> fo.Count:
    """Return `atleast n x: s. f`."""
    return _count("atleast", number, variable, body)


def atmost(number: int, variable: str, body: fo.Formula) -> fo.Count:
    """Return `atmost n x: s. f`."""
    return _count("atmost", number, variable, body)


def exactly(number: int, variable: str, body: fo.Formula) -> fo.Count:
    """Return `exactly n x: s. f`."""
    return _count("exactly", number, variable, body)


def AX(body: fo.Formula) -> fo.Next:  # noqa: N802 (the functions have the operators' names)
    """Return `AX f`."""
    return fo.Next("A", as_formula(body))


def EX(body: fo.Formula) -> fo.Next:  # noqa: N802
    """Return `EX f`."""
    return fo.Next("E", as_formula(body))


def AF(body: fo.Formula) -> fo.Future:  # noqa: N802
    """Return `AF f`."""
    return fo.Future("A", as_formula(body))


def EF(body: fo.Formula) -> fo.Future:  # noqa: N802
    """Return `EF f`."""
    return fo.Future("E", as_formula(body))


def AG(body: fo.Formula) -> fo.Globally:  # noqa: N802
    """Return `AG f`."""
    return fo.Globally("A", as_formula(body))


def EG(body: fo.Formula) -> fo.Globally:  # noqa: N802
    """Return `EG f`."""
    return fo.Globally("E", as_formula(body))


def AU(left: fo.Formula, right: fo.Formula) -> fo.Until:  # noqa: N802
    """Return `A[f U g]`."""
    return fo.Until("A", as_formula(left), as_formula(right))


def EU(left: fo.Formula, right: fo.Formula) -> fo.Until:  # noqa: N802
    """Return `E[f U g]`."""
    return fo.Until("E", as_formula(left), as_formula(right))


def AW(left: fo.Formula, right: fo.Formula) -> fo.Until:  # noqa: N802
    """Return `A[f W g]`."""
    return fo.Until("A", as_formula(left), as_formula(right), weak=True)


def EW(left: fo.Formula, right: fo.Formula) -> fo.Until:  # noqa: N802
    """Return `E[f W g]`."""
    return fo.Until("E", as_formula(left), as_formula(right), weak=True)


def _quantified(
    quantifier: Callable[[fo.Binder, fo.Formula], fo.Formula], variables: str, body: fo.Formula
) -> fo.Formula:
    body = as_formula(body)
    for binder in reversed(parse_binders(_name(variables))):
        body = quantifier(binder, _bound(body, binder.name))
    return body


def _tally(of: tuple[fo.Term, ...], variables: str, body: fo.Formula) -> fo.Tally:
    each: fo.Formula = fo.Weight(of, as_formula(body))
    for binder in reversed(parse_tallied(_name(variables))):
        each = fo.Each(binder, _bound(each, binder.name))
    return fo.Tally(each)


def _count(comparison: fo.Comparison, number: int, variable: str, body: fo.Formula) -> fo.Count:
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(f"{comparison} counts to a whole number, not to {number!r}; give one")
    binders = parse_binders(_name(variable))
    if len(binders) != 1:
        raise ValueError(f"{comparison} counts the values of one variable, not of {variable}; give one")
    return fo.Count(comparison, number, binders[0], _bound(as_formula(body), binders[0].name))


def as_formula(formula: object) -> fo.Formula:
    """Return the argument if it is a formula; raise `TypeError` otherwise."""
    if not isinstance(formula, fo.Formula):
        hint = "; `parse_formula` reads text" if isinstance(formula, str) else "; compose one, such as TRUE"
        raise TypeError(f"{formula!r} is no formula{hint}")
    return formula


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is no text where a name, or a list of variables, is wanted")
    return name


def _term(given: object) -> fo.Term:
    if isinstance(given, fo.Sum | fo.Tally):
        return given
    whole = isinstance(given, int) and not isinstance(given, bool)
    return fo.Name(str(given) if whole else _name(given))


def _bound(formula: fo.Formula, name: str) -> fo.Formula:
    """Return the formula with the free occurrences of ``name`` as variables."""

    def term(t: fo.Term) -> fo.Term:
        return fo.Var(name) if isinstance(t, fo.Name) and t.text == name else t

    if isinstance(formula, fo.Quantified) and formula.binder.name == name:
        return formula
    return fo.map_children(lambda f: _bound(f, name), fo.map_terms(term, formula))
