"""The effect of statements on the bits, against sets of facts: D' = (D minus deletions) plus insertions."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import examples
from generated.formulas import Signature, formulas
from stead_sym.deployment.tool import Clear, Delete, Effect, Insert
from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.encode.encoding import Encoding, Field
from stead_sym.engines.symbolic.step.formulas import Compiler
from stead_sym.engines.symbolic.step.updates import Writer
from stead_sym.logic.evaluate import holds, value_of
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Sort


class Setting:
    """R is a field for each value of a; its second column is one of names or of numbers."""

    def __init__(self, second: Sort) -> None:
        assert second.values is not None
        self.schema = Schema(
            (Sort("a"), second),
            (Relation("P", ("a",)), Relation("R", ("a", "k")), Relation("T", ("k",))),
        )
        self.values = {"a": ("a1", "a2"), "k": second.values}
        self.static = Fact("T", (second.values[1],))
        self.signature = Signature({r.name: r.sorts for r in self.schema.relations}, self.values)
        self.fields = [
            *([fact] for fact in self.all_facts("P")),
            *([fact for fact in self.all_facts("R") if fact.args[0] == a] for a in self.values["a"]),
            [Fact("T", (second.values[0],))],
        ]
        self.states = [
            Instance(self.schema, frozenset({self.static, *(fact for fact in chosen if fact is not None)}))
            for chosen in product(*((None, *field) for field in self.fields))
        ]

    def all_facts(self, name):
        sorts = self.schema.relation(name).sorts
        return [Fact(name, args) for args in product(*(self.values[sort] for sort in sorts))]

    def encoding(self, fields=None):
        fields = map(Field.of, self.fields if fields is None else fields)
        return Encoding(Manager(), self.schema, self.values, (self.static,), fields, {})


SINGLE = "P"
NAMES = Setting(Sort("k", ("k1", "k2")))
NUMBERS = Setting(Sort.numbers("k", -1, 1))


@st.composite
def statements(draw, setting):
    """One statement with the variables p and q free, over a value of sort a and one of sort k."""
    kind = draw(st.sampled_from((Insert, Insert, Delete, Clear)))
    if kind is Clear:
        return Clear((draw(st.sampled_from(("P", "R"))),))
    relation = draw(st.sampled_from(("P", "R", "R")))
    binders, args, scope = [], [], {"p": "a", "q": "k"}
    for i, sort in enumerate(setting.schema.relation(relation).sorts):
        match draw(st.sampled_from(("constant", "variable", "bound"))):
            case "variable":
                args.append(fo.Var("p" if sort == "a" else "q"))
            case "bound":
                binders.append(fo.Binder(f"u{i}", sort))
                scope[f"u{i}"] = sort
                args.append(fo.Var(f"u{i}"))
            case _:
                args.append(fo.Const(draw(st.sampled_from(setting.values[sort]))))
    where = draw(formulas(setting.signature, scope, depth=1)) if draw(st.booleans()) else fo.TRUE
    return kind(fo.Atom(relation, tuple(args)), tuple(binders), where)


def written(statement, state, free):
    """The facts that an insertion or deletion is about."""
    columns = [sorted(state.active_domain[str(binder.sort)]) for binder in statement.binders]
    for values in product(*columns):
        sigma = {**free, **dict(zip((b.name for b in statement.binders), values, strict=True))}
        if holds(statement.where, state, sigma):
            yield Fact(statement.atom.relation, tuple(value_of(t, sigma) for t in statement.atom.args))


def after(effect, state, free):
    deleted, inserted = set(), set()
    for statement in effect.statements:
        match statement:
            case Clear(relations):
                deleted |= {fact for fact in state.facts if fact.relation in relations}
            case Delete():
                deleted |= set(written(statement, state, free))
            case Insert():
                inserted |= set(written(statement, state, free))
    return (state.facts - deleted) | inserted


def crowded(facts):
    """The keys of the encoding that the facts break: of a field of R, of P if it is to be single."""
    per_value = [sum(f.relation == "R" and f.args[0] == a for f in facts) for a in NAMES.values["a"]]
    crowds = {"R": max(per_value), SINGLE: sum(f.relation == SINGLE for f in facts)}
    return {relation for relation, number in crowds.items() if number > 1}


@pytest.mark.parametrize("setting", [NAMES, NUMBERS], ids=["names", "numbers"])
@settings(max_examples=examples(60))
@given(data=st.data(), single=st.booleans())
def test_bits_become_what_the_statements_say_or_a_key_is_broken(setting, data, single):
    effect = Effect(tuple(data.draw(st.lists(statements(setting), min_size=1, max_size=3))))
    encoding = setting.encoding()
    m = encoding.manager
    writer = Writer(Compiler(encoding, single=frozenset({SINGLE} if single else ())))
    known = [s for s in setting.states if not (single and SINGLE in crowded(s.facts))]
    case = m.disj(m.cube(encoding.encode(state)) for state in known)
    told = writer.told(effect, case)
    shared = writer.shared(effect, case, frozenset(told))
    p, q = data.draw(st.sampled_from(setting.values["a"])), data.draw(st.sampled_from(setting.values["k"]))
    choices, values = {q: case}, {"p": p, "q": q}
    if setting is NUMBERS:  # all of them at once
        vector = encoding.unused("k", ())
        choices = {value: case & encoding.is_value(vector, value) for value in setting.values["k"]}
        case, values = case & encoding.valid(vector), {"p": p, "q": vector}
    write = writer.write(effect, values, case, shared, told)
    updates = {**shared.write.updates, **write.updates}
    keys = set(write.broken)
    for breaking in (shared.write.breaking, write.breaking):
        keys |= {key for keys, where in breaking.items() if case & where != m.false for key in keys}
    broken = {relation for relation, _ in keys}
    assert case & write.outside == m.false
    for (q, choice), state in product(choices.items(), known):
        free = {"p": p, "q": q}
        expected = after(effect, state, free)
        breaks = crowded(expected) - (set() if single else {SINGLE})
        assert breaks <= broken, "two facts of a key are found out"
        if not breaks:
            code = m.pick(choice & m.cube(encoding.encode(state)), m.support(choice) | encoding.state_bits)
            new = {bit: m.satisfies(function, code) for bit, function in updates.items()}
            assert encoding.decode({**code, **new}).facts == expected
    if not single:
        ends = (after(effect, s, {"p": p, "q": q}) for q in choices for s in known)
        assert broken == set().union(*(crowded(end) - {SINGLE} for end in ends))


@pytest.mark.parametrize("setting", [NAMES, NUMBERS], ids=["names", "numbers"])
def test_a_fact_without_bits_is_outside(setting):
    """An insertion of a fact that has no bits and is not static leads out of U_f, where it happens."""
    encoding = setting.encoding(setting.fields[:-1])
    lasting, other = setting.static.args[0], setting.values["k"][0]
    m = encoding.manager
    on = fo.Atom("P", (fo.Const("a1"),))
    insert = Insert(fo.Atom("T", (fo.Const(other),)), (), on)
    writer = Writer(Compiler(encoding))
    shared = writer.shared(Effect((insert,)), m.true)
    write = writer.write(Effect((insert,)), {}, m.true, shared)
    assert shared.write.outside == write.outside == encoding.atom(Fact("P", ("a1",)))
    assert not shared.write.updates
    assert not write.updates
    mentioned = Insert(fo.Atom("T", (fo.Var("k"),)), (), on)
    effect = Effect((mentioned,))
    assert writer.shared(effect, m.true).write.outside == m.false
    write = writer.write(effect, {"k": other}, m.true, writer.shared(effect, m.true))
    assert write.outside == encoding.atom(Fact("P", ("a1",)))
    static = Insert(fo.Atom("T", (fo.Const(lasting),)))
    assert writer.shared(Effect((static,)), m.true).write.outside == m.false
