"""*inactive values* proposes text that parses, and stands beside a verdict that this text changes.

The verdicts of both readings are computed by verifying the file with `in` written into it.
"""

from __future__ import annotations

import re

import pytest

import stead_sym as st

DESK = """
deployment desk
sort case
sort clerk = { ann, ben }
sort room = { r1, r2 }
relation Case(case)
relation Busy(clerk)
relation In(clerk, room)
bound case 1
init In(ann, r1)
event come()
  guard ~Case(_)
  effect
    fresh c: case
    insert Case(c)
tool take(k: clerk)
  guard ~Busy(k)
  effect
    insert Busy(k)
tool rest()
"""

TWO_READINGS = [
    # a specification, and the same with `in` where the finding proposes it
    ("AG forall k: clerk. EF Busy(k)", "AG forall k in clerk. EF Busy(k)"),
    ("AG forall k: clerk. (Busy(k) | In(k, r1))", "AG forall k in clerk. (Busy(k) | In(k, r1))"),
    ("AG exists k: clerk. ~In(k, r1)", "AG exists k in clerk. ~In(k, r1)"),
    ("AG exists k: clerk. ~In(k, r2)", "AG exists k in clerk. ~In(k, r2)"),
    ("AG exists k, l: clerk. k != l", "AG exists k in clerk. exists l in clerk. k != l"),
    ("exists k: room, l: clerk. ~In(l, k)", "exists k in room. exists l in clerk. ~In(l, k)"),
    ("EF exists c: case, l: clerk. (Case(c) & ~In(l, r1) & ~Busy(l))",
     "EF exists c: case. exists l in clerk. (Case(c) & ~In(l, r1) & ~Busy(l))"),
    ("AG exists c: case, l: clerk. (Case(c) & ~Busy(l))",
     "AG exists c: case. exists l in clerk. (Case(c) & ~Busy(l))"),
    # neither of these two quantifiers changes the verdict by itself
    ("(forall k: clerk. In(k, r1)) | forall l: clerk. In(l, r1)",
     "(forall k in clerk. In(k, r1)) | forall l in clerk. In(l, r1)"),
    ("(AG forall k: clerk. In(k, r1)) | AG forall l: clerk. In(l, r1)",
     "(AG forall k in clerk. In(k, r1)) | AG forall l in clerk. In(l, r1)"),
]  # fmt: skip


def read(spec: str) -> st.Deployment:
    return st.parse_deployment(f"{DESK}spec s {spec}", "f")


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
@pytest.mark.parametrize(("active", "declared"), TWO_READINGS)
def test_it_stands_beside_a_verdict_that_its_advice_changes(active, declared, engine):
    found = st.verify(read(active), engine=engine)
    other = st.verify(read(declared), engine=engine)
    differ = found["s"].holds is not other["s"].holds
    assert bool([one for one in found.findings if one.kind == "inactive values"]) == differ
    assert not [one for one in other.findings if one.kind == "inactive values"]


@pytest.mark.parametrize(("active", "declared"), TWO_READINGS)
def test_its_advice_is_text_of_the_language(active, declared):
    """All advice on a specification, pasted for the lists that it is about, is the other reading."""
    found = [one for one in st.lint(read(active)) if one.kind == "inactive values"]
    pasted = active
    for finding in found:
        [head] = re.findall(r"`((?:forall|exists) .*?)`", finding.remedy)
        kind, first = head.split()[:2]
        pasted = re.sub(rf"{kind} {first.strip(':')}\b(?! in)[^.]*\.", head, pasted)
    assert read(pasted).specs == read(declared).specs


def test_it_stands_below_an_operator_of_the_past_where_it_is_not_tried():
    text = "AG forall k: clerk. EF Busy(k)"
    found = st.verify(read(f"({text}) & AG ~once forall k: clerk. Busy(k)"), findings=True).findings
    [stays] = [one for one in found if one.kind == "inactive values"]
    assert stays.place is not None
    assert stays.place.column > len(f"spec s ({text}")
