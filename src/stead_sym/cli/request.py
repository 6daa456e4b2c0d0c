"""The options that make a `Request`, and the request of a command line.

The modules of agents are imported for the commands that have their options: others start faster without.
"""

from __future__ import annotations

import argparse

from stead_sym.cli.options import add_domain, add_file, add_formulas, add_harness, add_specs, harness_of
from stead_sym.verification.request import Request

DOMAIN = (
    "normal: fresh values have representatives (default, symbolic engine only); theorem: the literal domain"
    " (default of the explicit engine); SORT=N: that one, with more values of some sorts"
)
"""The help of --domain for a command that has --engine."""


def add_request(
    parser: argparse.ArgumentParser, *, questions: bool = False, domain_help: str | None = None
) -> None:
    """Add FILE, the agents and the harness.

    ``questions`` adds the options for specifications and formulas, and ``domain_help`` adds --domain.
    """
    from stead_sym.cli.agent_options import add_agents, add_model_options

    add_file(parser)
    add_agents(parser)
    asking = parser.add_argument_group("what is asked")
    add_harness(asking)
    if questions:
        add_specs(asking)
        add_formulas(asking)
    if domain_help is not None:
        add_domain(asking, domain_help)
    add_model_options(parser)


def request_of(options: argparse.Namespace) -> Request:
    """Return the request of the options that the command has.

    Raises `InputError` for options of language models without a model.
    """
    if "tolerance" in options:
        from stead_sym.cli.agents import refuse_without_model

        refuse_without_model(options)
    given = {name: getattr(options, name, None) for name in ("policy", "agent", "replay")}
    policies, agents, replays = (tuple(values or ()) for values in given.values())
    specs, formulas = getattr(options, "spec", None), getattr(options, "formula", None)
    return Request(
        file=options.file,
        policies=policies,
        agents=agents,
        replays=replays,
        harness=harness_of(options),
        specs=None if specs is None else tuple(specs),
        formulas=None if formulas is None else tuple(formulas),
        domain=getattr(options, "domain", None),
    )
