"""What a verdict is about, where more may happen in what was verified than an agent will do, or less.

An agent narrower than what was verified selects fewer calls in some states, at least one in each. Truth in
every narrower system follows for a formula whose path quantifiers are all A when negations are pushed inwards
(`universal`): all its runs are runs of what was verified, and its states are as they were. Truth in every
wider system follows where all are E. So with χ the specification if it holds, else its negation:

- where what was verified is wider than an agent, χ is said of that agent only if χ is universal;
- where it is narrower, χ may be lost unless χ is existential.

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
from stead_sym.engines.protocol import Engine
from stead_sym.logic.substitution import substitute
from stead_sym.logic.syntax import TRUE, And, Equal, Expanded, Formula, Not, Var, disjunction  # fmt: skip
from stead_sym.verification.findings.finding import Finding
from stead_sym.verification.findings.occurrences import quantifies
from stead_sym.verification.findings.starvation import asks_for_progress
from stead_sym.verification.orbits import Alike

CONFIDENCE = 0.95
"""How sure it is that an answer would have been seen, in what is said of samples."""


@dataclass(frozen=True, slots=True)
class Wider:
    """More may happen than an agent will do: ``some`` stands for what could do it, ``each`` for what it is
    not said of. ``remedy`` is what to do about it."""

    some: str
    each: str
    remedy: str
    fair: bool = False
    """Whether `fair` lines speak of what an agent may or may not do: sentences, or calls of tools."""
    alike: Alike | None = None
    """What is known of the choices, where they are among records alike."""

    def says(self, formula: Expanded, *, holds: bool) -> str:
        """The sentence beside the verdict on the formula; empty where the verdict is about ``each`` too."""
        sentence = self._says(formula, holds=holds)
        if not sentence or self.alike is None:
            return sentence
        if self.alike.keep(formula, holds=holds):
            return ""
        if (found := self.alike.count(formula, holds=holds)) is None:
            return sentence
        same, number = found
        how = f"it {'holds' if holds else 'fails'} with {same} of {number} single choices"
        return f"it hangs on which of the records alike is chosen: {how}"

    def _says(self, formula: Expanded, *, holds: bool) -> str:
        if quantifies(formula, "A" if holds else "E"):
            if self.fair and asks_for_progress(formula):
                return (
                    f"this rests on `fair` lines that {self.some} can meet, which says nothing of {self.each}"
                )
            return ""
        if quantifies(formula, "E" if holds else "A"):
            return f"{self.some} could {'do' if holds else 'break'} this, which says nothing of {self.each}"
        return f"this rests on what {self.some} could do, which says nothing of {self.each}"


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

    wider: tuple[Wider, ...] = ()
    narrower: tuple[Narrower, ...] = ()

    def scope(self, formula: Expanded, holds: bool | None) -> tuple[str, ...]:
        """The sentences beside a verdict; none beside `unknown`, which claims nothing."""
        if holds is None:
            return ()
        more = (one.says(formula, holds=holds) for one in self.wider)
        less = (one.says(formula, holds=holds) for one in self.narrower)
        return tuple(filter(None, (*more, *less)))

    def findings(self, spec: Spec, holds: bool | None) -> Iterator[Finding]:
        """A finding for each reason why a specification that holds need not hold of the agent that will run,
        unless the specification says that it is about any agent."""
        if not holds or ANY in spec.whom:
            return
        for one in self.wider:
            if sentence := one.says(spec.formula, holds=True):
                remedy = one.remedy
                if spec.name.isidentifier() and one.each == _GIVEN:
                    remedy += f", or write `spec {spec.name} for {ANY}` if that is what is asked"
                yield Finding(
                    "about no given agent", spec.span, f"{spec.name} holds: {sentence}", remedy, spec.name
                )


_GIVEN = "a given agent"


def leeway(
    deployment: Deployment, engine: Engine | None, wrappers: Wrappers, specs: Sequence[Spec] = ()
) -> Leeway:
    """What a verification of ``specs`` that has come to its end leaves open, agent by agent. An agent that
    has never more than one call to select is no wider than any. Before the end there is no ``engine``, and
    whether an agent has more is not known: then it may have."""
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
        wider.append(Wider(f"some agent{'s' * (len(free) > 1)}{place}", _GIVEN, f"verify {run}{place}"))
    choosing = [
        wrapper.agent.name
        for name, wrapper in wrappers.items()
        if wrapper is not None and (wrapper.is_among_alike if engine is None else engine.is_among_alike(name))
    ]
    if choosing:
        wider.append(
            Wider(
                f"some choice of {' and '.join(choosing)} among records alike",
                "every choice",
                "tell the records apart in what it is shown; `stead-sym symmetry` says which, and how",
                alike=None if engine is None else Alike(deployment, engine, wrappers, specs),
            )
        )
    for wrapper in wrappers.values():
        if wrapper is not None:
            wider += _wider(wrapper)
            narrower += _narrower(wrapper)
    fair = bool(deployment.fair) or any(action.kind == "tool" for action in deployment.fair_actions)
    return Leeway(tuple(replace(one, fair=fair) for one in wider), tuple(narrower))


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


def _wider(wrapper: CanonicalWrapper) -> Iterator[Wider]:
    name = wrapper.agent.name
    answers = recorded_answers(wrapper.agent, wrapper.decisions)
    weighed, answered = weight(answers), repeated(answers)
    if weighed is not None and any(len(answer.selected) > 1 for answer in weighed.answers):
        within = any(isinstance(answer.rule, Greedy) for answer in weighed.answers)
        some = (
            f"some choice of {name} within the tolerance" if within else f"some answer that {name} may sample"
        )
        every = "every choice" if within else "every answer"
        yield Wider(some, every, "ask for what all of them do, or verify greedy decoding without a tolerance")
    if answered is not None and answered.samples > 1 and answered.divided:
        yield Wider(
            f"some of the different answers of {name} to one question",
            "every answer",
            "ask for what holds whatever it answers",
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
