"""Specifications shown on the few facts that they depend on.

A question is asked of constants and names (`local.questions`), and answered on an abstraction: its states say
of a few facts whether they hold, its steps what the tools and events may do to these, all else being free.
The facts are first those that the question reads. While these do not show it, those join that are read by
what writes the ones there are: nothing else of the deployment is looked at, however large it is.

Theorem. Let h give values of U to the names, different ones to different names and none that a formula
mentions. Let α(D) be the abstract state of D: of each fact F that is followed, whether D ⊨ h(F).
(1) α(D0) is among the initial abstract states. (2) D → D' implies α(D) → α(D'), whichever agent decides.
(3) So if, over the abstract runs, the question surely holds in each initial abstract state, h of it holds in
the deployment; and if it does so for all questions of a specification, the specification holds.

Proof. (1) is `local.start`. (2) Let D' come from D by an alternative with values u of its variables. Each of
u is a constant, what a name stands for, or a value of the kind of some individual: for these values D has the
guard and the conditions, so α(D) is in their may (`local.reading`); a `new` value is in no fact of D and
outside of C. What the statements do to the facts is in `local.writes`: an atom follows from what they are
about, and a sentence with a quantifier neither changes where no atom of it may be written, nor in a direction
in which none may, nor is it other than what D' says. An alternative that may write none of the facts leaves
α(D) as it is, which is a step of the abstraction; one with `ensure` may lead anywhere. An agent selects
among these steps, and a policy selects what its rules say, read off D in the same way (`views.choices`).
(3) By (2) the image under α of each run is a run of the abstraction. For a formula of the kernel, must and
may go through ¬, ∧ and ↔ as for one state; may(E…) is E… of may over abstract steps, a superset of what is
true, since each run has an image. For must(E X Z) and must(E f U g) a tool or event with some of its values
given leads from α(D): where its condition is surely true for some values of the others, D has such a step to
some D', and α(D') is among the abstract successors for all of these values. If all of them are in Z, so is
α(D'). An agent that is any one, or whose policy its guards say, selects the call. Without `fair` sentences
each finite run is the prefix of a fair one. must(E G f) is empty. ∎

No claim of the file is used that is not shown: not the bounds, nor that there is always a step. A declared
key is used once it is shown in this way, without any key: then it holds in every reachable state, so that
abstract states that break it are left out, and conditions are read in a form that is equivalent in the others
(`local.normal`). Fairness only leaves runs out, and a run that ends has an image.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from types import MappingProxyType

import stead_sym.logic.syntax as fo
from stead_sym.agents.roles import ANY, AgentLike, Wrappers, wrap_all
from stead_sym.analyses.local.abstraction import MOST_FACTS, Scope
from stead_sym.analyses.local.answering import MOST_BRIEFLY, Answering, is_endless
from stead_sym.analyses.local.few_records import FewRecords
from stead_sym.analyses.local.field import Field, can_be_followed
from stead_sym.analyses.local.normal import Normal, with_normal_forms
from stead_sym.analyses.local.questions import always, asks_for_runs, questions, together
from stead_sym.analyses.local.refinement import MOST_FOR_KEYS, Refuted, Refuting
from stead_sym.analyses.local.single import emptying
from stead_sym.analyses.local.start import Start, begins_with_at_most_one
from stead_sym.analyses.local.values import is_name, name, numbered
from stead_sym.analyses.views.choices import acting, exact, followed, shared, turns
from stead_sym.deployment.claims import claim_named, determined, written_integers
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Choose, Delete, Ensure, Insert, Tool
from stead_sym.engines.symbolic.bdd.manager import Backend, at_work
from stead_sym.errors import Undecided
from stead_sym.logic.kernel import core
from stead_sym.logic.names import constants
from stead_sym.logic.substitution import with_constants
from stead_sym.relational.instance import Instance, broken_keys
from stead_sym.relational.schema import Value, is_numeral, tells_history
from stead_sym.support.printable import plural

FEW_VALUES = 5
"""A finite sort with more values than these has names, too, unless the specification compares its values."""

MOST_LEFT = 4
"""The maximum number of undecided questions while one that fails is searched."""

MOST_QUESTIONS = 400
"""The maximum number of questions of a specification."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A specification was shown to hold: on at most ``facts`` facts, in ``questions`` cases of values."""

    facts: int
    questions: int

    def __str__(self) -> str:
        """Return `shown on 13 facts, 3 cases`."""
        return f"shown on {plural(self.facts, 'fact')}" + f", {self.questions} cases" * (self.questions != 1)


class Local:
    """One deployment, whose specifications are shown, or refuted, on few facts each."""

    def __init__(
        self,
        deployment: Deployment,
        backend: Backend | None = None,
        *,
        exact: frozenset[str] = frozenset(),
        turns: tuple[tuple[Tool, ...], ...] = (),
        selected: Mapping[tuple[str, str], fo.Formula] = MappingProxyType({}),
        acting: tuple[fo.Formula, ...] = (),
        wider: Local | None = None,
        keys: bool = True,
        briefly: bool = False,
        state: Instance | None = None,
    ) -> None:
        """With ``keys`` a declared key is used where it is shown first.

        Runs begin in the ``state``, by default in D0.
        ``briefly``: few facts are followed for a question, and no lemmas asked for.
        Of the tools and events that are ``exact`` each enabled call may be made; of others perhaps fewer.
        ``turns`` are the tools of agents with a fairness constraint, guarded by what they select;
        ``selected`` tells where an agent selects a call of a tool that others have, too, and ``acting`` where
        agents surely make a call that has an effect. Each run is one of the deployment ``wider``, too.
        """
        self._acting, self._state = acting, state
        self._turns, self._selected, self._wider = turns, selected, wider
        self.deployment, self._backend, self.exact = deployment, backend, exact
        self._keys: dict[str, tuple[int, ...] | None] = {}
        self._single: dict[str, bool] = {}
        self._most = MOST_BRIEFLY if briefly else MOST_FACTS if keys else MOST_FOR_KEYS
        self._asking = keys and not briefly  # no lemmas for keys, and none for lemmas
        self._rests_on_nothing = not keys
        if not keys:
            self._keys = dict.fromkeys(relation.name for relation in deployment.schema.relations)
        columns = (deployment.schema.relation(each).sorts for each in written_integers(deployment))
        self._overflowing = {s for sorts in columns for s in sorts if deployment.schema.sort(s).is_numeric}
        """Sorts of integers of which a fact may have another value."""

    @classmethod
    def under(
        cls,
        deployment: Deployment,
        agent: AgentLike | Mapping[str, AgentLike] = ANY,
        backend: Backend | None = None,
        *,
        briefly: bool = False,
        state: Instance | None = None,
    ) -> Local:
        """Return the deployment under an agent: with its policies, and no restriction by any other agent."""
        return cls.under_all(deployment, wrap_all(deployment, agent), backend, briefly=briefly, state=state)

    @classmethod
    def under_all(
        cls,
        deployment: Deployment,
        wrappers: Wrappers,
        backend: Backend | None = None,
        *,
        briefly: bool = False,
        state: Instance | None = None,
    ) -> Local:
        """Return the deployment under its agents as they are wrapped (`under`)."""
        guarded = followed(deployment, wrappers, None)
        same = guarded.tools_and_events == deployment.tools_and_events
        return cls(
            guarded,
            backend,
            exact=exact(deployment, wrappers),
            turns=tuple(turns(deployment, wrappers)),
            selected=shared(deployment, wrappers),
            acting=tuple(acting(deployment, wrappers)),
            wider=None if same else cls(deployment, backend, briefly=briefly, state=state),
            briefly=briefly,
            state=state,
        )

    def key(self, relation: str) -> tuple[int, ...] | None:
        """Return the declared key of a relation if it is shown to hold in each reachable state; else None."""
        keys = () if tells_history(relation) else self.deployment.schema.relation(relation).keys
        if not keys:
            return None
        if relation not in self._keys:
            self._keys[relation] = None  # nothing rests on what is to be shown
            claim = claim_named(self.deployment, f"key of {relation}")
            assert claim is not None
            if self._always_without_keys(claim.invariant):
                self._keys[relation] = keys
        return self._keys[relation]

    def _determining(self, relation: str) -> tuple[int, ...] | None:
        """Return the same, and no column for a relation that is shown to have at most one tuple."""
        return () if self._is_single(relation) else self.key(relation)

    def _is_single(self, relation: str) -> bool:
        """Return if a relation is shown to have at most one tuple in each reachable state."""
        begins_single = begins_with_at_most_one(self.deployment, relation, self._state)
        if tells_history(relation) or self._rests_on_nothing or not begins_single:
            return False
        if relation not in self._single:
            one = determined(self.deployment, self.deployment.schema.relation(relation), ())
            self._single[relation] = self._always_without_keys(one)
        return self._single[relation]

    def _always_without_keys(self, sentence: fo.Expanded) -> bool:
        """Return if a sentence is shown in each reachable state, using no key."""
        without = Local(self.deployment, self._backend, keys=False, state=self._state)
        return isinstance(without.shown(always(sentence)), Shown)

    @cached_property
    def _emptying(self) -> Deployment:
        """Return the deployment with what empties a relation as such (`local.single`)."""
        return emptying(self.deployment, self._is_single)

    @cached_property
    def _about_states(self) -> tuple[Deployment, Normal]:
        """Return the deployment in normal form, by the keys that are shown."""
        return _in_normal_form(self.deployment, self.key)

    @cached_property
    def _about_runs(self) -> tuple[Deployment, Normal]:
        """Return the same for questions about runs, by the relations with at most one tuple, too."""
        return _in_normal_form(self._emptying, self._determining)

    @at_work()
    def shown(
        self, formula: fo.Expanded, *, refuting: FewRecords | None = None, negated: fo.Expanded | None = None
    ) -> Shown | Refuted | str:
        """Return how a sentence is shown to hold, or why it is not shown.

        With ``refuting`` a run by which it fails is searched, too. If the sentence is the negation of
        ``negated``, this run is endless and shows that ``negated`` holds.
        """
        endless = is_endless(formula)
        if endless and (of_all := self._for_every_agent(formula, refuting, negated)) is not None:
            return of_all  # what has to come to an end differs little, and fewer facts matter
        try:
            sentence, stands_for = self._with_names(formula)
        except Undecided as undecided:
            return str(undecided)
        mentioned = self._mentioned(sentence)
        schema = self.deployment.schema
        listed = {
            s.name for s in schema.sorts if s.values is not None and len(s.values) == len(mentioned[s.name])
        }
        named = frozenset(sort.name for sort in schema.sorts) - (listed - self._overflowing)
        start = Start(self.deployment, mentioned, self._state, stands_for)
        rest = {
            sort.name: tuple(value for value in sort.values if value not in mentioned[sort.name])
            for sort in schema.sorts
            if sort.values is not None and sort.name not in self._overflowing
        }
        about_runs = asks_for_runs(core(formula)) or endless
        deployment, normal = self._about_runs if about_runs else self._about_states
        key = self._determining if about_runs else self.key
        starts = self.starts_with_keys
        scope = Scope(
            deployment,
            normal,
            self.exact,
            key,
            starts,
            mentioned,
            named,
            start,
            rest,
            tuple(map(normal, self._acting)),
            frozenset(self._overflowing),
            most=self._most,
            asking=self._asking,
        )
        runs = None
        if refuting is not None and can_be_followed(self.deployment):
            of_runs = formula if negated is None else negated
            runs = Refuting(self._field(start), of_runs, negated is not None, refuting)
        asked = [*islice(questions(sentence, mentioned, named), MOST_QUESTIONS + 1)]
        if len(asked) > MOST_QUESTIONS:
            return f"it comes to more than {MOST_QUESTIONS} cases"
        found = self._of_all(asked, scope, runs)
        if isinstance(found, str) and self._turns and endless:
            with_agents = self._of_all(asked, replace(scope, turns=self._turns_in(scope.normal)), None)
            if isinstance(with_agents, Shown):
                return with_agents
        if isinstance(found, str) and not endless and (of_all := self._for_every_agent(formula)) is not None:
            return of_all
        return found

    def _for_every_agent(
        self, formula: fo.Expanded, refuting: FewRecords | None = None, negated: fo.Expanded | None = None
    ) -> Shown | None:
        """Return how a sentence is shown whatever the agents select, None if it is not.

        With ``refuting`` a run by which it fails for some agent ends this soon.
        """
        if self._wider is None or asks_for_runs(core(formula)):
            return None
        found = self._wider.shown(formula, refuting=refuting, negated=negated)
        return found if isinstance(found, Shown) else None

    def _field(self, start: Start) -> Field:
        """Return the deployment to follow runs in; conditions in normal form are evaluated faster."""
        deployment, normal = self._about_states
        return Field(deployment, start, {each: normal(f) for each, f in self._selected.items()})

    def _turns_in(self, normal: Normal) -> tuple[tuple[Tool, ...], ...]:
        return tuple(tuple(with_normal_forms(tool, normal) for tool in tools) for tools in self._turns)

    def _of_all(
        self, asked: Sequence[fo.Formula], scope: Scope, runs: Refuting | None
    ) -> Shown | Refuted | str:
        """Return how all questions are shown, a run that breaks one, or why one is left open."""
        most, left = 0, list[str]()
        answering = Answering(self.deployment, self._backend, in_stages=self._asking)
        for whole, parts in together(asked):
            endless = is_endless(whole)  # what has to come to an end differs from part to part
            found = answering(whole, scope, None) if len(parts) > 1 and not endless else ""
            of_parts: Iterable[int | Refuted | str] = [found]
            if isinstance(found, str):  # fewer facts matter to each part, and a run breaks one
                of_parts = (answering(part, scope, runs) for part in parts)
            for one in of_parts:
                match one:
                    case Refuted():
                        return one
                    case str():
                        left.append(one)
                        if runs is None or len(left) > MOST_LEFT:
                            return left[0]
                    case int():
                        most = max(most, one)
        return left[0] if left else Shown(most, len(asked))

    def _with_names(self, formula: fo.Formula) -> tuple[fo.Formula, Mapping[Value, Value]]:
        """Return the formula with a name for each value outside C, and what the names stand for.

        Raise `Undecided` if the sort of such a value is not known.
        """
        strange = sorted(
            v for v in constants(formula) - self.deployment.all_constants if not (is_numeral(v) or is_name(v))
        )
        sorts = dict[Value, str]()
        for atom in (part for part in fo.subformulas(formula) if isinstance(part, fo.Atom)):
            if not tells_history(atom.relation):
                columns = zip(atom.args, self.deployment.schema.relation(atom.relation).sorts, strict=True)
                sorts |= {term.value: sort for term, sort in columns if isinstance(term, fo.Const)}
        if unknown := [value for value in strange if value not in sorts]:
            raise Undecided(f"of {unknown[0]} no fact is known")
        names = dict[Value, Value]()
        for value in strange:
            names[name(sorts[value], numbered(names, sorts[value]))] = value
        return with_constants(formula, {value: fo.Const(one) for one, value in names.items()}), names

    def _mentioned(self, formula: fo.Formula) -> Mapping[str, tuple[Value, ...]]:
        """Return per sort the constants that the deployment or the formula mentions.

        Of a finite sort these are all, if they are few or the formula compares them.
        """
        found = self._in_tools | constants(formula)
        compared = {part.sort for part in fo.subformulas(formula) if isinstance(part, fo.Compare)}
        of_sort, sorts = self.deployment.constants, self.deployment.schema.sorts
        whole = {s.name for s in sorts if s.values and (s.name in compared or len(s.values) <= FEW_VALUES)}
        return {
            sort.name: tuple(value for value in of_sort[sort.name] if sort.name in whole or value in found)
            for sort in sorts
        }

    @cached_property
    def starts_with_keys(self) -> bool:
        """Return if no initial state breaks a declared key; `initially any` requires that, too."""
        state = self.deployment.init if self._state is None else self._state
        return not any(broken_keys(self.deployment.schema, state.facts))

    @cached_property
    def _in_tools(self) -> frozenset[Value]:
        tools = (*self.deployment.tools_and_events, *chain.from_iterable(self._turns))
        formulas = chain(self._acting, chain.from_iterable(map(_formulas, tools)))
        return frozenset(value for f in formulas for value in constants(f))


def few_records(
    deployment: Deployment, agents: AgentLike | Mapping[str, AgentLike], backend: Backend | None = None
) -> FewRecords:
    """Return the search for runs of a deployment under its agents, on few records of the data."""

    def showing(state: Instance) -> Callable[[fo.Expanded], int | None]:
        local = Local.under(deployment, agents, backend, briefly=True, state=state)

        def facts(sentence: fo.Expanded) -> int | None:
            found = local.shown(sentence)
            return found.facts if isinstance(found, Shown) else None

        return facts

    return FewRecords(deployment, agents, backend, showing)


def _in_normal_form(
    deployment: Deployment, key: Callable[[str], tuple[int, ...] | None]
) -> tuple[Deployment, Normal]:
    normal = Normal(deployment.schema, key)
    tools = tuple(with_normal_forms(tool, normal) for tool in deployment.tools_and_events)
    return deployment.with_tools(tools), normal


def _formulas(tool: Tool) -> Iterator[fo.Formula]:
    """Yield all formulas of a tool and its effects, and the atoms of its statements."""
    yield tool.guard
    for effect in tool.effects:
        yield effect.when
        for statement in effect.statements:
            match statement:
                case Choose(_, where):
                    yield where
                case Insert(atom, _, where) | Delete(atom, _, where):
                    yield from (atom, where)
                case Ensure(formula):
                    yield formula
                case _:
                    pass
