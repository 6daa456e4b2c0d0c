"""Fairness of actions on generated deployments: both engines, on both domains, against a checker that is
written here from the definition.

The checker lists the states of the literal domain with the calls on the edges, decides EG by the emptiness of
Streett automata on strongly connected components, and evaluates the specifications over that.
"""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import product

import networkx as nx
import pytest
from hypothesis import HealthCheck, Phase, given, note, reject, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import actors, by_name, some_by_name
from generated.deployments import deployments
from generated.formulas import formulas
from generated.workflows import workflows
from stead_sym.agents.roles import wrap_all
from stead_sym.deployment.deployment import print_deployment
from stead_sym.deployment.initial import initial_states
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.parts import FairAction, Spec
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import outcomes, within
from stead_sym.errors import DeclarationError, DefinitionError, NoInitialState, Undecided
from stead_sym.logic.evaluate import holds
from stead_sym.verification.verify import verify

MAX_STATES = 150
CASES = int(os.environ.get("STEAD_FAIR_CASES", "25"))


TURNS = "event ring() tool work() guard ~Done() effect insert Done() tool wait()"
TWO = "sort a relation In(a) relation T(a) init In(c) In(d) event touch(x: a) guard In(x) effect insert T(x)"
COMING = (
    "sort a bound a 1 relation In(a) relation Done() event come() guard ~In(_) effect fresh x: a insert In(x)"
    " event go() effect clear In event use(x: a) guard In(x) effect insert Done()"
)
NIGHT = (
    "relation Night() relation Done() event dusk() guard ~Night() effect insert Night()"
    " event dawn() guard Night() effect clear Night event come() guard ~Night() effect insert Done()"
)
SHARED = (
    "relation Done() tool wait() tool work() effect insert Done()"
    "\nagent ann\n tools wait, work policy lazy call wait()"
    "\nagent bob\n tools work policy lazy call work()"
)
NUMBERS = "sort n = 0..2 relation Done(n) event count(k: n) guard ~Done(k) effect insert Done(k) tool wait()"
RETRY = "relation Done() policy lazy call try() tool try() effect insert Done() effect"
WAITING = "relation Done() tool try() effect insert Done() effect tool wait()"
BREAKING = (
    "relation Done() relation Broken() policy lazy call try()"
    " tool try() effect when ~Broken() insert Done() effect insert Broken() effect"
)
SENDING = (
    "sort a relation In(a) relation T(a) init In(c) In(d) policy lazy call send(x)"
    " tool send(x: a) guard In(x) effect insert T(x) effect"
)
LOSING = (
    "sort a bound a 1 relation In(a) relation Done() policy lazy call send(x) call wait()"
    " event come() guard ~In(_) effect fresh x: a insert In(x)"
    " tool send(x: a) guard In(x) effect insert Done() effect delete In(x) tool wait() guard ~In(_)"
)
BELL = "relation Done() policy lazy call wait() tool wait() event ring() effect insert Done() effect"
SAME = "relation Done() tool one() effect tool two() effect effect insert Done()"
TURN_OF_ANN = (
    "relation Done() tool wait() tool try() effect insert Done() effect"
    "\nagent ann\n tools wait policy lazy call wait()"
    "\nagent bob\n tools try policy lazy call try()"
)
DEFINED = [  # deployment, lines, specification, and whether it holds where the only policy is `lazy`
    ("relation Done() policy lazy call wait() " + TURNS, "fair tool work", "AF Done()", False),
    ("relation Done() policy lazy call work() call wait() " + TURNS, "fair agent", "AF Done()", True),
    ("relation Done() policy lazy call work() call wait() " + TURNS, "fair event ring", "AF Done()", False),
    ("relation Done() policy lazy call work() call wait() " + TURNS, "fair tool work()", "AF Done()", True),
    (TWO, "fair event touch", "AF T(c) & AF T(d)", True),
    (TWO, "", "EG ~T(d)", True),
    (COMING, "fair event come fair strong event use", "EG ~Done()", True),
    (COMING, "fair strong event use", "AG (In(_) -> AX AX ~EG (In(_) & ~Done()))", True),
    (NUMBERS, "fair event count", "AF forall k in n. Done(k)", True),
    (NUMBERS, "fair event count", "AX Done(2)", False),
    (NIGHT, "fair strong event come", "AF Done()", True),
    (NIGHT, "fair event come", "AF Done()", False),
    (SHARED, "fair agent ann", "AF Done()", False),
    (SHARED, "fair agent bob", "AF Done()", True),
    (RETRY, "", "AF Done()", False),
    (RETRY, "fair outcome try", "AF Done()", True),
    (RETRY, "fair outcome try", "EG ~Done()", False),
    (WAITING, "fair outcome try", "AF Done()", False),
    (WAITING, "fair tool try", "AF Done()", False),
    (WAITING, "fair tool try fair outcome try", "AF Done()", True),
    (BREAKING, "fair outcome try", "AF Done()", False),
    (BREAKING, "fair outcome try", "AF (Done() | Broken())", True),
    (BREAKING, "", "AF (Done() | Broken())", False),
    (SENDING, "fair outcome send", "AF (T(c) | T(d))", True),
    (SENDING, "fair outcome send", "AF T(c)", False),
    (SENDING, "fair tool send", "AF (T(c) | T(d))", False),
    (SENDING, "fair tool send fair outcome send", "AF T(c) & AF T(d)", True),
    (LOSING, "fair event come fair outcome send", "AF Done()", False),
    (TURN_OF_ANN, "fair agent bob fair outcome try", "AF Done()", True),
    (TURN_OF_ANN, "fair agent ann fair outcome try", "AF Done()", False),
    (LOSING, "fair outcome send", "AG forall x: a. (In(x) -> AF (~In(x) | Done()))", True),
    (BELL, "fair event ring", "AF Done()", False),
    (BELL, "fair outcome ring", "AF Done()", False),
    (BELL, "fair event ring fair outcome ring", "AF Done()", True),
    (SAME, "fair outcome two", "AF Done()", False),
    (SAME, "fair outcome two fair tool two", "AF Done()", True),
]


@pytest.mark.parametrize(("body", "lines", "asked", "expected"), DEFINED)
def test_what_each_line_asks_for(body, lines, asked, expected):
    deployment = parse_deployment(f"deployment defined\n{body}\n{lines}\nspec q0 {asked}")
    lazy = {agent.name: "lazy" if agent.policies else "any" for agent in deployment.agents}
    assert assert_as_defined(deployment, lazy) == {"q0": expected}
    assert parse_deployment(print_deployment(deployment)) == deployment


REFUSED = [
    ("fair event work", "work is a tool; write `fair tool work`"),
    ("fair tool wrok", "unknown tool wrok; did you mean work?"),
    ("fair agent bob", "unknown agent bob"),
    ("fair tool work(x)", "its 0 parameters"),
    ("fair outcome work", "work has one alternative"),
    ("fair outcome wrok", "unknown tool or event wrok; did you mean work?"),
    ("fair strong outcome work", "always strong"),
]


@pytest.mark.parametrize(("line", "why"), REFUSED)
def test_a_line_about_nothing_is_refused(line, why):
    with pytest.raises(DeclarationError, match=why.replace("`", ".")):
        parse_deployment(f"deployment d relation Done() {TURNS} {line}")


def test_words_of_fairness_are_names_elsewhere():
    """Relations may have these names, and `fair agent` speaks of one that has no columns."""
    names = "relation event() relation agent() relation strong() relation tool() relation Done()"
    lines = "fair event and strong\nfair agent\nfair strong\nfair tool\nevent ring()"
    deployment = parse_deployment(f"deployment d {names} tool wait() {lines}")
    assert len(deployment.fair) == 4
    assert deployment.fair_actions == ()


class Oracle:
    """M ↾ U_f with fair runs only, state by state."""

    def __init__(self, deployment, agents):
        self.deployment = deployment
        self.restriction = theorem_restriction(deployment, deployment.specs)
        wrappers = wrap_all(deployment, agents)
        self.graph = nx.DiGraph()
        self.split = nx.DiGraph()  # D → (D, call) → D': a run here is one of calls
        self.may = {}
        todo = self.initial = list(initial_states(deployment, self.restriction.values, MAX_STATES))
        todo = [*todo]
        self.graph.add_nodes_from(todo)
        while todo:
            state = todo.pop()
            self.may[state] = actors(deployment, wrappers, state)
            for call in self.may[state]:
                self.split.add_node((state, call))
                for after in outcomes(deployment, call, state, self.restriction):
                    if within(self.restriction, after):
                        if after not in self.graph:
                            todo.append(after)
                        self.graph.add_edge(state, after)
                        self.split.add_edge(state, (state, call))
                        self.split.add_edge((state, call), after)
            if len(self.graph) > MAX_STATES:
                reject()
        self.pairs = [pair for action in deployment.fair_actions for pair in self._pairs(action)]
        self.pairs += [
            (set(self.split), {s for s in self.graph if holds(f, s, {})}, set()) for f in deployment.fair
        ]
        self.fair = self.eg(set(self.graph))

    def _pairs(self, action):
        """Per constraint (P, Q, T): a run in P again and again is in Q, or takes an edge of T, again and
        again."""
        d = self.deployment
        if action.kind == "agent":
            for role in d.agents:
                if action.name in (None, role.name):
                    mine = {s: {c for c, who in self.may[s].items() if role.name in who} for s in self.graph}
                    yield self._pair(action, {s for s in mine if mine[s]}, set(), mine)
            return
        params = d.tool(action.name).params
        values = [self.restriction.values[param.sort] for param in params]
        open_ = [k for k, param in enumerate(params) if d.schema.sort(param.sort).values is None]
        for args in product(*values):
            mine = {s: {c for c in self.may[s] if c == (action.name, args)} for s in self.graph}
            absent = {
                s for s in self.graph if any(args[k] not in s.active_domain[params[k].sort] for k in open_)
            }
            if action.kind == "outcome":
                yield from self._alternatives(mine, absent)
            else:
                yield self._pair(action, {s for s in mine if mine[s]}, absent, mine)

    def _pair(self, action, enabled, absent, mine):
        taken = {((s, call), t) for s in mine for call in mine[s] for t in self.split[s, call]}
        if action.strong:
            return enabled, absent, taken
        return set(self.split), set(self.graph) - enabled, taken

    def _alternatives(self, mine, absent):
        """Per alternative: a run that makes the call where it is possible takes it, again and again."""
        made = [(s, call) for s in mine for call in mine[s]]
        for k in range(len(self.deployment.tool(made[0][1].tool).effects) if made else 0):
            taken = {
                ((s, call), t)
                for s, call in made
                for t in outcomes(self.deployment, call, s, self.restriction, by=k)
                if t in self.graph
            }
            yield {move for move, _ in taken}, absent, taken

    # runs

    def eg(self, states):
        good, todo = set(), [states | {(s, call) for s in states for call in self.may[s]}]
        while todo:
            inside = self.split.subgraph(todo.pop())
            for component in map(set, nx.strongly_connected_components(inside)):
                if len(component) == 1:
                    continue
                bad = set()
                for p, q, t in self.pairs:
                    if not component & q and not any(e in t for e in self.split.subgraph(component).edges):
                        bad |= component & p
                if bad:
                    todo.append(component - bad)
                else:
                    good |= component & states
        return self.until(states, good)

    def until(self, through, goal):
        found = set(goal)
        todo = [*goal]
        while todo:
            for before in self.graph.predecessors(todo.pop()):
                if before in through and before not in found:
                    found.add(before)
                    todo.append(before)
        return found

    # formulas

    def sat(self, f, sigma):
        every = set(self.graph)
        if not fo.is_temporal(f):
            return {s for s in every if holds(f, s, sigma)}
        match f:
            case fo.Not(body):
                return every - self.sat(body, sigma)
            case fo.Implies(left, right):
                return (every - self.sat(left, sigma)) | self.sat(right, sigma)
            case fo.And(parts):
                return every.intersection(*(self.sat(part, sigma) for part in parts))
            case fo.Or(parts):
                return set().union(*(self.sat(part, sigma) for part in parts))
            case fo.Exists(binder, body):
                found = set()
                for u in self.restriction.values[binder.sort]:
                    there = {s for s in every if u in s.active_domain[binder.sort]}
                    found |= there & self.sat(body, {**sigma, binder.name: u})
                return found
            case fo.Forall(binder, body):
                return every - self.sat(fo.Exists(binder, fo.Not(body)), sigma)
            case fo.Next("E", body):
                goal = self.sat(body, sigma) & self.fair
                return {s for s in every if goal.intersection(self.graph.successors(s))}
            case fo.Future("E", body):
                return self.until(every, self.sat(body, sigma) & self.fair)
            case fo.Globally("E", body):
                return self.eg(self.sat(body, sigma))
            case fo.Until("E", left, right, False):
                return self.until(self.sat(left, sigma), self.sat(right, sigma) & self.fair)
            case fo.Future("A", body):
                return every - self.sat(fo.Globally("E", fo.Not(body)), sigma)
            case fo.Globally("A", body):
                return every - self.sat(fo.Future("E", fo.Not(body)), sigma)
            case fo.Next("A", body):
                return every - self.sat(fo.Next("E", fo.Not(body)), sigma)
            case _:
                raise AssertionError(f"the test asks about {f}")

    def holds(self, f):
        return self.sat(f, {}).issuperset(self.initial)


@st.composite
def constraints(draw, deployment):
    kinds = [FairAction("event" if t.event else "tool", t.name) for t in deployment.tools_and_events]
    kinds += [FairAction("agent"), *(FairAction("agent", a.name) for a in deployment.agents if a.name)]
    open_ = [FairAction("outcome", t.name) for t in deployment.tools_and_events if len(t.effects) > 1]
    outcome = draw(st.lists(st.sampled_from(open_), max_size=2, unique=True)) if open_ else []
    some = draw(st.lists(st.sampled_from(kinds), min_size=not outcome, max_size=4, unique=True))
    return (*(replace(one, strong=draw(st.booleans())) for one in some), *outcome)


@st.composite
def questions(draw, deployment):
    """Specifications that ask for something to come, or to be possible again and again."""
    schema = deployment.schema
    from generated.formulas import Signature

    known = {r.name: r.sorts for r in schema.relations}
    signature = Signature(known, deployment.constants)
    sort = draw(st.sampled_from([s.name for s in schema.sorts if s.values is None]))
    binder = fo.Binder("x", sort)
    made = []
    for k in range(3):
        f, g = (draw(formulas(signature, {"x": sort}, depth=1)) for _ in range(2))
        path = draw(st.sampled_from("AE"))
        inner = draw(st.sampled_from([fo.Future(path, g), fo.Globally(path, g), fo.Until("E", f, g, False)]))
        if draw(st.booleans()):
            inner = fo.Globally(draw(st.sampled_from("AE")), fo.Future(draw(st.sampled_from("AE")), g))
        body = fo.Forall(binder, fo.Implies(f, inner))
        made.append(Spec(f"q{k}", fo.Globally("A", body) if draw(st.booleans()) else fo.Future("A", body)))
    return tuple(made)


@st.composite
def records(draw):
    """Records that come, change and go, by events and by tools, some of them shared by two agents: what
    waits for what hangs on who gets a turn."""
    literals = ("P(x)", "~P(x)", "Q(x)", "~Q(x)", "F()", "~F()", "L(lo)", "~L(hi)")
    changes = ("insert P(x)", "delete P(x)", "insert Q(x)", "delete Q(x)", "insert F()", "clear F")
    leaves = "delete In(x)\n    delete P(x)\n    delete Q(x)"
    text = [
        "deployment records",
        "sort a",
        "sort k = { lo, hi } rigid",
        f"bound a {draw(st.sampled_from([1, 1, 2]))}",
    ]
    text += ["relation In(a)", "relation P(a)", "relation Q(a)", "relation F()", "relation L(k)"]
    if draw(st.booleans()):
        text += ["init In(c)", "event again() guard ~In(c) effect insert In(c)"]
    text += [
        "event arrive() guard ~exists x: a. In(x) & x != c effect fresh x: a insert In(x)".replace(
            " & x != c", " & x != c" if "init In(c)" in text else ""
        )
    ]
    tools = ["wait"]
    for i in range(draw(st.integers(1, 3))):
        kind, name = draw(st.sampled_from(["event", "tool"])), f"t{i}"
        tools += [name] if kind == "tool" else []
        if draw(st.integers(0, 5)) == 5:
            flip = draw(st.sampled_from(["guard ~L(l) effect insert L(l)", "guard L(l) effect delete L(l)"]))
            text.append(f"{kind} {name}(l: k) {flip}")
            continue
        guard = " & ".join(["In(x)", *draw(st.lists(st.sampled_from(literals), max_size=2))])
        effect = draw(st.lists(st.sampled_from(changes), min_size=1, max_size=2, unique=True))
        effect = leaves if draw(st.integers(0, 4)) == 4 else "\n    ".join(effect)
        text.append(f"{kind} {name}(x: a)\n  guard {guard}\n  effect\n    {effect}")
        if draw(st.booleans()):
            leaving = "delete In(x)\n    delete P(x)\n    delete Q(x)"
            other = draw(st.lists(st.sampled_from((*changes, leaving)), max_size=2, unique=True))
            when = draw(st.sampled_from(["", "", "when F()", "when P(x)", "when ~Q(x)"]))
            text.append("\n    ".join([f"  effect {when}", *other]))
    text += ["tool wait()"]
    if draw(st.booleans()):
        some = [draw(st.lists(st.sampled_from(tools), min_size=1, unique=True)) for _ in range(2)]
        some[0] += [tool for tool in tools if tool not in some[0] + some[1]]
        for name, own in zip(("ann", "bob"), some, strict=True):
            lines = [
                f"call {tool}({'l' if tool + '(l' in ' '.join(text) else 'x'})"
                for tool in own
                if tool != "wait"
            ]
            text += [f"agent {name}", f"  tools {', '.join(own)}", "  policy p"]
            text += [
                f"    {line}" for line in (*draw(st.permutations(lines)), *["call wait()"] * ("wait" in own))
            ]
    return parse_deployment("\n".join(text))


@st.composite
def asked_of_records(draw, deployment):
    """Return specifications: what an action waits for does not last, or something comes at last."""
    literals = ["P(x)", "Q(x)", "~P(x)", "~Q(x)", "~In(x)", "F()", "L(lo)"]
    guards = [str(t.guard) for t in deployment.tools_and_events if [p.name for p in t.params] == ["x"]]
    texts = []
    for _ in range(2):
        f = draw(st.sampled_from(guards * 2 + ["In(x)"]))
        g = draw(st.sampled_from([f"~({f})"] * 3 + literals))
        some = (
            *["AG forall x: a. ({f} -> AF {g})"] * 2,
            *("AG AF ~exists x: a. {f}", "EF exists x: a. EG {f}", "AG forall x: a. AF ({g} | ~In(x))"),
        )
        texts.append(draw(st.sampled_from(some)).format(f=f, g=g))
    return tuple(Spec(f"q{k}", deployment.formula(text)) for k, text in enumerate(texts))


@st.composite
def fair_deployments(draw):
    """A small deployment with fairness of actions, and who its agents are."""
    old = deployments(max_tools=3, max_bound=2, max_arity=2)
    kind = draw(st.sampled_from(["records", "records", "records", "workflows", "old"]))
    plain = draw({"records": records(), "workflows": workflows(max_actions=3), "old": old}[kind])
    written = replace(
        plain.written,
        fair_actions=draw(constraints(plain)),
        specs=draw(asked_of_records(plain) if kind == "records" else questions(plain)),
        fair=plain.written.fair if draw(st.booleans()) else (),
    )
    deployment = replace(plain, written=written, text=None)
    policies = [["any", by_name(1), some_by_name(2), *(p.name for p in a.policies)] for a in plain.agents]
    return deployment, {a.name: draw(st.sampled_from(p)) for a, p in zip(plain.agents, policies, strict=True)}


def assert_as_defined(deployment, agents):
    """Both engines and domains answer as the checker here does."""
    try:
        explicit = verify(deployment, agents, engine="explicit", max_states=MAX_STATES, findings=False)
    except (DefinitionError, NoInitialState, Undecided):
        reject()
    if explicit.broken is not None:
        reject()
    oracle = Oracle(deployment, agents)
    if not oracle.holds(fo.Globally("E", deployment.formula("true"))):
        reject()  # some start has no fair run: what is decided then is in test_hiding_fairness
    expected = {s.name: oracle.holds(s.formula) for s in deployment.specs}
    results = {"explicit": explicit}
    for domain in ("theorem", "normal"):
        results[domain] = verify(deployment, agents, domain=domain, findings=False)
    for how, result in results.items():
        assert {name: v.holds for name, v in result.verdicts.items()} == expected, how
    return expected


@given(fair_deployments())
@settings(
    max_examples=CASES,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_engines_and_domains_agree_with_the_definition(case):
    deployment, agents = case
    note(f"{agents}\n{print_deployment(deployment)}")
    assert_as_defined(deployment, agents)
