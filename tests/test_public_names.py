"""The exported names. One that is added, renamed or dropped changes this list on purpose."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import stead_sym

LIST = """
Relation Schema Sort Value

FALSE TRUE And Atom Binder Compare Const Count Definition Empty Equal Exists Forall Formula Future
Globally Iff Implies Name Next Not Or Same Term Truth Until Use Var Wildcard

parse_formula print_formula AF AG AU AW AX EF EG EU EW EX atleast atmost atom compare empty equal exactly
exists forall iff same holds

Fact Instance

CanonicalForm canonical_form isomorphic orbit

AgentRole Assign Call Choose Clear Delete Deployment Effect Ensure Fresh Initially Insert Parts Policy
Rule Spec Statement Tool View build_deployment event facts_from initially_any lint load ordered
packaged_examples parse_deployment print_deployment read_deployment rigid role tool

Step Successors Trace enabled offer successors view

Agent CanonicalWrapper Decision DecisionContext Everything FunctionAgent RuleAgent wrap

Answer Asking Decoding Given Greedy ModelAgent Prompt PythonAgent RecordedAgent ReplayAgent Sampling Store
Weight agent chat_agent open_backend weight

Derivation Restriction normal_restriction theorem_restriction

Engine Explanation Progress StateSet explain

AgentRun Blame Drawing Evidence Finding Replayed Symmetry Verdict Verification blame decisions_frame
draw_decisions draw_states replay report_data report_html report_schema symmetry verdicts_frame verify
verify_apart write_evidence write_report

RayExecutor Row Run Sweep sweep

Granted VerifiedAgent

Export exported to_promela to_smv to_storm

Deepening Found Growth Remedy Round deepen

counter_machine

Bounds Hypotheses Hypothesis SortBound Widened least_bounds

CheckedCertificate check_certificate write_certificate

AgentError BoundExceeded CanonicalLimit CertificateRejected DeclarationError DefinitionError InputError
KeyBroken ModelError NoEffect NoInitialState NotVerified NothingOffered ParseError RestrictionError Span
SteadError StoreError Undecided
"""
NAMES = LIST.split()


def test_the_list_is_this_one() -> None:
    assert sorted(stead_sym.__all__) == sorted(NAMES)


def test_every_name_is_there() -> None:
    assert all(hasattr(stead_sym, name) for name in stead_sym.__all__)


def test_the_documentation_names_nothing_else() -> None:
    root = Path(__file__).resolve().parents[1]
    pages = [root / "README.md", *root.glob("docs/**/*.md"), *root.glob("notebooks/*.ipynb")]
    named = {name for page in pages for name in re.findall(r"\bst\.([A-Za-z]\w*)", page.read_text())}
    assert len(named) > 30
    assert named <= set(NAMES)


def test_no_name_hides_a_subpackage() -> None:
    packages = [path.parent.name for path in Path(stead_sym.__file__).parent.glob("*/__init__.py")]
    assert "engines" in packages
    for package in packages:
        assert getattr(stead_sym, package, module := import_module(f"stead_sym.{package}")) is module
    assert import_module("stead_sym.deployment.tool").Tool is stead_sym.Tool


def test_every_public_name_is_documented() -> None:
    aliases = {"Value", "Formula", "Term", "Statement", "TRUE", "FALSE"}
    undocumented = [n for n in NAMES if n not in aliases and not getattr(stead_sym, n).__doc__]
    assert undocumented == []


def test_every_error_of_the_tree_is_public() -> None:
    def below(kind: type[Exception]) -> set[str]:
        return {kind.__name__}.union(*map(below, kind.__subclasses__()))

    assert all(getattr(stead_sym, name) for name in ("CertificateRejected", "NotVerified"))  # now imported
    assert below(stead_sym.SteadError) <= set(NAMES)


@pytest.mark.parametrize(
    ("imported", "absent"),
    [
        ("stead_sym", {"dd", "lark", "rich", "stead_sym.verification.verify"}),
        ("stead_sym.cli.main", {"dd", "lark", "rich"}),
    ],
)
def test_what_is_not_used_is_not_imported(imported: str, absent: set[str]) -> None:
    """The second is what the parent of a run imports, which the child imports again."""
    program = f"import sys, {imported}; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not absent & set(ended.stdout.split())
