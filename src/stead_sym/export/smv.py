"""Write an export in SMV, the language of NuSMV and nuXmv.

One decision: there is a Boolean variable per fact, so that a checker's counterexamples resemble ours. The
behaviour of the slots for held values is written as constraints, from which the checker builds the nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import assert_never

import stead_sym.logic.syntax as fo
from stead_sym.export.layers import of_last_step
from stead_sym.export.model import Export
from stead_sym.export.names import (
    Active,
    Holds,
    InLayer,
    Layer,
    Named,
    Proposition,
    Same,
    Slot,
    plain,
    slot_name,
)
from stead_sym.relational.schema import Value

_FREE, _DEAD = "free", "dead"


def to_smv(export: Export) -> str:
    """Return the export as an SMV module."""
    return "\n".join(_Writer(export).lines()) + "\n"


class _Writer:
    def __init__(self, export: Export) -> None:
        self.export = export
        self.graph = export.graph
        self.names = export.names
        self.slots = sorted({slot for layer in export.layers for slot in layer})
        self.same = [(left, right) for left, right in combinations(self.slots, 2) if left.sort == right.sort]
        everywhere = frozenset.intersection(*(state.facts for state in self.graph.states))
        self.changing = [fact for fact in self.graph.facts if fact not in everywhere]

    def lines(self) -> Iterator[str]:
        yield from (f"-- {line}" for line in self.export.heading())
        yield ""
        yield "MODULE main"
        yield from self._variables()
        yield "DEFINE"
        yield from self._defines()
        yield "INIT"
        start = " | ".join(f"state_{i}" for i in range(self.graph.initial))
        nothing = [f"{slot_name(slot)} = {_FREE}" for slot in self.slots]
        nothing += [f"!{self._dead_together(*pair)}" for pair in self.same]
        yield "  " + " & ".join([f"({start})", *nothing]) + ";"
        yield "TRANS"
        yield from self._transitions()
        for constraint in self.export.fair:
            yield f"FAIRNESS {expression(constraint)};"
        for question in self.export.questions:
            yield f"-- {plain(question.identifier)}: {plain(question.spec)}, {plain(question.written)}"
            yield f"-- stead-sym: {plain(question.words)}"
            yield f"SPEC {expression(question.formula)};"

    def _variables(self) -> Iterator[str]:
        if self.changing or self.slots:
            yield "VAR"
        for fact in self.changing:
            yield f"  {self.names.of(Holds(fact))} : boolean; -- {plain(str(fact))}"
        for slot in self.slots:
            values = ", ".join((_FREE, _DEAD, *(self._value(u) for u in self._range(slot))))
            yield f"  {slot_name(slot)} : {{{values}}};"
        for pair in self.same:
            yield f"  {self._dead_together(*pair)} : boolean;"

    def _defines(self) -> Iterator[str]:
        changing = frozenset(self.changing)
        for name, proposition in self.names.propositions.items():
            if not (isinstance(proposition, Holds) and proposition.fact in changing):
                yield f"  {name} := {self._meaning(proposition)}; -- {plain(str(proposition))}"
        for i, state in enumerate(self.graph.states):
            literals = [("" if fact in state else "!") + self.names.of(Holds(fact)) for fact in self.changing]
            yield f"  state_{i} := {' & '.join(literals) or 'TRUE'};"

    def _meaning(self, proposition: Proposition) -> str:
        match proposition:
            case Holds():
                return "TRUE"
            case Active():
                having = [self.names.of(Holds(fact)) for fact in self.export.having(proposition)]
                return " | ".join(having) or "FALSE"
            case Named(slot, value):
                return f"{slot_name(slot)} = {self._value(value)}"
            case Same(left, right):
                alike = [
                    f"({slot_name(left)} = {self._value(u)} & {slot_name(right)} = {self._value(u)})"
                    for u in self._range(left)
                ]
                return " | ".join([*alike, self._dead_together(left, right)])
            case InLayer(layer):
                return self._in_layer(layer)
            case _:
                assert_never(proposition)

    def _in_layer(self, layer: Layer) -> str:
        return " & ".join(
            f"{slot_name(slot)} {'!=' if slot in layer else '='} {_FREE}" for slot in self.slots
        )

    # Edges.

    def _transitions(self) -> Iterator[str]:
        """Yield the moves, and the assignments if some layer is not empty."""
        opening, closing = ("  ((", "  )") if self.slots else ("  ", "")
        for i, out in enumerate(self.graph.steps):
            targets = " | ".join(f"next(state_{target})" for target in out)
            more = " |" * (i + 1 < len(self.graph.steps))
            labels = ", ".join(f"{label} to {target}" for target, label in out.items())
            yield f"{opening if i == 0 else '    '}(state_{i} & ({targets})){more} -- {plain(labels)}"
        if not self.slots:
            yield "  ;"
            return
        yield closing
        for slot in self.slots:
            yield f"    & {self._keeps(slot)}"
        for left, right in self.same:
            same, dead = self.names.of(Same(left, right)), self._dead_together(left, right)
            yield f"    & ({same} <-> next({same}))"
            both = f"next({slot_name(left)}) = {_DEAD} & next({slot_name(right)}) = {_DEAD}"
            yield f"    & (next({dead}) -> ({both}))"
        yield "  )"
        for layer in sorted(self.export.layers):
            if layer:
                yield f"  | ({self._assignment(layer)})"
        yield "  ;"

    def _keeps(self, slot: Slot) -> str:
        """Return the constraint on a slot's value after a move: see `layers`."""
        constants = self.export.deployment.constants[slot.sort]
        x = slot_name(slot)
        told = list(of_last_step(self.export.deployment, self.graph.facts, slot.sort))
        risen = [f"next({x}) = {_DEAD}"]
        cases = [f"{x} = {_FREE} : next({x}) = {_FREE};"]
        for u in self._range(slot):
            here, active = self._value(u), self.names.of(Active(slot.sort, u))
            if u in constants:
                cases.append(f"{x} = {here} : next({x}) = {here};")
                continue
            of_step = [self.names.of(Holds(fact)) for fact, value in told if value == u]
            named = " | ".join(f"next({name})" for name in (active, *of_step))
            named, moving = (f"({named})", f" & {active}") if of_step else (named, "")
            lives, dies = f"{named} & next({x}) = {here}", f"!{named} & next({x}) = {_DEAD}"
            cases.append(f"{x} = {here}{moving} : ({lives}) | ({dies});")
            risen.append(f"(!{active} & next({active}) & next({x}) = {here})")
        cases.append(f"{x} {f'!= {_FREE}' if told else f'= {_DEAD}'} : {' | '.join(risen)};")
        return "\n      ".join(["case", *cases]) + "\n    esac"

    def _assignment(self, layer: Layer) -> str:
        """Return the step into a layer: the last of its slots takes an active value, the rest stays."""
        new = layer[-1]
        values = [
            f"({self.names.of(Active(new.sort, u))} & next({slot_name(new)}) = {self._value(u)})"
            for u in self._range(new)
        ]
        kept = [f"next({slot_name(slot)}) = {slot_name(slot)}" for slot in self.slots if slot != new]
        apart = [f"(next({d}) <-> {d})" for d in (self._dead_together(*pair) for pair in self.same)]
        before = self.names.of(InLayer(layer[:-1]))
        taken = " | ".join(values) or "FALSE"
        return " & ".join([before, f"({taken})", *kept, *apart, *self._unchanged()])

    def _unchanged(self) -> Iterator[str]:
        for fact in self.changing:
            name = self.names.of(Holds(fact))
            yield f"(next({name}) <-> {name})"

    # Names.

    def _range(self, slot: Slot) -> tuple[Value, ...]:
        """Return the possible values of a slot: those that are active in some state."""
        return self.graph.active[slot.sort]

    def _value(self, value: Value) -> str:
        return self.names.unique(("value", value), f"value_{value}")

    def _dead_together(self, left: Slot, right: Slot) -> str:
        wish = f"{slot_name(left)}_dead_as_{slot_name(right)}"
        return self.names.unique(("dead", left, right), wish)


def expression(formula: fo.Formula) -> str:
    """Return a formula over atoms without arguments in SMV."""
    match formula:
        case fo.Truth(value):
            return "TRUE" if value else "FALSE"
        case fo.Atom(name):
            return name
        case fo.Not(body):
            return f"!{expression(body)}"
        case fo.And(parts):
            return f"({' & '.join(map(expression, parts))})"
        case fo.Or(parts):
            return f"({' | '.join(map(expression, parts))})"
        case fo.Next(path, body):
            return f"({path}X {expression(body)})"
        case fo.Future(path, body):
            return f"({path}F {expression(body)})"
        case fo.Globally(path, body):
            return f"({path}G {expression(body)})"
        case fo.Until(path, left, right):
            return f"{path} [{expression(left)} U {expression(right)}]"
        case _:
            raise AssertionError(f"{formula} is not written out")
