"""The public names of `stead_sym` for checkers of types, and where each comes from when it is first used."""

from .agents.base import Agent, DecisionContext, Everything, FunctionAgent
from .agents.prompts.prompt import Prompt
from .agents.python import PythonAgent, agent
from .agents.recorded import Asking, RecordedAgent
from .agents.records.answer import Answer
from .agents.records.possible import Greedy, Sampling
from .agents.records.replay import ReplayAgent
from .agents.records.said import Decoding, Given
from .agents.records.store import Store
from .agents.records.weight import Weight, weight
from .agents.roles import wrap
from .agents.rules import RuleAgent
from .agents.wrapper import CanonicalWrapper, Decision
from .analyses.blame import Blame, blame
from .analyses.bounds import Bounds, SortBound, least_bounds
from .analyses.deepening.deepen import Deepening, Found, Round, deepen
from .analyses.deepening.growth import Growth
from .analyses.deepening.remedy import Remedy
from .analyses.production import Granted, NotVerified, VerifiedAgent
from .analyses.sweeps.executors import RayExecutor
from .analyses.sweeps.run import Run
from .analyses.sweeps.sweep import Row, Sweep, sweep
from .analyses.symmetry import Symmetry, symmetry
from .certificate.checker.check import check_certificate
from .certificate.verdict import CertificateRejected, CheckedCertificate
from .certificate.write import write_certificate
from .deployment.build import build_deployment, event, facts_from, initially_any, ordered, rigid, role, tool
from .deployment.counter_machine import counter_machine
from .deployment.deployment import Deployment
from .deployment.files import load, packaged_examples
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
from .engines.protocol import Engine, StateSet
from .engines.symbolic.plan.explain import Explanation, explain
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
from .models.agent import ModelAgent
from .models.backends import open_backend
from .models.chat import chat_agent
from .relational.canonical import CanonicalForm, canonical_form, isomorphic, orbit
from .relational.instance import Fact, Instance
from .relational.schema import Relation, Schema, Sort, Value
from .report.data import report_data, report_schema
from .report.diagram import Drawing
from .report.folder import write_evidence
from .report.frames import decisions_frame, verdicts_frame
from .report.graphs import draw_decisions, draw_states
from .report.page import report_html, write_report
from .support.progress import Progress
from .verification.findings.finding import Finding
from .verification.findings.static import lint
from .verification.hypotheses import Hypotheses, Hypothesis
from .verification.isolated import verify_apart
from .verification.result import AgentRun, Verification
from .verification.verdict import Verdict
from .verification.verify import verify
from .verification.widened import Widened

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
