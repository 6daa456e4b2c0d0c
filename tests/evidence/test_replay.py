"""Evidence replays, and altered evidence does not: single alterations of the JSON, all of them, counted.

An alteration is noticed if reading or replaying refuses it, or if more is left unshown than before. What goes
unnoticed has to be evidence all the same: it is replayed by the oracle of `engine_pairs` too.
"""

from __future__ import annotations

import copy
import json
from collections import Counter

import pytest

import stead_sym as st
from engine_pairs import replay as replay_run
from replayed import assert_replays
from stead_sym.errors import InputError
from stead_sym.evidence.data import evidence_data
from stead_sym.evidence.reading import read_evidence
from stead_sym.evidence.recorded import decisions_that_differ, recorded_wrappers
from stead_sym.evidence.replay import replay

FAIR = """
deployment rounds
sort k = { k0, k1, k2, k3 } rigid
relation At(k)
init
  At(k0)
tool go()
  effect
    choose x: k
    clear At
    insert At(x)
fair At(k1)
fair At(k2)
spec reaches AF At(k3)
spec nested EG (EF At(k3) & ~At(k2) | EX At(k1))
spec until A[~At(k1) U At(k3)]
spec weak E[~At(k1) W At(k3)]
"""

NESTED = """
deployment nested
sort a
relation P(a)
relation Q(a)
init
  P(c0)
bound a 2
tool more()
  guard ~exists x. Q(x)
  effect
    fresh x: a
    insert Q(x)
tool drop(x: a)
  guard Q(x)
  effect
    delete Q(x)
tool rest()
policy p
  call drop(x) when Q(x)
  call more()
spec back EF exists x. Q(x) & EF (~Q(x) & EF Q(x))
spec all_gone EG (exists x. P(x)) & (EF exists x. Q(x))
spec every AG forall x. Q(x) -> AG ~(~Q(x) & EF Q(x))
spec both (EF exists x. Q(x)) <-> (AF exists x. Q(x))
spec counted atleast 1 x. EF (P(x) & exists y. Q(y))
"""

CASES = {
    "refund": (lambda: st.load("refund"), "any"),
    "baseline": (lambda: st.load("refund"), "baseline"),
    "ward": (lambda: st.load("ward"), "any"),
    "bank": (lambda: st.load("bank"), "any"),
    "fair": (lambda: st.parse_deployment(FAIR), "any"),
    "nested": (lambda: st.parse_deployment(NESTED), "any"),
}


def alterations(data):
    """All single alterations: pairs of what is altered and the altered data."""

    def altered(what, change):
        other = copy.deepcopy(data)
        change(other)
        if other != data:
            yield what, other

    values = sorted({u for facts in data["states"] for fact in facts for u in fact[1]}) or ["u"]

    def other_value(u):
        return values[(values.index(u) + 1) % len(values)] if u in values else values[0]

    for k, facts in enumerate(data["states"]):
        for i in range(len(facts)):
            yield from altered("fact gone", lambda d, k=k, i=i: d["states"][k].pop(i))
            for j in range(len(facts[i][1])):
                new = other_value(facts[i][1][j])
                yield from altered(
                    "fact changed", lambda d, k=k, i=i, j=j, new=new: d["states"][k][i][1].__setitem__(j, new)
                )
    states, nodes = len(data["states"]), len(data["nodes"])
    for k, node in enumerate(data["nodes"]):

        def at(d, k=k):
            return d["nodes"][k]

        yield from altered("truth", lambda d: at(d).update(holds=not at(d)["holds"]))
        yield from altered("state", lambda d: at(d).update(state=(at(d)["state"] + 1) % states))
        yield from altered("because", lambda d: at(d).update(because="evaluation"))
        yield from altered("because", lambda d: at(d).update(because="all runs"))
        for name, value in node["values"].items():
            new = other_value(value)
            yield from altered("value", lambda d, n=name, new=new: at(d)["values"].update({n: new}))
        for name in ("parts", "nodes"):
            for i, pair in enumerate(node.get(name, ())):
                yield from altered("part gone", lambda d, n=name, i=i: at(d)[n].pop(i))
                new = other_value(pair[0]) if name == "nodes" else pair[0] + 1
                yield from altered("part", lambda d, n=name, i=i, new=new: at(d)[n][i].__setitem__(0, new))
                yield from altered(
                    "part", lambda d, n=name, i=i: at(d)[n][i].__setitem__(1, (at(d)[n][i][1] + 1) % nodes)
                )
        if "run" not in node:
            continue
        run = node["run"]

        def run_of(d, k=k):
            return d["nodes"][k]["run"]

        for name in ("ends", "loop"):
            for new in (None, 0, 1, (run[name] or 0) + 1):
                what = "no loop" if name == "loop" and new is None else name
                yield from altered(what, lambda d, n=name, new=new: run_of(d).update({n: new}))
        for i, claims in enumerate(run["along"]):
            for j in range(len(claims)):
                yield from altered("claim gone", lambda d, i=i, j=j: run_of(d)["along"][i].pop(j))
        for i, step in enumerate(run["steps"]):

            def step_of(d, k=k, i=i):
                return d["nodes"][k]["run"]["steps"][i]

            yield from altered("step gone", lambda d, i=i: run_of(d)["steps"].pop(i))
            yield from altered(
                "step twice",
                lambda d, i=i: run_of(d)["steps"].insert(i, copy.deepcopy(run_of(d)["steps"][i])),
            )
            for to in range(states):
                yield from altered("to", lambda d, to=to: step_of(d).update(to=to))
            for j in range(len(step["call"][1])):
                new = other_value(step["call"][1][j])
                yield from altered(
                    "argument", lambda d, j=j, new=new: step_of(d)["call"][1].__setitem__(j, new)
                )
            yield from altered("tool", lambda d: step_of(d)["call"].__setitem__(0, "no_such_tool"))
            yield from altered(
                "agent", lambda d: step_of(d).update(agent=None if step_of(d)["agent"] == "" else "x")
            )
    for name, agent in data["agents"].items():
        for k, decision in enumerate(agent["decisions"] if agent else ()):

            def decided(d, name=name, k=k):
                return d["agents"][name]["decisions"][k]

            yield from altered("decision gone", lambda d, n=name, k=k: d["agents"][n]["decisions"].pop(k))
            others = [call for call in decision["offered"] if call not in decision["selected"]]
            yield from altered("decision", lambda d, others=others: decided(d).update(selected=others))
            yield from altered(
                "decision", lambda d: decided(d).update(selected=[*decided(d)["offered"], ["no_such_tool"]])
            )
            yield from altered("decision", lambda d: decided(d)["facts"].append(["P", ["c9"]]))


def noticed(deployment, wrappers, data, unshown):
    """Return how an alteration is noticed, "" if it is not; and the evidence that was read."""
    try:
        written = read_evidence(deployment, data, "altered")
    except InputError:
        return "not read", None
    if decisions_that_differ(deployment, wrappers, written.agents):
        return "decisions", None
    for asked in (wrappers, recorded_wrappers(deployment, written.agents)):
        replayed = replay(deployment, asked, written.evidence)
        if not replayed.confirmed:
            return "refuted", None
        if len(replayed.unshown) > unshown:
            return "shows less", None
    return "", written.evidence


@pytest.mark.parametrize(
    ("case", "domain"), [*((case, "normal") for case in CASES), ("refund", "theorem"), ("nested", "theorem")]
)
def test_altered_evidence_is_noticed(case, domain):
    make, agent = CASES[case]
    deployment = make()
    result = st.verify(deployment, agent, domain=domain, findings=False)
    found = Counter()
    for name, verdict in result.verdicts.items():
        data = evidence_data(name, str(verdict.formula), verdict.evidence, result.moves)
        data = json.loads(json.dumps(data))
        wrappers = result.moves.wrappers
        unshown = len(verdict.evidence.unshown)
        assert noticed(deployment, wrappers, data, unshown)[0] == ""
        for what, other in alterations(data):
            how, evidence = noticed(deployment, wrappers, other, unshown)
            found[what, how] += 1
            if evidence is not None:
                assert evidence.root.holds == verdict.evidence.root.holds, (what, other)
                replay_run(deployment, result.engine.restriction, wrappers, evidence.trace)
    # A step that changes nothing may be made twice, or be called a loop, and a loop may be longer; a
    # first-order formula may be evaluated where a value was given: all that shows the same. Without fairness
    # a run that ends needs no loop.
    same = {"step twice", "loop", "because"} | ({"no loop"} if not deployment.fair else set())
    assert {what for what, how in found if not how} <= same, found
    assert sum(found.values()) > 100


WILD = """deployment d
sort a
sort b
relation R(a)
relation E(a, a)
relation F(b)
bound a 2
bound b 1
define Constant(q: b) = R(k1)
define Loop(q: a) = E(q, q)
define Turned(q: a, r: a) = E(r, q)
define Unary(q: a) = R(q)
init R(k1) E(k1, k2)
tool wait()
"""


@pytest.mark.parametrize("claim", ["Constant(_)", "Loop(_)", "Turned(_, _)", "Unary(_)", "R(_)", "E(_, _)"])
@pytest.mark.parametrize(
    "around",
    [
        "AX %s",
        "EX ~%s",
        "EX %s & EX %s",
        "EX (EX R(_) & EX %s)",
        "EX R(_) -> EX %s",
        "A[EX ~%s U EX ~%s]",
        "E[EX %s U EX %s]",
        "AG exists x. (EX %s | R(x))",
    ],
)
def test_evidence_of_wildcards_in_definitions_replays_from_json(claim, around):
    """A `_` stands for a variable that a definition may use twice, elsewhere or never, and two variables of
    one text are told apart."""
    deployment = st.parse_deployment(f"{WILD}spec s {around.replace('%s', claim)}\n")
    for engine in ("explicit", "symbolic"):
        result = st.verify(deployment, "any", engine=engine, findings=False)
        evidence = result["s"].evidence
        assert evidence is not None
        assert_replays(deployment, result.moves.wrappers, result.restriction, evidence)


ODD = (None, True, -1, 10**30, 1.5, "", "x", "\ud800", [], {}, [[]])


def with_odd_parts(data, change=lambda inner: inner):
    """The data with any one part of it replaced by something odd."""
    yield from map(change, ODD)
    for key, part in (
        data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    ):

        def placed(inner, key=key):
            copied = data.copy()
            copied[key] = inner
            return change(copied)

        yield from with_odd_parts(part, placed)


def test_no_odd_evidence_is_a_bug():
    """It is read, or refused in one line."""
    deployment = st.parse_deployment(FAIR)
    result = st.verify(deployment, findings=False)
    data = json.loads(json.dumps(evidence_data("nested", "EG true", result["nested"].evidence, result.moves)))
    refused = Counter()
    for other in with_odd_parts(data):
        try:
            read_evidence(deployment, other, "the evidence")
        except InputError as error:
            refused["\n" not in str(error) and str(error).startswith("the evidence")] += 1
    assert set(refused) == {True}
