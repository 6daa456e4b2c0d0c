"""Audit of the hypotheses of the theorem of exact finite verification: the status of each, with its reason.

One decision: a hypothesis that a run breaks ends the exploration with that run (`deployment.faults`). So no
hypothesis is ever reported as false; it is established or it is not. A property that was checked in every
state is not established if the domain is too small, or if an agent is not equivariant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from stead_sym.agents.records.answer import recorded_answers
from stead_sym.agents.records.repeated import repeated
from stead_sym.agents.records.weight import percent, weight
from stead_sym.agents.roles import Wrappers
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import Restriction
from stead_sym.engines.protocol import Engine
from stead_sym.errors import DefinitionError
from stead_sym.relational.schema import Value
from stead_sym.verification.findings.reached import nowhere_fair
from stead_sym.verification.hypotheses import Activity, Hypotheses, Hypothesis
from stead_sym.verification.options import Options
from stead_sym.verification.readings import left_out, no_fair_run
from stead_sym.verification.widened import widened

OF_THE_LANGUAGE = (
    Hypothesis(
        "offer and effects are equivariant",
        "by construction",
        "guards, views and effects are first-order formulas with constants in C",
    ),
    Hypothesis(
        "constants of the specifications are in C",
        "by construction",
        "a name in a formula is a variable or a constant of the deployment",
    ),
)
"""The hypotheses that every deployment satisfies by the definition of the language."""


def audit(
    deployment: Deployment,
    wrappers: Wrappers,
    restriction: Restriction,
    explored: Engine | DefinitionError | None,
    options: Options,
) -> Hypotheses:
    """Return the hypotheses of a verification.

    ``explored`` is the `Engine` if the exploration is complete; the hypotheses that engines check are then
    established. Otherwise it is the fault that ended the exploration, or None while the exploration goes on.
    """
    transfer = (_domain(restriction), *of_agents(deployment, wrappers, options))
    about_states = (*_explored(deployment, explored), *_fair(deployment, wrappers, explored))
    if any(one.status == "not established" for one in transfer):
        about_states = tuple(map(_as_explored, about_states))
    return Hypotheses(
        (
            *about_states,
            *OF_THE_LANGUAGE,
            *transfer,
            *of_decisions(wrappers, options.min_mass),
        ),
        {} if isinstance(explored, DefinitionError | None) else _activity(deployment, explored),
        () if explored is None else tuple(widened(deployment, wrappers)),
    )


def _as_explored(one: Hypothesis) -> Hypothesis:
    if one.status == "not established":
        return one
    return replace(one, status="not established", how=f"as explored: {one.how}")


def _activity(deployment: Deployment, engine: Engine) -> Mapping[str, Activity]:
    return {sort: Activity(bound, engine.most_active[sort]) for sort, bound in deployment.bounds.items()}


def _explored(deployment: Deployment, explored: Engine | DefinitionError | None) -> Iterator[Hypothesis]:
    """Yield the hypotheses that are checked in every reachable state."""
    if isinstance(explored, DefinitionError | None):
        how, doubt = _ended(explored)
        for name in ("bounded", "serial", "keys hold"):
            yield Hypothesis(name, "not established", how, "exploration", doubt)
        return
    if explored.open_leaps:
        why = leaps_in_words(explored.open_leaps)
        yield Hypothesis("bounded", "not established", why, "exploration", f"within the bounds; {why}")
    else:
        active = _activity(deployment, explored)
        seen = ", ".join(f"{sort} {a.most} of {a.bound}" for sort, a in active.items())
        how = f"in every reachable state; most active outside C: {seen}" if seen else "every sort is finite"
        yield Hypothesis("bounded", "established", how, "exploration")
    events = any(not event.stays for event in deployment.events)
    acts = (
        "offers a call"
        + " or enables an event" * events
        + " or is terminal" * bool(deployment.written.terminal)
    )
    how = f"every reachable state {acts}, and each of these has a successor"
    yield Hypothesis("serial", "established", how, "exploration")
    keyed = [relation.name for relation in deployment.schema.relations if relation.keys]
    how = f"of {', '.join(keyed)}, in every reachable state" if keyed else "none is declared"
    yield Hypothesis("keys hold", "established", how, "exploration")
    if named := [reference.name for reference in deployment.schema.references]:
        how = f"{', '.join(named)}, in every reachable state"
        yield Hypothesis("references hold", "established", how, "exploration")


def _ended(explored: DefinitionError | None) -> tuple[str, str]:
    """Return why not all states are known, and the reason for a verdict that needs all of them."""
    if explored is None:
        return ("the exploration has not come to its end",) * 2
    how = f"the exploration ended with a run that breaks `{explored.claim}`: {explored.trace.claim}"
    return how, f"`{explored.claim}` fails, and with the run that breaks it the exploration has ended"


def leaps_in_words(open_leaps: Mapping[tuple[str, int], str]) -> str:
    """Return why it is not decided if the bounds are kept."""
    (name, _), why = next(iter(open_leaps.items()))
    return f"whether {name} exceeds a bound is not decided: {why}"


def _fair(
    deployment: Deployment, wrappers: Wrappers, explored: Engine | DefinitionError | None
) -> Iterator[Hypothesis]:
    """Yield the hypothesis that the `fair` lines are machine-closed, if there are any."""
    name = "fairness leaves nothing out"
    if isinstance(explored, DefinitionError | None):
        if deployment.fair:
            yield Hypothesis(name, "not established", _ended(explored)[0], "fairness")
    elif explored.hidden is not None:
        how = left_out(explored.hidden, deployment, wrappers)
        why = no_fair_run(one.text for one in nowhere_fair(deployment, explored))
        yield Hypothesis(name, "not established", how, "fairness", why)
    elif deployment.fair:
        how = "a fair run starts in every reachable state, so that every finite run is the beginning of one"
        yield Hypothesis(name, "established", how, "fairness")


def _domain(restriction: Restriction) -> Hypothesis:
    name, sizes = "the domain is large enough", "; ".join(map(str, restriction.derivation.values()))
    if restriction.exact:
        return Hypothesis(name, "established", sizes)
    small = ", ".join(
        f"{d.sort}={d.size} (the theorem asks for {d.required})"
        for d in restriction.derivation.values()
        if d.size < d.required
    )
    return Hypothesis(name, "not established", sizes, doubt=f"on the forced domain {small}")


def of_agents(deployment: Deployment, wrappers: Wrappers, options: Options) -> Iterator[Hypothesis]:
    """Yield the hypothesis that each agent is equivariant, that is, treats values outside C symmetrically.

    It is established if the values B that the agent distinguishes satisfy B ⊆ C.
    """
    for role in deployment.agents:
        wrapper = wrappers[role.name]
        name = f"{_who(role.name)} is equivariant"
        if wrapper is None:
            yield Hypothesis(name, "by construction", "whatever is offered may happen")
        elif not (beyond := _beyond(deployment, wrapper)):
            how = "the canonical wrapper asks it once per isomorphism class of contexts"
            if not options.wrapped:
                how = "every value of the domain is a constant, so that there is nothing to treat alike"
            yield Hypothesis(name, "by construction", how)
        else:
            how = f"it knows {beyond[0]}, which is no constant of the deployment"
            doubt = (
                f"on the literal domain for an agent that tells {beyond[0]} from other values;"
                " nothing carries over without the wrapper"
            )
            if not options.wrapped:
                how = "it is asked without the wrapper"
            yield Hypothesis(name, "not established", how, doubt=doubt)


def _beyond(deployment: Deployment, wrapper: CanonicalWrapper) -> list[Value]:
    """Return B minus C, which must be empty by the theorem."""
    constants, rigid = deployment.sort_of_constant, deployment.schema.rigid
    known = wrapper.known.items()
    return sorted(value for value, sort in known if value not in rigid and constants.get(value) != sort)


def _who(agent: str) -> str:
    return f"agent {agent}" if agent else "the agent"


def of_decisions(wrappers: Wrappers, min_mass: float | None) -> Iterator[Hypothesis]:
    """Yield the hypotheses on the agents' decisions that the theorem does not have."""
    for agent, wrapper in wrappers.items():
        if wrapper is not None:
            yield from _weight(_who(agent), wrapper, min_mass)
    for agent, wrapper in wrappers.items():
        if wrapper is not None:
            yield from _repetition(_who(agent), wrapper)


def _weight(who: str, wrapper: CanonicalWrapper, min_mass: float | None) -> Iterator[Hypothesis]:
    """Yield the hypothesis that a language model gives the offered calls enough of its probability."""
    weighed = weight(recorded_answers(wrapper.agent, wrapper.decisions))
    if weighed is None:
        return
    if min_mass is not None:
        light, partly = len(weighed.below(min_mass)), len(weighed.partly_known)
        whole = "" if weighed.whole is None else f", and {percent(weighed.whole)} over a whole answer"
        doubt = ""
        if light:
            doubt = (
                f"as the model decides, which gives the offered calls of {light} context{'s' * (light > 1)}"
                " less of its probability than is asked for (--min-mass)"
            )
        elif partly:
            doubt = (
                f"as the model decides, of which it is not known in {partly} context{'s' * (partly > 1)} how"
                " likely it writes the forced tokens of a call (--min-mass counts them; run the model as hf:"
                " or llama:)"
            )
        yield Hypothesis(
            f"{who} means the offered calls",
            "not established" if doubt else "established",
            f"it gives them {percent(weighed.mass)} of its probability or more at every branching node"
            f"{whole}; {percent(min_mass)} is asked for, and {light} of {len(weighed.answers)} decisions"
            " have less" + f"; of {partly} the forced tokens are not known" * (partly > 0),
            "decisions",
            doubt,
        )
    if weighed.sampling is not None:
        yield Hypothesis(
            f"what {who} may sample is possible",
            "by construction",
            f"{weighed.sampling}: of all that it may sample in a context, at least"
            f" {percent(weighed.covered)} is taken to be possible; the verdicts leave out the rest",
            "decisions",
        )


def _repetition(who: str, wrapper: CanonicalWrapper) -> Iterator[Hypothesis]:
    """Yield a hypothesis on repeated answers: several samples stand for the agent, or its answers differ."""
    told = repeated(recorded_answers(wrapper.agent, wrapper.decisions))
    if told is None:
        return
    if told.samples > 1:
        yield Hypothesis(
            f"what {who} answered is possible",
            "by construction",
            f"it was asked {told.samples} times wherever it has a choice, and answered differently in"
            f" {len(told.divided)} of {len(told.again)} contexts; the verdicts leave out what it did not"
            " answer then",
            "decisions",
        )
    elif told.unsteady:
        count = f"in {len(told.unsteady)} of {len(told.again)} contexts"
        yield Hypothesis(
            f"{who} answers alike",
            "not established",
            f"asked again, it answers differently {count}",
            "decisions",
            f"with what {wrapper.agent.name} answered, which answers differently when it is asked again"
            f" ({count}; ask it several times)",
        )
