"""Check all obligations of a certificate, in this order.

    1  The domains are C and names, as many of them as the theorem (or mode `normal`) requires.
    2  Every D0 is in R. In each state of R: some call is offered or event enabled, each of these has a
       successor, the selected calls are those of the decision tables, and every step leads into R. In R the
       bounds and the declared keys hold. What a state records of the last step and of the past follows from
       the step by definition (`checker.past`). So R contains all reachable states, and the deployment
       satisfies its definition.
    3  The sets F⁻ ⊆ F ⊆ F⁺ bound the states from which a fair run starts, and one starts in each state of R.
    4  Each verdict follows from the sets for the core of its formula (`checker.bounds`).

Every obligation is an inclusion between given sets, or sets that are one image or preimage of a given set.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import stead_sym.logic.syntax as fo
from stead_sym.certificate.checker.bounds import Address, Bounding, Fairness, written
from stead_sym.certificate.checker.decisions import Decisions, by_rules, known_values
from stead_sym.certificate.checker.ensured import Ensuring, Leaping
from stead_sym.certificate.checker.every_number import check_views
from stead_sym.certificate.checker.formulas import Facts, Formulas
from stead_sym.certificate.checker.grounding import Grounding, Leaf
from stead_sym.certificate.checker.held import Steps
from stead_sym.certificate.checker.layout import declared, rearranged
from stead_sym.certificate.checker.ledger import Ledger
from stead_sym.certificate.checker.past import Past, of_steps
from stead_sym.certificate.checker.space import Space, copy_of
from stead_sym.certificate.checker.start import broken_keys, broken_references, initial_states
from stead_sym.certificate.checker.statement import Statement, stated
from stead_sym.certificate.diagrams import read_diagrams
from stead_sym.certificate.document import (
    AgentTable,
    Bounds,
    Certificate,
    Each,
    Everywhere,
    Initially,
    Leaving,
    One,
    Proof,
    Run,
    Set,
    Staying,
    ViewsCertificate,
    cut,
)
from stead_sym.certificate.files import read_diagram_data, read_document
from stead_sym.certificate.verdict import CertificateRejected, CheckedCertificate, ProvedClaim
from stead_sym.deployment.callers import callers
from stead_sym.deployment.parts import Harness
from stead_sym.deployment.tool import Call, Tool
from stead_sym.engines.symbolic.bdd.manager import Backend, Bdd, Manager, at_work
from stead_sym.errors import InputError
from stead_sym.logic.kernel import Core, core
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value


@at_work()
def check_certificate(directory: str | Path, *, backend: Backend | None = None) -> CheckedCertificate:
    """Check the certificate in a directory.

    Raise `CertificateRejected` for the first obligation that fails, `InputError` for files that are not a
    certificate, `Undecided` for a formula over more facts than the checker's limit.
    """
    started = time.perf_counter()
    path = Path(directory)
    certificate = read_document(path)
    if isinstance(certificate, ViewsCertificate):
        return check_views(certificate, str(path), backend)
    statement = stated(certificate, str(path))
    manager = Manager(backend)
    space = declared(manager, certificate, statement)
    data, source = read_diagram_data(path)
    diagrams = read_diagrams(data, source, space.bits)
    sets = rearranged(space, diagrams, certificate)
    checker = Checker(certificate, statement, space, sets)
    try:
        checker.check()
    except CertificateRejected as error:  # its frames would keep the diagrams alive
        raise error.with_traceback(None) from None
    return CheckedCertificate(
        deployment=statement.deployment,
        mode=certificate.mode,
        agents={table.name: _decided_by(table) for table in certificate.agents},
        claims=tuple(
            ProvedClaim(c.name, c.text, "holds" if c.holds else "fails", checker.ledger.claims[c.name])
            for c in statement.claims
        ),
        obligations=dict(checker.ledger.counts),
        facts=len(certificate.facts),
        nodes=len(diagrams.nodes),
        seconds=time.perf_counter() - started,
        harness=Harness(certificate.gates, certificate.calls),
    )


def _decided_by(table: AgentTable) -> str:
    """Return in a few words who decides for an agent."""
    if table.entries is None:
        return "any (everything offered)" if table.policy is None else f"policy {table.policy} by its rules"
    number = f"{len(table.entries)} context{'s' * (len(table.entries) != 1)}"
    return f"a table of {number}" if table.policy is None else f"policy {table.policy} in {number}"


class Checker:
    """The obligations of one certificate, with its own manager."""

    def __init__(self, certificate: Certificate, statement: Statement, space: Space, sets: list[Bdd]) -> None:
        self.certificate = certificate
        self.statement = statement
        self.deployment = statement.deployment
        self.space = space
        self.manager = space.manager
        self._sets = sets
        schema = self.deployment.schema
        self.ledger = Ledger(space, schema)
        self.literal = certificate.mode == "theorem"
        holding = {fact: space.now(fact) for fact in space.atoms}
        holding |= dict.fromkeys(space.static, self.manager.true)
        self.facts = Facts(schema, holding)
        self.reached, within = self.set(certificate.reached), self.set(certificate.within)
        facts = frozenset(space.atoms.values())
        states = self.reached.support <= facts and within.support <= facts
        self.ledger.true(states, "R is a set of states", "reached states")
        self.ledger.within(
            self.reached, within, "R is within the set that formulas are read in", "reached states"
        )
        self.formulas = Formulas(space, schema, self.facts, within=within)
        constants = dict(self.deployment.constants)
        told = of_steps(space, self.deployment)
        self.steps = Steps(space, schema, self.formulas, constants, self.reached, told)
        self.past = Past(space, self.deployment, self.formulas, self.steps.later, self.reached, self.ledger)

    def set(self, number: Set) -> Bdd:
        """Return the set of the certificate with this number."""
        if number >= len(self._sets):
            raise InputError(
                f"the certificate refers to the set {number} and has {len(self._sets)}; write it again"
            )
        return self._sets[number]

    def check(self) -> None:
        """Check all obligations; raise `CertificateRejected` for the first that fails."""
        databases = initial_states(self.space, self.deployment, self.ledger, literal=self.literal)
        self.initial = self.past.begun(databases)
        self.ledger.within(self.initial, self.reached, "every D0 is in R", "initial states")
        self._check_claims_of_the_deployment()
        self.steps.parts = tuple(self._steps())
        self._check_closed()
        self.fairness = self._fairness()
        for claim, sentence in zip(self.certificate.claims, self.statement.claims, strict=True):
            self.ledger.claim = sentence.name
            proof = _Proof(self, f"spec {cut(sentence.name)}", claim.bounds)
            proof.prove(core(sentence.formula), claim.proof, sentence.holds, sentence.holds, ())

    # R

    def _check_claims_of_the_deployment(self) -> None:
        """Check Definition "C-boundedness", the declared keys and the references, in all of R."""
        m, reached = self.manager, self.reached
        for sort, bound in self.deployment.bounds.items():
            outside = self.deployment.outside(sort, self.space.domain[sort])
            over = m.at_least(bound + 1, [reached & self.formulas.active(sort, value) for value in outside])
            self.ledger.empty(over, f"the bound of {sort} is kept", "reached states")
        for broken in broken_keys(self.space, self.deployment, self.facts.holding):
            self.ledger.empty(reached & broken, "the keys are kept", "reached states")
        for broken in broken_references(self.space, self.deployment, self.facts.holding):
            self.ledger.empty(reached & broken, "the references are kept", "reached states")

    def _steps(self) -> Iterator[Bdd]:
        """Yield the transition relation of each tool, restricted to the selected calls."""
        certificate, m = self.certificate, self.manager
        named = {(n.tool, n.alternative, n.variable): n for n in certificate.named}
        grounding = Grounding(
            self.space,
            self.deployment,
            self.formulas,
            self.facts,
            self.reached,
            self.ledger,
            self.literal,
            named,
        )
        offered = {tool.name: grounding.calls(tool) for tool in self.deployment.tools_and_events}
        anything = m.disj(where for calls in offered.values() for where in calls.values())
        what = "a call is offered or an event enabled"
        self.ledger.empty(self.reached & ~anything, what, "reached states")
        selected = self._selected(grounding, offered)
        ensuring, leaping = None, Leaping(grounding)
        if self.deployment.has_ensure:
            ensuring = Ensuring(grounding)
        idle = self._idle()
        for tool in self.deployment.tools_and_events:
            parts: list[Bdd] = []
            for call, where in offered[tool.name].items():
                makers = self._makers(tool, selected[call])
                taken = where & m.disj(makers.values())
                leaves = list(grounding.leaves(tool, call, where))
                dead = self.reached & where
                for leaf in leaves:
                    dead = dead & ~leaf.where
                made = [*self._written(grounding, leaves, taken, idle)]
                if ensuring is not None:
                    for number, effect in enumerate(tool.effects):
                        if effect.is_ensure:
                            led = ensuring.relation(tool, effect, call, where)
                            dead = dead & ~m.exist(ensuring.all_bits, led)
                            dead = leaping.check(tool, number, call, taken, dead)
                            made.append((False, ensuring.inside(led & taken, f"steps of {tool.name}")))
                for actor, chosen in makers.items():
                    parts += (
                        self.past.recorded(part & chosen, tool, call, actor, refused)
                        for refused, part in made
                    )
                self.ledger.empty(dead, f"{call} has a successor", f"steps of {tool.name}")
            yield m.disj(parts)

    def _makers(self, tool: Tool, selected: Mapping[str | None, Bdd]) -> Mapping[str | None, Bdd]:
        """Return where each agent makes the call.

        The agents are distinguished only if states record the agent of the tool's last call.
        """
        if tool.name in self.deployment.history.agents:
            return selected
        return {None: self.manager.disj(selected.values())}

    def _selected(
        self, grounding: Grounding, offered: Mapping[str, Mapping[Call, Bdd]]
    ) -> Mapping[Call, Mapping[str | None, Bdd]]:
        """Return where each call is selected by each agent, and, under None, where each event may occur."""
        result: dict[Call, dict[str | None, Bdd]] = {call: {} for calls in offered.values() for call in calls}
        for event in self.deployment.events:
            for call, where in offered[event.name].items():
                result[call][None] = where
        tables = {table.name: table for table in self.certificate.agents}
        for role in self.deployment.agents:
            table = tables[role.name]
            own = {call: where for name in role.tools for call, where in offered[name].items()}
            policy = None if table.policy is None else self.deployment.policy(table.policy, role)
            rigid = frozenset[Value]() if table.entries is None else known_values(grounding, role, table)
            each = [(role, own.keys())] if role.each is None else callers(self.deployment, role, own)
            for one, calls in each:
                mine = {call: own[call] for call in calls}
                if table.entries is not None:
                    chosen = Decisions(grounding, one, rigid, mine).selected(table.entries, policy)
                else:
                    chosen = mine if policy is None else by_rules(grounding, one, policy, mine)
                for call, where in chosen.items():
                    result[call][role.name] = where
        return result

    def _idle(self) -> Bdd:
        """Return the relation in which every fact of the database is unchanged."""
        m, space = self.manager, self.space
        deepest = sorted(space.database, key=lambda fact: m.level(space.atoms[fact]), reverse=True)
        result = m.true
        for fact in deepest:
            result = space.now(fact).equiv(space.after(fact)) & result
        return result

    def _written(
        self, grounding: Grounding, leaves: list[Leaf], taken: Bdd, idle: Bdd
    ) -> Iterator[tuple[bool, Bdd]]:
        """Yield the transition relations of the leaves of a call where it is selected.

        Before each is whether the call is refused.
        """
        m, space = self.manager, self.space
        for leaf in leaves:
            where = leaf.where & taken
            if not grounding.possible(where):
                continue
            step = grounding.step(leaf, where)
            relation = m.true
            for fact in sorted(step.writes, key=lambda f: m.level(space.atoms[f]), reverse=True):
                relation = space.after(fact).equiv(step.writes[fact]) & relation
            bits = [space.atoms[fact] for fact in step.writes]
            relation = relation & m.exist(frozenset((*bits, *map(copy_of, bits))), idle)
            yield leaf.tool.effects[leaf.number].refused, relation & step.where

    def _check_closed(self) -> None:
        """Check that every step from R leads into R, and that every state of R has a step."""
        pairs = self.steps.pairs(())
        for part, tool in zip(self.steps.parts, self.deployment.tools_and_events, strict=True):
            into = pairs.image_by(part, self.reached)
            self.ledger.within(into, self.reached, "every step from R leads into R", f"steps of {tool.name}")
        ahead = pairs.domain  # all successors are in R
        self.ledger.within(self.reached, ahead, "there is a successor over U_f", "reached states")

    # runs

    def _fairness(self) -> Fairness:
        """Return F⁻ and F⁺, which are R without constraints."""
        constraints = [self.formulas(fair, {}) for fair in self.deployment.fair]
        if not constraints:
            return Fairness((), self.reached, self.reached)
        everything = Fairness(constraints, self.reached, self.reached)
        bounds: dict[str, Bdd] = {}
        pairs = self.steps.pairs(())
        bounding = Bounding("fair", {}, self.set, self.formulas, self.steps, everything, self.ledger)
        for side, kind in (("lower", Staying), ("upper", Leaving)):
            given = self.certificate.fair.get(side)
            if not isinstance(given, kind):
                raise CertificateRejected(
                    "the certificate has the states from which a fair run starts", f"fair {side}"
                )
            bounds[side] = bounding.globally(pairs, self.reached, given, f"fair {side}", side == "lower")
        self.ledger.within(self.reached, bounds["lower"], "a fair run starts in every state of R", "fair")
        return Fairness(constraints, bounds["lower"], bounds["upper"])


@dataclass
class _Proof:
    """The proof of one verdict."""

    checker: Checker
    place: str
    bounds: Bounds

    def __post_init__(self) -> None:
        c = self.checker
        self.bounding = Bounding(self.place, self.bounds, c.set, c.formulas, c.steps, c.fairness, c.ledger)
        self.manager, self.ledger, self.fairness = c.manager, c.ledger, c.fairness
        bits = frozenset(c.space.atoms.values())
        self.alone = self.manager.count(c.initial, bits) == 1

    def prove(self, formula: Core, proof: Proof, value: bool, every: bool, at: Address) -> None:
        """Check that the sentence has the truth value at every D0, or with ``every`` False at some D0."""
        everywhere = every or self.alone
        match formula, proof:
            case fo.Not(body), _:
                self.prove(body, proof, not value, every, (*at, 0))
            case _, Initially():
                self._initially(formula, value, every, at)
            case fo.And(parts), Each(proofs) if value and everywhere and len(parts) == len(proofs):
                for number, (part, inner) in enumerate(zip(parts, proofs, strict=True)):
                    self.prove(part, inner, True, every, (*at, number))
            case fo.And(parts), One(number, inner) if not value and number < len(parts):
                self.prove(parts[number], inner, False, every, (*at, number))
            case fo.Until("E", fo.Truth(True), body), Everywhere() if not value:
                there = self.checker.reached & self.fairness.upper
                bound = self.bounding.bound(body, (*at, 1), {}, False)
                self.ledger.empty(there & bound, "no state of R satisfies what is to come", self.place)
            case fo.Until("E", fo.Truth(True), body), Run(states) if value and (self.alone or not every):
                self._run(states, self.bounding.bound(body, (*at, 1), {}, True))
            case _:
                raise CertificateRejected("the rule fits the formula and the verdict", self.place)

    def _initially(self, formula: Core, value: bool, every: bool, at: Address) -> None:
        bound = self.bounding.bound(formula, at, {}, value)
        surely = bound if value else ~bound
        words = "satisfies" if value else "does not satisfy"
        what = f"{'every' if every else 'some'} D0 {words} the formula at {written(at)}"
        if every:
            self.ledger.within(self.checker.initial, surely, what, self.place)
        else:
            some = self.checker.initial & surely != self.manager.false
            self.ledger.true(some, what, self.place)

    def _run(self, states: tuple[tuple[Fact, ...], ...], target: Bdd) -> None:
        """Check that the states are a run from a D0 to a state of the target from which a fair run starts."""
        m, space, ledger = self.manager, self.checker.space, self.ledger
        codes: list[Mapping[str, bool]] = []
        for number, state in enumerate(states):
            facts = frozenset(state)
            listed = space.static <= facts and facts <= space.static | space.atoms.keys()
            ledger.true(listed, f"state {number} of the run is a state", self.place)
            codes.append({bit: fact in facts for fact, bit in space.atoms.items()})
        ledger.true(bool(codes), "the run has a state", self.place)
        ledger.true(m.satisfies(self.checker.initial, codes[0]), "the run starts at a D0", self.place)
        for number, (before, after) in enumerate(pairwise(codes), 1):
            both = {**before, **{copy_of(bit): value for bit, value in after.items()}}
            steps = any(m.satisfies(part, both) for part in self.checker.steps.parts)
            ledger.true(steps, f"step {number} of the run is a step", self.place)
        last = m.cube(codes[-1])
        ledger.within(last, target, "what is to come holds where the run ends", self.place)
        ledger.within(last, self.fairness.lower, "a fair run starts where the run ends", self.place)
