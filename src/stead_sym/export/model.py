"""The content of an export, independent of the format: the graph, the names, the sentences.

One decision: an export is made from a finished verification, so that it includes the verdicts and a user of
another checker can compare the two at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import assert_never

import stead_sym.logic.syntax as fo
from stead_sym.analyses.state_graph import MAX_STATES, StateGraph, state_graph
from stead_sym.analyses.views.shown import always
from stead_sym.deployment.deployment import Deployment
from stead_sym.errors import InputError
from stead_sym.export.ground import Grounding, held_layers
from stead_sym.export.layers import Node, Nodes, all_nodes
from stead_sym.export.names import Active, Holds, InLayer, Layer, Named, Names, Proposition, Same, plain
from stead_sym.relational.instance import Fact
from stead_sym.verification.result import Verification, as_verification


@dataclass(frozen=True, slots=True)
class Question:
    """A specification in an export.

    It has its ``identifier`` there, the ``formula`` over the nodes, whose atoms have no arguments, and the
    ``answer`` of the verification, None if it is unknown, also in ``words``.

    ``plain`` is the formula over the states; None if it holds a value whose name is not persistent.
    """

    spec: str
    identifier: str
    written: str
    formula: fo.Formula
    plain: fo.Formula | None
    answer: bool | None
    words: str


@dataclass(frozen=True)
class Export:
    """A deployment under its agents as a finite graph, with propositional specifications.

    ``fair`` are the fairness constraints over the states, whose atoms have no arguments. ``layers`` are as in
    `ground`: only the empty one if no specification holds a value whose name is not persistent.
    """

    summary: str
    deployment: Deployment
    graph: StateGraph
    layers: frozenset[Layer]
    names: Names
    fair: tuple[fo.Formula, ...]
    questions: tuple[Question, ...]

    @cached_property
    def nodes(self) -> Nodes:
        """The reachable nodes; they are the states if the only layer is the empty one."""
        return all_nodes(self.deployment, self.graph, self.layers)

    def says(self, proposition: Proposition, node: Node) -> bool:
        """Return True if the proposition holds in the node."""
        state, held = self.graph.states[node.state], dict(zip(node.layer, node.held, strict=True))
        match proposition:
            case Holds(fact):
                return fact in state
            case Active(sort, value):
                return value in state.active_domain[sort]
            case Named(slot, value):
                return held.get(slot) == value
            case Same(left, right):
                return left in held and right in held and held[left] == held[right]
            case InLayer(layer):
                return layer == node.layer
            case _:
                assert_never(proposition)

    def having(self, active: Active) -> Iterator[Fact]:
        """Yield the facts that make a value active; those of the history make none active."""
        sorts = {relation.name: relation.sorts for relation in self.deployment.schema.relations}
        wanted = (active.sort, active.value)
        for fact in self.graph.facts:
            if fact.relation in sorts and wanted in zip(sorts[fact.relation], fact.args, strict=True):
                yield fact

    def heading(self) -> Iterator[str]:
        """Yield the lines of the comment at the top of an export."""
        yield plain(self.summary)
        counts = self.graph.initial, len(self.graph.states), self.graph.transitions
        yield "{} initial, {} states, {} transitions".format(*counts)
        if self.layers != {()}:
            yield "Some specifications hold values whose names change: docs/export.md tells of held values."


def exported(verification: Verification, max_states: int = MAX_STATES) -> Export:
    """Return a verification as a finite graph with propositional specifications.

    `to_smv` and `to_storm` write it. Under fairness of actions only what is always true is exported, which
    does not depend on it.

    Raise `InputError` if nothing of that kind was asked, or beside fairness of states; `Undecided` if there
    are more than ``max_states`` states, or a specification is too long without quantifiers.
    """
    deployment = as_verification(verification).deployment
    if verification.engine.hidden is not None:
        raise InputError(
            "the `fair` lines leave finite runs out, which the other model checkers would leave out too;"
            " weaken the lines so that a fair run starts in every reachable state"
        )
    asked = [spec for spec in deployment.specs if spec.name in verification.verdicts]
    specs = [spec for spec in asked if not deployment.fair_actions or always(spec.formula) is not None]
    if deployment.fair_actions and (deployment.fair or (asked and not specs)):
        raise InputError(
            f"`fair {deployment.fair_actions[0]}` cannot be exported: the other model checkers know states,"
            " and not by which call a step is taken; leave the line out, or ask only what is always true"
            " (`AG` of a first-order sentence), with no other fairness",
            deployment.fair_actions[0].span,
        )
    graph = state_graph(verification.engine, max_states)
    mortal = frozenset[str]()
    if verification.mode == "normal":
        values = verification.restriction.values.items()
        mortal = frozenset(sort for sort, known in values if deployment.outside(sort, known))
    layers = held_layers((spec.formula for spec in specs), mortal)
    names = _named(graph, layers)
    alone = Grounding(deployment, graph, mortal, frozenset({()}), names)
    layered = replace(alone, layers=layers)
    questions = tuple(
        Question(
            spec.name,
            names.unique(("spec", spec.name), f"spec_{spec.name}"),
            str(verification[spec.name].formula),
            layered.sentence(spec.formula),
            alone.sentence(spec.formula) if held_layers([spec.formula], mortal) == {()} else None,
            verification[spec.name].holds,
            f"{verification[spec.name]}".removeprefix(spec.name).strip(),
        )
        for spec in specs
    )
    fair = tuple(map(alone.sentence, deployment.fair))
    return Export(verification.summary, deployment, graph, layers, names, fair, questions)


def _named(graph: StateGraph, layers: frozenset[Layer]) -> Names:
    """Return names for all facts, and for the propositions about the steps between layers."""
    names = Names()
    slots = sorted({slot for layer in layers for slot in layer})
    for fact in graph.facts:
        names.of(Holds(fact))
    for sort in sorted({slot.sort for slot in slots}):
        for value in graph.active[sort]:
            names.of(Active(sort, value))
    for left, right in combinations(slots, 2):
        if left.sort == right.sort:
            names.of(Same(left, right))
    for layer in sorted(layers) if slots else ():
        names.of(InLayer(layer))
    return names
