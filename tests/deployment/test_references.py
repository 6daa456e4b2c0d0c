"""References between relations: errors of the file, runs that break them, and what an `AG` says instead."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as hs

import stead_sym as st
import stead_sym.logic.syntax as fo
from engine_pairs import examples
from generated.workflows import workflows
from stead_sym.deployment.claims import claims
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.parts import Initially
from stead_sym.errors import DefinitionError, NoInitialState, ReferenceBroken, Undecided
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Schema
from whole import verify

BASE = """deployment d
sort o
sort s = { x1, x2 } rigid
relation K(o key)
relation P(o)
relation T(o key, s key)
"""
ERRORS = [
    ("relation R(o references Q)", "7:10: R.1 references Q, but there is no relation Q; declare it"),
    ("relation R(c: o references P)", "7:10: R.c references P, but 0 columns of P are its key;"),
    ("relation R(c: o references T)", "7:10: R.c references T, but 2 columns of T are its key;"),
    (
        "relation R(c: s references K)",
        "7:10: R.c references K, but the column is of sort s and the key of K of",
    ),
    ("relation R(o) total K", "7:10: R total K, but R has 0 key columns of the sort o;"),
    ("relation R(o key, o key) total K", "7:10: R total K, but R has 2 key columns of the sort o;"),
    ("relation R(o references)", '7:24: unexpected ")"; expected a name'),
    ("relation R(o references K) init R(o1)", "7:33: R(o1) is in `init`, but o1 is in no fact of K, where"),
    ("relation R(o key) total K init K(o1)", "7:32: K(o1) is in `init`, but o1 is in no fact of R, where"),
]


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_what_does_not_fit_is_told_with_its_place(text: str, message: str) -> None:
    with pytest.raises(st.errors.InputError) as caught:
        parse_deployment(BASE + text, "f")
    assert str(caught.value).startswith(f"f:{message}")


GOOD = (
    BASE
    + """relation R(id: o key, to: o references K, s) total K
init K(o1) R(o1, o1, x1)
bound o 1
tool drop() effect delete R(o1, _, _)
tool lose() effect delete K(o1)
tool both() effect delete K(o1) delete R(o1, _, _)
tool idle()
spec s AG (K(o1) -> R(o1, _, _))
"""
)


def test_a_reference_prints_back() -> None:
    deployment = parse_deployment(GOOD)
    assert "relation R(id: o key, to: o references K, s) total K" in str(deployment)
    assert parse_deployment(str(deployment)) == deployment
    built = st.build_deployment(
        "d", sorts={"o": None}, relations={"K": "o key", "R": "id: o key, to: o references K total K"}
    )
    assert str(built.schema.relation("R")) == "relation R(id: o key, to: o references K) total K"


@pytest.mark.parametrize("options", [{"engine": "explicit"}, {"domain": "theorem"}, {"domain": "normal"}])
@pytest.mark.parametrize(
    ("without", "claim", "words"),
    [
        ("lose", "R total K", "K(o1) holds, but o1 is in no fact of R after drop()"),
        ("drop", "R.to references K", "R(o1, o1, x1) holds, but o1 is in no fact of K after lose()"),
    ],
)
def test_a_step_that_breaks_one_is_an_error_with_its_run(
    options: dict[str, str], without: str, claim: str, words: str
) -> None:
    text = "\n".join(line for line in GOOD.split("\n") if not line.startswith(f"tool {without}()"))
    broken = st.verify(parse_deployment(text), **options).broken
    assert isinstance(broken, ReferenceBroken)
    assert broken.claim == claim
    assert words in str(broken)
    assert [step.call.tool for step in broken.trace.steps] == [words.split()[-1][:-2]]


def referring(deployment: st.Deployment, choice: int) -> st.Deployment | None:
    """The deployment with one of the references that its relations admit, or several."""
    relations = deployment.schema.relations
    single = [r for r in relations if len(r.keys) == 1]
    fitting = [
        (r.name, k, target.name)
        for r in relations
        for target in single
        for k, sort in enumerate(r.sorts)
        if sort == target.sorts[target.keys[0]] and (r.name, k) != (target.name, target.keys[0])
    ]
    if not fitting:
        return None
    name, column, target = fitting[choice % len(fitting)]
    changed = []
    for r in relations:
        [into] = [q.sorts[q.keys[0]] for q in relations if q.name == target]
        is_total = choice % 2 and r.name == name and sum(r.sorts[k] == into for k in r.keys) == 1
        if r.name == name:
            r = replace(r, total=target) if is_total else replace(r, refers=((column, target),))
        changed.append(r)
    schema = Schema(deployment.schema.sorts, tuple(changed))
    return replace(deployment, schema=schema, init=Instance(schema, deployment.init.facts), text=None)


def kept(deployment: st.Deployment) -> object:
    """Check that every reference is kept."""
    named = {reference.name for reference in deployment.schema.references}
    return fo.conjunction(tuple(c.invariant for c in claims(deployment) if c.name in named))


@settings(max_examples=examples(120, slow=2000, quick=15))
@given(workflows(sound=False, specs=1, depth=2), hs.integers(0, 23))
def test_a_reference_is_broken_where_ag_of_it_fails(plain: st.Deployment, choice: int) -> None:
    """`ReferenceBroken` iff AG of the reference fails without its declaration; every D0 keeps it where
    `initially any` says what D0 is. Where it is kept, nothing else changes."""
    deployment = referring(plain, choice)
    if deployment is None:
        reject()
    formula = kept(deployment)
    if plain.initially is not None:
        lines = (*plain.written.initially, Initially((), formula))
        plain = replace(plain, written=replace(plain.written, initially=lines))
    elif not st.holds(formula, plain.init):
        reject()
    try:
        free = verify(plain, findings=False, engine="explicit")
        broken = free.engine.satisfying(plain.formula(fo.Not(formula)), {}).count > 0
    except (DefinitionError, NoInitialState, Undecided):
        reject()
    event(f"broken: {broken}")
    for options in ({"engine": "explicit"}, {"domain": "theorem"}, {"domain": "normal"}):
        if broken:
            with pytest.raises(ReferenceBroken) as caught:
                verify(deployment, findings=False, **options)
            assert not st.holds(formula, caught.value.trace.last)
        else:
            found = verify(deployment, findings=False, **options)
            assert {n: v.holds for n, v in found.verdicts.items()} == {
                n: v.holds for n, v in free.verdicts.items()
            }
            if options != {"domain": "normal"}:
                assert (found.states, found.transitions) == (free.states, free.transitions)


@pytest.mark.parametrize("domain", ["theorem", "normal"])
def test_a_certificate_shows_that_references_are_kept(domain: str, tmp_path: Path) -> None:
    text = "\n".join(line for line in GOOD.split("\n") if "tool drop" not in line and "tool lose" not in line)
    result = st.verify(parse_deployment(text), domain=domain)
    checked = st.check_certificate(st.write_certificate(result, tmp_path))
    assert checked.verdicts == {"s": "holds"}
