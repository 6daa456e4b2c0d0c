"""The exported names: what most programs need at the top, the rest in rooms. One that is added, renamed or
dropped changes these lists on purpose."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import stead_sym

LISTS = """
stead_sym
    AgentError InputError SteadError Call CanonicalWrapper DecisionContext Deployment Given Guard Instance
    ModelAgent NotVerified Prompt Run Sampling Store Verdict Verification VerifiedAgent agent blame
    build_deployment canonical_form chat_agent check_audit_log check_certificate  decisions_frame deepen
    draw_decisions draw_states event explain exported facts_from holds initially_any least_bounds lint
    load offer open_backend ordered parse_deployment replay replay_audit_log report_html rigid role shield
    successors sweep symmetry theorem_restriction to_smv to_sql to_storm to_tools tool verdicts_frame verify
    verify_apart view weight write_certificate write_evidence write_report
agents
    Agent Answer Asking Decision Decoding Everything FunctionAgent Greedy PythonAgent RecordedAgent
    ReplayAgent RuleAgent Weight wrap
analyses
    Blame Bounds Deepening Found Granted Growth RayExecutor Remedy Round Row SortBound Sweep Symmetry
certificate
    CertificateRejected CheckedCertificate
deployment
    AgentRole Assign Call Choose Clear Delete Derivation Effect Ensure Fresh Initially Insert Parts Policy
    Restriction Rule Spec Statement Step Successors Tool Trace View enabled normal_restriction
    packaged_examples print_deployment read_deployment
engines
    Engine Explanation StateSet
errors
    AgentError BoundExceeded CanonicalLimit DeclarationError DefinitionError InputError KeyBroken
    ModelError NoEffect NoInitialState NothingOffered ParseError ReferenceBroken RestrictionError Span
    SteadError StoreError Undecided ValueOutOfRange
evidence
    Evidence Replayed
export
    Export Sql
guard
    Allowed CheckedLog Denied EndedTransaction Reading ReplayedLog ToolCall
logic
    AF AG AU AW AX And Atom Binder Compare Const Count Definition Did EF EG EU EW EX Empty Equal Exists FALSE
    Forall Formula Future Globally Iff Implies Name Next Not Or Previously Same Since Sum TRUE Tally Term
    Truth Until Use Var Wildcard atleast atmost atom compare count did empty equal exactly exists forall
    historically holds iff leads_to minus offered once parse_formula plus previously print_formula refused
    same since total
relational
    CanonicalForm Fact Instance Relation Schema Sort Value isomorphic orbit
report
    Drawing report_data report_schema
support
    Progress
verification
    AgentRun Finding Hypotheses Hypothesis Widened
"""
ROOMS = {room: names.split() for room, names in re.findall(r"^(\w+)\n((?:    .*\n)+)", LISTS, re.MULTILINE)}
TOP = ROOMS.pop("stead_sym")
NAMES = [("", name) for name in TOP] + [(room, name) for room, names in ROOMS.items() for name in names]


def public(room: str, name: str) -> object:
    return getattr(getattr(stead_sym, room) if room else stead_sym, name)


def test_the_lists_are_these() -> None:
    assert sorted(stead_sym.__all__) == sorted([*TOP, *ROOMS])
    for room in ROOMS.keys() - {"errors"}:
        assert sorted(getattr(stead_sym, room).__all__) == sorted(ROOMS[room])


def test_every_name_is_there_and_documented() -> None:
    aliases = {"Value", "Formula", "Term", "Statement", "TRUE", "FALSE"}
    undocumented = [name for room, name in NAMES if not public(room, name).__doc__ and name not in aliases]
    assert undocumented == []


def test_the_documentation_names_nothing_else() -> None:
    root = Path(__file__).resolve().parents[1]
    pages = [root / "README.md", *root.glob("docs/**/*.md"), *root.glob("notebooks/*.ipynb")]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    named = {name for text in texts for name in re.findall(r"\bst\.([A-Za-z]\w*(?:\.[A-Za-z]\w*)?)", text)}
    assert len(named) > 30
    full = {f"{room}.{name}".strip(".") for room, name in NAMES}
    assert {name for name in named if name not in full and name.partition(".")[0] not in TOP} == set()


def test_no_name_hides_a_subpackage() -> None:
    packages = [path.parent.name for path in Path(stead_sym.__file__).parent.glob("*/__init__.py")]
    assert "engines" in packages
    for package in packages:
        assert getattr(stead_sym, package, module := import_module(f"stead_sym.{package}")) is module
    assert import_module("stead_sym.deployment.tool").Tool is stead_sym.deployment.Tool


def test_every_error_of_the_tree_is_public() -> None:
    def below(kind: type[Exception]) -> set[str]:
        return {kind.__name__}.union(*map(below, kind.__subclasses__()))

    assert stead_sym.NotVerified
    assert stead_sym.certificate.CertificateRejected  # now both are imported
    inside = {"NotAsked"}  # of an agent's memory, caught by those who look into it
    kinds = {kind for kind in below(stead_sym.SteadError) if not kind.startswith("_")}
    assert kinds - inside <= {name for _, name in NAMES}


@pytest.mark.parametrize(
    ("imported", "absent"),
    [
        ("stead_sym", {"dd", "lark", "rich", "stead_sym.verification.verify"}),
        ("stead_sym.cli.main", {"dd", "lark", "rich"}),
        ("stead_sym.cli.check", {"asyncio", "dd", "importlib.metadata", "stead_sym.agents.base"}),
        (
            "stead_sym.guard.guard",
            {"mcp", "stead_sym.verification.verify", "stead_sym.engines.symbolic.engine"},
        ),
        ("stead_sym.cli.verify", {"asyncio", "importlib.metadata", "stead_sym.models.chat"}),
    ],
)
def test_what_is_not_used_is_not_imported(imported: str, absent: set[str]) -> None:
    """The second is what the parent of a run imports, which the child imports again."""
    program = f"import sys, {imported}; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not absent & set(ended.stdout.split())
