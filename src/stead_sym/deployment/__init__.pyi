"""The public names of `stead_sym.deployment`, and where each comes from when it is first used."""

from .files import packaged_examples
from .language import read_deployment
from .parts import AgentRole, Initially, Parts, Policy, Rule, Spec, View
from .printer import print_deployment
from .restriction import Derivation, Restriction, normal_restriction
from .semantics import Successors, enabled
from .tool import Assign, Call, Choose, Clear, Delete, Effect, Ensure, Fresh, Insert, Statement, Tool
from .trace import Step, Trace

__all__ = [  # noqa: RUF022 - in groups
    # deployment
    "AgentRole",
    "Assign",
    "Call",
    "Choose",
    "Clear",
    "Delete",
    "Effect",
    "Ensure",
    "Fresh",
    "Initially",
    "Insert",
    "Parts",
    "Policy",
    "Rule",
    "Spec",
    "Statement",
    "Tool",
    "View",
    "packaged_examples",
    "print_deployment",
    "read_deployment",
    # semantics
    "Step",
    "Successors",
    "Trace",
    "enabled",
    # restriction
    "Derivation",
    "Restriction",
    "normal_restriction",
]
