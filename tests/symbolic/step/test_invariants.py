"""Whether two facts may meet, against all states and all that an action does there."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.encode.encoding import Encoding, Field
from stead_sym.engines.symbolic.step.formulas import Compiler
from stead_sym.engines.symbolic.step.invariants import may_meet
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Relation, Schema, Sort

VALUES = ("k1", "k2", "k3")
SCHEMA = Schema((Sort("k", VALUES),), (Relation("P", ("k",)), Relation("On", ())))
FACTS = [Fact("P", (value,)) for value in VALUES]
STATES = tuple(product((None, *FACTS), (False, True)))
"""None or one of the facts, and a flag."""

sets = st.frozensets(st.sampled_from(STATES))


@given(st.dictionaries(st.sampled_from(FACTS), sets), sets, sets)
def test_two_facts_meet_where_some_state_leads_to_both(inserted, deleted, case):
    m = Manager()
    fields = [Field.of(FACTS), Field.of([Fact("On", ())])]
    encoding = Encoding(m, SCHEMA, {"k": VALUES}, (), fields, {})
    compiler = Compiler(encoding)

    def function(states):
        return m.disj(
            m.cube({**fields[0].code(fact), **fields[1].code(Fact("On", ()) if on else None)})
            for fact, on in sorted(states, key=str)
        )

    held = m.disj(map(encoding.atom, FACTS))
    meets = any(
        len(
            {
                *([state[0]] if state[0] and state not in deleted else ()),
                *(f for f, when in inserted.items() if state in when),
            }
        )
        > 1
        for state in case
    )
    into = {fact: function(when) for fact, when in inserted.items()}
    assert may_meet(compiler, held & ~function(deleted), into, function(case)) == meets
