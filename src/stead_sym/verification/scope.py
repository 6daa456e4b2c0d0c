"""What a verdict is about, where more may happen in what was verified than an agent will do, or less.

The definition. What was verified is the system M in which each agent makes every call that it may make: one
that is `any` all that it is offered, any other all that Π^can selects of it. The agents that a verdict is
about are those *within* M. They select some of these calls, in each state and each time anew, be it by what
happened before; at least

- one of all of them, where the agent is `any`, or its answers are sampled, divided or taken with a
  tolerance: all such agents may run (*free*);
- one of each orbit otherwise, the calls that automorphisms of a context take to each other (*tied*): an
  equivariant agent cannot choose among calls alike, and what runs in the end takes one. Calls that are not
  alike are told apart by what the agent is shown, and where a policy selects several it means all of them.

Events, the outcomes of a call and agents that are neither do what they do in M. Two agents can differ only
where some agent is free in a reachable state in which it may make two calls, or tied in one in which two
calls that it may make are alike.

A verdict is hedged exactly if it is not known that all agents within M give it. It is known

- where nothing is left open, as just said;
- of a specification that holds, if all its path quantifiers are A when negations are pushed inwards, and of
  one that fails, if all are E: the runs of an agent within M are runs of M. (Not where `fair` sentences, or
  fair tools, make it true that something comes: these an agent may fail to meet.)
- where everything that the evidence rests on is there whatever is chosen, a run without a choice for example;
- where a game shows it in which the agent is the opponent (`Engine.whatever_chosen`).

The hedge over-approximates, and never the other way round: a verdict without one is that of all agents
within M. One with a hedge may be so too: where the game does not decide (it does where one path quantifier is
outermost and no other below it; two may ask for different choices, as in `EF P | EF Q`), where it is not
played (more than `orbits.MOST_STATES` states; actions assumed fair, with a specification that asks for
progress; `did … by` of several agents), and where calls are taken for alike that nobody looked at
(`Engine.is_among_alike`).

Likewise where what was verified is *narrower* than an agent: χ, the specification if it holds and else its
negation, may be lost unless all its path quantifiers are E.

The decision: a verdict stays what the semantics says, of the set-valued agent that was verified; this module
says in words what more a reader has to know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil

from stead_sym.agents.records.answer import Answer, recorded_answers
from stead_sym.agents.records.possible import Greedy
from stead_sym.agents.records.repeated import asked, repeated
from stead_sym.agents.records.weight import weight
from stead_sym.agents.roles import Wrappers
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import ANY, AgentRole, Spec
from stead_sym.deployment.terminal import called
from stead_sym.deployment.tool import Tool
from stead_sym.engines.protocol import Choosers, Engine
from stead_sym.evidence.tree import Evidence
from stead_sym.logic.substitution import substitute
from stead_sym.logic.syntax import TRUE, And, Equal, Expanded, Formula, Not, Var, disjunction  # fmt: skip
from stead_sym.verification.findings.finding import Finding
from stead_sym.verification.findings.occurrences import quantifies
from stead_sym.verification.findings.starvation import asks_for_progress
from stead_sym.verification.orbits import Open

CONFIDENCE = 0.95
"""How sure it is that an answer would have been seen, in what is said of samples."""


@dataclass(frozen=True, slots=True)
class Wider:
    """More may happen than an agent will do: ``some`` stands for what does it, ``each`` for what may not.
    ``remedy`` is what to do about it."""

    some: str
    each: str
    remedy: str
    choosers: Choosers

    def says(self, formula: Expanded, *, holds: bool, fair: bool) -> str:
        """The sentence beside the verdict on the formula; empty where its path quantifiers settle that the
        verdict is about ``each`` too. ``fair``: `fair` lines speak of what the agent does."""
        if quantifies(formula, "A" if holds else "E"):
            if fair and asks_for_progress(formula):
                return f"this rests on `fair` lines that {self.some} can meet; {self.each} may not"
            return ""
        if quantifies(formula, "E" if holds else "A"):
            return f"{self.some} {'does' if holds else 'violates'} this; {self.each} may not"
        return f"this rests on what {self.some} does; {self.each} may do otherwise"


@dataclass(frozen=True, slots=True)
class Narrower:
    """Less may happen than an agent could do, as ``sentence`` says."""

    sentence: str

    def says(self, formula: Expanded, *, holds: bool) -> str:
        """The sentence beside the verdict on the formula; empty where the verdict stays with more."""
        return "" if quantifies(formula, "E" if holds else "A") else self.sentence


@dataclass(frozen=True, slots=True)
class Leeway:
    """How the agents that were verified differ from those that will run: they may do more, or less."""

    open: Open
    wider: tuple[Wider, ...] = ()
    narrower: tuple[Narrower, ...] = ()

    def scope(self, formula: Expanded, holds: bool | None, evidence: Evidence | None) -> tuple[str, ...]:
        """The sentences beside a verdict with its evidence; none beside `unknown`, which claims nothing."""
        if holds is None:
            return ()
        more = (sentence for _, sentence in self._hedges(formula, holds, evidence))
        less = (one.says(formula, holds=holds) for one in self.narrower)
        return tuple(filter(None, (*more, *less)))

    def _hedges(
        self, formula: Expanded, holds: bool, evidence: Evidence | None
    ) -> Sequence[tuple[Wider, str]]:
        """What the verdict is not known of, each with the sentence. Of several choices that change it only
        together all are told."""
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

    def _counted(self, one: Wider, formula: Expanded, holds: bool) -> str:
        """How many single choices keep the verdict, where that was tried and one does not."""
        if not one.choosers.tied or (found := self.open.count(formula, holds=holds)) is None:
            return ""
        same, number = found
        how = f"it {'holds' if holds else 'fails'} with {same} of {number} single choices"
        return f"it hangs on which of the records alike is chosen: {how}"

    def findings(self, spec: Spec, holds: bool | None, evidence: Evidence | None) -> Iterator[Finding]:
        """A finding for each reason why a specification that holds need not hold of the agent that will run,
        unless the specification says that it is about any agent."""
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
    """What a verification of ``specs`` that has come to its end leaves open, agent by agent. Before the end
    there is no ``engine``, and whether an agent ever has a choice is not known: then it may have."""
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
    """Whether two calls of the agent are offered in some reachable state."""
    tools = [t for t in deployment.tools_of(role) if engine.is_called(t.name, TRUE, selected=False)]
    pairs = ((one, called(other, deployment.schema)) for one, other in combinations(tools, 2))
    twice = ((tool, _another(deployment, tool)) for tool in tools if tool.params)
    return any(engine.is_called(tool.name, f, selected=False) for tool, f in (*twice, *pairs))


def _another(deployment: Deployment, tool: Tool) -> Formula:
    """Another call of the tool is offered than the one with its parameters as arguments."""
    others = {param.name: f"{param.name} again" for param in tool.params}
    differ = disjunction(tuple(Not(Equal(Var(name), Var(other))) for name, other in others.items()))
    guard = And((substitute(tool.guard, {name: Var(other) for name, other in others.items()}), differ))
    params = tuple(replace(param, name=others[param.name]) for param in tool.params)
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
    """The records of contexts that offer more than one call: in the others there is nothing to ask."""
    if len(answers) != len(wrapper.decisions):
        yield from answers
        return
    for (context, _), answer in zip(wrapper.decisions, answers, strict=True):
        if len(context.calls) > 1:
            yield answer


def missed(agent: str, samples: int, contexts: int) -> str:
    """What may be missing of an agent that was asked so often in each of so many contexts."""
    together = f"{ceil(100 * rarest(samples, contexts))} %"
    if contexts == 1:
        where = f"its one context was asked {samples} times"
    else:
        alone = f"{ceil(100 * rarest(samples))} %"
        where = f"{contexts} contexts were asked {samples} times each; {alone} for one of them alone"
    return f"an answer of {agent} rarer than {together} in some context may be missing, at 95 % ({where})"


def rarest(samples: int, contexts: int = 1) -> float:
    """The least probability p at which, with `CONFIDENCE`, an answer has been seen: one that is given with
    probability p or more in some of ``contexts`` is missed in all of the ``samples`` with (1 − p)^samples, in
    one context or another with ``contexts`` times that at most, which is 1 − `CONFIDENCE`."""
    return 1.0 - float(((1.0 - CONFIDENCE) / contexts) ** (1.0 / samples))
