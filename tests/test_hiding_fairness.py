"""`fair` lines that leave finite runs out: what these violate counts, by either engine, in either domain.

The oracle is written from the definition on the explicit graph: strongly connected components for the fair
runs, and the runs that enter a state which no fair run leaves.
"""

from __future__ import annotations

import os
import random

import networkx
import pytest

import stead_sym as st
from stead_sym.analyses.deepening.deepen import deepen
from stead_sym.analyses.local.verify import localise
from stead_sym.certificate.write import uncertifiable
from stead_sym.evidence.replay import replay
from stead_sym.verification.readings import NOT_SHOWN_FAIR

CASES = int(os.environ.get("STEAD_HIDING_CASES", "25"))

HIDES = """deployment hides
sort order
sort status = { open, paid, lost } rigid
relation Status(order key, status)
bound order 1
event arrive()
  guard ~Status(_, _)
  effect
    fresh o: order
    insert Status(o, open)
event leave(o: order)
  guard Status(o, paid)
  effect
    delete Status(o, _)
event phone_rings()
tool pay(o: order)
  guard Status(o, open)
  effect
    set Status(o, paid)
tool lose(o: order)
  guard Status(o, open)
  effect
    set Status(o, lost)
tool wait()
fair ~Status(_, _)
spec never_lost AG ~Status(_, lost)
spec all_paid AG forall o. (Status(o, open) -> AF Status(o, paid))
"""


@pytest.mark.parametrize(
    "settings", [{}, {"domain": "theorem"}, {"engine": "explicit"}], ids=["normal", "theorem", "explicit"]
)
def test_what_a_finite_run_violates_counts(settings, tmp_path):
    result = st.verify(st.parse_deployment(HIDES), **settings)
    for verdict in result.verdicts.values():
        assert verdict.holds is False
        assert "on the fair runs alone it holds" in verdict.scope[0]
        again = replay(result.deployment, result.moves.wrappers, verdict.evidence)
        assert again.confirmed, again.fault
        assert again.complete == (verdict.spec == "never_lost")  # of a loop no run shows that none leaves it
    assert [finding.kind for finding in result.findings] == ["fair hides"]
    assert "fairness leaves nothing out" in [h.name for h in result.hypotheses.missing]
    assert uncertifiable(result)


def test_deepening_and_verification_agree_where_fairness_hides():
    deployment = st.parse_deployment(HIDES)
    found = deepen(deployment)
    assert all(found[spec].holds is False for spec in ("never_lost", "all_paid"))
    never = HIDES.replace("fair ~Status(_, _)", "fair false") + "spec s EG ~Status(_, lost)\n"
    verified, deepened = st.verify(st.parse_deployment(never)), deepen(st.parse_deployment(never))
    assert verified["s"].holds is deepened["s"].holds is None
    assert verified["s"].reason == deepened["s"].reason
    assert verified["never_lost"].holds is deepened["never_lost"].holds is False


STATES, ACTIONS = HIDES, HIDES.replace("fair ~Status(_, _)", "fair event phone_rings")
TWO_MARKS = ("insert Mark(o, open)", "insert Mark(o, lost)")


@pytest.mark.parametrize(("text", "hedged"), [(STATES, True), (ACTIONS, False)], ids=["states", "actions"])
@pytest.mark.parametrize("ended", ["on few facts", "early", "by a broken claim"])
def test_an_answer_by_a_finite_run_alone_says_if_it_may_be_unfair(
    text: str, hedged: bool, ended: str
) -> None:
    if ended == "by a broken claim":
        text = text.replace("bound", "relation Mark(order key, status)\nbound")
        text = text.replace("set Status(o, lost)", "\n    ".join(["set Status(o, lost)", *TWO_MARKS]))
    deployment = st.parse_deployment(text)
    told: list[st.Verdict] = []
    if ended == "on few facts":
        answer = localise(deployment, {"": "any"}).verdicts["never_lost"]
    else:
        result = st.verify(deployment, established=lambda verdict, _: told.append(verdict))
        early = next(one for one in told if one.spec == "never_lost")
        answer = early if ended == "early" else result["never_lost"]
    assert answer.holds is False
    assert (NOT_SHOWN_FAIR in answer.scope) is hedged


def generated(draw: random.Random) -> str:
    """Three propositions, tools and events that move between their states, some of them for good, one or two
    constraints, at times several initial states."""

    def literal() -> str:
        return draw.choice(["", "~"]) + draw.choice(["P()", "Q()", "R()"])

    lines = ["deployment g", *(f"relation {name}()" for name in "PQR"), "tool wait()"]
    if draw.random() < 0.3:
        lines.append("initially any P")
    for number in range(draw.randint(2, 4)):
        lines += [f"{draw.choice(['tool', 'event'])} t{number}()", f"  guard {literal()} & {literal()}"]
        lines += ["  effect", f"    {draw.choice(['insert', 'delete'])} {draw.choice('PQR')}()"]
    lines += [
        f"fair {draw.choice([literal(), f'{literal()} | {literal()}'])}" for _ in range(draw.randint(1, 2))
    ]
    shapes = ["AG {0}", "AF {0}", "EF {0}", "EG {0}", "AX {0}", "EX {0}", "AG ({0} -> AF {1})", "AG EF {0}",
              "AG ({0} -> EX {1})", "A[{0} W {1}]", "E[{0} U {1}]", "{0} | EG {1}"]  # fmt: skip
    for number, shape in enumerate(shapes):
        lines.append(f"spec s{number} {shape.format(literal(), literal())}")
    return "\n".join(lines) + "\n"


class Oracle:
    """CTL on the graph of all states that the explicit engine lists, under fairness or completed."""

    def __init__(self, result: st.Verification) -> None:
        engine = result.engine
        self.graph = networkx.DiGraph()
        self.starts, todo = list(engine.starts()), list(engine.starts())
        self.graph.add_nodes_from(todo)
        while todo:
            state = todo.pop()
            for step in engine.steps(state):
                if step.state not in self.graph:
                    todo.append(step.state)
                self.graph.add_edge(state, step.state)
        self.fair = [self.where(str(f)) for f in result.deployment.fair]
        self.fairly = self.staying(set(self.graph))
        self.hidden = set(self.graph) - self.fairly

    def where(self, text: str) -> set:
        deployment = self.starts[0].schema
        del deployment
        python = text.replace("()", " in S").replace("~", "not ").replace("|", "or").replace("&", "and")
        return {
            s
            for s in self.graph
            if eval(python, {name: name for name in "PQR"} | {"S": {f.relation for f in s.facts}})
        }

    def staying(self, within: set) -> set:
        """Return where a run starts that stays within a set and meets each constraint again and again."""
        part = self.graph.subgraph(within)
        good: set = set()
        for component in networkx.strongly_connected_components(part):
            cyclic = any(part.has_edge(a, b) for a in component for b in component)
            if cyclic and all(component & constraint for constraint in self.fair):
                good |= component
        return self.reaching(within, good)

    def reaching(self, through: set, goal: set) -> set:
        found = set(goal)
        while more := {s for s in through - found if found.intersection(self.graph.successors(s))}:
            found |= more
        return found

    def completed(self) -> Oracle:
        other = object.__new__(Oracle)
        other.graph, other.starts, other.hidden = self.graph, self.starts, self.hidden
        other.fair = [constraint | self.hidden for constraint in self.fair]
        other.fairly = other.staying(set(self.graph))
        assert other.fairly == set(self.graph), "a run that counts starts in every state"
        return other

    def sat(self, f: object) -> set:
        every = set(self.graph)
        match f:
            case st.logic.Not(body):
                return every - self.sat(body)
            case st.logic.Or(parts):
                return set().union(*map(self.sat, parts))
            case st.logic.And(parts):
                return every.intersection(*map(self.sat, parts))
            case st.logic.Implies(left, right):
                return (every - self.sat(left)) | self.sat(right)
            case st.logic.Next("E", body):
                goal = self.sat(body) & self.fairly
                return {s for s in every if goal.intersection(self.graph.successors(s))}
            case st.logic.Next(_, body):
                return every - self.sat(st.logic.Next("E", st.logic.Not(body)))
            case st.logic.Future("E", body):
                return self.reaching(every, self.sat(body) & self.fairly)
            case st.logic.Future(_, body):
                return every - self.staying(every - self.sat(body))
            case st.logic.Globally("E", body):
                return self.staying(self.sat(body))
            case st.logic.Globally(_, body):
                return every - self.sat(st.logic.Future("E", st.logic.Not(body)))
            case st.logic.Until("E", left, right, False):
                return self.reaching(self.sat(left), self.sat(right) & self.fairly)
            case st.logic.Until("A", left, right, True):
                wait = every - self.sat(right)
                return every - self.reaching(wait, (wait - self.sat(left)) & self.fairly)
            case _:
                return self.where(str(f))


def expected(oracle: Oracle, formula: object) -> bool | None:
    fair, all_ = oracle.sat(formula), oracle.completed().sat(formula)
    starts = set(oracle.starts)
    if not starts <= all_ or not starts & oracle.fairly <= fair:
        return False
    return True if starts <= fair else None


def test_against_the_definition():
    for seed in range(CASES):
        text = generated(random.Random(seed))
        deployment = st.parse_deployment(text)
        explicit = st.verify(deployment, engine="explicit", findings=False)
        symbolic = st.verify(deployment, findings=False)
        oracle = Oracle(explicit)
        hidden = explicit.engine.hidden
        assert (hidden.count if hidden else 0) == len(oracle.hidden), text
        assert hidden is None or hidden.run.steps or set(oracle.starts) & oracle.hidden
        for spec in deployment.specs:
            want = expected(oracle, spec.formula)
            assert explicit[spec.name].holds is want, (seed, spec.name, text)
            assert symbolic[spec.name].holds is want, (seed, spec.name, text)
            for result in (explicit, symbolic):
                if (evidence := result[spec.name].evidence) is not None:
                    again = replay(deployment, result.moves.wrappers, evidence)
                    assert again.confirmed, (seed, spec.name, again.fault, text)
