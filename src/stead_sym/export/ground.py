"""Translate sentences of first-order CTL to propositional CTL over the nodes of an export.

One decision: a quantifier is a conjunction or disjunction over names if names are persistent, and a *step* of
the graph if they are not.

*Persistent names.* Within one state every value has a name; under a temporal operator it keeps the name if
the name is a constant, or the domain is literal. Then, with σ the values of the variables so far,

    g(exists x. f)σ = ⋁_u active(u) ∧ g(f)σ[x := u],     g(P(t))σ = the proposition `P(σ(t)) holds`.

*Other names.* With representatives a value that dies loses its name, and a reborn value may get any name. Let
x be *held*: its sort has values outside C, and x is free in a temporal operator of f. The nodes of an export
are then triples (V, D, ν) of a *layer* V (the slots that hold values), a state D and the values ν of the
slots of V (`layers`). There are two kinds of edges:

    moves          (V, D, ν) → (V, D', ν')               if D → D' and ν' is ν after that step;
    assignments    (V, D, ν) → (V ∪ {x}, D, ν[x := u])   for each u active in D.

No edge leads back to a smaller layer. So a path from a node of layer V that ends in V has been in V all the
time, and is a run of (D, ν). Write V for the proposition `the layer is V`. Then

    g(exists x. f) = EX (V ∪ {x} ∧ g(f)),
    g(EX f) = EX (V ∧ g(f)),   g(E[f U h]) = E[g(f) U V ∧ g(h)],   g(EG f) = EG (V ∧ g(f)),

and the other operators by duality. By induction over f: (V, D, ν) ⊨ g(f) iff (D, ν) ⊨ f.

*Fairness.* A checker's path quantifiers range over the fair paths of the whole graph. A path changes its
layer finitely often and the constraints depend on D alone, so a fair path continues from (V, D, ν) iff a fair
run continues from D, and the path may stay in V. Hence the equations hold in every node whose state starts a
fair run, assignments included: they do not leave D. Only such nodes matter: a verdict is unknown if an
initial state starts no fair run, and EX and E[ U ] lead to states that start one.

The resulting sentences are formulas of `logic.syntax` whose atoms have no arguments; `W` is not among the
operators, as `E[f W h] = E[f U h] ∨ EG f` and `A[f W h] = ¬E[¬h U ¬f ∧ ¬h]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.analyses.state_graph import StateGraph
from stead_sym.deployment.deployment import Deployment
from stead_sym.errors import Undecided
from stead_sym.export.names import Active, Holds, InLayer, Layer, Named, Names, Same, Slot
from stead_sym.logic.evaluate import compares, declared, value_of
from stead_sym.logic.folding import conjoin, disjoin, negate
from stead_sym.logic.integers import decided, grounded, linear
from stead_sym.logic.kernel import core, outside_kernel
from stead_sym.relational.schema import Value

Denoted: TypeAlias = Value | Slot
"""The denotation of a variable: a name, or the value of a slot."""

MAX_PARTS = 200_000
"""The maximum number of subformulas of a sentence after its quantifiers are expanded."""


@dataclass
class Grounding:
    """The translation g for the sentences over one graph.

    ``mortal`` are the sorts whose names are not persistent across steps. ``layers`` are the layers of all
    sentences, computed before any of them is translated (`held_layers`): if the empty one is the only layer,
    there are no propositions for layers.
    """

    deployment: Deployment
    graph: StateGraph
    mortal: frozenset[str]
    layers: frozenset[Layer]
    names: Names
    _parts: int = field(default=0, init=False)

    def sentence(self, formula: fo.Expanded) -> fo.Formula:
        """Return g(f) in the empty layer. Raise `Undecided` if it has more than `MAX_PARTS` parts."""
        self._parts = 0
        ground = self._ground(core(formula), {}, ())
        for _ in fo.subformulas(ground):
            self._count()
        return ground

    @property
    def _layered(self) -> bool:
        return self.layers != {()}

    def _ground(self, formula: fo.Formula, sigma: Mapping[str, Denoted], layer: Layer) -> fo.Formula:
        self._count()

        def here(f: fo.Formula) -> fo.Formula:
            return self._ground(f, sigma, layer)

        match formula:
            case fo.Truth():
                return formula
            case fo.Equal() | fo.Compare() if (form := linear(formula)) is not None:
                items, constant = grounded(
                    form, sigma, self._ranging, lambda f, s: self._ground(f, s, layer), conjoin
                )
                return decided(form.ordering, constant, items, self._choice, fo.TRUE, fo.FALSE)
            case fo.Equal(left, right):
                return self._equal(value_of(left, sigma), value_of(right, sigma))
            case fo.Compare(_, left, right):
                values = _name(value_of(left, sigma)), _name(value_of(right, sigma))
                return fo.Truth(compares(formula, *values, self.deployment.schema))
            case fo.Atom(relation, args, primed=False):
                return self._atom(relation, args, sigma)
            case fo.Not(body):
                return dual(here(body))
            case fo.And(parts):
                return conjoin(*map(here, parts))
            case fo.Iff(left, right):
                f, h = here(left), here(right)
                return disjoin(conjoin(f, h), conjoin(dual(f), dual(h)))
            case fo.Exists(binder, body):
                if held(binder, body, self.mortal):
                    return self._assigned(binder, body, sigma, layer)
                return disjoin(*self._instances(binder, body, sigma, layer))
            case fo.Count("atleast", number, binder, body):
                return self._at_least(number, list(self._instances(binder, body, sigma, layer)))
            case fo.Next("E", body):
                return self._next(here(body), layer)
            case fo.Globally("E", body):
                return self._globally(here(body), layer)
            case fo.Until("E", left, right, weak=False):
                return self._until(here(left), here(right), layer)
            case fo.Same() | fo.Empty() | fo.Atom():
                raise ValueError(f"a formula about the next state outside `ensure`: {formula}")
            case _:
                raise outside_kernel(formula)

    def _count(self, parts: int = 1) -> None:
        self._parts += parts
        if self._parts > MAX_PARTS:
            raise Undecided(
                f"a specification has more than {MAX_PARTS:,} parts once its quantifiers are written out;"
                " export it with smaller bounds, or leave it out"
            )

    # First-order clauses.

    def _equal(self, left: Denoted, right: Denoted) -> fo.Formula:
        match left, right:
            case Slot(), Slot():
                if left == right:
                    return fo.TRUE
                return self.names.atom(Same(*sorted((left, right)))) if left.sort == right.sort else fo.FALSE
            case Slot(), str():
                return self._named(left, right)
            case str(), Slot():
                return self._named(right, left)
            case _:
                return fo.Truth(left == right)

    def _named(self, slot: Slot, value: Value) -> fo.Formula:
        can_be_held = value in self.graph.active[slot.sort]
        return self.names.atom(Named(slot, value)) if can_be_held else fo.FALSE

    def _atom(self, relation: str, args: Sequence[fo.Term], sigma: Mapping[str, Denoted]) -> fo.Formula:
        """Return P(t): the disjunction of the facts that the atom may denote."""
        denoted = [value_of(term, sigma) for term in args]
        return disjoin(
            *(
                conjoin(
                    *(self._equal(d, u) for d, u in zip(denoted, fact.args, strict=True)),
                    self.names.atom(Holds(fact)),
                )
                for fact in self.graph.facts
                if fact.relation == relation and _may_be(denoted, fact.args)
            )
        )

    def _instances(
        self, binder: fo.Binder, body: fo.Formula, sigma: Mapping[str, Denoted], layer: Layer
    ) -> Iterator[fo.Formula]:
        """Yield, per value u, that it is active and satisfies the body; for `x in s` per declared value."""
        if binder.declared:
            for u in declared(self.deployment.schema, binder):
                yield self._ground(body, {**sigma, binder.name: u}, layer)
        elif held(binder, body, self.mortal):
            slot, above, f = self._above(binder, body, sigma, layer)
            for u in self.graph.active[binder.sort]:
                yield fo.Next("E", conjoin(self._in(above), self._named(slot, u), f))
        else:
            for u in self.graph.active[binder.sort]:
                f = self._ground(body, {**sigma, binder.name: u}, layer)
                yield conjoin(self.names.atom(Active(binder.sort, u)), f)

    def _ranging(
        self, binder: fo.Binder, body: fo.Formula, sigma: Mapping[str, Denoted]
    ) -> Iterator[tuple[fo.Formula, Value]]:
        """Yield the values of a variable of a tally, each with the condition that it is in the domain."""
        if binder.declared:
            yield from ((fo.TRUE, u) for u in declared(self.deployment.schema, binder))
        else:
            active = self.graph.active[binder.sort]
            yield from ((self.names.atom(Active(binder.sort, u)), u) for u in active)

    def _choice(self, condition: fo.Formula, then: fo.Formula, otherwise: fo.Formula) -> fo.Formula:
        if then is otherwise:
            return then
        self._count()
        return disjoin(conjoin(condition, then), conjoin(dual(condition), otherwise))

    def _at_least(self, number: int, members: Sequence[fo.Formula]) -> fo.Formula:
        """Return the formula that at least ``number`` of the members hold."""
        if number > len(members):
            return fo.FALSE
        self._count(comb(len(members), number))
        enough: list[fo.Formula] = [
            fo.TRUE,
            *[fo.FALSE] * number,
        ]  # enough[k]: at least k of the members so far
        for member in members:
            for k in range(number, 0, -1):
                enough[k] = disjoin(enough[k], conjoin(member, enough[k - 1]))
        return enough[number]

    # Layers.

    def _assigned(
        self, binder: fo.Binder, body: fo.Formula, sigma: Mapping[str, Denoted], layer: Layer
    ) -> fo.Formula:
        _, above, f = self._above(binder, body, sigma, layer)
        return fo.Next("E", conjoin(self._in(above), f))

    def _above(
        self, binder: fo.Binder, body: fo.Formula, sigma: Mapping[str, Denoted], layer: Layer
    ) -> tuple[Slot, Layer, fo.Formula]:
        """Return the slot for the variable, the layer above this one, and the body there."""
        slot = next_slot(layer, binder.sort)
        above = (*layer, slot)
        return slot, above, self._ground(body, {**sigma, binder.name: slot}, above)

    def _in(self, layer: Layer) -> fo.Formula:
        return self.names.atom(InLayer(layer)) if self._layered else fo.TRUE

    # The temporal kernel.

    def _next(self, f: fo.Formula, layer: Layer) -> fo.Formula:
        return fo.Next("E", conjoin(self._in(layer), f))

    def _until(self, f: fo.Formula, h: fo.Formula, layer: Layer) -> fo.Formula:
        goal = conjoin(self._in(layer), h)  # a path that ends in a layer has never left it
        return fo.Future("E", goal) if f == fo.TRUE else fo.Until("E", f, goal)

    def _globally(self, f: fo.Formula, layer: Layer) -> fo.Formula:
        return fo.Globally("E", conjoin(self._in(layer), f))


def held(binder: fo.Binder, body: fo.Formula, mortal: frozenset[str]) -> bool:
    """Return True if the variable holds a value across steps whose name is not persistent."""
    return binder.sort in mortal and _under_time(binder.name, body)


def _under_time(name: str, formula: fo.Formula) -> bool:
    """Return True if the variable is free in the formula, inside a temporal operator."""
    match formula:
        case fo.Next() | fo.Future() | fo.Globally() | fo.Until():
            return name in fo.free_variables(formula)
        case fo.Exists(binder) | fo.Forall(binder) | fo.Count(_, _, binder) if binder.name == name:
            return False
        case _:
            return any(_under_time(name, child) for child in fo.children(formula))


def held_layers(formulas: Iterable[fo.Expanded], mortal: frozenset[str]) -> frozenset[Layer]:
    """Return the layers of the sentences, including the empty one."""
    found: set[Layer] = {()}

    def collect(formula: fo.Formula, layer: Layer) -> None:
        match formula:
            case fo.Exists(binder, body) | fo.Forall(binder, body) | fo.Count(_, _, binder, body):
                if held(binder, body, mortal):
                    layer = (*layer, next_slot(layer, binder.sort))
                    found.add(layer)
        for child in fo.children(formula):
            collect(child, layer)

    for formula in formulas:
        collect(formula, ())
    return frozenset(found)


def next_slot(layer: Layer, sort: str) -> Slot:
    """Return the slot for one more value."""
    return Slot(len(layer) + 1, sort)


def _may_be(denoted: Sequence[Denoted], args: Sequence[Value]) -> bool:
    """Return True if the terms may denote the fact's values."""
    return all(isinstance(d, Slot) or d == u for d, u in zip(denoted, args, strict=True))


def _name(denoted: Denoted) -> Value:
    """Return the name that a variable of a finite sort denotes."""
    assert isinstance(denoted, str), "the values of a finite sort keep their names"
    return denoted


def dual(formula: fo.Formula) -> fo.Formula:
    """Return ¬f, with the negation pushed inwards as far as possible.

    ¬EX f = AX ¬f and the like hold over all paths as well as over the fair ones. So an exported formula
    resembles the written one, and has few forms.
    """
    match formula:
        case fo.And(parts):
            return disjoin(*map(dual, parts))
        case fo.Or(parts):
            return conjoin(*map(dual, parts))
        case fo.Next(path, body):
            return fo.Next(_DUAL[path], dual(body))
        case fo.Future(path, body):
            return fo.Globally(_DUAL[path], dual(body))
        case fo.Globally(path, body):
            return fo.Future(_DUAL[path], dual(body))
        case _:
            return negate(formula)


_DUAL: Mapping[fo.Path, fo.Path] = {"A": "E", "E": "A"}
