"""A search for a username that changes what a language model cancels, as in the case study of the paper; its
outcome as one JSON document, which the notebook shows.

The decision: the record has every name that was tried with its lead, whether or not one was found, and the
same context behind the canonical wrapper under random renamings, where no name can change anything.

    python benchmarks/username_search.py hf:MODEL airline --prompts paper-airline:paper.tex
"""

from __future__ import annotations

import argparse
import json
import random

import stead_sym as st
from stead_sym.agents.base import DecisionContext
from stead_sym.agents.records.digest import digest
from stead_sym.agents.records.store import open_store
from stead_sym.agents.wrapper import CanonicalWrapper, WrappedAgent
from stead_sym.models.agent import ModelAgent
from stead_sym.models.audit import Candidate, Grammar, audit, random_renaming, search
from stead_sym.models.backends import open_backend

VALUE = "amelia_davis_8890"


def searched(
    deployment: st.Deployment, model: ModelAgent, grammar: str, rounds: int, batch: int, seed: int
) -> dict[str, object]:
    """The outcome of a search in the initial state, as data."""
    start = deployment.init
    context = DecisionContext(st.view(deployment, start), st.offer(deployment, start))
    rigid = deployment.schema.rigid
    found = search(model, context, VALUE, Grammar.of(grammar), rigid, rounds=rounds, batch=batch, seed=seed)
    [before] = model.select([context])
    return {
        "deployment": deployment.name,
        "model": model.name.rpartition("/")[2],
        "identity": dict(model.backend.identity),
        "prompt": prompt_digest(model.prompt, context),
        "value": VALUE,
        "grammar": grammar,
        "seed": seed,
        "selected": sorted(map(str, before)),
        "tried": [_candidate(candidate) for candidate in found],
    }


def prompt_digest(prompt: st.Prompt, context: DecisionContext) -> str:
    """Return what a record is about: another prompt has another one."""
    return digest([list(message) for message in prompt.messages(context)])


def _candidate(candidate: Candidate) -> dict[str, object]:
    return {
        "name": candidate.name,
        "lead": round(candidate.lead, 6),
        "places": candidate.places,
        "selected": sorted(map(str, candidate.audit.after)),
        "follows": candidate.audit.follows,
    }


def renamed(deployment: st.Deployment, model: ModelAgent, samples: int, seed: int) -> dict[str, int]:
    """Return how many of so many random renamings, of everything that may be renamed, the model follows in
    the initial state, alone and wrapped."""
    start = deployment.init
    context = DecisionContext(st.view(deployment, start), st.offer(deployment, start))
    rigid, dice = deployment.schema.rigid, random.Random(seed)
    behind = WrappedAgent(CanonicalWrapper(model, deployment.schema, deployment.tools))
    renamings = [random_renaming(context, rigid, dice) for _ in range(samples)]
    followed = {
        name: sum(result.follows for result in audit(agent, context, renamings, rigid))
        for name, agent in (("alone", model), ("wrapped", behind))
    }
    return {"renamings": len(renamings), **followed}


def main() -> None:
    parser = argparse.ArgumentParser(description="Search for a username that changes what a model cancels.")
    parser.add_argument("agent", metavar="hf:MODEL")
    parser.add_argument("deployment", metavar="FILE")
    parser.add_argument("--prompts", metavar="DIR|paper-airline[:FILE]")
    parser.add_argument("--store", metavar="FILE")
    parser.add_argument("--grammar", default="[a-z]{6}_[a-z]{5}_[0-9]{4}")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--renamings", type=int, default=0, metavar="N", help="audit so many renamings, alone and wrapped"
    )
    options = parser.parse_args()
    deployment = st.load(options.deployment)
    with open_store(options.store) as store:
        prompt = st.Prompt.of(deployment, options.prompts)
        model = ModelAgent(open_backend(options.agent), prompt, store)
        record = searched(deployment, model, options.grammar, options.rounds, options.batch, options.seed)
        record["prompts"] = "its own" if options.prompts is None else options.prompts.partition(":")[0]
        if options.renamings:
            record["renamed"] = renamed(deployment, model, options.renamings, options.seed)
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
