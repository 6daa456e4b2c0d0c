"""The public names of `stead_sym` for checkers of types, and where each comes from when it is first used."""

import stead_sym.agent.python as _python

from .agent.base import Agent, DecisionContext, Everything, FunctionAgent
from .agent.models.agent import ModelAgent
from .agent.models.backends import open_backend
from .agent.models.chat import chat_agent
from .agent.prompts.prompt import Prompt
from .agent.python import PythonAgent
from .agent.recorded import Asking, RecordedAgent
from .agent.records.answer import Answer
from .agent.records.possible import Greedy, Sampling
from .agent.records.replay import ReplayAgent
from .agent.records.said import Decoding, Given
from .agent.records.store import Store
from .agent.records.weight import Weight, weight
from .agent.roles import wrap
from .agent.rules import RuleAgent
from .agent.wrapper import CanonicalWrapper, Decision
from .blaming import Blame, blame
from .bounds import Bounds, SortBound, least_bounds
from .certificate.checker.check import check_certificate
from .certificate.verdict import CertificateRejected, CheckedCertificate
from .certificate.write import write_certificate
from .deepening.deepen import Deepening, Found, Round, deepen
from .deepening.growth import Growth
from .deepening.remedy import Remedy
from .deployment.build import build_deployment, event, facts_from, initially_any, ordered, rigid, role, tool
from .deployment.deployment import Deployment
from .deployment.language import parse_deployment, read_deployment
from .deployment.parts import AgentRole, Initially, Parts, Policy, Rule, Spec, View
from .deployment.printer import print_deployment
from .deployment.restriction import Derivation, Restriction, normal_restriction, theorem_restriction
from .deployment.semantics import Successors, enabled, offer, successors, view
from .deployment.tool import (
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
from .deployment.trace import Step, Trace
from .engine import Engine, StateSet
from .errors import (
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
from .evidence.replay import Replayed, replay
from .evidence.tree import Evidence
from .export.model import Export, exported
from .export.promela import to_promela
from .export.smv import to_smv
from .export.storm import to_storm
from .families import counter_machine
from .files import load, packaged_examples
from .findings.finding import Finding
from .findings.static import lint
from .hypotheses import Hypotheses, Hypothesis, Widened
from .isolated import verify_apart
from .logic.compose import (
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
from .logic.evaluate import holds
from .logic.parser import parse_formula
from .logic.printer import print_formula
from .logic.syntax import (
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
from .production import Granted, NotVerified, VerifiedAgent
from .progress import Progress
from .relational.canonical import CanonicalForm, canonical_form, isomorphic, orbit
from .relational.instance import Fact, Instance
from .relational.schema import Relation, Schema, Sort, Value
from .report.data import report_data, report_schema
from .report.drawing import Drawing, draw
from .report.folder import write_evidence
from .report.frames import decisions_frame, verdicts_frame
from .report.graphs import draw_decisions, draw_states
from .report.page import report_html, write_report
from .sweeps.executors import RayExecutor
from .sweeps.run import Run
from .sweeps.sweep import Row, Sweep, sweep
from .symbolic.plan.explain import Explanation, explain
from .symmetries import Symmetry, symmetry
from .verification import AgentRun, Verdict, Verification, verify

agent = _python.agent  # the package of that name is this function too

__version__: str

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
