"""`stead-sym models audit`: equivariance of an agent's choices under renamings of its context.

One decision: the contexts are numbered. Number 0 is the initial state as the file names it; the others are
the canonical contexts that a verification meets, in their order.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Mapping, Sequence
from itertools import islice

from stead_sym.agents.base import Agent, DecisionContext
from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.records.store import Store, open_store
from stead_sym.agents.roles import ANY, AgentLike, by_agent
from stead_sym.agents.selection import decision_contexts
from stead_sym.agents.wrapper import CanonicalWrapper, WrappedAgent
from stead_sym.cli.agent_options import add_engine_options, add_prompts
from stead_sym.cli.agents import opened
from stead_sym.cli.numbers import positive
from stead_sym.cli.options import add_file, add_harness
from stead_sym.cli.recorded import RECORDED_KINDS, kind_of, recorded_agent
from stead_sym.cli.request import request_of
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole
from stead_sym.errors import InputError
from stead_sym.models.agent import ModelAgent
from stead_sym.models.audit import Audit, Grammar, audit, random_renaming, search
from stead_sym.models.backends import KINDS
from stead_sym.relational.schema import Value
from stead_sym.support.printable import printable
from stead_sym.verification.verify import verify


def add_audit(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `audit`."""
    parser.set_defaults(run=_audit)
    add_file(parser)
    add_harness(parser)
    parser.add_argument(
        "--agent",
        metavar="|".join((*KINDS, *RECORDED_KINDS)),
        required=True,
        help="the model; where the deployment has several agents AGENT=..., for the one to audit",
    )
    add_prompts(parser)
    parser.add_argument(
        "--store", metavar="FILE", help="the store of the model's decisions (default: your own)"
    )
    add_engine_options(parser)
    parser.add_argument("--wrapped", action="store_true", help="audit the model behind the canonical wrapper")
    parser.add_argument(
        "--context", type=int, metavar="N", help="only this one; 0: the initial state as the file names it"
    )
    parser.add_argument(
        "--samples", type=positive, default=20, metavar="N", help="so many random renamings each"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument(
        "--rename", metavar="OLD=NEW", nargs="+", help="this renaming of the context instead of random ones"
    )
    parser.add_argument(
        "--search", metavar="VALUE", help="search for a name of VALUE that breaks equivariance"
    )
    parser.add_argument(
        "--grammar", default="[a-z]{4}[0-9]{4}", help="the names to search, such as [a-z]{4}[0-9]{4}"
    )
    parser.add_argument("--rounds", type=positive, default=20, metavar="N", help="rounds of the search")


def _audit(options: argparse.Namespace) -> int:
    deployment = request_of(options).load().following((), {})
    renaming = _renaming(options.rename or [])
    grammar = Grammar.of(options.grammar)
    role, words = _audited(deployment, options.agent)
    with open_store(options.store) as store:
        model = _agent(deployment, role, words, store, options)
        contexts = _contexts(deployment, role, model, options.context)
        if options.search is not None:
            if not isinstance(model, ModelAgent):
                raise InputError(f"--search compares log-probabilities; name a model, {KINDS[0]}")
            return _search(deployment, model, contexts, grammar, options)
        agent: Agent = model
        if options.wrapped:
            agent = WrappedAgent(CanonicalWrapper(model, deployment.schema, deployment.tools_of(role)))
        if not contexts:
            print("in no context is more than one call offered: there is no choice to audit")
        dice = random.Random(options.seed)
        broken = False
        for number, context in contexts.items():
            fixed = deployment.schema.rigid
            renamings = [renaming] if renaming else _sample(context, fixed, dice, options.samples)
            results = audit(agent, context, renamings, fixed)
            broken |= _print(number, context, results)
    return 1 if broken else 0


def _agent(
    deployment: Deployment, role: AgentRole, words: str, store: Store, options: argparse.Namespace
) -> Agent:
    """Return the agent to audit."""
    if kind_of(words) in ("python", "openai"):
        return recorded_agent(
            words,
            lambda: Prompt.of(deployment, options.prompts, role),
            lambda: store,
            named_store=options.store is not None,
        )
    return ModelAgent(opened(words, options), Prompt.of(deployment, options.prompts, role), store)


def _search(
    deployment: Deployment,
    model: ModelAgent,
    contexts: Mapping[int, DecisionContext],
    grammar: Grammar,
    options: argparse.Namespace,
) -> int:
    if len(contexts) != 1:
        raise InputError("--search is of one context; name it with --context N")
    [context] = contexts.values()
    rigid = deployment.schema.rigid
    found = search(model, context, options.search, grammar, rigid, rounds=options.rounds, seed=options.seed)
    for candidate in found[:5]:
        verb = "follows" if candidate.audit.follows else "breaks"
        line = (
            f"{candidate.lead:10.4f}  {verb}  {options.search}={candidate.name}  ({candidate.places} places)"
        )
        print(printable(line))
    broken = [candidate for candidate in found if not candidate.audit.follows]
    print(f"{len(found)} names tried, {len(broken)} of them change the choice")
    if broken:
        print(_difference(broken[0].audit))
    return 1 if broken else 0


def _audited(deployment: Deployment, word: str) -> tuple[AgentRole, str]:
    """Return the agent to audit, and the words that name its model. Other agents may do anything."""
    given = by_agent(deployment, [word])
    if len(given) > 1:
        names = ", ".join(given)
        raise InputError(
            f"there are several agents ({names}); name the one to audit, as --agent AGENT={word}"
        )
    [(name, words)] = given.items()
    return deployment.agent(name), words


def _contexts(
    deployment: Deployment, role: AgentRole, model: Agent, number: int | None
) -> dict[int, DecisionContext]:
    """Return the contexts to audit, by number: the given one, or all in which there is a choice."""
    initial = dict(enumerate(islice(decision_contexts(deployment, None, deployment.init, role), 1)))
    if number == 0 and initial:
        return initial
    agents: dict[str, AgentLike] = dict.fromkeys((agent.name for agent in deployment.agents), ANY)
    agents[role.name] = model
    result = verify(deployment, agents, ())
    if result.broken is not None:
        said = f"only contexts met before `{result.broken.claim}` was broken are audited"
        print(f"stead-sym: {said}", file=sys.stderr)
    decided = result.agents[role.name].decisions
    contexts = initial | dict(enumerate((context for context, _ in decided), 1))
    if number is None:
        return {n: context for n, context in contexts.items() if len(context.calls) > 1}
    if number not in contexts:
        raise InputError(f"there is no context {number}; there are {min(contexts)} to {max(contexts)}")
    return {number: contexts[number]}


def _sample(
    context: DecisionContext, fixed: frozenset[Value], dice: random.Random, samples: int
) -> list[dict[Value, Value]]:
    return [random_renaming(context, fixed, dice) for _ in range(samples)]


def _renaming(words: Sequence[str]) -> dict[Value, Value]:
    renaming: dict[Value, Value] = {}
    for word in words:
        old, equals, new = word.partition("=")
        if not (old and equals and new):
            raise InputError(f"argument --rename: {word!r} is not OLD=NEW; write such as s1=s2 s2=s1")
        renaming[old] = new
    return renaming


def _print(number: int, context: DecisionContext, results: Sequence[Audit]) -> bool:
    """Print one line per context, with the first renaming that was not followed.

    Returns True if there was one.
    """
    broken = [result for result in results if not result.follows]
    followed = f"{len(results) - len(broken)} of {len(results)}"
    print(f"context {number} ({len(context.calls)} calls): {followed} renamings followed")
    if broken:
        print(_difference(broken[0]))
    return bool(broken)


def _difference(result: Audit) -> str:
    moved = " ".join(f"{old}={new}" for old, new in sorted(result.renaming.items()) if old != new)
    texts = (", ".join(map(str, sorted(calls))) for calls in (result.before, result.expected, result.after))
    return "  {}\n  before    {}\n  expected  {}\n  after     {}".format(*map(printable, (moved, *texts)))
