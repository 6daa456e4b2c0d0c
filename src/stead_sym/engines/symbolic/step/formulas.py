"""First-order formulas as BDDs over state bits and the vectors of their free variables.

Integers are compared item by item (`logic.integers`): for a number in a log-coded vector each bit is an item,
for a tally each fact that it counts.

One decision: ⟦∃x. f⟧ = ∃ bits(x). active(x) ∧ ⟦f⟧. A quantifier becomes a quantification over the bits of a
vector, and a formula is never expanded into one copy per value. If f implies active(x) (`logic.activity`),
active(x) is omitted: for a value that any record may hold it is as large as the database, next to each
record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.deployment.tool import Tool
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.encode.encoding import Encoding
from stead_sym.engines.symbolic.encode.values import Vector
from stead_sym.engines.symbolic.step.integers import Integers
from stead_sym.engines.symbolic.step.single_facts import merged
from stead_sym.logic.activity import implies_active
from stead_sym.logic.evaluate import refuse_unknown, value_of
from stead_sym.logic.integers import linear_in
from stead_sym.logic.kernel import Core, core, outside_kernel
from stead_sym.relational.schema import Value

Environment: TypeAlias = Mapping[str, Vector | Value]
"""The vector or the fixed value of each variable in scope."""

Reading: TypeAlias = tuple[fo.Formula, tuple[tuple[str, Vector | Value], ...]]
"""A formula with the vectors or values of its free variables, which determine its meaning."""


class Compiler:
    """A compiler of formulas over one encoding, with a cache.

    ``role`` is that of bound variables' vectors (`Values.vector`). ``single``: relations that hold at most
    one fact in every state that matters. Results are correct on `Encoding.care`, in such states, if one-hot
    vectors have a value.
    """

    def __init__(self, encoding: Encoding, role: str = "var", single: Set[str] = frozenset()) -> None:
        self.encoding = encoding
        self.role = role
        self.single = single
        self.manager = encoding.manager
        self._memo: dict[tuple[Reading, bool], Bdd] = {}

    def formula(self, formula: fo.Expanded, env: Environment, *, joint: bool = False) -> Bdd:
        """Return ⟦f⟧ over the state bits and the vectors that ``env`` gives to f's free variables.

        With ``joint`` the formula is interpreted over D ⊕ D' (an `ensure`): quantifiers range over ad(D ⊕ D')
        and primed symbols over the primed bits. Raise `ValueError` for a temporal operator, and for a primed
        symbol without ``joint``.
        """
        return self._compiled(core(formula), env, joint)

    def _compiled(self, formula: Core, env: Environment, joint: bool) -> Bdd:
        if isinstance(formula, fo.Not):
            return ~self._compiled(formula.body, env, joint)
        key = (reading(formula, env), joint)
        if key not in self._memo:
            self._memo[key] = self._compile(formula, env, joint)
        return self._memo[key]

    def compiled(self, formula: Core, env: Environment, joint: bool) -> Bdd:
        """Return `formula` for a formula of the kernel."""
        return self._compiled(formula, env, joint)

    def _compile(self, formula: Core, env: Environment, joint: bool) -> Bdd:
        m = self.manager

        def here(f: Core) -> Bdd:
            return self._compiled(f, env, joint)

        match formula:
            case fo.Truth(value):
                return m.true if value else m.false
            case fo.Equal() | fo.Compare() if (
                form := linear_in(formula, env, self.encoding.schema)
            ) is not None:
                own = {
                    name: env[name] for name in fo.free_variables(formula)
                }  # all that the diagram depends on
                return self._integers.compared(form, own, joint)
            case fo.Equal(left, right):
                return self.encoding.equal(denoted(left, env), denoted(right, env))
            case fo.Compare(ordering, left, right):
                return self.encoding.compares(ordering, formula.sort, denoted(left, env), denoted(right, env))
            case fo.Atom(relation, args, primed):
                if primed and not joint:
                    raise ValueError(f"primed symbol outside `ensure`: {formula}")
                refuse_unknown(relation, self.encoding.schema)
                return self.encoding.relation(relation, tuple(denoted(t, env) for t in args), primed)
            case fo.And():
                return m.conj(map(here, merged(formula, self.single)))
            case fo.Iff(left, right):
                return here(left).equiv(here(right))
            case fo.Exists(binder, body):
                return self._exists(binder, body, env, joint)
            case fo.Count("atleast", number, binder, body):
                return self._at_least(number, binder, body, env, joint)
            case fo.Same(relation):
                facts = self.encoding.dynamic_facts[relation]
                atom = self.encoding.atom
                return m.conj(atom(fact, primed=True).equiv(atom(fact)) for fact in facts)
            case fo.Empty(relation):
                if self.encoding.static_facts[relation]:
                    return m.false
                facts = self.encoding.dynamic_facts[relation]
                return m.conj(~self.encoding.atom(fact, primed=True) for fact in facts)
            case _ if isinstance(formula, fo.Temporal):
                raise ValueError(f"temporal operator in a first-order formula: {formula}")
            case _:
                raise outside_kernel(formula)

    @cached_property
    def _integers(self) -> Integers:
        """The comparisons of integers; tallies are compiled by this class, whatever a subclass overrides."""
        plain = self if type(self) is Compiler else Compiler(self.encoding, single=self.single)
        return Integers(self.encoding, plain.counted)

    def counted(
        self,
        bound: Sequence[tuple[fo.Binder, Vector]],
        body: fo.Formula,
        env: Environment,
        joint: bool,
    ) -> Bdd:
        """Return where the body of a tally is true of the values that its variables range over."""
        ranging = (self.ranging(binder, vector, body, joint=joint) for binder, vector in bound)
        return self.manager.conj([self.compiled(body, env, joint), *ranging])

    def _exists(self, binder: fo.Binder, body: Core, env: Environment, joint: bool) -> Bdd:
        """Return ∃ bits(x). active(x) ∧ ⟦body⟧ for the bound variable x."""
        vector = self.bound_vector(binder, env)
        inner = self._compiled(body, {**env, binder.name: vector}, joint)
        among = (
            self.ranging(binder, vector, body, joint=joint)
            & self.encoding.care
            & self._some(binder, body, env)
        )
        return self.manager.and_exist(frozenset(vector.bits), among, inner)

    def _at_least(self, number: int, binder: fo.Binder, body: Core, env: Environment, joint: bool) -> Bdd:
        """Return the set where active(x) ∧ ⟦body⟧ for at least ``number`` values of the bound variable x."""
        vector = self.bound_vector(binder, env)
        inner = self._compiled(body, {**env, binder.name: vector}, joint)
        among = self.ranging(binder, vector, body, joint=joint) & self._some(binder, body, env)
        return self.so_many(number, vector, inner & among)

    def _some(self, binder: fo.Binder, body: Core, env: Environment) -> Bdd:
        """Return the condition that the one-hot vectors in the formula have a value.

        The bound variable is excepted, whose name may also be one of the scope. A code with several bits set
        encodes no value, and over all such codes a quantified function can have exponentially many nodes.
        """
        names = fo.free_variables(body) - {binder.name}
        terms = dict.fromkeys(env[name] for name in sorted(names) if name in env)
        one_hot = (term for term in terms if isinstance(term, Vector) and term.one_hot)
        return self.manager.conj(map(self.encoding.valid, one_hot))

    def ranging(self, binder: fo.Binder, vector: Vector, body: Core, *, joint: bool = False) -> Bdd:
        """Return a function whose conjunction with ⟦body⟧ is active(x) ∧ ⟦body⟧ for the bound variable x.

        It is over x's vector; for `x in s` any declared value qualifies.
        """
        if implies_active(body, binder.name):
            return self.manager.true
        if binder.declared:
            return self.encoding.valid(vector)
        active = self.encoding.active(vector.sort, vector)
        return active | self.encoding.active(vector.sort, vector, primed=True) if joint else active

    def conjuncts(self, formula: fo.Expanded, env: Environment) -> Iterator[Bdd]:
        """Yield sets whose intersection is ⟦f⟧: one per conjunct of f."""
        whole = core(formula)
        parts = merged(whole, self.single) if isinstance(whole, fo.And) else (whole,)
        return (self._compiled(conjunct, env, False) for part in parts for conjunct in fo.conjuncts(part))

    def offered(self, tool: Tool, terms: Sequence[Vector | Value]) -> Bdd:
        """Return the states in which the call of the tool with these arguments is offered.

        The guard holds, and arguments of unbounded sorts are active.
        """
        return self.manager.conj(self.offering(tool, terms))

    def offering(self, tool: Tool, terms: Sequence[Vector | Value]) -> Iterator[Bdd]:
        """Yield sets whose intersection is `offered`."""
        env = {binder.name: term for binder, term in zip(tool.params, terms, strict=True)}
        yield from (self._possible(binder.sort, env[binder.name]) for binder in tool.params)
        yield from self.conjuncts(tool.guard, env)

    def _possible(self, sort: str, argument: Vector | Value) -> Bdd:
        """Return the condition that the argument is in the domain of a parameter of the sort."""
        if not self.encoding.schema.is_finite(sort):
            return self.encoding.active(sort, argument)
        return self.manager.true if isinstance(argument, str) else self.encoding.valid(argument)

    def bound_vector(self, binder: fo.Binder, env: Environment) -> Vector:
        """Return the first vector of the binder's sort that is unused in the scope."""
        return self.encoding.unused(binder.sort, env.values(), self.role)

    def so_many(self, number: int, vector: Vector, member: Bdd) -> Bdd:
        """Return the condition that at least ``number`` values v have member[vector = v].

        A count is a symmetric function: for n values and a number k the table of partial counts has n·k
        entries, and the diagram has at most that many levels per member.
        """
        m, values = self.manager, self.encoding.values[vector.sort]
        return m.at_least(number, [m.cofactor(member, self.encoding.code(vector, value)) for value in values])


def reading(formula: fo.Formula, env: Environment) -> Reading:
    """Return a formula with the entries of ``env`` for its free variables."""
    return formula, tuple(sorted((x, env[x]) for x in fo.free_variables(formula)))


def denoted(term: fo.Term, env: Environment) -> Vector | Value:
    """Return the vector or the value that a term denotes."""
    return value_of(term, env)
