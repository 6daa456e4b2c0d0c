"""The options that name the agents of a command line, and those for the queries to a model."""

from __future__ import annotations

import argparse

from stead_sym.agents.prompts.paper import PAPER_PROMPTS, VARIABLE
from stead_sym.cli.numbers import probability, seconds, temperature, tolerance
from stead_sym.cli.options import Options
from stead_sym.cli.recorded import RECORDED_KINDS, add_asking
from stead_sym.deployment.parts import ANY
from stead_sym.models.backends import KINDS
from stead_sym.relational.nauty import CANONICAL_SECONDS


def add_agents(parser: argparse.ArgumentParser) -> None:
    """Add --policy, --agent and --replay, and --canonical-timeout for the wrappers around them."""
    several = "; with several agents AGENT=..., and again for the next"
    group = parser.add_argument_group("the agent")
    group.add_argument(
        "--policy", metavar="NAME", action="append", help=f"a policy of the file as the agent{several}"
    )
    group.add_argument(
        "--agent",
        metavar="KIND",
        action="append",
        help=f"one of {', '.join((ANY, *KINDS, *RECORDED_KINDS))}. any: whatever agent, everything can"
        " happen. smollm2: a small model that is fetched when it is first asked for. MODEL: a folder, or a"
        f" name on the hub; of openai:, as the server calls it{several}",
    )
    group.add_argument(
        "--replay",
        metavar="FILE",
        action="append",
        help=f"answer from exported decisions, without a model (JSON Lines; smollm2: those that come with the"
        f" package){several}",
    )
    group.add_argument(
        "--canonical-timeout",
        type=seconds,
        default=CANONICAL_SECONDS,
        metavar="SECONDS",
        help="give up, with status 3, on a context that takes longer to be brought into canonical form"
        f" (default: {CANONICAL_SECONDS:g})",
    )


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for queries to a language model, and those for its possible choices.

    Queries: --prompts, --store and `add_asking`. Choices: --tolerance, --min-probability and --temperature.
    """
    group = parser.add_argument_group("how a model is asked")
    add_prompts(group)
    group.add_argument(
        "--store", metavar="FILE", help="the store of the agents' decisions (default: your own)"
    )
    add_asking(group)
    group.add_argument(
        "--tolerance",
        type=tolerance,
        metavar="D",
        help="let the model select all that comes within D of its choice, in log-probability (default: 0)",
    )
    group.add_argument(
        "--min-probability",
        type=probability,
        metavar="P",
        help="let the model select every call that sampling takes with a probability of at least P",
    )
    group.add_argument(
        "--temperature",
        type=temperature,
        metavar="T",
        help="that of the sampling (default: 1); openai: asked with this (default: 0, with --samples 1)",
    )
    add_engine_options(group)


def add_prompts(parser: Options) -> None:
    """Add --prompts."""
    words = "|".join(PAPER_PROMPTS)
    parser.add_argument(
        "--prompts",
        metavar="DIR|paper[:FILE]",
        help=f"take texts of the model's prompt from files there; {words}: from the paper's source, FILE or"
        f" ${VARIABLE}",
    )


def add_engine_options(parser: Options) -> None:
    """Add --engine-option, for the engine that runs a model."""
    parser.add_argument(
        "--engine-option",
        metavar="KEY=VALUE",
        action="append",
        help="an option of the engine that runs the model, such as dtype=bfloat16; and again for the next",
    )
