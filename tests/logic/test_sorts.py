"""Resolution of names and sorts, substitution and expansion."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import NAMES, POOL, SCHEMA, definitions, states, well_sorted

import stead_sym.logic.syntax as fo
from stead_sym.errors import DeclarationError
from stead_sym.logic.evaluate import holds
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.sorts import Names, expand, resolve, substitute, variables_by_sort

DEFINED = replace(
    NAMES, definitions={"D": fo.Definition("D", (fo.Binder("x", "a"), fo.Binder("y", "k")), fo.Atom("N"))}
)


def sorts_of(text, scope=None, **kind):
    formula = resolve(parse_formula(text), DEFINED, scope or {}, **kind)
    return [(f.binder.name, f.binder.sort) for f in fo.subformulas(formula) if isinstance(f, fo.Quantified)]


@pytest.mark.parametrize(
    ("text", "sorts"),
    [
        ("exists x. P(x)", "a"),
        ("exists x, y. R(x, y)", "ak"),
        ("exists x, y. D(x, y)", "ak"),
        ("exists x. x = k1", "k"),
        ("exists x. c0 != x", "a"),
        ("exists x, y. x = y & P(y)", "aa"),
        ("exists x, y, z. x = y & y = z & z = k1", "kkk"),
        ("exists x. x = v", "k"),
        ("exists x, y: k. x = x", "kk"),  # nothing but the list says it of x
        ("exists x, y: k. P(x)", "ak"),  # the use of x counts before the list
        ("exists x: a. true", "a"),
        ("exists x. P(x) & exists x. x = k1", "ak"),  # shadowed
        ("atleast 2 x. R(c0, x)", "k"),
        ("forall x. AG exists y. AX R(x, y)", "ak"),
        ("exists x. A[P(x) U P(x)]", "a"),
        ("exists x. P'(x)", "a"),
    ],
)
def test_sorts_are_inferred(text, sorts):
    found = sorts_of(text, {"v": "k"}, temporal=True, primed=True)
    assert "".join(sort for _, sort in found) == sorts


def test_a_name_in_scope_is_a_variable_and_a_constant_elsewhere():
    resolved = resolve(parse_formula("R(c0, k1) & R(c1, v)"), NAMES, {"c0": "a", "v": "k"})
    assert resolved.parts == (
        fo.Atom("R", (fo.Var("c0"), fo.Const("k1"))),
        fo.Atom("R", (fo.Const("c1"), fo.Var("v"))),
    )


def test_same_and_empty_are_abbreviations_unless_the_schema_has_them():
    own = Names(replace(SCHEMA, relations=(*SCHEMA.relations, replace(SCHEMA.relation("P"), name="empty"))))
    assert resolve(parse_formula("exists x. empty(x)"), own) == fo.Exists(
        fo.Binder("x", "a"), fo.Atom("empty", (fo.Var("x"),))
    )
    assert str(resolve(parse_formula("same(P) & empty(Q)"), NAMES, primed=True)) == "same(P) & empty(Q)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@Z(c0)", "unknown relation Z; declare it with `relation Z(…)`"),
        ("N & @Rr(c0, k1)", "unknown relation Rr; declare it with `relation Rr(…)`"),
        ("P(@d)", "unknown name d: no binder declares it and it is no constant of the deployment; "
                  "introduce it (a quantifier; in an effect `choose` or `fresh`), or put it in a finite sort"
                  " or `init`"),
        ("exists case. P(@caze)", "unknown name caze: no binder declares it and it is no constant of the "
                                  "deployment; did you mean case?"),
        ("exists @x: b. true", "unknown sort b; declare it with `sort b`"),
        ("@Q(c0)", "Q takes 2 arguments (a, a), not 1; give it that many"),
        ("@N(c0)", "N takes 0 arguments (none), not 1; give it that many"),
        ("@P", "P takes 1 argument (a), not 0; give it that many"),
        ("@D(c0)", "D takes 2 arguments (a, k), not 1; give it that many"),
        ("P(@k1)", "k1 is of sort k, but argument 1 of P is of sort a; use a constant of sort a"),
        ("exists x: k. P(@x)", "x is of sort k, but argument 1 of P is of sort a; use another variable"),
        ("exists x. P(x) & R(c0, @x)",
         "x is of sort a (from 1:13), but argument 2 of R is of sort k; use another variable"),
        ("exists x, y. P(x) & @x = y & R(c0, y)",
         "x is of sort a and y of sort k: no value is of both; compare values of one sort"),
        ("@c0 = k1", "c0 is of sort a and k1 of sort k: no value is of both; compare values of one sort"),
        ("exists x, y. P(x) & R(x, y) & @x = y",
         "x is of sort a and y of sort k: no value is of both; compare values of one sort"),
        ("exists @x. true", "nothing says of which sort x is; write `x: SORT`"),
        ("exists @x, y. x = y", "nothing says of which sort x is; write `x: SORT`"),
        ("exists @x, y: a. exists z, w: k. x = z", "x may be of sort a or k; write `x: SORT`"),
        ("P(c0) & @AX P(c0)",
         "a temporal operator stands in a first-order formula; only `spec` may hold them"),
        ("N -> @P'(c0)", "P' reads the state after the call; only `ensure` may do so"),
        ("@same(P)", "same(P) reads the state after the call; only `ensure` may do so"),
        ("exists @not: a. true", "not is a word of the formulas; give the variable another name"),
    ],
)  # fmt: skip
def test_what_is_refused(text, message):
    place = text.index("@") + 1
    with pytest.raises(DeclarationError) as error:
        resolve(parse_formula(text.replace("@", ""), source="f"), DEFINED)
    assert str(error.value) == f"f:1:{place}: {message}"


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (fo.Count("atleast", -1, fo.Binder("x", "a"), fo.Atom("N")),
         "`atleast -1` counts below 0; write 0 or more"),
        (fo.Atom("P", (fo.Var("x"),)), "no binder declares the variable x; quantify it"),
        (fo.Exists(fo.Binder("x y", "a"), fo.Atom("N")),
         "'x y' is no name for a variable; use letters, digits and _, with no digit first"),
    ],
)  # fmt: skip
def test_what_only_python_can_write_is_refused_too(formula, message):
    with pytest.raises(DeclarationError) as error:
        resolve(formula, NAMES)
    assert str(error.value) == message


@pytest.mark.parametrize("text", ["D'(c0, k1)", "same(D)", "empty(D)"])
def test_a_define_has_no_primed_form(text):
    with pytest.raises(DeclarationError, match="D is a define; here stands a relation of the schema"):
        resolve(parse_formula(text), DEFINED, primed=True)


@given(well_sorted({"x": "a", "y": "k"}))
def test_resolving_is_idempotent(formula):
    assert resolve(formula, NAMES, {"x": "a", "y": "k"}) == formula


def erased(formula):
    if isinstance(formula, fo.Quantified):
        formula = replace(formula, binder=replace(formula.binder, known_sort=None))
    return fo.map_children(erased, formula)


@given(well_sorted())
def test_inference_finds_the_sorts_or_says_that_nothing_does(formula):
    outcome = None
    try:
        outcome = resolve(erased(formula), NAMES)
    except DeclarationError as error:
        message = error.message
    if outcome is None:
        assert "nothing says of which sort" in message
    else:
        assert outcome == formula


# -- substitution and expansion: what they mean, by evaluation


@given(st.data(), states())
def test_substitution_is_a_change_of_the_assignment(data, state):
    """(D, σ) ⊨ φ[x := t] iff (D, σ[x := σ(t)]) ⊨ φ."""
    scope = {"x": "a", "y": "a", "x_1": "k"}
    formula = data.draw(well_sorted(scope))
    sigma = {v: data.draw(st.sampled_from(POOL[s])) for v, s in scope.items()}
    terms = {}
    for variable in data.draw(st.sets(st.sampled_from(sorted(scope)))):
        sort = scope[variable]
        constants = [fo.Const(c) for c in POOL[sort]]
        terms[variable] = data.draw(
            st.sampled_from([*constants, *(fo.Var(v) for v in scope if scope[v] == sort)])
        )
    values = {v: t.value if isinstance(t, fo.Const) else sigma[t.name] for v, t in terms.items()}
    assert holds(substitute(formula, terms), state, sigma) == holds(formula, state, {**sigma, **values})


@given(st.data(), states(), definitions())
def test_expansion_keeps_the_meaning(data, state, defined):
    """A use D(t) holds where the body holds with the values of t for the parameters."""
    names = Names(SCHEMA, NAMES.constants, defined)
    formula = data.draw(well_sorted({"y": "a"}, 3, names))
    sigma = {"y": data.draw(st.sampled_from(POOL["a"]))}
    expanded = expand(formula, defined)
    assert not any(isinstance(f, fo.Use) for f in fo.subformulas(expanded))
    assert fo.free_variables(expanded) <= {"y"}
    assert holds(expanded, state, sigma) == by_definition(formula, state, sigma, defined)


def by_definition(formula, state, sigma, defined):
    """Satisfaction with definitions looked up, not expanded: an evaluator of its own."""

    def here(f, extra=()):
        return by_definition(f, state, {**sigma, **dict(extra)}, defined)

    match formula:
        case fo.Use(name, args):
            values = [t.value if isinstance(t, fo.Const) else sigma[t.name] for t in args]
            params = [p.name for p in defined[name].params]
            body = defined[name].body
            return by_definition(body, state, dict(zip(params, values, strict=True)), defined)
        case fo.Exists(binder, body):
            return any(here(body, [(binder.name, u)]) for u in state.active_domain[binder.sort])
        case fo.Not(body):
            return not here(body)
    if isinstance(formula, fo.Quantified):
        values = [
            here(formula.body, [(formula.binder.name, u)]) for u in state.active_domain[formula.binder.sort]
        ]
        if not isinstance(formula, fo.Count):
            return all(values)
        low, high = {"atleast": (formula.number, 99), "atmost": (0, formula.number)}.get(
            formula.comparison, (formula.number, formula.number)
        )
        return low <= sum(values) <= high
    below = []
    fo.map_children(lambda f: below.append(here(f)) or f, formula)
    match type(formula).__name__:
        case "And":
            return all(below)
        case "Or":
            return any(below)
        case "Implies":
            return below[0] <= below[1]
        case "Iff":
            return below[0] == below[1]
    return holds(formula, state, sigma)


def test_a_bound_variable_is_renamed_only_where_it_would_capture():
    def of(text, **terms):
        formula = resolve(parse_formula(text), NAMES, {"x": "a", "y": "a", "z": "a"})
        return str(substitute(formula, {v: fo.Var(t) for v, t in terms.items()}))

    assert of("exists z. Q(x, z)", x="y") == "exists z: a. Q(y, z)"
    assert of("exists y. Q(x, y)", x="y") == "exists y_1: a. Q(y, y_1)"
    assert of("exists y. P(y)", x="y") == "exists y: a. P(y)"
    assert of("exists y, y_1. Q(x, y) & P(y_1)", x="y") == "exists y_2: a, y_1: a. Q(y, y_2) & P(y_1)"
    assert of("Q(x, y)", x="y", y="x") == "Q(y, x)"


def test_a_constant_never_comes_to_stand_under_a_binder_of_its_name():
    body = resolve(parse_formula("P(c0)"), NAMES)
    use = fo.Exists(fo.Binder("c0", "a"), fo.Use("D", (fo.Var("c0"),)) & fo.Atom("P", (fo.Var("c0"),)))
    expanded = expand(use, {"D": fo.Definition("D", (fo.Binder("x", "a"),), body)})
    assert str(expanded) == "exists c0_1: a. P(c0) & P(c0_1)"
    assert resolve(parse_formula(str(expanded)), NAMES) == expanded


def test_a_cycle_of_definitions_is_named():
    names = {n: fo.Definition(n, (), fo.Atom("N") | fo.Use(m)) for n, m in ("AB", "BC", "CB")}
    with pytest.raises(DeclarationError, match=r"define B leads back to itself \(B uses C uses B\); break"):
        expand(fo.Use("A"), names)


def test_variables_are_counted_by_name_and_sort():
    text = "forall x: a, y: k. AG exists x: a, z: a. R(x, y) & exists y: a. atleast 1 x: k. x = x"
    formula = resolve(parse_formula(text), NAMES, temporal=True)
    assert variables_by_sort(formula) == {"a": 3, "k": 2}
