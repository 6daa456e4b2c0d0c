"""Deployments that speak several times of relations that hold one fact at most, or seem to: explicit search
and both domains of the symbolic engine have the same answers, and their certificates check.

Fixed ones have a shape each that may tell such a relation from one that only looks like it. Generated ones
speak of these relations everywhere: in guards, conditions, views and specifications, below quantifiers,
negations and counts, of values that are held and die.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

import stead_sym
from engine_pairs import assert_same_answers, both, by_name, examples, some_by_name
from stead_sym.deployment.language import parse_deployment
from stead_sym.errors import DefinitionError, NoInitialState, Undecided
from test_engines_agree import assert_agreement

MOST_STATES = 120


def assert_all_agree(deployment, agent, folder):
    """States, contexts, satisfying sets, verdicts, and what certificates establish."""
    expected = assert_same_answers(deployment, agent, max_states=MOST_STATES)
    if isinstance(expected, str):
        return
    if not deployment.fair and len(deployment.agents) == 1:
        assert_agreement(both(deployment, agent, max_states=MOST_STATES))
    claimed = {name: "holds" if found else "fails" for name, found in expected.items() if found is not None}
    domains = ("normal", "theorem") if examples(1) > 1 else ("normal",)
    for domain in domains if claimed else ():
        result = stead_sym.verify(deployment, agent, domain=domain, findings=False)
        checked = stead_sym.check_certificate(stead_sym.write_certificate(result, folder))
        assert dict(checked.verdicts) == claimed


# fixed shapes


# With four opaque values the facts of F have a bit each, and no key is relied on to encode them: that F is
# single is confirmed for the sake of what formulas say of it.
BESIDE = """
deployment fixed
sort k = { k0, k1, k2, k3 }
relation A(k)
relation B(k)
relation P(k, k)
relation Hit()
tool idle()
tool hit()
  guard (exists c. F(c) & A(c)) & (exists d. F(d) & B(d))
  effect
    insert Hit()
spec hit AG ~Hit()
spec never AG ~((exists c. F(c) & A(c)) & (exists d. F(d) & B(d)))
spec held AG forall h: k. (F(h) -> AF ((exists c. F(c) & c = h) & (exists c. F(c) & A(c))))
spec beside EF ((exists c, d. F(c) & P(d, c) & A(d)) & (exists c, d. F(c) & P(d, c) & B(d)))
spec round EF exists x. P(x, x) & (exists y. F(y) & (exists x. F(x) & P(x, y)) & F(x)) & ~exists y. F(y)
spec meets EF ((exists c. F(c) & A(c)) & exists c in k. F(c) & B(c) & AX exists d. F(d))
"""
PUT = "tool put(p: k)\n  effect\n    clear F\n    insert F(p)\n"
ONE = "relation F(k)\ninit\n  A(k0)\n  B(k1)\n  P(k0, k0)\n  P(k1, k0)\n  F(k0)\n"
TWO = "relation F(k)\nrelation G(k)\ninit\n  A(k0)\n  B(k1)\n  P(k0, k0)\n  P(k1, k0)\n  F(k0)\n  G(k0)\n"


@dataclass(frozen=True)
class Shape:
    """The text beside `BESIDE`, which relations hold one fact at most as it is found out, and whether
    `Hit` can come to hold, which takes two facts of F."""

    text: str
    single: str
    hit: bool


def doubles(own, other, guard=""):
    """A tool that makes F of any two facts of the other relation, or the other way round."""
    return f"""
tool double_{own}(p: k, q: k)
  guard {other}(p) & {other}(q){guard}
  effect
    clear {own}
    insert {own}(p)
    insert {own}(q)
"""


BOTH_MOVE = """
tool move(p: k)
  effect
    clear F, G
    insert F(p)
    insert G(p)
"""
PAIR = """
tool pair()
  effect when {when}
    clear G
    insert G(k0)
    insert G(k1)
  effect
"""

SHAPES = {
    "one fact, of three": Shape(ONE + PUT, "F", False),
    "two insertions in one effect": Shape(
        f"{ONE}tool both(p: k, q: k)\n  effect\n    clear F\n    insert F(p)\n    insert F(q)\n", "", True
    ),
    "two insertions of what is the same": Shape(
        f"{ONE}tool both(p: k, q: k)\n  guard p = q\n"
        "  effect\n    clear F\n    insert F(p)\n    insert F(q)\n",
        "F",
        False,
    ),
    "two insertions of the only fact": Shape(ONE + PUT + doubles("F", "F"), "F", False),
    "an alternative that makes no room": Shape(
        ONE + PUT + "tool add()\n  effect when ~F(_)\n    insert F(k0)\n  effect\n    insert F(k1)\n",
        "",
        True,
    ),
    "an event that makes no room": Shape(ONE + PUT + "event add()\n  effect\n    insert F(k1)\n", "", True),
    "a tool of another agent that makes no room": Shape(
        f"{ONE}{PUT}tool add()\n  effect\n    insert F(k1)\nagent one\n  tools put, idle, hit\n"
        "agent other\n  tools add\n",
        "",
        True,
    ),
    "a deletion that may not happen": Shape(
        ONE + PUT + "tool add()\n  effect\n    delete F(_) where ~F(k0)\n    insert F(k1)\n", "", True
    ),
    "a deletion that happens where it matters": Shape(
        ONE + PUT + "tool add()\n  guard ~F(k0)\n  effect\n    delete F(_) where ~F(k0)\n    insert F(k1)\n",
        "F",
        False,
    ),
    "a condition that there is none, for two": Shape(
        ONE + "tool none()\n  effect\n    clear F\n"
        "tool add()\n  effect when ~F(_)\n    insert F(k0)\n    insert F(k1)\n  effect\n",
        "",
        True,
    ),
    "any facts in the beginning": Shape(
        "relation F(k)\ninit\n  A(k0)\n  B(k1)\n  P(k0, k0)\n  P(k1, k0)\n"
        f"initially any F where exists c. F(c) & A(c)\n{PUT}",
        "",
        True,
    ),
    "any facts of another relation in the beginning": Shape(
        f"{TWO}{PUT}initially any G where (exists c. F(c) & G(c)) & (exists c. F(c) & A(c))\n"
        "tool swap(p: k)\n  guard G(p) & (exists c. F(c) & G(c))\n  effect\n    clear F\n    insert F(p)\n",
        "F",
        False,
    ),
    "a fact that never leaves": Shape(
        ONE + "tool add()\n  guard ~F(k1)\n  effect\n    insert F(k1)\n", "", True
    ),
    "each as long as the other": Shape(TWO + BOTH_MOVE + doubles("F", "G") + doubles("G", "F"), "FG", False),
    "each as long as the other, which is broken": Shape(
        TWO + BOTH_MOVE + doubles("F", "G") + doubles("G", "F") + PAIR.format(when="F(k2)"), "", True
    ),
    "each as long as the other, which two facts would break": Shape(
        TWO
        + BOTH_MOVE
        + doubles("F", "G")
        + PAIR.format(when="(exists c. F(c) & A(c)) & (exists d. F(d) & ~A(d))"),
        "FG",
        False,
    ),
    "the other broken where it takes two facts to get to": Shape(
        TWO + BOTH_MOVE + doubles("F", "G") + PAIR.format(when="Hit()"), "FG", False
    ),
    "the other broken where another way leads to": Shape(
        TWO
        + BOTH_MOVE
        + doubles("F", "G")
        + PAIR.format(when="Hit()")
        + "tool late()\n  guard F(k2) & (exists x. F(x) & G(x))\n  effect\n    insert Hit()\n",
        "",
        True,
    ),
    "an `ensure`": Shape(
        f"{ONE}{PUT}tool more()\n  effect\n    ensure same(A) & same(B) & same(P) & same(Hit)"
        " & (forall c. F(c) -> F'(c)) & F'(k1) & (forall c. F'(c) -> F(c) | c = k1)\n",
        "",
        True,
    ),
    "a declared key, of which two facts hold": Shape(
        "relation F(k)\nrelation Of(k key, k)\ninit\n  A(k0)\n  B(k1)\n  P(k0, k0)\n  P(k1, k0)\n"
        "tool set_of(p: k, q: k)\n  guard (A(p) | B(p)) & (A(q) | B(q))\n  effect\n    set Of(p, q)\n"
        "tool put(p: k)\n  guard (exists x. Of(x, p) & A(x)) & (exists x. Of(x, p) & B(x))\n"
        "  effect\n    clear F\n    insert F(p)\n",
        "F",
        False,
    ),
    "insertions for all of some values": Shape(
        ONE + PUT + "tool all()\n  effect\n    clear F\n    insert F(x) for x: k where A(x) | B(x)\n",
        "",
        True,
    ),
}


@pytest.mark.parametrize("domain", ["normal", "theorem"])
@pytest.mark.parametrize("name", SHAPES)
def test_what_is_single(name, domain):
    shape = SHAPES[name]
    result = stead_sym.verify(parse_deployment(BESIDE + shape.text), domain=domain, findings=False)
    assert result.engine.checker.model.plan.guess.singles == frozenset(shape.single)
    assert [result[spec].holds for spec in ("hit", "never")] == [not shape.hit] * 2


@pytest.mark.parametrize("name", SHAPES)
def test_the_shapes(name, tmp_path):
    shape = SHAPES[name]
    assert_all_agree(parse_deployment(BESIDE + shape.text), "any", tmp_path)


DYING = """
deployment dying
sort r
sort k = { k0, k1 }
relation F(r)
relation G(k, r)
relation Q(r)
relation Hit()
bound r 2
view F(x) where (exists y. F(y) & Q(y)) & (exists x: k. G(x, _) & F(_)) | Q(x)
view Q(x)
tool idle()
event come()
  guard ~(exists x. F(x) & ~Q(x)) & atmost 1 x: r. x = x
  effect
    fresh x: r
    clear F
    insert F(x)
tool mark(x: r)
  guard F(x)
  effect
    insert Q(x)
tool own(x: r, y: k)
  guard F(x) & (exists x. F(x) & Q(x)) & (exists z in k. ~G(z, x))
  effect
    clear G
    insert G(y, x)
    delete Q(z) for z where (exists x. F(x) & x = z) & (exists x: k. G(x, z))
tool leave()
  guard F(_) & G(_, _) & (exists x. F(x) & (exists y. G(y, x)))
  effect
    clear F, G, Q
  effect when (exists x. F(x) & G(k0, x)) & (exists x. G(x, _) & x = k0)
    clear F, G
    insert Hit()
spec same AG forall h: r. (F(h) -> AX (F(h) & (exists c. F(c) & Q(c)) -> Q(h)))
spec dead AG forall h: r, l: r. (F(h) & Q(l) -> AF ((exists c. F(c) & c = h) & (exists c. F(c) & c = l)))
spec back EF exists h: r. F(h) & EF (~F(h) & EF ((exists x. F(x) & x = h) & (exists x. F(x) & ~Q(x))))
spec apart AG forall h: r. ((exists y. G(y, h)) -> EG ((exists y. G(y, h)) & exists y: k. G(y, _) & y = k0))
spec two EF ((exists y. G(y, _)) & (exists x. F(x) & G(k0, x)) & (exists x. F(x) & G(k1, x)))
spec some EF ((exactly 1 x. F(x) & Q(x)) & (exists x. F(x) & atleast 1 y. G(y, x)) & F(_))
"""


@pytest.mark.parametrize("agent", [by_name(1), some_by_name(4)], ids=["one", "some"])
def test_values_that_die_while_they_are_held(agent, tmp_path):
    deployment = parse_deployment(DYING)
    found = stead_sym.verify(deployment, agent, findings=False)
    assert found.engine.checker.model.plan.guess.singles == {"F", "G"}
    assert_all_agree(deployment, agent, tmp_path)


NAMED_TWICE = """
deployment named_twice
sort k = { k0, k1, k2 } rigid
relation F(k)
relation Hit()
define first = F(k0)
tool put(p: k)
  effect
    clear F
    insert F(p)
tool hit()
  guard first & first
  effect
    insert Hit()
spec hit AG ~Hit()
spec twice EF (first & first & (exists c. first & F(c)))
"""


def test_a_define_that_names_a_fact_is_used_twice():
    """Both uses are one and the same object."""
    found = stead_sym.verify(parse_deployment(NAMED_TWICE), findings=False)
    assert {name: verdict.word for name, verdict in found.verdicts.items()} == {
        "hit": "fails",
        "twice": "holds",
    }


# generated ones


VALUES = {"k": ("k0", "k1", "k2"), "r": ("r0",)}
"""Constants of each sort."""


class Text:
    """Draws the text of a deployment, over columns that it draws first."""

    def __init__(self, draw):
        self.draw = draw
        self.sorts = {
            "F": (self.one("k", "k", "r"),),
            "G": (self.one("k", "r"),),
            "H": (self.one("r", "k"), "k"),
            "A": ("k",),
            "B": ("k",),
            "P": (self.one("r", "k"), "k"),
            "Q": ("r",),
        }
        self.seeming = ("F", "F", "G", "H")
        """The relations that may hold one fact at most."""

    def one(self, *choices):
        return self.draw(st.sampled_from(choices))

    def rarely(self, times):
        return self.one(*[False] * (times - 1), True)

    def number(self, low, high):
        return range(self.draw(st.integers(low, high)))

    def term(self, sort, scope, wild=False):
        known = [name for name, of in scope.items() if of == sort]
        if known and not self.rarely(4):
            return self.one(*known)
        return self.one(*VALUES[sort], *(("_",) if wild else ()))

    def atom(self, relation, scope, wild=False):
        return f"{relation}({', '.join(self.term(sort, scope, wild) for sort in self.sorts[relation])})"

    def speaking(self, scope, depth=2):
        """A formula that may speak of single relations; a quantified variable may hide another one."""
        kinds = ("atom", "some", "some", "some", "two", "in", "not", "all", "count", "or", "equal")
        match self.one(*kinds) if depth else "atom":
            case "atom":
                return self.atom(self.one(*self.seeming, "A", "B", "P", "Q"), scope, wild=True)
            case "some" | "in" as kind:
                name, relation = self.one("x", "y", "c"), self.one(*self.seeming)
                sort = self.sorts[relation][0]
                ranging = f"{name} in k" if (kind, sort) == ("in", "k") else f"{name}: {sort}"
                inner = {**scope, name: sort}
                return f"(exists {ranging}. {self.atom(relation, inner)} & {self.several(inner, depth - 1)})"
            case "two":
                inner = {**scope, "x": "k", "d": "k"}
                return f"(exists x: k, d: k. {self.several(inner, depth - 1)})"
            case "not":
                return f"~({self.several(scope, depth - 1)})"
            case "all":
                inner = {**scope, "x": "k"}
                return f"(forall x: k. {self.speaking(inner, 0)} -> {self.several(inner, depth - 1)})"
            case "count":
                number = self.one("exactly 1", "atleast 1", "atleast 2", "atmost 1", "atmost 0")
                return f"({number} y: k. {self.several({**scope, 'y': 'k'}, depth - 1)})"
            case "or":
                return f"({self.several(scope, depth - 1)} | {self.speaking(scope, depth - 1)})"
            case _:
                sort = self.one("k", "k", "r")
                return f"{self.term(sort, scope)} {self.one('=', '!=')} {self.term(sort, scope)}"

    def several(self, scope, depth=2):
        return " & ".join(self.speaking(scope, depth) for _ in self.number(1, 3))

    def writing(self, relation, scope, asked):
        """A condition over ``asked`` and statements that look as if they left one fact, or do not."""
        clear, insert = f"clear {relation}", f"insert {self.atom(relation, scope)}"
        anything = f"{relation}({', '.join('_' for _ in self.sorts[relation])})"
        rare = self.one((), (), ("bare",))
        kinds = ("twice", "if", "unless", "unless", "replace", "replace any", "where", "empty", "bulk", *rare)
        match self.one(*["clear"] * 5, *kinds):
            case "clear":
                return "true", [clear, insert]
            case "twice":
                return "true", [clear, insert, f"insert {self.atom(relation, scope)}"]
            case "if":
                return "true", [f"delete {anything} where {self.speaking({}, 1)}", insert]
            case "unless":
                return f"~{anything}", [insert]
            case "replace":
                old = self.atom(relation, asked)
                return old, [f"delete {old}", insert]
            case "replace any":
                return "true", [f"delete {self.atom(relation, scope)}", insert]
            case "where":
                return "true", [clear, f"{insert} where {self.several(scope, 1)}"]
            case "empty":
                return "true", [clear]
            case "bulk":
                first, *others = self.sorts[relation]
                fact = f"{relation}({', '.join(['b', *(self.term(sort, scope) for sort in others)])})"
                where = self.several({**scope, "b": first}, 1)
                return "true", [clear, f"insert {fact} for b: {first} where {where}"]
            case _:
                return "true", [insert]

    def effect(self, params):
        scope, asked, lines = dict(params), [], []
        if self.rarely(3):
            scope["v"] = "r"
            lines.append("fresh v: r")
        if self.rarely(3):
            sort = self.one("k", "r")
            lines.append(f"choose w: {sort} where {self.several({**scope, 'w': sort}, 1)}")
            scope["w"] = sort
        for relation in sorted({self.one(*self.seeming) for _ in self.number(1, 2)}):
            condition, statements = self.writing(relation, scope, params)
            asked.append(condition)
            lines += statements
        if self.one(True, False):
            other = self.atom(self.one("A", "B", "P", "Q"), scope)
            lines.append(f"{self.one('insert', 'delete')} {other}")
        if self.rarely(3):
            asked.append(self.several(params, 1))
        return "\n".join([f"  effect when {' & '.join(asked)}", *(f"    {line}" for line in lines)])

    def tool(self, number):
        """A tool or an event; one alternative changes nothing, so that every call has an effect."""
        params = self.one(
            {}, {}, {"p": "k"}, {"p": "k", "q": "k"}, {"p": "r", "q": "k"}, {"p": "r", "q": "r"}
        )
        head = ", ".join(f"{name}: {sort}" for name, sort in params.items())
        some = self.atom(self.one(*self.seeming), params, wild=True)
        much = self.several(params)
        guard = self.one("true", some, much, f"{much} | {some}")
        effects = [self.effect(params) for _ in self.number(1, 2)]
        kind = self.one("tool", "tool", "event")
        return "\n".join([f"{kind} t{number}({head})", f"  guard {guard}", *effects, "  effect"])

    def moves(self, relation):
        """Return what gives one fact of the relation for another, or the first."""
        (sort,) = self.sorts[relation]
        head, write = f"move{relation}(p: {sort}", f"clear {relation}\n    insert {relation}(p)"
        where = self.several({"p": sort}, 1)
        either = self.several({"p": sort, "q": sort}, 1)
        return self.one(
            "",
            f"event {head})\n  effect\n    {write}",
            f"tool {head})\n  effect when ~{relation}(_)\n    insert {relation}(p)\n"
            f"  effect\n    clear {relation}",
            f"tool move{relation}()\n  effect\n    choose p: {sort} where {where}\n    {write}\n  effect",
            f"tool {head}, q: {sort})\n  guard {relation}(p) & ({relation}(q) | {either})\n"
            f"  effect\n    delete {relation}(p)\n    insert {relation}(q)",
        )

    def resting(self, number):
        """A tool that does no harm as long as relations are single."""
        own, other = self.one("F", "G"), self.one("F", "G")
        mine, its = self.sorts[own][0], self.sorts[other][0]
        return self.one(
            f"tool rest{number}(p: {its}, q: {its})\n  guard {other}(p) & {other}(q)\n"
            f"  effect\n    clear {other}\n    insert {other}(p)\n    insert {other}(q)",
            f"tool rest{number}(p: {mine}, q: {mine})\n  guard {own}(p) & {own}(q) & p != q\n"
            f"  effect\n    insert {other}({self.one(*VALUES[its])})",
            f"event rest{number}(p: {mine}, q: {mine})\n  guard {own}(p) & (exists c. {own}(c) & c = q)\n"
            f"  effect\n    clear {own}\n    insert {own}(p)\n    insert {own}(q)",
            f"tool rest{number}(p: {mine})\n  guard (exists c. {own}(c)) & ~{own}(p)\n"
            f"  effect when {other}(_) & ~{own}(_)\n    insert {own}(p)\n  effect",
        )

    def specs(self):
        first, second = self.sorts["F"][0], self.sorts["G"][0]

        def path():
            return self.one("EF", "AF", "AX", "EX", "AG", "EG")

        held = {"h": first, "l": second}
        yield f"one AG ~(({self.several({})}) & ({self.several({})}))"
        yield f"two EF (({self.several({})}) & {self.speaking({})})"
        yield f"held AG forall h: {first}. (F(h) -> {path()} ({self.several({'h': first})}))"
        yield f"also {path()} exists h: {second}. G(h) & {path()} (G(h) & {self.several({'h': second})})"
        body = f"{path()} (({self.several(held, 1)}) & F(h))"
        yield f"dead AG forall h: {first}, l: {second}. (F(h) & G(l) -> {body})"
        yield "few AG ((atmost 1 c. F(c)) & (atmost 1 c. G(c)))"
        yield f"stay {self.one('AF', 'EG')} ({self.several({})})"

    def whole(self):
        columns = {name: ", ".join(sorts) for name, sorts in self.sorts.items()}
        if self.rarely(8):
            columns["H"] = f"{self.sorts['H'][0]} key, k"
        tools = [self.tool(number) for number in self.number(1, 3)]
        tools += [self.resting(number) for number in self.number(0, 2)]
        tools += [self.moves("F"), self.moves("G")]
        if self.rarely(15):
            same = " & ".join(f"same({name})" for name in self.sorts)
            tools.append(f"tool ensured()\n  effect\n    ensure {same}")
        others = []
        if self.rarely(3):
            others += [f"view F(x) where {self.several({'x': self.sorts['F'][0]}, 1)}", "view A(x)"]
        if self.rarely(4):
            others.append(f"initially any {self.one('F', 'G', 'Q', 'A')} where {self.several({}, 1)}")
        if self.rarely(5):
            others.append(f"fair {self.several({}, 1)}")
        init = [self.atom(name, {}) for name in ("F", "G", "H", "A", "A", "P") if not self.rarely(4)]
        return "\n".join(
            [
                "deployment generated",
                f"sort k = {{ {self.one('k0, k1, k2', 'k0, k1, k2, k3')} }}{self.one('', '', ' rigid')}",
                "sort r",
                *(f"relation {name}({listed})" for name, listed in columns.items()),
                f"bound r {self.one(1, 2)}",
                "init",
                "  Q(r0)",
                *(f"  {fact}" for fact in init),
                "tool idle()",
                *filter(None, tools),
                *others,
                *(f"spec {spec}" for spec in self.specs()),
            ]
        )


@st.composite
def generated(draw):
    return parse_deployment(Text(draw).whole())


@settings(max_examples=examples(3, slow=300))
@given(generated(), st.sampled_from(["any", by_name(3), some_by_name(5)]))
def test_generated_deployments(tmp_path_factory, deployment, agent):
    try:
        pair = both(deployment, agent, max_states=MOST_STATES)
    except (Undecided, NoInitialState):
        reject()
    except DefinitionError:
        assert isinstance(assert_same_answers(deployment, agent, max_states=MOST_STATES), str)
        return
    if pair.explicit.states == 1:
        reject()
    event(f"{len(pair.symbolic.checker.model.plan.guess.singles)} single relations")
    del pair
    assert_all_agree(deployment, agent, tmp_path_factory.mktemp("generated"))
