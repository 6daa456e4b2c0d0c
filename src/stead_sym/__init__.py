"""Exact verification of agents that act on relational data; ``import stead_sym as st``.

The public names, in the order of the layers that they come from.
"""

from typing import TYPE_CHECKING

from stead_sym.agent.base import Agent, DecisionContext, Everything, FunctionAgent
from stead_sym.agent.models.agent import ModelAgent
from stead_sym.agent.models.backends import open_backend
from stead_sym.agent.models.chat import chat_agent
from stead_sym.agent.prompts.prompt import Prompt
from stead_sym.agent.python import PythonAgent
from stead_sym.agent.recorded import Asking, RecordedAgent
from stead_sym.agent.records.answer import Answer
from stead_sym.agent.records.possible import Greedy, Sampling
from stead_sym.agent.records.replay import ReplayAgent
from stead_sym.agent.records.said import Decoding, Given
from stead_sym.agent.records.store import Store
from stead_sym.agent.records.weight import Weight, weight
from stead_sym.agent.roles import wrap
from stead_sym.agent.rules import RuleAgent
from stead_sym.agent.wrapper import CanonicalWrapper, Decision
from stead_sym.blaming import Blame, blame
from stead_sym.bounds import Bounds, SortBound, least_bounds
from stead_sym.certificate.checker.check import check_certificate
from stead_sym.certificate.verdict import CertificateRejected, CheckedCertificate
from stead_sym.certificate.write import write_certificate
from stead_sym.deepening.deepen import Deepening, Found, Round, deepen
from stead_sym.deepening.growth import Growth
from stead_sym.deepening.remedy import Remedy
from stead_sym.deployment.build import deployment as build_deployment
from stead_sym.deployment.build import event, facts_from, initially_any, ordered, rigid, role, tool
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import parse_deployment, read_deployment
from stead_sym.deployment.parts import AgentRole, Initially, Parts, Policy, Rule, Spec, View
from stead_sym.deployment.printer import print_deployment
from stead_sym.deployment.restriction import Derivation, Restriction, normal_restriction, theorem_restriction
from stead_sym.deployment.semantics import Successors, enabled, offer, successors, view
from stead_sym.deployment.tool import (
    Assign,
    Call,
    Choose,
    Clear,
    Delete,
    Effect,
    Ensure,
    Fresh,
    Insert,
    Statement,
    Tool,
)
from stead_sym.deployment.trace import Step, Trace
from stead_sym.engine import Engine, StateSet
from stead_sym.errors import (
    AgentError,
    BoundExceeded,
    CanonicalLimit,
    DeclarationError,
    DefinitionError,
    InputError,
    KeyBroken,
    ModelError,
    NoEffect,
    NoInitialState,
    NothingOffered,
    ParseError,
    RestrictionError,
    Span,
    SteadError,
    StoreError,
    Undecided,
)
from stead_sym.evidence.replay import Replayed, replay
from stead_sym.evidence.tree import Evidence
from stead_sym.export.model import Export, exported
from stead_sym.export.promela import to_promela
from stead_sym.export.smv import to_smv
from stead_sym.export.storm import to_storm
from stead_sym.families import counter_machine
from stead_sym.files import load, packaged_examples
from stead_sym.findings.finding import Finding
from stead_sym.findings.static import lint
from stead_sym.hypotheses import Hypotheses, Hypothesis, Widened
from stead_sym.isolated import verify_apart
from stead_sym.logic.compose import (
    AF,
    AG,
    AU,
    AW,
    AX,
    EF,
    EG,
    EU,
    EW,
    EX,
    atleast,
    atmost,
    atom,
    compare,
    empty,
    equal,
    exactly,
    exists,
    forall,
    iff,
    same,
)
from stead_sym.logic.evaluate import holds
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.printer import print_formula
from stead_sym.logic.syntax import (
    FALSE,
    TRUE,
    And,
    Atom,
    Binder,
    Compare,
    Const,
    Count,
    Definition,
    Empty,
    Equal,
    Exists,
    Forall,
    Formula,
    Future,
    Globally,
    Iff,
    Implies,
    Name,
    Next,
    Not,
    Or,
    Same,
    Term,
    Truth,
    Until,
    Use,
    Var,
    Wildcard,
)
from stead_sym.production import Granted, NotVerified, VerifiedAgent
from stead_sym.progress import Progress
from stead_sym.relational.canonical import CanonicalForm, canonical_form, isomorphic, orbit
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Sort, Value
from stead_sym.report.data import report_data, report_schema
from stead_sym.report.drawing import Drawing, draw
from stead_sym.report.folder import write_evidence
from stead_sym.report.frames import decisions_frame, verdicts_frame
from stead_sym.report.graphs import draw_decisions, draw_states
from stead_sym.report.page import report_html, write_report
from stead_sym.sweeps.executors import RayExecutor
from stead_sym.sweeps.run import Run
from stead_sym.sweeps.sweep import Row, Sweep, sweep
from stead_sym.symbolic.plan.explain import Explanation, explain
from stead_sym.symmetries import Symmetry, symmetry
from stead_sym.verification import AgentRun, Verdict, Verification, verify

if TYPE_CHECKING:
    from stead_sym.agent.python import agent  # the package of that name is this function too

__version__ = "0.1.0"

__all__ = [  # noqa: RUF022 (by layer, not by the alphabet)
    # schema
    "Relation",
    "Schema",
    "Sort",
    "Value",
    # formula: syntax
    "FALSE",
    "TRUE",
    "And",
    "Atom",
    "Binder",
    "Compare",
    "Const",
    "Count",
    "Definition",
    "Empty",
    "Equal",
    "Exists",
    "Forall",
    "Formula",
    "Future",
    "Globally",
    "Iff",
    "Implies",
    "Name",
    "Next",
    "Not",
    "Or",
    "Same",
    "Term",
    "Truth",
    "Until",
    "Use",
    "Var",
    "Wildcard",
    # formula: text, composition, truth in an instance
    "parse_formula",
    "print_formula",
    "AF",
    "AG",
    "AU",
    "AW",
    "AX",
    "EF",
    "EG",
    "EU",
    "EW",
    "EX",
    "atleast",
    "atmost",
    "atom",
    "compare",
    "empty",
    "equal",
    "exactly",
    "exists",
    "forall",
    "iff",
    "same",
    "holds",
    # instance
    "Fact",
    "Instance",
    # canonical form
    "CanonicalForm",
    "canonical_form",
    "isomorphic",
    "orbit",
    # deployment
    "AgentRole",
    "Assign",
    "Call",
    "Choose",
    "Clear",
    "Delete",
    "Deployment",
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
    "build_deployment",
    "event",
    "facts_from",
    "initially_any",
    "lint",
    "load",
    "ordered",
    "packaged_examples",
    "parse_deployment",
    "print_deployment",
    "read_deployment",
    "rigid",
    "role",
    "tool",
    # semantics
    "Step",
    "Successors",
    "Trace",
    "enabled",
    "offer",
    "successors",
    "view",
    # wrapper
    "Agent",
    "CanonicalWrapper",
    "Decision",
    "DecisionContext",
    "Everything",
    "FunctionAgent",
    "RuleAgent",
    "wrap",
    # recorded agents: of any kind, and language models
    "Answer",
    "Asking",
    "Decoding",
    "Given",
    "Greedy",
    "ModelAgent",
    "Prompt",
    "PythonAgent",
    "RecordedAgent",
    "ReplayAgent",
    "Sampling",
    "Store",
    "Weight",
    "agent",
    "chat_agent",
    "open_backend",
    "weight",
    # restriction
    "Derivation",
    "Restriction",
    "normal_restriction",
    "theorem_restriction",
    # engine
    "Engine",
    "Explanation",
    "Progress",
    "StateSet",
    "explain",
    # verdicts
    "AgentRun",
    "Blame",
    "Drawing",
    "Evidence",
    "Finding",
    "Replayed",
    "Symmetry",
    "Verdict",
    "Verification",
    "blame",
    "decisions_frame",
    "draw",
    "draw_decisions",
    "draw_states",
    "replay",
    "report_data",
    "report_html",
    "report_schema",
    "symmetry",
    "verdicts_frame",
    "verify",
    "verify_apart",
    "write_evidence",
    "write_report",
    # sweeps
    "RayExecutor",
    "Row",
    "Run",
    "Sweep",
    "sweep",
    # production
    "Granted",
    "VerifiedAgent",
    # other checkers
    "Export",
    "exported",
    "to_promela",
    "to_smv",
    "to_storm",
    # where no bound is established
    "Deepening",
    "Found",
    "Growth",
    "Remedy",
    "Round",
    "deepen",
    # families
    "counter_machine",
    # what verdicts rest on
    "Bounds",
    "Hypotheses",
    "Hypothesis",
    "SortBound",
    "Widened",
    "least_bounds",
    # certificates
    "CheckedCertificate",
    "check_certificate",
    "write_certificate",
    # errors
    "AgentError",
    "BoundExceeded",
    "CanonicalLimit",
    "CertificateRejected",
    "DeclarationError",
    "DefinitionError",
    "InputError",
    "KeyBroken",
    "ModelError",
    "NoEffect",
    "NoInitialState",
    "NotVerified",
    "NothingOffered",
    "ParseError",
    "RestrictionError",
    "Span",
    "SteadError",
    "StoreError",
    "Undecided",
]
