"""Check a set of views: it contains the parts of all reachable instances, of every size.

A view is an instance over at most k values outside C. Let γ be all instances D whose parts on at most k
values are views up to renaming, and I the declared keys, the bounds of the bounded sorts, and the invariants
named in the certificate. With n computed by `checker.needed` from the deployment, where no more values of a
bounded sort are counted than its bound allows:

    1  a part of a view is a view; k is at least the number of open columns of each relation; each sentence
       of I is true in each part of an instance in which it is true.
    2  the parts on k values of each D0 are views, and D0 ⊨ I.
    3  each step from D ∈ γ, D ⊨ I, over n values leads to a D' whose parts on k values are views, D' ⊨ I.
    4  each claimed sentence is true in each D ∈ γ, D ⊨ I, over as many values as its negation needs.

A sentence of I may depend on the facts of some relations K only: if it speaks of no others, and each value
over which a quantifier of it has to range is in a fact of K. If it is true in D and false in D', then facts
of K differ between parts of D and D' on as many values as its negation needs. So of a step only what the
statements about K rest on is counted for it, which is nothing if there are none.

Sets of instances are diagrams over the facts on n names. One decision: names are interchangeable, so that
among the calls that are renamings of each other one is checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import stead_sym.logic.syntax as fo
from stead_sym.certificate.checker.answered import Answered
from stead_sym.certificate.checker.grounding import Grounding
from stead_sym.certificate.checker.ledger import Ledger
from stead_sym.certificate.checker.needed import Needed, depends_on
from stead_sym.certificate.checker.over_names import Given, OverNames, sizes_of
from stead_sym.certificate.checker.starting import Recorded, Starting
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.deployment.tool import Tool
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.errors import Undecided
from stead_sym.relational.instance import Fact

MOST_VALUES = 8
"""The maximum number of values outside C of the instances that are checked."""


@dataclass(frozen=True)
class Assumed:
    """A sentence of I, by its name; for a key or a bound the ``relation``, or the ``sort`` and ``bound``.

    Its truth depends on the facts of the relations ``about``, or if that is None on all facts.
    """

    name: str
    about: frozenset[str] | None
    sentence: fo.Formula | None = None
    relation: str | None = None
    sort: str | None = None
    bound: int = 0


class Views:
    """The obligations of a set of views.

    ``counts`` has the number of checked obligations per part, and ``claims`` per claim.
    """

    def __init__(self, given: Given) -> None:
        self.given, self.deployment = given, given.deployment
        self.counts: Counter[str] = Counter()
        self.claims: Counter[str] = Counter()
        self.needed = Needed(self.deployment)
        bounds = self.deployment.bounds.items()
        self._bounds = {sort: bound for sort, bound in bounds if sort not in given.open_sorts}
        self._unbounded = Needed(self.deployment, self._bounds)
        self._assumed = tuple(self._all_assumed())

    def _all_assumed(self) -> Iterator[Assumed]:
        for relation in self.deployment.schema.relations:
            if relation.keys:
                about = frozenset((relation.name,))
                yield Assumed(f"key of {relation.name}", about, relation=relation.name)
        for sort, bound in self._bounds.items():
            yield Assumed(f"bound {sort} {bound}", None, sort=sort, bound=bound)
        for name, sentence in self.given.invariants.items():
            yield Assumed(name, depends_on(sentence), sentence)

    def refuting(self, assumed: Assumed) -> int:
        """Return how many values keep a sentence of I false."""
        return self._refuting(assumed, self.needed)

    def _refuting(self, assumed: Assumed, needed: Needed) -> int:
        if assumed.relation is not None:
            return self._of_key(assumed.relation, needed)
        if assumed.sort is not None:
            return (assumed.bound + 1) * (needed.open(assumed.sort) + needed.beside(assumed.sort))
        assert assumed.sentence is not None
        return needed.false(assumed.sentence)

    def _of_key(self, relation: str, needed: Needed) -> int:
        """Return the number of values of two facts with one key: those of the key, and twice the others."""
        schema = self.deployment.schema.relation(relation)
        own = [needed.open(sort) for sort in schema.sorts]
        return 2 * sum(own) - sum(own[place] for place in schema.keys)

    # obligations

    def check(self) -> None:
        """Check obligations 1 to 3."""
        place = "views"
        columns = max((self.needed.columns(r.name) for r in self.deployment.schema.relations), default=0)
        self._true(
            self.given.k >= max(1, columns), f"k is at least {columns}, the open columns of a relation", place
        )
        for view in self.given.views:
            sort_of = self.given.sort_of(view)
            self._true(len(sort_of) <= self.given.k, f"a view has {self.given.k} values at most", place)
            for value in sort_of:
                part = self.given.form(fact for fact in view if value not in fact.args)
                self._true(part in self.given.views, "a part of a view is a view", place)
        for name, sentence in self.given.invariants.items():
            kept = self.needed.true(sentence)
            self._true(kept == 0, f"{name} is true in each part of an instance in which it is", place)
        self._check_initial()
        for n, tools in self._by_size().items():
            for sizes in sizes_of(n, len(self.given.sorts)):
                self._check_steps(sizes, tools)

    def always(self, name: str, sentences: Iterable[fo.Formula]) -> None:
        """Check obligation 4 for sentences."""
        for sentence in sentences:
            self._everywhere(sentence, "it is true where all parts are views", f"spec {name}", name)

    def check_answers(self, answered: Answered) -> None:
        """Check the obligations of the answers of an agent."""
        place = f"decisions of {answered.role.name or 'the agent'}"
        for sentence in answered.few():
            self._everywhere(sentence, "no more values are shown and offered", place)
        most, beside = answered.keeping(self.needed)
        for more in sizes_of(self._limited(sum(most.values()) + beside) - sum(most.values()), len(most)):
            sizes = tuple(most[sort] + more[at] for at, sort in enumerate(self.given.sorts))
            there = OverNames(self.given, sizes)
            wrong = there.admitted & ~there.formulas(answered.covered(), {})
            there.ledger.empty(wrong, "the agent was asked about what is shown and offered", place)
            self._add(there.ledger)

    def _everywhere(
        self, sentence: fo.Formula, obligation: str, place: str, claim: str | None = None
    ) -> None:
        n = self._fewer(self.needed.false(sentence), self._unbounded.false(sentence))
        for sizes in sizes_of(self._limited(n), len(self.given.sorts)):
            there = OverNames(self.given, sizes)
            there.ledger.claim = claim
            there.ledger.empty(there.admitted & ~there.formulas(sentence, {}), obligation, place)
            self._add(there.ledger)

    def _by_size(self) -> Mapping[int, Sequence[Tool]]:
        """Return the tools by n."""
        groups: dict[int, list[Tool]] = {}
        for tool in self.deployment.tools_and_events:
            n = self._fewer(self._step(tool, self.needed), self._step(tool, self._unbounded))
            groups.setdefault(self._limited(n), []).append(tool)
        return groups

    def _step(self, tool: Tool, needed: Needed) -> int:
        """Return the number of values for the steps of a tool."""
        refuting = ((self._refuting(one, needed), one.about) for one in self._assumed)
        asked = [(self.given.k, None), *refuting]
        return max(needed.step(tool, effect, k, r) for effect in tool.effects for k, r in asked)

    def _fewer(self, every: int, unbounded: int) -> int:
        """Return the smaller of two numbers: of values of every sort, and of sorts without a bound.

        To the latter all values are added that the bounds allow.
        """
        return min(every, unbounded + sum(self._bounds.values()))

    def _limited(self, n: int) -> int:
        if n > MOST_VALUES:
            raise Undecided(f"unknown: it takes databases of {n} records, and {MOST_VALUES} are looked at")
        return n

    def _check_initial(self) -> None:
        """Check obligation 2: the parts of all D0 on k values, and D0 ⊨ I.

        The latter is checked over as many values as keep a sentence of I false.
        """
        if self.given.records is not None:
            self._check_records(self.given.records)
            return
        if self.deployment.initially is None:
            there = OverNames(self.given, (0,) * len(self.given.sorts), extra=self.deployment.init.facts)
            start = there.space.manager.cube(
                {bit: fact in self.deployment.init for fact, bit in there.space.atoms.items()}
            )
            self._check_start(there, start, parts=True)
            return
        starting = Starting(self.given, self.needed)
        for n in {self.given.k, *map(self.refuting, self._assumed)}:
            for sizes in sizes_of(self._limited(n), len(self.given.sorts)):
                for there, start in starting.over(sizes, MOST_VALUES):
                    self._check_start(there, start, parts=n == self.given.k)

    def _check_records(self, facts: frozenset[Fact]) -> None:
        """Check obligation 2 if identifiers of D0 are values.

        The values of a bounded sort in D0 are all in C.
        """
        place, schema = "initial instances", self.deployment.schema
        parts = frozenset(Recorded(self.given, facts).parts())
        for part in parts:
            self._true(part in self.given.views, "the parts of each D0 are views", place)
        keys = Counter((f.relation, schema.relation(f.relation).key(f.args)) for f in facts)
        for (relation, _), number in keys.items():
            if schema.relation(relation).keys and number > 1:
                raise CertificateRejected(f"D0 keeps the key of {relation}", place)
        known = replace(self.given, views=parts, invariants={})
        for name, sentence in self.given.invariants.items():
            for sizes in sizes_of(self._limited(self.needed.false(sentence)), len(self.given.sorts)):
                there = OverNames(known, sizes)
                there.ledger.empty(there.admitted & ~there.formulas(sentence, {}), f"D0 keeps {name}", place)
                self._add(there.ledger)

    def _check_start(self, there: OverNames, start: Bdd, *, parts: bool) -> None:
        place = "initial instances"
        wrong = there.space.manager.disj(start & case for _, cases in there.broken for case in cases)
        there.ledger.empty(wrong, "each D0 satisfies what is assumed", place)
        if parts:
            own = frozenset(value for names in there.first.values() for value in names)
            there.ledger.within(start, there.viewed(own), "the parts of each D0 are views", place)
        self._add(there.ledger)

    def _check_steps(self, sizes: tuple[int, ...], tools: Sequence[Tool]) -> None:
        fresh = {
            sort: max(
                (sum(b.sort == sort for b in e.fresh) for tool in tools for e in tool.effects), default=0
            )
            for sort in self.given.sorts
        }
        there = OverNames(self.given, sizes, fresh)
        if there.admitted == there.space.manager.false:
            return
        grounding = Grounding(
            there.space,
            self.deployment,
            there.formulas,
            there.facts,
            there.admitted,
            there.ledger,
            literal=False,
            named={},
            any_value=self.given.records is not None,
        )
        for tool in tools:
            for call, where in grounding.calls(tool).items():
                if there.is_first(call):
                    for leaf in grounding.leaves(tool, call, where):
                        if grounding.possible(leaf.where):
                            step = grounding.step(leaf, leaf.where)
                            there.check_step(step.where & there.admitted, step.writes, call)
        self._add(there.ledger)

    def _true(self, condition: bool, obligation: str, place: str) -> None:
        self.counts[place] += 1
        if not condition:
            raise CertificateRejected(obligation, place)

    def _add(self, ledger: Ledger) -> None:
        self.counts += ledger.counts
        self.claims += ledger.claims
