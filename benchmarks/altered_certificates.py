"""Alter certificates of what holds for every number of records, and count which are accepted.

    python benchmarks/altered_certificates.py [--number 600] [--seed 1] [NAME …]

Takes the published protocols and the packaged examples without bounds. Each alteration changes one thing of
a certificate, drawn at random: a view, a fact, k, a name, a claim, the text of the deployment, an invariant,
the relations of a slice, what was left out, or the agents. What is accepted has to be a proof still. That is
decided without the checker: the engine of `stead_sym.analyses.views` closes the views of the certificate
under all steps, of the slice and without the conditions that it lists. It must add none to them, and they
must imply each claim. If a certificate has followed agents, answers, memories or constants that became
values, deepening has to show its claims anew. Prints a row for each
kind. The exit status is 1 if anything else is accepted.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any

import every_number
import protocols

import stead_sym as st
import stead_sym.logic.syntax as fo
from stead_sym.analyses.views.closure import Assumed, Closing, keys_and_bounds
from stead_sym.analyses.views.needs import Outside
from stead_sym.analyses.views.shown import always
from stead_sym.analyses.views.slicing import sliced
from stead_sym.analyses.views.weakening import LeftOut, parts, without
from stead_sym.certificate.document import DOCUMENT, digest
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.certificate.write import uncertifiable_views, write_views
from stead_sym.deployment.parts import Spec
from stead_sym.errors import SteadError, Undecided
from stead_sym.relational.instance import Fact

SLOW = {
    "airline",
    "airline_records",
    "client_database",
    "german",
    "german_data",
    "leader_ring",
    "service_desk_any1",
    "szymanski_one_by_one",
}
"""Left out unless they are named: one check takes seconds."""

Data = dict[str, Any]


def cases(names: Sequence[str]) -> Iterator[tuple[str, st.Deployment, str]]:
    """Yield the deployments, each with its name and an agent."""
    for name in names or sorted(protocols.FAULTS.keys() - SLOW):
        if name in protocols.FAULTS:
            yield name, next(protocols.variants(name))[1], "any"
    for deployment in every_number.deployments():
        policies = {policy.name for role in deployment.agents for policy in role.policies}
        for agent in ("any", *sorted(policies)):
            if deployment.name in names or not (names or deployment.name in SLOW):
                yield f"{deployment.name}, {agent}", deployment, agent


def _induction(data: Data, random: Random) -> Data:
    return random.choice(data["inductions"])


def _fact(data: Data, random: Random) -> list[Any] | None:
    facts = [fact for view in _induction(data, random)["views"] for fact in view]
    return random.choice(facts) if facts else None


def _view_removed(data: Data, random: Random) -> None:
    views = _induction(data, random)["views"]
    views.remove(random.choice(views))


def _view_added(data: Data, random: Random) -> None:
    views = _induction(data, random)["views"]
    added = [*random.choice(views), *random.choice(views)]
    views.append(sorted({json.dumps(fact): fact for fact in added}.values()))


def _fact_added(data: Data, random: Random) -> None:
    fact = _fact(data, random)
    view = random.choice(_induction(data, random)["views"])
    if fact is not None and fact not in view:
        view.append(copy.deepcopy(fact))


def _fact_removed(data: Data, random: Random) -> None:
    if view := random.choice(_induction(data, random)["views"]):
        view.remove(random.choice(view))


def _value_renamed(data: Data, random: Random) -> None:
    fact, other = _fact(data, random), _fact(data, random)
    if fact and other and fact[1] and other[1]:
        fact[1][random.randrange(len(fact[1]))] = random.choice(other[1])


def _relation_renamed(data: Data, random: Random) -> None:
    fact, other = _fact(data, random), _fact(data, random)
    if fact and other:
        fact[0] = random.choice((other[0], f"{fact[0]}x"))


def _other_k(data: Data, random: Random) -> None:
    _induction(data, random)["k"] += random.choice((-1, 1, 2))


def _claim_changed(data: Data, random: Random) -> None:
    spec, other = random.choice(data["specs"]), random.choice(data["specs"])
    body = spec["formula"].removeprefix("AG ")
    strengthened = (
        f"AG ~({body})",
        f"AG ({body}) & false",
        f"EF ~({body})",
        f"AG EX ({body})",
        other["formula"],
    )
    both = random.random() < 0.5
    spec["formula"] = random.choice((*strengthened, f"AG ({body} | true)"))
    if both:
        spec["name"] = spec["formula"]


def _claim_renamed(data: Data, random: Random) -> None:
    spec = random.choice(data["specs"])
    spec["name"] = random.choice(
        [one["name"] for one in data["specs"]] + ["another", f"{spec['name']}\u200b"]
    )


def _claims_moved(data: Data, random: Random) -> None:
    one = _induction(data, random)
    one["shown"] = random.choice(([], [len(data["specs"])], one["shown"][1:], [*one["shown"], 0]))


def _line_of_text(data: Data, random: Random) -> None:
    """Remove a conjunct of a condition, or a statement or a declared key."""
    text = data["deployment"]["text"]
    ways = [r" & [^&|()]*(\([^()]*\))?(?=[ \n])", r"\n    (delete|insert|set|clear) [^\n]*", r"(?<=\w) key\b"]
    found = [m for way in ways for m in re.finditer(way, text)]
    if found:
        one = random.choice(found)
        data["deployment"]["text"] = text[: one.start()] + text[one.end() :]


def _invariants(data: Data, random: Random) -> None:
    one = _induction(data, random)
    names = [spec["name"] for spec in data["specs"]]
    one["invariants"] = random.choice(([], [*one["invariants"], random.choice(names)], ["lost"]))


def _slice(data: Data, random: Random) -> None:
    one, known = _induction(data, random), re.findall(r"(?m)^relation (\w+)", data["deployment"]["text"])
    own = list(one["relations"] or known)
    without = [name for name in own if name != random.choice(own)]
    one["relations"] = random.choice((None, without, [*own, "R99"], sorted({*own, random.choice(known)})))


def _left_out(data: Data, random: Random) -> None:
    """List other conjuncts as left out, which the tools have, or list one less.

    The conjuncts are those of the tools of the slice, or of the deployment before it is sliced.
    """
    one, deployment = _induction(data, random), st.parse_deployment(data["deployment"]["text"])
    places = [("left_out", place) for place in _conjuncts(deployment)]
    if one["relations"] is not None and not one["watched"]:
        claims = [
            f for at in one["shown"] for f in always(deployment.formula(data["specs"][at]["formula"])) or ()
        ]
        part = sliced(
            deployment,
            frozenset(one["relations"]),
            claims,
            every_sort={*one["relations"]}.issuperset(_names(deployment)),
        )
        places = [("left_out_of_slice", place) for place in _conjuncts(part.deployment)]
    listed = [(key, place) for key in ("left_out", "left_out_of_slice") for place in one[key]]
    others = [(key, place) for key, place in places if place not in one[key]]
    if listed and (not others or random.random() < 0.5):
        key, place = random.choice(listed)
        one[key].remove(place)
    elif others:
        for key, place in random.sample(others, min(len(others), random.choice((1, 1, 2)))):
            one[key].append(place)


def _conjuncts(deployment: st.Deployment) -> list[Data]:
    """Return the places of the conjuncts of all conditions, as certificates list them."""
    found = (parts(tool) for tool in deployment.tools_and_events if not tool.stays)
    return [asdict(place) for own in found for place, part in own if part != fo.TRUE]


def _sorts(data: Data, random: Random) -> None:
    one, sorts = _induction(data, random), re.findall(r"(?m)^bound (\w+)", data["deployment"]["text"])
    key = random.choice(("without_bounds", "in_use", "constants"))
    one[key] = random.choice(([], [random.choice(sorts)], ["lost"]))


def _agents(data: Data, random: Random) -> None:
    agent, tools = data["agents"][0], re.findall(r"(?m)^tool (\w+)", data["deployment"]["text"])
    if random.random() < 0.5:
        agent["policy"] = random.choice((None, "p"))
    agent["followed"] = random.choice(([], [random.choice(tools)] if tools else []))


KINDS: dict[str, Callable[[Data, Random], None]] = {
    "a view is removed": _view_removed,
    "a view is added": _view_added,
    "a fact is added": _fact_added,
    "a fact is removed": _fact_removed,
    "a value is renamed": _value_renamed,
    "a relation is renamed": _relation_renamed,
    "another k": _other_k,
    "a claim is changed": _claim_changed,
    "a claim is renamed": _claim_renamed,
    "other claims are shown": _claims_moved,
    "a line of the deployment is changed": _line_of_text,
    "other invariants": _invariants,
    "another slice": _slice,
    "other conditions are left out": _left_out,
    "other sorts": _sorts,
    "other agents": _agents,
}


def is_proof(data: Data, agent: str) -> bool:
    """Return whether a certificate proves what it states, without asking the checker."""
    deployment = st.parse_deployment(data["deployment"]["text"])
    shown = {at for one in data["inductions"] for at in one["shown"]}
    if shown != set(range(len(data["specs"]))) or any(not one["views"] for one in data["inductions"]):
        return False
    formulas = [deployment.formula(spec["formula"]) for spec in data["specs"]]
    followed = any(one["policy"] or one["followed"] for one in data["agents"])
    for one in data["inductions"]:
        claims = [formulas[at] for at in one["shown"]]
        given = None if followed else _of_views(deployment, one, claims)
        closed = None if given is None else _is_closed(given, one, claims)
        if closed is False or (closed is None and not _is_shown_anew(deployment, claims, agent)):
            return False
    return True


def _of_views(deployment: st.Deployment, one: Data, claims: Sequence[Any]) -> st.Deployment | None:
    """Return the deployment that the views of an induction are of; None unless the engine can make it."""
    special = ("watched", "answers", "without_bounds")
    sentences = [always(claim) for claim in claims]
    if one["constants"] is not None or any(one[key] for key in special) or None in sentences:
        return None
    deployment = without(deployment, [LeftOut(**place) for place in one["left_out"]])
    if one["relations"] is None:
        return None if one["in_use"] or one["left_out_of_slice"] else deployment
    asked = [sentence for some in sentences for sentence in some or ()]
    kept = frozenset(one["relations"])
    try:
        part = sliced(deployment, kept, asked, every_sort=kept.issuperset(_names(deployment)))
    except Outside:
        return None
    if {*part.kept} != kept or part.using.keys() != {*one["in_use"]}:
        return None
    return without(part.deployment, [LeftOut(**place) for place in one["left_out_of_slice"]])


def _names(deployment: st.Deployment) -> list[str]:
    return [relation.name for relation in deployment.schema.relations]


def _is_shown_anew(deployment: st.Deployment, claims: Sequence[Any], agent: str) -> bool:
    """Return whether deepening shows the claims, of the deployment without any bound."""
    asked = tuple(Spec(f"claim{at}", formula) for at, formula in enumerate(claims))
    helping = tuple(spec for spec in deployment.specs if spec.helps)
    written = replace(deployment.written, specs=(*helping, *asked))
    of_any = replace(deployment, written=written, unbounded=frozenset(deployment.bounds), text=None)
    again = st.deepen(of_any, agent, limit=1, findings=False)
    return all(again.found[spec.name].every_number for spec in asked)


def _is_closed(deployment: st.Deployment, one: Data, claims: Sequence[Any]) -> bool | None:
    """Return whether steps and initial instances add nothing to the views, and these imply the claims.

    Returns None if views have facts of relations that nothing changes: the engine has no variables for them.
    """
    open_sorts = deployment.unbounded or frozenset(deployment.bounds)
    helping = [deployment.spec(name) for name in one["invariants"]]
    assumed = [
        *keys_and_bounds(deployment, open_sorts),
        *(Assumed(s.name, f, starting=True) for s in helping for f in always(s.formula) or ()),
    ]
    closing = Closing(deployment, one["k"], assumed)
    columns = (sum(sort in open_sorts for sort in r.sorts) for r in deployment.schema.relations)
    if one["k"] < max(columns, default=0):
        return False
    form = closing.parts.form
    listed = {form(frozenset(Fact(name, tuple(args)) for name, args in view)) for view in one["views"]}
    if any(sum(closing.parts.sizes(view)) > one["k"] for view in listed):
        return False
    changing = {relation.name for relation in closing.diagrams.changing}
    if any(fact.relation not in changing for view in listed for fact in view - closing.diagrams.given):
        return None
    for view in listed:
        size, bits = closing.gluing.coded(view)
        closing.gluing.add(size, closing.diagrams.manager.cube(bits))
    closing.gluing.close()
    if closing.gluing.forms() != listed:
        return False
    given = dict(closing.gluing.views)
    closure = closing.closed()
    sentences = [always(claim) for claim in claims]
    return (
        not closure.broken
        and given == closing.gluing.views
        and None not in sentences
        and all(closing.shows(some or ()) for some in sentences)
    )


def outcome(data: Data, agent: str, directory: Path) -> str:
    """Return `refused`, `accepted`, or `wrong` if what is accepted is no proof."""
    data["deployment"]["sha256"] = digest(data["deployment"]["text"])
    (directory / DOCUMENT).write_text(json.dumps(data))
    try:
        st.check_certificate(directory)
    except (CertificateRejected, SteadError, Undecided):
        return "refused"
    return "accepted" if is_proof(data, agent) else "wrong"


def altered(
    number: int, seed: int, names: Sequence[str] = (), *, kinds: Sequence[str] = tuple(KINDS)
) -> Iterator[tuple[str, str, str, Data]]:
    """Yield the case, the kind and the outcome of different altered certificates, and the data."""
    written: list[tuple[str, str, Data]] = []
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        for name, deployment, agent in cases(names):
            found = st.deepen(deployment, agent, limit=1, findings=False)
            if not uncertifiable_views(found):
                write_views(found, directory)
                st.check_certificate(directory)
                written.append((name, agent, json.loads((directory / DOCUMENT).read_text())))
        random, seen = Random(seed), {json.dumps(data) for _, _, data in written}
        for at in range(20 * number):
            kind, (name, agent, data) = kinds[at % len(kinds)], random.choice(written)
            changed = copy.deepcopy(data)
            KINDS[kind](changed, random)
            text = json.dumps(changed)
            if text not in seen:
                seen.add(text)
                yield name, kind, outcome(changed, agent, directory), changed
                if len(seen) == number + len(written):
                    return


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="only these protocols and examples")
    parser.add_argument("--number", type=int, default=600, help="of altered certificates (default: 600)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    found: Counter[tuple[str, str]] = Counter()
    of: set[str] = set()
    for name, kind, word, data in altered(options.number, options.seed, options.names):
        found[kind, word] += 1
        of.add(name)
        if word == "wrong":
            print(f"{name}, {kind}: accepted, and no proof\n{json.dumps(data)}", file=sys.stderr)
    print("| alteration | refused | still a proof | wrongly accepted |\n| --- | --- | --- | --- |")
    words = ("refused", "accepted", "wrong")
    for kind in (*KINDS, ""):
        row = [sum(n for (k, w), n in found.items() if w == word and kind in ("", k)) for word in words]
        print(f"| {kind or 'all'} | {' | '.join(map(str, row))} |")
    print(f"\n{found.total()} different certificates, of {len(of)} deployments and agents")
    return int(any(word == "wrong" for _, word in found))


if __name__ == "__main__":
    sys.exit(main())
