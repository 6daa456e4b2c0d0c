"""Deliberately unsound engines: which of their certificates does the checker accept?

    python tests/unsound.py               # 300 generated deployments per fault, in both modes
    python tests/unsound.py --number 2000 marks

Each fault puts something wrong into the symbolic engine, by replacing a function while an example is verified
and its certificate written. The certificate is checked without the fault, and the explicit engine says which
verdicts are true. A wrong verdict may only end in a certificate that is rejected, or in none. The exit status
is 1 where one is accepted. Not part of the gate; `tests/certificate/test_unsound_engines.py` takes fewer.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

import stead_sym.logic.syntax as fo
from certified import DOMAINS, KINDS, PROFILES, given_agents
from generated.deployments import deployments
from stead_sym.certificate.checker.check import check_certificate
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.certificate.write import write_certificate
from stead_sym.deployment.selecting import Selecting
from stead_sym.engines.symbolic.bdd import fixpoint
from stead_sym.engines.symbolic.bdd.relation import Relation
from stead_sym.engines.symbolic.check import operators, satisfaction
from stead_sym.engines.symbolic.check.held_values import Pairs
from stead_sym.engines.symbolic.check.operators import Operators
from stead_sym.engines.symbolic.check.satisfaction import Checker
from stead_sym.engines.symbolic.encode.values import Values
from stead_sym.engines.symbolic.engine import SymbolicEngine
from stead_sym.engines.symbolic.explore.policies import CompiledPolicy
from stead_sym.engines.symbolic.explore.reach import ReachableStates
from stead_sym.engines.symbolic.explore.views import Views
from stead_sym.engines.symbolic.plan import planner
from stead_sym.engines.symbolic.plan.guess import Broken
from stead_sym.engines.symbolic.plan.relaxation import Relaxation
from stead_sym.engines.symbolic.step.effects import EffectCompiler
from stead_sym.engines.symbolic.step.formulas import Compiler
from stead_sym.engines.symbolic.step.updates import Writer
from stead_sym.errors import SteadError, Undecided
from stead_sym.evidence.tree import Evidence, Node, Unshown
from stead_sym.verification.verify import verify

MAX_STATES = 300


@dataclass(frozen=True)
class Fault:
    """Functions that are replaced, each given by its owner and name, and the deployments to try."""

    name: str
    replaced: tuple[tuple[object, str, object], ...]
    examples: SearchStrategy
    domains: tuple[str, ...] = DOMAINS


def _unfair(relation, body, constraints, along=()):
    return fixpoint.globally(relation, body, ())


def _keeping_dead(self, vector):
    """Values that died never come back."""
    encoding, sort = self.encoding, vector.sort
    after, constants = encoding.successor(vector), self.plan.deployment.constants[sort]
    now = {value: encoding.is_value(after, value) for value in encoding.values[sort]}
    stays = {
        value: named if value in constants else named.equiv(encoding.active(sort, value, primed=True))
        for value, named in now.items()
    }
    lives = encoding.one_hot_table(vector, stays, {value: ~named for value, named in now.items()})
    return lives | (encoding.dead(vector) & encoding.dead(after))


def _living_only(self, left, right, *, own=Values.equal):
    """Two dead values are never the same."""
    if isinstance(left, str) or isinstance(right, str) or left == right or not left.one_hot:
        return own(self, left, right)
    return self.equal_living(left, right)


def _all_active(self, binders, body, env, *, own=Checker._member):
    """Quantifiers range over all values of the domain."""
    with patch.object(Compiler, "ranging", _any_living):
        return own(self, binders, body, env)


def _any_living(self, binder, vector, body):
    return self.encoding.valid(vector) & ~self.encoding.dead(vector)


def _few_steps(self, target, through):
    """Least fixpoints end after two steps."""
    found = target
    for _ in range(2):
        found = found | (through & self.preimage(found))
    return found


def _few_images(self, states, new, wrong=None):
    found = states
    for _ in range(2):
        found = found | self.image(found)
    return found


def _next_unfair(self, f):
    return self.everywhere & self.relation.preimage(f)


def _one_step_globally(relation, body, constraints, along=()):
    return body & relation.preimage(body)


def _never_returns(self, f):
    """No run stays anywhere for ever, so that A[f U g] is A[f W g]."""
    return self.everywhere & ~self.everywhere


def _forall_as_exists(self, binder, body, env, joint=False, *, own=Checker._exists):
    """∀x. f, which is ¬∃x. ¬f, is read as ¬∃x. f."""
    return own(self, binder, body.body if isinstance(body, fo.Not) else body, env, joint)


def _selects_all(self):
    """Return what is offered is selected."""
    return {name: self._offers.calls[name] for name in self.role.tools}


def _selects_by_every_line(self):
    """Return what any line of the policy matches is selected."""
    matched = {name: [self.manager.false] for name in self.role.tools}
    for rule in self._own:
        matched[rule.tool].append(self._matches(rule))
    return {name: self.manager.disj(parts) for name, parts in matched.items()}


def _only_first_alternative(self, tool, report, *, own=EffectCompiler.tool):
    return own(self, replace(tool, effects=tool.effects[:1]), report)


def _nothing_leaves(self, deleted, *, own=Writer._leaving):
    return self.manager.false


def _everything_read(self, relation, args):
    return fo.Atom(relation, tuple(args))


def _everything_shown(self, shown, terms, compiler):
    return self.encoding.relation(shown.relation, tuple(terms))


def _never_deleted(self):
    """The facts of D0 hold in every state."""
    return frozenset(self.deployment.init.facts)


def _may_come(self, *, own=Relaxation.dynamic.fget):
    return tuple(fact for fact in own(self) if fact not in self.deployment.init)


def _some_facts(self, *, own=Relaxation.dynamic.fget):
    """Not every fact that may hold is known."""
    facts = own(self)
    return facts[: max(1, len(facts) - 1)]


def _unchecked(self, states):
    pass


def _fair(profile):
    return PROFILES[profile].filter(lambda deployment: deployment.fair)


FAULTS = (
    Fault(
        "states that offer nothing and calls without effect are not seen",
        ((ReachableStates, "_check_offers", _unchecked),),
        deployments(total=False),
    ),
    Fault(
        "bounds and keys are not looked at",
        ((ReachableStates, "_check_bounds", _unchecked), (ReachableStates, "_check_room", _unchecked)),
        deployments(keep_bounds=False),
    ),
    Fault(
        "the facts of D0 are taken to be there for ever",
        (
            (Relaxation, "static", property(_never_deleted)),
            (Relaxation, "dynamic", property(_may_come)),
        ),
        PROFILES["deployments"],
    ),
    Fault(
        "a fact that may hold is not known",
        ((Relaxation, "dynamic", property(_some_facts)),),
        PROFILES["deployments"],
    ),
    Fault(
        "a key or single fact that is guessed is not confirmed",
        ((planner, "confirm", lambda tools: Broken()),),
        PROFILES["crowded"],
    ),
    Fault(
        "a name that is taken is drawn",
        ((ReachableStates, "_names_taken", lambda self, todo: Broken()),),
        PROFILES["named"],
        ("normal",),
    ),
    Fault(
        "marks of equal dead values are not kept over steps",
        ((Pairs, "_keep_equality", lambda self: iter(())),),
        PROFILES["mortality"],
        ("normal",),
    ),
    Fault(
        "dead values are never the same",
        ((Values, "equal", _living_only),),
        PROFILES["mortality"],
        ("normal",),
    ),
    Fault(
        "marks need not be an equivalence",
        ((Pairs, "_equivalence", lambda self: iter(())),),
        PROFILES["mortality"],
        ("normal",),
    ),
    Fault(
        "dead values never come back", ((Pairs, "_keeps", _keeping_dead),), PROFILES["mortality"], ("normal",)
    ),
    Fault(
        "quantifiers of temporal formulas range over all values",
        ((Checker, "_member", _all_active),),
        PROFILES["deployments"],
    ),
    Fault(
        "runs need not be fair",
        ((operators, "globally", _unfair), (satisfaction, "globally", _unfair)),
        _fair("deployments"),
    ),
    Fault("EX does not ask for a fair run", ((Operators, "exists_next", _next_unfair),), _fair("workflows")),
    Fault(
        "a greatest fixpoint ends after one step",
        ((operators, "globally", _one_step_globally),),
        PROFILES["workflows"],
    ),
    Fault(
        "a least fixpoint ends after two steps", ((Relation, "reaching", _few_steps),), PROFILES["mortality"]
    ),
    Fault("reachability ends after two steps", ((Relation, "reachable", _few_images),), PROFILES["named"]),
    Fault("AU is AW", ((Operators, "exists_globally", _never_returns),), PROFILES["mortality"]),
    Fault(
        "a context is taken for one that shows more",
        ((Views, "numbers", lambda self, facts, calls: ()),),
        PROFILES["deployments"],
    ),
    Fault(
        "views are not cut",
        ((Views, "is_shown", _everything_shown), (Selecting, "shown", _everything_read)),
        PROFILES["workflows"],
    ),
    Fault(
        "all that is offered is selected",
        ((CompiledPolicy, "selected", _selects_all),),
        PROFILES["deployments"],
    ),
    Fault(
        "no line of a policy is first",
        ((CompiledPolicy, "selected", _selects_by_every_line),),
        PROFILES["deployments"],
    ),
    Fault(
        "only the first alternative is taken",
        ((EffectCompiler, "tool", _only_first_alternative),),
        PROFILES["deployments"],
    ),
    Fault(
        "what is deleted stays in its field", ((Writer, "_leaving", _nothing_leaves),), PROFILES["workflows"]
    ),
    Fault("forall is exists", ((Checker, "_exists", _forall_as_exists),), PROFILES["mortality"]),
)


def _unshown(deployment, formula, holds) -> Evidence:
    """No run: what a faulty engine would give as one may be none."""
    return Evidence(Node(formula, holds, deployment.init, {}, Unshown()))


def outcome(fault: Fault, deployment, agents, domain, directory) -> str:
    """Return what becomes of the verdicts of an unsound engine about one deployment."""
    no_evidence = (
        SymbolicEngine,
        "evidence",
        lambda self, formula, holds: _unshown(deployment, formula, holds),
    )
    patches = [patch.object(owner, name, new) for owner, name, new in (*fault.replaced, no_evidence)]
    with ExitStack() as faulty:
        for each in patches:  # not within the `try`: a fault that replaces nothing is an error of this file
            faulty.enter_context(each)
        try:
            result = verify(deployment, agents, domain=domain, findings=False)
            write_certificate(result, directory)
        except SteadError:
            return "no certificate"
        except Exception as error:  # noqa: BLE001 (an engine with a fault may stumble over it anywhere)
            return f"no certificate ({type(error).__name__})"
    claimed = {name: verdict.holds for name, verdict in result.verdicts.items() if verdict.holds is not None}
    del result
    try:
        true = truth(deployment, agents, claimed)
    except Undecided:
        return "too many states"
    right = "wrong" if true is None or any(true[name] != word for name, word in claimed.items()) else "right"
    try:
        check_certificate(directory)
    except CertificateRejected:
        return f"{right} verdicts, rejected"
    return f"{right} verdicts, accepted"


def truth(deployment, agents, names) -> dict[str, bool | None] | None:
    """The verdicts of the explicit engine; None where the deployment breaks its definition."""
    try:
        found = verify(
            deployment, agents, list(names) or None, engine="explicit", max_states=MAX_STATES, findings=False
        )
    except Undecided:
        raise
    except SteadError:
        return None
    return {name: verdict.holds for name, verdict in found.verdicts.items()}


def outcomes(fault: Fault, number: int, start: int = 0) -> Counter[str]:
    """The outcomes over generated deployments."""
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as directory:

        @seed(start)
        @settings(
            max_examples=number,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )
        @given(fault.examples, KINDS)
        def run(deployment, kinds):
            for domain in fault.domains:
                agents = given_agents(deployment, kinds)
                word = outcome(fault, deployment, agents, domain, Path(directory))
                found[word] += 1
                if word == "wrong verdicts, accepted":
                    print(f"ACCEPTED: {fault.name}, {domain}, {kinds}\n{deployment}", file=sys.stderr)

        run()
    return found


def main(words: list[str], number: int, start: int) -> int:
    """Try the faults with one of these words in their names."""
    total: Counter[str] = Counter()
    for fault in FAULTS:
        if not words or any(word in fault.name for word in words):
            found = outcomes(fault, number, start)
            total += found
            print(
                fault.name,
                *(f"  {word}: {count}" for word, count in sorted(found.items())),
                sep="\n",
                flush=True,
            )
    print("all", *(f"  {word}: {count}" for word, count in sorted(total.items())), sep="\n")
    return 1 if total["wrong verdicts, accepted"] else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sys.exit(main(options.words, options.number, options.seed))
