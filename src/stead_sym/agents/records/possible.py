"""Which of a model's choices count as possible: the likeliest one, or all that sampling may come to.

The decision: what a model said at a branching node is kept as it was said, and a rule makes a set of calls of
it. With ℓ(c) the log-probability of token c at a node:

- `Greedy` with a tolerance δ keeps { best } ∪ { c : max_c' ℓ(c') − ℓ(c) < δ }, where best has the greatest ℓ
and,
  of several such tokens, the least token id;
- `Sampling` at temperature T inside the offered calls takes c with probability
  exp(ℓ(c)/T) / Σ_c' exp(ℓ(c')/T), and keeps each call whose product of these along its branching nodes is
  at least P. The greedy call is kept too, so that something is selected where all are less likely.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

from stead_sym.errors import AgentError, InputError

Tokens: TypeAlias = tuple[int, ...]

SLACK = 1e-3
"""How far above 0 a log-probability may be by rounding."""


@dataclass(frozen=True, slots=True)
class Greedy:
    """Greedy decoding. With ``tolerance`` 0 one call is possible in each context."""

    tolerance: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.tolerance < math.inf:
            raise InputError(f"the tolerance {self.tolerance} is not a number of at least 0; give one")

    def __str__(self) -> str:
        return f"with a tolerance of {self.tolerance:g}" if self.tolerance else "greedily"


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling inside the offered calls at a ``temperature``; calls of a probability below ``least`` are left
    out of account."""

    least: float
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.least <= 1.0:
            raise InputError(f"the probability {self.least} is not above 0 and at most 1; give such a number")
        if not 0.0 < self.temperature < math.inf:
            raise InputError(f"the temperature {self.temperature} is not a number above 0; give one")

    def __str__(self) -> str:
        return f"sampling at temperature {self.temperature:g} down to a probability of {self.least:g}"


Rule: TypeAlias = Greedy | Sampling


@dataclass(frozen=True, slots=True)
class Branching:
    """What the model said at one branching node: the log-probability of each allowed next token, over the
    whole vocabulary.

    ``path`` are the tokens of the answer so far, ``allowed`` the children's tokens, ascending.
    """

    path: Tokens
    allowed: Tokens
    logprobs: tuple[float, ...]

    def __post_init__(self) -> None:
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
        """By how much the best child leads the next one; 0 for a tie."""
        first, second = sorted(self.logprobs, reverse=True)[:2]
        return first - second

    @property
    def mass(self) -> float:
        """The probability that the next token is an allowed one: Σ exp(ℓ(c)), at most 1."""
        return min(1.0, math.fsum(map(math.exp, self.logprobs)))

    def shares(self, temperature: float = 1.0) -> tuple[float, ...]:
        """The probability of each allowed token when one of them is sampled."""
        greatest = max(self.logprobs)
        weights = [math.exp((logprob - greatest) / temperature) for logprob in self.logprobs]
        whole = math.fsum(weights)
        return tuple(weight / whole for weight in weights)

    def entropy(self) -> float:
        """The entropy of `shares`, in bits."""
        return -math.fsum(share * math.log2(share) for share in self.shares() if share)


@dataclass(frozen=True, slots=True)
class Reached:
    """How a node is reached: by the greedy choice at every node before or not, and with which probability
    when the offered calls are sampled."""

    greedily: bool = True
    probability: float = 1.0


def kept(rule: Rule, branching: Branching, here: Reached) -> Iterator[tuple[int, Reached]]:
    """The tokens that are followed at a node, each with how the next node is then reached."""
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
    """A rule as JSON data, which `rule_from_data` reads back; it is part of a decision's key."""
    match rule:
        case Greedy(tolerance):
            return {"tolerance": tolerance}
        case Sampling(least, temperature):
            return {"min_probability": least, "temperature": temperature}
        case _:
            assert_never(rule)


def rule_from_data(data: Any) -> Rule:
    """The rule that `rule_data` wrote; `InputError` for other data."""
    match data:
        case {"tolerance": float() | int() as tolerance} if len(data) == 1:
            return Greedy(float(tolerance))
        case {"min_probability": float() | int() as least, "temperature": float() | int() as temperature} if (
            len(data) == 2
        ):
            return Sampling(float(least), float(temperature))
        case _:
            raise InputError(f"{data!r} is no rule of selection; restore the record")
