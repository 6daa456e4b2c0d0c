"""Actions joined with their frame conditions, against actions carried out one by one."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.encode.encoding import Encoding, Field
from stead_sym.engines.symbolic.step.frame_conditions import Action, framed
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Relation, Schema, Sort

VALUES = ("k1", "k2", "k3")
SCHEMA = Schema((Sort("k", VALUES),), (Relation("P", ("k",)),))
FACTS = [Fact("P", (value,)) for value in VALUES]
ROWS = tuple(product((False, True), repeat=3))


@st.composite
def actions(draw):
    """When it applies (rows of the state bits), what it writes (bit → value), and which call it is."""
    applies = draw(st.frozensets(st.sampled_from(ROWS), min_size=1))
    return applies, draw(st.dictionaries(st.integers(0, 2), st.booleans())), draw(st.sampled_from(VALUES))


@given(st.lists(actions(), max_size=5))
def test_what_an_action_does_not_write_stays_and_a_call_is_one(drawn):
    m = Manager()
    encoding = Encoding(m, SCHEMA, {"k": VALUES}, (), [Field.of([fact]) for fact in FACTS], {})
    bits = [encoding.field(fact).bits[0] for fact in FACTS]
    selector = encoding.vector("param", "k", 0)
    made = []
    for applies, writes, value in drawn:
        condition = m.disj(m.cube(dict(zip(bits, row, strict=True))) for row in sorted(applies))
        after = m.cube({encoding.primed(bits[k]): on for k, on in writes.items()})
        named = encoding.is_value(selector, value)
        touched = {bits[k] for k in writes} | {
            bit for bit, on in encoding.code(selector, value).items() if on
        }
        made.append(Action(condition & after & named, frozenset(touched)))
    relation = framed(encoding, made, [selector])
    expected = set()
    for applies, writes, value in drawn:
        for row in applies:
            expected.add((row, tuple(writes.get(k, on) for k, on in enumerate(row)), value))
    for before, after in product(ROWS, ROWS):
        code = dict(zip(bits, before, strict=True))
        code |= {encoding.primed(bit): on for bit, on in zip(bits, after, strict=True)}
        for chosen in product((False, True), repeat=3):
            named = [value for value, on in zip(VALUES, chosen, strict=True) if on]
            there = m.satisfies(relation, {**code, **dict(zip(selector.bits, chosen, strict=True))})
            assert there == (len(named) == 1 and (before, after, named[0]) in expected)
