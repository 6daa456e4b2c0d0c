"""Evidence to look at: generated, with nested operators and with fairness, and what is in it, read off the
tree itself."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import reject
from hypothesis import strategies as st

import stead_sym
import stead_sym.logic.syntax as fo
from generated.deployments import deployments
from generated.formulas import Signature, formulas
from stead_sym.errors import Undecided
from stead_sym.evidence.tree import Evaluated, Run, Values, is_witness, runs, states_along
from stead_sym.verification.verify import verify

NESTED = """
deployment nested
sort ticket
sort level = { low, high } rigid
relation Open(ticket)
relation Level(ticket, level)
relation Alert()
bound ticket 2
init
event arrive() "a ticket comes in"
  guard atmost 1 t. Open(t)
  effect
    fresh t: ticket
    choose l: level
    insert Open(t)
    insert Level(t, l)
event alert()
  guard ~Alert()
  effect insert Alert()
tool close(t: ticket)
  guard Open(t)
  effect
    delete Open(t)
    delete Level(t, l) for l
tool calm()
  guard Alert()
  effect clear Alert
tool wait()
policy slow
  call calm()
  call wait()
fair ~exists t. Open(t)
fair ~Alert()
spec can_always EG (EF exists t. Level(t, high) & ~Alert())
spec until A[~Alert() U exists t. Open(t)]
spec weak E[~Alert() W (exists t. Open(t)) & EX Alert()]
spec alerts EG ((EF Alert()) & (EF ~Alert()))
spec two EF atleast 2 t. (Open(t) & EF ~Open(t))
spec all_open AG forall t. Open(t) -> AF ~Open(t)
"""


def nested(agent="any"):
    """Runs that begin in states of others, some of which go on only to be fair."""
    return verify(stead_sym.parse_deployment(NESTED), agent, findings=False)


@st.composite
def verifications(draw):
    """Small deployments, some with a constraint, and specifications in which operators are nested."""
    deployment = draw(deployments(specs=1))
    signature = Signature(
        {relation.name: relation.sorts for relation in deployment.schema.relations}, deployment.constants
    )
    f, g = (draw(formulas(signature, {}, depth=2)) for _ in range(2))
    nested = (
        deployment.specs[0].formula,
        fo.Globally("E", fo.And((fo.Future("E", f), fo.Future("E", fo.Not(f))))),
        fo.Globally("A", fo.Future("A", g)),
        fo.Until("A", f, fo.Next("E", g)),
        fo.Until("E", f, fo.Globally("E", g), weak=True),
        fo.Future("E", fo.And((fo.Future("E", g), fo.Globally("E", f)))),
    )
    chosen = draw(st.lists(st.sampled_from(nested), min_size=2, max_size=3, unique=True))
    specs = tuple(replace(deployment.specs[0], name=f"s{k}", formula=f) for k, f in enumerate(chosen))
    fair = deployment.fair if draw(st.booleans()) else ()
    deployment = replace(deployment, written=replace(deployment.written, specs=specs, fair=fair))
    agent = draw(st.sampled_from(["any", "p"]))
    try:
        verify(deployment, agent, engine="explicit", max_states=300, findings=False)
    except Undecided:
        reject()
    return verify(deployment, agent, findings=False)


def with_evidence(result):
    """The names of the verdicts that have some."""
    return [name for name, verdict in result.verdicts.items() if verdict.evidence is not None]


def steps(evidence):
    """Every step of every run in the tree, with the state that it leads from."""
    return [
        (state, step)
        for node, run in runs(evidence)
        for state, step in zip(states_along(node.state, run), run.steps, strict=False)
    ]


def changes(state, step):
    """The facts that a step adds, and those that it removes."""
    return step.state.facts - state.facts, state.facts - step.state.facts


def told(evidence):
    """Return what has to be said of each claim: the claim itself, but of a quantifier in a row of those that
    one value decides each the values alone, and of what holds all along a run once."""
    inner = {
        id(below)
        for node in evidence.nodes
        if isinstance(node.reason, Values) and is_witness(node)
        for below in node.children
        if isinstance(below.reason, Values) and is_witness(below)
    }
    for node in evidence.nodes:
        if node is not evidence.root and id(node) not in inner:
            yield node.claim
        if isinstance(node.reason, Values):
            yield from (f"{node.formula.binder.name} = {value}" for value, _ in node.reason.nodes)


def seen_along(evidence):
    """Return if some run has a claim that is seen in each of several states."""
    return any(
        isinstance(node.reason, Run)
        and len(node.reason.along) > 2
        and all(isinstance(claim.reason, Evaluated) for claims in node.reason.along for claim in claims)
        for node in evidence.nodes
    )
