"""Answers to one question: on facts that join, with a further value, or in stages.

Each way is a question again, or several, on an abstraction of its own (`local.refinement`). Which way is
tried first decides about time alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, islice

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.abstraction import Scope
from stead_sym.analyses.local.facts import as_fact
from stead_sym.analyses.local.questions import by_witness
from stead_sym.analyses.local.reading import is_instance
from stead_sym.analyses.local.refinement import Question, Refuted, Refuting
from stead_sym.analyses.local.stages import in_stages
from stead_sym.analyses.local.start import names_in
from stead_sym.analyses.local.values import numbered
from stead_sym.analyses.local.witnesses import Witness, of_fair_events, of_keys
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Tool
from stead_sym.engines.symbolic.bdd.manager import Backend
from stead_sym.errors import Undecided
from stead_sym.logic.kernel import core

MOST_WITNESSES = 4
"""The maximum number of ways to ask a question, with values for which a fair event comes."""

MOST_OF_STAGES = 32
"""The maximum number of facts that are followed for a stage of a run."""

MOST_BRIEFLY = 12
"""The maximum number of facts on which a question is asked with a further value, before a run is searched."""


class Answering:
    """The ways to answer questions about a deployment."""

    def __init__(self, deployment: Deployment, backend: Backend | None, *, in_stages: bool) -> None:
        """``in_stages``: that a run exists may be shown in stages."""
        self._deployment, self._backend, self._stages = deployment, backend, in_stages

    def __call__(self, question: fo.Formula, scope: Scope, refuting: Refuting | None) -> int | Refuted | str:
        """Return on how many facts a question is shown, a run that breaks it, or why there is neither."""
        try:
            return self._decided(question, scope, refuting)
        except Undecided as undecided:
            return str(undecided)

    def _decided(self, question: fo.Formula, scope: Scope, refuting: Refuting | None) -> int | Refuted | str:
        """Return the same; raise `Undecided` at a limit."""
        asked = Question(question, scope, self._backend)
        schema = self._deployment.schema
        fair = of_fair_events(question, self._fair_events, schema) if self._may_be_fair(question) else ()
        given = () if is_endless(question) else of_keys(scope.normal(question), schema)
        others = chain(given, asked.witnesses())
        # what is asked in vain on so few facts is not counted: it may be shown on more
        few = replace(scope, most=MOST_BRIEFLY, lemmas=replace(scope.lemmas, failed=Counter()))
        found = asked.answer(
            refuting,
            partial(self._by_witness, question, few),
            self._by_witness(question, replace(scope, asking=False), fair),
            self._by_witness(question, scope, others),
        )
        if isinstance(found, str) and (most := self._in_stages(question, scope)) is not None:
            return most
        return found

    def _may_be_fair(self, question: fo.Formula) -> bool:
        """Return if a question is AG about endless runs, on which events have to come."""
        return (
            isinstance(question, fo.Globally)
            and not self._deployment.fair
            and bool(self._fair_events)
            and is_endless(question)
        )

    @cached_property
    def _fair_events(self) -> tuple[Tool, ...]:
        names = {action.name for action in self._deployment.fair_actions if action.kind == "event"}
        return tuple(event for event in self._deployment.events if event.name in names)

    def _by_witness(
        self,
        question: fo.Formula,
        scope: Scope,
        witnesses: Iterable[Witness],
        *,
        again: bool = False,
    ) -> Iterator[int]:
        """Yield on how many facts a question is shown with a value more, one of a witness.

        With ``again`` this is tried of what is asked then, too.
        """
        if not isinstance(question, fo.Globally) or question.path != "A":
            return
        used = {sort: numbered(names_in(question), sort) for sort in scope.named}
        assumed = [*fo.conjuncts(core(fo.Not(question.body)))]
        atoms = [part for part in assumed if isinstance(part, fo.Atom)]
        false = {as_fact(core(part.body)) for part in assumed if isinstance(part, fo.Not)} - {None}
        new = (  # of what the question says one case is the question again
            one
            for one in dict.fromkeys(witnesses)
            if as_fact(one.some) not in false
            and not any(
                isinstance(one.condition, fo.Atom)
                and atom.relation == one.condition.relation
                and is_instance(one.condition.args, atom.args)
                for atom in atoms
            )
        )
        for witness in islice(new, MOST_WITNESSES):
            cases = by_witness(question, witness, scope.mentioned, used)
            further = again and isinstance(witness.condition, fo.Atom) and not witness.always
            if (most := self._facts_for(cases, scope, to_the_end=witness.always, again=further)) is not None:
                yield most

    def _in_stages(self, question: fo.Formula, scope: Scope) -> int | None:
        """Return on how many facts a question AG (p → EF q) is shown in stages (`local.stages`)."""
        narrow = replace(scope, most=MOST_OF_STAGES, lemmas=replace(scope.lemmas, failed=Counter()))
        most = 0

        def shows(question: fo.Formula, *, briefly: bool) -> bool:
            nonlocal most
            within = replace(narrow, most=MOST_BRIEFLY) if briefly else narrow
            found = self._facts_for([question], within, to_the_end=False, again=not briefly)
            most = max(most, found or 0)
            return found is not None

        tools, schema = scope.deployment.tools_and_events, scope.deployment.schema
        return most if self._stages and in_stages(question, tools, schema, shows) else None

    def _facts_for(
        self, questions: Iterable[fo.Formula], scope: Scope, *, to_the_end: bool, again: bool
    ) -> int | None:
        """Return on how many facts all questions are shown, None if one is not.

        With ``to_the_end`` all facts are followed that may matter where a run may stay.
        """
        most = 0
        for question in questions:
            try:
                asked = Question(question, scope, self._backend)
                late: Iterator[int] | None = iter(()) if to_the_end else None
                if again:
                    late = self._by_witness(question, scope, asked.witnesses(), again=again)
                how = asked.answer(None, late=late)
            except Undecided:
                return None
            if not isinstance(how, int):
                return None
            most = max(most, how)
        return most


def is_endless(question: fo.Formula) -> bool:
    """Return if a question is about endless runs."""
    return any(isinstance(part, fo.Globally) for part in fo.subformulas(core(question)))
