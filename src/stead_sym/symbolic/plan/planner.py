"""From a deployment to what the engine works on: names, facts with bits, fields, compiled tools.

Two guesses are made on the way and confirmed: which variable fresh values are named after
(`encode.representatives`) and which relations are functional (`encode.mutex`). A guess that fails is
given up and the plan made anew.
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
from stead_sym.symbolic.bdd.manager import Backend, Bdd, Manager
from stead_sym.symbolic.encode.encoding import Encoding, Vector
from stead_sym.symbolic.encode.mutex import Key, fields, singles
from stead_sym.symbolic.encode.representatives import Draw, Naming, Place, anchors
from stead_sym.symbolic.encode.variable_order import arranged
from stead_sym.symbolic.plan.relaxation import Relaxation
from stead_sym.symbolic.step.effects import CompiledTool, EffectCompiler
from stead_sym.symbolic.step.formulas import Compiler, Environment
from stead_sym.symbolic.step.updates import Writer


@dataclass(frozen=True)
class Plan:
    """A deployment (definitions expanded) ready for exploration."""

    deployment: Deployment
    restriction: Restriction
    naming: Naming
    encoding: Encoding
    compiler: Compiler
    tools: Mapping[str, CompiledTool]


@dataclass
class Refused:
    """The guesses that turned out wrong."""

    anchors: set[tuple[Draw, str]] = field(default_factory=set)
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
        spare = _spare(deployment, restriction) if literal else {}
        encoding = Encoding(
            Manager(backend),
            deployment.schema,
            _with(prepared.restriction.values, spare),
            prepared.static,
            order.fields,
            fresh_values(deployment) if literal else marks,
            order.beside,
            spare,
        )
        compiler = Compiler(encoding)
        writer = Writer(compiler, prepared.single)
        effects = EffectCompiler(deployment, compiler, prepared.naming, writer)
        tools = {tool.name: effects.tool(tool) for tool in deployment.tools}
        if not writer.broken:
            return Plan(deployment, prepared.restriction, prepared.naming, encoding, compiler, tools)
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
        spare = _spare(deployment, restriction) if literal else {}
        values = _with(namer.values, spare)
        encoding = Encoding(Manager(backend), deployment.schema, values, (), (), namer.lacking)
        namer.encoding = encoding
        single = singles(deployment, refused.keys)
        ensured = _with(restriction.values, spare)
        facts = Relaxation(deployment, encoding, namer, ensured, single)
        if not (scarce := namer.scarce()):
            used = restriction.extended(namer.used())
            naming = Naming(literal, tried, namer.names)
            return _Prepared(used, naming, facts.static, facts.dynamic, single)
        refused.anchors |= scarce


def _spare(deployment: Deployment, restriction: Restriction) -> Mapping[str, Value]:
    """Per sort the value beyond U_f that an `ensure` may come to, as in `semantics.outcomes`."""
    if not any(effect.is_ensure for tool in deployment.tools for effect in tool.effects):
        return {}
    return {sort: value for sort in restriction.values for value in restriction.beyond(sort, 1)}


def _with(
    values: Mapping[str, tuple[Value, ...]], spare: Mapping[str, Value]
) -> Mapping[str, tuple[Value, ...]]:
    """The values of every sort with the spare one, if there is one."""
    return {sort: (*known, spare[sort]) if sort in spare else known for sort, known in values.items()}


class _Namer:
    """The fresh values that relaxed reachability allows; hands out the names of anchored ones."""

    encoding: Encoding

    def __init__(
        self,
        deployment: Deployment,
        restriction: Restriction,
        literal: bool,
        tried: Mapping[Draw, Binder],
    ) -> None:
        self.deployment = deployment
        self.restriction = restriction
        self.literal = literal
        self.tried = tried
        self.names: dict[Draw, dict[Value, Value]] = {draw: {} for draw in tried}
        self._overrun: set[Draw] = set()
        self._taken: Counter[str] = Counter()  # per sort the most names that one anchor has taken
        self._sorts = {
            ((tool.name, number), binder.name): str(binder.sort)
            for tool in deployment.tools
            for number, effect in enumerate(tool.effects)
            for binder in effect.fresh
        }
        self.values = self._pool()
        # a fresh value that no fact comes to hold needs no room in U_f
        self.lacking = {
            s: 1 for s, known in self.values.items() if len(known) == len(deployment.constants[s])
        }

    def _siblings(self, draw: Draw) -> list[Draw]:
        """The fresh variables of the same alternative, sort and anchor, in order: they share names."""
        return [
            other
            for other, anchor in self.tried.items()
            if other[0] == draw[0] and self._sorts[other] == self._sorts[draw] and anchor == self.tried[draw]
        ]

    def _pool(self) -> Mapping[str, tuple[Value, ...]]:
        """The restriction's values, and names enough for every value that an anchor could have."""
        values = dict(self.restriction.values)
        for draw, anchor in self.tried.items():
            sort, count = self._sorts[draw], len(self._siblings(draw))
            wanted = len(self.restriction.values[str(anchor.sort)]) * count
            wanted += len(self.deployment.constants[sort])
            if wanted > len(values[sort]):
                values[sort] = self.restriction.values[sort] + self.restriction.beyond(sort, wanted)
        return values

    def __call__(self, place: Place, binder: Binder, scope: Environment, possible: Bdd) -> Bdd:
        m, sort, draw = self.encoding.manager, str(binder.sort), (place, binder.name)
        vector = scope[binder.name]
        assert isinstance(vector, Vector)
        if draw not in self.tried:
            constants = self.deployment.constants[sort]
            unused = [value for value in self.restriction.values[sort] if value not in constants]
            return self.encoding.is_among(vector, unused or self.encoding.phantoms[sort])
        anchor = scope[self.tried[draw].name]
        assert isinstance(anchor, Vector)
        others = frozenset(possible.support - set(anchor.bits))
        found = [value for (value,) in self.encoding.tuples(m.exist(others, possible), (anchor,))]
        if not set(found) <= set(self.restriction.values[anchor.sort]):
            self._overrun.add(draw)  # anchors that have names after anchors themselves: no end of names
            return m.false
        return m.disj(
            self.encoding.is_value(anchor, value) & self.encoding.is_value(vector, self._name(draw, value))
            for value in found
        )

    def _name(self, draw: Draw, anchor: Value) -> Value:
        """The name that a fresh variable takes beside one value of its anchor."""
        if anchor not in self.names[draw]:
            sort, siblings = self._sorts[draw], self._siblings(draw)
            number = len(self.names[draw]) * len(siblings) + siblings.index(draw)
            self.names[draw][anchor] = self.values[sort][len(self.deployment.constants[sort]) + number]
            self._taken[sort] = max(self._taken[sort], number + 1)
        return self.names[draw][anchor]

    def scarce(self) -> set[tuple[Draw, str]]:
        """The anchors with too few values for as many fresh ones as the bounds allow, or too many."""
        wanting = self._overrun | {
            draw
            for draw, names in self.names.items()
            if len(names) * len(self._siblings(draw)) < self.deployment.bounds[self._sorts[draw]]
        }
        return {(draw, self.tried[draw].name) for draw in wanting}

    def used(self) -> Mapping[str, tuple[Value, ...]]:
        """The values of the restriction and those that anchors took beyond it."""
        used: dict[str, tuple[Value, ...]] = {}
        for sort, values in self.restriction.values.items():
            needed = len(self.deployment.constants[sort]) + self._taken[sort]
            used[sort] = self.values[sort][: max(len(values), needed)]
        return used
