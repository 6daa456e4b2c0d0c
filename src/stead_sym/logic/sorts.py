"""Resolve raw formulas: classify names, and infer the sort of each variable.

One decision: a variable whose binder has no sort gets the one that its uses require: first its positions in
atoms, then its comparisons, repeated until a fixpoint. A written sort always has priority, and the sort of a
later name in the same list (`x, y: s`) is a last resort. Integers of all sorts can be compared. So a
comparison with values of two sorts of integers does not determine a variable's sort. A numeral determines it
if there is only one sort of integers, or if only one lists the numeral.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.errors import DeclarationError, Span
from stead_sym.logic.derived import meaning
from stead_sym.logic.names import WORDS, Names, by_position, check_name, nearest
from stead_sym.logic.substitution import expand, substitute
from stead_sym.relational.schema import Schema, is_numeral
from stead_sym.support.printable import plural

__all__ = ["WORDS", "Names", "check_name", "expand", "nearest", "resolve", "substitute", "variables_by_sort"]

OF_DATABASES = "`ensure` relates two databases, which have no past; ask for it in the guard or in `when`"

_NOTHING: Mapping[str, str] = MappingProxyType({})


def resolve(
    formula: fo.Raw,
    names: Names,
    scope: Mapping[str, str] = _NOTHING,
    *,
    temporal: bool = False,
    primed: bool = False,
) -> fo.Resolved:
    """Return the formula with names classified, sorts of binders inferred, and uses of definitions marked.

    A name is a variable if a quantifier of the formula or ``scope`` (variable → sort) declares it, and a
    constant otherwise. ``temporal`` and ``primed`` allow temporal operators, and primed symbols with `same`
    and `empty`. Raise `DeclarationError` for a symbol that is unknown, misplaced, or of the wrong arity or
    sort, and for a variable whose sort is not determined.
    """
    inference = _Inference(names, temporal, primed)
    named = inference.formula(formula, dict(scope))
    return _with_sorts(named, iter(inference.solution()))


def _with_sorts(formula: fo.Formula, solution: Iterator[str]) -> fo.Formula:
    if isinstance(formula, fo.Quantified) and formula.binder.known_sort is None:
        formula = replace(formula, binder=replace(formula.binder, known_sort=next(solution)))
    if isinstance(formula, fo.Compare):
        sort = next(solution)
        sides = (formula.left, formula.right)
        left, right = (fo.Wildcard(sort, span=t.span) if is_wildcard(t) else t for t in sides)
        formula = replace(formula, left=left, right=right, known_sort=sort)
    return fo.map_children(lambda f: _with_sorts(f, solution), formula)


@dataclass(frozen=True, slots=True)
class _Integer:
    """The type of a sum or a tally; ``members`` are the types of the variables in it."""

    members: tuple[_Type, ...] = ()


_Type: TypeAlias = "str | int | _Integer"
"""A known sort, the number of a variable or numeral whose sort is to be inferred, or an integer."""


@dataclass(frozen=True, slots=True)
class _Unknown:
    """A variable or a numeral without a sort so far.

    ``default`` is that of a variable (`Binder.default`); ``among`` are the sorts that list a numeral, None
    for a variable.
    """

    name: str
    span: Span | None
    default: str | None = None
    among: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class _Link:
    """An equality or a comparison, with the types of its two sides."""

    formula: fo.Equal | fo.Compare
    left: _Type
    right: _Type

    @property
    def within_a_sort(self) -> bool:
        """True if the comparison is restricted to values of one sort."""
        return isinstance(self.formula, fo.Compare) and self.formula.ordering == "succ"

    @property
    def sides(self) -> tuple[tuple[fo.Term, _Type], tuple[fo.Term, _Type]]:
        """The two terms with their types."""
        return (self.formula.left, self.left), (self.formula.right, self.right)

    @property
    def members(self) -> tuple[_Type, ...]:
        """The types of the compared values, without those of numerals, which fit any integer."""
        found: tuple[_Type, ...] = ()
        for term, kind in self.sides:
            if isinstance(kind, _Integer):
                found += kind.members
            elif self.within_a_sort or not is_numeral(str(term)):
                found += (kind,)
        return found

    @property
    def numerals(self) -> tuple[str, ...]:
        """The numerals in the comparison."""
        return tuple(t for side, _ in self.sides for t in map(str, fo.leaves(side)) if is_numeral(t))

    @property
    def of_integers(self) -> bool:
        """True if a numeral, a sum or a tally is compared."""
        return bool(self.numerals) or any(isinstance(kind, _Integer) for _, kind in self.sides)


@dataclass(slots=True)
class _Inference:
    """Sort inference for one formula.

    Variables and numerals without a sort are numbered in the order of occurrence. ``asked`` are the types of
    the binders without a sort and of the comparisons, in that order.
    """

    names: Names
    temporal: bool
    primed: bool
    past: bool = False  # below an operator of the past
    unknown: list[_Unknown] = field(default_factory=list)
    asked: list[_Type | _Link] = field(default_factory=list)
    links: list[_Link] = field(default_factory=list)
    operands: list[tuple[fo.Term, _Type, Span | None]] = field(default_factory=list)  # of sums and tallies
    known: dict[int, tuple[str, Span | None]] = field(default_factory=dict)  # the sort, and its source

    def formula(self, formula: fo.Formula, scope: Mapping[str, _Type]) -> fo.Formula:
        """Return the formula with names classified, and collect its constraints on sorts."""
        outermost = meaning(formula) if isinstance(formula, fo.Derived) else formula
        if isinstance(outermost, fo.Temporal) and not self.temporal:
            raise DeclarationError(
                "a temporal operator stands in a first-order formula; only `spec` may hold them"
                if not self.past
                else "a temporal operator stands below an operator of the past, which speaks of the run so"
                " far; put the operator of the past inside of the temporal one",
                formula.span,
            )
        if isinstance(formula, fo.Past | fo.Did) or (
            isinstance(formula, fo.Derived) and len(formula.operands) == 1
        ):
            return self._of_steps(formula, scope)
        match formula:
            case fo.And(parts):
                return self._joined(formula, fo.conjunction(tuple(self.formula(f, scope) for f in parts)))
            case fo.Or(parts):
                return self._joined(formula, fo.disjunction(tuple(self.formula(f, scope) for f in parts)))
            case fo.Equal():
                return self._equal(formula, scope)
            case fo.Compare():
                return self._compare(formula, scope)
            case fo.Atom():
                return self._atom(formula, scope)
            case fo.Use(name, args):
                return self._atom(fo.Atom(name, args, span=formula.span), scope)
            case fo.Same(name) | fo.Empty(name):
                word = "same" if isinstance(formula, fo.Same) else "empty"
                if self.names.has_symbol(word):  # the file's own relation of that name
                    return self._atom(
                        fo.Atom(word, (fo.Name(name, span=formula.span),), span=formula.span), scope
                    )
                self._allow_primed(f"{word}({name})", formula.span)
                self._relation(name, formula.span)
                return formula
            case fo.Exists() | fo.Forall() | fo.Count() | fo.Each():
                return self._quantified(formula, scope)
            case fo.Weight(of, condition):
                return replace(
                    formula,
                    of=tuple(self._operand(term, scope, formula.span)[0] for term in of),
                    condition=self.formula(condition, scope),
                )
            case _:
                return fo.map_children(lambda f: self.formula(f, scope), formula)

    @staticmethod
    def _joined(formula: fo.And | fo.Or, joined: fo.Formula) -> fo.Formula:
        return replace(joined, span=formula.span) if isinstance(joined, type(formula)) else joined

    def _of_steps(self, formula: fo.Past | fo.Did | fo.Derived, scope: Mapping[str, _Type]) -> fo.Formula:
        if self.primed:
            raise DeclarationError(OF_DATABASES, formula.span)
        if isinstance(formula, fo.Did):
            sorts = self.names.head(formula).sorts
            return replace(formula, args=self._args(formula.args, sorts, formula.tool, formula.span, scope))
        outside = self.temporal, self.past
        self.temporal, self.past = False, True
        inner = fo.map_children(lambda f: self.formula(f, scope), formula)
        self.temporal, self.past = outside
        return inner

    def _quantified(self, formula: fo.Quantified, scope: Mapping[str, _Type]) -> fo.Formula:
        if isinstance(formula, fo.Count) and formula.number < 0:
            raise DeclarationError(
                f"`{formula.comparison} {formula.number}` counts below 0; write 0 or more", formula.span
            )
        binder = formula.binder
        check_name("variable", binder.name, binder.span or formula.span)
        kind: _Type
        span = binder.span or formula.span
        if binder.known_sort is not None:
            kind = self.names.sort(binder.known_sort, span)
            if binder.declared and not self.names.schema.is_finite(kind):
                raise DeclarationError(
                    f"sort {kind} has no declared values for {binder.name} to range over;"
                    f" write `{binder.name}: {kind}`, over the active ones",
                    span,
                )
        else:
            kind = self._new(_Unknown(binder.name, span, default=binder.default))
            self.asked.append(kind)
        body = self.formula(formula.body, {**scope, binder.name: kind})
        return replace(formula, body=body)

    def _new(self, unknown: _Unknown) -> int:
        self.unknown.append(unknown)
        return len(self.unknown) - 1

    def _atom(self, atom: fo.Atom, scope: Mapping[str, _Type]) -> fo.Atom | fo.Use | fo.Compare:
        atom = by_position(atom, self.names)
        if atom.relation == "succ" and not atom.primed and not self.names.has_symbol("succ"):
            if len(atom.args) != 2:
                raise DeclarationError(
                    f"`succ` takes 2 arguments, not {len(atom.args)}; write `succ(x, y)`", atom.span
                )
            return self._compare(fo.Compare("succ", *atom.args, span=atom.span), scope)
        if atom.primed:
            self._allow_primed(f"{atom.relation}'", atom.span)
            self._relation(atom.relation, atom.span)
        signature = self.names.signature(atom.relation, atom.span)
        args = self._args(atom.args, signature, atom.relation, atom.span, scope)
        if atom.relation in self.names.definitions:
            return fo.Use(atom.relation, args, span=atom.span)
        integers = any(map(self._has_integers, signature))
        return replace(atom, args=args, sorts=tuple(signature) if integers else ())

    def _args(
        self,
        written: Sequence[fo.Term],
        signature: Sequence[str],
        name: str,
        span: Span | None,
        scope: Mapping[str, _Type],
    ) -> tuple[fo.Term, ...]:
        """Return the arguments of a relation, a definition or a tool with this signature."""
        if len(written) != len(signature):
            takes = ", ".join(signature) or "none"
            raise DeclarationError(
                f"{name} takes {plural(len(signature), 'argument')} ({takes}), not {len(written)};"
                " give it that many",
                span,
            )
        args: list[fo.Term] = []
        for position, (sort, one) in enumerate(zip(signature, written, strict=True), 1):
            if is_wildcard(one):
                args.append(fo.Wildcard(sort, span=one.span))
                continue
            term, kind = self._term(one, scope, span)
            self._expect(term, kind, sort, f"argument {position} of {name}", term.span or span)
            args.append(term)
        return tuple(args)

    def _equal(self, formula: fo.Equal, scope: Mapping[str, _Type]) -> fo.Equal:
        left, left_kind = self._term(formula.left, scope, formula.span)
        right, right_kind = self._term(formula.right, scope, formula.span)
        equal = replace(formula, left=left, right=right)
        self.links.append(_Link(equal, left_kind, right_kind))
        return equal

    def _compare(self, formula: fo.Compare, scope: Mapping[str, _Type]) -> fo.Compare:
        slot = len(self.asked)
        self.asked.append("")  # a comparison comes before the variables in it
        typed: list[tuple[fo.Term, _Type]] = []
        for written in (formula.left, formula.right):
            if is_wildcard(written) and formula.ordering == "succ":
                typed.append((written, self._new(_Unknown(fo.WILDCARD, written.span))))
            else:
                typed.append(self._term(written, scope, formula.span))
        (left, left_kind), (right, right_kind) = typed
        compared = replace(formula, left=left, right=right)
        self.asked[slot] = link = _Link(compared, left_kind, right_kind)
        self.links.append(link)
        if formula.known_sort not in (None, fo.INTEGERS):  # the formula was resolved before
            for kind in (left_kind, right_kind):
                if isinstance(kind, int):
                    self.known.setdefault(kind, (formula.sort, formula.span))
        return compared

    def _has_integers(self, sort: str) -> bool:
        return sort == fo.INTEGERS or self.names.schema.sort(sort).is_numeric

    def _operand(
        self, term: fo.Term, scope: Mapping[str, _Type], around: Span | None
    ) -> tuple[fo.Term, _Type]:
        """Resolve a term that is added, subtracted or summed."""
        resolved, kind = self._term(term, scope, around)
        if not is_numeral(str(resolved)):
            self.operands.append((resolved, kind, term.span or around))
        return resolved, kind

    def _sum(self, term: fo.Sum, scope: Mapping[str, _Type], around: Span | None) -> tuple[fo.Term, _Type]:
        sides = [self._operand(side, scope, term.span or around) for side in (term.left, term.right)]
        members: tuple[_Type, ...] = ()
        for side, kind in sides:
            if isinstance(kind, _Integer):
                members += kind.members
            elif not is_numeral(str(side)):
                members += (kind,)
        return replace(term, left=sides[0][0], right=sides[1][0]), _Integer(members)

    def _tally(self, term: fo.Tally, scope: Mapping[str, _Type]) -> fo.Tally:
        if any(isinstance(part, fo.Temporal | fo.Derived | fo.Past) for part in fo.subformulas(term.each)):
            raise DeclarationError(
                "`count` and `sum` are about one state, without operators of time; count a relation that"
                " effects keep up to date",
                term.span,
            )
        named, body = set[str](), term.each
        while isinstance(body, fo.Each):
            if body.binder.name in named:
                raise DeclarationError(
                    f"the variable {body.binder.name} is declared twice; rename one",
                    body.binder.span or term.span,
                )
            named.add(body.binder.name)
            body = body.body
        return replace(term, each=self.formula(term.each, scope))

    def _term(self, term: fo.Term, scope: Mapping[str, _Type], around: Span | None) -> tuple[fo.Term, _Type]:
        if isinstance(term, fo.Sum):
            return self._sum(term, scope, around)
        if isinstance(term, fo.Tally):
            return self._tally(term, scope), _Integer()
        name = str(term)
        if name in scope:
            return fo.Var(name, span=term.span), scope[name]
        span = term.span or around
        if isinstance(term, fo.Var):
            raise DeclarationError(f"no binder declares the variable {name}; quantify it", span)
        if is_wildcard(term):
            raise DeclarationError(
                "`_` stands in atoms of formulas and in deletions only; name the value with a quantifier",
                span,
            )
        sorts = self.names.sorts_of(name)
        if len(sorts) > 1 or (not sorts and is_numeral(name)):
            return fo.Const(name, span=term.span), self._new(_Unknown(name, span, among=sorts))
        if not sorts:
            mend = (
                "introduce it (a quantifier; in an effect `choose` or `fresh`), or put it in a finite sort or"
                " `init`"
            )
            if any(name in relation.columns for relation in self.names.schema.relations):
                mend = f"a column's name is no value: name that, as in `P({name} = x)`, `for x where P(k, x)`"
            hint = nearest(name, (*scope, *self.names.constants), mend)
            raise DeclarationError(
                f"unknown name {name}: no binder declares it and it is no constant of the deployment; {hint}",
                span,
            )
        return fo.Const(name, span=term.span), sorts[0]

    def _expect(self, term: fo.Term, kind: _Type, sort: str, place: str, span: Span | None) -> None:
        if isinstance(kind, _Integer):
            if not self._has_integers(sort):
                raise DeclarationError(
                    f"{term} is a number, but {place} is of sort {sort}; name a value of it", span
                )
            return
        found = self._sort(kind)
        if found is None:
            assert isinstance(kind, int)
            self.known[kind] = (sort, span)
        elif found != sort:
            origin = self.known[kind][1] if isinstance(kind, int) else None
            since = f" (from {origin.line}:{origin.column})" if origin else ""
            mend = "use another variable" if isinstance(term, fo.Var) else f"use a constant of sort {sort}"
            if isinstance(term, fo.Var) and self._has_integers(found) and self._has_integers(sort):
                mend = f"write `{term} + 0` for the integer"
            raise DeclarationError(
                f"{term} is of sort {found}{since}, but {place} is of sort {sort}; {mend}", span
            )

    def _allow_primed(self, what: str, span: Span | None) -> None:
        if not self.primed:
            raise DeclarationError(f"{what} reads the state after the call; only `ensure` may do so", span)

    def _relation(self, name: str, span: Span | None) -> None:
        if name in self.names.definitions:
            raise DeclarationError(f"{name} is a define; here stands a relation of the schema", span)
        self.names.signature(name, span)

    def _sort(self, kind: _Type) -> str | None:
        if isinstance(kind, _Integer):
            return fo.INTEGERS
        return kind if isinstance(kind, str) else self.known.get(kind, (None,))[0]

    def solution(self) -> tuple[str, ...]:
        """Return the sort of every binder without one and of every comparison, in the order of occurrence."""
        self._settle()
        for number, unknown in enumerate(self.unknown):
            found = self._sort(number)
            if unknown.among is not None and found is not None and found not in unknown.among:
                if not unknown.among and not self._has_integers(found):
                    why = (
                        f"no sort of numbers has {unknown.name}; declare one as `sort n = 0..{unknown.name}`"
                    )
                else:
                    why = f"{unknown.name} is no value of sort {found}; take one of it"
                raise DeclarationError(why, unknown.span)
        for term, kind, span in self.operands:
            sort = self._sort(kind)
            if sort is not None and not self._has_integers(sort):
                raise DeclarationError(
                    f"{term} is of sort {sort}, which has no numbers; `+`, `-` and `sum` take numbers", span
                )
        sorts = {id(link): self._compared(link) for link in self.links}
        return tuple(
            sorts[id(asked)] if isinstance(asked, _Link) else self._answer(asked) for asked in self.asked
        )

    # sorts from comparisons

    def _open(self, kind: _Type) -> bool:
        """Return True if a variable, or a numeral within one sort, has no sort so far."""
        return isinstance(kind, int) and kind not in self.known

    def _settle(self) -> None:
        """Infer the sorts of variables that occur in no atom from comparisons."""
        while self._propagate() or self._by_numerals() or self._by_defaults():
            pass

    def _propagate(self) -> bool:
        """Assign to each variable the sort of the values that it is compared with, if there is one."""
        near: dict[int, dict[str, Span | None]] = {}
        for link in self.links:
            known = [sort for kind in link.members if (sort := self._sort(kind)) is not None]
            for kind in link.members:
                if isinstance(kind, int) and self._open(kind):
                    near.setdefault(kind, {}).update(dict.fromkeys(known, link.formula.span))
        found = {
            number: next(iter(sorts.items()))
            for number, sorts in near.items()
            if sorts and (len(sorts) == 1 or not all(map(self._has_integers, sorts)))
        }
        self.known.update(found)
        return bool(found)

    def _by_numerals(self) -> bool:
        """Assign a sort to variables that are compared with integers.

        It is the only sort of integers, or the only one that lists the numerals.
        """
        every = [sort for sort in self.names.schema.sorts if sort.is_numeric]
        for link in self.links:
            if not link.of_integers or link.within_a_sort:
                continue
            listing = [sort for sort in every if all(numeral in sort.rank for numeral in link.numerals)]
            fitting = every if len(every) == 1 else listing if link.numerals else []
            unknown = [kind for kind in link.members if isinstance(kind, int) and self._open(kind)]
            if len(fitting) == 1 and unknown:
                self.known.update(dict.fromkeys(unknown, (fitting[0].name, None)))
                return True
        return False

    def _by_defaults(self) -> bool:
        """Assign the default sort to a variable if it and the variables compared with it have one default."""
        for number in range(len(self.unknown)):
            choices = self._defaults(number) if self._open(number) else {}
            if len(choices) == 1:
                self.known[number] = (next(iter(choices)), None)
                return True
        return False

    def _defaults(self, number: int) -> dict[str, None]:
        """Return the default sorts of a variable and of those that it is compared with."""
        alike, todo = {number}, [number]
        while todo:
            one = todo.pop()
            for link in self.links:
                if one in link.members:
                    new = {k for k in link.members if isinstance(k, int) and self._open(k)} - alike
                    alike |= new
                    todo += new
        defaults = (self.unknown[one].default for one in sorted(alike))
        return {default: None for default in defaults if default is not None}

    def _compared(self, link: _Link) -> str:
        """Return the sort of the compared values; "" if an equality has no known sort."""
        written, span = link.formula, link.formula.span
        (left, left_sort), (right, right_sort) = (
            (term, fo.INTEGERS if is_numeral(str(term)) and not link.within_a_sort else self._sort(kind))
            for term, kind in link.sides
        )
        if left_sort is None or right_sort is None:
            if isinstance(written, fo.Equal):
                return ""
            raise DeclarationError(
                f"nothing says of which sort the values of `{written}` are;"
                " compare with a variable `x: SORT`",
                span,
            )
        same = left_sort == right_sort
        if same and left_sort == fo.INTEGERS:
            return fo.INTEGERS
        if not same:
            integers = self._has_integers(left_sort) and self._has_integers(right_sort)
            if link.within_a_sort or not integers:
                raise DeclarationError(self._differ((left, left_sort), (right, right_sort)), span)
            for one, other, sort in ((left, right, right_sort), (right, left, left_sort)):
                if is_numeral(str(one)) and sort != fo.INTEGERS and not fo.is_compound(other):
                    return sort if str(one) in self.names.schema.sort(sort).rank else fo.INTEGERS
            return fo.INTEGERS
        if isinstance(written, fo.Compare) and not self.names.schema.sort(left_sort).ordered:
            raise DeclarationError(
                f"sort {left_sort} has no order, so that `{written}` says nothing;"
                f" declare it as `sort {left_sort} = {{ first < second }}`",
                span,
            )
        return left_sort

    def _differ(self, left: tuple[fo.Term, str], right: tuple[fo.Term, str]) -> str:
        is_of = [
            f"{term} is {'a number' if s == fo.INTEGERS else f'of sort {s}'}" for term, s in (left, right)
        ]
        return (
            f"{is_of[0]} and {is_of[1].replace(' is of ', ' of ')}: no value is of both;"
            " compare values of one sort"
        )

    def _answer(self, kind: _Type) -> str:
        """Return the inferred sort of a binder."""
        sort = self._sort(kind)
        if sort is None:
            assert isinstance(kind, int)
            unknown, choices = self.unknown[kind], self._defaults(kind)
            why = f"{unknown.name} may be of sort {' or '.join(sorted(choices))}" if choices else (
                f"nothing says of which sort {unknown.name} is"
            )  # fmt: skip
            raise DeclarationError(f"{why}; write `{unknown.name}: SORT`", unknown.span)
        return sort


def is_wildcard(term: fo.Term) -> bool:
    """Return True if the term is `_`, resolved or not."""
    return isinstance(term, fo.Wildcard) or (isinstance(term, fo.Name) and term.text == fo.WILDCARD)


def used_sort(formula: fo.Expanded, name: str, schema: Schema) -> str | None:
    """Return the sort of a free variable according to its uses.

    None if it occurs only in equalities with constants, or with variables whose sorts are unknown as well.
    """
    equal = {name}
    while True:
        size = len(equal)
        for part in fo.subformulas(formula):
            match part:
                case fo.Atom(relation, args):
                    for term, sort in zip(args, schema.relation(relation).sorts, strict=True):
                        if isinstance(term, fo.Var) and term.name in equal:
                            return sort
                case fo.Compare(_, left, right) if part.known_sort != fo.INTEGERS:
                    if any(isinstance(term, fo.Var) and term.name in equal for term in (left, right)):
                        return part.sort
                case fo.Exists(binder) | fo.Forall(binder) | fo.Count(_, _, binder) | fo.Each(binder) if (
                    binder.name in equal - {name}
                ):
                    return binder.sort
                case fo.Equal(fo.Var(one), fo.Var(other)) if {one, other} & equal:
                    equal |= {one, other}
                case _:
                    pass
        if len(equal) == size:
            return None


def variables_by_sort(formula: fo.Expanded) -> Mapping[str, int]:
    """Return var_S: the number of variables of sort S in the formula, those with one name counted once.

    The paper's formulas have no `f <-> g`: it abbreviates (f -> g) & (g -> f). A `_` is a separate variable
    in each of the two copies of f, and is counted twice. A sort without variables is no key. Raise
    `TypeError` for a formula that is not expanded: the variables of its definitions would be missing.
    """
    named: dict[str, set[str]] = {}
    wild: Counter[str] = Counter()

    def visit(f: fo.Formula, copies: int) -> None:
        match f:
            case fo.Exists(binder) if binder.wild:
                wild[binder.sort] += copies
            case fo.Exists(binder) | fo.Forall(binder) | fo.Count(_, _, binder) | fo.Each(binder):
                named.setdefault(binder.sort, set()).add(binder.name)
            case fo.Use():
                raise fo.unexpanded(f)
            case _:
                pass
        for child in fo.children(f):
            visit(child, 2 * copies if isinstance(f, fo.Iff) else copies)

    visit(formula, 1)
    return {sort: len(named.get(sort, ())) + wild[sort] for sort in named.keys() | wild.keys()}
