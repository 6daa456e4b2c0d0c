"""The wrapper is equivariant over arbitrary base agents, and is Eq. (wrapper) to the letter."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

import brute_force
import stead_sym.logic.syntax as fo
from generated.strategies import instances, renamings, schemas
from stead_sym.agents.base import DecisionContext, Everything, FunctionAgent
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.tool import Call, Tool
from stead_sym.errors import AgentError, DeclarationError, InputError
from stead_sym.relational.canonical import orbit
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Sort


def first_name(context):
    return min(context.calls)


def last_name(context):
    return max(context.calls)


def two_names(context):
    return sorted(context.calls)[:2]


def dice(seed):
    def dice(context):
        """A choice that depends on every letter of the context, and on nothing else."""
        roll = random.Random(f"{seed} {context}")
        return roll.sample(sorted(context.calls), roll.randint(1, len(context.calls)))

    return FunctionAgent(dice)


def die(seed):
    def die(context):
        return random.Random(f"{seed} {context}").choice(sorted(context.calls))

    return FunctionAgent(die)


def occurring(context):
    """Equivariant: the calls all of whose arguments stand in facts, or everything if there are none."""
    active = {v for fact in context.view.facts for v in fact.args}
    return [c for c in context.calls if active.issuperset(c.args)] or context.calls


singletons = st.one_of(
    st.sampled_from([FunctionAgent(first_name), FunctionAgent(last_name)]), st.builds(die, st.integers())
)
agents = st.one_of(singletons, st.just(FunctionAgent(two_names)), st.builds(dice, st.integers()))


@dataclass(frozen=True)
class Case:
    """A decision context (D, A), and the same as one structure whose extra relations are the tools."""

    schema: Schema
    tools: tuple[Tool, ...]
    joint: Instance

    @property
    def context(self):
        names = {tool.name for tool in self.tools}
        return DecisionContext(
            Instance(self.schema, frozenset(f for f in self.joint.facts if f.relation not in names)),
            frozenset(Call(*f) for f in self.joint.facts if f.relation in names),
        )

    def wrapper(self, agent):
        return CanonicalWrapper(agent, self.schema, self.tools)

    def encode(self, context):
        return Instance(self.joint.schema, context.view.facts | {Fact(*call) for call in context.calls})


@st.composite
def cases(draw, size=2, max_facts=5, max_calls=4):
    schema = draw(schemas(max_sorts=2, max_relations=3))
    names = st.sampled_from([sort.name for sort in schema.sorts])
    signatures = draw(st.lists(st.lists(names, max_size=2), min_size=1, max_size=3))
    calls = Schema(schema.sorts, tuple(Relation(f"t{i}", tuple(s)) for i, s in enumerate(signatures)))
    view = draw(instances(schema, size=size, max_facts=max_facts))
    offered = draw(instances(calls, size=size, max_facts=max_calls).filter(len))
    return Case(
        schema,
        tuple(
            Tool(r.name, tuple(fo.Binder(f"x{i}", sort) for i, sort in enumerate(r.sorts)))
            for r in calls.relations
        ),
        Instance(Schema(schema.sorts, schema.relations + calls.relations), view.facts | offered.facts),
    )


@given(cases(size=4, max_facts=10, max_calls=8), agents, st.data())
def test_equivariant_for_any_base_agent(case, agent, data):
    iota = data.draw(renamings(case.joint, case.schema.rigid))
    context = case.context
    renamed = Case(case.schema, case.tools, case.joint.rename(iota)).context
    calls = case.wrapper(agent).calls(context.view, context.calls)
    assert calls
    assert calls <= context.calls
    expected = {call.rename(iota) for call in calls}
    assert case.wrapper(agent).calls(renamed.view, renamed.calls) == expected


@given(cases(), agents)
def test_the_union_over_all_canonical_labellings(case, agent):
    """Eq. (wrapper), every witness written out."""
    (decision,) = case.wrapper(agent).decide([case.context])
    (answer,) = agent.select([decision.canonical])
    union = set()
    for sigma in brute_force.isomorphisms(case.joint, case.encode(decision.canonical), case.schema.rigid):
        union |= {call.rename({v: u for u, v in sigma.items()}) for call in answer}
    assert decision.calls == union
    assert decision.selected == frozenset(answer)


@given(cases(), agents)
def test_the_union_over_labellings_of_the_state_where_the_offer_is_equivariant(case, agent):
    """The paper's own Lab_B(D): A is closed under Aut_B(D) and mentions active values only."""
    view, rigid = case.context.view, case.schema.rigid
    active = {v for fact in view.facts for v in fact.args}
    offered = orbit(
        [c for c in case.context.calls if active.issuperset(c.args)] or [Call("idle", ())],
        brute_force.automorphisms(view, rigid),
    )
    wrapper = CanonicalWrapper(agent, case.schema, (*case.tools, Tool("idle")))
    (decision,) = wrapper.decide([DecisionContext(view, offered)])
    union = set()
    for sigma in brute_force.isomorphisms(view, decision.canonical.view, rigid):
        shown = frozenset(call.rename(sigma) for call in offered)
        (answer,) = agent.select([DecisionContext(decision.canonical.view, shown)])
        union |= {call.rename({v: u for u, v in sigma.items()}) for call in answer}
    assert decision.calls == union


@given(cases(size=4, max_facts=10, max_calls=8), st.sampled_from([Everything(), FunctionAgent(occurring)]))
def test_an_equivariant_agent_is_not_changed(case, agent):
    (expected,) = agent.select([case.context])
    assert case.wrapper(agent).calls(case.context.view, case.context.calls) == frozenset(expected)


@given(cases(), singletons)
def test_set_valued_only_where_not_action_rigid(case, agent):
    (decision,) = case.wrapper(agent).decide([case.context])
    group = brute_force.automorphisms(case.joint, case.schema.rigid)
    rigid = all(call.rename(alpha) == call for alpha in group for call in case.context.calls)
    assert decision.action_rigid == rigid
    if rigid:
        assert len(decision.calls) == 1


@given(cases())
def test_where_not_action_rigid_some_singleton_agent_becomes_set_valued(case):
    context = case.context
    (decision,) = case.wrapper(Everything()).decide([context])
    most = max(
        len(case.wrapper(FunctionAgent(lambda _, call=call: call)).calls(context.view, context.calls))
        for call in decision.canonical.calls
    )
    assert (most > 1) == (not decision.action_rigid)


@given(cases(size=4), agents)
def test_the_names_lead_back_from_the_canonical_context(case, agent):
    (decision,) = case.wrapper(agent).decide([case.context])
    view = decision.canonical.view.rename(decision.names)
    calls = {call.rename(decision.names) for call in decision.canonical.calls}
    assert case.context == DecisionContext(view, frozenset(calls))


@st.composite
def spellings(draw, schema):
    """For each value of an unbounded sort what it is called in live data: within a sort no two alike, else
    anything, the names of other sorts' values and of canonical ones included."""
    listed = sorted(schema.listed)
    names = ["x", "y", "1", "2", "a0", "a1", "b0", "A_1", "A_2", "B_1", "x@a", "b0@a", *listed]
    spelled = {}
    for sort in schema.sorts:
        if sort.values is None:
            pool = draw(st.permutations(sorted(set(names))))
            spelled |= {(sort.name, f"{sort.name}{i}"): pool[i] for i in range(6)}
    return spelled


def respelled(items, sorts_of, spelled):
    """Facts or calls, each value called as its sort says."""
    return frozenset(
        type(item)(
            item[0],
            tuple(spelled.get(pair, pair[1]) for pair in zip(sorts_of(item[0]), item[1], strict=True)),
        )
        for item in items
    )


@given(cases(size=3, max_facts=8, max_calls=6), agents, st.data())
def test_identifiers_of_different_sorts_may_be_spelled_alike(case, agent, data):
    """Live data name what they like: the base agent sees the same contexts, and the calls are the same."""
    spelled = data.draw(spellings(case.schema))
    params = {tool.name: tuple(p.sort for p in tool.params) for tool in case.tools}
    columns = {relation.name: relation.sorts for relation in case.schema.relations}
    context = case.context
    live = DecisionContext(
        Instance(case.schema, respelled(context.view, columns.get, spelled)),
        respelled(context.calls, params.get, spelled),
    )
    (expected,), (found,) = case.wrapper(agent).decide([context]), case.wrapper(agent).decide([live])
    assert found.canonical == expected.canonical
    assert found.calls == respelled(expected.calls, params.get, spelled)
    assert found.action_rigid == expected.action_rigid
    back = {call.rename(found.names) for call in found.canonical.calls}
    assert back == live.calls
    assert found.canonical.view.rename(found.names) == live.view


@pytest.mark.parametrize("known", [{}, {"main": "queue"}])
def test_a_name_is_rigid_in_its_own_sort_only(known):
    """A ticket called `open`, and one that is called like a queue that the agent knows."""
    schema = Schema(
        (*TICKETS.sorts, Sort("queue")), (*TICKETS.relations, Relation("In", ("ticket", "queue")))
    )
    seen = []

    def agent(context):
        seen.append(context)
        return min(context.calls)

    wrapper = CanonicalWrapper(FunctionAgent(agent), schema, [CLOSE, IDLE], known)
    for ticket in ("t1", "open", "shut", "main", "TICKET_1", "TICKET_7"):
        view = Instance.of(schema, [("Is", (ticket, "open")), ("In", (ticket, "main"))])
        assert wrapper.calls(view, {Call("close", (ticket,))}) == {Call("close", (ticket,))}
    queue = "main" if known else "QUEUE_1"
    (context,) = seen
    assert context.view == Instance(
        schema, {Fact("Is", ("TICKET_1", "open")), Fact("In", ("TICKET_1", queue))}
    )
    assert wrapper.contexts == wrapper.queries == 1


def test_what_an_agent_knows_comes_with_its_sort():
    with pytest.raises(TypeError, match="with their sorts"):
        CanonicalWrapper(Everything(), TICKETS, [CLOSE, IDLE], frozenset({"t1"}))
    with pytest.raises(DeclarationError, match="unknown sort tickets"):
        CanonicalWrapper(Everything(), TICKETS, [CLOSE, IDLE], {"t1": "tickets"})
    with pytest.raises(DeclarationError, match="the known value open is of sort status, not ticket; "):
        CanonicalWrapper(Everything(), TICKETS, [CLOSE, IDLE], {"open": "ticket"})


TICKETS = Schema(
    (Sort("ticket"), Sort("status", ("open", "shut"), rigid=True)), (Relation("Is", ("ticket", "status")),)
)
CLOSE = Tool("close", (fo.Binder("t", "ticket"),))
IDLE = Tool("idle")


def tickets(**status):
    view = Instance.of(TICKETS, [("Is", pair) for pair in status.items()])
    calls = [Call("close", (t,)) for t, s in status.items() if s == "open"]
    return DecisionContext(view, frozenset([*calls, Call("idle", ())]))


def test_interchangeable_records_are_both_closed():
    wrapper = CanonicalWrapper(FunctionAgent(first_name), TICKETS, [CLOSE, IDLE])
    twins, mixed = wrapper.decide([tickets(t1="open", t2="open"), tickets(t1="open", t2="shut")])
    assert twins.selected == {Call("close", ("TICKET_1",))}
    assert twins.calls == {Call("close", ("t1",)), Call("close", ("t2",))}
    assert not twins.action_rigid
    assert mixed.calls == {Call("close", ("t1",))}
    assert mixed.action_rigid


def test_a_fixed_call_stays_alone_among_interchangeable_records():
    wrapper = CanonicalWrapper(FunctionAgent(last_name), TICKETS, [CLOSE, IDLE])
    context = tickets(t1="open", t2="open")
    assert wrapper.calls(context.view, context.calls) == {Call("idle", ())}


def test_a_call_may_name_what_no_shown_fact_holds():
    """With a cut-down view the offer tells two records apart that the view does not."""
    wrapper = CanonicalWrapper(FunctionAgent(first_name), TICKETS, [CLOSE, IDLE])
    view = Instance.of(TICKETS, [("Is", ("t1", "open")), ("Is", ("t2", "open"))])
    offered = {Call("close", ("t2",)), Call("close", ("t9",))}
    (decision,) = wrapper.decide([DecisionContext(view, frozenset(offered))])
    assert decision.action_rigid
    assert {call.rename(decision.names) for call in decision.canonical.calls} == offered
    assert len(decision.calls) == 1


def test_a_pair_without_symmetry_is_asked_about_once_where_its_view_has_one():
    """Labellings of the view alone would put two questions, and select what either answer says."""
    escalate = Tool("escalate", (fo.Binder("t", "ticket"),))
    view = Instance.of(TICKETS, [("Is", ("t1", "open")), ("Is", ("t2", "open"))])
    offered = frozenset({Call("close", ("t1",)), Call("escalate", ("t2",))})
    asked = []

    def first_ticket(context):
        asked.append(context)
        return min(context.calls, key=lambda call: call.args)

    wrapper = CanonicalWrapper(FunctionAgent(first_ticket), TICKETS, [CLOSE, escalate])
    (decision,) = wrapper.decide([DecisionContext(view, offered)])
    assert decision.action_rigid
    assert (len(asked), len(decision.calls)) == (1, 1)
    labellings = ({"t1": "TICKET_1", "t2": "TICKET_2"}, {"t1": "TICKET_2", "t2": "TICKET_1"})
    joined = set()
    for sigma in labellings:
        context = DecisionContext(view.rename(sigma), frozenset(call.rename(sigma) for call in offered))
        joined.add(first_ticket(context).rename({v: k for k, v in sigma.items()}))
    assert joined == offered


@dataclass
class Recorder:
    """An agent that keeps the batches it was asked."""

    batches: list[list[DecisionContext]] = field(default_factory=list)
    name: str = "recorder"

    def select(self, contexts):
        self.batches.append(list(contexts))
        return [[min(context.calls)] for context in contexts]


def test_one_question_per_canonical_context_in_order_of_first_appearance():
    recorder = Recorder()
    wrapper = CanonicalWrapper(recorder, TICKETS, [CLOSE, IDLE])
    two, one, other = tickets(b="open", c="open"), tickets(a="open"), tickets(x="open")
    decisions = wrapper.decide([two, one, other, two])
    assert recorder.batches == [[decisions[0].canonical, decisions[1].canonical]]
    assert decisions[1].canonical == decisions[2].canonical
    assert [d.calls for d in decisions[1:3]] == [{Call("close", ("a",))}, {Call("close", ("x",))}]
    wrapper.decide([other, one])
    assert len(recorder.batches) == 1
    wrapper.decide([tickets(a="shut"), one])
    assert [len(batch) for batch in recorder.batches] == [2, 1]
    assert wrapper.contexts == wrapper.queries == 3
    assert [context for context, _ in wrapper.decisions] == [c for batch in recorder.batches for c in batch]
    assert all(selected == {min(context.calls)} for context, selected in wrapper.decisions)


@dataclass
class Scripted:
    answers: list
    name: str = "scripted"

    def select(self, contexts):
        return self.answers


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([[]], "agent scripted selects nothing for { Is(TICKET_1, open) } offering close(TICKET_1), idle()"),
        ([[Call("close", ("a",))]], "agent scripted selects close(a) for { Is(TICKET_1, open) } offering"),
        ([], "agent scripted gave 0 answers for 1 contexts; return one per context"),
        (None, "agent scripted answers None to a list of contexts; return one answer for each"),
        ([None], "agent scripted answers None, which is no collection of calls; return calls of the context"),
        (["idle"], "agent scripted answers 'idle', which is no collection of calls; "),
        ([[("idle", ())]], "agent scripted answers (('idle', ()),), which is no collection of calls; "),
        ([("idle", ())], "agent scripted answers ('idle', ()), which is no collection of calls; "),
        ([[Call("close", ["a"])]], "agent scripted answers (Call("),
        ([3], "agent scripted answers 3, which is no collection of calls; "),
    ],
)
def test_wrong_answers_are_refused_and_not_kept(answers, message):
    agent = Scripted(answers)
    wrapper = CanonicalWrapper(agent, TICKETS, [CLOSE, IDLE])
    context = tickets(a="open")
    with pytest.raises(AgentError) as caught:
        wrapper.calls(context.view, context.calls)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert wrapper.contexts == wrapper.queries == 0
    agent.answers = [[Call("idle", ())]]
    assert wrapper.calls(context.view, context.calls) == {Call("idle", ())}


def test_a_wrapper_remembers_from_run_to_run_and_counts_each():
    recorder = Recorder()
    first = CanonicalWrapper(recorder, TICKETS, [CLOSE, IDLE])
    first.decide([tickets(a="open"), tickets(a="shut")])
    second = first.again()
    assert (second.contexts, second.queries, second.decisions) == (0, 0, ())
    second.decide([tickets(x="open"), tickets(a="open", b="open")])
    assert (second.contexts, second.queries) == (2, 1)
    assert second.decisions[0] == first.decisions[0]
    assert (first.contexts, first.queries) == (2, 2)
    first.decide([tickets(c="open", d="open")])
    assert (first.contexts, first.queries) == (3, 2)
    assert [len(batch) for batch in recorder.batches] == [2, 1]


def test_contexts_that_do_not_fit_are_refused():
    wrapper = CanonicalWrapper(Everything(), TICKETS, [CLOSE, IDLE])
    view = tickets(a="open").view
    with pytest.raises(InputError, match=r"^no call is offered for { Is\(a, open\) }"):
        wrapper.calls(view, [])
    with pytest.raises(DeclarationError, match=r"^the offered call reopen\(a\) is of no known tool; "):
        wrapper.calls(view, [Call("reopen", ("a",))])
    with pytest.raises(DeclarationError, match=r"^the offered call close\(a, b\) should have 1 arguments; "):
        wrapper.calls(view, [Call("close", ("a", "b"))])
    with pytest.raises(TypeError, match=r"^nothing has said the sort of t yet"):
        CanonicalWrapper(Everything(), TICKETS, [Tool("close", (fo.Binder("t"),))])


@dataclass
class Slow:
    """An agent that answers when it is told to, and counts what it is asked."""

    asked: list = field(default_factory=list)
    may_answer: threading.Event = field(default_factory=threading.Event)
    came: threading.Event = field(default_factory=threading.Event)
    fails: bool = False
    name: str = "slow"

    def select(self, contexts):
        self.asked += contexts
        if any(len(context.view) == 1 for context in contexts):
            self.came.set()
            assert self.may_answer.wait(30)
            if self.fails:
                self.fails = False
                raise ConnectionError
        return [[min(context.calls)] for context in contexts]


def test_threads_with_one_new_context_ask_once_and_others_do_not_wait():
    agent = Slow()
    wrapper = CanonicalWrapper(agent, TICKETS, [CLOSE, IDLE])
    with ThreadPoolExecutor(9) as threads:
        waiting = [threads.submit(wrapper.decide, [tickets(**{f"t{i}": "open"})]) for i in range(8)]
        assert agent.came.wait(30)
        (other,) = threads.submit(wrapper.decide, [tickets(a="open", b="shut")]).result(30)
        assert other.calls == {Call("close", ("a",))}
        assert not any(one.done() for one in waiting)
        agent.may_answer.set()
        found = [one.result(30)[0].calls for one in waiting]
    assert found == [{Call("close", (f"t{i}",))} for i in range(8)]
    assert len(agent.asked) == wrapper.queries == wrapper.contexts == 2


def test_where_one_thread_is_let_down_another_asks():
    agent = Slow(fails=True)
    wrapper = CanonicalWrapper(agent, TICKETS, [CLOSE, IDLE])
    with ThreadPoolExecutor(4) as threads:
        waiting = [threads.submit(wrapper.decide, [tickets(a="open")]) for _ in range(4)]
        assert agent.came.wait(30)
        agent.may_answer.set()
        errors = [one.exception(30) for one in waiting]
    assert [type(error) for error in errors if error is not None] == [ConnectionError]
    assert len(agent.asked) == 2
    assert (wrapper.queries, wrapper.contexts) == (1, 1)


def queue(closed, opened, dice=None):
    """A queue with so many tickets that are shut, and so many that are open."""
    names = [f"t{i}" for i in range(closed + opened)]
    if dice is not None:
        names = [f"u{i}" for i in dice.sample(range(10_000), len(names))]
    return tickets(**dict(zip(names, ["shut"] * closed + ["open"] * opened, strict=True)))


def test_large_contexts_that_come_one_after_another():
    """They are brought up to date from each other, from several threads, and told apart by what they hold."""
    recorder, dice = Recorder(), random.Random(3)
    wrapper = CanonicalWrapper(recorder, TICKETS, [CLOSE, IDLE])
    sizes = [(300, 40), (300, 41), (301, 40), (299, 41), (300, 40), (40, 300), (2, 1), (301, 40)]
    contexts = [queue(*size, dice) for size in sizes] + [queue(*size) for size in sizes]
    with ThreadPoolExecutor(4) as threads:
        found = [one for [one] in threads.map(lambda context: wrapper.decide([context]), contexts * 3)]
    for context, decision in zip(contexts * 3, found, strict=True):
        assert decision.calls == context.calls - {Call("idle", ())}
        assert {call.rename(decision.names) for call in decision.canonical.calls} == context.calls
        assert decision.canonical.view.rename(decision.names) == context.view
        assert not decision.action_rigid or len(context.calls) == 2
    assert len(recorder.batches) == wrapper.contexts == len(set(sizes))


def test_a_large_context_that_does_not_fit_leaves_nothing_behind():
    wrapper = CanonicalWrapper(Everything(), TICKETS, [CLOSE, IDLE])
    context = queue(300, 40)
    (before,) = wrapper.decide([context])
    with pytest.raises(DeclarationError, match="is of no known tool"):
        wrapper.calls(queue(301, 40).view, context.calls | {Call("reopen", ("t1",))})
    odd = Instance(TICKETS, context.view.facts | {Fact("Was", ("t1", "open"))})
    with pytest.raises(DeclarationError, match="unknown relation Was"):
        wrapper.calls(odd, context.calls)
    assert wrapper.calls(context.view, context.calls) == before.calls
    assert wrapper.contexts == 1
