"""Relaxed reachability: the facts that some sequence of effects could ever make true.

This is the grounding of AI planning, but with relations as diagrams over log-coded columns, so that
first-order guards of any form can be evaluated. Deletions are ignored, so facts only accumulate. A formula
has two interpretations: what it *may* be (an over-approximation, from the facts reached so far) and what it
*must* be (from the facts that nothing deletes). may(¬f) = ¬must(f) and must(¬f) = ¬may(f).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import count
from typing import Protocol, assert_never

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.following import Kept, LastStep, SinceThen
from stead_sym.deployment.history import begun
from stead_sym.deployment.integer_terms import without_integer_terms
from stead_sym.deployment.tool import Assign, Choose, Clear, Delete, Effect, Ensure, Fresh, Insert, Tool
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits
from stead_sym.engines.symbolic.encode.encoding import Encoding
from stead_sym.engines.symbolic.encode.representatives import Place
from stead_sym.engines.symbolic.encode.values import Vector, bits_of
from stead_sym.engines.symbolic.step.formulas import Environment, denoted
from stead_sym.engines.symbolic.step.integers import Integers
from stead_sym.logic.integers import linear_in
from stead_sym.logic.kernel import Core, core, outside_kernel
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value
from stead_sym.support.progress import Report


class FreshValues(Protocol):
    """A function that returns the possible values of a fresh variable of an alternative.

    They are over its vector and those of the variables before it, whose joint values are ``possible``.
    """

    def __call__(self, place: Place, binder: fo.Binder, scope: Environment, possible: Bdd, /) -> Bdd:
        """Return the possible values of the fresh variable."""
        ...


class Relaxation:
    """The facts over ``values`` that may come to hold, and those of D0 that must keep holding."""

    def __init__(
        self,
        deployment: Deployment,
        encoding: Encoding,
        fresh: FreshValues,
        ensured: Mapping[str, Sequence[Value]],
        single: Set[str],
        report: Report,
        starting: Mapping[str, Sequence[Value]],
    ) -> None:
        """Compute the relaxation.

        ``encoding`` has no fields, only vectors. ``fresh`` returns the possible values of a fresh variable,
        ``starting`` are those in a D0 of `initially any`, and ``ensured`` those of each sort that an `ensure`
        may introduce besides values that may be active already. The relations of ``single`` are assumed to
        hold at most one fact: a formula is evaluated for each choice of that fact, so that two atoms of it
        refer to the same one.
        """
        self.deployment = deployment
        self.encoding = encoding
        self.manager = encoding.manager
        self._fresh = fresh
        self._ensured = ensured
        self._report = report
        self._starting = starting
        schema = deployment.schema
        self._relations = {relation.name: relation for relation in (*schema.relations, *schema.history)}
        self._columns = {
            name: tuple(encoding.vector("col", sort, k) for k, sort in enumerate(relation.sorts))
            for name, relation in self._relations.items()
        }
        self._only = self._single_facts(single)
        start = begun(deployment, deployment.init)
        given = {name: self._set_of(name, start.tuples(name)) for name in self._relations}
        self.must = {**given, **dict.fromkeys(self._told, self.manager.false)}
        self.may = dict(given)
        self.may.update(self._may_initially())
        self._compute()

    def _may_initially(self) -> Mapping[str, Bdd]:
        """Return the facts that some D0 may hold of the relations of `initially any`.

        They are those over the possible values in a D0, except those that a conjunct `forall x. P(x) -> f` of
        the condition excludes whatever else holds. The facts of `init` are always among them: if the
        condition excludes one, there is no D0.
        """
        lines, encoding, m = self.deployment.initially, self.encoding, self.manager
        if lines is None:
            return {}
        for name in lines.relations:
            columns = self._columns[name]
            self.may[name] = m.conj(encoding.is_among(v, self._starting[v.sort]) for v in columns)
        found = dict(self.may)
        for part in fo.conjuncts(lines.where):
            binders: dict[str, fo.Binder] = {}
            while isinstance(part, fo.Forall):
                binders[part.binder.name] = part.binder
                part = part.body
            match part:
                case fo.Implies(fo.Atom(name, args), right) if name in lines.relations:
                    names = [term.name for term in args if isinstance(term, fo.Var)]
                    if (
                        len(names) == len(args)
                        and len(set(names)) == len(names)
                        and binders.keys() == set(names)
                    ):
                        env = dict(zip(names, self._columns[name], strict=True))
                        bits, singles = self._single_bits, self._possible_singles()
                        admitted = m.and_exist(bits, singles, self.reads(right, env))
                        found[name] = found[name] & admitted
        return {name: found[name] | self.must[name] for name in lines.relations}

    @cached_property
    def _told(self) -> Mapping[str, Kept]:
        """The state's record of the past, by the names of its relations."""
        return {kept.relation.name: kept for kept in self.deployment.history.kept}

    # The result.

    @property
    def static(self) -> frozenset[Fact]:
        """The facts of D0 that nothing can delete."""
        return frozenset(fact for name in self._relations for fact in self._facts(name, self.must[name]))

    @property
    def dynamic(self) -> tuple[Fact, ...]:
        """The other facts that may ever hold."""
        return tuple(
            fact for name in self._relations for fact in self._facts(name, self.may[name] & ~self.must[name])
        )

    def _facts(self, name: str, tuples: Bdd) -> Iterator[Fact]:
        vectors = self._columns[name]
        for args in self.encoding.tuples(tuples, vectors):
            if not any(map(self.encoding.is_beyond, args)):
                yield Fact(name, args)

    def _single_facts(self, single: Set[str]) -> Mapping[str, tuple[str, tuple[Vector, ...]]]:
        """Return, for each single relation, a bit for its having a fact, and vectors for the fact."""
        taken: Counter[str] = Counter()
        only: dict[str, tuple[str, tuple[Vector, ...]]] = {}
        for name in sorted(single):
            vectors = []
            for sort in self._relations[name].sorts:
                vectors.append(self.encoding.vector("only", sort, taken[sort]))
                taken[sort] += 1
            bit = f"only {name}"
            self.manager.declare_bottom([bit])
            only[name] = (bit, tuple(vectors))
        return only

    def _possible_singles(self) -> Bdd:
        """Return the possible facts of the single relations."""
        m = self.manager
        return m.conj(
            ~m.var(bit) | self._among(self.may[name], name, vectors)
            for name, (bit, vectors) in self._only.items()
        )

    @cached_property
    def _single_bits(self) -> Bits:
        return frozenset(b for bit, vectors in self._only.values() for b in (bit, *bits_of(vectors)))

    # The fixpoint.

    def _compute(self) -> None:
        """Let the facts that may hold grow, and those that must hold shrink, up to the fixpoint."""
        for rounds in count(1):
            before = (dict(self.may), dict(self.must))
            for tool in self.deployment.tools_and_events:
                self._report(rounds=rounds)
                self._apply(tool)
            for kept in self._told.values():
                self._keep(kept)
            if (self.may, self.must) == before:
                return

    def _apply(self, tool: Tool) -> None:
        m = self.manager
        env: dict[str, Vector | Value] = {}
        allowed = self._possible_singles()
        for param in tool.params:
            env[param.name] = vector = self.bound_vector(param, env)
            finite = self.deployment.schema.is_finite(vector.sort)
            allowed = allowed & (self.encoding.valid(vector) if finite else self.active(vector))
        allowed = allowed & self.reads(tool.guard, env)
        for name, kept in self._told.items():
            if isinstance(kept, LastStep) and kept.tool == tool.name:
                terms = [env[tool.params[place].name] for place in kept.places]
                self.may[name] = self.may[name] | self._as_tuples(name, terms, env, allowed)
        for number, effect in enumerate(tool.effects):
            if effect.is_ensure:
                for name in self._relations.keys() - self._told.keys():
                    if not _kept(effect, name):
                        self.may[name] = m.conj(map(self._may_be_ensured, self._columns[name]))
                        self.must[name] = m.false
                continue
            place = (tool.name, number)
            scope, possible = self._scope(place, effect, env, allowed & self.reads(effect.when, env))
            for statement in without_integer_terms(effect, self.deployment.schema).statements:
                match statement:
                    case Insert(atom):
                        written = self._written(statement, scope, possible)
                        self.may[atom.relation] = self.may[atom.relation] | written
                    case Delete(atom):
                        written = self._written(statement, scope, possible)
                        self.must[atom.relation] = self.must[atom.relation] & ~written
                    case Clear(relations):
                        if possible != m.false:
                            self.must.update(dict.fromkeys(relations, m.false))
                    case Choose() | Fresh() | Ensure():
                        pass
                    case Assign():
                        raise AssertionError(f"{statement} is not expanded")
                    case _:
                        assert_never(statement)

    def _keep(self, kept: Kept) -> None:
        """Add the formulas of the past that may be true.

        Their values may be active or are constants, and the formula that makes them true may hold.
        """
        if isinstance(kept, LastStep):
            return  # handled with its tool
        env: dict[str, Vector | Value] = {}
        possible, relation = self._possible_singles(), kept.relation
        for name, sort in zip(kept.variables, relation.sorts, strict=True):
            env[name] = vector = self.bound_vector(fo.Binder(name, sort), env)
            among = self.active(vector) | self.encoding.is_among(vector, self.deployment.constants[sort])
            possible = possible & among
        possible = possible & self.reads(kept.right if isinstance(kept, SinceThen) else kept.body, env)
        found = self._as_tuples(relation.name, [env[name] for name in kept.variables], env, possible)
        self.may[relation.name] = self.may[relation.name] | found

    def _as_tuples(
        self, relation: str, terms: Sequence[Vector | Value], env: Environment, possible: Bdd
    ) -> Bdd:
        """Return the tuples of terms for the possible values of their variables.

        They are over the columns of a relation.
        """
        pairs = zip(self._columns[relation], terms, strict=True)
        equal = self.manager.conj(self.encoding.equal(column, term) for column, term in pairs)
        return self.manager.and_exist(self._bits(env) | self._single_bits, possible, equal)

    def _may_be_ensured(self, column: Vector) -> Bdd:
        """Return the values that a column may have after an `ensure`."""
        value = self.encoding.vector("var", column.sort, 0)
        values = self.encoding.is_among(value, self._ensured[column.sort]) | self.active(value)
        return self.manager.and_exist(frozenset(value.bits), values, self.encoding.equal(column, value))

    def _scope(
        self, place: Place, effect: Effect, env: Environment, possible: Bdd
    ) -> tuple[Environment, Bdd]:
        """Return the variables in scope at the end of an effect, and their possible joint values."""
        scope = dict(env)
        for statement in effect.statements:
            match statement:
                case Choose(binder, where):
                    scope[binder.name] = vector = self.bound_vector(binder, scope)
                    constants = self.deployment.constants[vector.sort]
                    among = self.active(vector) | self.encoding.is_among(vector, constants)
                    possible = possible & among & self.reads(where, scope)
                case Fresh(binder):
                    vector = self.bound_vector(binder, scope)
                    scope[binder.name] = vector
                    possible = possible & self._fresh(place, binder, scope, possible)
                case _:
                    pass
        return scope, possible

    def _written(self, statement: Insert | Delete, scope: Environment, possible: Bdd) -> Bdd:
        """Return the tuples that a statement may write, over the columns of its relation."""
        m = self.manager
        hidden = {b.name: scope[b.name] for b in statement.binders if b.name in scope}
        possible = m.exist(self._bits(hidden), possible)
        inner = dict(scope)
        for binder in statement.binders:
            inner[binder.name] = vector = self.bound_vector(binder, inner)
            possible = possible & (self.encoding.valid(vector) if binder.declared else self.active(vector))
        possible = possible & self.reads(statement.where, inner)
        terms = [denoted(term, inner) for term in statement.atom.args]
        return self._as_tuples(statement.atom.relation, terms, inner, possible)

    # Three-valued formulas.

    def reads(self, formula: fo.Formula, env: Environment, must: bool = False) -> Bdd:
        """Return the assignments under which the formula may hold in some state, an over-approximation.

        With ``must`` return those under which it must hold in every state, an under-approximation.
        """
        return self._reads(core(formula), env, must)

    def _reads(self, formula: Core, env: Environment, must: bool) -> Bdd:
        def here(f: Core) -> Bdd:
            return self._reads(f, env, must)

        match formula:
            case fo.Truth(value):
                return self.manager.true if value else self.manager.false
            case fo.Equal() | fo.Compare() if (
                form := linear_in(formula, env, self.encoding.schema)
            ) is not None:
                if any(isinstance(part, fo.Tally) for part, _ in form.parts):
                    return self.manager.false if must else self.manager.true
                return Integers(self.encoding).compared(form, env, False)
            case fo.Equal(left, right):
                return self.encoding.equal(denoted(left, env), denoted(right, env))
            case fo.Compare(ordering, left, right):
                return self.encoding.compares(ordering, formula.sort, denoted(left, env), denoted(right, env))
            case fo.Atom(relation, args):
                return self._holds(relation, [denoted(term, env) for term in args], must)
            case fo.Not(body):
                return ~self._reads(body, env, not must)
            case fo.And(parts):
                return self.manager.conj(map(here, parts))
            case fo.Iff(left, right):
                return here(left) & here(right) | here(fo.Not(left)) & here(fo.Not(right))
            case fo.Exists(binder, body):
                return self._some(binder, body, env, must)
            case fo.Count("atleast", number, binder, body):
                return self._at_least(number, binder, body, env, must)
            case fo.Same() | fo.Empty() | fo.Next() | fo.Globally() | fo.Until():
                raise ValueError(f"not a first-order formula over one state: {formula}")
            case _:
                raise outside_kernel(formula)

    def _at_least(self, number: int, binder: fo.Binder, body: Core, env: Environment, must: bool) -> Bdd:
        """Return the assignments under which at least ``number`` active values satisfy the body.

        For more than one this is approximated: they may if one value may, and they are never known to.
        """
        if number <= 0:
            return self.manager.true
        return self.manager.false if must and number > 1 else self._some(binder, body, env, must)

    def _some(self, binder: fo.Binder, body: Core, env: Environment, must: bool) -> Bdd:
        vector = self.bound_vector(binder, env)
        inner = self._reads(body, {**env, binder.name: vector}, must)
        among = self.encoding.valid(vector) if binder.declared else self.active(vector, must)
        return self.manager.and_exist(frozenset(vector.bits), among, inner)

    def _holds(self, relation: str, terms: Sequence[Vector | Value], must: bool) -> Bdd:
        if relation in self._only:
            bit, vectors = self._only[relation]
            pairs = zip(vectors, terms, strict=True)
            return self.manager.conj([self.manager.var(bit), *(self.encoding.equal(v, t) for v, t in pairs)])
        return self._among((self.must if must else self.may)[relation], relation, terms)

    def _among(self, tuples: Bdd, relation: str, terms: Sequence[Vector | Value]) -> Bdd:
        """Return terms ∈ tuples, a set over the columns of the relation."""
        m, columns = self.manager, self._columns[relation]
        equal = m.conj(self.encoding.equal(c, t) for c, t in zip(columns, terms, strict=True))
        return m.and_exist(frozenset(bits_of(columns)), tuples, equal)

    def active(self, vector: Vector, must: bool = False) -> Bdd:
        """Return the values that may occur in some fact, or must."""
        m = self.manager
        found = []
        for name, relation in self._relations.items():
            if relation.tells_history:
                continue
            columns = self._columns[name]
            for k, sort in enumerate(relation.sorts):
                if sort == vector.sort:
                    tuples = (self.must if must else self.may)[name]
                    bits = frozenset(bits_of(columns))
                    found.append(m.and_exist(bits, tuples, self.encoding.equal(columns[k], vector)))
        return m.disj(found)

    def bound_vector(self, binder: fo.Binder, env: Environment) -> Vector:
        """Return the first vector of the binder's sort that is unused in the scope."""
        return self.encoding.unused(binder.sort, env.values())

    def _bits(self, env: Environment) -> Bits:
        return frozenset(bits_of(env.values()))

    def _set_of(self, name: str, tuples: Iterable[tuple[Value, ...]]) -> Bdd:
        """Return a set of tuples over the columns of a relation."""
        columns = self._columns[name]
        return self.encoding.choice(columns, [(args, self.manager.true) for args in tuples])


def _kept(effect: Effect, relation: str) -> bool:
    """Return True if `same` of the relation is a conjunct of an `ensure`."""
    return any(
        isinstance(part, fo.Same) and part.relation == relation
        for statement in effect.statements
        if isinstance(statement, Ensure)
        for part in fo.conjuncts(statement.formula)
    )
