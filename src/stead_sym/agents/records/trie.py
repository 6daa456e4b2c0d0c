"""Constrained decoding within the offered calls as data, without a model.

The decision: the calls' token sequences, each closed by an end token so that none is a prefix of another,
form a trie. At a node with one child the token is forced. At a *branching* node the model is queried for the
log-probabilities of the children, and a rule of `possible` decides which of them are followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from stead_sym.agents.records.possible import Branching, Reached, Rule, Tokens, kept
from stead_sym.errors import AgentError


class Trie:
    """The prefix trie of the token sequences of the offered calls."""

    def __init__(self, sequences: Sequence[Tokens]) -> None:
        """Build the trie; raise `AgentError` if two sequences are equal, or one is a prefix of another."""
        self.sequences = tuple(sequences)
        self._children: dict[Tokens, set[int]] = {}
        self._leaf: dict[Tokens, int] = {}
        self._ahead: dict[Tokens, tuple[Tokens, Tokens]] = {}
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

    def ahead(self, path: Tokens) -> tuple[Tokens, Tokens]:
        """Return ``path`` with the forced tokens appended, and the tokens that may follow there, ascending.

        The extended path is a branching node or a whole sequence; nothing follows a whole sequence.
        """
        found = self._ahead.get(path)
        if found is None:
            end = path
            while len(children := self._children.get(end, ())) == 1:
                end = (*end, *children)
            found = self._ahead[path] = end, tuple(sorted(children))
        return found

    def leaf(self, path: Tokens) -> int:
        """Return the number of the sequence ``path``."""
        return self._leaf[path]


@lru_cache(maxsize=4096)
def trie(sequences: tuple[Tokens, ...]) -> Trie:
    """Return the trie of these sequences, cached, since many contexts offer the same calls.

    Raise the errors of `Trie`.
    """
    return Trie(sequences)


class Decoder:
    """One decision in progress; while ``open`` is not empty, `tell` the log-probabilities at these nodes."""

    def __init__(self, trie: Trie, rule: Rule) -> None:
        self._trie = trie
        self._rule = rule
        self._selected: dict[int, float] = {}
        self._open: dict[Tokens, tuple[Tokens, Reached]] = {}
        self._branchings: list[Branching] = []
        self._best: int | None = None
        self._visit((), Reached())

    @property
    def open(self) -> tuple[tuple[Tokens, Tokens], ...]:
        """The branching nodes to query: the tokens so far, and the allowed next ones."""
        return tuple((path, allowed) for path, (allowed, _) in self._open.items())

    @property
    def branchings(self) -> tuple[Branching, ...]:
        """The known branching nodes, those with the shortest path first."""
        return tuple(sorted(self._branchings, key=lambda b: (len(b.path), b.path)))

    @property
    def selected(self) -> dict[int, float]:
        """The numbers of the selected sequences, once no node is open, each with its probability.

        The probability is that of sampling among all sequences at the rule's temperature (1 for greedy
        decoding).
        """
        return dict(self._selected)

    @property
    def best(self) -> int | None:
        """The number of the sequence that greedy decoding gives; None while that is open."""
        return self._best

    def tell(self, path: Tokens, logprobs: Sequence[float]) -> None:
        """Add the log-probabilities of the tokens allowed after ``path``, in the order given by ``open``."""
        allowed, _ = self._open[path]
        self.take(Branching(path, allowed, tuple(map(float, logprobs))))

    def take(self, branching: Branching) -> None:
        """Add the log-probabilities at one of the nodes of ``open``."""
        _, here = self._open.pop(branching.path)
        self._branchings.append(branching)
        for token, after in kept(self._rule, branching, here):
            self._visit((*branching.path, token), after)

    def _visit(self, path: Tokens, here: Reached) -> None:
        path, children = self._trie.ahead(path)
        if children:
            self._open[path] = children, here
        else:
            number = self._trie.leaf(path)
            self._selected[number] = here.probability
            if here.greedily:
                self._best = number
