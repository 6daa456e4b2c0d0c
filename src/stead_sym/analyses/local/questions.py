"""From a specification to questions about a few values, which may be any.

Let `AG ∀x. f` be asked. It holds if AG f holds for all values of x in U, active or not: to leave out that x
is active asks for more. So leading universal quantifiers become values, under `AG`, `AX`, ∧ and the right
side of → too, which commute with ∀ over a fixed set; `atmost n x. f` is ∀ over n+1 different values. A
quantifier below any other operator stays, and with it all that is below it. There A[f U g] is taken apart to
A[f W g] and AF (¬f ∨ g).

The values are constants that the file's formulas mention, of finite sorts all, or *names*. A name stands for
any other value: an identifier of the data, or one outside C. Different names are different values. Since
every value is a constant or one of the others, the questions together ask for all values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import combinations, count

from stead_sym.analyses.local.start import names_in
from stead_sym.analyses.local.values import is_constant, name, same
from stead_sym.logic.evaluate import compares
from stead_sym.logic.folding import fold
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.substitution import substitute
from stead_sym.logic.syntax import (
    INTEGERS,
    And,
    Binder,
    Compare,
    Const,
    Count,
    Equal,
    Exists,
    Expanded,
    Forall,
    Formula,
    Future,
    Globally,
    Iff,
    Implies,
    Next,
    Not,
    Or,
    Temporal,
    Until,
    Var,
    children,
    conjunction,
    is_temporal,
    quantify,
)
from stead_sym.relational.schema import Schema, Value, is_numeral

_MOST_COUNTED = 3
"""`atmost n` becomes n+1 values up to this n; the values of larger ones would be too many."""


def questions(
    formula: Expanded, constants: Mapping[str, Sequence[Value]], named: Set[str]
) -> Iterator[Formula]:
    """Yield sentences over constants and names that together imply the formula.

    The ``named`` sorts have other values than the constants.
    """
    for binders, body in _pulled(formula, count()):
        yield from _instances(binders, body, constants, dict.fromkeys(named, 0))


def together(asked: Iterable[Formula]) -> Iterator[tuple[Formula, Sequence[Formula]]]:
    """Yield the questions, those that are about the same names as one: AG f and AG g as AG (f ∧ g)."""
    groups: dict[tuple[bool, frozenset[Value]], list[Formula]] = {}
    for question in asked:
        key = isinstance(question, Globally), frozenset(names_in(question))
        groups.setdefault(key, []).append(question)
    for (is_always, _), group in groups.items():
        bodies = tuple(question.body for question in group if isinstance(question, Globally))
        if is_always and len(group) > 1:
            yield Globally("A", conjunction(bodies)), group
        else:
            yield from ((question, (question,)) for question in group)


def dual(formula: Expanded) -> Globally | None:
    """Return the negation of EF f as AG ¬f, which has questions; None for any other formula."""
    return Globally("A", Not(formula.body)) if isinstance(formula, Future) and formula.path == "E" else None


def asks_for_runs(formula: Core, *, negated: bool = False) -> bool:
    """Return if the truth of a formula may rest on a run that exists, as below a positive EF."""
    match formula:
        case Not(body):
            return asks_for_runs(body, negated=not negated)
        case Iff():
            return is_temporal(formula)
        case _ if isinstance(formula, Temporal) and not negated:
            return True
        case _:
            return any(asks_for_runs(part, negated=negated) for part in children(formula))


def decided(f: Core, schema: Schema) -> Core:
    """Return the formula without the parts that the comparison of two values decides."""

    def known(part: Formula) -> bool | None:
        match part:
            case Compare(_, Const(left), Const(right), sort) if (
                sort != INTEGERS and is_constant(left) and is_constant(right)
            ):
                return compares(part, left, right, schema)
            case Equal(Const(left), Const(right)) if left == right or not (
                is_numeral(left) or is_numeral(right)
            ):
                return same(left, right)
            case _:
                return None

    return core(fold(f, known))


def by_witness(
    question: Globally,
    binders: Sequence[Binder],
    witness: Formula,
    constants: Mapping[str, Sequence[Value]],
    used: Mapping[str, int],
) -> Iterator[Formula]:
    """Yield questions that together imply AG f: AG (w(u) → f) for all u, and AG ((∃x. w(x)) ∨ f).

    ``used`` is the number of names in use, for each sort that has names.
    """
    yield Globally("A", Or((quantify(Exists, binders, witness), question.body)))
    yield from _instances(binders, Globally("A", Implies(witness, question.body)), constants, used)


def never(
    condition: Formula,
    binders: Sequence[Binder],
    constants: Mapping[str, Sequence[Value]],
    used: Mapping[str, int],
) -> Iterator[Formula]:
    """Yield questions that together say that a condition is true of no values in any reachable state."""
    for own, body in _pulled(Globally("A", Not(quantify(Exists, binders, condition))), count()):
        yield from _instances(own, body, constants, used)


def _instances(
    binders: Sequence[Binder],
    body: Formula,
    constants: Mapping[str, Sequence[Value]],
    used: Mapping[str, int],
) -> Iterator[Formula]:
    """Yield the body for every choice of values, up to the order in which names are used.

    ``used`` is the number of names in use, for each sort that has names.
    """
    if not binders:
        yield body
        return
    sort, rest = binders[0].sort, binders[1:]
    values = [(value, used) for value in constants[sort]]
    if sort in used:
        values += [(name(sort, k), {**used, sort: max(used[sort], k + 1)}) for k in range(used[sort] + 1)]
    for value, now in values:
        yield from _instances(rest, substitute(body, {binders[0].name: Const(value)}), constants, now)


def _opened(
    parts: Sequence[Formula], loose: Callable[[Binder, Formula], tuple[Binder, Formula]]
) -> tuple[tuple[Binder, ...], Formula]:
    """Return the variables of existential parts of a conjunction, and the conjunction about these."""
    binders, opened = [], []
    for part in parts:
        if isinstance(part, Exists):
            own, inner = loose(part.binder, part.body)
            binders.append(own)
            opened.append(inner)
        else:
            opened.append(part)
    return tuple(binders), conjunction(tuple(opened))


def _pulled(formula: Formula, numbers: Iterator[int]) -> Iterator[tuple[tuple[Binder, ...], Formula]]:
    """Yield bodies with the variables for all of whose values they have to hold."""

    def loose(binder: Binder, body: Formula) -> tuple[Binder, Formula]:
        fresh = f"{binder.name}#{next(numbers)}"  # no name of a file
        return replace(binder, name=fresh), substitute(body, {binder.name: Var(fresh)})

    match formula:
        case And(parts):
            for part in parts:
                yield from _pulled(part, numbers)
        case Forall(binder, body):
            own, inner = loose(binder, body)
            yield from (((own, *others), f) for others, f in _pulled(inner, numbers))
        case Not(Not(body)):
            yield from _pulled(body, numbers)
        case Not(Exists(binder, body)):
            own, inner = loose(binder, body)
            yield from (((own, *others), f) for others, f in _pulled(Not(inner), numbers))
        case Not(Or(parts)):
            for part in parts:
                yield from _pulled(Not(part), numbers)
        case Implies(Exists(binder, left), right):
            own, inner = loose(binder, left)
            yield from (((own, *others), f) for others, f in _pulled(Implies(inner, right), numbers))
        case Implies(And(parts), right) if any(isinstance(part, Exists) for part in parts):
            binders, inner = _opened(parts, loose)
            yield from (((*binders, *others), f) for others, f in _pulled(Implies(inner, right), numbers))
        case Implies(left, right):
            yield from ((own, Implies(left, f)) for own, f in _pulled(right, numbers))
        case Globally("A", body):
            yield from ((own, Globally("A", f)) for own, f in _pulled(body, numbers))
        case Next("A", body):
            yield from ((own, Next("A", f)) for own, f in _pulled(body, numbers))
        case Until("A", left, right, weak=False):  # each run keeps to f W g, and leaves f ∧ ¬g
            yield (), Until("A", left, right, weak=True)
            yield (), Future("A", Or((Not(left), right)))
        case Count("atmost", number, binder, body) if number <= _MOST_COUNTED:
            pairs = [loose(binder, body) for _ in range(number + 1)]
            variables = [Var(own.name) for own, _ in pairs]
            different = (Not(Equal(a, b)) for a, b in combinations(variables, 2))
            together = conjunction((*different, *(inner for _, inner in pairs)))
            yield tuple(own for own, _ in pairs), Not(together)
        case _:
            yield (), formula
