"""Keep history in a state beside the database: the last step, and the truth of formulas of the past.

For a deployment that is `following` formulas, a state is an instance of the schema with its ``history``
relations: the database, and

    did ω(…)     the arguments of the step into it, none in an initial state,
    refused ω(…) the same of a call that was refused, of which `did` is false;
    f since g    { σ : (Dn, σ) ⊨ f since g },  previously f    { σ : (Dn, σ) ⊨ previously f },

σ over the values that are active in Dn and the constants. Let s be the least index such that the values of σ
are constants or active in all of Ds … Dn. Then n − 1 ≥ s iff they are constants or active in Dn−1, so that

    (Dn, σ) ⊨ f since g      iff  (Dn, σ) ⊨ g, or (Dn, σ) ⊨ f and (Dn−1, σ) ⊨ f since g;
    (Dn, σ) ⊨ previously f   iff  n > 0, the values of σ are constants or active in Dn−1, and (Dn−1, σ) ⊨ f:

what is true of σ in a state is true of values that are active there. One decision: these lines are the
definition here, evaluated one assignment after the other. The loop of a terminal state is no step: all stays
as it is. To write a call into a message is none for `did`, `refused` and `previously`, which stay as they
are, so that the guard of a call is about the same step when it is written and when its turn comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.following import Before, Kept, LastStep, SinceThen
from stead_sym.deployment.tool import Call
from stead_sym.logic.evaluate import holds, solutions
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value


def begun(deployment: Deployment, database: Instance) -> Instance:
    """Return the initial state with this database."""
    return _recorded(deployment, None, None, None, database, refused=False)


def recorded(
    deployment: Deployment,
    before: Instance,
    call: Call,
    actor: str | None,
    database: Instance,
    *,
    refused: bool = False,
) -> Instance:
    """Return the state after a step to this database, by a call.

    The agent ``actor`` makes the call; it is None for an event. ``refused`` tells whether the call was
    refused.
    """
    if not deployment.history:
        return database
    if deployment.tool(call.tool).stays:
        return before
    return _recorded(deployment, before, call, actor, database, refused=refused)


def actors_told(deployment: Deployment, call: Call, actors: tuple[str, ...]) -> tuple[str | None, ...]:
    """Return those agents that may make a call for which the state after it differs.

    If the history does not record who made the call, this is the first of them, or None for an event.
    """
    return actors if call.tool in deployment.history.agents and actors else (next(iter(actors), None),)


def actor_in(deployment: Deployment, call: Call, after: Instance, otherwise: str | None) -> str | None:
    """Return the agent that made the call into a state, by its history, or ``otherwise`` if it has none."""
    steps = (kept for kept in deployment.history.kept if isinstance(kept, LastStep) and kept.whole)
    for kept in steps if call.tool in deployment.history.agents else ():
        if kept.tool == call.tool and kept.agent and Fact(kept.relation.name, call.args) in after:
            return kept.agent
    return otherwise


def _recorded(
    deployment: Deployment,
    before: Instance | None,
    call: Call | None,
    actor: str | None,
    database: Instance,
    *,
    refused: bool,
) -> Instance:
    state = database.database
    writes = call is not None and deployment.tool(call.tool).writes
    for kept in deployment.history.kept:
        tuples: Iterable[tuple[Value, ...]]
        if writes and not isinstance(kept, SinceThen):
            assert before is not None
            tuples = before.tuples(kept.relation.name)
        elif isinstance(kept, LastStep) and kept.refused != refused:
            continue
        else:
            tuples = _told(deployment, kept, before, call, actor, state)
        told = frozenset(Fact(kept.relation.name, u) for u in tuples)
        state = Instance(state.schema, state.facts | told)
    return state


def _told(
    deployment: Deployment,
    kept: Kept,
    before: Instance | None,
    call: Call | None,
    actor: str | None,
    now: Instance,
) -> Iterator[tuple[Value, ...]]:
    """Yield the tuples of one relation of the history in the state ``now``.

    ``now`` has the database and the relations of the history that come before this one.
    """
    match kept:
        case LastStep(_, tool, places, agent):
            if call is not None and call.tool == tool and agent in (None, actor):
                yield tuple(call.args[place] for place in places)
        case SinceThen(relation, variables, left, right):
            domains = _domains(deployment, relation.sorts, variables, now)
            for sigma in solutions(right, domains, now, {}):
                yield tuple(sigma[name] for name in variables)
            for values in () if before is None else before.tuples(relation.name):
                known = all(value in domains[name] for name, value in zip(variables, values, strict=True))
                if known and holds(left, now, dict(zip(variables, values, strict=True))):
                    yield values
        case Before(relation, variables, body):
            if before is not None:
                here, there = (_domains(deployment, relation.sorts, variables, s) for s in (now, before))
                domains = {name: here[name] & there[name] for name in variables}
                for sigma in solutions(body, domains, before, {}):
                    yield tuple(sigma[name] for name in variables)
        case _:
            assert_never(kept)


def _domains(
    deployment: Deployment, sorts: tuple[str, ...], variables: tuple[str, ...], state: Instance
) -> Mapping[str, frozenset[Value]]:
    """Return for each variable the values that are active in the state, and the constants of its sort."""
    return {
        name: state.active_domain[sort].union(deployment.constants[sort])
        for name, sort in zip(variables, sorts, strict=True)
    }
