"""Effects in the paper's own form, `ensure` formulas over D ⊕ D', against the same effects as statements.

The refund tools have the formulas ψ of the paper's section "Workflow and Deployment". There is one trap in
them: their quantifiers range over ad(D ⊕ D'), so that `forall x, q. CaseStatus'(x, q) <-> x = c & q = open`
says nothing where `open` is active neither in D nor in D'. The reading that is meant says in so many
words that the new fact holds.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest
from hypothesis import given, reject, settings

import stead_sym.logic.syntax as fo
from engine_pairs import both, engines, examples
from generated.deployments import deployments
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import offer, successors
from stead_sym.deployment.tool import Clear, Delete, Effect, Ensure, Insert
from stead_sym.errors import DefinitionError, Undecided
from whole import verify

HEAD = """
deployment refund
sort case, task
sort service = { s1, a1, s2, a2 }
sort status = { open, resolved } rigid
relation Approver(service, service)
relation CaseStatus(case, status)
relation Handler(case, service)
relation PartOf(task, case)
relation Approved(task, service)
relation RefundIssued(task)
init
  Approver(s1, a1)
  Approver(s2, a2)
bound case 1
bound task 1
define pending(t: task) = exists c. (PartOf(t, c) & CaseStatus(c, open)) & ~RefundIssued(t)
policy baseline
  call ingest_case()
  call issue_refund(t)
  call resolve_case(c)
  call archive_case(c)
spec auth
  AG forall t, c, s, a. (RefundIssued(t) & PartOf(t, c) & Handler(c, s) & Approver(s, a) -> Approved(t, a))
spec prog
  AG forall c. (CaseStatus(c, open) -> AF CaseStatus(c, resolved))
"""

GUARDS = {
    "ingest_case()": "~exists c, q. CaseStatus(c, q)",
    "issue_refund(t: task)": "pending(t)",
    "obtain_approval(t: task, a: service)": "pending(t) & exists s. Approver(s, a)",
    "resolve_case(c: case)": "CaseStatus(c, open) & exists t. (PartOf(t, c) & RefundIssued(t))",
    "archive_case(c: case)": "CaseStatus(c, resolved)",
}

STATEMENTS = {
    "ingest_case()": """
    choose s: service where s = s1 | s = s2
    fresh c: case
    fresh t: task
    insert CaseStatus(c, open)
    insert Handler(c, s)
    insert PartOf(t, c)""",
    "issue_refund(t: task)": "insert RefundIssued(t)",
    "obtain_approval(t: task, a: service)": "insert Approved(t, a)",
    "resolve_case(c: case)": "delete CaseStatus(c, open)  insert CaseStatus(c, resolved)",
    "archive_case(c: case)": "clear CaseStatus, Handler, PartOf, Approved, RefundIssued",
}

FRESH_CASE = "~(exists q. CaseStatus(c, q)) & ~(exists r. Handler(c, r)) & ~(exists y. PartOf(y, c))"
FRESH_TASK = "~(exists x. PartOf(t, x)) & ~(exists r. Approved(t, r)) & ~RefundIssued(t)"
INGEST = f"""ensure same(Approver) & exists s, c, t. (s = s1 | s = s2) & {FRESH_CASE} & {FRESH_TASK}
      & (forall x, q. CaseStatus'(x, q) <-> x = c & q = open)
      & (forall x, r. Handler'(x, r) <-> x = c & r = s)
      & (forall y, x. PartOf'(y, x) <-> y = t & x = c)
      & empty(Approved) & empty(RefundIssued)"""
RESOLVE = """ensure same(Approver) & same(Handler) & same(PartOf) & same(Approved) & same(RefundIssued)
      & forall x, q. CaseStatus'(x, q) <-> (x = c & q = resolved) | (x != c & CaseStatus(x, q))"""

AS_PRINTED = {
    "ingest_case()": INGEST,
    "issue_refund(t: task)": """
    ensure same(Approver) & same(CaseStatus) & same(Handler) & same(PartOf) & same(Approved)
    ensure forall x. RefundIssued'(x) <-> RefundIssued(x) | x = t""",
    "obtain_approval(t: task, a: service)": """
    ensure same(Approver) & same(CaseStatus) & same(Handler) & same(PartOf) & same(RefundIssued)
    ensure forall x, b. Approved'(x, b) <-> Approved(x, b) | (x = t & b = a)""",
    "resolve_case(c: case)": RESOLVE,
    "archive_case(c: case)": """ensure same(Approver) & empty(CaseStatus) & empty(Handler) & empty(PartOf)
      & empty(Approved) & empty(RefundIssued)""",
}

AS_MEANT = {
    **AS_PRINTED,
    "ingest_case()": INGEST.replace("& (forall x, q.", "& CaseStatus'(c, open) & (forall x, q."),
    "resolve_case(c: case)": RESOLVE + "\n    ensure CaseStatus'(c, resolved)",
}


def refund(effects):
    tools = (
        f"tool {head}\n  guard {guard}\n  effect\n    {effects[head]}\n" for head, guard in GUARDS.items()
    )
    return parse_deployment(HEAD + "".join(tools), "refund.stead")


@pytest.fixture(scope="module")
def written():
    """The deployment in statements with its 217 states, everything offered."""
    deployment = refund(STATEMENTS)
    return deployment, verify(deployment, engine="explicit").satisfying("true").sample(1000)


def test_every_successor_of_every_offered_call_is_the_same(written):
    deployment, states = written
    ensured = refund(AS_MEANT)
    restriction = theorem_restriction(deployment, deployment.specs)
    assert len(states) == 217
    calls = 0
    for state in states:
        offered = offer(deployment, state)
        assert offer(ensured, state) == offered
        for call in offered:
            expected = successors(deployment, call, state, restriction)
            found = successors(ensured, call, state, restriction)
            assert set(found.inside) == set(expected.inside), call
            # beyond U_f an `ensure` is shown one value per sort, as intake draws one fresh value of each
            assert set(found.outside) == set(expected.outside), call
            calls += 1
    assert calls > 217


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
@pytest.mark.parametrize(
    ("policy", "states", "transitions", "auth", "prog"),
    [("baseline", 55, 72, False, True), (None, 217, 360, False, False)],
)
def test_the_figures_of_the_paper(engine, policy, states, transitions, auth, prog):
    deployment = refund(AS_MEANT)
    agent = "any" if policy is None else deployment.policy(policy)
    result = verify(deployment, agent, engine=engine, domain="theorem")
    assert (result.states, result.transitions) == (states, transitions)
    assert (result["auth"].holds, result["prog"].holds) == (auth, prog)


@pytest.mark.gate
def test_as_printed_the_status_of_a_case_may_get_lost():
    """Where no fact of D holds `open`, ψ also admits a D' without it: intake of a case with no status."""
    deployment = refund(AS_PRINTED)
    restriction = theorem_restriction(deployment, deployment.specs)
    (intake,) = offer(deployment, deployment.init)
    found = successors(deployment, intake, deployment.init, restriction).inside
    meant = successors(refund(AS_MEANT), intake, deployment.init, restriction).inside
    assert set(meant) < set(found)
    assert {bool(state.tuples("CaseStatus")) for state in set(found) - set(meant)} == {False}
    counts = {name: build().states for name, build in engines(deployment).items()}
    assert counts["explicit"] == counts["symbolic"] > 217


# Statements turned into an `ensure`, mechanically

MAX_FACTS = 24
"""The relation of an `ensure` is over all pairs of states, which takes long for many facts."""


def active(schema, term, sort):
    """term ∈ ad(D), spelled out: it stands in some fact of D."""
    places = []
    for relation in schema.relations:
        for i, column in enumerate(relation.sorts):
            if column == sort:
                names = [f"e{j}" for j in range(relation.arity)]
                args = tuple(term if j == i else fo.Var(n) for j, n in enumerate(names))
                others = [
                    (n, s) for j, (n, s) in enumerate(zip(names, relation.sorts, strict=True)) if j != i
                ]
                places.append(exists(others, fo.Atom(relation.name, args)))
    return fo.disjunction(tuple(places))


def exists(binders, body):
    for name, sort in reversed(binders):
        body = fo.Exists(fo.Binder(name, sort), body)
    return body


def forall(binders, body):
    for name, sort in reversed(binders):
        body = fo.Forall(fo.Binder(name, sort), body)
    return body


def in_old_state(schema, formula):
    """The formula as read in D, where quantifiers range over ad(D ⊕ D')."""
    formula = fo.map_children(lambda f: in_old_state(schema, f), formula)
    if not isinstance(formula, fo.Quantified):
        return formula
    here = active(schema, fo.Var(formula.binder.name), formula.binder.sort)
    inside = (
        fo.Implies(here, formula.body) if isinstance(formula, fo.Forall) else fo.And((here, formula.body))
    )
    return replace(formula, body=inside)


def as_ensure(schema, effect):
    """P'(x) ↔ inserted(x) ∨ (P(x) ∧ ¬deleted(x)), and, as x ranges over ad(D ⊕ D') only, what is inserted
    in so many words."""
    parts = []
    for relation in schema.relations:
        outer = [(f"o{i}", sort) for i, sort in enumerate(relation.sorts)]
        fact = tuple(fo.Var(name) for name, _ in outer)
        inserted, deleted = [], []
        for statement in effect.statements:
            match statement:
                case Insert(atom, binders, where) | Delete(atom, binders, where):
                    if atom.relation != relation.name:
                        continue
                    over = [(b.name, b.sort) for b in binders]
                    asked = [active(schema, fo.Var(b.name), b.sort) for b in binders]
                    condition = fo.conjunction((*asked, in_old_state(schema, where)))
                    equal = tuple(fo.Equal(x, t) for x, t in zip(fact, atom.args, strict=True))
                    here = exists(over, fo.conjunction((*equal, condition)))
                    if isinstance(statement, Insert):
                        inserted.append(here)
                        primed = fo.Atom(relation.name, atom.args, primed=True)
                        parts.append(forall(over, fo.Implies(condition, primed)))
                    else:
                        deleted.append(here)
                case Clear(relations) if relation.name in relations:
                    deleted.append(fo.conjunction(()))
        kept = fo.And((fo.Atom(relation.name, fact), fo.Not(fo.disjunction(tuple(deleted)))))
        after = fo.Atom(relation.name, fact, primed=True)
        parts.append(forall(outer, fo.Iff(after, fo.disjunction((*inserted, kept)))))
    return Effect((Ensure(fo.conjunction(tuple(parts))),), effect.when)


def ensured(deployment):
    tools = tuple(
        replace(tool, effects=tuple(as_ensure(deployment.schema, e) for e in tool.effects))
        for tool in deployment.tools
    )
    return replace(deployment, written=replace(deployment.written, tools=tools))


@settings(max_examples=examples(40))
@given(deployments(fresh=False, choose=False, alternatives=1, specs=1, depth=3, max_bound=1, max_arity=2))
def test_statements_and_the_equivalent_ensure_agree(deployment):
    rewritten = ensured(deployment)
    sizes = theorem_restriction(deployment, deployment.specs).sizes
    facts = sum(prod(sizes[sort] for sort in relation.sorts) for relation in deployment.schema.relations)
    if facts > MAX_FACTS:
        reject()
    try:
        statements = both(deployment, max_states=40)
    except Undecided:
        reject()
    if statements.explicit.states == 1:
        del statements
        reject()
    for state in statements.explicit.satisfying(fo.conjunction(()), {}).states:
        for call in offer(deployment, state):
            expected = successors(deployment, call, state, statements.restriction)
            found = successors(rewritten, call, state, statements.restriction)
            assert set(found.inside) == set(expected.inside)
            assert not found.outside
    formulas = both(rewritten, max_states=40)
    for engine in formulas:
        assert (engine.states, engine.transitions) == (
            statements.explicit.states,
            statements.explicit.transitions,
        )
        for spec in deployment.specs:
            assert engine.holds(spec.formula) == statements.explicit.holds(spec.formula)


def test_the_old_states_quantifiers_are_cut_down():
    """A fact is copied for each value active in D: an inserted value does not count for `for x`."""
    text = """
deployment copies
sort k = { k1, k2, k3 } rigid
relation K(k)
relation M(k)
init
  K(k1)
tool go()
  effect
    insert K(k2)
    insert M(x) for x: k where atmost 1 y: k. y != x
"""
    deployment = parse_deployment(text)
    expected = {
        frozenset(map(str, s)) for s in verify(deployment, domain="theorem").satisfying("true").sample(99)
    }
    found = {
        frozenset(map(str, s))
        for s in verify(ensured(deployment), domain="theorem").satisfying("true").sample(99)
    }
    assert expected == found
    assert frozenset({"K(k1)", "K(k2)", "M(k1)"}) in found


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("bound", [0, 1])
@pytest.mark.parametrize("selected", [True, False])
def test_a_formula_that_only_leads_past_a_bound(number: int, bound: int, selected: bool) -> None:
    """However many values past it: both engines report the same, also of a call that is not selected."""
    text = f"""
deployment leaping
sort item
relation Held(item)
bound item {bound}
init
tool rest()
tool leap()
  guard ~exists x. Held(x)
  effect
    ensure (forall x. Held(x) -> Held'(x)) & exactly {number} x. Held'(x) & ~Held(x)
policy leaps
  {"call leap()" * selected}
  call rest()
spec never AG ~exists x. Held(x)
"""
    found = []
    for engine in ("symbolic", "explicit"):
        try:
            found.append(verify(parse_deployment(text), "leaps", engine=engine, findings=False)["never"].word)
        except DefinitionError as error:
            found.append(type(error).__name__)
    assert found[0] == found[1]
