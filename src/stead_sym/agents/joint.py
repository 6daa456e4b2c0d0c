"""Decision contexts as sets of facts in parts: the pair (view, offered calls) as one structure.

The decision: calls are facts of additional relations, which come after those of the schema. So a call may
mention a value that occurs in no shown fact, and canonical names follow the view first. The facts of recent
large contexts are kept, and updated incrementally: if one case of thousands has changed, only that case is
recomputed.
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

_LARGE = 256  # the minimum number of facts and calls of a context that is kept
_KEPT = 8  # the maximum number of kept contexts, one for each concurrent thread


@dataclass(slots=True)
class _Kept:
    """The facts of a kept context."""

    parts: Parts
    view: frozenset[Fact] = frozenset()
    calls: frozenset[Call] = frozenset()


@dataclass(frozen=True, slots=True)
class Canonical:
    """A canonical decision context, with the numbers of its canonical names in its layout."""

    context: DecisionContext
    names: Sequence[Value]
    numbers: Mapping[Value, int] = field(repr=False)


class Joint:
    """The decision contexts over a schema in which calls of ``tools`` may be offered.

    The rigid values of the schema keep their names, and so do those of ``known``, which come with their
    sorts. ``canonical_timeout`` is the time limit in seconds for nauty on one connected component. It is
    thread-safe.
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
        """Return the layout of the context, with the names of its values.

        Raise `InputError` if no call is offered, `DeclarationError` for a fact or call that does not fit the
        schema or the tools, `CanonicalLimit` if nauty takes too long.
        """
        if not context.calls:
            raise InputError(f"no call is offered for {context.view}; a decision needs at least one")
        view, calls = context.view.facts, context.calls
        size = len(view) + len(calls)
        if size < _LARGE:
            parts = Parts(self._encoding)  # in an order independent of the hashes of strings
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
        """Return the facts of the latest large context, to be updated."""
        with self._lock:
            return self._kept.pop() if self._kept else _Kept(Parts(self._encoding))

    def canonical(self, layout: Layout) -> Canonical:
        """Return the canonical context of a layout."""
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
        """Return the placement of a context and the orbit of some of its calls.

        No two values of the context may be spelled alike; raises `DeclarationError` otherwise.
        """
        placement = self.placement(context)
        names = placement.names()
        numbers = {name: number for number, name in enumerate(names)}
        if len(numbers) < len(names):
            raise DeclarationError(f"two sorts share a value in {context}; give a canonical context")
        return placement, self.orbit(Canonical(context, names, numbers), placement.layout, calls)

    def orbit(self, canonical: Canonical, layout: Layout, calls: Iterable[Call]) -> frozenset[Row]:
        """Return the orbit of calls of a canonical context under its automorphisms.

        The result is rows of the quotient.
        """
        rows = {self._row(canonical, layout, call) for call in calls}
        return frozenset[Row]().union(*map(layout.orbit, rows))

    def automorphisms(self, context: DecisionContext) -> tuple[Mapping[Value, Value], ...]:
        """Return generators of Aut_B(D, A), each given by the values that it moves.

        No two values of the context may be spelled alike.
        """
        placement = self.placement(context)
        own = placement.names()
        return tuple({own[v]: own[w] for v, w in g.items()} for g in placement.layout.all_generators)

    def fixed(self, canonical: Canonical, layout: Layout) -> bool:
        """Return True if every automorphism fixes every call of a canonical context."""
        rows = {self._row(canonical, layout, call) for call in canonical.context.calls}
        return all(map(layout.fixes, rows))

    def calls(self, placement: Placement, rows: Iterable[Row]) -> frozenset[Call]:
        """Return the calls of the placed context that are copies of rows of its quotient."""
        encoding = self._encoding
        return frozenset(
            Call(self._tools[encoding.schema.relations[row[0] - RELATION].name], args)
            for row in rows
            for args in placement.copies(row, encoding.fixed)
        )

    def _row(self, canonical: Canonical, layout: Layout, call: Call) -> Row:
        """Return the row of the quotient of which a call of a canonical context is a copy."""
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
        """Yield the facts of a view; raise `DeclarationError` if one does not fit the schema.

        A fact of a tool's relation would offer a call.
        """
        for fact in facts:
            relation_of(fact, self.schema)  # raises if it is unknown
            yield fact


def _call_relation(tool: Tool) -> Relation:
    """Return the relation for the offered calls of ``tool``.

    Its name contains a space, so that no relation of a file can have it.
    """
    return Relation(f"call {tool.name}", tuple(param.sort for param in tool.params))
