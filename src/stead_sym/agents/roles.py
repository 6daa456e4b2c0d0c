"""Convert a user's specification of the agents of a deployment to their canonical wrappers.

One decision: the result has every agent of the deployment by its name, a single one under the empty name, and
None for an agent that selects everything it is offered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from stead_sym.agents.base import Agent, Everything
from stead_sym.agents.rules import RuleAgent
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import ANY as ANY
from stead_sym.deployment.parts import AgentRole, Policy
from stead_sym.errors import DeclarationError, InputError
from stead_sym.logic.names import nearest
from stead_sym.relational.nauty import CANONICAL_SECONDS
from stead_sym.relational.schema import Value
from stead_sym.support.printable import without_credentials

if TYPE_CHECKING:
    from stead_sym.agents.python import Decider

AgentLike: TypeAlias = "Agent | Policy | CanonicalWrapper | Decider | str"
"""A policy of the deployment, or its name; `any`; a function from a context to calls; an agent."""

Wrappers: TypeAlias = Mapping[str, CanonicalWrapper | None]
"""The wrapped agents of a deployment by name; None for one that selects everything offered."""


def known_values(wrappers: Wrappers) -> frozenset[Value]:
    """Return the values that some wrapped agent knows by name, besides those of rigid sorts."""
    return frozenset(value for one in wrappers.values() if one is not None for value in one.known)


def wrap_all(
    deployment: Deployment,
    given: AgentLike | Mapping[str, AgentLike],
    *,
    canonical_timeout: float = CANONICAL_SECONDS,
) -> Wrappers:
    """Return the wrapper of each agent of the deployment.

    ``given`` is for the only agent, or a mapping from the names of several; a string, the name of a policy or
    `any`, may apply to all of them. Raise `DeclarationError` for an unknown agent or policy, `InputError` if
    an agent is missing in the mapping, `TypeError` for an object that is no agent.
    """
    roles = deployment.agents
    if isinstance(given, Mapping):
        for name in given:
            deployment.agent(name)  # raises if it is unknown
        for role in roles:
            if role.name not in given:
                raise InputError(
                    f"agent {role.name} is given nothing; name a policy of it, a model, or `{ANY}`"
                )
        return MappingProxyType(
            {
                role.name: wrap(deployment, given[role.name], role, canonical_timeout=canonical_timeout)
                for role in roles
            }
        )
    if len(roles) > 1 and not isinstance(given, str):
        names = ", ".join(role.name for role in roles)
        raise InputError(f"there are several agents ({names}); say which is which, with a mapping of names")
    return MappingProxyType(
        {role.name: wrap(deployment, given, role, canonical_timeout=canonical_timeout) for role in roles}
    )


def wrap(
    deployment: Deployment,
    agent: AgentLike,
    role: AgentRole | None = None,
    *,
    canonical_timeout: float = CANONICAL_SECONDS,
) -> CanonicalWrapper | None:
    """Return the canonical wrapper around one agent, in its role, by default that of the first agent.

    None for the agent that selects everything offered. ``canonical_timeout`` is for a wrapper that is created
    here.

    Raise `DeclarationError` for an unknown policy, `TypeError` for an object that is no agent, `InputError`
    for a wrapper over another schema.
    """
    role = role or deployment.agents[0]
    base: Agent
    schema = deployment.schema
    known: Mapping[str, str] = {}
    match agent:
        case CanonicalWrapper():
            if isinstance(agent.agent, RuleAgent) and agent.agent.tells_of_steps:
                return wrap(deployment, agent.agent.name, role, canonical_timeout=canonical_timeout)
            if agent.schema != deployment.schema:
                raise InputError(f"the wrapper is of another schema than {deployment.name}; make one for it")
            return agent.again()
        case "any" | Everything():
            return None
        case str(name):
            if ":" in name:
                raise DeclarationError(
                    f"{name} is no policy; a model is `ModelAgent(open_backend({name!r}),"
                    " Prompt.of(deployment))`"
                )
            policy = deployment.policy(name, role)
            return wrap(deployment, policy, role, canonical_timeout=canonical_timeout)
        case Policy(name):
            plain = deployment.unfollowed
            if agent not in (deployment.policy(name, role), plain.policy(name, plain.agent(role.name))):
                raise DeclarationError(
                    f"the policy {name} given is another than that of {deployment.name}; give the name of one"
                )
            rules = RuleAgent.of(deployment, name, role)
            named = rules.constants - deployment.schema.rigid
            base, known = rules, {value: deployment.sort_of_constant[value] for value in named}
            schema = schema.revealing(rules.told)
        case RuleAgent() if agent.tells_of_steps:
            return wrap(deployment, agent.name, role, canonical_timeout=canonical_timeout)
        case type():
            raise TypeError(f"the agent is the class {agent.__name__}; give an object of it")
        case Agent():
            base = agent
        case _ if callable(agent):
            from stead_sym.agents.python import PythonAgent

            base = PythonAgent(agent)
        case _:
            raise TypeError(f"{agent!r} is no agent; give a policy, a function of a context, or `any`")
    return CanonicalWrapper(
        base, schema, deployment.tools_of(role), known, canonical_timeout=canonical_timeout
    )


def deciding(deployment: Deployment, given: AgentLike | Mapping[str, AgentLike]) -> Mapping[str, str]:
    """Return the policy of each agent: its name, `any`, or "" for any other agent."""
    each = given if isinstance(given, Mapping) else {role.name: given for role in deployment.agents}
    return {role.name: _deciding(each.get(role.name)) for role in deployment.agents}


def _deciding(agent: AgentLike | None) -> str:
    match agent:
        case str(name) | Policy(name):
            return name
        case Everything():
            return ANY
        case CanonicalWrapper():
            return _deciding(agent.agent)
        case RuleAgent():
            return agent.name
        case _:
            return ""


def named(deciding: Mapping[str, str]) -> str:
    """Return the policies in words: `careful`, or with several agents `triage=careful, pay=any`."""
    return ", ".join(f"{name}={who}" if name else who for name, who in deciding.items())


def named_wrappers(wrappers: Wrappers, anybody: str = ANY) -> str:
    """Return `named` of wrapped agents, with ``anybody`` for one that selects everything offered."""
    return named({name: anybody if made is None else made.agent.name for name, made in wrappers.items()})


def by_agent(deployment: Deployment, words: Iterable[str]) -> Mapping[str, str]:
    """Return `triage=careful pay=any` as a mapping from agents' names; see `told_apart`."""
    named, others = told_apart(deployment, words)
    everybody = {} if others is None else {role.name: others for role in deployment.agents}
    return {**everybody, **named}


def told_apart(deployment: Deployment, words: Iterable[str]) -> tuple[Mapping[str, str], str | None]:
    """Return the values of words `AGENT=…` by agent, and the word for all other agents.

    If there is one agent, a word applies to it, whatever its form. Raise `InputError` for two words for one
    agent, `DeclarationError` for an unknown agent.
    """
    names = [role.name for role in deployment.agents]
    found: dict[str, str] = {}
    others: str | None = None
    for word in words:
        name, equals, value = word.partition("=")
        if names == [""] or not equals:
            if others is not None:
                both = without_credentials(f"{others} and {word}")
                raise InputError(f"{both} are for the same agents; write AGENT=… for each")
            others = word
        elif name not in names:
            hint = nearest(name, names, f"there are {', '.join(names)}")
            raise DeclarationError(f"unknown agent {without_credentials(name)}; {hint}")
        elif name in found:
            both = without_credentials(f"{found[name]} and {value}")
            raise InputError(f"agent {name} is given twice, {both}; give it one")
        else:
            found[name] = value
    return found, others
