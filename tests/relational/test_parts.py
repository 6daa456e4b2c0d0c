"""Canonical forms put together from parts: against the form in one piece, and under change."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from generated.strategies import renamings
from stead_sym.relational import shapes
from stead_sym.relational.canonical import canonical_form, form_of, isomorphic, orbit
from stead_sym.relational.encoding import Encoding
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.parts import Parts
from stead_sym.relational.schema import Relation, Schema, Sort

MOST = 2_000  # automorphisms that a test goes through


@st.composite
def schemas(draw):
    """Three sorts, one of them rigid, and relations among which some are unary, some link two values of one
    sort, and one links parts as the calls of a tool do."""
    sorts = (Sort("a"), Sort("b"), Sort("r", ("r0", "r1"), rigid=True))
    signatures = draw(
        st.lists(st.lists(st.sampled_from("abr"), max_size=3).map(tuple), min_size=2, max_size=4, unique=True)
    )
    relations = [Relation(f"P{i}", signature) for i, signature in enumerate(signatures)]
    return Schema(sorts, (*relations, Relation("U", ("a",)), Relation("call w", ("a", "b"))))


@st.composite
def structures(draw, copies=3, links=2):
    """Some small sets of facts, each copied under names of its own, and facts between them: over hubs, over
    rigid values, over anything, and over nothing that can be renamed."""
    schema = draw(schemas())

    def fact(pools):
        possible = [r for r in schema.relations if all(pools.get(sort) for sort in r.sorts)]
        relation = draw(st.sampled_from(possible))
        return Fact(relation.name, tuple(draw(st.sampled_from(pools[sort])) for sort in relation.sorts))

    rigid = ["r0", "r1"]
    hubs = {"a": draw(st.sampled_from([[], ["ha"], ["ha", "hb"]])), "b": draw(st.sampled_from([[], ["hc"]]))}
    facts, values = set(), {sort: list(found) for sort, found in hubs.items()}
    for kind in range(draw(st.integers(1, 3))):
        own = {"a": ["a0", "a1"], "b": ["b0"], "r": rigid}
        kept = [
            fact({sort: [*own[sort], *hubs.get(sort, [])] for sort in own})
            for _ in range(draw(st.integers(1, 4)))
        ]
        for copy in range(draw(st.integers(1, copies))):
            names = {name: f"{name}.{kind}.{copy}" for name in ("a0", "a1", "b0")}
            swap = draw(st.sampled_from([{}, {"ha": "hb", "hb": "ha"}]))
            facts |= {one.rename({**names, **swap}) for one in kept}
            for name, called in names.items():
                values[name[0]].append(called)
    for _ in range(draw(st.integers(0, links))):
        facts.add(fact({**values, "r": rigid}))
        facts.add(fact({"a": hubs["a"] or values["a"][:1], "b": hubs["b"] or values["b"][:1], "r": rigid}))
    fixed = schema.rigid | draw(st.sampled_from([set(), {"a0.0.0"}]))
    return Instance(schema, frozenset(facts)), fixed


limits = st.fixed_dictionaries({"small": st.sampled_from([0, 3]), "hub": st.sampled_from([0, 1, 2, 4, 100])})


def by_parts(instance, rigid, limit, encoding=None):
    encoding = encoding or Encoding(
        instance.schema, {sort.name: rigid for sort in instance.schema.sorts}, **limit
    )
    parts = Parts(encoding)
    parts.change(instance.facts)
    return form_of(encoding, parts.placement())


def layout_key(instance, rigid, limit):
    encoding = Encoding(instance.schema, {sort.name: rigid for sort in instance.schema.sorts}, **limit)
    parts = Parts(encoding)
    parts.change(instance.facts)
    return parts.placement().layout.key


def group(instance, generators):
    """All automorphisms that ``generators`` generate, each as the fact of the images of all values."""
    values = tuple(sorted({value for fact in instance.facts for value in fact.args}))
    reached, frontier = {values}, [values]
    while frontier:
        images = frontier.pop()
        for generator in generators:
            further = tuple(generator.get(value, value) for value in images)
            if further not in reached:
                assume(len(reached) < MOST)
                reached.add(further)
                frontier.append(further)
    return reached


@given(structures(), limits)
def test_the_form_is_that_of_an_isomorphic_instance_and_the_group_is_the_whole_group(structure, limit):
    instance, rigid = structure
    whole, form = canonical_form(instance, rigid), by_parts(instance, rigid, limit)
    assert set(form.labelling) == {value for fact in instance.facts for value in fact.args}
    assert all(form.labelling[value] == value for value in form.labelling.keys() & rigid)
    assert instance.rename(form.labelling) == form.instance
    assert len(set(form.labelling.values())) == len(form.labelling)
    assert all(instance.rename(generator) == instance for generator in form.generators)
    assert group(instance, form.generators) == group(instance, whole.generators)


@given(structures(), limits, st.data())
def test_isomorphic_instances_have_equal_forms(structure, limit, data):
    instance, rigid = structure
    renamed = instance.rename(data.draw(renamings(instance, rigid)))
    form = by_parts(instance, rigid, limit)
    assert by_parts(renamed, rigid, limit).instance == form.instance
    assert by_parts(form.instance, rigid, limit).instance == form.instance
    shared = Encoding(instance.schema, {sort.name: rigid for sort in instance.schema.sorts}, **limit)
    assert by_parts(instance, rigid, limit, shared).instance == form.instance
    assert by_parts(renamed, rigid, limit, shared).instance == form.instance


@given(structures(), limits, st.data())
def test_facts_that_come_and_go_leave_the_layout_of_what_is_there(structure, limit, data):
    """Also where hubs and parts appear and vanish on the way."""
    instance, rigid = structure
    encoding = Encoding(instance.schema, {sort.name: rigid for sort in instance.schema.sorts}, **limit)
    parts = Parts(encoding)
    there = frozenset()
    facts = st.sampled_from(sorted(instance.facts)) if instance.facts else st.nothing()
    for turned in [instance.facts, *data.draw(st.lists(st.frozensets(facts, max_size=2), max_size=6))]:
        parts.change(come=turned - there, go=turned & there)
        there = there ^ turned
        if data.draw(st.integers(0, 3)) == 0:
            continue  # nobody looks
        now = Instance(instance.schema, there)
        form, anew = form_of(encoding, parts.placement()), by_parts(now, rigid, limit)
        assert form.instance == anew.instance
        assert now.rename(form.labelling) == form.instance
        assert group(now, form.generators) == group(now, anew.generators)


def test_a_value_that_is_no_hub_any_more_connects():
    encoding = Encoding(DESK, {"status": DESK.rigid}, small=0, hub=2)
    parts = Parts(encoding)
    facts = [Fact("Handler", (f"c{i}", "s")) for i in range(3)]
    parts.change(facts)
    assert len(parts.placement().layout.hubs) == 1
    parts.change(go=facts[:1])
    layout = parts.placement().layout
    assert (layout.hubs, [block.shape.size for block in layout.blocks]) == ((), [3])


@given(structures(copies=2), limits, st.data())
def test_forms_of_instances_that_are_nearly_isomorphic_differ(structure, limit, data):
    instance, rigid = structure
    assume(instance.facts)
    other = data.draw(st.sampled_from(sorted(instance.facts)))
    pools = {sort: sorted(values) for sort, values in instance.active_domain.items()}
    sorts = instance.schema.relation(other.relation).sorts
    changed = Fact(other.relation, tuple(data.draw(st.sampled_from(pools[sort])) for sort in sorts))
    near = Instance(instance.schema, instance.facts - {other} | {changed})
    near = near.rename(data.draw(renamings(near, rigid)))
    expected = isomorphic(instance, near, rigid)
    assert (by_parts(instance, rigid, limit).instance == by_parts(near, rigid, limit).instance) == expected
    assert (layout_key(instance, rigid, limit) == layout_key(near, rigid, limit)) == expected


@given(structures(copies=3), limits, st.data())
def test_a_copy_more_is_another_context(structure, limit, data):
    """Keys tell apart what differs in nothing but how many parts of a shape there are."""
    instance, rigid = structure
    values = sorted({value for fact in instance.facts for value in fact.args} - rigid)
    assume(values)
    again = {value: f"{value}'" for value in values if not value.startswith("h")}
    part = data.draw(st.sampled_from(sorted(instance.facts)))
    copied = {
        fact for fact in instance.facts if fact == part or set(fact.args) & set(part.args) & again.keys()
    }
    more = Instance(instance.schema, instance.facts | {fact.rename(again) for fact in copied})
    expected = isomorphic(instance, more, rigid)
    assert (layout_key(instance, rigid, limit) == layout_key(more, rigid, limit)) == expected


@pytest.mark.parametrize("hub", [1, 2, 100])
def test_keys_count_copies(hub):
    keys = {
        layout_key(
            Instance(DESK, frozenset(Fact("Is", (f"c{i}", "open")) for i in range(n))),
            DESK.rigid,
            {"hub": hub},
        )
        for n in range(1, 6)
    }
    assert len(keys) == 5


DESK = Schema(
    (Sort("case"), Sort("service"), Sort("status", ("open", "shut"), rigid=True)),
    (
        Relation("Approver", ("service", "service")),
        Relation("Is", ("case", "status")),
        Relation("Handler", ("case", "service")),
    ),
)


def desk(per_handler, dice=None):
    """Cases of handlers that have an approver each: per handler how many are open, and how many are shut."""
    facts = []
    for handler, numbers in enumerate(per_handler):
        facts.append(Fact("Approver", (f"s{handler}", f"a{handler}")))
        for status, number in zip(("open", "shut"), numbers, strict=True):
            for i in range(number):
                case = f"c{handler}{status}{i}"
                facts += [Fact("Is", (case, status)), Fact("Handler", (case, f"s{handler}"))]
    instance = Instance.of(DESK, facts)
    if dice is not None:
        for values in instance.active_domain.values():
            own = sorted(values - DESK.rigid)
            instance = instance.rename(dict(zip(own, dice.sample(own, len(own)), strict=True)))
    return instance


@pytest.mark.parametrize(
    "numbers",
    [[(40, 3)], [(40, 3), (40, 3)], [(40, 3), (41, 3)], [(40, 3), (3, 40)], [(40, 40)] * 3, [(2, 1)] * 40],
)
def test_thousands_of_copies_have_as_many_generators(numbers):
    instance = desk(numbers)
    form = canonical_form(instance, DESK.rigid)
    dice = random.Random(1)
    assert canonical_form(desk(numbers, dice), DESK.rigid).instance == form.instance
    assert all(instance.rename(generator) == instance for generator in form.generators)
    assert len(form.generators) <= len(instance.active_domain["case"]) + 2 * len(numbers)
    for handler, pair in enumerate(numbers):
        for status, number in zip(("open", "shut"), pair, strict=True):
            found = orbit([Fact("Is", (f"c{handler}{status}0", status))], form.generators)
            assert len(found) == numbers.count(pair) * number


def test_whose_cases_are_open_tells_handlers_apart_that_have_as_many():
    same = desk([(30, 10), (10, 30)])
    other = desk([(20, 20), (20, 20)])
    assert canonical_form(same, DESK.rigid).instance != canonical_form(other, DESK.rigid).instance
    assert not isomorphic(same, other, DESK.rigid)


def counted(monkeypatch, where, name):
    """A list that grows by one with each call of a function."""
    calls, function = [], getattr(where, name)

    def counting(*args):
        calls.append(args)
        return function(*args)

    monkeypatch.setattr(where, name, counting)
    return calls


@pytest.mark.parametrize("number", [100, 1_000])
def test_what_is_solved_grows_with_the_shapes_and_not_with_the_facts(number, monkeypatch):
    solved = counted(monkeypatch, shapes, "solve")
    canonical_form(desk([(number, number + 1), (number + 2, number)]), DESK.rigid)
    assert 0 < len(solved) <= 10
    assert all(len(rows) < 20 for rows, _ in solved)


@pytest.mark.parametrize("number", [100, 1_000])
def test_a_change_costs_the_part_that_it_touches(number, monkeypatch):
    instance = desk([(number, number + 1), (number + 2, number)])
    parts = Parts(Encoding(DESK, {"status": DESK.rigid}))
    parts.change(instance.facts)
    parts.placement()
    looked_at = counted(monkeypatch, shapes.Shapes, "shape")
    gone = Fact("Is", ("c0open7", "open"))
    parts.change(come=[Fact("Is", ("c0open7", "shut"))], go=[gone])
    parts.placement()
    assert 0 < sum(len(rows) for _, rows in looked_at) <= 20


def test_an_orbit_under_swaps_of_neighbours_takes_two_steps_an_item(monkeypatch):
    n = 2_000
    swaps = [{f"c{i}": f"c{i + 1}", f"c{i + 1}": f"c{i}"} for i in range(n)]
    renamed = counted(monkeypatch, Fact, "rename")
    assert len(orbit([Fact("Is", ("c0", "open"))], swaps)) == n + 1
    assert len(renamed) == 2 * n
