"""Print formulas as text that `parse_formula` reads back as the same formula.

One decision: parentheses are printed only if reading needs them, except for a connective under `~` and a
quantifier (`~exists x. (f & g)`), where omitting them is correct and misleading.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import cache
from typing import assert_never

import stead_sym.logic.syntax as fo
from stead_sym.relational.schema import in_words, tells_history


class _Level(IntEnum):
    """The precedence of a position in a formula; a formula of a lower level needs parentheses there."""

    FORMULA = 0
    EQUIVALENCE = 1
    IMPLICATION = 2
    DISJUNCTION = 3
    CONJUNCTION = 4
    SINCE = 5
    UNARY = 6


def print_formula(formula: fo.Formula) -> str:
    """Return the text of a formula of any phase, with the sorts that are known.

    For a raw formula, parsing the text gives an equal one; for a resolved formula, parsing and resolving it
    does. An atom of an expanded formula that was written with `_` is printed with `_`.

    Two kinds of formulas have no text of their own: a conjunction or disjunction of fewer than two parts, and
    an atom of one argument whose relation is named `same` or `empty` (the abbreviation, until resolved).
    """
    return _text(formula, _Level.FORMULA, followed=False)


def print_binders(binders: tuple[fo.Binder, ...]) -> str:
    """Return the list `x: s, y` as written after `forall` or `for`."""
    return ", ".join(map(str, binders))


def print_tally(tally: fo.Tally) -> str:
    """Return `count x: s, … . f` or `sum t for x: s, … . f`, without outer parentheses."""
    binders, body = [], tally.each
    while isinstance(body, fo.Each):
        binders.append(body.binder)
        body = body.body
    assert isinstance(body, fo.Weight)
    word = f"sum {body.of[0]} for" if body.of else "count"
    return f"{word} {print_binders(tuple(binders))}. {_text(body.condition, _Level.FORMULA, followed=False)}"


def _text(formula: fo.Formula, place: _Level, *, followed: bool) -> str:
    """Return the text at a position of level ``place``; ``followed`` if more of a formula comes after it."""
    match formula:
        case fo.Truth(value):
            return "true" if value else "false"
        case fo.Equal(left, right):
            return f"{left} = {right}"
        case fo.Not(fo.Equal(left, right)):
            return f"{left} != {right}"
        case fo.Compare("succ", left, right):
            return f"succ({left}, {right})"
        case fo.Compare(ordering, left, right):
            return f"{left} {ordering} {right}"
        case fo.Atom(relation, args) if tells_history(relation):
            outside = _outside_parentheses(relation)
            open_to_the_right = followed and ". " in outside
            loose = place > _Level.SINCE and " since " in outside
            return _wrapped(in_words(relation, args), open_to_the_right or loose)
        case fo.Atom(relation, args, primed, columns):
            named = (f"{c} = {t}" for c, t in zip(columns, args, strict=True)) if columns else map(str, args)
            return f"{relation}{chr(39) * primed}({', '.join(named)})"
        case fo.Use(definition, args):
            return f"{definition}({', '.join(map(str, args))})"
        case fo.Same(relation):
            return f"same({relation})"
        case fo.Empty(relation):
            return f"empty({relation})"
        case fo.Not(body):
            return "~" + _negated(body, followed=followed)
        case fo.Next(path, body):
            return f"{path}X " + _text(body, _Level.UNARY, followed=followed)
        case fo.Future(path, body):
            return f"{path}F " + _text(body, _Level.UNARY, followed=followed)
        case fo.Globally(path, body):
            return f"{path}G " + _text(body, _Level.UNARY, followed=followed)
        case fo.Until(path, left, right, weak):
            start = _text(left, _Level.FORMULA, followed=False)
            end = _text(right, _Level.FORMULA, followed=False)
            return f"{path}[{start} {'W' if weak else 'U'} {end}]"
        case fo.Exists(binder) if binder.wild and (atom := _with_wildcards(formula)) is not None:
            return _text(atom, place, followed=followed)
        case fo.Exists() | fo.Forall() | fo.Count():
            # extends to the right as far as possible, so it needs no parentheses if nothing follows
            prefix, body = _prefix(formula)
            return _wrapped(f"{prefix}. {_text(body, _Level.FORMULA, followed=False)}", followed)
        case fo.Each() | fo.Weight():
            return print_tally(fo.Tally(formula))
        case fo.And(parts):
            if len(parts) < 2:
                return _text(fo.conjunction(parts), place, followed=followed)
            return _joined("&", parts, _Level.CONJUNCTION, (_Level.SINCE, _Level.SINCE), place, followed)
        case fo.Since(left, right):
            sides = _Level.UNARY, _Level.UNARY
            return _joined("since", (left, right), _Level.SINCE, sides, place, followed)
        case fo.Previously(body):
            return "previously " + _text(body, _Level.UNARY, followed=followed)
        case fo.Did(tool, args, agent, refused):
            by = "" if agent is None else f" by {agent}"
            return f"{'refused' if refused else 'did'} {tool}({', '.join(map(str, args))}){by}"
        case fo.Or(parts):
            if len(parts) < 2:
                return _text(fo.disjunction(parts), place, followed=followed)
            tighter = _Level.CONJUNCTION, _Level.CONJUNCTION
            return _joined("|", parts, _Level.DISJUNCTION, tighter, place, followed)
        case fo.Implies(left, right):
            sides = _Level.DISJUNCTION, _Level.IMPLICATION
            return _joined("->", (left, right), _Level.IMPLICATION, sides, place, followed)
        case fo.Iff(left, right):
            sides = _Level.EQUIVALENCE, _Level.IMPLICATION
            return _joined("<->", (left, right), _Level.EQUIVALENCE, sides, place, followed)
        case fo.Derived(operator, (operand,)):
            return f"{operator} " + _text(operand, _Level.UNARY, followed=followed)
        case fo.Derived(operator, operands):
            sides = _Level.EQUIVALENCE, _Level.EQUIVALENCE
            return _joined(operator, operands, _Level.FORMULA, sides, place, followed)
        case _:
            assert_never(formula)


def _with_wildcards(formula: fo.Formula) -> fo.Formula | None:
    """Return the atom with a `_` from which `exists x. P(c, x)` was expanded, or None.

    None if the atom would not read back as the formula: there is more than an atom, or the expansion of a
    definition has repeated, dropped or reordered the variables.
    """
    wild: dict[str, fo.Wildcard] = {}
    while isinstance(formula, fo.Exists) and formula.binder.wild:
        wild[formula.binder.name] = fo.Wildcard(formula.binder.sort)
        formula = formula.body
    if not isinstance(formula, fo.Atom) and not (
        isinstance(formula, fo.Compare) and formula.ordering == "succ"
    ):
        return None
    if [str(term) for term in fo.terms(formula) if str(term) in wild] != list(wild):
        return None

    return fo.map_terms(lambda term: wild.get(str(term), term) if isinstance(term, fo.Var) else term, formula)


@cache
def _outside_parentheses(text: str) -> str:
    """Return the text outside all parentheses.

    An operator there is the formula's outermost one, or that of its last operand.
    """
    while (less := re.sub(r"\([^()]*\)", "", text)) != text:
        text = less
    return text


def _wrapped(text: str, wrap: bool) -> str:
    return f"({text})" if wrap else text


def _joined(
    symbol: str,
    parts: tuple[fo.Formula, ...],
    own: _Level,
    sides: tuple[_Level, _Level],
    place: _Level,
    followed: bool,
) -> str:
    """Return the parts with the symbol between them.

    ``sides`` are the levels of the positions of all parts but the last, and of the last one.
    """
    wrap = place > own
    texts = [_text(part, sides[0], followed=True) for part in parts[:-1]]
    texts.append(_text(parts[-1], sides[1], followed=followed and not wrap))
    return _wrapped(f" {symbol} ".join(texts), wrap)


def _negated(body: fo.Formula, *, followed: bool) -> str:
    if isinstance(body, fo.Exists) and body.binder.wild and (atom := _with_wildcards(body)) is not None:
        body = atom
    if isinstance(body, fo.Exists | fo.Forall | fo.Count):
        prefix, inner = _prefix(body)
        connective = isinstance(inner, fo.Connective)
        text = f"{prefix}. {_wrapped(_text(inner, _Level.FORMULA, followed=False), connective)}"
        return _wrapped(text, followed)
    if isinstance(body, fo.Not) and isinstance(body.body, fo.Equal):
        return f"({print_formula(body)})"
    return _text(body, _Level.UNARY, followed=followed)


def _prefix(formula: fo.Exists | fo.Forall | fo.Count) -> tuple[str, fo.Formula]:
    """Return `forall x: s, y: t` and the body, with the longest list of quantifiers that reads back."""
    if isinstance(formula, fo.Count):
        return f"{formula.comparison} {formula.number} {formula.binder}", formula.body
    word = "exists" if isinstance(formula, fo.Exists) else "forall"
    binders = [formula.binder]
    body = formula.body
    while isinstance(body, fo.Exists | fo.Forall) and type(body) is type(formula):
        if formula.binder.declared or body.binder.declared:  # `x in s` cannot be in a list
            break
        if body.binder.wild and _with_wildcards(body) is not None:  # a `_` in the atom has no binder
            break
        longer = [*binders, body.binder]
        if not _reads_back(longer) and _reads_back(binders):
            break
        binders, body = longer, body.body
    return f"{word} {print_binders(tuple(binders))}", body


def _reads_back(binders: list[fo.Binder]) -> bool:
    """Return True if every binder without a sort gets its own default when the list is parsed."""
    default: str | None = None
    for binder in reversed(binders):
        if binder.known_sort is None and binder.default != default:
            return False
        default = binder.known_sort or default
    return True
