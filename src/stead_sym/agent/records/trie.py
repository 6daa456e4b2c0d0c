"""Greedy decoding inside the set of offered calls, as data: no model is called here.

The decision: the calls' token sequences, each closed by an end token so that none is a prefix of another,
form a trie. At a node with one child the token is forced. At a *branching* node the child of greatest
log-probability is taken; of several with the same one, the child whose token id is least. With a tolerance
δ > 0 every child whose log-probability is less than δ below the greatest is taken as well, and the
selection is a set:

    kept(n) = { best(n) } ∪ { c : max_c' ℓ(c') − ℓ(c) < δ }.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from stead_sym.errors import AgentError

Tokens: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Branching:
    """What the model said at one branching node: the log-probability of each allowed next token.

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

    @property
    def best(self) -> int:
        """The token taken: greatest log-probability, then least token id."""
        return -max(zip(self.logprobs, (-token for token in self.allowed), strict=True))[1]

    @property
    def margin(self) -> float:
        """By how much the best child leads the next one; 0 for a tie."""
        first, second = sorted(self.logprobs, reverse=True)[:2]
        return first - second

    def kept(self, tolerance: float) -> Tokens:
        """The tokens that are followed."""
        greatest = max(self.logprobs)
        pairs = zip(self.allowed, self.logprobs, strict=True)
        return tuple(t for t, p in pairs if t == self.best or greatest - p < tolerance)


class Trie:
    """The prefix trie of the token sequences of the offered calls."""

    def __init__(self, sequences: Sequence[Tokens]) -> None:
        """Raises `AgentError` where two sequences are the same, or one is a prefix of another."""
        self.sequences = tuple(sequences)
        self._children: dict[Tokens, set[int]] = {}
        self._leaf: dict[Tokens, int] = {}
        for number, sequence in enumerate(self.sequences):
            for length, token in enumerate(sequence):
                self._children.setdefault(sequence[:length], set()).add(token)
            other = self._leaf.setdefault(sequence, number)
            if other != number:
                raise AgentError(
                    f"calls {other + 1} and {number + 1} have the same tokens; spell them differently"
                )
        for sequence, number in self._leaf.items():
            if sequence in self._children:
                raise AgentError(
                    f"the tokens of call {number + 1} begin another call; append an end token to each"
                )

    def forced(self, path: Tokens) -> Tokens:
        """``path`` with the forced tokens appended: a branching node or a whole sequence."""
        while len(children := self._children.get(path, ())) == 1:
            path = (*path, *children)
        return path

    def children(self, path: Tokens) -> Tokens:
        """The tokens that may follow, ascending; none after a whole sequence."""
        return tuple(sorted(self._children.get(path, ())))

    def leaf(self, path: Tokens) -> int:
        """The number of the sequence that ``path`` is."""
        return self._leaf[path]


class Decoder:
    """One decision in progress. While ``open`` is not empty, `tell` what the model says at these nodes."""

    def __init__(self, trie: Trie, tolerance: float = 0.0) -> None:
        self._trie = trie
        self._tolerance = tolerance
        self._selected: set[int] = set()
        self._open: dict[Tokens, Tokens] = {}
        self._branchings: list[Branching] = []
        self._visit(())

    @property
    def open(self) -> tuple[tuple[Tokens, Tokens], ...]:
        """The branching nodes to ask about: the tokens so far, and those allowed next."""
        return tuple(self._open.items())

    @property
    def branchings(self) -> tuple[Branching, ...]:
        """What was told, shallow nodes first."""
        return tuple(sorted(self._branchings, key=lambda b: (len(b.path), b.path)))

    @property
    def selected(self) -> frozenset[int]:
        """The numbers of the selected sequences, once nothing is open."""
        return frozenset(self._selected)

    def tell(self, path: Tokens, logprobs: Sequence[float]) -> None:
        """The log-probabilities of the tokens allowed after ``path``, in the order given by ``open``."""
        branching = Branching(path, self._open.pop(path), tuple(map(float, logprobs)))
        self._branchings.append(branching)
        for token in branching.kept(self._tolerance):
            self._visit((*path, token))

    def _visit(self, path: Tokens) -> None:
        path = self._trie.forced(path)
        if children := self._trie.children(path):
            self._open[path] = children
        else:
            self._selected.add(self._trie.leaf(path))
