"""Describe how a reachable state breaks the definition of a deployment.

One decision: an engine finds a fault and a run that leads to it. The message is made here, so that both
engines give the same one. It has the state, the call, and the remedy. The claim of the run is the condition
that its last state breaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stead_sym.deployment.claims import ALWAYS_A_STEP
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.renaming import named_run
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.semantics import breaks_claim, exceeded
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Trace
from stead_sym.errors import (
    BoundExceeded,
    DefinitionError,
    KeyBroken,
    NoEffect,
    NothingOffered,
    ReferenceBroken,
    Undecided,
    ValueOutOfRange,
)
from stead_sym.relational.instance import Instance, broken_keys, broken_references, out_of_range
from stead_sym.relational.schema import Value

_MAX_FACTS = 12
"""A message lists at most this many facts of a state. The run printed below it has all of them."""


def claim_broken(
    deployment: Deployment, run: Trace
) -> BoundExceeded | KeyBroken | ReferenceBroken | ValueOutOfRange:
    """Return the fault of a run whose last state breaks a claim (`semantics.breaks_claim`)."""
    if any(out_of_range(deployment.schema, run.last)):
        return value_out_of_range(deployment, run)
    if exceeded(deployment, run.last) is not None:
        return bound_exceeded(deployment, run)
    if any(broken_keys(deployment.schema, run.last)):
        return key_broken(deployment, run)
    return reference_broken(deployment, run)


def as_shown(deployment: Deployment, error: DefinitionError, kept: frozenset[Value]) -> DefinitionError:
    """Return the fault of the first state on its run that breaks a bound, a key or a reference.

    Returns the fault itself if there is none before the last state. Generated values other than the ``kept``
    are named from 1 (`deployment.renaming`).
    """
    run, renaming = named_run(deployment, kept, error.trace)
    for number, step in enumerate(run.steps, 1):
        if breaks_claim(deployment, step.state):
            return claim_broken(deployment, replace(run, steps=run.steps[:number]))
    match error:
        case NothingOffered():
            return nothing_offered(deployment, run)
        case NoEffect(call=call):
            return no_effect(deployment, call.rename(renaming), run)
        case _:
            raise AssertionError(f"{error} is no fault of a reachable state")


def bound_exceeded(deployment: Deployment, run: Trace) -> BoundExceeded:
    """Return the fault of a run whose last state has more active values outside C than a bound claims."""
    sort = exceeded(deployment, run.last)
    assert sort is not None, f"every bound holds in {run.last}"
    bound = deployment.bounds.get(sort, 0)
    number = len(run.last.active_domain[sort].difference(deployment.constants[sort]))
    values, are = ("value", "is") if number == 1 else ("values", "are")
    claim = f"{number} {values} of sort {sort} {are} in use besides the constants"
    line = f"`bound {sort} {bound}` claims"
    if sort not in deployment.bound_spans:
        line = f"without a line `bound {sort} {number}` the claim is"
    call = run.steps[-1].call  # every initial state keeps the bounds: a step was taken
    return BoundExceeded(
        f"{claim} after {call}, in {where(run)}, but {line} at most {bound};"
        f" raise the bound, or strengthen the guards that let more in{_of_ensure(deployment, call)}",
        replace(run, claim=claim),
        f"bound {sort} {bound}",
        deployment.bound_spans.get(sort) or deployment.tool(call.tool).span,
    )


def value_out_of_range(deployment: Deployment, run: Trace) -> ValueOutOfRange:
    """Return the fault of a run whose last step writes an integer that is not in the column's sort."""
    fact, column = min(out_of_range(deployment.schema, run.last.database))  # not what is kept of the past
    relation = deployment.schema.relation(fact.relation)
    name, value = relation.sorts[column], fact.args[column]
    listed = deployment.schema.sort(name).values or ()
    call = run.steps[-1].call  # the initial states are instances of the schema: a step was taken
    before = replace(run, steps=run.steps[:-1])
    return ValueOutOfRange(
        f"{call} in {where(before)} writes {fact}, but {name} ends at"
        f" {listed[0] if int(value) < int(listed[0]) else listed[-1]};"
        f" strengthen the guard, or declare `sort {name} = {_wider(listed, value)}`",
        replace(run, claim=f"{value} in {fact} is no value of sort {name}"),
        f"range of {relation.name}",
        deployment.tool(call.tool).span,
    )


def _wider(listed: Sequence[Value], value: Value) -> str:
    """Return the range of a sort, extended to a value outside it."""
    first, last = (int(listed[k]) for k in (0, -1))
    return f"{min(first, int(value))}..{max(last, int(value))}"


def key_broken(deployment: Deployment, run: Trace) -> KeyBroken:
    """Return the fault of a run whose last state has two facts with the same declared key."""
    first, second = min(broken_keys(deployment.schema, run.last))
    relation = deployment.schema.relation(first.relation)
    one = len(relation.keys) == 1
    listed = ", ".join(str(k + 1) for k in relation.keys)
    columns = f"column {listed} of {relation.name} is" if one else f"columns {listed} of {relation.name} are"
    call = run.steps[-1].call  # every initial state keeps the keys: a step was taken
    return KeyBroken(
        f"{first} and {second} both hold after {call}, in {where(run)}, but {columns} a key;"
        f" use `set {relation.name}(…)`, or strengthen the guard{_of_ensure(deployment, call)}",
        replace(run, claim=f"{first} and {second} have the same key"),
        f"key of {relation.name}",
        deployment.tool(call.tool).span,
    )


def reference_broken(deployment: Deployment, run: Trace) -> ReferenceBroken:
    """Return the fault of a run whose last state has a value that is not where a reference claims it."""
    first, reference = min(
        broken_references(deployment.schema, run.last), key=lambda broken: (broken[1].name, broken[0])
    )
    value = first.args[reference.column]
    claim = f"{first} holds, but {value} is in no fact of {reference.target}"
    call = run.steps[-1].call  # every initial state keeps the references: a step was taken
    return ReferenceBroken(
        f"{claim} after {call}, in {where(run)}, where `{reference.name}` claims one; insert or delete the"
        f" two together, or strengthen the guard{_of_ensure(deployment, call)}",
        replace(run, claim=claim),
        reference.name,
        deployment.tool(call.tool).span,
    )


def nothing_offered(deployment: Deployment, run: Trace) -> NothingOffered:
    """Return the fault of a run whose last state offers no call and enables no event."""
    events = any(not event.stays for event in deployment.events)
    nothing = "no call is offered" + " and no event enabled" * events
    gates = f"let {' or '.join(deployment.gated)} allow a call, " if deployment.gated else ""
    idle = "a tool or event" if events else "a tool"
    return NothingOffered(
        f"{nothing} in {where(run)};"
        f" {gates}weaken a guard, or add {idle} that changes nothing for states where all work is done,"
        " or say which these are with `terminal when …`",
        replace(run, claim=nothing),
        ALWAYS_A_STEP,
        next((tool.span for tool in deployment.tools_and_events), None),
    )


def no_effect(deployment: Deployment, call: Call, run: Trace) -> NoEffect:
    """Return the fault of a run whose last state offers a call, or enables an event, without a successor."""
    offered = "enabled" if deployment.tool(call.tool).event else "offered"
    return NoEffect(
        f"{call} is {offered}, but none of its effects applies, in {where(run)};"
        f" strengthen its guard, or let one of its effects apply{_of_ensure(deployment, call)}",
        replace(run, claim=f"{call} is {offered}, but none of its effects applies"),
        f"{call.tool} has an effect",
        deployment.tool(call.tool).span,
        call,
    )


def effect_undecided(call: Call, why: str) -> Undecided:
    """Return the error that it is undecided whether a call has an effect (`deployment.leaps`).

    The deployment may be correct.
    """
    return Undecided(f"unknown: it is not decided whether {call} has an effect: {why}")


def no_successor_within(restriction: Restriction, run: Trace) -> Undecided:
    """Return the error that a forced domain has too few values for a step from the last state.

    The deployment may be correct.
    """
    sizes = ", ".join(f"{sort}={size}" for sort, size in restriction.sizes.items())
    return Undecided(
        f"the domain ({sizes}) has too few values for any step from {where(run)}; take larger sizes"
    )


def _of_ensure(deployment: Deployment, call: Call) -> str:
    """Return a note on the formulas of an `ensure` if the call has one, else an empty text."""
    if deployment.tool(call.tool).has_ensure:
        return (
            " (in `ensure`, P(…) is the state before and P'(…) the one after, where anything may hold"
            " that the formula leaves open)"
        )
    return ""


def where(run: Trace) -> str:
    """Return a description of the last state of a run, with the number of steps that lead to it."""
    steps = len(run.steps)
    if not steps:
        return f"the initial state {_listed(run.last)}"
    return f"{_listed(run.last)}, reached after {steps} {'step' if steps == 1 else 'steps'}"


def _listed(state: Instance) -> str:
    """Return the state as text, cut short if it has many facts."""
    if len(state) <= _MAX_FACTS:
        return str(state)
    first = ", ".join(map(str, list(state)[:_MAX_FACTS]))
    return f"{{ {first}, … and {len(state) - _MAX_FACTS} more facts }}"
