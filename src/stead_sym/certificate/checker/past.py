"""The records of a state besides the database, as obligations: their definitions for all facts over U_f.

    did ω(…) [by a]   { u : the step into Dn was a call of ω with u at these places [by a] },  none in a D0
    refused ω(…)      the same of a call that was refused, which `did` is not about
    f since g         { σ : σ counts in Dn, and (Dn, σ) ⊨ g, or (Dn, σ) ⊨ f and (Dn−1, σ) ⊨ f since g }
    previously f      { σ : σ counts in Dn and in Dn−1, and (Dn−1, σ) ⊨ f },  none in a D0

σ counts in D if its values are active there or constants. In a formula that contains another one of these the
inner one is a fact of the same state. The self-loop of a terminal state is not a step: everything is
unchanged. To write a call into a message is none for `did`, `refused` and `previously`, which are unchanged.

One decision: a fact without a bit is claimed to be always false, which is an obligation on each D0 and on
the steps of each call. So a certificate can neither omit a part of the past nor invent one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import assert_never

import stead_sym.logic.syntax as fo
from stead_sym.certificate.checker.ensured import all_facts
from stead_sym.certificate.checker.formulas import Facts, Formulas
from stead_sym.certificate.checker.ledger import Ledger
from stead_sym.certificate.checker.space import Space
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.following import Before, Kept, LastStep, SinceThen
from stead_sym.deployment.tool import Call, Tool
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value


class Past:
    """The past over the bits of one certificate.

    ``now`` reads formulas in the states D of R, ``later`` in every D'.
    """

    def __init__(
        self,
        space: Space,
        deployment: Deployment,
        now: Formulas,
        later: Formulas,
        reached: Bdd,
        ledger: Ledger,
    ) -> None:
        self.space, self.manager, self.deployment = space, space.manager, deployment
        self._now, self._later, self._reached, self._ledger = now, later, reached, ledger

    @cached_property
    def _facts(self) -> Sequence[tuple[Kept, Fact]]:
        return [
            (kept, fact)
            for kept in self.deployment.history.kept
            for fact in all_facts([kept.relation], self.space.domain, f"`{kept.relation.name}`")
        ]

    def begun(self, databases: Bdd) -> Bdd:
        """Return the initial states with these databases.

        Formulas are read in all states: the obligation that the D0 are in R must not use `now`, which may be
        wrong outside R.
        """
        space, m = self.space, self.manager
        told = {fact: m.var(bit) for fact, bit in space.atoms.items()} | dict.fromkeys(space.static, m.true)
        reading = Formulas(space, self.deployment.schema, Facts(self.deployment.schema, told))
        for kept, fact in self._facts:
            true = m.false
            if isinstance(kept, SinceThen):
                true = self._counts(reading, kept, fact) & _read(reading, kept.right, kept, fact)
            if fact in space.atoms:
                databases = databases & space.now(fact).equiv(true)
            else:
                self._ledger.empty(databases & true, f"no D0 has {fact}", "initial states")
        return databases

    def recorded(self, steps: Bdd, tool: Tool, call: Call, actor: str | None, refused: bool) -> Bdd:
        """Return the steps of a call by an agent, or of an event, to states, from its steps to databases.

        The call is ``refused`` or not in all of them.
        """
        space = self.space
        if not self.deployment.history:
            return steps
        if tool.stays:
            for fact in space.told:
                steps = steps & space.after(fact).equiv(space.now(fact))
            return steps
        last = () if tool.writes else self._last(call, actor, refused)
        for fact, true in (*last, *(self._written if tool.writes else self._lasting)):
            if fact in space.atoms:
                steps = steps & space.after(fact).equiv(true)
            elif true != self.manager.false:
                wrong = self._reached & steps & true
                self._ledger.empty(wrong, f"no step makes {fact} true", f"steps of {tool.name}")
        return steps

    def _last(self, call: Call, actor: str | None, refused: bool) -> Iterator[tuple[Fact, Bdd]]:
        m = self.manager
        for kept, fact in self._facts:
            if isinstance(kept, LastStep):
                is_it = kept.tool == call.tool and kept.agent in (None, actor) and kept.refused == refused
                is_it = is_it and fact.args == tuple(call.args[place] for place in kept.places)
                yield fact, m.true if is_it else m.false

    @cached_property
    def _lasting(self) -> Sequence[tuple[Fact, Bdd]]:
        """The condition under which f since g, or previously f, is true after a step, over D and D'."""
        return [*self._updates(SinceThen), *self._updates(Before)]

    @cached_property
    def _written(self) -> Sequence[tuple[Fact, Bdd]]:
        """The same of all facts after a step that writes a call: all but f since g stay as they are."""
        found = self._updates(SinceThen)
        for kept, fact in self._facts:
            if not isinstance(kept, SinceThen):
                found.append((fact, self.space.now(fact) if fact in self.space.atoms else self.manager.false))
        return found

    def _updates(self, kind: type[SinceThen] | type[Before]) -> list[tuple[Fact, Bdd]]:
        found: list[tuple[Fact, Bdd]] = []
        for kept, fact in self._facts:
            if not isinstance(kept, kind):
                continue
            match kept:
                case SinceThen(left=left, right=right):
                    before = self.space.now(fact) if fact in self.space.atoms else self.manager.false
                    lasts = _read(self._later, left, kept, fact) & before
                    true = _read(self._later, right, kept, fact) | lasts
                case Before(body=body):
                    true = self._counts(self._now, kept, fact) & _read(self._now, body, kept, fact)
                case _:
                    assert_never(kept)
            found.append((fact, self._counts(self._later, kept, fact) & true))
        return found

    def _counts(self, reading: Formulas, kept: Kept, fact: Fact) -> Bdd:
        constants = self.deployment.constants
        return self.manager.conj(
            reading.active(sort, value)
            for sort, value in zip(kept.relation.sorts, fact.args, strict=True)
            if value not in constants[sort]
        )


def _read(reading: Formulas, formula: fo.Formula, kept: SinceThen | Before, fact: Fact) -> Bdd:
    return reading(formula, dict(zip(kept.variables, fact.args, strict=True)))


def of_steps(space: Space, deployment: Deployment) -> Mapping[tuple[str, Value], Sequence[Fact]]:
    """Return, for each value of a sort, the facts that state that it is an argument of the last step.

    Such a value need not be active.
    """
    found: dict[tuple[str, Value], list[Fact]] = {}
    whole = {
        kept.relation.name: kept.relation
        for kept in deployment.history.kept
        if isinstance(kept, LastStep) and kept.whole and kept.agent is None
    }
    for fact in space.told:
        if fact.relation in whole:
            for pair in set(zip(whole[fact.relation].sorts, fact.args, strict=True)):
                found.setdefault(pair, []).append(fact)
    return found
