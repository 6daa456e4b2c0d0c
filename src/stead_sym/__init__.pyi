"""The public names of `stead_sym` for checkers of types, and where each comes from when it is first used."""

from . import (
    agents,
    analyses,
    certificate,
    deployment,
    engines,
    errors,
    evidence,
    export,
    logic,
    relational,
    report,
    support,
    verification,
)
from .agents.base import DecisionContext
from .agents.prompts.prompt import Prompt
from .agents.python import agent
from .agents.records.possible import Sampling
from .agents.records.said import Given
from .agents.records.store import Store
from .agents.records.weight import weight
from .agents.wrapper import CanonicalWrapper
from .analyses.blame import blame
from .analyses.bounds import least_bounds
from .analyses.deepening.deepen import deepen
from .analyses.production import NotVerified, VerifiedAgent
from .analyses.sweeps.run import Run
from .analyses.sweeps.sweep import sweep
from .analyses.symmetry import symmetry
from .certificate.checker.check import check_certificate
from .certificate.write import write_certificate
from .deployment.build import build_deployment, event, facts_from, initially_any, ordered, rigid, role, tool
from .deployment.counter_machine import counter_machine
from .deployment.deployment import Deployment
from .deployment.files import load
from .deployment.language import parse_deployment
from .deployment.restriction import theorem_restriction
from .deployment.semantics import offer, successors, view
from .deployment.tool import Call
from .engines.symbolic.plan.explain import explain
from .errors import AgentError, InputError, SteadError
from .evidence.replay import replay
from .export.model import exported
from .export.promela import to_promela
from .export.smv import to_smv
from .export.storm import to_storm
from .logic.evaluate import holds
from .models.agent import ModelAgent
from .models.backends import open_backend
from .models.chat import chat_agent
from .relational.canonical import canonical_form
from .relational.instance import Instance
from .report.folder import write_evidence
from .report.frames import decisions_frame, verdicts_frame
from .report.graphs import draw_decisions, draw_states
from .report.page import report_html, write_report
from .verification.findings.static import lint
from .verification.isolated import verify_apart
from .verification.result import Verification
from .verification.verdict import Verdict
from .verification.verify import verify

__version__: str

__all__ = [  # noqa: RUF022 - in groups
    # formula: text, composition, truth in an instance
    "holds",
    # instance
    "Instance",
    # canonical form
    "canonical_form",
    # deployment
    "Call",
    "Deployment",
    "build_deployment",
    "event",
    "facts_from",
    "initially_any",
    "lint",
    "load",
    "ordered",
    "parse_deployment",
    "rigid",
    "role",
    "tool",
    # semantics
    "offer",
    "successors",
    "view",
    # wrapper
    "CanonicalWrapper",
    "DecisionContext",
    # recorded agents: of any kind, and language models
    "Given",
    "ModelAgent",
    "Prompt",
    "Sampling",
    "Store",
    "agent",
    "chat_agent",
    "open_backend",
    "weight",
    # restriction
    "theorem_restriction",
    # engine
    "explain",
    # verdicts
    "Verdict",
    "Verification",
    "blame",
    "decisions_frame",
    "draw_decisions",
    "draw_states",
    "replay",
    "report_html",
    "symmetry",
    "verdicts_frame",
    "verify",
    "verify_apart",
    "write_evidence",
    "write_report",
    # sweeps
    "Run",
    "sweep",
    # production
    "VerifiedAgent",
    # other checkers
    "exported",
    "to_promela",
    "to_smv",
    "to_storm",
    # where no bound is established
    "deepen",
    # families
    "counter_machine",
    # what verdicts rest on
    "least_bounds",
    # certificates
    "check_certificate",
    "write_certificate",
    # errors
    "AgentError",
    "InputError",
    "NotVerified",
    "SteadError",
    # the rest, by room
    "agents",
    "analyses",
    "certificate",
    "deployment",
    "engines",
    "errors",
    "evidence",
    "export",
    "logic",
    "relational",
    "report",
    "support",
    "verification",
]
