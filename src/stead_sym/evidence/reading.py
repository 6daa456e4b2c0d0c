"""Evidence from JSON data, which may be anyone's.

One decision: nothing in them is believed. Reading only makes sure that they are a tree over the schema of the
deployment, and `replay` decides whether it shows anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from stead_sym.deployment.claims import claim_named
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step
from stead_sym.errors import DeclarationError, InputError
from stead_sym.evidence.data import FORMAT
from stead_sym.evidence.recorded import Recorded
from stead_sym.evidence.tree import Evaluated, Evidence, Node, Parts, Reason, Run, Unshown, Values
from stead_sym.logic.syntax import Formula, children
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value


@dataclass(frozen=True, slots=True)
class Written:
    """Evidence as it was written down: for which specification of which deployment (``digest`` is that of its
    text), and with which agents. ``agents`` has None for one that selects everything offered. ``bounds`` are
    those that its runs keep, None for those of the deployment."""

    deployment: str
    digest: str
    spec: str
    formula: str
    agents: Mapping[str, Recorded | None]
    evidence: Evidence
    bounds: Mapping[str, int] | None = None


def read_evidence(deployment: Deployment, data: object, source: str) -> Written:
    """What `evidence_data` wrote, over the same deployment or another version of it; ``source`` stands for
    the data in messages.

    Raises `InputError` for data of another shape, with the place in them, and where they do not fit the
    deployment: a fact outside its schema, a specification that is no sentence over it, a tree that does not
    follow the structure of the sentence.
    """
    return _Reader(deployment, source).read(data)


class _Reader:
    """Reads parts, each with its place in the data."""

    def __init__(self, deployment: Deployment, source: str) -> None:
        self._deployment = deployment
        self._schema = deployment.schema
        self._source = source

    def read(self, data: object) -> Written:
        top = self._object(data, "the evidence")
        if top.get("format") != FORMAT:
            raise self._fault("format", f"is not {FORMAT!r}; name a file that stead-sym wrote")
        agents = self._object(top.get("agents"), "agents")
        for name in agents:
            if name not in {role.name for role in self._deployment.agents}:
                raise self._fault("agents", f"have {name}, which is no agent of the deployment")
        return Written(
            self._text(top.get("deployment"), "deployment"),
            self._text(top.get("digest"), "digest"),
            self._text(top.get("spec"), "spec"),
            formula := self._text(top.get("formula"), "formula"),
            {name: self._agent(agent, f"agents.{name}") for name, agent in agents.items()},
            Evidence(
                self._tree(top, formula),
                self._truth(top.get("of_many"), "of_many"),
                self._truth(top.get("completed", False), "completed"),
            ),
            self._bounds(top["bounds"]) if "bounds" in top else None,
        )

    def _bounds(self, data: object) -> Mapping[str, int]:
        given = self._object(data, "bounds")
        if set(given) != set(self._deployment.bounds):
            raise self._fault("bounds", f"are not for {', '.join(self._deployment.bounds)}")
        return {sort: self._number(bound, f"bounds.{sort}") for sort, bound in given.items()}

    # the tree

    def _tree(self, top: Mapping[str, Any], written: str) -> Node:
        states = [
            self._instance(facts, f"states[{k}]")
            for k, facts in enumerate(self._list(top.get("states"), "states"))
        ]
        rows = [
            self._object(row, f"nodes[{k}]") for k, row in enumerate(self._list(top.get("nodes"), "nodes"))
        ]
        if not rows:
            raise self._fault("nodes", "are none; a tree has a root")
        formulas: list[Formula | None] = [None] * len(rows)
        formulas[0] = self._sentence(written, self._text(top.get("spec"), "spec"))
        for k, row in enumerate(rows):
            self._place_children(k, row, rows, formulas)
        nodes: list[Node | None] = [None] * len(rows)
        for k in reversed(range(len(rows))):
            place, row, formula = f"nodes[{k}]", rows[k], formulas[k]
            assert formula is not None
            nodes[k] = Node(
                formula,
                self._truth(row.get("holds"), f"{place}.holds"),
                states[self._number(row.get("state"), f"{place}.state", len(states))],
                self._values(row.get("values"), f"{place}.values"),
                self._reason(row, place, nodes, states),
            )
        assert nodes[0] is not None
        if self._truth(top.get("holds"), "holds") != nodes[0].holds:
            raise self._fault("holds", "is not what the root says; restore the file")
        return nodes[0]

    def _sentence(self, written: str, spec: str) -> Formula:
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

    def _place_children(
        self,
        k: int,
        row: Mapping[str, Any],
        rows: Sequence[Mapping[str, Any]],
        formulas: list[Formula | None],
    ) -> None:
        """Find the formula of each node that node ``k`` rests on: the child of the formula of ``k`` that has
        its number, or for a run one that is printed like it. Nodes rest on later ones only, so that there is
        no cycle."""
        formula = formulas[k]
        if formula is None:
            raise self._fault(f"nodes[{k}]", "is not part of the tree; leave it out")
        parts = children(formula)
        for place, number, among in self._references(row, f"nodes[{k}]", len(rows), parts):
            if number <= k:
                raise self._fault(place, f"is {number}; a node rests on nodes that stand after it")
            text = self._text(rows[number].get("formula"), f"nodes[{number}].formula")
            known = formulas[number]
            child = next((f for f in among if str(f) == text and known in (None, f)), None)
            if child is None:
                raise self._fault(
                    f"nodes[{number}].formula", f"is no part of {formula}, the formula of node {k}"
                )
            formulas[number] = child
            among.remove(child)

    def _references(
        self, row: Mapping[str, Any], place: str, size: int, parts: Sequence[Formula]
    ) -> Iterator[tuple[str, int, list[Formula]]]:
        """The numbers of the nodes that a node rests on, each with its place and the parts of the formula
        that it can be about. Two parts may be printed alike, differing in the variables that stand for `_`,
        so a connective says which it means. Of the claims about one state on a run, which come in the order
        that operators ask for, each is about another part, the right side of `U` first."""
        for i, pair in enumerate(self._list(row.get("parts", []), f"{place}.parts")):
            where = f"{place}.parts[{i}]"
            part, number = self._list(pair, where, 2)
            one = parts[self._number(part, where, len(parts))]
            yield where, self._number(number, where, size), [one]
        for i, pair in enumerate(self._list(row.get("nodes", []), f"{place}.nodes")):
            where = f"{place}.nodes[{i}]"
            yield where, self._number(self._list(pair, where, 2)[1], where, size), list(parts)
        if "run" in row:
            run = self._object(row["run"], f"{place}.run")
            for i, claims in enumerate(self._list(run.get("along"), f"{place}.run.along")):
                where = f"{place}.run.along[{i}]"
                among = list(reversed(parts))
                for number in self._list(claims, where):
                    yield where, self._number(number, where, size), among

    def _reason(
        self,
        row: Mapping[str, Any],
        place: str,
        nodes: Sequence[Node | None],
        states: Sequence[Instance],
    ) -> Reason:
        def node(number: int) -> Node:
            found = nodes[number]
            assert found is not None, "nodes rest on later ones, which are read first"
            return found

        match row.get("because"):
            case "evaluation":
                return Evaluated()
            case "all runs":
                return Unshown()
            case "parts":
                pairs = self._list(row.get("parts"), f"{place}.parts")
                return Parts(tuple((self._number(k, f"{place}.parts"), node(number)) for k, number in pairs))
            case "values":
                pairs = self._list(row.get("nodes"), f"{place}.nodes")
                return Values(tuple((self._text(u, f"{place}.nodes"), node(number)) for u, number in pairs))
            case "run":
                run, inside = self._object(row.get("run"), f"{place}.run"), f"{place}.run"
                steps = self._list(run.get("steps"), f"{inside}.steps")
                return Run(
                    tuple(self._step(s, f"{inside}.steps[{i}]", states) for i, s in enumerate(steps)),
                    tuple(tuple(map(node, claims)) for claims in run["along"]),
                    self._place_in(run.get("ends"), f"{inside}.ends"),
                    self._place_in(run.get("loop"), f"{inside}.loop"),
                )
            case _:
                raise self._fault(f"{place}.because", "is no reason; restore the file")

    def _step(self, data: object, place: str, states: Sequence[Instance]) -> Step:
        row = self._object(data, place)
        actor = row.get("agent")
        return Step(
            self._call(row.get("call"), f"{place}.call"),
            states[self._number(row.get("to"), f"{place}.to", len(states))],
            None if actor is None else self._text(actor, f"{place}.agent"),
        )

    # decisions

    def _agent(self, data: object, place: str) -> Recorded | None:
        if data is None:
            return None
        row = self._object(data, place)
        decisions: dict[tuple[frozenset[Fact], frozenset[Call]], frozenset[Call]] = {}
        for k, item in enumerate(self._list(row.get("decisions"), f"{place}.decisions")):
            where = f"{place}.decisions[{k}]"
            decision = self._object(item, where)
            facts, offered, selected = (
                self._list(decision.get(name), f"{where}.{name}") for name in ("facts", "offered", "selected")
            )
            context = (
                frozenset(self._fact(fact, f"{where}.facts") for fact in facts),
                frozenset(self._call(call, f"{where}.offered") for call in offered),
            )
            if context in decisions:
                raise self._fault(where, "is for a context that has a decision already; keep one")
            decisions[context] = frozenset(self._call(call, f"{where}.selected") for call in selected)
        name = self._text(row.get("agent"), f"{place}.agent")
        known = self._values(row.get("known"), f"{place}.known")
        for value, sort in known.items():
            if sort not in {other.name for other in self._schema.sorts}:
                raise self._fault(
                    f"{place}.known", f"has {value} of sort {sort}, which the deployment has not"
                )
        return Recorded(name, known, MappingProxyType(decisions))

    # parts

    def _instance(self, facts: object, place: str) -> Instance:
        found = [self._fact(fact, place) for fact in self._list(facts, place)]
        try:
            return Instance.of(self._schema, found)
        except DeclarationError as error:
            raise self._fault(place, f"does not fit the deployment: {error.message}") from None

    def _fact(self, data: object, place: str) -> Fact:
        relation, args = self._atom(data, place)
        if not self._schema.has_relation(relation):
            raise self._fault(place, f"has a relation {relation}, which the deployment has not")
        self._count(len(args), self._schema.relation(relation).arity, relation, place)
        return Fact(relation, args)

    def _call(self, data: object, place: str) -> Call:
        name, args = self._atom(data, place)
        try:
            tool = self._deployment.tool(name)
        except DeclarationError as error:
            raise self._fault(place, f"has a call of an {error.message}") from None
        self._count(len(args), len(tool.params), name, place)
        return Call(name, args)

    def _count(self, given: int, wanted: int, name: str, place: str) -> None:
        if given != wanted:
            raise self._fault(place, f"has {name} with {given} values, which takes {wanted}")

    def _atom(self, data: object, place: str) -> tuple[str, tuple[Value, ...]]:
        words = [self._text(word, place) for word in self._list(data, place)]
        if not words:
            raise self._fault(place, "is empty; a fact or a call begins with its name")
        return words[0], tuple(words[1:])

    def _values(self, data: object, place: str) -> Mapping[str, str]:
        return {name: self._text(value, place) for name, value in self._object(data, place).items()}

    def _place_in(self, data: object, place: str) -> int | None:
        return None if data is None else self._number(data, place)

    def _number(self, data: object, place: str, below: int | None = None) -> int:
        if not isinstance(data, int) or isinstance(data, bool) or data < 0:
            raise self._fault(place, "is no number from 0 on")
        if below is not None and data >= below:
            raise self._fault(place, f"is {data}, but there are only {below}")
        return data

    def _truth(self, data: object, place: str) -> bool:
        if not isinstance(data, bool):
            raise self._fault(place, "is neither true nor false")
        return data

    def _text(self, data: object, place: str) -> str:
        if not isinstance(data, str):
            raise self._fault(place, "is no text")
        return data

    def _list(self, data: object, place: str, length: int | None = None) -> list[Any]:
        if not isinstance(data, list) or length not in (None, len(data)):
            raise self._fault(place, "is no list" if length is None else f"is no list of {length}")
        return data

    def _object(self, data: object, place: str) -> Mapping[str, Any]:
        if not isinstance(data, dict):
            raise self._fault(place, "is no object")
        return data

    def _fault(self, place: str, what: str) -> InputError:
        return InputError(f"{self._source}: {place} {what}")
