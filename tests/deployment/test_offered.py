"""`offered w(x)`: true of a call where the semantics offers it, and the same as its guard written out."""

from __future__ import annotations

from dataclasses import replace
from itertools import count, product
from random import Random

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as hs

import stead_sym as st
import stead_sym.logic.syntax as fo
from engine_pairs import examples
from generated.workflows import workflows
from stead_sym.agents.roles import wrap_all
from stead_sym.cli.main import main
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.following import mapped
from stead_sym.deployment.gates import under_gates
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import offer
from stead_sym.deployment.tool import Call
from stead_sym.engines.explicit.engine import ExplicitEngine
from stead_sym.errors import DefinitionError, NoInitialState, Undecided
from stead_sym.logic.evaluate import holds
from stead_sym.logic.substitution import substitute
from test_desugarings import assert_same, rewritten

DESK = """deployment desk
sort order
sort s = { paid, refunded } rigid
relation St(order key, s)
relation Ok(order)
bound order 1
event arrive() guard ~St(_, _)
  effect fresh o: order insert St(o, paid)
tool approve(o: order) guard St(o, paid) effect insert Ok(o)
tool refund(o: order) guard St(o, paid) effect set St(o, refunded)
tool forget(o: order) guard St(o, refunded) effect delete St(o, _) delete Ok(o)
gate g permit refund(o) when Ok(o) permit approve(_) permit forget(_)
"""


def with_offers(deployment: Deployment, choose: Random) -> Deployment:
    """The deployment with `offered` in place of parts of its specifications, views and `fair`."""
    tools = [tool for tool in deployment.written.tools if not tool.event]

    def changed(formula: fo.Formula, scope) -> fo.Formula:
        inner = scope
        if isinstance(formula, fo.Quantified):
            inner = {**scope, formula.binder.name: formula.binder.sort}
        formula = fo.map_children(lambda child: changed(child, inner), formula)
        if fo.is_temporal(formula) or not tools or choose.random() > 0.3:
            return formula
        tool, args = choose.choice(tools), []
        for param in tool.params:
            known = [fo.Var(name) for name, sort in scope.items() if sort == param.sort]
            known += [fo.Const(value) for value in deployment.constants[param.sort][:1]]
            args.append(choose.choice([*known, *known, fo.Wildcard(param.sort)]))
        return fo.Use(fo.OFFERED + tool.name, tuple(args))

    parts = deployment.written
    new = mapped(parts, changed, None)
    written = replace(parts, specs=new.specs, fair=new.fair, views=new.views)
    return replace(deployment, written=written, text=None)


def written_out(deployment: Deployment) -> Deployment:
    """The deployment with guards, and active arguments, in place of `offered`."""
    tools, numbers = {tool.name: tool for tool in deployment.written.tools}, count()
    finite = {sort.name for sort in deployment.schema.sorts if sort.values is not None}

    def formula(f: fo.Formula) -> fo.Formula:
        f = fo.map_children(formula, f)
        if not isinstance(f, fo.Use) or not f.definition.startswith(fo.OFFERED):
            return f
        tool = tools[f.definition.removeprefix(fo.OFFERED)]
        wild, images, active = [], {}, []
        for param, term in zip(tool.params, f.args, strict=True):
            if isinstance(term, fo.Wildcard):
                wild.append(fo.Binder(f"w{next(numbers)}", param.sort, declared=param.sort in finite))
                term = fo.Var(wild[-1].name)
            images[param.name] = term
            if param.sort not in finite:
                binder = fo.Binder(f"a{next(numbers)}", param.sort)
                active.append(fo.Exists(binder, fo.Equal(fo.Var(binder.name), term)))
        found = fo.conjunction((substitute(tool.guard, images), *active))
        for binder in wild:
            found = fo.Exists(binder, found)
        return found

    return rewritten(deployment, formula)


@settings(max_examples=examples(40, slow=600, quick=5))
@given(workflows(specs=3), hs.sampled_from(("any", "p")), hs.integers(0, 10**6))
def test_it_is_the_guard_of_active_arguments(deployment: Deployment, agents: str, seed: int) -> None:
    offering = with_offers(deployment, Random(seed))
    event(f"offered: {min(str(offering).count('offered'), 5)}")
    assert parse_deployment(str(offering)).written.specs == offering.written.specs
    assert_same(offering, written_out(offering), agents, agents)


@settings(max_examples=examples(40, slow=600))
@given(workflows(), hs.booleans(), hs.data())
def test_it_is_true_of_the_calls_that_are_offered(d: Deployment, gated: bool, data: hs.DataObject) -> None:
    tools = [tool for tool in d.written.tools if not tool.event]
    if gated:
        tool = data.draw(hs.sampled_from(tools))
        word = data.draw(hs.sampled_from(["permit", "forbid"]))
        args = ", ".join(p.name for p in tool.params)
        d = under_gates(parse_deployment(f"{d}\ngate g\n {word} {tool.name}({args}) when {tool.guard}"), "g")
    try:
        engine = ExplicitEngine(d, wrap_all(d, "any"), theorem_restriction(d, d.specs), max_states=60)
    except (DefinitionError, NoInitialState, Undecided):
        return
    for state in engine.satisfying(fo.TRUE, {}).sample(10):
        offered = offer(d, state)
        for tool in d.tools:
            names = [param.name for param in tool.params]
            formula = d.formula(
                fo.Use(fo.OFFERED + tool.name, tuple(map(fo.Var, names))),
                {p.name: p.sort for p in tool.params},
            )
            values = [state.active_domain[p.sort].union(d.constants[p.sort]) for p in tool.params]
            for args in product(*values, repeat=1):
                sigma = dict(zip(names, args, strict=True))
                assert holds(formula, state, sigma) == (Call(tool.name, args) in offered)


def test_in_python() -> None:
    d = parse_deployment(DESK)
    guarded = st.logic.offered("refund", "o")
    assert str(d.formula(guarded, {"o": "order"})) == "St(o, paid)"
    assert str(under_gates(d, "g").formula("exists o. offered refund(o)")) == (
        "exists o: order. St(o, paid) & Ok(o)"
    )
    spec = st.logic.parse_formula("AG (offered refund(_) -> EX did refund(_))")
    assert st.verify(d, specs=spec)[str(spec)].holds


def test_what_it_says_changes_with_the_gate_that_a_shield_makes(
    capsys: pytest.CaptureFixture[str], tmp_path
) -> None:
    path = tmp_path / "desk.stead"
    path.write_text(DESK + "spec s AG forall o. (St(o, refunded) -> Ok(o))\nspec t AG ~offered refund(_)")
    assert main(["shield", str(path), "--spec", "t"]) == 2
    assert "t has no shield: it says `offered`, which the gate changes" in capsys.readouterr().err


def test_gates_that_ask_for_each_other_are_an_error(capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    path = tmp_path / "desk.stead"
    path.write_text(
        DESK + "gate h permit refund(o) when offered approve(o) permit approve(o) when offered refund(o)\n"
        "spec s AG ~offered refund(_)"
    )
    assert main(["verify", str(path), "--quiet"]) == 1
    capsys.readouterr()
    assert main(["verify", str(path), "--gate", "h"]) == 2
    assert "`offered refund` leads back to itself" in capsys.readouterr().err
