"""Pairs of facts that may meet, against all states and all that an action does there."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.encode.encoding import Encoding, Field
from stead_sym.engines.symbolic.step.invariants import Arrival, Codes, may_meet
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Sort

VALUES = ("k1", "k2", "k3")
SCHEMA = Schema((Sort("k", VALUES),), (Relation("P", ("k",)), Relation("On", ())))
FACTS = [Fact("P", (value,)) for value in VALUES]
ON = Fact("On", ())
STATES = tuple(product((None, *FACTS), (False, True)))
"""None or one of the facts, and a flag."""

sets = st.frozensets(st.sampled_from(STATES))


@given(st.dictionaries(st.sampled_from(FACTS), sets), sets, sets, st.booleans())
def test_two_facts_meet_where_some_state_leads_to_both(inserted, deleted, case, apart):
    m = Manager()
    fields = [*(Field.of([fact]) for fact in FACTS)] if apart else [Field.of(FACTS)]
    fields.append(Field.of([ON]))
    encoding = Encoding(m, SCHEMA, {"k": VALUES}, (), fields, {})

    def function(states):
        return m.disj(
            m.cube(encoding.encode(Instance.of(SCHEMA, [*([fact] if fact else ()), *([ON] if on else ())])))
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

    parts: dict[Field, list[Codes]] = {}
    for fact, states in inserted.items():
        field, when = encoding.field(fact), function(states)
        bits = field.code(fact).values()
        codes = [when if bit else m.false for bit in bits], [m.false if bit else when for bit in bits]
        parts.setdefault(field, []).append(codes)
    into = [Arrival.of(m, field, codes) for field, codes in parts.items()]
    assert may_meet(m, held & ~function(deleted), into, function(case)) == meets
