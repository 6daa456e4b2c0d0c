"""Generated deployments as systems in SQLite, each with one mistake in a tool: does `conform` find it?

The oracle is the semantics of both deployments on the reachable states, by the explicit engine. A mistake
that changes no call of any of them is not observable, and must not be reported.

    python tests/conform/mutants.py 300
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]


from exported_system import exported

import stead_sym as stead
import stead_sym.logic.syntax as fo
from generated.integers import integer_deployment
from generated.offices import text as offices
from generated.records import text as records
from stead_sym.conformance.conform import conform
from stead_sym.conformance.drafting.states import States
from stead_sym.conformance.walks import small_restriction
from stead_sym.deployment.semantics import calls_of, databases
from stead_sym.deployment.tool import Assign, Delete, Insert
from stead_sym.errors import SteadError
from stead_sym.relational.canonical import isomorphic
from stead_sym.relational.instance import broken_keys, broken_references, out_of_range
from stead_sym.verification.verify import verify

MOST_STATES = 60
MOST_CALLS = 6_000


# mistakes


def mistakes(deployment, tool):
    """Each mistake of a kind in a tool, with the kind."""
    parts = [part for part in fo.conjuncts(tool.guard) if part != fo.TRUE]
    for number, part in enumerate(parts):
        rest = (*parts[:number], *parts[number + 1 :])
        yield "guard literal dropped", replace(tool, guard=fo.conjunction(rest))
        flipped = (*parts[:number], fo.Not(part), *parts[number + 1 :])
        yield "guard literal flipped", replace(tool, guard=fo.conjunction(flipped))
    for formula in other_constants(deployment, tool.guard):
        yield "wrong constant in the guard", replace(tool, guard=formula)
    [effect] = tool.effects
    for number, statement in enumerate(effect.statements):

        def changed(*new, number=number):
            made = (*effect.statements[:number], *new, *effect.statements[number + 1 :])
            return replace(tool, effects=(replace(effect, statements=made),))

        match statement:
            case Insert() | Assign():
                yield "write dropped", changed()
            case Delete():
                yield "delete dropped", changed()
            case _:
                continue
        if not isinstance(statement, Delete):
            for atom in other_constants(deployment, statement.atom):
                yield "wrong constant written", changed(replace(statement, atom=atom))
            for atom in other_columns(deployment, statement.atom):
                yield "written to another column", changed(replace(statement, atom=atom))
        if statement.where != fo.TRUE:
            yield "condition of a write dropped", changed(replace(statement, where=fo.TRUE))


def other_constants(deployment, formula):
    """The formula with one of its constants replaced by another value of the sort."""
    for term in dict.fromkeys(
        t for part in every(formula) for t in fo.terms(part) if isinstance(t, fo.Const)
    ):
        for sort in deployment.schema.sorts:
            values = sort.values or ()
            if term.value in values and len(values) > 1:
                other = fo.Const(values[(values.index(term.value) + 1) % len(values)])
                yield mapped(lambda one, term=term, other=other: other if one == term else one, formula)


def mapped(transform, formula):
    """The formula with other terms, also in its parts."""
    return fo.map_children(lambda part: mapped(transform, part), fo.map_terms(transform, formula))


def every(formula):
    yield formula
    for part in fo.children(formula):
        yield from every(part)


def other_columns(deployment, atom):
    """The atom with two arguments of one sort exchanged."""
    sorts = deployment.schema.relation(atom.relation).sorts
    for high in range(len(sorts)):
        for low in range(high):
            if sorts[low] == sorts[high] and atom.args[low] != atom.args[high]:
                args = list(atom.args)
                args[low], args[high] = args[high], args[low]
                yield replace(atom, args=tuple(args))


# the oracle


def is_broken(state):
    claims = broken_keys, broken_references, out_of_range
    return any(next(iter(broken(state.schema, state.facts)), None) is not None for broken in claims)


def differs(deployment, mutant, name, states, restriction):
    """Return True if a call of a tool in one of these states has another end by the mutant."""
    fixed = frozenset().union(*deployment.constants.values())
    for state in states:
        offered, made = (calls_of(one, one.tool(name), state) for one in (deployment, mutant))
        for call in offered | made:
            ends = [
                end
                for end in (databases(mutant, call, state, restriction) if call in made else ())
                if not is_broken(end)  # which the constraints of the database refuse
            ]
            allowed = list(databases(deployment, call, state, restriction)) if call in offered else [state]
            if any(map(is_broken, allowed)):
                continue  # it is not reachable, and the deployment makes no claim about it
            known = fixed.union(call.args, *state.active_domain.values())
            after = ends[0] if ends else state
            if not any(isomorphic(after, end, known) for end in allowed):
                return True
    return False


@dataclass(frozen=True)
class Outcome:
    """A deployment with one mistake: its kind, whether it is observable, whether it was found.

    ``elsewhere`` says that it is observable on databases that are not reachable.
    """

    kind: str
    observable: bool
    elsewhere: bool
    found: bool
    text: str


def texts(seed):
    """The text of a generated deployment."""
    return (records, integer_deployment, offices)[seed % 3](seed)


def subject(seed):
    """A generated deployment with its graph and its binding, None if it is large or has no tool in SQL."""
    try:
        deployment = stead.parse_deployment(texts(seed))
        result = verify(deployment, "any", [], engine="explicit", findings=False, max_states=MOST_STATES)
    except SteadError:
        return None
    if result.broken is not None or result.deployment.history:
        return None
    states = result.engine.graph.states
    values = max(sum(map(len, state.active_domain.values())) for state in states)
    if any((values + 1) ** len(t.params) > MOST_CALLS / MOST_STATES for t in deployment.tools_and_events):
        return None
    binding = exported(result.deployment)
    return (result, binding) if set(binding.tools) - {"idle"} else None


def one_mistake(seed, result, binding):
    """The outcome of one mistake in one tool of a deployment, drawn by the seed; None if none can be run."""
    random, deployment = Random(seed), result.deployment
    tools = [
        tool for tool in deployment.tools_and_events if tool.name in binding.tools and len(tool.effects) == 1
    ]
    found = [(tool, kind, changed) for tool in tools for kind, changed in mistakes(deployment, tool)]
    kinds = sorted({kind for _, kind, _ in found})
    random.shuffle(kinds)
    for kind in kinds:
        among = [one for one in found if one[1] == kind]
        random.shuffle(among)
        for tool, _, changed in among[:3]:
            parts = tuple(changed if one.name == tool.name else one for one in deployment.written.tools)
            mutant = replace(deployment, written=replace(deployment.written, tools=parts), text=None)
            try:
                other = exported(mutant)
            except SteadError:
                continue
            if tool.name not in other.tools:
                continue
            system = replace(binding, tools={**binding.tools, tool.name: other.tools[tool.name]})
            observable = differs(
                deployment, mutant, tool.name, result.engine.graph.states, result.restriction
            )
            states = States(deployment, Random(seed))
            others = [one for one in (states.random_state() for _ in range(80)) if one is not None]
            elsewhere = not observable and any(
                differs(deployment, mutant, tool.name, [one], small_restriction(deployment, one))
                for one in others
            )
            report = conform(deployment, system)
            named = {difference.call.tool for difference in report.differences}
            assert named <= {tool.name}, "another tool differs than the one with the mistake"
            return Outcome(
                kind, observable, elsewhere, not report.agrees, f"seed {seed}, {tool.name}: {kind}"
            )
    return None


def main(number):
    """Print how many mistakes were found, by kind."""
    outcomes, agreed, seed = [], 0, 0
    while len(outcomes) < number:
        seed += 1
        made = subject(seed)
        if made is None:
            continue
        report = conform(made[0].deployment, made[1])
        if not report.agrees:
            print(f"seed {seed}: what is exported differs: {report.differences[:1]} {[*report.unloaded][:1]}")
        agreed += report.agrees
        outcome = one_mistake(seed, *made)
        if outcome is None:
            agreed -= report.agrees
            continue
        outcomes.append(outcome)
        if outcome.observable is not outcome.found:
            print(f"missed or false: {outcome}", flush=True)
    print(f"{agreed} of {number} deployments agree with what they are exported as ({seed} seeds)")
    print("| mistake | planted | observable | found | on others only | on none tried | false |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for kind in [*sorted({one.kind for one in outcomes}), "all"]:
        some = [one for one in outcomes if kind in (one.kind, "all")]
        counts = Counter((one.observable, one.found) for one in some)
        seen = counts[True, True] + counts[True, False]
        unreached = sum(one.elsewhere for one in some)
        cells = (kind, len(some), seen, counts[True, True], unreached, len(some) - seen - unreached)
        print(f"| {' | '.join(map(str, cells))} | {counts[False, True]} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
