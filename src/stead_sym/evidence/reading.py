"""Reading of evidence from JSON data of any origin.

One decision: the data are not trusted. Reading only ensures that they are a tree over the schema of the
deployment, and `replay` decides if the tree shows anything. `msgspec` checks the type of each part against
the types of `document`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import assert_never

from msgspec import UNSET, Struct, ValidationError, convert

import stead_sym.logic.syntax as fo
from stead_sym.deployment.callers import step_by
from stead_sym.deployment.claims import claim_named
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.harness import under_recorded
from stead_sym.deployment.parts import ANY, AS_WRITTEN, Harness, Spec
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step
from stead_sym.errors import DeclarationError, InputError
from stead_sym.evidence.document import (
    FORMAT,
    AgentData,
    AnyNode,
    EvaluatedData,
    EvidenceData,
    PartsData,
    PathData,
    StepData,
    UnshownData,
    ValuesData,
)
from stead_sym.evidence.recorded import Recorded
from stead_sym.evidence.tree import Evaluated, Evidence, Node, Parts, Reason, Run, Unshown, Values
from stead_sym.relational.instance import Fact, Instance, out_of_range
from stead_sym.relational.schema import is_numeral


@dataclass(frozen=True, slots=True)
class Written:
    """Evidence as it was written: the specification, the deployment and the agents it is for.

    ``digest`` is the digest of the deployment's text. ``agents`` has None for one that selects everything
    offered. ``bounds`` are those that its runs keep, None for those of the deployment. ``harness`` is the
    recorded one.
    """

    deployment: str
    digest: str
    spec: str
    formula: str
    agents: Mapping[str, Recorded | None]
    evidence: Evidence
    bounds: Mapping[str, int] | None = None
    asked: tuple[str, ...] | None = None
    harness: Harness = AS_WRITTEN

    def followed(self, deployment: Deployment) -> Deployment:
        """Return the deployment in the recorded harness, with what the states keep beside the database."""
        run = under_recorded(deployment, self.harness, f"the evidence for {self.spec}")
        return _followed(run, self.asked, self.agents)


def _followed(
    deployment: Deployment,
    asked: Sequence[str] | None,
    agents: Mapping[str, Recorded | None] | Mapping[str, AgentData | None],
) -> Deployment:
    if asked is None or deployment.history:
        return deployment
    running = {name: ANY if agent is None else agent.agent for name, agent in agents.items()}
    return deployment.following((Spec(text, deployment.formula(text)) for text in asked), running)


def read_evidence(deployment: Deployment, data: object, source: str) -> Written:
    """Return what `evidence_data` wrote, over the same deployment or another version of it.

    ``source`` stands for the data in messages. Raises `InputError` for data of another structure, with the
    place in them, and if they do not fit the deployment: a fact outside its schema, a specification that is
    no sentence over it, or a tree that does not follow the structure of the sentence.
    """
    return _Reader(deployment, source).read(data)


class _Reader:
    """Construction of a tree from the data, with the place of each part for messages."""

    def __init__(self, deployment: Deployment, source: str) -> None:
        self._deployment = deployment
        self._schema = deployment.schema
        self._source = source

    def read(self, data: object) -> Written:
        try:
            if convert(data, _Headed).format != FORMAT:
                raise self._fault("format", f"is not {FORMAT!r}; write the evidence again")
            top = convert(data, EvidenceData)
        except (ValidationError, UnicodeEncodeError) as error:  # an unpaired surrogate
            raise InputError(f"{self._source}: {ascii(str(error))[1:-1]}; restore the file") from None
        asked = None if top.asked is UNSET else tuple(top.asked)
        gates = () if top.gates is UNSET else tuple(top.gates)
        harness = Harness(gates, None if top.calls is UNSET else top.calls)
        self._deployment = under_recorded(self._deployment, harness, self._source)
        try:
            self._deployment = _followed(self._deployment, asked, top.agents)
        except InputError as error:
            raise self._fault("asked", f"is no sentence over the deployment: {error.message}") from None
        self._schema = self._deployment.schema
        for name in top.agents:
            if name not in {role.name for role in self._deployment.agents}:
                raise self._fault("agents", f"have {name}, which is no agent of the deployment")
        if top.bounds is not UNSET and set(top.bounds) != set(self._deployment.bounds):
            raise self._fault("bounds", f"are not for {', '.join(self._deployment.bounds)}")
        return Written(
            top.deployment,
            top.digest,
            top.spec,
            top.formula,
            {
                name: None if agent is None else self._agent(agent, f"agents.{name}")
                for name, agent in top.agents.items()
            },
            Evidence(self._tree(top), top.of_many, top.completed),
            None if top.bounds is UNSET else top.bounds,
            asked,
            harness,
        )

    # the tree

    def _tree(self, top: EvidenceData) -> Node:
        states = [self._instance(facts, f"states[{k}]") for k, facts in enumerate(top.states)]
        rows = top.nodes
        if not rows:
            raise self._fault("nodes", "are none; a tree has a root")
        formulas: list[fo.Formula | None] = [None] * len(rows)
        formulas[0] = self._sentence(top.formula, top.spec)
        for k in range(len(rows)):
            self._place_children(k, rows, formulas)
        nodes: list[Node | None] = [None] * len(rows)
        for k in reversed(range(len(rows))):
            place, row, formula = f"nodes[{k}]", rows[k], formulas[k]
            assert formula is not None
            state = states[self._below(row.state, f"{place}.state", len(states))]
            nodes[k] = Node(formula, row.holds, state, row.values, self._reason(row, place, nodes, states))
        assert nodes[0] is not None
        if top.holds != nodes[0].holds:
            raise self._fault("holds", "is not what the root says; restore the file")
        return nodes[0]

    def _sentence(self, written: str, spec: str) -> fo.Formula:
        claim = claim_named(self._deployment, spec)
        if claim is not None:
            if written != str(claim.formula):
                raise self._fault("formula", f"is not what `{spec}` says; verify the file again")
            return claim.formula
        try:
            sentence = self._deployment.formula(written)
        except InputError as error:
            raise self._fault("formula", f"is no sentence over the deployment: {error.message}") from None
        own = [known.formula for known in self._deployment.specs if known.name == spec]
        if own and own != [sentence]:
            raise self._fault("formula", f"is not that of {spec} in the file; verify the file again")
        return sentence

    def _place_children(self, k: int, rows: Sequence[AnyNode], formulas: list[fo.Formula | None]) -> None:
        """Find the formula of each node that node ``k`` rests on.

        It is the child of the formula of ``k`` with its number, or for a run one that is printed like it.
        Nodes rest on later ones only, so that there is no cycle.
        """
        formula = formulas[k]
        if formula is None:
            raise self._fault(f"nodes[{k}]", "is not part of the tree; leave it out")
        for number, among in self._references(rows[k], f"nodes[{k}]", fo.children(formula)):
            self._below(number, f"nodes[{k}]", len(rows))
            if number <= k:
                raise self._fault(f"nodes[{k}]", f"rests on node {number}, which has to stand after it")
            known = formulas[number]
            text = rows[number].formula
            child = next((f for f in among if str(f) == text and known in (None, f)), None)
            if child is None:
                raise self._fault(
                    f"nodes[{number}].formula", f"is no part of {formula}, the formula of node {k}"
                )
            formulas[number] = child
            among.remove(child)

    def _references(
        self, row: AnyNode, place: str, parts: Sequence[fo.Formula]
    ) -> Iterator[tuple[int, list[fo.Formula]]]:
        """Yield the numbers of the nodes that a node rests on, each with the parts it can be about.

        Two parts may be printed alike if they differ in the variables that stand for `_`, so a connective
        gives the number of the part. The claims about one state on a run come in the order that operators
        require. Each is about another part, the right side of `U` first.
        """
        match row:
            case EvaluatedData() | UnshownData():
                pass
            case PartsData(parts=pairs):
                for part, number in pairs:
                    yield number, [parts[self._below(part, f"{place}.parts", len(parts))]]
            case ValuesData(nodes=pairs):
                for _, number in pairs:
                    yield number, list(parts)
            case PathData(run=run):
                for claims in run.along:
                    among = list(reversed(parts))
                    for number in claims:
                        yield number, among
            case _:
                assert_never(row)

    def _reason(
        self, row: AnyNode, place: str, nodes: Sequence[Node | None], states: Sequence[Instance]
    ) -> Reason:
        def node(number: int) -> Node:
            found = nodes[number]
            assert found is not None, "nodes rest on later ones, which are read first"
            return found

        match row:
            case EvaluatedData():
                return Evaluated()
            case UnshownData():
                return Unshown()
            case PartsData(parts=pairs):
                return Parts(tuple((k, node(number)) for k, number in pairs))
            case ValuesData(nodes=pairs):
                return Values(tuple((u, node(number)) for u, number in pairs))
            case PathData(run=run):
                return Run(
                    tuple(
                        self._step(step, f"{place}.run.steps[{i}]", states)
                        for i, step in enumerate(run.steps)
                    ),
                    tuple(tuple(map(node, claims)) for claims in run.along),
                    run.ends,
                    run.loop,
                )
            case _:
                assert_never(row)

    def _step(self, step: StepData, place: str, states: Sequence[Instance]) -> Step:
        self._check_calls([step.call], f"{place}.call")
        after = states[self._below(step.to, f"{place}.to", len(states))]
        return step_by(self._deployment, step.call, after, step.agent)

    # decisions

    def _agent(self, agent: AgentData, place: str) -> Recorded:
        decisions: dict[tuple[frozenset[Fact], frozenset[Call]], frozenset[Call]] = {}
        for k, decision in enumerate(agent.decisions):
            where = f"{place}.decisions[{k}]"
            self._check_facts(decision.facts, f"{where}.facts")
            self._check_calls(decision.offered, f"{where}.offered")
            self._check_calls(decision.selected, f"{where}.selected")
            context = frozenset(decision.facts), frozenset(decision.offered)
            if context in decisions:
                raise self._fault(where, "is for a context that has a decision already; keep one")
            decisions[context] = frozenset(decision.selected)
        for value, sort in agent.known.items():
            if sort not in {other.name for other in self._schema.sorts}:
                raise self._fault(
                    f"{place}.known", f"has {value} of sort {sort}, which the deployment has not"
                )
        return Recorded(agent.agent, agent.known, MappingProxyType(decisions))

    # parts

    def _instance(self, facts: Sequence[Fact], place: str) -> Instance:
        self._check_facts(facts, place)
        beyond = {
            fact  # an integer that a run writes out of range, which breaks a claim
            for fact, column in out_of_range(self._schema, facts)
            if is_numeral(fact.args[column])
        }
        try:
            within = Instance.of(self._schema, [fact for fact in facts if fact not in beyond])
        except DeclarationError as error:
            raise self._fault(place, f"does not fit the deployment: {error.message}") from None
        return Instance(self._schema, within.facts | beyond) if beyond else within

    def _check_facts(self, facts: Iterable[Fact], place: str) -> None:
        for relation, args in facts:
            if not self._schema.has_relation(relation):
                raise self._fault(place, f"has a relation {relation}, which the deployment has not")
            self._count(len(args), self._schema.relation(relation).arity, relation, place)

    def _check_calls(self, calls: Iterable[Call], place: str) -> None:
        for name, args in calls:
            try:
                tool = self._deployment.tool(name)
            except DeclarationError as error:
                raise self._fault(place, f"has a call of an {error.message}") from None
            self._count(len(args), len(tool.params), name, place)

    def _count(self, given: int, wanted: int, name: str, place: str) -> None:
        if given != wanted:
            raise self._fault(place, f"has {name} with {given} values, which takes {wanted}")

    def _below(self, number: int, place: str, below: int) -> int:
        if number >= below:
            raise self._fault(place, f"has the number {number}, but there are only {below}")
        return number

    def _fault(self, place: str, what: str) -> InputError:
        return InputError(f"{self._source}: {place} {what}")


class _Headed(Struct):
    format: str
