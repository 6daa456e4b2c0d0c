"""Tool schemas, their effects, and grounded calls (section "Agentic Deployment" of the paper)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.errors import Located
from stead_sym.relational.schema import Value

_CARRYING = "@message"


def carrying(tool: str) -> str:
    """Return the name of the event that carries out calls of a tool (`deployment.messages`)."""
    return f"{tool}{_CARRYING}"


class Call(NamedTuple):
    """A grounded tool call ω(u1, …, uk)."""

    tool: str
    args: tuple[Value, ...]

    def __str__(self) -> str:
        """Return ω(u1, …, uk)."""
        return f"{self.tool}({', '.join(self.args)})"

    def rename(self, renaming: Mapping[Value, Value]) -> Call:
        """Return ω(ι(u1), …, ι(uk)); values that ``renaming`` lacks keep their names."""
        return Call(self.tool, tuple(renaming.get(u, u) for u in self.args))

    @property
    def carried(self) -> Call | None:
        """Return the call of a message that this step carries out; None if it is no such step."""
        tool = self.tool.removesuffix(_CARRYING)
        return None if tool == self.tool else Call(tool, self.args)


@dataclass(frozen=True, slots=True)
class Choose(Located):
    """`choose x: s where f`: any value of s in ad(D) or C that satisfies f."""

    binder: fo.Binder
    where: fo.Formula = fo.TRUE


@dataclass(frozen=True, slots=True)
class Fresh(Located):
    """`fresh x: s`: any value of s outside ad(D) and C; two fresh values of an effect differ."""

    binder: fo.Binder


@dataclass(frozen=True, slots=True)
class Insert(Located):
    """`insert P(t) for x, … where f`: add P(t) for all active x satisfying f (read in D)."""

    atom: fo.Atom
    binders: tuple[fo.Binder, ...] = ()
    where: fo.Formula = fo.TRUE


@dataclass(frozen=True, slots=True)
class Delete(Located):
    """`delete P(t) for x, … where f`: remove P(t) for all active x satisfying f (read in D).

    As written, a `_` among t stands for every value; `deployment.expansion` makes a variable of it.
    """

    atom: fo.Atom
    binders: tuple[fo.Binder, ...] = ()
    where: fo.Formula = fo.TRUE


@dataclass(frozen=True, slots=True)
class Assign(Located):
    """`set P(t) for x, … where f`, for a relation with keys.

    It removes the facts of P with the same keys as P(t), and adds P(t). It occurs only in what is written:
    `deployment.expansion` makes a `Delete` and an `Insert` of it. With a ``column`` it is
    `set P(k).c = t for x, … where f`, and the atom is P(k, t). A fact with the key k then keeps its values in
    the other columns, and if there is no such fact, nothing happens.
    """

    atom: fo.Atom
    binders: tuple[fo.Binder, ...] = ()
    where: fo.Formula = fo.TRUE
    column: str | None = None


@dataclass(frozen=True, slots=True)
class Clear(Located):
    """`clear P, Q`: remove all facts of these relations."""

    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ensure(Located):
    """`ensure f`: every D' with D ⊕ D' ⊨ f is a successor; quantifiers range over ad(D ⊕ D')."""

    formula: fo.Formula


Statement: TypeAlias = Choose | Fresh | Insert | Delete | Assign | Clear | Ensure


def mentioned_variables(statement: Insert | Delete) -> frozenset[str]:
    """Return the variables of an effect that an insertion or deletion mentions, except its own binders."""
    own = {binder.name for binder in statement.binders}
    return (fo.free_variables(statement.atom) | fo.free_variables(statement.where)) - own


@dataclass(frozen=True, slots=True)
class Effect(Located):
    """One `effect` block. The blocks of a tool are alternatives; one is enabled if ``when`` is true.

    Either all statements are `ensure` (their conjunction relates D and D'), or none is: then D' = (D minus
    what they delete) plus what they insert, everything read in D. A variable of `choose` or `fresh` is in
    scope in the statements after it. In an alternative that is ``refused``, which has no statements, the step
    is `refused w(x)` and not `did w(x)`.
    """

    statements: tuple[Statement, ...] = ()
    when: fo.Formula = fo.TRUE
    refused: bool = False

    @property
    def is_ensure(self) -> bool:
        """Return whether the effect is in the paper's form, as `ensure` formulas."""
        return any(isinstance(statement, Ensure) for statement in self.statements)

    @property
    def computed(self) -> frozenset[str]:
        """Return the relations into which it inserts a sum or a tally, which its column may not have."""
        inserted = (statement.atom for statement in self.statements if isinstance(statement, Insert))
        return frozenset(atom.relation for atom in inserted if any(map(fo.is_compound, atom.args)))

    @property
    def changed(self) -> frozenset[str]:
        """Return the relations of which its statements insert or delete tuples."""
        found = set[str]()
        for statement in self.statements:
            match statement:
                case Insert(atom) | Delete(atom) | Assign(atom):
                    found.add(atom.relation)
                case Clear(relations):
                    found.update(relations)
                case _:
                    pass
        return frozenset(found)

    @property
    def fresh(self) -> tuple[fo.Binder, ...]:
        """Return the variables of its `fresh` statements, in order."""
        return tuple(s.binder for s in self.statements if isinstance(s, Fresh))


@dataclass(frozen=True, slots=True)
class Tool(Located):
    """A tool schema ω with its first-order guard and the alternatives of its effect.

    A tool written without an `effect` block has one empty alternative: it changes nothing. An ``event`` has
    all that a tool has, but no agent calls it: it may happen whenever its guard is true. One event ``stays``:
    that of the loop in terminal states (`deployment.terminal`), which no file names. A tool that ``writes``
    puts its calls into a message, and an event that ``carries`` the calls of a tool makes them when their
    turn comes (`deployment.messages`).
    """

    name: str
    params: tuple[fo.Binder, ...] = ()
    description: str = ""
    guard: fo.Formula = fo.TRUE
    effects: tuple[Effect, ...] = (Effect(),)
    event: bool = False
    stays: bool = False
    writes: bool = False
    carries: str | None = None

    @property
    def is_written(self) -> bool:
        """Return True if a file has it: it neither ``stays`` nor ``carries`` calls."""
        return not self.stays and self.carries is None

    @property
    def has_ensure(self) -> bool:
        """Return True if some alternative of the effect is an `ensure`."""
        return any(effect.is_ensure for effect in self.effects)

    @property
    def changed(self) -> frozenset[str]:
        """Return the relations of which some alternative inserts or deletes tuples."""
        return frozenset[str]().union(*(effect.changed for effect in self.effects))

    @property
    def scope(self) -> dict[str, str]:
        """Return the sort of each parameter, by its name."""
        return {param.name: param.sort for param in self.params}

    def given(self, call: Call) -> dict[str, Value]:
        """Return the argument of the call for each parameter, by its name."""
        return {param.name: value for param, value in zip(self.params, call.args, strict=True)}
