"""What an agent said to one decision context, as far as it can be weighed.

One decision: a model that decodes tokens is recorded with its log-probabilities, from which the selection and
its weight follow; any other agent with the calls that it answered, each time it was asked.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeGuard

from stead_sym.agents.records.possible import SLACK, Branching, Rule
from stead_sym.deployment.tool import Call

SAMPLES = "samples"
"""The name, in the identity of an agent, of how often it is meant to be asked, where that is not once."""


def is_logprob(number: object) -> TypeGuard[float]:
    """Whether something is a log-probability, of what is possible; rounding may take it a little above 0."""
    return isinstance(number, int | float) and not isinstance(number, bool) and -1e300 < number < SLACK


class Unforced(NamedTuple):
    """How far a model writes the call of its greedy choice when nothing constrains it: the first ``agreed``
    of the ``length`` tokens, then ``token`` instead, which is spelled ``text``; None where it writes them
    all. ``logprob`` is Σ ℓ(t) over all tokens t of the call, forced ones and the end too: that the model
    writes just this call when it is sampled without a constraint; None where the backend does not tell."""

    agreed: int
    length: int
    token: int | None = None
    text: str = ""
    logprob: float | None = None

    @property
    def same(self) -> bool:
        """Whether greedy decoding without the constraint is the same call."""
        return self.agreed == self.length


@dataclass(frozen=True, slots=True)
class Decoding:
    """What a language model said at the ``branchings`` that were visited, shallow ones first, and the
    ``rule`` that makes a selection of it. ``unforced`` is None where that was not asked."""

    branchings: tuple[Branching, ...]
    rule: Rule
    unforced: Unforced | None = None

    @property
    def margin(self) -> float | None:
        """The least margin at a branching node; None where every token was forced."""
        return min((branching.margin for branching in self.branchings), default=None)

    @property
    def mass(self) -> float | None:
        """The least probability, at a branching node, that the next token is one of an offered call; None
        where every token was forced. A low one tells that the model would rather say something else. The
        forced tokens count in `whole` only."""
        return min((branching.mass for branching in self.branchings), default=None)

    @property
    def whole(self) -> float | None:
        """The probability of staying with the offered calls along the whole greedy choice: the product, over
        *all* of its tokens, of the mass on tokens that lead to an offered call, which at a forced token is
        that token's own probability. It is exp(`Unforced.logprob`) / Π of the shares of the greedy choice at
        the branching nodes. None where every token was forced, or the forced tokens were not asked about."""
        if not self.branchings or self.unforced is None or self.unforced.logprob is None:
            return None
        logprob = self.unforced.logprob
        for node in self.branchings:
            above = [b for b in self.branchings if b.path == node.path[: len(b.path)] and b is not node]
            if all(node.path[len(b.path)] == b.best for b in above):
                logprob -= math.log(max(node.shares()))
        return min(1.0, math.exp(min(0.0, logprob)))

    @property
    def entropy(self) -> float:
        """The entropy over the offered calls, in bits, when one is sampled at temperature 1: Σ P(n)·H(n)
        over the branching nodes n. A lower bound where some were not visited."""
        return math.fsum(self._probability(b) * b.entropy() for b in self.branchings)

    def _probability(self, node: Branching) -> float:
        """The probability that sampling comes to a node."""
        probability = 1.0
        for above in self.branchings:
            depth = len(above.path)
            if depth < len(node.path) and node.path[:depth] == above.path:
                probability *= above.shares()[above.allowed.index(node.path[depth])]
        return probability


class Given(NamedTuple):
    """One answer: the calls, of which any may be made, what was said beside them, such as reasoning, and the
    log-probability of all that was said, where that is known."""

    calls: tuple[Call, ...]
    note: str = ""
    logprob: float | None = None


@dataclass(frozen=True, slots=True)
class Samples:
    """The answers of an agent that was asked as often as there are some. It selects every call that is in
    one; an agent that is meant to be asked once selects what it answered first, and the others show whether
    it answers the same."""

    answers: tuple[Given, ...]

    @property
    def counts(self) -> Counter[Call]:
        """In how many answers each call is."""
        return Counter(call for given in self.answers for call in dict.fromkeys(given.calls))

    @property
    def divided(self) -> bool:
        """Whether two answers are of different calls."""
        return len({frozenset(given.calls) for given in self.answers}) > 1


Said: TypeAlias = Decoding | Samples
