"""Decision contexts as sets of facts in parts: the pair (view, offered calls) as one structure.

The decision: calls are facts of relations of their own, which stand after those of the schema, so that a call
may mention a value that no shown fact holds and the names of values follow the view first. The facts of large
contexts that were asked about last are kept, and brought up to date with what came and went: where one case
of thousands has changed, that case is worked out and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock

from stead_sym.agents.base import DecisionContext
from stead_sym.deployment.tool import Call, Tool
from stead_sym.errors import DeclarationError, InputError
from stead_sym.relational.canonical import named
from stead_sym.relational.encoding import Encoding
from stead_sym.relational.graph import RELATION, Row
from stead_sym.relational.instance import Fact, Instance, relation_of
from stead_sym.relational.layout import Layout, Placement
from stead_sym.relational.nauty import CANONICAL_SECONDS
from stead_sym.relational.parts import Parts
from stead_sym.relational.schema import Relation, Schema, Value

_LARGE = 256  # facts and calls from which on a context is kept
_KEPT = 8  # large contexts, one for each thread that is at work here at one time


@dataclass(slots=True)
class _Kept:
    """The facts of a context."""

    parts: Parts
    view: frozenset[Fact] = frozenset()
    calls: frozenset[Call] = frozenset()


@dataclass(frozen=True, slots=True)
class Canonical:
    """A canonical decision context, with the numbers that its layout gives its canonical names."""

    context: DecisionContext
    names: Sequence[Value]
    numbers: Mapping[Value, int] = field(repr=False)


class Joint:
    """The decision contexts over a schema in which calls of ``tools`` may be offered.

    The rigid values of the schema keep their names, and those of ``known``, which come with their sorts.
    nauty may take ``canonical_timeout`` seconds for a set of values that facts connect. Several threads may
    use it.
    """

    def __init__(
        self,
        schema: Schema,
        tools: Sequence[Tool],
        known: Mapping[Value, str],
        canonical_timeout: float = CANONICAL_SECONDS,
    ) -> None:
        self.schema = schema
        self._relations = {tool.name: _call_relation(tool) for tool in tools}
        self._tools = {relation.name: tool for tool, relation in self._relations.items()}
        joint = replace(schema, relations=(*schema.relations, *self._relations.values()))
        rigid: dict[str, set[Value]] = {sort.name: set() for sort in schema.sorts}
        for value in schema.rigid | known.keys():
            for sort in schema.listed.get(value) or (known[value],):
                rigid[sort].add(value)
        self._encoding = Encoding(joint, rigid, seconds=canonical_timeout)
        self._kept: list[_Kept] = []
        self._lock = Lock()

    def placement(self, context: DecisionContext) -> Placement:
        """The layout of the context, with the names that its values have there.

        Raises `InputError` where nothing is offered, `DeclarationError` for what does not fit the schema or
        the tools, `CanonicalLimit` where nauty takes too long.
        """
        if not context.calls:
            raise InputError(f"no call is offered for {context.view}; a decision needs at least one")
        view, calls = context.view.facts, context.calls
        size = len(view) + len(calls)
        if size < _LARGE:
            parts = Parts(self._encoding)  # in an order that does not hang on the hashes of strings
            parts.change([*self._fitting(sorted(view)), *self._facts(sorted(calls))])
            return parts.placement()
        kept = self._latest()
        if kept.view is not view:
            come = view - kept.view
            same = len(view) - len(come)
            if 2 * same < len(kept.view):
                kept, come, same = _Kept(Parts(self._encoding)), view, 0
            kept.parts.change(self._fitting(come), kept.view - view if same < len(kept.view) else ())
        if kept.calls is not calls:
            gone = [*self._facts(kept.calls - calls)]
            kept.parts.change(self._facts(calls - kept.calls), gone)
        placement = kept.parts.placement()
        kept.view, kept.calls = view, calls
        with self._lock:
            self._kept = [*self._kept[1 - _KEPT :], kept]
        return placement

    def _latest(self) -> _Kept:
        """The facts of the large context asked about last, to be brought up to date."""
        with self._lock:
            return self._kept.pop() if self._kept else _Kept(Parts(self._encoding))

    def canonical(self, layout: Layout) -> Canonical:
        """The canonical context that a layout stands for."""
        form, names = named(self._encoding, layout)
        relations = self._encoding.schema.relations
        known = len(self.schema.relations)
        view = (
            Fact(r.name, args)
            for r, tuples in zip(relations[:known], form[:known], strict=True)
            for args in tuples
        )
        calls = (
            Call(self._tools[r.name], args)
            for r, tuples in zip(relations[known:], form[known:], strict=True)
            for args in tuples
        )
        context = DecisionContext(Instance(self.schema, frozenset(view)), frozenset(calls))
        return Canonical(context, names, {name: number for number, name in enumerate(names)})

    def placed_orbit(
        self, context: DecisionContext, calls: Iterable[Call]
    ) -> tuple[Placement, frozenset[Row]]:
        """A context, in which no two values are spelled alike, and the orbit of calls of it."""
        placement = self.placement(context)
        names = placement.names()
        numbers = {name: number for number, name in enumerate(names)}
        if len(numbers) < len(names):
            raise DeclarationError(f"two sorts share a value in {context}; give a canonical context")
        return placement, self.orbit(Canonical(context, names, numbers), placement.layout, calls)

    def orbit(self, canonical: Canonical, layout: Layout, calls: Iterable[Call]) -> frozenset[Row]:
        """The orbit of calls of a canonical context under the automorphisms, as rows of the quotient."""
        rows = {self._row(canonical, layout, call) for call in calls}
        return frozenset[Row]().union(*map(layout.orbit, rows))

    def automorphisms(self, context: DecisionContext) -> tuple[Mapping[Value, Value], ...]:
        """Generators of Aut_B(D, A) for a context in which no two values are spelled alike, each given by the
        values that it moves."""
        placement = self.placement(context)
        own = placement.names()
        return tuple({own[v]: own[w] for v, w in g.items()} for g in placement.layout.all_generators)

    def fixed(self, canonical: Canonical, layout: Layout) -> bool:
        """Whether every automorphism fixes every call of a canonical context."""
        rows = {self._row(canonical, layout, call) for call in canonical.context.calls}
        return all(map(layout.fixes, rows))

    def calls(self, placement: Placement, rows: Iterable[Row]) -> frozenset[Call]:
        """The calls of the context placed that are copies of rows of its quotient."""
        encoding = self._encoding
        return frozenset(
            Call(self._tools[encoding.schema.relations[row[0] - RELATION].name], args)
            for row in rows
            for args in placement.copies(row, encoding.fixed)
        )

    def _row(self, canonical: Canonical, layout: Layout, call: Call) -> Row:
        """The row of the quotient that a call of a canonical context is a copy of."""
        place = self._encoding.places[self._relations[call.tool].name]
        codes = [RELATION + place]
        for sort, value in zip(self._encoding.columns[place], call.args, strict=True):
            number = canonical.numbers.get(value)
            codes.append(self._encoding.rigid[sort][value] if number is None else layout.in_quotient(number))
        return tuple(codes)

    def _facts(self, calls: Collection[Call]) -> Iterable[Fact]:
        for call in calls:
            relation = self._relations.get(call.tool)
            if relation is None or relation.arity != len(call.args):
                fault = (
                    "is of no known tool" if relation is None else f"should have {relation.arity} arguments"
                )
                raise DeclarationError(f"the offered call {call} {fault}; offer calls of the wrapper's tools")
            yield Fact(relation.name, call.args)

    def _fitting(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        """The facts of a view, none of which may be of the relation of a tool: that would offer a call."""
        for fact in facts:
            relation_of(fact, self.schema)  # raises where there is none
            yield fact


def _call_relation(tool: Tool) -> Relation:
    """The relation that holds the offered calls of ``tool``; no relation of a file has a space."""
    return Relation(f"call {tool.name}", tuple(param.sort for param in tool.params))
