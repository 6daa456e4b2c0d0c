"""The canonical wrapper Π^can: any base agent made equivariant (section "Equivariance by Construction").

The decision: the *pair* (view, offered calls) is canonicalised, the calls being facts of relations
of their own, and the base agent is asked once per canonical pair. With σ one witness and R̂ the base
agent's answer to the canonical pair, Eq. (wrapper) is

    Π^can(D, A) = ⋃ { ρ⁻¹(R̂) : ρ ∈ Lab_B(D, A) } = { α(a) : a ∈ σ⁻¹(R̂), α ∈ Aut_B(D, A) },

since ρ⁻¹ = α ∘ σ⁻¹ for some automorphism α. So the union is computed as an orbit under generators. Where
Offer is equivariant and the view is the whole state, Aut_B(D, A) = Aut_B(D), as in the paper.

Verification and production use the same class: give it live instances and the calls offered there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from types import MappingProxyType

from stead_sym.agent.base import Agent, Counting, DecisionContext, selected_from
from stead_sym.deployment.tool import Call, Tool
from stead_sym.errors import AgentError, DeclarationError, InputError
from stead_sym.relational.apart import Apart, apart
from stead_sym.relational.canonical import CanonicalForm, canonical_form, orbit
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Value


@dataclass(frozen=True, slots=True)
class Decision:
    """What the wrapper decides in a concrete decision context (D, A).

    ``canonical`` is σ(D, A) and ``names`` is σ⁻¹, from canonical names, where no two sorts share one, to the
    identifiers of (D, A), which may be spelled alike; ``selected`` is the base agent's answer R̂ to it;
    ``calls`` is Π^can(D, A). ``action_rigid``: every automorphism of (D, A) fixes every call of A
    (Definition "Action-rigidity"), so that a base agent that selects one call yields one call.
    """

    canonical: DecisionContext
    names: Mapping[Value, Value]
    selected: frozenset[Call]
    calls: frozenset[Call]
    action_rigid: bool


class CanonicalWrapper:
    """Π^can over a base agent, relative to B: the values whose identity may matter to the agent.

    B = ``rigid`` holds the rigid values of ``schema`` and ``known``, further constants that the agent
    knows by name, with their sorts: for a `RuleAgent`, those that its policy mentions. A verdict needs B ⊆ C.
    An identifier of another sort that is spelled like one of B is renamed like any other. ``tools``
    are the tools that may be offered. Answers are kept: a wrapper asks its base agent once per
    canonical context for as long as it lives.
    """

    def __init__(
        self,
        agent: Agent,
        schema: Schema,
        tools: Sequence[Tool],
        known: Mapping[Value, str] = MappingProxyType({}),
    ) -> None:
        if not isinstance(known, Mapping):
            raise TypeError("the values that an agent knows come with their sorts; give a mapping to these")
        for value, sort in known.items():
            own = schema.listed.get(value, (schema.sort(sort).name,))
            if sort not in own:
                raise DeclarationError(f"the known value {value} is of sort {own[0]}, not {sort}; give that")
        self.agent = agent
        self.schema = schema
        self.tools = tuple(tools)
        self.known = known
        self.rigid = schema.rigid | known.keys()
        self._owners = {**{value: (sort,) for value, sort in known.items()}, **schema.listed}
        relations = {tool.name: _call_relation(tool) for tool in tools}
        self._joint = replace(schema, relations=(*schema.relations, *relations.values()))
        self._relation_of = relations
        self._tool_of = {relation.name: tool for tool, relation in relations.items()}
        self._decided: dict[Instance, tuple[DecisionContext, frozenset[Call]]] = {}
        self._met: dict[Instance, tuple[DecisionContext, frozenset[Call]]] = {}
        self._queries = 0

    def again(self) -> CanonicalWrapper:
        """The same wrapper with the same memory, counting from nothing: for one more run."""
        other = copy(self)
        other._met, other._queries = {}, 0
        return other

    @property
    def contexts(self) -> int:
        """The number of distinct canonical contexts met so far."""
        return len(self._met)

    @property
    def queries(self) -> int:
        """The number of answers that the base agent gave; those of its store, if it has one, do not count."""
        return self._queries

    @property
    def decisions(self) -> tuple[tuple[DecisionContext, frozenset[Call]], ...]:
        """The canonical contexts with the base agent's answers, in the order they were met."""
        return tuple(self._met.values())

    def calls(self, view: Instance, offered: Collection[Call]) -> frozenset[Call]:
        """Π^can(D, A) for one context: the calls that the deployment may make there."""
        return self.decide([DecisionContext(view, frozenset(offered))])[0].calls

    def decide(self, contexts: Sequence[DecisionContext]) -> list[Decision]:
        """Π^can at each context; what is new is put to the base agent in one `Agent.select`.

        Raises `AgentError` for an answer that is empty or not offered, `DeclarationError` for a
        context that does not fit the schema or the tools, `InputError` for one that offers nothing.
        Whatever the base agent raises passes through; then nothing of the batch is kept.
        """
        joint = [apart(self._joint_instance(context), self._owners) for context in contexts]
        forms = [canonical_form(one.instance, self.rigid) for one in joint]
        self._ask([key for key in dict.fromkeys(f.instance for f in forms) if key not in self._decided])
        self._met.update((form.instance, self._decided[form.instance]) for form in forms)
        return [self._decision(*pair) for pair in zip(joint, forms, strict=True)]

    def orbit(self, context: DecisionContext, calls: Collection[Call]) -> frozenset[Call]:
        """{ α(a) : a in ``calls``, α ∈ Aut_B(D, A) }: the calls that the deployment may make in a context
        in which its base agent selects these. Nothing is asked."""
        joint = apart(self._joint_instance(context), self._owners)
        if joint.own:
            raise DeclarationError(f"two sorts share a value in {context}; give a canonical context")
        return orbit(calls, canonical_form(joint.instance, self.rigid).generators)

    def _joint_instance(self, context: DecisionContext) -> Instance:
        """The pair as one instance over the relations and the calls."""
        if not context.calls:
            raise InputError(f"no call is offered for {context.view}; a decision needs at least one")
        calls: list[Fact] = []
        for call in context.calls:
            relation = self._relation_of.get(call.tool)
            if relation is None or relation.arity != len(call.args):
                fault = (
                    "is of no known tool" if relation is None else f"should have {relation.arity} arguments"
                )
                raise DeclarationError(f"the offered call {call} {fault}; offer calls of the wrapper's tools")
            calls.append(Fact(relation.name, call.args))
        return Instance(self._joint, context.view.facts.union(calls))

    def _context(self, joint: Instance) -> DecisionContext:
        """The pair that the instance ``joint`` encodes."""
        calls = {fact for fact in joint.facts if fact.relation in self._tool_of}
        return DecisionContext(
            Instance(self.schema, joint.facts - calls),
            frozenset(Call(self._tool_of[relation], args) for relation, args in calls),
        )

    def _ask(self, keys: Sequence[Instance]) -> None:
        if not keys:
            return
        contexts = [self._context(key) for key in keys]
        counted = self.agent.queries if isinstance(self.agent, Counting) else None
        answers = self.agent.select(contexts)
        if not isinstance(answers, Sequence):
            raise AgentError(
                f"agent {self.agent.name} answers {answers!r} to a list of contexts;"
                " return one answer for each"
            )
        if len(answers) != len(contexts):
            raise AgentError(
                f"agent {self.agent.name} gave {len(answers)} answers for {len(contexts)} contexts; "
                "return one per context, in their order"
            )
        selected = [selected_from(self.agent, *pair) for pair in zip(contexts, answers, strict=True)]
        if counted is not None and isinstance(self.agent, Counting):
            self._queries += self.agent.queries - counted
        else:
            self._queries += len(answers)
        self._decided.update(zip(keys, zip(contexts, selected, strict=True), strict=True))

    def _decision(self, joint: Apart, form: CanonicalForm) -> Decision:
        canonical, selected = self._decided[form.instance]
        calls = orbit((call.rename(form.inverse) for call in selected), form.generators)
        names = form.inverse
        if joint.own:
            names = {name: joint.own.get(value, value) for name, value in names.items()}
            calls = frozenset(call.rename(joint.own) for call in calls)
        return Decision(canonical, names, selected, calls, self._action_rigid(joint.instance, form))

    def _action_rigid(self, joint: Instance, form: CanonicalForm) -> bool:
        if not form.generators:
            return True
        calls = [fact for fact in joint.facts if fact.relation in self._tool_of]
        return all(call.rename(alpha) == call for alpha in form.generators for call in calls)


@dataclass(frozen=True, slots=True)
class WrappedAgent:
    """A wrapper as an agent: it selects Π^can(D, A). Useful where an agent is asked for, as in an audit."""

    wrapper: CanonicalWrapper

    @property
    def name(self) -> str:
        return f"{self.wrapper.agent.name}, wrapped"

    def select(self, contexts: Sequence[DecisionContext]) -> list[frozenset[Call]]:
        """`CanonicalWrapper.decide`, calls only."""
        return [decision.calls for decision in self.wrapper.decide(contexts)]


def _call_relation(tool: Tool) -> Relation:
    """The relation that holds the offered calls of ``tool``; no relation of a file has a space."""
    return Relation(f"call {tool.name}", tuple(param.sort for param in tool.params))
