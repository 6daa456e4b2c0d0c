"""The parts of a deployment that hold formulas, as data: what stands in a file below schema and data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from stead_sym.deployment.tool import Tool
from stead_sym.errors import Located, Span
from stead_sym.logic.names import constants, constants_among
from stead_sym.logic.syntax import TRUE, Binder, Definition, Formula, Globally, Term
from stead_sym.relational.schema import Value, is_numeral

Expected: TypeAlias = Literal["holds", "fails"]
Default: TypeAlias = Literal["deny", "allow"]


@dataclass(frozen=True, slots=True)
class View(Located):
    """`view P(x, y) where f`: of P, the agent is shown the tuples satisfying f."""

    relation: str
    params: tuple[Binder, ...]
    where: Formula = TRUE


@dataclass(frozen=True, slots=True)
class Rule(Located):
    """`call w(x) when f`: one line of a policy. ``args`` are matched against a call's arguments:
    a variable takes the value there (the same one wherever it stands), a constant must be it."""

    tool: str
    args: tuple[Term, ...] = ()
    when: Formula = TRUE


@dataclass(frozen=True, slots=True)
class Policy(Located):
    """`policy NAME`: the first rule that matches some offered call selects all its matches."""

    name: str
    rules: tuple[Rule, ...]

    @property
    def constants(self) -> frozenset[Value]:
        """The values that the policy mentions, without numerals: these are rigid, or no values at all where
        they stand in comparisons. Their identity matters to it, so they belong to the set B that its wrapper
        leaves alone. `TypeError` for a policy that is not expanded."""
        named = constants_among(term for rule in self.rules for term in rule.args)
        named = named.union(*(constants(rule.when) for rule in self.rules))
        return frozenset(value for value in named if not is_numeral(value))


@dataclass(frozen=True, slots=True)
class Spec(Located):
    """`spec NAME for WHOM expect WORD f`: an FO-CTL sentence to be checked at the initial state; only for
    ``whom``, which are names of policies, all of which some agent runs, of agents, which are not `any`, or
    `any`, which every agent is. Of all if empty. ``expected`` is the answer that is none to worry about.

    ``helps``: it was written `invariant NAME f`, which is the specification AG f, and helps to show others.
    """

    name: str
    formula: Formula
    whom: tuple[str, ...] = ()
    expected: Expected | None = None
    helps: bool = False

    def is_for(self, deciding: Mapping[str, str], gates: Iterable[str] = ()) -> bool:
        """Whether it is asked where these decide, each a policy, `any`, or neither (empty), by agent, under
        these gates."""
        who = set(deciding.values())
        return all(
            who == {ANY} if name == ANY else name in who or name in gates or deciding.get(name, ANY) != ANY
            for name in self.whom
        )

    @property
    def head(self) -> str:
        """`NAME for WHOM expect WORD`, as it is written."""
        whom = f" for {', '.join(self.whom)}" if self.whom else ""
        return f"{self.name}{whom}" + (f" expect {self.expected}" if self.expected else "")


def invariant(name: str, formula: Formula, span: Span | None = None) -> Spec:
    """`invariant NAME f`."""
    return Spec(name, Globally("A", formula, span=formula.span), helps=True, span=span)


ANY = "any"
"""The agent that may select any call that it is offered."""


@dataclass(frozen=True, slots=True)
class FairAction(Located):
    """`fair event NAME`, `fair tool NAME`, `fair agent`, `fair agent NAME`, `fair outcome NAME`: fairness of
    actions.

    For an event or a tool ω there is one constraint for each tuple u of arguments: if from some state on the
    call ω(u) may always happen, it happens infinitely often. With ``strong`` it is enough that it may happen
    infinitely often while u lives. For an agent: if from some state on it is always offered a
    call (``strong``: infinitely often), infinitely often a call that it selects is made. Without a ``name``
    the constraint is about every agent. ``params`` are the names of the arguments if they are written; they
    have no meaning.

    For an outcome there is one constraint for each tuple u and each alternative k of the tool, or event, ω:
    if ω(u) is made infinitely often where k is possible, and u lives, then k is taken infinitely often. That
    is strong fairness, and assumes nothing of whether ω(u) is made.
    """

    kind: Literal["event", "tool", "agent", "outcome"]
    name: str | None = None
    strong: bool = False
    params: tuple[str, ...] | None = None

    def __str__(self) -> str:
        """What stands after the word `fair`."""
        words = ("strong" if self.strong else None, self.kind, self.name)
        params = "" if self.params is None else f"({', '.join(self.params)})"
        return " ".join(word for word in words if word is not None) + params


@dataclass(frozen=True, slots=True)
class Calls(Located):
    """`calls batch N on refusal stop`: up to ``most`` calls in one message, of which a refused one ends the
    message if it ``stops``, and is skipped otherwise (`deployment.messages`)."""

    most: int
    stops: bool = False

    def __str__(self) -> str:
        """`batch N on refusal stop`, as it is written."""
        return f"batch {self.most}{' on refusal stop' * self.stops}"


@dataclass(frozen=True, slots=True)
class AgentRole(Located):
    """`agent NAME`: one of several agents, with the names of its tools, and views, policies and texts of its
    own. Without ``calls`` it makes one call and is asked again.

    A deployment whose file has no `agent` item has one, with an empty name, to which all of the file belongs.
    """

    name: str
    tools: tuple[str, ...]
    views: tuple[View, ...] = ()
    policies: tuple[Policy, ...] = ()
    system: str | None = None
    instructions: str | None = None
    calls: Calls | None = None


@dataclass(frozen=True, slots=True)
class Initially(Located):
    """`initially any P, Q where f`: D0 is any instance of the facts of `init` and any facts of these
    relations that satisfies the sentence f, keeps the bounds and the keys."""

    relations: tuple[str, ...]
    where: Formula = TRUE


@dataclass(frozen=True, slots=True)
class Terminal(Located):
    """`terminal when f`: where nothing is offered and no event enabled, and f is true, the run stays."""

    when: Formula = TRUE


@dataclass(frozen=True, slots=True)
class Line(Located):
    """`permit w(x) when f`, or `forbid w(x) when f`: a line of a gate. ``args`` are variables, constants and
    `_`."""

    permits: bool
    tool: str
    args: tuple[Term, ...] = ()
    when: Formula = TRUE


@dataclass(frozen=True, slots=True)
class Gate(Located):
    """`gate NAME`: a call is allowed iff no `forbid` line matches it and some `permit` line does, which
    `default allow` does not ask for, nor a gate without a ``default`` and without any `permit` line. One that
    ``refuses`` offers the calls that it forbids, and refuses them when they are made (`deployment.gates`)."""

    name: str
    lines: tuple[Line, ...] = ()
    default: Default | None = None
    refuses: bool = False

    @property
    def denies(self) -> bool:
        """Return True if a call that no line matches is not allowed."""
        return self.default == "deny" or (self.default is None and any(line.permits for line in self.lines))

    @property
    def head(self) -> str:
        """`NAME default deny refuses`, as it is written."""
        return f"{self.name}{f' default {self.default}' if self.default else ''}{' refuses' * self.refuses}"


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a deployment that hold formulas. ``tools`` are those of the agents and the events,
    ``views`` and ``policies`` those of the file, ``agents`` have more of their own, ``fair`` are the fairness
    constraints on states, and ``fair_actions`` those on actions. ``calls`` are of the one agent of a file
    without `agent` items."""

    tools: tuple[Tool, ...] = ()
    definitions: tuple[Definition, ...] = ()
    views: tuple[View, ...] = ()
    policies: tuple[Policy, ...] = ()
    fair: tuple[Formula, ...] = ()
    fair_actions: tuple[FairAction, ...] = ()
    specs: tuple[Spec, ...] = ()
    agents: tuple[AgentRole, ...] = ()
    initially: tuple[Initially, ...] = ()
    terminal: tuple[Terminal, ...] = ()
    gates: tuple[Gate, ...] = ()
    calls: Calls | None = None

    @property
    def roles(self) -> tuple[AgentRole, ...]:
        """The agents; without an `agent` item one with an empty name, which has all tools."""
        tools = tuple(tool.name for tool in self.tools if not tool.event)
        return self.agents or (AgentRole("", tools, calls=self.calls),)
