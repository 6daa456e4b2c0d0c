"""The agents that a command line names: `--policy`, `--agent` and `--replay`.

One decision: each of them may be given several times, as `AGENT=…` if the deployment has several agents. An
agent without such an option gets its first policy, or is any agent if it has none, and a note is printed.
Modules of agents that few commands have are imported when there is such an agent.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.records.possible import Greedy, Rule, Sampling
from stead_sym.agents.records.store import Store, open_store
from stead_sym.agents.roles import AgentLike, deciding, told_apart, wrap_all
from stead_sym.cli.recorded import ASKED, PYTHON, asked_with, kind_of, recorded_agent
from stead_sym.deployment.deployment import Deployment, Question
from stead_sym.deployment.parts import ANY, AgentRole
from stead_sym.errors import InputError
from stead_sym.models.backends import KINDS, is_server, open_backend
from stead_sym.models.catalogue import CATALOGUE
from stead_sym.models.engine_options import EngineOptions

if TYPE_CHECKING:
    from stead_sym.models.backend import Backend

_KINDS = ("policy", "agent", "replay")
_ANY_MODEL, _DECODED = frozenset({"model", "openai", "replay"}), frozenset({"model", "replay"})
_ANSWERING = frozenset({"python", "openai"})
_FOR: Mapping[str, frozenset[str]] = {
    "prompts": _ANY_MODEL,
    "engine_option": frozenset({"model"}),
    "store": _ANY_MODEL | _ANSWERING,
    "tolerance": _DECODED,
    "min_probability": _DECODED,
    "temperature": _ANY_MODEL,
    "min_mass": _DECODED,
    **dict.fromkeys(ASKED, _ANSWERING),
    **dict.fromkeys(("concurrency", "tries", "deadline"), _ANSWERING | {"server"}),
}
"""The kinds of agents that an option applies to."""


def refuse_without_model(options: argparse.Namespace) -> None:
    """Raise `InputError` for options about kinds of agents of which none is given."""
    kinds = {kind_of(word) for word in options.agent or ()} | ({"replay"} if options.replay else set())
    kinds |= {"server" for word in options.agent or () if is_server(word.rpartition("=")[2])}
    for name, fitting in _FOR.items():
        if getattr(options, name, None) is not None and not kinds & fitting:
            answers = fitting >= _ANSWERING and not fitting >= _ANY_MODEL
            whom = "an agent that answers" if answers else "a language model"
            if fitting == _DECODED:
                whom = "a language model whose tokens are decoded here"
            kind = PYTHON if answers else KINDS[0]
            flag = name.replace("_", "-")
            raise InputError(f"--{flag} is for {whom}; add --agent {kind}, or leave it out")
    if options.temperature is not None and options.min_probability is None and "openai" not in kinds:
        raise InputError("--temperature is that of sampling; add --min-probability P, or leave it out")
    if options.tolerance is not None and options.min_probability is not None:
        raise InputError("--tolerance widens greedy decoding; leave it out, or --min-probability")


def chosen_rule(options: argparse.Namespace) -> Rule | None:
    """Return the rule by which choices of a model are possible, or None if no option gives one."""
    if options.min_probability is not None:
        return Sampling(options.min_probability, options.temperature or 1.0)
    return None if options.tolerance is None else Greedy(options.tolerance)


def chosen_agents(deployment: Deployment, options: argparse.Namespace) -> Mapping[str, AgentLike]:
    """Return the agents of the options, by name, in their wrappers.

    Another agent is its first policy, or otherwise selects everything offered.
    """
    chosen = {
        role.name: _agent(deployment, role, kind, word, options)
        for role, kind, word in _words(deployment, options)
    }
    wrappers = wrap_all(deployment, chosen, canonical_timeout=options.canonical_timeout)
    return {name: wrapper or ANY for name, wrapper in wrappers.items()}


def asked_names(
    deployment: Deployment, agents: Mapping[str, AgentLike], questions: Sequence[Question] | None
) -> list[str]:
    """Return the names of the requested specifications, by default of all that are for these agents."""
    return [spec.name for spec in deployment.asked(questions, deciding(deployment, agents))[1]]


def deciding_words(deployment: Deployment, options: argparse.Namespace) -> Mapping[str, str]:
    """Return the name of what decides for each agent, as in `roles.deciding`, without opening a model."""
    return {
        role.name: (role.policies[0].name if role.policies else ANY)
        if not kind
        else word
        if kind == "policy" or word == ANY
        else ""
        for role, kind, word in _words(deployment, options)
    }


def _words(deployment: Deployment, options: argparse.Namespace) -> Iterator[tuple[AgentRole, str, str]]:
    """Yield each agent with its option and the word of it, both empty if there is none."""
    given = {kind: told_apart(deployment, getattr(options, kind) or ()) for kind in _KINDS}
    for role in deployment.agents:
        own = [(kind, named[role.name]) for kind, (named, _) in given.items() if role.name in named]
        asked = own or [(kind, others) for kind, (_, others) in given.items() if others is not None]
        if len(asked) > 1:
            who = f"agent {role.name}" if role.name else "the agent"
            raise InputError(f"{who} is given by --{asked[0][0]} and by --{asked[1][0]}; leave one out")
        yield (role, *(asked[0] if asked else ("", "")))


def _agent(
    deployment: Deployment, role: AgentRole, kind: str, word: str, options: argparse.Namespace
) -> AgentLike:
    match kind:
        case "policy":
            return deployment.policy(word, role)
        case "replay":
            from stead_sym.agents.records.replay import ReplayAgent

            return ReplayAgent(word, Prompt.of(deployment, options.prompts, role), chosen_rule(options))
        case "agent" if kind_of(word) in _ANSWERING:

            def prompted() -> Prompt:
                return Prompt.of(deployment, options.prompts, role)

            return recorded_agent(
                word,
                prompted,
                lambda: _store(options),
                named_store=options.store is not None,
                given=asked_with(options),
                temperature=options.temperature,
            )
        case "agent" if word in {policy.name for policy in role.policies} and word not in CATALOGUE:
            prefix = f"{role.name}=" if role.name else ""
            raise InputError(f"{word} is a policy; write --policy {prefix}{word}")
        case "agent" if word != ANY:
            from stead_sym.models.agent import ModelAgent

            prompt, store = Prompt.of(deployment, options.prompts, role), _store(options)
            return ModelAgent(_backend(word, options), prompt, store, chosen_rule(options))
        case "agent":
            return ANY
        case _:
            return _default(deployment, role, options)


def _backend(word: str, options: argparse.Namespace) -> Backend:
    """Return the model that a word names, loaded once for any number of agents."""
    loaded: dict[str, Backend] = options.__dict__.setdefault("loaded", {})
    if word not in loaded:
        loaded[word] = opened(word, options)
    return loaded[word]


def opened(word: str, options: argparse.Namespace) -> Backend:
    """Return the model that a word names, under the engine's options; slow steps are noted on stderr."""
    from stead_sym.models.connection import Patience

    given = EngineOptions.parse(options.engine_option or ())
    waits = {"request": getattr(options, "deadline", None), "tries": getattr(options, "tries", None)}
    patience = Patience(**{name: value for name, value in waits.items() if value is not None})
    return open_backend(
        word,
        given,
        say=lambda line: _note(options, line),
        patience=patience,
        in_flight=getattr(options, "concurrency", None),
    )


def _store(options: argparse.Namespace) -> Store:
    """Return the store, opened once."""
    if "opened_store" not in options.__dict__:
        options.opened_store = open_store(options.store)
    store: Store = options.opened_store
    return store


def _default(deployment: Deployment, role: AgentRole, options: argparse.Namespace) -> AgentLike:
    whose = f" for agent {role.name}" if role.name else ""
    prefix = f"{role.name}=" if role.name else ""
    if not role.policies:
        has = f"agent {role.name}" if role.name else deployment.name
        _note(options, f"{has} has no policy: taking any agent, whatever it selects")
        return ANY
    first, *others = role.policies
    choices = "".join(f" --policy {prefix}{policy.name}," for policy in others)
    _note(options, f"taking policy {first.name}{whose}; for another agent:{choices} --agent {prefix}{ANY}")
    return first


def _note(options: argparse.Namespace, text: str) -> None:
    if not getattr(options, "quiet", False):
        print(f"stead-sym: {text}", file=sys.stderr, flush=True)
