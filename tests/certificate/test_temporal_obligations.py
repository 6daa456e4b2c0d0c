"""Certificates that lie about one temporal operator: each obligation on its sets is what refuses one of them.

A token moves 0 → 1 → 2 → 3 and may rest at 0 and at 3. A true certificate is written, and then its verdict is
turned round and the sets for one node are replaced; but for one obligation they would prove the false
verdict.
"""

from __future__ import annotations

import json

import pytest

import stead_sym as st
from stead_sym.deployment.language import parse_deployment
from stead_sym.verification.verify import verify

TOKEN = """
deployment token
sort k = 0..3
relation At(k)
init
  At(0)
tool on(x: k, y: k)
  guard At(x) & succ(x, y)
  effect
    clear At
    insert At(y)
tool rest()
  guard At(3) | At(0)
{fair}
spec s {formula}
"""

LIES = {
    "a ring without the left formula": (
        "E[~At(2) U At(3)]",
        {"top EU lower": lambda of: {"kind": "rings", "rings": [of(2), of(1), of(0)]}},
        "each member of ring 1 has a step to the one before",
    ),
    "a ring without a step": (
        "E[At(0) U At(2)]",
        {"top EU lower": lambda of: {"kind": "rings", "rings": [of(0)]}},
        "each member of ring 1 has a step to the one before",
    ),
    "a closed set without the goal": (
        "EF At(3)",
        {"top EU upper": lambda of: {"kind": "closed", "closed": of()}},
        "the closed set holds the goal",
    ),
    "a closed set that is not closed": (
        "EF At(3)",
        {"top EU upper": lambda of: {"kind": "closed", "closed": of(3, 2)}},
        "the set is closed under predecessors",
    ),
    "staying where the formula is false": (
        "EG At(1)",
        {"top EG lower": lambda of: {"kind": "staying", "closed": of(0), "visits": []}},
        "the set that runs stay in satisfies the formula",
    ),
    "staying without a successor": (
        "EX EG At(1)",
        {"0 EG lower": lambda of: {"kind": "staying", "closed": of(1), "visits": []}},
        "each member has a successor in the set",
    ),
    "a bound from below in the place of one from above": (
        "(EF At(3) | EX At(0)) & ~EF At(3)",
        {"0.0.0.0 EU lower": lambda of: {"kind": "rings", "rings": []}},
        "the certificate has a set for this node",
    ),
    "a bound for another variable": (
        "exists x in k. EG At(x) & forall x in k. EG At(x)",
        {
            "0.0 EG lower": lambda of: {
                "kind": "staying",
                "closed": of.where("At(0)", "k#0=0"),
                "visits": [],
            }
        },
        "the certificate has a set for this node",
    ),
    "leaving where one can stay": (
        "EG At(0)",
        {
            "top EG upper": lambda of: {
                "kind": "leaving",
                "steps": [{"set": of(0), "constraint": None, "closed": None}],
            }
        },
        "what is left out cannot stay",
    ),
}
FAIR_LIES = {
    "a constraint out of reach": (
        "EG At(0)",
        {"top EG lower": lambda of: {"kind": "staying", "closed": of(0), "visits": [[]]}},
        "each member can go on to each constraint",
    ),
    "a constraint that is forgotten": (
        "EG At(0)",
        {"top EG lower": lambda of: {"kind": "staying", "closed": of(0), "visits": []}},
        "each constraint is visited",
    ),
    "a way to a constraint that is none": (
        "EG ~At(2)",
        {"top EG lower": lambda of: {"kind": "staying", "closed": of(0), "visits": [[of(2), of(1), of(0)]]}},
        "each member of ring 1 has a step to the one before",
    ),
    "a closed set without the constraint": (
        "EG true",
        {
            "top EG upper": lambda of: {
                "kind": "leaving",
                "steps": [{"set": of(0), "constraint": 0, "closed": of()}],
            }
        },
        "the closed set holds the constraint",
    ),
    "a closed set that is not closed": (
        "EG true",
        {
            "top EG upper": lambda of: {
                "kind": "leaving",
                "steps": [{"set": of(0), "constraint": 0, "closed": of(3)}],
            }
        },
        "the set is closed under predecessors",
    ),
    "no such constraint": (
        "EG true",
        {
            "top EG upper": lambda of: {
                "kind": "leaving",
                "steps": [{"set": of(0), "constraint": 1, "closed": of()}],
            }
        },
        "the constraint is one of the deployment",
    ),
    "leaving where one can go on": (
        "EG true",
        {
            "top EG upper": lambda of: {
                "kind": "leaving",
                "steps": [{"set": of(0), "constraint": 0, "closed": of(0, 1, 2, 3)}],
            }
        },
        "what is left out cannot stay",
    ),
}
CASES = [
    *(pytest.param("", *lie, id=name) for name, lie in LIES.items()),
    *(pytest.param("fair At(3)", *lie, id=f"{name}, fair") for name, lie in FAIR_LIES.items()),
]


class Roots:
    """New roots of the diagrams: the states in which the token is at one of some places."""

    def __init__(self, diagrams):
        self.diagrams = diagrams

    def where(self, *facts):
        """Return where all of these bits are set."""
        levels = self.diagrams["level_of_var"]
        for fact in facts:
            levels.setdefault(fact, len(levels))
        below = "T"
        for level in sorted((levels[fact] for fact in facts), reverse=True):
            number = 10_000 + len(self.diagrams)
            self.diagrams[str(number)] = [level, "F", below]
            below = number
        self.diagrams["roots"].append(below)
        return len(self.diagrams["roots"]) - 1

    def __call__(self, *places):
        levels = sorted((self.diagrams["level_of_var"][f"At({place})"] for place in places), reverse=True)
        below = "F"
        for level in levels:
            number = 10_000 + len(self.diagrams)
            self.diagrams[str(number)] = [level, below, "T"]
            below = number
        self.diagrams["roots"].append(below)
        return len(self.diagrams["roots"]) - 1


@pytest.mark.parametrize(("fair", "formula", "lie", "obligation"), CASES)
def test_a_lie_is_refused_by_the_obligation_that_it_breaks(tmp_path, fair, formula, lie, obligation):
    deployment = parse_deployment(TOKEN.format(fair=fair, formula=formula))
    result = verify(deployment, "any", findings=False)
    st.write_certificate(result, tmp_path)
    true = "holds" if result["s"].holds else "fails"
    assert st.check_certificate(tmp_path).verdicts == {"s": true}
    document = json.loads((tmp_path / "certificate.json").read_text(encoding="utf-8"))
    diagrams = json.loads((tmp_path / "diagrams.json").read_text(encoding="utf-8"))
    of = Roots(diagrams)
    [spec] = document["specs"]
    spec["verdict"] = "fails" if true == "holds" else "holds"
    spec["proof"] = {"rule": "initially"}
    spec["bounds"] = {address: make(of) for address, make in lie.items()}
    (tmp_path / "certificate.json").write_text(json.dumps(document), encoding="utf-8")
    (tmp_path / "diagrams.json").write_text(json.dumps(diagrams), encoding="utf-8")
    with pytest.raises(st.certificate.CertificateRejected, match=obligation):
        st.check_certificate(tmp_path)


STARTS = """
deployment starts
sort n = 0..1
relation At(n)
relation On(n)
initially any On where exactly 1 x. On(x)
init
  At(0)
tool rest()
spec s {formula}
"""
BOTH = {"rule": "each", "parts": [{"rule": "initially"}] * 2}
SOME = {
    "parts that hold at different D0": ("~(EX On(0) & EX On(1))", BOTH),
    "a disjunct that fails at another D0": ("EX On(0) | EX On(1)", BOTH),
    "one of the D0 comes to it": ("EF On(0)", {"rule": "run", "states": [[["At", ["0"]], ["On", ["0"]]]]}),
    "one of the D0 does not come to it": ("~EF On(0)", {"rule": "everywhere"}),
    "what is nowhere": ("AG At(0)", {"rule": "everywhere"}),
    "one D0 of two": ("EX On(0)", {"rule": "initially"}),
    "one D0 of two is not outside": ("~EX On(0)", {"rule": "initially"}),
}


@pytest.mark.parametrize(("formula", "proof"), SOME.values(), ids=SOME)
def test_one_of_several_d0_proves_nothing_about_all(tmp_path, formula, proof):
    """Every verdict is turned round, and a proof that would do for another claim is refused."""
    result = verify(parse_deployment(STARTS.format(formula=formula)), "any", findings=False)
    st.write_certificate(result, tmp_path)
    assert st.check_certificate(tmp_path).verdicts == {"s": "holds" if result["s"].holds else "fails"}
    path = tmp_path / "certificate.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    [spec] = document["specs"]
    spec |= {"verdict": "fails" if spec["verdict"] == "holds" else "holds", "proof": proof}
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(
        st.certificate.CertificateRejected, match=r"the rule fits|no state of R|every D0|some D0"
    ):
        st.check_certificate(tmp_path)
