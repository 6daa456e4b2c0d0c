"""Contexts that are found at places in the data: against explicit search, and against a search for each."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from returns import returns_desk

import stead_sym
from engine_pairs import black_box, both, by_name, examples, some_by_name
from stead_sym.agents.base import FunctionAgent
from stead_sym.agents.roles import wrap
from stead_sym.engines.symbolic.explore import neighbourhoods, places
from stead_sym.engines.symbolic.explore.located import Locator
from stead_sym.engines.symbolic.explore.neighbourhoods import Site, Tree
from stead_sym.relational.canonical import canonical_form
from stead_sym.relational.instance import Fact, Instance

_STATES = 3000


@st.composite
def desks(draw):
    """Records of owners, each with items of two kinds; some are in hand, perhaps two at a time, and are
    marked with items of their owner, or with those of anybody. A mark may be there from the start. Whether a
    kind is shown may be a matter of what is marked. Who knows whom never changes, and nobody is shown it."""
    owners = draw(st.lists(st.integers(0, 1), min_size=1, max_size=3))
    items = draw(st.lists(st.tuples(st.integers(0, 1), st.sampled_from("ab")), min_size=1, max_size=3))
    facts = [f"Owner(r{r}, o{o})" for r, o in enumerate(owners)]
    facts += [f"Has(o{o}, i{i})" for i, (o, _) in enumerate(items)]
    facts += [f"Kind(i{i}, {kind})" for i, (_, kind) in enumerate(items)]
    facts += [f"Knows(o{o}, i{i})" for i, (o, _) in enumerate(items) if draw(st.booleans())]
    pairs = list(product(range(len(owners)), range(len(items))))
    facts += [f"Mark(r{r}, i{i})" for r, i in draw(st.lists(st.sampled_from(pairs), max_size=1))]
    anyone = draw(st.booleans())
    mine = "Kind(i, _)" if anyone else "exists o. Owner(r, o) & Has(o, i)"
    free = draw(st.sampled_from(["~exists s. Focus(s)", "atmost 1 s. Focus(s)"]))
    shown = draw(st.sampled_from(["true", "exists r. Mark(r, i)"]))
    return stead_sym.build_deployment(
        "marked",
        sorts={"rec": None, "own": None, "item": None, "kind": stead_sym.rigid("a", "b")},
        relations={
            "Owner": "rec, own",
            "Has": "own, item",
            "Kind": "item, kind",
            "Mark": "rec, item",
            "Focus": "rec",
            "Knows": "own, item",
        },
        init=facts,
        views={
            "Focus(r)": "true",
            "Owner(r, o)": "Focus(r)",
            "Has(o, i)": "exists r. Focus(r) & Owner(r, o)",
            "Kind(i, k)": f"(exists r, o. Focus(r) & Owner(r, o) & Has(o, i)) & {shown}",
            "Mark(r, i)": "Focus(r)",
        },
        tools=[
            stead_sym.tool(
                "take",
                guard=f"(exists r. ~Focus(r) & Owner(r, _)) & {free}",
                effect="choose r: rec where ~Focus(r) & Owner(r, _)\ninsert Focus(r)",
            ),
            stead_sym.tool(
                "mark",
                "r: rec, i: item",
                guard=f"Focus(r) & ~Mark(r, i) & {mine}",
                effect="insert Mark(r, i)",
            ),
            stead_sym.tool(
                "wipe", "r: rec", guard="Focus(r)", effect=["delete Mark(r, i) for i", "delete Focus(r)"]
            ),
            stead_sym.tool("close", effect="clear Focus"),
        ],
    )


def answers(pair):
    return [
        (
            engine.states,
            engine.transitions,
            {(context, calls) for wrapper in wrappers.values() for context, calls in wrapper.decisions},
        )
        for engine, wrappers in zip(pair, pair.wrappers, strict=True)
    ]


@settings(max_examples=examples(25), deadline=None)
@given(desks(), st.integers(0, 3))
def test_contexts_at_places_are_those_of_explicit_search(desk, seed):
    explicit, symbolic = answers(both(desk, by_name(seed), max_states=_STATES))
    assert symbolic == explicit


_TWO_HANDS = """
deployment hands
sort rec
relation Rec(rec)
relation Focus(rec)
relation Done(rec)
init
  Rec(r0)
  Rec(r1)
  Rec(r2)
view Rec(r) where Focus(r)
view Focus(r)
view Done(r) where Focus(r)
tool take()
  guard exists r. Rec(r) & ~Focus(r)
  effect
    choose r: rec where Rec(r) & ~Focus(r)
    insert Focus(r)
tool do(r: rec)
  guard Focus(r) & ~Done(r)
  effect
    insert Done(r)
tool leave(r: rec)
  guard Focus(r)
  effect
    delete Focus(r)
policy p
  call leave(r) when atleast 2 s. Focus(s)
  call do(r)
  call take()
spec two_are_taken
  EF (atleast 2 r. Focus(r))
spec one_is_left
  AG ((atleast 2 r. Focus(r)) -> AX (atmost 1 r. Focus(r)))
"""


def test_what_is_selected_of_a_record_alone_is_not_selected_beside_another():
    """Beside a second record in hand a record shows and offers all that it does alone: a third is there to be
    taken either way."""
    desk = stead_sym.parse_deployment(_TWO_HANDS)
    pair = both(desk, desk.policy("p"), asked=True)
    explicit, symbolic = answers(pair)
    assert symbolic == explicit
    for spec in desk.specs:
        assert pair.symbolic.holds(spec.formula)
        assert pair.explicit.holds(spec.formula)


_MARKED_FOR_GOOD = """
deployment marked_for_good
sort rec
relation Rec(rec)
relation Focus(rec)
relation Mark(rec)
init
  Rec(r0)
  Rec(r1)
  Rec(r2)
  Mark({})
view Rec(r) where Focus(r)
view Focus(r)
view Mark(r)
tool take()
  guard ~Focus(_)
  effect
    choose r: rec where Rec(r)
    insert Focus(r)
tool mark(r: rec)
  guard Focus(r)
  effect
    insert Mark(r)
tool leave()
  guard Focus(_)
  effect
    clear Focus
policy p
  call leave() when exists r. Focus(r) & Mark(r)
  call mark(r)
  call take()
spec both_are_marked
  EF forall r. Mark(r) <-> Rec(r)
"""


@pytest.mark.parametrize("marked", ["r0", "r1"])
def test_what_always_holds_of_one_record_does_not_of_another(marked):
    """The mark of one record is shown in every state, that of the other is not."""
    desk = stead_sym.parse_deployment(_MARKED_FOR_GOOD.format(marked))
    pair = both(desk, desk.policy("p"), asked=True)
    explicit, symbolic = answers(pair)
    assert symbolic == explicit
    assert pair.symbolic.holds(desk.specs[0].formula)


@st.composite
def hands(draw):
    """Records of two kinds that may lead to the next, several in hand at a time: what one of them shows
    alone it shows beside another. A mark may be shown of records that are not in hand."""
    kinds = draw(st.lists(st.sampled_from("ab"), min_size=2, max_size=3))
    facts = [f"Kind(r{r}, {kind})" for r, kind in enumerate(kinds)]
    facts += [f"Next(r{r}, r{r + 1})" for r in range(len(kinds) - 1) if draw(st.booleans())]
    number = draw(st.integers(2, len(kinds)))
    marked = draw(st.sampled_from(["Focus(r)", "true", "~Focus(r)", "exists s. Focus(s) & Next(s, r)"]))
    return stead_sym.build_deployment(
        "hands",
        sorts={"rec": None, "kind": stead_sym.rigid("a", "b")},
        relations={"Kind": "rec, kind", "Next": "rec, rec", "Focus": "rec", "Mark": "rec"},
        init=facts,
        views={"Focus(r)": "true", "Kind(r, k)": "Focus(r)", "Next(r, s)": "Focus(r)", "Mark(r)": marked},
        tools=[
            stead_sym.tool(
                "take",
                guard=f"(exists r. ~Focus(r) & Kind(r, _)) & atmost {number - 1} s. Focus(s)",
                effect="choose r: rec where ~Focus(r) & Kind(r, _)\ninsert Focus(r)",
            ),
            stead_sym.tool("mark", "r: rec", guard="Focus(r) & ~Mark(r)", effect="insert Mark(r)"),
            stead_sym.tool(
                "leave",
                "r: rec",
                guard="Focus(r)",
                effect=draw(st.sampled_from(["delete Focus(r)", "clear Focus"])),
            ),
            stead_sym.tool("wait"),
        ],
    )


def taking(seed):
    """An agent that takes a record where it can, and selects some other calls by the names in the context."""
    some = some_by_name(seed).function
    return FunctionAgent(
        lambda context: {*some(context), *(call for call in context.calls if call.tool == "take")}
    )


@settings(max_examples=examples(20), deadline=None)
@given(hands(), st.integers(0, 9))
def test_more_records_in_hand_are_as_in_explicit_search(desk, seed):
    explicit, symbolic = answers(both(desk, taking(seed), max_states=_STATES))
    assert symbolic == explicit


@pytest.mark.parametrize("policy", ["careful", "hasty"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_returns_desk_is_the_same_explicitly(n, policy):
    desk = returns_desk(n)
    pair = both(desk, desk.policy(policy), max_states=_STATES, asked=True)
    explicit, symbolic = answers(pair)
    assert symbolic == explicit
    for spec in desk.specs:
        assert pair.symbolic.holds(spec.formula) == pair.explicit.holds(spec.formula)


def _figures(desk, policy):
    result = stead_sym.verify(desk, black_box(wrap(desk, policy)), findings=False)
    verdicts = {name: verdict.word for name, verdict in result.verdicts.items()}
    return result.states, result.transitions, verdicts, set(result.decisions)


@pytest.mark.parametrize("policy", ["careful", "hasty"])
def test_contexts_at_places_are_those_found_one_by_one(policy, monkeypatch):
    desk, found = returns_desk(14), []
    decided = Locator.decided
    monkeypatch.setattr(Locator, "decided", lambda *args: found.append(args) or decided(*args))
    at_places = _figures(desk, policy)
    assert len(found) > 50, "contexts are found one by one"
    monkeypatch.setattr(Locator, "shape", lambda self, context, allowance: None)
    assert _figures(desk, policy) == at_places


@pytest.mark.parametrize(("module", "limit"), [(places, "_TIMES"), (neighbourhoods, "_MOST")])
def test_where_there_is_too_much_to_look_at_contexts_are_found_one_by_one(module, limit, monkeypatch):
    desk = returns_desk(4)
    at_places = _figures(desk, "careful")
    monkeypatch.setattr(module, limit, 0)
    monkeypatch.setattr(Site, "classes", lambda *args: pytest.fail("a place was looked at"))
    assert _figures(desk, "careful") == at_places


def test_a_place_is_an_image_of_the_pattern_that_no_larger_one_contains():
    """The places of a wallet of two methods of one type: no wallet of three, and each once, whichever of the
    two methods is which."""
    model = _explored(40)
    desk, finder = model.deployment, model.finders[0]
    facts = desk.init.facts
    wallets, types = {}, {}
    for fact in facts:
        if fact.relation == "Wallet":
            wallets.setdefault(fact.args[0], set()).add(fact.args[1])
        if fact.relation == "Type":
            types[fact.args[0]] = fact.args[1]
    pattern = Instance(
        desk.schema,
        frozenset(
            {
                Fact("Owner", ("o", "u")),
                *(Fact("Wallet", ("u", m)) for m in "mn"),
                *(Fact("Type", (m, "credit_card")) for m in "mn"),
            }
        ),
    )
    found = finder._locator._places.of(canonical_form(pattern, finder.rigid).instance)
    expected = {
        (fact.args[0], frozenset(wallets[fact.args[1]]))
        for fact in facts
        if fact.relation == "Owner"
        and [types[method] for method in wallets[fact.args[1]]] == ["credit_card"] * 2
    }
    orders = {fact.args[0] for fact in facts if fact.relation == "Owner"}
    users = {fact.args[1] for fact in facts if fact.relation == "Owner"}
    seen = [
        (set(place.of.values()) & orders, frozenset(set(place.of.values()) - orders - users))
        for place in found
    ]
    assert len(expected) > 1
    assert len(seen) == len(expected)
    assert {(order, methods) for (order,), methods in seen} == expected


@cache
def _explored(n):
    """A returns desk of so many orders, explored."""
    desk = returns_desk(n)
    return stead_sym.verify(
        desk, black_box(wrap(desk, "hasty")), ["one_at_a_time"], findings=False
    ).engine._model


@settings(max_examples=examples(20), deadline=None)
@given(st.data())
def test_projections_down_the_tree_are_those_on_each_place(data):
    """P_h = ∃ (bits ∖ Λ_h). U ∧ ψ_h for any set U of states."""
    model = _explored(5)
    m, encoding = model.manager, model.encoding
    bits = data.draw(st.lists(st.sampled_from(encoding.order), max_size=12, unique=True))
    some = m.disj(
        m.cube({bit: data.draw(st.booleans()) for bit in bits[k::3]}) for k in range(3) if bits[k::3]
    )
    shapes = [shape for shape in model.finders[0]._locator._shapes.values() if shape is not None]
    assert len(shapes) > 1
    together = {(of, site.place.shown): near for of, site, near in Tree(encoding, shapes).near(some)}
    for shape in shapes:
        near = {site.place.shown: part for _, site, part in shape.tree.near(some)}
        for site in shape.sites:
            alone = m.exist(encoding.state_bits - site.bits, some & site.place.shown)
            assert near.get(site.place.shown, m.false) == alone
            assert together.get((shape, site.place.shown), m.false) == alone
            classes = list(site.classes(m, site.place.shown))
            assert m.disj(condition for _, condition in classes) == site.place.shown
            assert len({key for key, _ in classes}) == len(classes)
