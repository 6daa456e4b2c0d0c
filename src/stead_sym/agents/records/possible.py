"""The possible choices of a model: the likeliest one, or all that sampling may give.

The decision: the model's log-probabilities at a branching node are stored unchanged, and a rule derives a set
of calls. With ℓ(c) the log-probability of token c at a node:

- `Greedy` with a tolerance δ keeps { best } ∪ { c : max_c' ℓ(c') − ℓ(c) < δ }, where best has the greatest ℓ
  and, of several such tokens, the least token id;
- `Sampling` at temperature T among the offered calls takes c with probability exp(ℓ(c)/T) / Σ_c'
  exp(ℓ(c')/T), and keeps each call whose product of these along its branching nodes is at least P. The greedy
  call is kept too, so that the selection is not empty if all are less likely.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

from stead_sym.errors import AgentError, InputError

Tokens: TypeAlias = tuple[int, ...]

SLACK = 1e-3
"""The maximum rounding error of a log-probability above 0."""


@dataclass(frozen=True, slots=True)
class Greedy:
    """Greedy decoding; with ``tolerance`` 0 one call is possible in each context."""

    tolerance: float = 0.0

    def __post_init__(self) -> None:
        """Check the tolerance."""
        if not 0.0 <= self.tolerance < math.inf:
            raise InputError(f"the tolerance {self.tolerance} is not a number of at least 0; give one")

    def __str__(self) -> str:
        """Return the rule in words."""
        return f"with a tolerance of {self.tolerance:g}" if self.tolerance else "greedily"


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling among the offered calls at a ``temperature``.

    Calls with a probability below ``least`` are not considered.
    """

    least: float
    temperature: float = 1.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not 0.0 < self.least <= 1.0:
            raise InputError(f"the probability {self.least} is not above 0 and at most 1; give such a number")
        if not 0.0 < self.temperature < math.inf:
            raise InputError(f"the temperature {self.temperature} is not a number above 0; give one")

    def __str__(self) -> str:
        """Return the rule in words."""
        return f"sampling at temperature {self.temperature:g} down to a probability of {self.least:g}"


Rule: TypeAlias = Greedy | Sampling


@dataclass(frozen=True, slots=True)
class Branching:
    """The log-probability of each allowed next token at one branching node, over the whole vocabulary.

    ``path`` are the tokens of the answer so far, ``allowed`` the children's tokens, ascending. Raise
    `AgentError` for invalid log-probabilities.
    """

    path: Tokens
    allowed: Tokens
    logprobs: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check the log-probabilities."""
        if len(self.logprobs) != len(self.allowed):
            raise AgentError(
                f"the model gave {len(self.logprobs)} log-probabilities for {len(self.allowed)} tokens; "
                "it must give one for each"
            )
        if any(map(math.isnan, self.logprobs)) or math.isinf(max(self.logprobs)):
            raise AgentError(
                f"the model's log-probabilities {list(self.logprobs)} order nothing; use weights that are "
                "intact,"
                " or a wider number format"
            )
        if max(self.logprobs) > SLACK:
            raise AgentError(
                f"the model's log-probabilities {list(self.logprobs)} are logarithms of more than 1; use a"
                " model that gives those of its softmax"
            )

    @property
    def best(self) -> int:
        """The token that greedy decoding takes: greatest log-probability, then least token id."""
        return -max(zip(self.logprobs, (-token for token in self.allowed), strict=True))[1]

    @property
    def margin(self) -> float:
        """The lead of the best child over the next one; 0 for a tie."""
        first, second = sorted(self.logprobs, reverse=True)[:2]
        return first - second

    @property
    def mass(self) -> float:
        """The probability that the next token is an allowed one: Σ exp(ℓ(c)), at most 1."""
        return min(1.0, math.fsum(map(math.exp, self.logprobs)))

    def shares(self, temperature: float = 1.0) -> tuple[float, ...]:
        """Return the probability of each allowed token if one of them is sampled."""
        greatest = max(self.logprobs)
        weights = [math.exp((logprob - greatest) / temperature) for logprob in self.logprobs]
        whole = math.fsum(weights)
        return tuple(weight / whole for weight in weights)

    def entropy(self) -> float:
        """Return the entropy of `shares`, in bits."""
        return -math.fsum(share * math.log2(share) for share in self.shares() if share)


@dataclass(frozen=True, slots=True)
class Reached:
    """The way to a node: by greedy choices only or not, and its probability.

    The probability is that of sampling among the offered calls.
    """

    greedily: bool = True
    probability: float = 1.0


def kept(rule: Rule, branching: Branching, here: Reached) -> Iterator[tuple[int, Reached]]:
    """Yield the tokens that the rule follows at a node, each with the way to the next node."""
    temperature = rule.temperature if isinstance(rule, Sampling) else 1.0
    greatest, likeliest = max(branching.logprobs), branching.best
    shares = branching.shares(temperature)
    for token, logprob, share in zip(branching.allowed, branching.logprobs, shares, strict=True):
        best = token == likeliest
        after = Reached(here.greedily and best, here.probability * share)
        match rule:
            case Greedy(tolerance):
                followed = best or greatest - logprob < tolerance
            case Sampling(least):
                followed = after.greedily or after.probability >= least
            case _:
                assert_never(rule)
        if followed:
            yield token, after


def rule_data(rule: Rule) -> dict[str, float]:
    """Return a rule as JSON data, for `rule_from_data`; it is part of a decision's key."""
    match rule:
        case Greedy(tolerance):
            return {"tolerance": tolerance}
        case Sampling(least, temperature):
            return {"min_probability": least, "temperature": temperature}
        case _:
            assert_never(rule)


def rule_from_data(data: Any) -> Rule:
    """Return the rule from data of `rule_data`; raise `InputError` for other data."""
    match data:
        case {"tolerance": float() | int() as tolerance} if len(data) == 1:
            return Greedy(float(tolerance))
        case {"min_probability": float() | int() as least, "temperature": float() | int() as temperature} if (
            len(data) == 2
        ):
            return Sampling(float(least), float(temperature))
        case _:
            raise InputError(f"{data!r} is no rule of selection; restore the record")
