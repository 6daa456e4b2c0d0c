"""The phases of formulas: what each step keeps, and that only expanded formulas are given a meaning."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import NAMES, SCHEMA, definitions, well_sorted

import stead_sym.logic.syntax as fo
from generated.formulas import Signature, sentences
from stead_sym.agents.rules import RuleAgent
from stead_sym.deployment.ensure import ensured
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.parts import Policy, Rule
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.engines.explicit.check import Labelling
from stead_sym.engines.explicit.engine import ExplicitEngine
from stead_sym.engines.explicit.explore import explore
from stead_sym.engines.symbolic.engine import SymbolicEngine
from stead_sym.logic.evaluate import holds, value_of
from stead_sym.logic.names import constants
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.printer import print_formula
from stead_sym.logic.sorts import Names, resolve, variables_by_sort
from stead_sym.logic.substitution import expand
from stead_sym.relational.instance import Fact, Instance
from stead_sym.verification.verify import verify

SCOPE = {"x": "a", "y": "k"}


@st.composite
def resolved(draw):
    """Definitions, the names with them, and a resolved formula that may use them."""
    defined = draw(definitions())
    names = Names(SCHEMA, NAMES.constants, defined)
    return draw(well_sorted(SCOPE, 3, names)), names


# -- what the steps keep


@given(resolved())
def test_resolving_and_expanding_again_change_nothing(drawn):
    formula, names = drawn
    assert resolve(formula, names, SCOPE) == formula
    expanded = expand(formula, names.definitions)
    assert expand(expanded, names.definitions) == expanded
    assert resolve(expanded, names, SCOPE) == expanded


@given(resolved())
def test_what_is_printed_reads_back_as_the_resolved_formula(drawn):
    formula, names = drawn
    assert resolve(parse_formula(print_formula(formula)), names, SCOPE) == formula


@given(resolved())
def test_each_step_takes_its_constructors_away(drawn):
    formula, names = drawn
    again = resolve(parse_formula(print_formula(formula)), names, SCOPE)
    assert not any(isinstance(term, fo.Name) for part in fo.subformulas(again) for term in fo.terms(part))
    assert not any(isinstance(part, fo.Use) for part in fo.subformulas(expand(formula, names.definitions)))


DESK = """
deployment desk
sort job
sort state = { open, shut } rigid
relation Is(job, state)
relation Next(job, job)
bound job 2
define open_job(x: job) = Is(x, open)
define behind(x: job) = exists y. Next(y, x) & open_job(y)
define busy() = exists x, y. Next(x, y) & ~behind(x) | behind(y) & Is(x, shut)
tool take()
  guard ~busy() & atmost 1 x: job. true
  effect
    fresh x: job
    insert Is(x, open)
    insert Next(y, x) for y where open_job(y)
tool finish(x: job)
  guard open_job(x)
  effect
    delete Is(x, open)
    insert Is(x, shut)
tool forget(x: job)
  guard Is(x, shut)
  effect
    delete Is(x, shut)
    delete Next(x, y) for y
    delete Next(y, x) for y
tool idle()
policy careful
  call finish(x) when ~behind(x) & open_job(x)
  call idle()
spec calm
  AG forall x. open_job(x) -> EF ~open_job(x)
"""


@pytest.fixture(scope="module")
def desk():
    return parse_deployment(DESK, "desk.stead")


class LookingUp(Labelling):
    """The clauses of satisfaction, and one for uses: the body, with the arguments' values."""

    def _evaluate(self, formula, sigma):
        if not isinstance(formula, fo.Use):
            return super()._evaluate(formula, sigma)
        definition = self.graph.deployment.names.definitions[formula.definition]
        values = [value_of(term, sigma) for term in formula.args]
        return self._sat(definition.body, {p.name: v for p, v in zip(definition.params, values, strict=True)})


def test_expanding_keeps_the_states_that_satisfy_a_formula(desk):
    restriction = theorem_restriction(desk, desk.specs)
    graph = explore(desk, {"": None}, restriction)
    plain, looking_up = Labelling(graph, restriction), LookingUp(graph, restriction)
    symbols = {relation.name: relation.sorts for relation in desk.schema.relations}
    symbols |= {name: desk.names.signature(name) for name in desk.names.definitions}
    used = []

    @given(sentences(Signature(symbols, desk.constants)))
    def check(raw):
        formula = resolve(raw, desk.names, temporal=True)
        used.append(any(isinstance(part, fo.Use) for part in fo.subformulas(formula)))
        expanded = expand(formula, desk.names.definitions)
        assert plain.satisfying(expanded) == looking_up.satisfying(formula)

    check()
    assert sum(used) > len(used) / 4


def test_a_deployment_has_expanded_formulas_and_prints_the_written_ones(desk):
    rule = desk.policy("careful").rules[0]
    assert str(rule.when) == "~(exists y: job. (Next(y, x) & Is(y, open))) & Is(x, open)"
    assert str(desk.spec("calm").formula) == "AG forall x: job. Is(x, open) -> EF ~Is(x, open)"
    assert str(desk.tool("finish").guard) == "Is(x, open)"
    assert str(desk.formula("behind(x)", {"x": "job"})) == "exists y: job. Next(y, x) & Is(y, open)"
    printed = str(desk)
    assert "  guard open_job(x)\n" in printed
    assert "AG forall x: job. open_job(x) -> EF ~open_job(x)" in printed
    assert parse_deployment(printed) == desk
    assert str(verify(desk)["calm"].formula) == "AG forall x: job. open_job(x) -> EF ~open_job(x)"


# -- a formula of an earlier phase has no meaning

EARLY = [
    (parse_formula("Is(x, open)"), "x may be a variable or a constant; resolve the formula"),
    (parse_formula("open = shut"), "open may be a variable or a constant; resolve the formula"),
    (parse_formula("exists x. x = x"), "nothing has said the sort of x yet; resolve the formula"),
    (parse_formula("busy()"), "busy is no relation here; if it is a definition, resolve the formula"),
    (fo.Use("busy"), r"busy\(\) uses the definition busy, which is not expanded; resolve the formula"),
]


def state_of(desk):
    return Instance(desk.schema, frozenset({Fact("Is", ("j", "open"))}))


@pytest.mark.parametrize(("formula", "message"), EARLY)
def test_truth_in_an_instance(desk, formula, message):
    with pytest.raises(TypeError, match=f"^{message}"):
        holds(formula, state_of(desk))
    with pytest.raises(TypeError, match=f"^{message}"):
        holds(formula, state_of(desk), after=state_of(desk))


@pytest.mark.parametrize(("formula", "message"), EARLY)
def test_the_successors_that_an_effect_ensures(desk, formula, message):
    domain = {"job": ("j",), "state": ("open", "shut")}
    with pytest.raises(TypeError, match=f"^{message}"):
        list(ensured(formula, state_of(desk), domain, {}))


@pytest.mark.parametrize(("formula", "message"), EARLY)
def test_satisfying_states(desk, formula, message):
    restriction = theorem_restriction(desk, desk.specs)
    with pytest.raises(TypeError, match=f"^{message}"):
        ExplicitEngine(desk, {"": None}, restriction).holds(fo.Next("E", formula))


@pytest.mark.parametrize(("formula", "message"), EARLY)
def test_satisfying_states_as_diagrams(desk, formula, message):
    with pytest.raises(TypeError, match=f"^{message}"):
        SymbolicEngine(desk, {"": None}, theorem_restriction(desk, desk.specs)).holds(fo.Next("E", formula))


@pytest.mark.parametrize("count", [constants, variables_by_sort])
def test_what_is_counted_in_a_formula(count):
    with pytest.raises(TypeError, match=r"^busy\(\) uses the definition busy, which is not expanded"):
        count(fo.Next("E", fo.Use("busy")))


@pytest.mark.parametrize(
    "use", [fo.Use("open_job", (fo.Var("x"),)), fo.Atom("Is", (fo.Var("x"), fo.Name("open")))]
)
def test_a_rule_agent(desk, use):
    policy = Policy("p", (Rule("idle"), Rule("finish", (fo.Var("x"),), use)))
    with pytest.raises(TypeError, match="resolve the formula and expand its definitions first"):
        RuleAgent(policy, desk.tools)
    with pytest.raises(TypeError, match="resolve the formula and expand its definitions first"):
        RuleAgent(Policy("p", (Rule("finish", (fo.Name("x"),)),)), desk.tools)
    written = next(p for p in desk.written.policies if p.name == "careful")
    with pytest.raises(TypeError, match=r"^behind\(x\) uses the definition behind, which is not expanded"):
        RuleAgent(written, desk.tools)
    assert RuleAgent(desk.policy("careful"), desk.tools) == RuleAgent.of(desk, "careful")


# -- Python's own connectives


@pytest.mark.parametrize(
    "ask",
    [
        lambda f: f and f,
        lambda f: f or f,
        lambda f: not f,
        lambda f: bool(f),
        lambda f: 1 if f else 0,
        lambda f: all([f]),
        lambda f: list(filter(None, [f])),
    ],
)
@pytest.mark.parametrize(
    "formula", [fo.TRUE, fo.Atom("N"), ~fo.Atom("N"), fo.Exists(fo.Binder("x", "a"), fo.TRUE), fo.Use("D")]
)
def test_a_formula_has_no_truth_value_in_python(ask, formula):
    with pytest.raises(
        TypeError, match=r"^a formula has no truth value in Python: join formulas by & \| ~ >>"
    ):
        ask(formula)


def test_formulas_are_still_compared_and_looked_up():
    f, g = fo.Atom("N") & fo.TRUE, fo.Atom("N") & fo.TRUE
    assert f == g == f
    assert f != ~g != g
    assert g in (fo.TRUE, f)
    assert ~g not in (fo.TRUE, f)
    assert (fo.TRUE, f).index(g) == 1
    assert {f: 1}[g] == 1
