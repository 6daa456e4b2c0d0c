"""Represent the parts of a deployment with formulas, as data: what follows schema and data in a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.deployment.tool import Tool
from stead_sym.errors import Located, Span
from stead_sym.logic.names import constants, constants_among
from stead_sym.relational.schema import Value, is_numeral

Expected: TypeAlias = Literal["holds", "fails"]
Default: TypeAlias = Literal["deny", "allow"]


@dataclass(frozen=True, slots=True)
class View(Located):
    """`view P(x, y) where f`: of P, the agent is shown the tuples that satisfy f."""

    relation: str
    params: tuple[fo.Binder, ...]
    where: fo.Formula = fo.TRUE


@dataclass(frozen=True, slots=True)
class Rule(Located):
    """`call w(x) when f`: one line of a policy.

    ``args`` are matched against a call's arguments. A variable takes the value at its place, the same one at
    each of its places; a constant has to be equal to the value.
    """

    tool: str
    args: tuple[fo.Term, ...] = ()
    when: fo.Formula = fo.TRUE


@dataclass(frozen=True, slots=True)
class Policy(Located):
    """`policy NAME`: the first rule that matches some offered call selects all its matches."""

    name: str
    rules: tuple[Rule, ...]

    @property
    def constants(self) -> frozenset[Value]:
        """Return the values that the policy mentions, without numerals.

        Their identity matters to it, so they belong to the set B that its wrapper does not rename. Numerals
        are rigid, or no values at all in comparisons. Raises `TypeError` for a policy that is not expanded.
        """
        named = constants_among(term for rule in self.rules for term in rule.args)
        named = named.union(*(constants(rule.when) for rule in self.rules))
        return frozenset(value for value in named if not is_numeral(value))


@dataclass(frozen=True, slots=True)
class Spec(Located):
    """`spec NAME for AGENT expect WORD f`: an FO-CTL sentence to be checked at the initial state.

    It is only for ``whom``, or for all if that is empty. These are names of policies, all of which some agent
    runs, names of agents that are not `any`, or `any`, which stands for every agent. ``expected`` is the
    answer that is no cause for concern.

    ``helps``: it was written `invariant NAME f`, which is the specification AG f, and helps to show others.
    """

    name: str
    formula: fo.Formula
    whom: tuple[str, ...] = ()
    expected: Expected | None = None
    helps: bool = False

    def is_for(self, deciding: Mapping[str, str], gates: Iterable[str] = ()) -> bool:
        """Return whether it is asked of these deciding agents, under these gates.

        ``deciding`` has by agent the name of a policy, `any`, or an empty text for neither.
        """
        who = set(deciding.values())
        return all(
            who == {ANY} if name == ANY else name in who or name in gates or deciding.get(name, ANY) != ANY
            for name in self.whom
        )

    @property
    def head(self) -> str:
        """Return `NAME for AGENT expect WORD`, as it is written."""
        whom = f" for {', '.join(self.whom)}" if self.whom else ""
        return f"{self.name}{whom}" + (f" expect {self.expected}" if self.expected else "")


def invariant(name: str, formula: fo.Formula, span: Span | None = None) -> Spec:
    """Return `invariant NAME f`."""
    return Spec(name, fo.Globally("A", formula, span=formula.span), helps=True, span=span)


ANY = "any"
"""The agent that may select any call that it is offered."""


@dataclass(frozen=True, slots=True)
class FairAction(Located):
    """Fairness of actions: `fair event NAME`, `fair tool NAME`, `fair agent NAME`, `fair outcome NAME`.

    For an event or a tool ω there is one constraint for each tuple u of arguments: if from some state on the
    call ω(u) may always happen, it happens infinitely often. With ``strong`` it is enough that it may happen
    infinitely often while u lives. For an agent: if from some state on it is always offered a call
    (``strong``: infinitely often), infinitely often a call that it selects is made. Without a ``name``, as in
    `fair agent`, the constraint is about every agent. ``params`` are the names of the arguments if they are
    written; they have no meaning.

    For an outcome there is one constraint for each tuple u and each alternative k of the tool, or event, ω:
    if ω(u) is made infinitely often when k is possible, and u lives, then k is taken infinitely often. That
    is strong fairness, and does not assume that ω(u) is made.
    """

    kind: Literal["event", "tool", "agent", "outcome"]
    name: str | None = None
    strong: bool = False
    params: tuple[str, ...] | None = None

    def __str__(self) -> str:
        """Return what follows the word `fair`."""
        words = ("strong" if self.strong else None, self.kind, self.name)
        params = "" if self.params is None else f"({', '.join(self.params)})"
        return " ".join(word for word in words if word is not None) + params


@dataclass(frozen=True, slots=True)
class Calls(Located):
    """`calls batch N on refusal stop`: up to ``most`` calls in one message (`deployment.messages`).

    A refused call ends the message if it ``stops``, and is skipped otherwise. ``parallel``: the calls are
    carried out in any order, and others may act between them.
    """

    most: int
    stops: bool = False
    parallel: bool = False

    def __str__(self) -> str:
        """Return `batch N on refusal stop`, as it is written."""
        if self.most == 1:
            return "sequential"
        return f"{'parallel' if self.parallel else 'batch'} {self.most}{' on refusal stop' * self.stops}"

    @classmethod
    def of(cls, words: Sequence[str], span: Span | None = None) -> Calls:
        """Return what the words after `calls` mean; `sequential` is a message of one call."""
        most = 1 if words[0] == "sequential" else int(words[1])
        return cls(most, words[-1] == "stop", words[0] == "parallel", span=span)


@dataclass(frozen=True, slots=True)
class Harness:
    """The gates and calls that a deployment is run with, if its file does not set them.

    All ``gates`` are in force. ``calls`` are as in `Calls`, as text; None if they are those of the file.
    """

    gates: tuple[str, ...] = ()
    calls: str | None = None

    def __str__(self) -> str:
        """Return ` with calls batch 2 behind g and h`, an empty text if all is as in the file."""
        calls = "" if self.calls is None else f" with calls {self.calls}"
        return calls + (f" behind {' and '.join(self.gates)}" if self.gates else "")

    def alone(self, part: str) -> str:
        """Return the text of one part, `gates` or `calls`."""
        return str(Harness(self.gates) if part == "gates" else Harness(calls=self.calls))


AS_WRITTEN = Harness()
"""The harness of a deployment that is run as its file has it."""


SELF = "self"
"""The parameter of a tool that is the agent that calls it, and the variable for it in views and policies."""


@dataclass(frozen=True, slots=True)
class AgentRole(Located):
    """`agent NAME`: one of several agents, with the names of its tools.

    It may have views, policies and texts of its own. A deployment whose file has no `agent` item has one
    agent, with an empty name, to which all of the file belongs. Without ``calls`` an agent makes one call
    and is asked again.

    With ``each``, a sort, it is one agent for each value of the sort (`deployment.callers`). Of these ``me``
    is one.
    """

    name: str
    tools: tuple[str, ...]
    views: tuple[View, ...] = ()
    policies: tuple[Policy, ...] = ()
    system: str | None = None
    instructions: str | None = None
    calls: Calls | None = None
    each: str | None = None
    me: Value | None = None


@dataclass(frozen=True, slots=True)
class Initially(Located):
    """`initially any P, Q where f`: D0 has the facts of `init`, and any facts of these relations.

    D0 satisfies the sentence f, and keeps the bounds and the keys.
    """

    relations: tuple[str, ...]
    where: fo.Formula = fo.TRUE


@dataclass(frozen=True, slots=True)
class Terminal(Located):
    """`terminal when f`: if nothing is offered and no event enabled, and f is true, the run stays."""

    when: fo.Formula = fo.TRUE


@dataclass(frozen=True, slots=True)
class Line(Located):
    """`permit w(x) when f`, or `forbid w(x) when f`: a line of a gate.

    ``args`` are variables, constants and `_`.
    """

    permits: bool
    tool: str
    args: tuple[fo.Term, ...] = ()
    when: fo.Formula = fo.TRUE


@dataclass(frozen=True, slots=True)
class Gate(Located):
    """`gate NAME`: a call is allowed iff no `forbid` line matches it and some `permit` line does.

    No `permit` line is required with `default allow`, or for a gate without a ``default`` and without any
    `permit` line. A gate that ``refuses`` offers the calls that it forbids, and refuses them when they are
    made (`deployment.gates`).
    """

    name: str
    lines: tuple[Line, ...] = ()
    default: Default | None = None
    refuses: bool = False

    @property
    def denies(self) -> bool:
        """Return whether a call that no line matches is not allowed."""
        return self.default == "deny" or (self.default is None and any(line.permits for line in self.lines))

    @property
    def head(self) -> str:
        """Return `NAME default deny refuses`, as it is written."""
        return f"{self.name}{f' default {self.default}' if self.default else ''}{' refuses' * self.refuses}"


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a deployment that have formulas.

    ``tools`` are those of the agents and the events, ``views`` and ``policies`` those of the file, ``agents``
    have more of their own, ``fair`` are the fairness constraints on states, and ``fair_actions`` those on
    actions. ``calls`` are of the one agent of a file without `agent` items.
    """

    tools: tuple[Tool, ...] = ()
    definitions: tuple[fo.Definition, ...] = ()
    views: tuple[View, ...] = ()
    policies: tuple[Policy, ...] = ()
    fair: tuple[fo.Formula, ...] = ()
    fair_actions: tuple[FairAction, ...] = ()
    specs: tuple[Spec, ...] = ()
    agents: tuple[AgentRole, ...] = ()
    initially: tuple[Initially, ...] = ()
    terminal: tuple[Terminal, ...] = ()
    gates: tuple[Gate, ...] = ()
    calls: Calls | None = None

    @property
    def roles(self) -> tuple[AgentRole, ...]:
        """Return the agents; without an `agent` item one with an empty name, which has all tools."""
        tools = tuple(tool.name for tool in self.tools if not tool.event)
        return self.agents or (AgentRole("", tools, calls=self.calls),)
