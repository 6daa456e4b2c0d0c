"""Identifiers: legal in all three languages, one for each thing, whatever the names in the deployment are."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some
from peers import assert_agree, nusmv, ours, storm

import stead_sym as st
from stead_sym.export.names import Holds, Names, plain

# Words that mean something in SMV, in properties of Storm or in C, and names that come out alike:
# P(a_b, a) and P(a, b_a) and P_a(b_a), active(a) and "a is active".
HOSTILE = """
deployment MODULE
sort MODULE
sort next = { self, esac, case }
relation TRUE_(MODULE)
relation INIT()
relation state(next)
relation P(MODULE, MODULE)
relation P_a(MODULE)
relation P_a_b_a()
relation active(MODULE)
relation main()
relation d_step()
init
  TRUE_(a_b)
  P(a_b, a)
  P(a, b_a)
  state(self)
bound MODULE 1
tool run()
  effect insert INIT()
tool X(x: next)
  effect
    insert state(x)
    insert P_a_b_a()
tool false_()
  effect clear main, INIT
tool process()
  guard ~exists y: MODULE. active(y)
  effect
    fresh y: MODULE
    insert active(y)
    insert P_a(b_a)
spec AG AG (INIT() -> AF ~INIT())
spec EF EF state(esac)
spec U AG (P(a_b, a) & forall x: MODULE. TRUE_(x) | active(x) | exists y. (P(x, y) | P(y, x)))
spec F AG ~P_a_b_a()
spec G AG ~P_a(b_a)
spec X EF exists x: MODULE. active(x) & x != a & AG active(x)
"""


@pytest.mark.parametrize("domain", ["theorem", "normal"])
@pytest.mark.parametrize("peer", [nusmv, storm])
def test_keywords_and_names_that_come_out_alike(peer, domain, tmp_path):
    result = st.verify(st.parse_deployment(HOSTILE), domain=domain, findings=False)
    export = st.exported(result)
    found = peer(export, tmp_path)
    assert_agree(found, result, export)


@pytest.mark.parametrize("peer", [nusmv, storm])
def test_a_name_with_line_breaks_and_ends_of_comments(peer, tmp_path):
    """An agent may have any name, a formula any text; both stand in comments."""
    refund = st.load("refund")

    def first(context):
        return min(context.calls)

    first.__name__ = '*/ }\nSPEC FALSE;\n"init" \\'
    result = st.verify(refund, first, ["auth", "AG\n~RefundIssued(_)"], domain="theorem", findings=False)
    export = st.exported(result)
    found = peer(export, tmp_path)
    assert found.answers == ours(result).answers
    assert found.states == result.states


@given(
    some.lists(
        some.tuples(
            some.text("aB_1é*/-\n ", max_size=4), some.lists(some.text("a_é", max_size=2), max_size=2)
        ),
        unique_by=str,
    )
)
def test_identifiers_are_legal_and_no_two_are_the_same(facts):
    names = Names()
    given = {(p, *args): names.of(Holds(st.relational.Fact(p, tuple(args)))) for p, args in facts}
    assert len(set(given.values())) == len(given)
    assert all(re.fullmatch(r"fact_[A-Za-z0-9_]*", name) for name in given.values())
    assert given == {(p, *args): names.of(Holds(st.relational.Fact(p, tuple(args)))) for p, args in facts}


@given(some.text())
def test_a_comment_stays_a_comment(text):
    shown = plain(text)
    assert shown.isascii()
    assert shown.isprintable()
    assert "*/" not in shown
    assert not shown.endswith("\\")
