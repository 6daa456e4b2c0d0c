"""An agent's answer to one decision context, with the data that show its certainty.

One decision: a model that decodes tokens is recorded with its log-probabilities, which determine the
selection and its token probability; any other agent with the calls of each of its answers.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeGuard

from stead_sym.agents.records.possible import SLACK, Branching, Rule
from stead_sym.deployment.tool import Call

SAMPLES = "samples"
"""The name, in the identity of an agent, of the intended number of queries, if it is not 1."""


def is_logprob(number: object) -> TypeGuard[float]:
    """Return True for the log-probability of a possible event; rounding may exceed 0 slightly."""
    return isinstance(number, int | float) and not isinstance(number, bool) and -1e300 < number < SLACK


class Unforced(NamedTuple):
    """The comparison of a selected call with unconstrained greedy decoding.

    The model writes the first ``agreed`` of the ``length`` tokens, then ``token`` instead, with the text
    ``text``; None if it writes them all. ``logprob`` is Σ ℓ(t) over all tokens t of the call, forced ones and
    the end too: the log-probability that the model writes exactly this call when it is sampled without a
    constraint; None if the backend does not report it.
    """

    agreed: int
    length: int
    token: int | None = None
    text: str = ""
    logprob: float | None = None

    @property
    def same(self) -> bool:
        """True if greedy decoding without the constraint gives the same call."""
        return self.agreed == self.length


@dataclass(frozen=True, slots=True)
class Decoding:
    """The log-probabilities of a language model at the visited ``branchings``, shallow ones first.

    ``rule`` derives the selection. ``unforced`` is None if it was not requested.
    """

    branchings: tuple[Branching, ...]
    rule: Rule
    unforced: Unforced | None = None

    @property
    def margin(self) -> float | None:
        """The least margin at a branching node; None if every token was forced."""
        return min((branching.margin for branching in self.branchings), default=None)

    @property
    def mass(self) -> float | None:
        """The least token probability of the offered calls at a branching node.

        None if every token was forced. A low value means that the model prefers some other text. The forced
        tokens count in `whole` only.
        """
        return min((branching.mass for branching in self.branchings), default=None)

    @property
    def whole(self) -> float | None:
        """The probability of staying with the offered calls along the whole greedy choice.

        It is the product, over *all* of its tokens, of the mass on tokens that lead to an offered call, which
        at a forced token is that token's own probability. It is exp(`Unforced.logprob`) / Π of the shares of
        the greedy choice at the branching nodes. None if every token was forced, or if the forced tokens were
        not requested.
        """
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
        """The entropy over the offered calls, in bits, for sampling at temperature 1: Σ P(n)·H(n).

        The sum is over the branching nodes n. It is a lower bound if some were not visited.
        """
        return math.fsum(self._probability(b) * b.entropy() for b in self.branchings)

    def _probability(self, node: Branching) -> float:
        """Return the probability that sampling reaches a node."""
        probability = 1.0
        for above in self.branchings:
            depth = len(above.path)
            if depth < len(node.path) and node.path[:depth] == above.path:
                probability *= above.shares()[above.allowed.index(node.path[depth])]
        return probability


class Given(NamedTuple):
    """One answer: alternative calls, with an optional note and log-probability.

    The note is text besides the calls, such as reasoning; the log-probability is that of the whole answer, if
    it is known.
    """

    calls: tuple[Call, ...]
    note: str = ""
    logprob: float | None = None


@dataclass(frozen=True, slots=True)
class Samples:
    """The answers of an agent to repeated queries about one context.

    It selects every call in one of them. An agent with one intended query selects its first answer, and the
    others show if it answers consistently.
    """

    answers: tuple[Given, ...]

    @property
    def counts(self) -> Counter[Call]:
        """The number of answers that have each call."""
        return Counter(call for given in self.answers for call in dict.fromkeys(given.calls))

    @property
    def divided(self) -> bool:
        """True if two answers have different calls."""
        return len({frozenset(given.calls) for given in self.answers}) > 1


Said: TypeAlias = Decoding | Samples
