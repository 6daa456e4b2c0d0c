"""Steps that rest on many records: within bounds that are assumed, and over more records at last."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import stead_sym as st
from stead_sym.analyses.deepening.deepen import deepen
from stead_sym.analyses.views.needs import Number, within_bounds
from stead_sym.analyses.views.parts import HowFar
from stead_sym.certificate.checker.needed import Needed
from stead_sym.certificate.document import DOCUMENT, digest
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.certificate.write import write_views


def rooms(bound: int, names: str = "pqrstuvw") -> str:
    """A step that takes rooms which are not all the same one; with one room there is none."""
    of = " & ".join(f"Room({name})" for name in names)
    same = " & ".join(f"p = {name}" for name in names[1:])
    return f"""
deployment rooms
sort a
sort b
relation Case(a)
relation Room(b)
relation Alarm()
bound a any
bound b {bound}
event arrive()
  effect
    fresh x: a
    insert Case(x)
event build()
  guard atmost {bound - 1} y: b. Room(y)
  effect
    fresh r: b
    insert Room(r)
tool ring({", ".join(f"{name}: b" for name in names)})
  guard {of} & ~({same})
  effect
    insert Alarm()
tool wait()
spec quiet AG ~Alarm()
"""


def cases(marking: str, number: int = 6) -> str:
    """A step that takes six cases, one of which is odd; none is unless ``marking`` makes it odd."""
    names = [f"x{n}" for n in range(number)]
    of = " & ".join(f"Case({name})" for name in names)
    odd = " | ".join(f"Odd({name})" for name in names)
    return f"""
deployment cases
sort a
relation Case(a)
relation Odd(a)
relation Alarm()
bound a any
event arrive()
  effect
    fresh x: a
    insert Case(x)
event other(x: a)
  guard Odd(x) | Case(x)
  effect
    fresh y: a
    insert Odd(y)
{marking}
tool ring({", ".join(f"{name}: a" for name in names)})
  guard {of} & ({odd})
  effect
    insert Alarm()
tool wait()
spec quiet AG ~Alarm()
"""


MARKING = """event mark(x: a)
  guard Case(x)
  effect
    insert Odd(x)
"""


@pytest.mark.parametrize("text", [rooms(1), cases("")], ids=["within a bound", "over more records"])
def test_what_rests_on_many_records_is_shown_and_certified(text: str, tmp_path: Path) -> None:
    found = deepen(st.parse_deployment(text), limit=1)
    assert found["quiet"].holds, found["quiet"].reason
    assert found.found["quiet"].every_number is not None
    write_views(found, tmp_path)
    assert [claim.name for claim in st.check_certificate(tmp_path).claims if claim.name == "quiet"]


@pytest.mark.parametrize(
    "text", [rooms(2, "pqrstu"), cases(MARKING)], ids=["within a bound", "over more records"]
)
def test_the_same_step_is_not_excluded_where_some_run_takes_it(text: str) -> None:
    found = deepen(st.parse_deployment(text), limit=2, findings=False)
    assert found["quiet"].holds is False
    assert found.found["quiet"].every_number is None


AXIOM = """
deployment axiom
sort a
relation Of(a)
relation Way(a, a)
relation At(a)
bound a any
initially any Of, Way, At where {given} & (forall x: a. Of(x)) & ~exists x: a. At(x)
invariant known {given}
event arrive(x: a)
  guard Of(x)
  effect
    fresh y: a
    insert At({new})
{more}
tool wait()
spec asked AG {given}
"""
ON = "(forall x, y, z: a. (Way(x, y) & Way(y, z) -> Way(x, z)))"
LEADING = """event lead(x: a, y: a)
  guard At(x) & At(y)
  effect insert Way(x, y)
"""


@pytest.mark.parametrize(
    ("given", "new", "more", "holds"),
    [
        (ON, "y", "", True),  # three values, and no statement writes Way
        (ON, "x", LEADING, False),
        (ON, "x", "event none()\n  effect clear Way\n", True),
        ("(forall x: a. Of(x))", "x", "", True),
        ("(forall x: a. Of(x))", "y", "", False),  # about all values, those in facts of At too
        ("(forall x: a. (At(x) -> Of(x)))", "y", "", False),
        ("(atmost 1 x: a. Of(x) | x = x)", "y", "", False),
        ("(forall x: a. (Of(x) | Way(x, x)))", "y", "", False),
    ],
)
def test_a_sentence_about_relations_that_no_statement_writes_stays_true(
    given: str, new: str, more: str, holds: bool, tmp_path: Path
) -> None:
    """Unless it is about values that only facts of other relations have."""
    deployment = st.parse_deployment(AXIOM.format(given=given, new=new, more=more))
    found = deepen(deployment, limit=2, findings=False)
    assert found["asked"].holds is (True if holds else found["asked"].holds)
    assert (found["asked"].holds is True) == holds
    if holds:
        write_views(found, tmp_path)
        assert st.check_certificate(tmp_path).verdicts["asked"] == "holds"


@pytest.mark.parametrize("given", ["(forall x: a. Of(x))", "(forall x: a. (Of(x) | ~Way(x, x)))"])
def test_a_certificate_is_refused_where_a_step_makes_other_values_active(given: str, tmp_path: Path) -> None:
    """The same views with a step that brings in a value of which the sentence is false."""
    text = AXIOM.format(given=given, new="x", more="")
    write_views(deepen(st.parse_deployment(text), limit=1, findings=False), tmp_path)
    data = json.loads((tmp_path / DOCUMENT).read_text())
    for change in ("insert At(y)", "insert At(y)\n    insert Way(y, y)"):
        other = text.replace("insert At(x)", change)
        data["deployment"].update(text=other, sha256=digest(other))
        (tmp_path / DOCUMENT).write_text(json.dumps(data))
        with pytest.raises(CertificateRejected):
            st.check_certificate(tmp_path)


APART = "(forall x, y, z: a. (x != y & y != z & x != z & Way(x, y) & Way(y, z) -> Way(x, z)))"
FEW = "(atmost 2 x: a. ~Of(x))"


@pytest.mark.parametrize(
    ("given", "of", "to", "view"),
    [
        # on two values `lead` leads from views to views; on three it breaks what is assumed
        (APART, "insert At(x)\n", f"insert At(x)\n{LEADING}", []),
        # no statement writes Of, and each new value is one more that is in no fact of Of
        (FEW, "insert At(x)", "insert At(y)", [["At", ["a1"]]]),
    ],
    ids=["more values than a view has", "values in facts of other relations"],
)
def test_a_certificate_is_refused_where_a_step_breaks_what_is_assumed_of_more_values(
    given: str, of: str, to: str, view: list[object], tmp_path: Path
) -> None:
    """Although every step from a view leads to a view, with the sentence true on as many values."""
    text = AXIOM.format(given=given, new="x", more="")
    if given == FEW:
        text = text.replace("relation Way(a, a)\n", "").replace(", Way", "")
    write_views(deepen(st.parse_deployment(text), limit=1, findings=False), tmp_path)
    data = json.loads((tmp_path / DOCUMENT).read_text())
    assert st.check_certificate(tmp_path).verdicts["asked"] == "holds"
    [induction] = data["inductions"]
    induction["views"] += [view] if view else []
    other = text.replace(of, to)
    data["deployment"].update(text=other, sha256=digest(other))
    (tmp_path / DOCUMENT).write_text(json.dumps(data))
    with pytest.raises(CertificateRejected, match="known"):
        st.check_certificate(tmp_path)


@pytest.mark.parametrize(
    ("number", "operations", "why"),
    [
        (6, 20, "a step of ring, over databases of 7 records, takes more than 20 operations on diagrams; "),
        (8, 1_500, "a step of ring takes databases of 9 records, and 8 are looked at; "),
    ],
)
def test_the_reason_is_how_far_it_was_looked_at_last(
    number: int, operations: int, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stead_sym.analyses.views.every_number.AT_LAST", HowFar(8, operations))
    text = cases("", number)
    reason = deepen(st.parse_deployment(text), limit=1, findings=False)["quiet"].reason
    assert f"for every number: {why}" in reason


def test_only_values_of_a_bounded_sort_are_limited() -> None:
    assert within_bounds(Number({"a": 5, "b": 4}), {"b": 2}) == Number({"a": 5, "b": 2})
    assert within_bounds(Number({"b": 1}), {"b": 2}) == Number({"b": 1})


def test_a_certificate_is_checked_over_all_values_that_a_bound_allows(tmp_path: Path) -> None:
    """With one room no alarm rings, with two it does; the views have one room either way."""
    write_views(deepen(st.parse_deployment(rooms(1, "pqrstu")), limit=1), tmp_path)
    assert st.check_certificate(tmp_path).verdicts == {"quiet": "holds"}
    data = json.loads((tmp_path / DOCUMENT).read_text())
    two = rooms(2, "pqrstu")
    data["deployment"].update(text=two, sha256=digest(two))
    (tmp_path / DOCUMENT).write_text(json.dumps(data))
    with pytest.raises(CertificateRejected, match="steps of ring"):
        st.check_certificate(tmp_path)


BESIDE = """
deployment beside
sort a
sort b
relation In(b, a)
relation Flag(b)
relation Alarm()
bound a any
bound b 3
tool given(p: b)
  effect insert Alarm()
tool chosen()
  effect
    choose p: b
    insert Alarm()
tool tied(p: b)
  guard In(p, _)
  effect insert Alarm()
tool every()
  effect insert Flag(p) for p where In(p, _)
spec s AG true
"""


@pytest.mark.parametrize(
    ("tool", "number"),
    [
        ("given", 2),  # the part, and what p is in
        ("chosen", 2),
        ("tied", 2),  # of In(p, _) the other value
        ("every", 4),  # the part, and the other value of In(p, _) for each of three p
    ],
)
def test_the_checker_counts_what_stands_beside_values_of_a_bounded_sort(tool: str, number: int) -> None:
    deployment = st.parse_deployment(BESIDE)
    one = deployment.tool(tool)
    assert Needed(deployment, {"b": 3}).step(one, one.effects[0], 1) == number
