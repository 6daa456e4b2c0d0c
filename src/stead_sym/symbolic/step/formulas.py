"""First-order formulas as BDDs over state bits and the vectors of their free variables.

One decision: ⟦∃x. f⟧ = ∃ bits(x). active(x) ∧ ⟦f⟧. A quantifier becomes a quantification over the bits of a
vector, and a formula is never expanded into one copy per value. Where f implies active(x) (`logic.activity`)
it is left out: for a value that any record may hold it is as large as the database, beside each record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TypeAlias, assert_never

from stead_sym.deployment.tool import Tool
from stead_sym.logic.activity import implies_active
from stead_sym.logic.evaluate import refuse_unknown, value_of
from stead_sym.logic.syntax import (
    And,
    Atom,
    Binder,
    Compare,
    Count,
    Empty,
    Equal,
    Exists,
    Forall,
    Formula,
    Future,
    Globally,
    Iff,
    Implies,
    Next,
    Not,
    Or,
    Same,
    Term,
    Truth,
    Until,
    Use,
    conjuncts,
    free_variables,
    unexpanded,
)
from stead_sym.relational.schema import Value
from stead_sym.symbolic.bdd.manager import Bdd
from stead_sym.symbolic.encode.encoding import Encoding
from stead_sym.symbolic.encode.values import Vector
from stead_sym.symbolic.step.single_facts import merged

Environment: TypeAlias = Mapping[str, Vector | Value]
"""What each variable in scope stands for: a vector, or a value already fixed."""

Reading: TypeAlias = tuple[Formula, tuple[tuple[str, Vector | Value], ...]]
"""A formula with what its free variables stand for: all that its meaning depends on."""


class Compiler:
    """Compiles formulas over one encoding; results are kept.

    ``role`` is that of bound variables' vectors (`Values.vector`). ``single``: relations that hold one fact
    at most in every state that matters. Results are right on `Encoding.care`, in such states.
    """

    def __init__(self, encoding: Encoding, role: str = "var", single: Set[str] = frozenset()) -> None:
        self.encoding = encoding
        self.role = role
        self.single = single
        self.manager = encoding.manager
        self._memo: dict[tuple[Reading, bool], Bdd] = {}

    def formula(self, formula: Formula, env: Environment, *, joint: bool = False) -> Bdd:
        """⟦f⟧ over the state bits and the vectors that ``env`` gives to f's free variables.

        With ``joint`` the formula is read over D ⊕ D' (an `ensure`): quantifiers range over
        ad(D ⊕ D') and primed symbols over the primed bits. Raises `ValueError` for a temporal
        operator, and for a primed symbol where ``joint`` is not set.
        """
        key = (reading(formula, env), joint)
        if key not in self._memo:
            self._memo[key] = self._compile(formula, env, joint)
        return self._memo[key]

    def _compile(self, formula: Formula, env: Environment, joint: bool) -> Bdd:
        m = self.manager

        def here(f: Formula) -> Bdd:
            return self.formula(f, env, joint=joint)

        match formula:
            case Truth(value):
                return m.true if value else m.false
            case Equal(left, right):
                return self.encoding.equal(denoted(left, env), denoted(right, env))
            case Compare(ordering, left, right):
                return self.encoding.compares(ordering, formula.sort, denoted(left, env), denoted(right, env))
            case Atom(relation, args, primed):
                if primed and not joint:
                    raise ValueError(f"primed symbol outside `ensure`: {formula}")
                refuse_unknown(relation, self.encoding.schema)
                return self.encoding.relation(relation, tuple(denoted(t, env) for t in args), primed)
            case Not(body):
                return ~here(body)
            case And():
                return m.conj(map(here, merged(formula, self.single)))
            case Or(parts):
                return m.disj(map(here, parts))
            case Implies(left, right):
                return ~here(left) | here(right)
            case Iff(left, right):
                return here(left).equiv(here(right))
            case Exists(binder, body):
                return self._exists(binder, body, env, joint)
            case Forall(binder, body):
                return ~self._exists(binder, Not(body), env, joint)
            case Count():
                return self._counted(formula, env, joint)
            case Same(relation):
                facts = self.encoding.dynamic_facts[relation]
                atom = self.encoding.atom
                return m.conj(atom(fact, primed=True).equiv(atom(fact)) for fact in facts)
            case Empty(relation):
                if self.encoding.static_facts[relation]:
                    return m.false
                facts = self.encoding.dynamic_facts[relation]
                return m.conj(~self.encoding.atom(fact, primed=True) for fact in facts)
            case Use():
                raise unexpanded(formula)
            case Next() | Future() | Globally() | Until():
                raise ValueError(f"temporal operator in a first-order formula: {formula}")
            case _:
                assert_never(formula)

    def _exists(self, binder: Binder, body: Formula, env: Environment, joint: bool) -> Bdd:
        """∃ bits(x). active(x) ∧ ⟦body⟧ for the variable x that is bound."""
        vector = self.bound_vector(binder, env)
        inner = self.formula(body, {**env, binder.name: vector}, joint=joint)
        among = self.ranging(binder, vector, body, joint=joint) & self.encoding.care
        return self.manager.and_exist(frozenset(vector.bits), among, inner)

    def _counted(self, formula: Count, env: Environment, joint: bool) -> Bdd:
        """The number of values x with active(x) ∧ ⟦body⟧ compares as asked."""
        binder, body = formula.binder, formula.body
        vector = self.bound_vector(binder, env)
        inner = self.formula(body, {**env, binder.name: vector}, joint=joint)
        guarded = inner & self.ranging(binder, vector, body, joint=joint)
        return self.compare_count(formula.comparison, formula.number, vector, guarded)

    def ranging(self, binder: Binder, vector: Vector, body: Formula, *, joint: bool = False) -> Bdd:
        """A function whose conjunction with ⟦body⟧ is active(x) ∧ ⟦body⟧ for the variable x that is bound,
        given its vector; of `x in s` any declared value does."""
        if implies_active(body, binder.name):
            return self.manager.true
        if binder.declared:
            return self.encoding.valid(vector)
        active = self.encoding.active(vector.sort, vector)
        return active | self.encoding.active(vector.sort, vector, primed=True) if joint else active

    def conjuncts(self, formula: Formula, env: Environment) -> Iterator[Bdd]:
        """Sets whose intersection is ⟦f⟧: one per conjunct of f."""
        parts = merged(formula, self.single) if isinstance(formula, And) else (formula,)
        return (self.formula(conjunct, env) for part in parts for conjunct in conjuncts(part))

    def offered(self, tool: Tool, terms: Sequence[Vector | Value]) -> Bdd:
        """Where the call of the tool with these arguments is offered: the guard holds, and arguments of
        unbounded sorts are active."""
        return self.manager.conj(self.offering(tool, terms))

    def offering(self, tool: Tool, terms: Sequence[Vector | Value]) -> Iterator[Bdd]:
        """Sets whose intersection is `offered`."""
        env = {binder.name: term for binder, term in zip(tool.params, terms, strict=True)}
        yield from (self._possible(binder.sort, env[binder.name]) for binder in tool.params)
        yield from self.conjuncts(tool.guard, env)

    def _possible(self, sort: str, argument: Vector | Value) -> Bdd:
        """The argument is one that a parameter of the sort ranges over."""
        if self.encoding.schema.sort(sort).values is None:
            return self.encoding.active(sort, argument)
        return self.manager.true if isinstance(argument, str) else self.encoding.valid(argument)

    def bound_vector(self, binder: Binder, env: Environment) -> Vector:
        """The first vector of the binder's sort that nothing in scope uses."""
        return self.encoding.unused(binder.sort, env.values(), self.role)

    def compare_count(self, comparison: str, number: int, vector: Vector, member: Bdd) -> Bdd:
        """Whether the number of values v with member[vector = v] compares as asked.

        A count is a symmetric function: the table over "how many so far" has n·k entries for n
        values and a number k, and the diagram no more levels than that per member.
        """
        m = self.manager
        members = [
            m.cofactor(member, self.encoding.code(vector, value))
            for value in self.encoding.values[vector.sort]
        ]
        match comparison:
            case "atleast":
                return m.at_least(number, members)
            case "atmost":
                return ~m.at_least(number + 1, members)
            case _:
                return m.at_least(number, members) & ~m.at_least(number + 1, members)


def reading(formula: Formula, env: Environment) -> Reading:
    """A formula with what ``env`` says of its free variables."""
    return formula, tuple(sorted((x, env[x]) for x in free_variables(formula)))


def denoted(term: Term, env: Environment) -> Vector | Value:
    """What a term stands for."""
    return value_of(term, env)
