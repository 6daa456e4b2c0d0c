"""First-order CTL: terms and formulas as a closed union of small frozen classes.

`Formula` lists the constructors; traverse them with ``match`` and close with ``assert_never``. `children`,
`terms` and the functions that map over them derive the structure of a class from its fields. Spans (the
position of a node in its source) never take part in equality.

Formulas compose with Python's operators: ``f & g``, ``f | g``, ``~f`` and ``f >> g`` (implies). Each formula
caches its hash, because many caches are indexed by formulas.

A formula goes through three phases, and each step leaves fewer constructors:

- *raw*, as `logic.parser` and `logic.compose` return it: a name that no quantifier of the formula binds is a
  `Name`, a binder may lack its sort, and an `Atom` may be the use of a definition;
- *resolved* by `logic.sorts.resolve`: terms are `Var`, `Const` or `Wildcard`, binders and comparisons have
  their sorts, and the use of a definition is a `Use`. It prints as it was written;
- *expanded* by `logic.substitution.expand`: no `Use` is left, no `Derived`, and no `Wildcard` except in
  `Did`. Satisfaction, runs, decision diagrams and the counting of variables are defined for expanded
  formulas, and raise `TypeError` for earlier phases.

An expanded formula is also a resolved one and a resolved one also raw: each step is the identity on the
result of later ones. `Deployment` applies both steps. The aliases `Raw`, `Resolved` and `Expanded` of
`Formula` document the phase in a signature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, Literal, NoReturn, TypeAlias, TypeVar, get_args

from stead_sym.errors import DeclarationError, Located
from stead_sym.support.html import Displayed

MAX_DEPTH = 200
"""The maximum nesting depth of formulas, in text (enclosing items count) and after expansion.

It is limited because the functions on formulas are recursive.
"""

Path: TypeAlias = Literal["A", "E"]
Comparison: TypeAlias = Literal["atleast", "atmost", "exactly"]
Ordering: TypeAlias = Literal["<", "<=", ">", ">=", "succ"]


@dataclass(frozen=True, slots=True)
class Var(Located):
    """A variable; its sort is determined by a binder, a parameter or the formula's scope."""

    name: str

    def __str__(self) -> str:
        """Return the variable's name."""
        return self.name


@dataclass(frozen=True, slots=True)
class Const(Located):
    """A constant, which denotes itself."""

    value: str

    def __str__(self) -> str:
        """Return the value."""
        return self.value


@dataclass(frozen=True, slots=True)
class Name(Located):
    """A name in a raw formula: a variable if an enclosing binder declares it, otherwise a constant."""

    text: str

    def __str__(self) -> str:
        """Return the name."""
        return self.text


@dataclass(frozen=True, slots=True)
class Wildcard(Located):
    """`_` in a resolved formula: some active value of its position's sort, quantified directly at the atom.

    An expanded formula has none, except in `Did`.
    """

    sort: str

    def __str__(self) -> str:
        """Return `_`."""
        return WILDCARD


INTEGERS = "ℤ"
"""The sort of integers that need not be values of one sort; no file names it."""

WILDCARD = "_"
"""The text of a wildcard; in a raw formula a wildcard is the `Name` with this text."""

Sign: TypeAlias = Literal["+", "-"]


@dataclass(frozen=True, slots=True)
class Sum(Located):
    """The integer `t + u` or `t - u`."""

    left: Term
    sign: Sign
    right: Term

    def __str__(self) -> str:
        """Return the term as text."""
        right = f"({self.right})" if isinstance(self.right, Sum) else str(self.right)
        return f"{self.left} {self.sign} {right}"


@dataclass(frozen=True, slots=True)
class Tally(Located):
    """The integer `count x: s, … . f` or `sum t for x: s, … . f`.

    It is the number of the values of x that satisfy f, or the sum of t over them. ``each`` is the body under
    an `Each` for every variable.
    """

    each: Formula

    def __str__(self) -> str:
        """Return the term as text, in parentheses."""
        from stead_sym.logic.printer import print_tally  # the printer imports this module

        return f"({print_tally(self)})"


Term: TypeAlias = Var | Const | Name | Wildcard | Sum | Tally


@dataclass(frozen=True, slots=True)
class Binder(Located):
    """A declared variable.

    ``known_sort`` is its sort, or in a raw formula None if it was not written. ``default`` is the sort of a
    later name of the same list (`x, y: s`); it applies if the uses of the variable do not determine its sort.
    ``declared`` marks the variable of `exists x in s` or `forall x in s`, which ranges over all declared
    values of a finite sort; any other ranges over the active ones. ``wild`` marks the variable of an expanded
    `_`.
    """

    name: str
    known_sort: str | None = None
    default: str | None = field(default=None, compare=False, repr=False)
    declared: bool = False
    wild: bool = field(default=False, compare=False, repr=False)

    @property
    def sort(self) -> str:
        """The sort of a resolved binder; `TypeError` if it is not known yet."""
        if self.known_sort is None:
            raise TypeError(f"nothing has said the sort of {self.name} yet; {RESOLVE_FIRST}")
        return self.known_sort

    def __str__(self) -> str:
        """Return the binder as it is written in a list."""
        if self.declared:
            return f"{self.name} in {self.known_sort}"
        return self.name if self.known_sort is None else f"{self.name}: {self.known_sort}"


class _Composable(Located, Displayed):
    """Operators and printing, shared by all formulas."""

    __slots__ = ("_hash",)

    def __and__(self: Formula, other: Formula) -> Formula:  # type: ignore[misc]
        """Return `f & g`."""
        return And((self, other)) if isinstance(other, _Composable) else NotImplemented

    def __or__(self: Formula, other: Formula) -> Formula:  # type: ignore[misc]
        """Return `f | g`."""
        return Or((self, other)) if isinstance(other, _Composable) else NotImplemented

    def __invert__(self: Formula) -> Formula:  # type: ignore[misc]
        """Return `~f`."""
        return Not(self)

    def __rshift__(self: Formula, other: Formula) -> Formula:  # type: ignore[misc]
        """Return `f -> g`."""
        return Implies(self, other) if isinstance(other, _Composable) else NotImplemented

    def __bool__(self) -> NoReturn:
        """Raise `TypeError`: the truth of a formula depends on a state."""
        raise TypeError(
            "a formula has no truth value in Python: join formulas by & | ~ >>, not by `and`, `or`, `not`,"
            " and ask `holds` whether one is true in a state"
        )

    def __str__(self: Formula) -> str:  # type: ignore[misc]
        """Return the formula as text."""
        from stead_sym.logic.printer import print_formula  # the printer imports this module

        return print_formula(self)


@dataclass(frozen=True, slots=True)
class Truth(_Composable):
    """`true` or `false`."""

    value: bool


@dataclass(frozen=True, slots=True)
class Equal(_Composable):
    """`t = u`: the two terms are the same identifier, active or not, or the same integer."""

    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Compare(_Composable):
    """`t < u` and the like between two terms of one ordered sort, or `succ(t, u)`: u is the successor of t.

    It compares the positions of the values in the sort's list, active or not. ``known_sort`` is None in a raw
    formula, where `succ(t, u)` is an `Atom`. It is `INTEGERS` if integers are compared that are not both
    values of one sort.
    """

    ordering: Ordering
    left: Term
    right: Term
    known_sort: str | None = None

    @property
    def sort(self) -> str:
        """The sort of both terms; `TypeError` if it is not known yet."""
        if self.known_sort is None:
            raise TypeError(f"nothing has said the sort of {self.left} and {self.right} yet; {RESOLVE_FIRST}")
        return self.known_sort


@dataclass(frozen=True, slots=True)
class Atom(_Composable):
    """`P(t1, …, tq)`, or, with ``primed``, `P'(…)` in the successor state (only in `ensure`).

    In a raw formula the name may also be that of a definition, and the arguments may be those of named
    ``columns``, `P(c = t, …)`, which `logic.names` translates to positions. A resolved atom with a `Sum` or
    a `Tally` has the ``sorts`` of the columns; it is false if the integer is no value of its column's sort.
    """

    relation: str
    args: tuple[Term, ...] = ()
    primed: bool = False
    columns: tuple[str, ...] = ()
    sorts: tuple[str, ...] = field(default=(), compare=False, repr=False)


OFFERED = "offered "
"""Before the name of a tool: the definition that `offered w(t)` uses (`deployment.offered`)."""


@dataclass(frozen=True, slots=True)
class Use(_Composable):
    """The use `P(t1, …, tq)` of a definition P, in a resolved formula; an expanded one has none.

    `offered w(t1, …, tq)` is the use of a definition named `OFFERED` and w, also in a raw formula.
    """

    definition: str
    args: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class Not(_Composable):
    """`~f`."""

    body: Formula


@dataclass(frozen=True, slots=True)
class And(_Composable):
    """`f & g & …`, two parts or more, in the order written."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or(_Composable):
    """`f | g | …`, two parts or more, in the order written."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Implies(_Composable):
    """`f -> g`."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Iff(_Composable):
    """`f <-> g`."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Exists(_Composable):
    """`exists x: s. f`: some *active* value of s satisfies f; `exists x in s. f`: some declared one."""

    binder: Binder
    body: Formula


@dataclass(frozen=True, slots=True)
class Forall(_Composable):
    """`forall x: s. f`: every *active* value of s satisfies f; `forall x in s. f`: every declared one."""

    binder: Binder
    body: Formula


@dataclass(frozen=True, slots=True)
class Count(_Composable):
    """`atleast|atmost|exactly n x: s. f`: a bound on the number of active values of s that satisfy f."""

    comparison: Comparison
    number: int
    binder: Binder
    body: Formula


@dataclass(frozen=True, slots=True)
class Each(_Composable):
    """A variable of a `Tally` over the body that is counted or summed for each of its values."""

    binder: Binder
    body: Formula


@dataclass(frozen=True, slots=True)
class Weight(_Composable):
    """The summand of a `Tally` if ``condition`` holds: the integer ``of``, or 1 if that is empty."""

    of: tuple[Term, ...]
    condition: Formula


@dataclass(frozen=True, slots=True)
class Next(_Composable):
    """`AX f`, `EX f`."""

    path: Path
    body: Formula


@dataclass(frozen=True, slots=True)
class Future(_Composable):
    """`AF f`, `EF f`."""

    path: Path
    body: Formula


@dataclass(frozen=True, slots=True)
class Globally(_Composable):
    """`AG f`, `EG f`."""

    path: Path
    body: Formula


@dataclass(frozen=True, slots=True)
class Until(_Composable):
    """`A[f U g]`, `E[f U g]`; with ``weak`` `A[f W g]`, `E[f W g]` (g need not hold ever)."""

    path: Path
    left: Formula
    right: Formula
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Since(_Composable):
    """`f since g`: g held now or earlier, and f has held in every state since (`deployment.history`).

    Only the latest consecutive states count in which all values of the assignment are constants or active.
    """

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Previously(_Composable):
    """`previously f`: f held in the previous state."""

    body: Formula


@dataclass(frozen=True, slots=True)
class Did(_Composable):
    """`did w(t1, …, tq) by a`: the step into the state was the call w(t1, …, tq) of the agent a.

    If ``agent`` is None, any agent may have made the call. `refused w(t1, …, tq)` is the same of a call that
    was ``refused``, of which `did` is false. A `_` among the arguments matches every value,
    active or not, and remains in an expanded formula.
    """

    tool: str
    args: tuple[Term, ...] = ()
    agent: str | None = None
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Same(_Composable):
    """`same(P)`, only in `ensure`: P'(x) <-> P(x) for all x."""

    relation: str


@dataclass(frozen=True, slots=True)
class Empty(_Composable):
    """`empty(P)`, only in `ensure`: P'(x) for no x."""

    relation: str


@dataclass(frozen=True, slots=True)
class Derived(_Composable):
    """An operator that is defined by others (`logic.derived`); an expanded formula has none."""

    operator: str
    operands: tuple[Formula, ...]


Formula: TypeAlias = (
    Truth | Equal | Compare | Atom | Use | Not | And | Or | Implies | Iff | Exists | Forall | Count
    | Each | Weight
    | Next | Future | Globally | Until | Since | Previously | Did | Same | Empty | Derived
)  # fmt: skip
Connective: TypeAlias = And | Or | Implies | Iff | Since | Derived
"""A formula with its operator between two others, so that it stands in parentheses below a quantifier."""

Raw: TypeAlias = Formula
Resolved: TypeAlias = Formula
Expanded: TypeAlias = Formula
Quantified: TypeAlias = Exists | Forall | Count | Each
Temporal: TypeAlias = Next | Future | Globally | Until
Past: TypeAlias = Since | Previously
F = TypeVar("F", bound=Formula)


def _hash_once(constructor: Any) -> None:
    """Cache the hash of formulas with this constructor; computing it takes time linear in the formula."""
    computed = constructor.__hash__

    def kept(self: Any) -> int:
        try:
            value: int = self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", value := computed(self))
        return value

    constructor.__hash__ = kept


for _constructor in get_args(Formula):
    _hash_once(_constructor)

TRUE = Truth(True)
FALSE = Truth(False)


@dataclass(frozen=True, slots=True)
class Definition(Located):
    """`define P(x: s) = f`: a named first-order formula."""

    name: str
    params: tuple[Binder, ...]
    body: Raw | Resolved


_FORMULAS = ("Formula", "tuple[Formula, ...]")
_TERMS = ("Term", "tuple[Term, ...]")


def _fields(kinds: tuple[str, ...]) -> Mapping[type, tuple[str, ...]]:
    """Return, per constructor, the names of its fields that are declared with one of these types."""
    return {
        constructor: tuple(each.name for each in fields(constructor) if each.type in kinds)
        for constructor in get_args(Formula)
    }


_CHILDREN, _OWN_TERMS = _fields(_FORMULAS), _fields(_TERMS)


def _of(fields_: Mapping[type, tuple[str, ...]], formula: Formula) -> tuple[Any, ...]:
    found: tuple[Any, ...] = ()
    for name in fields_[type(formula)]:
        value = getattr(formula, name)
        found += value if isinstance(value, tuple) else (value,)
    return found


def _tallies(term: Term) -> Iterator[Formula]:
    """Yield the bodies of the tallies in a term."""
    if isinstance(term, Sum):
        yield from _tallies(term.left)
        yield from _tallies(term.right)
    elif isinstance(term, Tally):
        yield term.each


def _map_term(
    transform: Callable[[Term], Term] | None, of_formula: Callable[[Any], Any] | None, term: Term
) -> Term:
    """Return the term with its variables, constants and names, or the bodies of its tallies, transformed."""
    if isinstance(term, Sum):
        left, right = (_map_term(transform, of_formula, part) for part in (term.left, term.right))
        return replace(term, left=left, right=right)
    if isinstance(term, Tally):
        return term if of_formula is None else replace(term, each=of_formula(term.each))
    return term if transform is None else transform(term)


def leaves(term: Term) -> tuple[Term, ...]:
    """Return the variables, constants and names of a term, outside of tallies."""
    if isinstance(term, Sum):
        return (*leaves(term.left), *leaves(term.right))
    return () if isinstance(term, Tally) else (term,)


def is_compound(term: Term) -> bool:
    """Return True if the term is a sum or a tally: an integer that is no name of a value."""
    return isinstance(term, Sum | Tally)


def children(formula: Formula) -> tuple[Formula, ...]:
    """Return the immediate subformulas in their order; the bodies of tallies among the terms come first."""
    own = _of(_OWN_TERMS, formula)
    found: tuple[Formula, ...] = _of(_CHILDREN, formula)
    if any(map(is_compound, own)):
        return (*(each for term in own for each in _tallies(term)), *found)
    return found


def map_children(
    transform: Callable[[Any], Any], formula: F, fields_: Mapping[type, tuple[str, ...]] = _CHILDREN
) -> F:
    """Return the same constructor over transformed immediate subformulas, or other transformed fields."""
    if fields_ is _CHILDREN and any(map(is_compound, _of(_OWN_TERMS, formula))):
        formula = map_children(lambda term: _map_term(None, transform, term), formula, _OWN_TERMS)
    # no Python function in between, so that nesting uses as few stack frames as possible
    changed: dict[str, Any] = {}
    for name in fields_[type(formula)]:
        value = getattr(formula, name)
        changed[name] = tuple(map(transform, value)) if isinstance(value, tuple) else transform(value)
    return replace(formula, **changed) if changed else formula


def arguments(formula: Formula) -> tuple[Term, ...]:
    """Return the formula's own terms as they are written."""
    return _of(_OWN_TERMS, formula)


def terms(formula: Formula) -> tuple[Term, ...]:
    """Return the formula's own variables, constants and names, without those of its subformulas."""
    own = _of(_OWN_TERMS, formula)
    return tuple(leaf for term in own for leaf in leaves(term)) if any(map(is_compound, own)) else own


def map_terms(transform: Callable[[Term], Term], formula: F) -> F:
    """Return the same constructor over the formula's own transformed variables, constants and names."""
    return map_children(lambda term: _map_term(transform, None, term), formula, _OWN_TERMS)


def signs(formula: Formula) -> tuple[int, ...]:
    """Return the formula's monotonicity in each immediate subformula: 1, -1, or 0 if neither is certain.

    1 means increasing (it can only become true if the subformula does), -1 decreasing.
    """
    match formula:
        case Not():
            return (-1,)
        case Implies():
            return (-1, 1)
        case Iff() | Equal() | Compare() | Atom() | Each() | Weight():
            return (0,) * len(children(formula))
        case Count(comparison):
            return ({"atleast": 1, "atmost": -1, "exactly": 0}[comparison],)
        case _:
            return (1,) * len(children(formula))


def subformulas(formula: Formula) -> Iterator[Formula]:
    """Yield the formula and all its subformulas, outermost first."""
    yield formula
    for child in children(formula):
        yield from subformulas(child)


def relations_in(formula: Formula) -> tuple[str, ...]:
    """Return the relations in the formula, without repetition, in the order of their first occurrences."""
    return tuple(dict.fromkeys(part.relation for part in subformulas(formula) if isinstance(part, Atom)))


@lru_cache(maxsize=1 << 16)
def is_temporal(formula: Formula) -> bool:
    """Return True if the formula has a temporal operator."""
    return isinstance(formula, Temporal) or any(map(is_temporal, children(formula)))


@lru_cache(maxsize=1 << 16)
def tells_of_steps(formula: Formula) -> bool:
    """Return True if the formula has an operator of the past or `did`."""
    return (
        isinstance(formula, Past | Did)
        or (isinstance(formula, Derived) and len(formula.operands) == 1)
        or any(map(tells_of_steps, children(formula)))
    )


@lru_cache(maxsize=1 << 16)
def free_variables(formula: Formula) -> frozenset[str]:
    """Return the names of the variables that no quantifier of the formula binds."""
    if isinstance(formula, Quantified):
        return free_variables(formula.body) - {formula.binder.name}
    own = frozenset(term.name for term in terms(formula) if isinstance(term, Var))
    return own.union(*map(free_variables, children(formula)))


def conjuncts(formula: Formula) -> Iterator[Formula]:
    """Yield the conjuncts of the formula, nested conjunctions flattened; the formula itself if it is none."""
    if isinstance(formula, And):
        for part in formula.parts:
            yield from conjuncts(part)
    else:
        yield formula


def conjunction(parts: tuple[Formula, ...]) -> Formula:
    """Return `true`, the part, or the conjunction of the parts."""
    return TRUE if not parts else parts[0] if len(parts) == 1 else And(parts)


def disjunction(parts: tuple[Formula, ...]) -> Formula:
    """Return `false`, the part, or the disjunction of the parts."""
    return FALSE if not parts else parts[0] if len(parts) == 1 else Or(parts)


def quantify(quantifier: type[Exists | Forall], binders: Iterable[Binder], body: Formula) -> Formula:
    """Return the formula under one quantifier for each variable, the first outermost."""
    for binder in reversed([*binders]):
        body = quantifier(binder, body)
    return body


def variables_of(binders: Iterable[Binder]) -> tuple[Var, ...]:
    """Return the declared variables as terms."""
    return tuple(Var(binder.name) for binder in binders)


RESOLVE_FIRST = "resolve the formula and expand its definitions first, as `Deployment.formula` does"


def unresolved(name: Name) -> TypeError:
    """Return the error for a name that is not resolved."""
    return TypeError(f"{name} may be a variable or a constant; {RESOLVE_FIRST}")


def unquantified(wildcard: Wildcard) -> TypeError:
    """Return the error for a wildcard that is not expanded to a quantifier."""
    return TypeError(f"a `{wildcard}` of sort {wildcard.sort} is not quantified; {RESOLVE_FIRST}")


def unfollowed(formula: Since | Previously | Did) -> DeclarationError:
    """Return the error for an operator of the past, which a database alone does not decide.

    See `deployment.following`.
    """
    return DeclarationError(
        f"`{formula}` is about steps, of which a database alone does not tell; ask it of `verify`",
        formula.span,
    )


def unexpanded(formula: Use | Derived) -> TypeError:
    """Return the error for a construct that `expand` should have replaced."""
    what = f"definition {formula.definition}" if isinstance(formula, Use) else f"operator {formula.operator}"
    return TypeError(f"{formula} uses the {what}, which is not expanded; {RESOLVE_FIRST}")
