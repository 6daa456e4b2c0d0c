"""`stead-sym explain`: the plan of a verification, or the meaning of an error or a finding.

The plan is that of the symbolic engine before it explores, or that for every number of records. Two
decisions: a file or an example takes precedence over a topic of the same name. An agent may be given, as to
`verify`, but it does not change the plan, which is the same for all agents; it matters for the remark on
tools that its policy never calls.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Mapping
from os.path import exists, isfile

from stead_sym.agents.roles import ANY, by_agent, named, wrap_all
from stead_sym.analyses.views.every_number import EveryNumber
from stead_sym.cli.options import add_domain, add_formulas, add_harness, add_specs, domain
from stead_sym.cli.request import request_of
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.files import packaged_examples
from stead_sym.engines.symbolic.plan.explain import explain
from stead_sym.errors import InputError
from stead_sym.report.explanation import explanation_data, print_explanation
from stead_sym.report.streams import console_on
from stead_sym.report.topics import Topic, base, near, topic, topics
from stead_sym.report.views_plan import print_views_plan, views_plan_data
from stead_sym.verification.request import Request


def add_explain(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `explain`."""
    parser.usage = "stead-sym explain FILE [options], or: stead-sym explain TOPIC"
    parser.set_defaults(run=_explain)
    parser.add_argument(
        "words",
        metavar="FILE|TOPIC",
        nargs="+",
        help="a deployment, as for verify; or the name of an error or a finding, such as BoundExceeded or"
        " premise-never-true; or topics: list these",
    )
    parser.add_argument(
        "--policy",
        metavar="NAME",
        action="append",
        help="a policy of the file as the agent; with several agents AGENT=NAME, and again for the next",
    )
    parser.add_argument("--agent", metavar="any", action="append", help="any agent (default)")
    add_harness(parser)
    add_specs(parser)
    add_formulas(parser)
    add_domain(parser, "as for verify (default: normal)")
    parser.add_argument("--json", action="store_true", help="print the plan as JSON")


def _explain(options: argparse.Namespace) -> int:
    words = " ".join(options.words)
    if words == "topics":
        for name in topics():
            print(name)
        return 0
    if not isfile(words) and words not in packaged_examples() and (found := topic(words)):
        print_topic(found)
        return 0
    if " " in words and not exists(words):
        raise InputError(f"{words}: no such topic; {near(words, '`stead-sym explain topics` lists them')}")
    if any(word != ANY and not word.endswith(f"={ANY}") for word in options.agent or ()):
        raise InputError("--agent: a model changes nothing in the plan; write any, or --policy NAME")
    options.file = words
    request = request_of(options)
    sizes = domain(request.domain)
    try:
        deployment = request.load()
    except InputError as error:
        if error.span is None and not isfile(words) and (hint := near(words, "")):
            raise InputError(f"{words}: neither a file nor a topic; {hint}") from None
        raise
    given = by_agent(deployment, options.policy or ())
    anybody = by_agent(deployment, options.agent or ())
    if both := sorted(given.keys() & anybody.keys()):
        who = f"agent {both[0]}" if both[0] else "the agent"
        raise InputError(f"{who} is given by --policy and by --agent; leave one out")
    agent, called = "any agent", set[str]()
    for role in deployment.agents:
        if role.name in given:
            policy = deployment.policy(given[role.name], role)
            called.update(rule.tool for rule in policy.rules)
        else:
            called.update(role.tools)
    never_called = [tool.name for tool in deployment.tools if tool.name not in called]
    if given:
        agent = named(given)
    if deployment.unbounded:
        return _explain_views(request, deployment, given, as_json=options.json)
    explanation = explain(deployment, request.questions, domain=sizes)
    if options.json:
        print(json.dumps(explanation_data(explanation, agent if given else ANY, never_called), indent=2))
    else:
        print_explanation(explanation, console_on(sys.stdout), agent, never_called)
    return 0


def _explain_views(
    request: Request, deployment: Deployment, given: Mapping[str, str], *, as_json: bool
) -> int:
    """Print the plan for every number of records."""
    if request.domain is not None:
        raise InputError("--domain is for bounds that the file has; leave it out with `bound … any`")
    deployment, specs = deployment.asked(request.questions)
    wrappers = wrap_all(deployment, {role.name: given.get(role.name, ANY) for role in deployment.agents})
    formulas = {spec.name: spec.formula for spec in specs}
    plan = EveryNumber(deployment, formulas, wrappers).plan()
    if as_json:
        print(json.dumps(views_plan_data(plan, named(given) or ANY), indent=2))
    else:
        print_views_plan(plan, console_on(sys.stdout), named(given) or "any agent")
    return 0


def print_topic(found: Topic) -> None:
    """Print a topic as text: its meaning, an example, the remedy."""
    console = console_on(sys.stdout)
    console.print(found.name, style="bold")
    console.print(found.meaning)
    added = found.kind == "stead" and not found.example.startswith("deployment")
    console.print("\nexample, added to the deployment below" if added else "\nexample", style="dim")
    console.print(textwrap.indent(found.example.rstrip(), "  "), soft_wrap=True)
    console.print("\nwhat to do", style="dim")
    console.print(found.remedy)
    if added:
        console.print("\nthe deployment of the example", style="dim")
        console.print(textwrap.indent(base().rstrip(), "  "), soft_wrap=True)
