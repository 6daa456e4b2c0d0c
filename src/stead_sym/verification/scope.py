"""Scope of a verdict: how the verified agent over- or under-approximates the deployed one.

Definition. The verified system is M, in which each agent makes every call that it may make: an agent `any`
all that it is offered, any other agent all that Π^can selects of it. A verdict is about the agents *within*
M. They select some of these calls, in each state and each time anew, possibly by the history; at least

- one of all of them, if the agent is `any`, or its answers are sampled, divided or taken with a
  tolerance: every such agent may be deployed (*free*);
- one of each orbit otherwise, the calls that automorphisms of a context map to each other (*tied*). An
  equivariant agent cannot choose among symmetric calls, and the deployed agent takes one. Calls that are not
  symmetric are distinguished by the view of the agent; a policy that selects several means all of them.

Events, the outcomes of a call and agents of neither kind behave as in M. Two agents can differ only if some
agent is free in a reachable state in which it may make two calls, or tied in one in which two calls that it
may make are symmetric.

A verdict is hedged exactly if it is not established for all agents within M. It is established

- if nothing is left open, as above;
- for a specification that holds, if all its path quantifiers are A when negations are pushed inwards, and for
  one that fails, if all are E: the runs of an agent within M are runs of M. (This excludes `fair` sentences,
  and fair tools, that force progress: an agent may fail to meet them.)
- if everything that the evidence rests on exists for every resolution of the choices, for example a run
  without a choice;
- if a game shows it in which the agent is the opponent (`Engine.whatever_chosen`).

The hedge over-approximates: a verdict without one is that of all agents within M, and a verdict with one may
be so too. This happens if the game does not decide. (It does if one path quantifier is outermost with no
other below it; two may require different choices, as in `EF P | EF Q`.) It happens if the game is not played:
more than `orbits.MOST_STATES` states; actions assumed fair, with a specification that asks for progress;
`did … by` of several agents. And it happens if calls that were not compared are taken to be symmetric
(`Engine.is_among_alike`).

The dual holds if the verified system is *narrower* than an agent. Let χ be the specification if it holds and
its negation otherwise; χ may be lost unless all its path quantifiers are E.

One decision: a verdict is that of the semantics, of the set-valued agent that was verified. This module adds
sentences that qualify it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil

import stead_sym.logic.syntax as fo
from stead_sym.agents.records.answer import Answer, recorded_answers
from stead_sym.agents.records.possible import Greedy
from stead_sym.agents.records.repeated import asked, repeated
from stead_sym.agents.records.weight import weight
from stead_sym.agents.roles import Wrappers
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import ANY, SELF, AgentRole, Spec
from stead_sym.deployment.terminal import called
from stead_sym.deployment.tool import Tool
from stead_sym.engines.protocol import Choosers, Engine
from stead_sym.evidence.tree import Evidence
from stead_sym.logic.substitution import substitute
from stead_sym.verification.findings.finding import Finding
from stead_sym.verification.findings.occurrences import asks_for_progress, quantifies
from stead_sym.verification.orbits import Open

CONFIDENCE = 0.95
"""The confidence in statements about samples: that an answer of the stated probability has been seen."""


@dataclass(frozen=True, slots=True)
class Wider:
    """An over-approximation: the verified system has behaviour that the deployed agent may not have.

    ``some`` names an agent with this behaviour, ``each`` one that may lack it. ``remedy`` is what to do about
    it.
    """

    some: str
    each: str
    remedy: str
    choosers: Choosers

    def says(self, formula: fo.Expanded, *, holds: bool, fair: bool) -> str:
        """Return the sentence that qualifies the verdict on the formula.

        It is empty if the path quantifiers imply that the verdict is about ``each`` too. ``fair``: `fair`
        lines constrain the agent's choices.
        """
        if quantifies(formula, "A" if holds else "E"):
            if fair and asks_for_progress(formula):
                return f"this rests on `fair` lines that {self.some} can meet; {self.each} may not"
            return ""
        if quantifies(formula, "E" if holds else "A"):
            return f"{self.some} {'does' if holds else 'violates'} this; {self.each} may not"
        return f"this rests on what {self.some} does; {self.each} may do otherwise"


@dataclass(frozen=True, slots=True)
class Narrower:
    """An under-approximation: an agent may have behaviour that was not verified (``sentence``)."""

    sentence: str

    def says(self, formula: fo.Expanded, *, holds: bool) -> str:
        """Return the sentence that qualifies the verdict; empty if more behaviour keeps the verdict."""
        return "" if quantifies(formula, "E" if holds else "A") else self.sentence


@dataclass(frozen=True, slots=True)
class Leeway:
    """The over- and under-approximation of the deployed agents by the verified ones."""

    open: Open
    wider: tuple[Wider, ...] = ()
    narrower: tuple[Narrower, ...] = ()

    def scope(self, formula: fo.Expanded, holds: bool | None, evidence: Evidence | None) -> tuple[str, ...]:
        """Return the sentences that qualify a verdict with its evidence; `unknown` has none."""
        if holds is None:
            return ()
        more = (sentence for _, sentence in self._hedges(formula, holds, evidence))
        less = (one.says(formula, holds=holds) for one in self.narrower)
        return tuple(filter(None, (*more, *less)))

    def _hedges(
        self, formula: fo.Expanded, holds: bool, evidence: Evidence | None
    ) -> Sequence[tuple[Wider, str]]:
        """Return the over-approximations for which the verdict is not established, each with its sentence.

        Several choices that change the verdict only together are all returned.
        """
        fair = self.open.choosers_make_fair
        says = [(one, one.says(formula, holds=holds, fair=fair)) for one in self.wider]
        if not any(sentence for _, sentence in says):
            return ()

        def differs(choosers: Choosers) -> bool:
            return not self.open.keeps(formula, choosers, evidence, holds=holds)

        free, tied = (frozenset[str]().union(*sets) for sets in self._choosing)
        if not differs(Choosers(free, tied - free)):
            return ()
        alone = [(one, said) for one, said in says if len(says) == 1 or differs(one.choosers)] or says
        return [(one, self._counted(one, formula, holds) or said) for one, said in alone]

    @property
    def _choosing(self) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
        return [one.choosers.free for one in self.wider], [one.choosers.tied for one in self.wider]

    def _counted(self, one: Wider, formula: fo.Expanded, holds: bool) -> str:
        """Return how many single choices keep the verdict; empty if all do or none was tried."""
        if not one.choosers.tied or (found := self.open.count(formula, holds=holds)) is None:
            return ""
        same, number = found
        how = f"it {'holds' if holds else 'fails'} with {same} of {number} single choices"
        return f"it hangs on which of the records alike is chosen: {how}"

    def findings(self, spec: Spec, holds: bool | None, evidence: Evidence | None) -> Iterator[Finding]:
        """Yield a finding for each reason why a specification that holds may fail for the deployed agent.

        There is none if the specification is declared to be about any agent.
        """
        if not holds or ANY in spec.whom:
            return
        for one, sentence in self._hedges(spec.formula, True, evidence):
            remedy = one.remedy
            if spec.name.isidentifier() and one.each == _GIVEN:
                whom = ", ".join((ANY, *spec.whom))
                remedy += f", or write `spec {spec.name} for {whom}` if that is what is asked"
            yield Finding(
                "about no given agent", spec.span, f"{spec.name} holds: {sentence}", remedy, spec.name
            )


_GIVEN = "a specific agent"


def leeway(
    deployment: Deployment, engine: Engine | None, wrappers: Wrappers, specs: Sequence[Spec] = ()
) -> Leeway:
    """Return the choices that a complete verification of ``specs`` leaves open, agent by agent.

    Before the exploration is complete, ``engine`` is None, and each agent is assumed to have a choice.
    """
    wider: list[Wider] = []
    narrower: list[Narrower] = []
    free = [
        role.name
        for role in deployment.agents
        if wrappers[role.name] is None
        and role.tools
        and (engine is None or _chooses(deployment, engine, role))
    ]
    if free:
        place = "" if free == [""] else f" in the place of {' and '.join(free)}"
        run = "the policy or model that will run"
        some = f"some agent{place}" if len(free) == 1 else f"some choice of agents{place}"
        wider.append(Wider(some, _GIVEN, f"verify {run}{place}", Choosers(free=frozenset(free))))
    tied = {
        name: wrapper.agent.name
        for name, wrapper in wrappers.items()
        if wrapper is not None and (engine is None or engine.is_among_alike(name))
    }
    if tied:
        wider.append(
            Wider(
                f"some choice of {' and '.join(tied.values())} among records alike",
                "another choice",
                "tell the records apart in what it is shown; `stead-sym symmetry` says which, and how",
                Choosers(tied=frozenset(tied)),
            )
        )
    for name, wrapper in wrappers.items():
        if wrapper is not None:
            wider += _wider(wrapper, Choosers(free=frozenset([name])))
            narrower += _narrower(wrapper)
    return Leeway(Open(deployment, engine, wrappers, specs), tuple(wider), tuple(narrower))


def _chooses(deployment: Deployment, engine: Engine, role: AgentRole) -> bool:
    """Return True if two calls of the agent are offered in some reachable state."""
    tools = [t for t in deployment.tools_of(role) if engine.is_called(t.name, fo.TRUE, selected=False)]
    pairs = ((one, _also(deployment, role, other)) for one, other in combinations(tools, 2))
    twice = ((tool, _another(deployment, role, tool)) for tool in tools if tool.params)
    return any(engine.is_called(tool.name, f, selected=False) for tool, f in (*twice, *pairs))


def _also(deployment: Deployment, role: AgentRole, tool: Tool) -> fo.Formula:
    """Return the formula that a call of the tool is offered, to the same agent of many."""
    mine = tuple(param for param in tool.params if role.each is None or param.name != SELF)
    return called(replace(tool, params=mine), deployment.schema)


def _another(deployment: Deployment, role: AgentRole, tool: Tool) -> fo.Formula:
    """Return the formula that a call of the tool is offered whose arguments differ from its parameters.

    To one of many agents it is another call of its own.
    """
    own = [param.name for param in tool.params if role.each is None or param.name != SELF]
    others = {name: f"{name} again" for name in own}
    differ = fo.disjunction(
        tuple(fo.Not(fo.Equal(fo.Var(name), fo.Var(other))) for name, other in others.items())
    )
    guard = fo.And((substitute(tool.guard, {name: fo.Var(other) for name, other in others.items()}), differ))
    params = tuple(replace(p, name=others[p.name]) for p in tool.params if p.name in others)
    return called(replace(tool, params=params, guard=guard), deployment.schema)


def _wider(wrapper: CanonicalWrapper, choosers: Choosers) -> Iterator[Wider]:
    name = wrapper.agent.name
    answers = recorded_answers(wrapper.agent, wrapper.decisions)
    weighed, answered = weight(answers), repeated(answers)
    if weighed is not None and any(len(answer.selected) > 1 for answer in weighed.answers):
        within = any(isinstance(answer.rule, Greedy) for answer in weighed.answers)
        some = (
            f"some choice of {name} within the tolerance" if within else f"some answer that {name} may sample"
        )
        other = "another choice" if within else "another answer"
        remedy = "ask for what all of them do, or verify greedy decoding without a tolerance"
        yield Wider(some, other, remedy, choosers)
    if answered is not None and answered.samples > 1 and answered.divided:
        yield Wider(
            f"some of the different answers of {name} to one question",
            "another answer",
            "ask for what holds whatever it answers",
            choosers,
        )


def _narrower(wrapper: CanonicalWrapper) -> Iterator[Narrower]:
    name = wrapper.agent.name
    answers = recorded_answers(wrapper.agent, wrapper.decisions)
    weighed, answered = weight(answers), repeated(answers)
    if weighed is not None and weighed.sampling is not None and (weighed.covered or 0.0) < 1.0:
        least = weighed.sampling.least
        yield Narrower(f"calls that {name} samples with a probability below {least:g} are left out")
    if answered is not None and answered.samples > 1:
        open_ = [asked(answer) for answer in _with_a_choice(wrapper, answers)]
        if open_:
            yield Narrower(missed(name, min(open_), len(open_)))


def _with_a_choice(wrapper: CanonicalWrapper, answers: tuple[Answer, ...]) -> Iterator[Answer]:
    """Yield the records of contexts that offer two or more calls; the others require no query."""
    if len(answers) != len(wrapper.decisions):
        yield from answers
        return
    for (context, _), answer in zip(wrapper.decisions, answers, strict=True):
        if len(context.calls) > 1:
            yield answer


def missed(agent: str, samples: int, contexts: int) -> str:
    """Return what may be missing of an agent with this many samples per context, in words."""
    together = f"{ceil(100 * rarest(samples, contexts))} %"
    if contexts == 1:
        where = f"its one context was asked {samples} times"
    else:
        alone = f"{ceil(100 * rarest(samples))} %"
        where = f"{contexts} contexts were asked {samples} times each; {alone} for one of them alone"
    return f"an answer of {agent} rarer than {together} in some context may be missing, at 95 % ({where})"


def rarest(samples: int, contexts: int = 1) -> float:
    """Return the least probability p at which, with `CONFIDENCE`, an answer has been seen.

    An answer of probability p or more in a context is missed in all of its ``samples`` with probability at
    most (1 − p)^samples. By the union bound, one is missed in some context with at most ``contexts`` times
    that, which is 1 − `CONFIDENCE`.
    """
    return 1.0 - float(((1.0 - CONFIDENCE) / contexts) ** (1.0 / samples))
