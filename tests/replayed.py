"""Every piece of evidence that any test produces is replayed, as an object and from its JSON.

Both engines' `evidence` is wrapped for the whole session, and replayed under the names that are shown. The
wrapped agents are asked again through copies, so that no test sees other counts.
"""

from __future__ import annotations

import functools
import json
from collections import Counter

from stead_sym.engines.explicit.engine import ExplicitEngine
from stead_sym.engines.symbolic.engine import SymbolicEngine
from stead_sym.errors import InputError
from stead_sym.evidence.data import evidence_data
from stead_sym.evidence.moves import Moves
from stead_sym.evidence.reading import read_evidence
from stead_sym.evidence.recorded import recorded_wrappers
from stead_sym.evidence.renamed import renamed
from stead_sym.evidence.replay import replay

SEEN = Counter()
"""The numbers of pieces of evidence that were replayed, by whether they have a run."""


def replay_everything():
    """Wrap the engines; what it returns undoes that."""
    undo = [_wrapped(engine) for engine in (ExplicitEngine, SymbolicEngine)]
    return lambda: [one() for one in undo]


def _wrapped(engine):
    made, evidence = engine.__init__, engine.evidence

    @functools.wraps(made)
    def init(self, deployment, wrappers, *args, **kwargs):
        made(self, deployment, wrappers, *args, **kwargs)
        self.replayed_with = deployment, wrappers

    @functools.wraps(evidence)
    def and_replay(self, formula, holds):
        found = evidence(self, formula, holds)
        assert_replays(*self.replayed_with, self.restriction, renamed(found, *self.replayed_with))
        return found

    engine.__init__, engine.evidence = init, and_replay

    def undo():
        engine.__init__, engine.evidence = made, evidence

    return undo


def assert_verdicts_replay(result):
    """Assert that what a verification reports replays, a broken claim without constraints of fairness."""
    for name, verdict in result.verdicts.items():
        if verdict.evidence is not None:
            claim = name if name == result.broken.claim else None
            assert_replays(
                result.deployment, result.moves.wrappers, result.restriction, verdict.evidence, claim
            )


def _is_readable(deployment, sentence):
    """Return if a sentence can be read by itself. Without the definitions that it was written with nothing
    may say of which sort a numeral is."""
    try:
        deployment.formula(sentence)
    except InputError as error:
        return "nothing says of which sort" not in error.message
    return True


def assert_replays(deployment, wrappers, restriction, evidence, claim=None):
    """Evidence replays under the wrapped agents, and from its JSON under the decisions that are in it;
    ``claim`` is the name of the claim of the deployment that it is about."""
    wrappers = {name: wrapper and wrapper.again() for name, wrapper in wrappers.items()}
    replayed = replay(deployment, wrappers, evidence, claim=claim is not None)
    assert replayed.confirmed, replayed.fault
    root, moves = evidence.root, Moves(deployment, wrappers, restriction)
    if claim is None and not _is_readable(deployment, str(root.formula)):
        return
    data = evidence_data(claim or "a question", str(root.formula), evidence, moves)
    written = read_evidence(deployment, json.loads(json.dumps(data)), "the evidence")
    recorded = recorded_wrappers(deployment, written.agents)
    again = replay(deployment, recorded, written.evidence, claim=claim is not None)
    assert again.confirmed, again.fault
    assert (again.steps, again.claims) == (replayed.steps, replayed.claims)
    assert [node.claim for node in again.unshown] == [node.claim for node in replayed.unshown]
    SEEN["with a run" if replayed.steps else "without a run"] += 1
