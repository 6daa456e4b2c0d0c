"""What statements do to the bits, against sets of facts: D' = (D minus deletions) plus insertions."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from engine_pairs import examples
from generated.formulas import Signature, formulas
from stead_sym.deployment.tool import Clear, Delete, Effect, Insert
from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.encode.encoding import Encoding, Field
from stead_sym.engines.symbolic.step.formulas import Compiler
from stead_sym.engines.symbolic.step.updates import Writer
from stead_sym.logic.evaluate import holds, value_of
from stead_sym.logic.syntax import TRUE, Atom, Binder, Const, Var
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Sort

SCHEMA = Schema(
    (Sort("a"), Sort("k", ("k1", "k2"))),
    (Relation("P", ("a",)), Relation("R", ("a", "k")), Relation("T", ("k",))),
)
VALUES = {"a": ("a1", "a2"), "k": ("k1", "k2")}
STATIC = Fact("T", ("k2",))
SIGNATURE = Signature({r.name: r.sorts for r in SCHEMA.relations}, VALUES)
SINGLE = "P"


def all_facts(name):
    return [Fact(name, args) for args in product(*(VALUES[sort] for sort in SCHEMA.relation(name).sorts))]


FIELDS = [
    *([fact] for fact in all_facts("P")),
    *([fact for fact in all_facts("R") if fact.args[0] == a] for a in VALUES["a"]),
    [Fact("T", ("k1",))],
]
STATES = [
    Instance(SCHEMA, frozenset({STATIC, *(fact for fact in chosen if fact is not None)}))
    for chosen in product(*((None, *field) for field in FIELDS))
]


@st.composite
def statements(draw):
    """One statement with the variable p fixed, over a value of sort a."""
    kind = draw(st.sampled_from((Insert, Insert, Delete, Clear)))
    if kind is Clear:
        return Clear((draw(st.sampled_from(("P", "R"))),))
    relation = draw(st.sampled_from(("P", "R", "R")))
    binders, args, scope = [], [], {"p": "a"}
    for i, sort in enumerate(SCHEMA.relation(relation).sorts):
        match draw(st.sampled_from(("constant", "variable", "bound"))):
            case "variable" if sort == "a":
                args.append(Var("p"))
            case "bound":
                binders.append(Binder(f"u{i}", sort))
                scope[f"u{i}"] = sort
                args.append(Var(f"u{i}"))
            case _:
                args.append(Const(draw(st.sampled_from(VALUES[sort]))))
    where = draw(formulas(SIGNATURE, scope, depth=1)) if draw(st.booleans()) else TRUE
    return kind(Atom(relation, tuple(args)), tuple(binders), where)


def written(statement, state, p):
    """The facts that an insertion or deletion is about."""
    columns = [sorted(state.active_domain[str(binder.sort)]) for binder in statement.binders]
    for values in product(*columns):
        sigma = {"p": p, **dict(zip((b.name for b in statement.binders), values, strict=True))}
        if holds(statement.where, state, sigma):
            yield Fact(statement.atom.relation, tuple(value_of(t, sigma) for t in statement.atom.args))


def after(effect, state, p):
    deleted, inserted = set(), set()
    for statement in effect.statements:
        match statement:
            case Clear(relations):
                deleted |= {fact for fact in state.facts if fact.relation in relations}
            case Delete():
                deleted |= set(written(statement, state, p))
            case Insert():
                inserted |= set(written(statement, state, p))
    return (state.facts - deleted) | inserted


def crowded(facts):
    """The keys of the encoding that the facts break: of a field of R, of P if it is to be single."""
    per_value = [sum(f.relation == "R" and f.args[0] == a for f in facts) for a in VALUES["a"]]
    crowds = {"R": max(per_value), SINGLE: sum(f.relation == SINGLE for f in facts)}
    return {relation for relation, number in crowds.items() if number > 1}


@settings(max_examples=examples(60))
@given(st.lists(statements(), min_size=1, max_size=3), st.sampled_from(VALUES["a"]), st.booleans())
def test_bits_become_what_the_statements_say_or_a_key_is_broken(drawn, p, single):
    encoding = Encoding(Manager(), SCHEMA, VALUES, (STATIC,), map(Field.of, FIELDS), {})
    m = encoding.manager
    writer = Writer(Compiler(encoding, single=frozenset({SINGLE} if single else ())))
    effect = Effect(tuple(drawn))
    known = [s for s in STATES if not (single and SINGLE in crowded(s.facts))]
    case = m.disj(m.cube(encoding.encode(state)) for state in known)
    told = writer.told(effect, case)
    shared = writer.shared(effect, case, frozenset(told))
    write = writer.write(effect, {"p": p}, case, shared, told)
    updates = {**shared.write.updates, **write.updates}
    keys = set(write.broken)
    for breaking in (shared.write.breaking, write.breaking):
        keys |= {key for keys, where in breaking.items() if case & where != m.false for key in keys}
    broken = {relation for relation, _ in keys}
    assert write.outside == m.false
    for state in known:
        expected = after(effect, state, p)
        breaks = crowded(expected) - (set() if single else {SINGLE})
        assert breaks <= broken, "two facts of a key are found out"
        if not breaks:
            code = encoding.encode(state)
            new = {bit: m.satisfies(function, code) for bit, function in updates.items()}
            assert encoding.decode({**code, **new}).facts == expected
    if not single:
        assert broken == set().union(*(crowded(after(effect, s, p)) - {SINGLE} for s in known))


def test_a_fact_without_bits_is_outside():
    """An insertion of a fact that has no bits and is not static leads out of U_f, where it happens."""
    encoding = Encoding(Manager(), SCHEMA, VALUES, (STATIC,), map(Field.of, FIELDS[:-1]), {})
    m = encoding.manager
    on = Atom("P", (Const("a1"),))
    insert = Insert(Atom("T", (Const("k1"),)), (), on)
    writer = Writer(Compiler(encoding))
    shared = writer.shared(Effect((insert,)), m.true)
    write = writer.write(Effect((insert,)), {}, m.true, shared)
    assert shared.write.outside == write.outside == encoding.atom(Fact("P", ("a1",)))
    assert not shared.write.updates
    assert not write.updates
    mentioned = Insert(Atom("T", (Var("k"),)), (), on)
    effect = Effect((mentioned,))
    assert writer.shared(effect, m.true).write.outside == m.false
    write = writer.write(effect, {"k": "k1"}, m.true, writer.shared(effect, m.true))
    assert write.outside == encoding.atom(Fact("P", ("a1",)))
    static = Insert(Atom("T", (Const("k2"),)))
    assert writer.shared(Effect((static,)), m.true).write.outside == m.false
