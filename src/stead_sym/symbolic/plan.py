"""From a deployment to what the engine works on: names, facts with bits, fields, compiled tools.

Two guesses are made on the way and confirmed: which variable fresh values are named after (`naming`)
and which relations are functional (`groups`). A guess that fails is given up and the plan made anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import Restriction, fresh_values
from stead_sym.logic.syntax import Binder
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value
from stead_sym.symbolic.compile import Compiler, Environment
from stead_sym.symbolic.effects import CompiledTool, EffectCompiler
from stead_sym.symbolic.encoding import Encoding, Vector
from stead_sym.symbolic.groups import Key, fields, singles
from stead_sym.symbolic.manager import Backend, Bdd, Manager
from stead_sym.symbolic.naming import Naming, Place, anchors
from stead_sym.symbolic.order import Order, arranged
from stead_sym.symbolic.relaxation import Relaxation
from stead_sym.symbolic.writes import Writer


@dataclass(frozen=True)
class Plan:
    """A deployment (definitions expanded) ready for exploration."""

    deployment: Deployment
    restriction: Restriction
    naming: Naming
    encoding: Encoding
    order: Order
    compiler: Compiler
    tools: Mapping[str, CompiledTool]


@dataclass
class Refused:
    """The guesses that turned out wrong."""

    anchors: set[Place] = field(default_factory=set)
    keys: set[Key] = field(default_factory=set)


def plan(
    deployment: Deployment,
    restriction: Restriction,
    literal: bool,
    marks: Mapping[str, int],
    refused: Refused,
    backend: Backend | None = None,
) -> Plan:
    """Compile a deployment for a restriction.

    ``literal``: fresh values are any unused ones of U_f; otherwise representatives, and vectors get
    ``marks`` codes per sort for dead values. ``refused`` is added to where a key is not invariant.
    """
    while True:
        prepared = _prepare(deployment, restriction, literal, refused, backend)
        order = arranged(fields(deployment, prepared.dynamic, refused.keys), prepared.static, deployment)
        encoding = Encoding(
            Manager(backend),
            deployment.schema,
            prepared.restriction.values,
            prepared.static,
            order.fields,
            fresh_values(deployment) if literal else marks,
        )
        compiler = Compiler(encoding)
        writer = Writer(compiler, prepared.single)
        effects = EffectCompiler(deployment, compiler, prepared.naming, writer)
        tools = {tool.name: effects.tool(tool) for tool in deployment.tools}
        if not writer.broken:
            return Plan(deployment, prepared.restriction, prepared.naming, encoding, order, compiler, tools)
        refused.keys |= writer.broken


@dataclass(frozen=True, slots=True)
class _Prepared:
    """The names that fresh values take, and the facts that need bits."""

    restriction: Restriction
    naming: Naming
    static: frozenset[Fact]
    dynamic: tuple[Fact, ...]
    single: Set[str]


def _prepare(
    deployment: Deployment,
    restriction: Restriction,
    literal: bool,
    refused: Refused,
    backend: Backend | None,
) -> _Prepared:
    """Relaxed reachability, which also finds the values of the anchors and so the names."""
    while True:
        tried = {} if literal else anchors(deployment, refused.anchors)
        namer = _Namer(deployment, restriction, literal, tried)
        encoding = Encoding(Manager(backend), deployment.schema, namer.values, (), (), namer.lacking)
        namer.encoding = encoding
        single = singles(deployment, refused.keys)
        facts = Relaxation(deployment, encoding, namer, single)
        if not (scarce := namer.scarce()):
            used = restriction.extended(namer.used())
            naming = Naming(literal, tried, namer.names)
            return _Prepared(used, naming, facts.static, facts.dynamic, single)
        refused.anchors |= scarce


class _Namer:
    """The fresh values that relaxed reachability allows; hands out the names of anchored ones."""

    encoding: Encoding

    def __init__(
        self,
        deployment: Deployment,
        restriction: Restriction,
        literal: bool,
        tried: Mapping[Place, Binder],
    ) -> None:
        self.deployment = deployment
        self.restriction = restriction
        self.literal = literal
        self.tried = tried
        self.names: dict[Place, dict[Value, dict[str, Value]]] = {place: {} for place in tried}
        self._overrun: set[Place] = set()
        self._taken: Counter[str] = Counter()  # per sort the most names that one anchor has taken
        self._fresh = {
            (tool.name, number): [str(binder.sort) for binder in effect.fresh]
            for tool in deployment.tools
            for number, effect in enumerate(tool.effects)
        }
        self.values = self._pool()
        # a fresh value that no fact comes to hold needs no room in U_f
        self.lacking = {
            s: 1 for s, known in self.values.items() if len(known) == len(deployment.constants[s])
        }

    def _pool(self) -> Mapping[str, tuple[Value, ...]]:
        """The restriction's values, and names enough for every value that an anchor could have."""
        values = dict(self.restriction.values)
        for place, anchor in self.tried.items():
            for sort, count in Counter(self._fresh[place]).items():
                wanted = len(values[str(anchor.sort)]) * count + len(self.deployment.constants[sort])
                missing = wanted - len(values[sort])
                if missing > 0:
                    values[sort] = self.restriction.values[sort] + self.restriction.beyond(sort, wanted)
        return values

    def __call__(self, place: Place, binder: Binder, scope: Environment, possible: Bdd) -> Bdd:
        m, sort = self.encoding.manager, str(binder.sort)
        vector = scope[binder.name]
        if place not in self.tried:
            constants = self.deployment.constants[sort]
            unused = [value for value in self.restriction.values[sort] if value not in constants]
            return m.disj(
                self.encoding.is_value(vector, value) for value in unused or self.encoding.phantoms[sort]
            )
        anchor = scope[self.tried[place].name]
        assert isinstance(anchor, Vector)
        others = frozenset(possible.support - set(anchor.bits))
        cases = m.cases(m.exist(others, possible), anchor.bits)
        found = [self.encoding.value(anchor, assignment) for assignment, _ in cases]
        if not set(found) <= set(self.restriction.values[anchor.sort]):
            self._overrun.add(place)  # anchors that have names after anchors themselves: no end of names
            return m.false
        return m.disj(
            self.encoding.is_value(anchor, value)
            & self.encoding.is_value(vector, self._name(place, binder, value))
            for value in found
        )

    def _name(self, place: Place, binder: Binder, anchor: Value) -> Value:
        """The name that a fresh variable takes beside one value of the anchor."""
        names = self.names[place].setdefault(anchor, {})
        if binder.name not in names:
            sort = str(binder.sort)
            rank = list(self.names[place]).index(anchor)
            number = rank * self._fresh[place].count(sort) + sum(
                1 for n in names if self._sort(place, n) == sort
            )
            names[binder.name] = self.values[sort][len(self.deployment.constants[sort]) + number]
            self._taken[sort] = max(self._taken[sort], number + 1)
        return names[binder.name]

    def _sort(self, place: Place, name: str) -> str:
        tool, number = place
        fresh = self.deployment.tool(tool).effects[number].fresh
        return next(str(binder.sort) for binder in fresh if binder.name == name)

    def scarce(self) -> set[Place]:
        """The anchors with too few values for as many fresh ones as the bounds allow, or too many."""
        return self._overrun | {
            place
            for place, names in self.names.items()
            for sort, count in Counter(self._fresh[place]).items()
            if len(names) * count < self.deployment.bounds[sort]
        }

    def used(self) -> Mapping[str, tuple[Value, ...]]:
        """The values of the restriction and those that anchors took beyond it."""
        used: dict[str, tuple[Value, ...]] = {}
        for sort, values in self.restriction.values.items():
            needed = len(self.deployment.constants[sort]) + self._taken[sort]
            used[sort] = self.values[sort][: max(len(values), needed)]
        return used
