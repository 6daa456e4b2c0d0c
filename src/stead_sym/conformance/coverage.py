"""The literals of a guard, and the truth values that calls gave them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stead_sym.deployment.tool import Call, Tool
from stead_sym.logic.evaluate import holds
from stead_sym.logic.syntax import And, Formula, Iff, Implies, Not, Or, Truth
from stead_sym.relational.instance import Instance


def literals_in(guard: Formula) -> Iterator[Formula]:
    """Yield the parts of a guard between its connectives; a part with a quantifier is one literal."""
    match guard:
        case Truth():
            return
        case Not(body):
            yield from literals_in(body)
        case And(parts) | Or(parts):
            for part in parts:
                yield from literals_in(part)
        case Implies(left, right) | Iff(left, right):
            yield from literals_in(left)
            yield from literals_in(right)
        case _:
            yield guard


@dataclass
class Guard:
    """The guard of a tool while calls are made, with the truth values that each literal has not had yet."""

    tool: Tool
    missing: dict[tuple[Formula, bool], None]
    number: int

    @classmethod
    def of(cls, tool: Tool) -> Guard:
        """Return the guard of a tool before any call."""
        found = dict.fromkeys(literals_in(tool.guard))
        return cls(tool, {(literal, truth): None for literal in found for truth in (True, False)}, len(found))

    def note(self, call: Call, state: Instance) -> None:
        """Note the truth values of the literals for a call in a state."""
        sigma = {p.name: u for p, u in zip(self.tool.params, call.args, strict=True)}
        for literal, truth in list(self.missing):
            if holds(literal, state, sigma) is truth:
                del self.missing[literal, truth]

    @property
    def never(self) -> tuple[tuple[str, bool], ...]:
        """Return the literals that were never true, or never false, with that truth value."""
        return tuple((str(literal), truth) for literal, truth in self.missing)
