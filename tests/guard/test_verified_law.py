"""On generated deployments a guard allows what a verified context covers, found by trying all renamings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations, product
from random import Random

import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as some
from live import binding, fill, schema_of

import stead_sym as st
from generated.deployments import deployments
from generated.workflows import workflows
from stead_sym.agents.base import DecisionContext
from stead_sym.deployment.semantics import offer, view
from stead_sym.deployment.tool import Call
from stead_sym.errors import NoInitialState
from stead_sym.relational.instance import Fact, Instance
from stead_sym.report.data import report_data

STATES = 6
REASONS = {"deny": "not verified", "ask": "needs approval", "allow": None}


@given(
    some.one_of(workflows(specs=1, depth=2), deployments(specs=1, depth=2)),
    some.randoms(use_true_random=False),
)
def test_what_is_covered_is_allowed_and_nothing_else(tmp_path_factory, deployment, chosen):
    if deployment.in_batches:
        return
    policies = {agent.name: "p" for agent in deployment.agents}
    try:
        result = st.verify(deployment, policies, findings=False).with_contexts()
    except NoInitialState:
        return
    if {verdict.word for verdict in result.verdicts.values()} - {"holds", "fails"}:
        return
    Attack(deployment, result, chosen, tmp_path_factory.mktemp("live")).run()


class Attack:
    """A guard that is held to a verification, in states near the verified ones and far from them."""

    def __init__(self, deployment, result, chosen: Random, folder) -> None:
        self.deployment, self.chosen = deployment, chosen
        self.role = chosen.choice(deployment.agents)
        run = result.agents[self.role.name]
        self.decisions = list(run.decisions)
        self.fixed = {
            s.name: set(s.values or ()) if s.rigid or s.ordered else set() for s in deployment.schema.sorts
        }
        for value, sort in run.known.items():
            self.fixed[sort].add(value)
        self.sorts = {tool.name: [p.sort for p in tool.params] for tool in deployment.tools}
        self.never_met = chosen.choice(list(REASONS))
        self.verified = chosen.choice([result, report_data(result)])
        self.url = f"sqlite:///{folder / 'live.sqlite'}"

    def run(self) -> None:
        engine = sa.create_engine(self.url)
        with engine.begin() as connection:
            for statement in schema_of(self.deployment.schema):
                connection.exec_driver_sql(statement)
        bound = binding(self.deployment.schema, self.url)
        held = {"verified": self.verified, "never_met": self.never_met, "agent": self.role.name}
        with st.Guard(self.deployment, bound, **held) as guard:
            for number in range(STATES):
                state = self.state(number)
                with engine.begin() as connection:
                    fill(connection, self.deployment.schema, state.facts)
                self.compare(guard, state)
        engine.dispose()

    def state(self, number: int) -> Instance:
        """A verified context under names of its own, now and then without a fact, or random facts."""
        schema, chosen = self.deployment.schema, self.chosen
        if not self.decisions or number % 3 == 2:
            pool = {
                s.name: s.values or (*self.deployment.constants[s.name], f"{s.name}x", f"{s.name}'\"é")
                for s in schema.sorts
            }
            return Instance.of(
                schema,
                {
                    Fact(relation.name, tuple(chosen.choice(pool[sort]) for sort in relation.sorts))
                    for relation in schema.relations
                    for _ in range(chosen.randint(0, 2))
                },
            )
        names: dict[tuple[str, str], str] = {}
        facts = set()
        for fact in sorted(chosen.choice(self.decisions)[0].view.facts):
            args = []
            for sort, value in zip(schema.relation(fact.relation).sorts, fact.args, strict=True):
                listed = schema.sort(sort).values
                if value not in self.fixed[sort] and (sort, value) not in names:
                    taken = {name for (other, _), name in names.items() if other == sort} | self.fixed[sort]
                    free = [one for one in listed or () if one not in taken]
                    names[sort, value] = chosen.choice(free) if listed else f"{sort}{number}n{len(names)}"
                args.append(names.get((sort, value), value))
            facts.add(Fact(fact.relation, tuple(args)))
        if facts and chosen.random() < 0.3:
            facts.discard(chosen.choice(sorted(facts)))
        return Instance.of(schema, facts)

    def compare(self, guard: st.Guard, state: Instance) -> None:
        offered = offer(self.deployment, state, self.role)
        shown = DecisionContext(view(self.deployment, state, self.role), offered)
        covered = next(self.answers(shown), frozenset()) if offered else frozenset()
        is_within = all(
            len(set(active) - set(self.deployment.constants[sort])) <= self.deployment.bounds[sort]
            for sort, active in state.active_domain.items()
            if self.deployment.schema.sort(sort).values is None
        )
        for call in offered:
            reason = None if call in covered else REASONS[self.never_met]
            reason = reason if is_within else "past a bound"
            arguments = self.arguments(call)
            for approved in (None, "ann"):
                decision = guard.check(call.tool, arguments, approved=approved)
                if approved and reason == "needs approval":
                    reason = None
                assert getattr(decision, "reason", None) == reason, (call, sorted(state.facts))
                for other in getattr(decision, "instead", ()):
                    assert guard.check(other.tool, other.arguments).allowed
                if decision.allowed:
                    assert bool(decision.not_verified) == (call not in covered)
        listed = [(call.tool, call.arguments) for call in guard.calls(99)]
        allowed = (offered if self.never_met == "allow" else covered) if is_within else ()
        assert len(listed) == len(allowed)
        assert all((call.tool, self.arguments(call)) in listed for call in allowed)

    def arguments(self, call: Call) -> dict[str, object]:
        tool = next(tool for tool in self.deployment.tools if tool.name == call.tool)
        return {
            p.name: int(value) if self.deployment.schema.sort(p.sort).is_numeric else value
            for p, value in zip(tool.params, call.args, strict=True)
        }

    def answers(self, shown: DecisionContext) -> Iterator[frozenset[Call]]:
        """Yield the calls of the agent in each verified context that a renaming maps to the one shown."""
        for context, selected in self.decisions:
            if len(context.view.facts) == len(shown.view.facts) and len(context.calls) == len(shown.calls):
                for names in self.renamings(self.values(context), self.values(shown)):
                    facts = {Fact(f.relation, self.renamed(f, names)) for f in context.view.facts}
                    calls = {call: Call(call.tool, self.renamed(call, names)) for call in context.calls}
                    if facts == shown.view.facts and set(calls.values()) == shown.calls:
                        yield frozenset(calls[call] for call in selected)

    def values(self, context: DecisionContext) -> Mapping[str, list[str]]:
        found: dict[str, set[str]] = {s.name: set() for s in self.deployment.schema.sorts}
        for one in (*context.view.facts, *context.calls):
            for sort, value in zip(self.sorts_of(one), one.args, strict=True):
                found[sort].add(value)
        return {sort: sorted(values - self.fixed[sort]) for sort, values in found.items()}

    def renamings(self, left, right) -> Iterator[Mapping[tuple[str, str], str]]:
        if all(len(left[sort]) == len(right[sort]) for sort in left):
            for images in product(*(permutations(right[sort]) for sort in left)):
                pairs = zip(left.items(), images, strict=True)
                yield {(sort, u): v for (sort, own), image in pairs for u, v in zip(own, image, strict=True)}

    def renamed(self, one: Fact | Call, names: Mapping[tuple[str, str], str]) -> tuple[str, ...]:
        pairs = zip(self.sorts_of(one), one.args, strict=True)
        return tuple(names.get((sort, value), value) for sort, value in pairs)

    def sorts_of(self, one: Fact | Call):
        if isinstance(one, Call):
            return self.sorts[one.tool]
        return self.deployment.schema.relation(one.relation).sorts
