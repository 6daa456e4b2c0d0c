"""The transition relation as a disjunction of partitions, never as one relation.

A partition is an action together with the states in which the agent takes it. It writes a few
bits and says nothing of the others, so
    image(S)     = (∃ written. S ∧ enabled) with the written bits at their new values,
    preimage(X)  = enabled ∧ X[bits := updates].
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from stead_sym.relational.schema import Value
from stead_sym.symbolic.effects import Action, CompiledTool, RelationalAction
from stead_sym.symbolic.encoding import Encoding, bits_of
from stead_sym.symbolic.manager import Bdd, Bits


class Partition:
    """One action and the states in which the agent selects its call."""

    def __init__(self, encoding: Encoding, action: Action) -> None:
        self.encoding = encoding
        self.manager = encoding.manager
        self.action = action
        self.enabled = self.manager.false
        m = self.manager
        self._constant = {b: f == m.true for b, f in action.updates.items() if f in (m.true, m.false)}
        self._functional = {b: f for b, f in action.updates.items() if b not in self._constant}

    @property
    def updates(self) -> Mapping[str, Bdd]:
        return self.action.updates

    @cached_property
    def _written(self) -> Bits:
        return frozenset(self.action.updates)

    @cached_property
    def _constants(self) -> Bdd:
        return self.manager.cube(self._constant)

    @cached_property
    def _primed_updates(self) -> Bdd:
        """⋀ b' ↔ new value of b, over the bits whose new value depends on the state."""
        m = self.manager
        return m.conj(m.var(self.encoding.primed(bit)).equiv(new) for bit, new in self._functional.items())

    @cached_property
    def _unprime(self) -> Mapping[str, Bdd]:
        return {self.encoding.primed(bit): self.manager.var(bit) for bit in self._functional}

    def image(self, states: Bdd) -> Bdd:
        """The successors by this partition."""
        m = self.manager
        if self._functional:
            after = m.and_exist(self._written, states & self.enabled, self._primed_updates)
            return m.substitute(after, self._unprime) & self._constants
        return m.and_exist(self._written, states, self.enabled) & self._constants

    def successor(self, state: Mapping[str, bool]) -> Mapping[str, bool] | None:
        """Where this partition takes one state, given and returned as bits; None if nowhere."""
        m = self.manager
        if not m.satisfies(self.enabled, state):
            return None
        return {**state, **{bit: m.satisfies(new, state) for bit, new in self.updates.items()}}

    def preimage(self, target: Bdd) -> Bdd:
        """The states that this partition takes into ``target``."""
        m = self.manager
        if self.enabled == m.false:
            return m.false
        if self._functional:
            return self.enabled & m.substitute(target, self.action.updates)
        return self.enabled & m.cofactor(target, self._constant)


class RelationalPartition:
    """An `ensure` action and where the agent selects it: ``relation`` over bits and primed bits."""

    def __init__(self, encoding: Encoding, action: RelationalAction) -> None:
        self.encoding = encoding
        self.manager = encoding.manager
        self.action = action
        self.relation = self.manager.false
        self.state_bits = encoding.state_bits

    @cached_property
    def prime(self) -> Mapping[str, Bdd]:
        """The renaming of the state bits to their primed copies."""
        return {bit: self.manager.var(self.encoding.primed(bit)) for bit in self.state_bits}

    @cached_property
    def _unprime(self) -> Mapping[str, Bdd]:
        return {self.encoding.primed(bit): self.manager.var(bit) for bit in self.state_bits}

    @cached_property
    def primed_bits(self) -> Bits:
        return frozenset(map(self.encoding.primed, self.state_bits))

    def image(self, states: Bdd) -> Bdd:
        """The successors by this partition."""
        m = self.manager
        return m.substitute(m.and_exist(self.state_bits, states, self.relation), self._unprime)

    def preimage(self, target: Bdd) -> Bdd:
        """The states that this partition takes into ``target``."""
        m = self.manager
        return m.and_exist(self.primed_bits, self.relation, m.substitute(target, self.prime))


class Transitions:
    """All partitions of a deployment. Nothing is enabled until `select` says what the agent takes."""

    def __init__(
        self, encoding: Encoding, tools: Sequence[CompiledTool], clusters: Mapping[Value, int]
    ) -> None:
        """``clusters`` numbers groups of values that belong together (`order`)."""
        self.encoding = encoding
        self.manager = encoding.manager
        self._clusters = clusters
        self.functional = [Partition(encoding, a) for tool in tools for a in tool.actions]
        self.relational = [RelationalPartition(encoding, a) for tool in tools for a in tool.relational]
        self._params = {t.interface.tool.name: t.interface.params for t in tools}

    @cached_property
    def groups(self) -> tuple[tuple[Partition | RelationalPartition, ...], ...]:
        """The partitions by the cluster of records they are about, in the order of the bits: a group
        is applied until it adds nothing before the next has its turn."""
        rank = self._clusters
        grouped: dict[int, list[Partition | RelationalPartition]] = {}
        for partition in self.functional:
            place = max((rank[u] for u in partition.action.about if u in rank), default=-1)
            grouped.setdefault(place, []).append(partition)
        if self.relational:
            grouped.setdefault(-1, []).extend(self.relational)
        return tuple(tuple(grouped[place]) for place in sorted(grouped))

    def __iter__(self) -> Iterator[Partition | RelationalPartition]:
        yield from self.functional
        yield from self.relational

    def select(self, tool: str, selection: Bdd) -> None:
        """The agent also takes the tool's calls of ``selection`` (state bits and parameter vectors)."""
        m = self.manager
        params = self._params[tool]
        for partition in self.functional:
            action = partition.action
            if action.tool == tool:
                fixed: dict[str, bool] = {}
                for vector, arg in zip(params, action.args, strict=True):
                    if isinstance(arg, str):
                        fixed.update(self.encoding.code(vector, arg))
                loose = frozenset(bits_of(action.args))
                taken = m.and_exist(loose, m.cofactor(selection, fixed), action.condition)
                partition.enabled = partition.enabled | taken
        loose = frozenset(bits_of(params))
        for relational in self.relational:
            if relational.action.tool == tool:
                taken = m.and_exist(loose, selection, relational.action.relation)
                relational.relation = relational.relation | taken

    def image(self, states: Bdd) -> Bdd:
        """post(S) = { D' : D → D' for some D ∈ S }"""
        return self.manager.disj(partition.image(states) for partition in self)

    def preimage(self, target: Bdd) -> Bdd:
        """pre(X) = { D : D → D' for some D' ∈ X }"""
        return self.manager.disj(partition.preimage(target) for partition in self)

    def count(self, states: Bdd) -> int:
        """|{ (D, D') : D ∈ states, D → D' }|, each pair once however many calls make it.

        Two deterministic partitions make the same pair from D exactly where both are enabled and
        their updates agree, a condition on D alone; so each partition counts the states from
        which no earlier one makes the same pair, and no relation over pairs is ever built.
        """
        bits, total = self.encoding.state_bits, 0
        own: list[Bdd] = []
        for k, partition in enumerate(self.functional):
            new = states & partition.enabled
            for j in self._twins[k]:
                new = new & ~(own[j] & self._agree(partition, self.functional[j]))
            own.append(new)
            total += self.manager.count(new, bits)
        if self.relational:
            total += self._count_relational(states, own)
        return total

    @cached_property
    def _twins(self) -> Sequence[Sequence[int]]:
        """For each partition the earlier ones that may make the same pairs.

        A bit that a partition changes whenever it is enabled must be written by its twin too.
        """
        m = self.manager
        surely: list[frozenset[str]] = []
        for partition in self.functional:
            moved = (
                bit
                for bit, new in partition.updates.items()
                if partition.action.condition & new.equiv(m.var(bit)) == m.false
            )
            surely.append(frozenset(moved))
        writers: dict[str, list[int]] = {}
        twins: list[list[int]] = []
        for k, partition in enumerate(self.functional):
            written = partition.updates.keys()
            near: Iterable[int] = range(k)
            if surely[k]:
                rarest = min(surely[k], key=lambda bit: len(writers.get(bit, ())))
                near = writers.get(rarest, ())
            twins.append(
                [j for j in near if surely[k] <= self.functional[j].updates.keys() and surely[j] <= written]
            )
            for bit in written:
                writers.setdefault(bit, []).append(k)
        return twins

    def _agree(self, left: Partition, right: Partition) -> Bdd:
        """The states in which both partitions make the same successor."""
        m = self.manager
        written = sorted(left.updates.keys() | right.updates.keys())
        return m.conj(
            left.updates.get(bit, m.var(bit)).equiv(right.updates.get(bit, m.var(bit))) for bit in written
        )

    def _count_relational(self, states: Bdd, own: Sequence[Bdd]) -> int:
        """The pairs of the `ensure` partitions that no deterministic partition makes too."""
        m = self.manager
        first = self.relational[0]
        relation = states & m.disj(partition.relation for partition in self.relational)
        pairs = m.count(relation, first.state_bits | first.primed_bits)
        for partition, new in zip(self.functional, own, strict=True):
            after = {
                self.encoding.primed(bit): partition.updates.get(bit, m.var(bit)) for bit in first.state_bits
            }
            pairs -= m.count(new & m.substitute(relation, after), first.state_bits)
        return pairs
