"""`stead-sym explain`: what the symbolic engine will work on, before it explores anything.

One decision: an agent may be given, as to `verify`, but it does not change the plan, which is the same for
all agents; it matters for the remark on tools that its policy never calls.
"""

from __future__ import annotations

import argparse
import json
import sys

from stead_sym.cli.options import add_domain, add_file, add_specs, domain
from stead_sym.errors import InputError
from stead_sym.files import load
from stead_sym.report.explanation import explanation_data, print_explanation
from stead_sym.report.streams import console_on
from stead_sym.symbolic.plan.explain import explain


def add_explain(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `explain`."""
    parser.usage = "stead-sym explain FILE [options]"
    parser.set_defaults(run=_explain)
    add_file(parser)
    agent = parser.add_mutually_exclusive_group()
    agent.add_argument("--policy", metavar="NAME", help="a policy of the file as the agent")
    agent.add_argument("--agent", metavar="any", help="any agent (default)")
    add_specs(parser)
    add_domain(parser, "as for verify (default: normal)")
    parser.add_argument("--json", action="store_true", help="print the plan as JSON")


def _explain(options: argparse.Namespace) -> int:
    if options.agent not in (None, "any"):
        raise InputError("--agent: a model changes nothing in the plan; write any, or --policy NAME")
    sizes = domain(options.domain)
    deployment = load(options.file)
    agent, never_called = "any agent", list[str]()
    if options.policy is not None:
        policy = deployment.policy(options.policy)
        called = {rule.tool for rule in policy.rules}
        agent, never_called = policy.name, [t.name for t in deployment.tools if t.name not in called]
    explanation = explain(deployment, options.spec, domain=sizes)
    if options.json:
        print(json.dumps(explanation_data(explanation, options.policy or "any", never_called), indent=2))
    else:
        print_explanation(explanation, console_on(sys.stdout), agent, never_called)
    return 0
