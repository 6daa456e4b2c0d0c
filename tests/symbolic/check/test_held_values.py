"""Values that variables hold after they have left the state: laws of ⟦f⟧ over pairs (D, ν).

The generator makes values that are created together, die in every order and come back
(`generated.mortality`); the explicit engine on the literal domain is the oracle.
"""

from __future__ import annotations

import re
from itertools import combinations, permutations

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import both, examples, replay
from generated.formulas import assignments
from generated.mortality import mortal_deployments
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import normal_restriction, theorem_restriction
from stead_sym.engines.explicit.engine import ExplicitEngine
from stead_sym.engines.symbolic.engine import SymbolicEngine
from stead_sym.errors import Undecided
from stead_sym.relational.canonical import canonical_form
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema
from stead_sym.verification.verify import verify

MOST = 250  # states of the literal domain
FEW = 40  # states, where an `ensure` leads from each of them to many


def scoped_subformulas(formula, scope=()):
    """Every subformula with those of the variables in scope that are free in it; all of sort a."""
    yield formula, tuple(sorted(fo.free_variables(formula)))
    for child in fo.children(formula):
        yield from scoped_subformulas(child)


class Classes:
    """The classes of ≡: keys for pairs (D, ν), from a state and what the variables hold."""

    def __init__(self, deployment):
        self.deployment = deployment
        schema = deployment.schema
        marks = tuple(Relation(f"holds {name}", ("a",)) for name in "xyz")
        self.schema = Schema(schema.sorts, (*schema.relations, *marks))
        self.fixed = frozenset(deployment.sort_of_constant)

    def key(self, state, held):
        """Equal for two pairs iff they are equivalent: the held values are made facts of the instance."""
        facts = {Fact(f"holds {name}", (value,)) for name, value in held.items()}
        return canonical_form(Instance(self.schema, state.facts | facts), self.fixed).instance

    def of_diagram(self, engine, formula, names):
        """The classes that ⟦f⟧ has, with the number of codes that it has them in."""
        checker, model = engine._checker, engine._model
        m, encoding = model.manager, model.encoding
        env = checker.vectors(formula, dict.fromkeys(names, "a"))
        pairs = checker.pairs(formula, env)
        left = checker.sat(formula, env)
        bits = (*encoding.order, *sorted(pairs.bits))
        keys, codes = set(), 0
        while left != m.false:
            code = m.pick(left, bits)
            left = left & ~m.cube(code)
            codes += 1
            keys.add(self.key(encoding.decode(code), self._held(encoding, env, code)))
        return keys, codes

    @staticmethod
    def _held(encoding, env, code):
        held = {}
        for name, vector in env.items():
            if any(code[bit] for bit in vector.bits):
                held[name] = encoding.value(vector, code)
                continue
            twins = [
                other
                for other in held
                if held[other].startswith("dead") and code[encoding.same_dead(env[other], vector)]
            ]
            held[name] = held[twins[0]] if twins else f"dead {name}"
        return held

    def of_states(self, engine, formula, names, values):
        """The classes of { (D, σ) : D reachable, σ over U_f, (D, σ) ⊨ f }."""
        keys = set()
        for sigma in assignments(dict.fromkeys(names, "a"), {"a": values}):
            for state in engine.satisfying(formula, sigma).states:
                keys.add(self.key(state, sigma))
        return keys


_ENSURED = {
    "some_leave": "(forall x: a. P'(x) -> P(x)) & same(Q) & empty(E)",
    "others_come": "(forall x: a. P'(x) -> ~P(x)) & same(Q) & empty(E)",
    "any_come": "(forall x: a. P(x) -> P'(x)) & empty(Q) & same(E)",
    "one_leaves(x: a)": "(forall y: a. P'(y) <-> P(y) & y != x) & (forall y: a. Q'(y) -> y != x) & empty(E)",
    "turn": "(forall x: a. P'(x) <-> Q(x)) & (forall x: a. Q'(x) <-> P(x)) & same(E)",
    "link": "empty(P) & (forall x: a. Q'(x) -> Q(x)) & forall x: a, y: a. E'(x, y) -> P(x) & ~P(y)",
}


@st.composite
def ensured_deaths(draw):
    """The same, where an `ensure` takes values away, any of them at once, and may draw others in their
    place."""
    text = str(draw(mortal_deployments(specs=3, depth=3, variables=2)))
    [bound] = re.findall(r"bound a (\d)", text)
    parts = "P'(x) | Q'(x) | (exists y: a. E'(x, y)) | exists y: a. E'(y, x)"
    kept = f"atmost {bound} x: a. ({parts}){' & x != c' if 'Q(c)' in text else ''}"
    chosen = draw(st.lists(st.sampled_from(sorted(_ENSURED)), min_size=1, max_size=2, unique=True))
    tools = [
        f"tool {head if '(' in head else f'{head}()'}\n  effect\n    ensure {said} & same(F) & {kept}\n\n"
        for head, said in ((head, _ENSURED[head]) for head in chosen)
    ]
    before, spec, after = text.partition("\nspec ")
    return parse_deployment("".join([before, "\n", *tools, spec, after]))


def explored(deployment):
    """The explicit engine on the literal domain and the symbolic one with representatives."""
    restriction = theorem_restriction(deployment, deployment.specs)
    try:
        explicit = ExplicitEngine(deployment, {"": None}, restriction, max_states=MOST)
    except Undecided:
        reject()
    normal = SymbolicEngine(deployment, {"": None}, normal_restriction(deployment), literal=False)
    return explicit, normal, restriction.values["a"]


@settings(max_examples=examples(30, slow=2000))
@given(mortal_deployments(specs=4))
def test_verdicts_and_runs_are_those_of_the_literal_domain(deployment):
    explicit, _, _ = explored(deployment)
    answers = {spec.name: explicit.holds(spec.formula) for spec in deployment.specs}
    event(f"verdicts: {len(set(answers.values()))}")
    result = verify(deployment, domain="normal")
    assert {name: verdict.holds for name, verdict in result.verdicts.items()} == answers
    for verdict in result.verdicts.values():
        if verdict.trace is not None:
            replay(deployment, result.engine.restriction, None, verdict.trace)


@settings(max_examples=examples(10, slow=500))
@given(ensured_deaths())
def test_values_that_an_ensure_takes_away(deployment):
    """Verdicts, and the classes of the pairs in which each subformula holds."""
    explicit, normal, values = explored(deployment)
    classes = Classes(deployment)
    for spec in deployment.specs:
        assert normal.holds(spec.formula) is explicit.holds(spec.formula)
        for formula, names in scoped_subformulas(spec.formula) if explicit.states <= FEW else ():
            found, _ = classes.of_diagram(normal, formula, names)
            assert found == classes.of_states(explicit, formula, names, values), formula


@settings(max_examples=examples(12, slow=500))
@given(mortal_deployments(specs=2))
def test_every_subformula_has_the_classes_of_the_literal_domain_once_each(deployment):
    """⟦f⟧ against the definitions, up to ≡; no two codes stand for one class over one state."""
    explicit, normal, values = explored(deployment)
    classes = Classes(deployment)
    for spec in deployment.specs:
        for formula, names in scoped_subformulas(spec.formula):
            found, _ = classes.of_diagram(normal, formula, names)
            assert found == classes.of_states(explicit, formula, names, values), formula


@settings(max_examples=examples(12, slow=500))
@given(mortal_deployments(specs=2))
def test_a_formula_and_its_negation_partition_the_pairs(deployment):
    _, normal, _ = explored(deployment)
    checker, m = normal._checker, normal._model.manager
    for spec in deployment.specs:
        for formula, names in scoped_subformulas(spec.formula):
            env = checker.vectors(formula, dict.fromkeys(names, "a"))
            everything = normal._model.reached & checker.pairs(formula, env).assignments
            yes, no = checker.sat(formula, env), checker.sat(~formula, env)
            assert yes & no == m.false
            assert yes | no == everything


def padded(formula, name):
    """A formula that says the same and mentions the variable in every atom."""
    match formula:
        case fo.Atom() | fo.Equal() | fo.Truth():
            return fo.And((formula, fo.Equal(fo.Var(name), fo.Var(name))))
        case _ if isinstance(formula, fo.Quantified) and formula.binder.name == name:
            return formula
        case _:
            return fo.map_children(lambda f: padded(f, name), formula)


@settings(max_examples=examples(12, slow=500))
@given(mortal_deployments(specs=2, variables=2))
def test_a_set_does_not_depend_on_the_variables_that_it_is_computed_over(deployment):
    """⟦f⟧ over V ∪ {z} is ⟦f⟧ over V, whatever z holds."""
    _, normal, _ = explored(deployment)
    checker = normal._checker
    for spec in deployment.specs:
        for formula, names in scoped_subformulas(spec.formula):
            if "z" in names:
                continue
            wide = padded(formula, "z")
            env = checker.vectors(wide, dict.fromkeys((*names, "z"), "a"))
            everything = normal._model.reached & checker.pairs(wide, env).assignments
            assert checker.sat(wide, env) == checker.sat(formula, env) & everything, formula


@settings(max_examples=examples(10, slow=300))
@given(mortal_deployments(specs=1, variables=3))
def test_the_codes_of_assignments_are_the_classes(deployment):
    """As many codes beside a state as there are assignments up to renaming what is dead."""
    _, normal, _ = explored(deployment)
    checker, model = normal._checker, normal._model
    m, encoding = model.manager, model.encoding
    for number in (1, 2, 3):
        vectors = encoding.distinct(["a"] * number, "held")
        names = dict(zip("xyz", vectors, strict=False))
        same = fo.And(tuple(fo.Equal(fo.Var(n), fo.Var(n)) for n in names))
        pairs = checker.pairs(same, names)
        state = encoding.encode(deployment.init)
        codes = m.count(m.cofactor(pairs.assignments, state), pairs.bits)
        living = len(deployment.constants["a"])
        assert codes == sum(
            living ** (number - len(dead)) * BELL[len(dead)]
            for k in range(number + 1)
            for dead in combinations(range(number), k)
        )


BELL = (1, 1, 2, 5)  # partitions of a set of so many


PAIR = """
deployment pair
sort a
relation P(a)
bound a 2
tool mk()
  guard ~exists x. P(x)
  effect
    fresh u: a
    fresh v: a
    insert P(u)
    insert P(v)
tool rm()
  guard exists x. P(x)
  effect
    clear P
"""


@pytest.mark.parametrize(
    ("spec", "holds"),
    [
        ("AG forall x: a, y: a. (x != y -> ~EX (~P(x) & ~P(y)))", False),
        ("AG forall x: a, y: a. (x != y -> AX (~P(x) & ~P(y)))", True),
        ("AG forall x: a, y: a. (x != y -> EX EX (P(x) & ~P(y)))", True),
        ("AG forall x: a, y: a. (x != y -> AX AX (P(x) <-> P(y)))", False),
        ("AG forall x, y, z, w: a. EX (P(x) | P(y) | P(z) | P(w))", False),
        ("AG forall x, y, z, w: a. EF (P(x) & ~P(y) | x = y | P(z) & P(w))", True),
    ],
)
def test_two_values_that_die_together(spec, holds):
    deployment = parse_deployment(PAIR + f"spec s\n  {spec}\n")
    for engine, domain in (("symbolic", "normal"), ("symbolic", "theorem"), ("explicit", None)):
        result = verify(deployment, engine=engine, domain=domain)
        assert result["s"].holds is holds
        if result["s"].trace is not None:
            replay(deployment, result.engine.restriction, None, result["s"].trace)


CONSTANT = """
deployment constant
sort a
relation P(a)
relation Q(a)
bound a 1
init
  Q(c)
tool leave()
  guard exists x. Q(x)
  effect
    clear Q
tool come()
  guard ~exists x. P(x)
  effect
    fresh u: a
    insert P(u)
tool back()
  effect
    insert Q(c)
"""


@pytest.mark.parametrize(
    ("spec", "holds"),
    [
        ("AG forall x: a. (x = c -> AG x = c)", True),
        ("AG forall x: a. (Q(x) -> AX (Q(x) | EX Q(x)))", True),
        ("AG forall x: a, y: a. (Q(x) & P(y) -> AG x != y)", True),
        ("AG forall x: a. (Q(x) -> AG ~P(x))", True),
    ],
)
def test_a_constant_that_leaves_the_state_is_still_that_constant(spec, holds):
    deployment = parse_deployment(CONSTANT + f"spec s\n  {spec}\n")
    for engine, domain in (("symbolic", "normal"), ("symbolic", "theorem"), ("explicit", None)):
        assert verify(deployment, engine=engine, domain=domain)["s"].holds is holds


def test_satisfying_takes_any_number_of_variables():
    """Whatever names the diagrams use: some values satisfy a formula here iff some do there."""
    deployment = parse_deployment(PAIR)
    normal, pair = verify(deployment, domain="normal"), both(deployment)
    for text in (
        "P(x) & ~P(y) & ~P(z)",
        "EX (P(x) & P(z))",
        "x = y | EF (P(y) & P(z) & AX ~P(x))",
        "AX P(x)",
    ):
        formula = deployment.formula(text, dict.fromkeys("xyz", "a"))
        answers = {
            any(engine.satisfying(formula, dict(zip("xyz", chosen, strict=True))).count for chosen in triples)
            for engine, triples in (
                (normal.engine, permutations(normal.restriction.values["a"], 3)),
                (pair.explicit, permutations(pair.restriction.values["a"], 3)),
            )
        }
        assert len(answers) == 1, text
