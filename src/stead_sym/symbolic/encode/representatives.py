"""Which names a `fresh` statement may draw: all of them (`theorem`), or representatives (`normal`).

Why representatives are exact
-----------------------------
Write (D, ν) ≡ (E, μ) as in the proof of the theorem on exact finite verification: a sort-preserving
bijection between ad(D) ∪ C ∪ ν(V) and ad(E) ∪ C ∪ μ(V) that fixes C, is an isomorphism of the
instances and carries ν to μ; V are the free variables of the temporal formula at hand. By (M)
of that proof ≡ is a bisimulation, by (I) no formula with free variables in V tells equivalent pairs
apart. So a transition system over pairs stays exact when each successor (D', ν) is replaced by any
pair equivalent to it, as long as every class of successors keeps a member.

*Which successors are equivalent.* Let one alternative draw w1, …, wk fresh. The wi are inactive and
no constants, so the successors for two draws differ by a renaming of inactive values. It carries
ν to itself unless a variable of V holds one of the drawn values. The classes are therefore told apart
by one thing only: which drawn values are values that variables of V still hold.

*What a pinned value becomes.* A value that a variable holds and that is active in no fact is *dead*.
All dead values not in C are alike but for which variables share them. So a pair is stored as
(D, ν̂): ν̂(x) is an active value, a constant, or one of |V_S| marks λ1, λ2, … for "dead, the same one
as every variable with this mark". When a value dies its variables get a free mark (`retire`). When an
alternative draws fresh values, each dead value may be among them (it comes back): then its
variables take the name that the drawn value gets (`rebirth`). Renaming ν̂ along with D is allowed
because ≡ renames both.

*Which domain suffices.* A state never holds a mark, so D needs names for its own values only: at most
b_S active ones outside C, and the f_S values that one effect draws beside them: |C_S| + b_S + f_S.
For an `ensure`, which may replace every value at once and exceed the bound doing so,
f_S = b_S + 1. The marks, |V_S| of them, are codes of variables and no values.

*Which representative.* Any choice is exact that depends on the state and the action only. The default
is the least name that is not active. Where an effect attaches what it creates to another value (a
case to the handler it is routed to, a task to the case drawn before it) the name goes with that
value instead, the i-th name with the i-th value (an *anchor*): then the state needs to remember no
permutation. If some reachable state finds an anchored name taken, the anchor is given up and the
search starts anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TypeAlias

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Choose, Effect, Fresh, Insert, Tool
from stead_sym.logic.syntax import Binder, Var
from stead_sym.relational.schema import Value

Place: TypeAlias = tuple[str, int]
"""An alternative: the name of its tool and its number there."""

Draw: TypeAlias = tuple[Place, str]
"""A fresh variable of an alternative."""


@dataclass(frozen=True, slots=True)
class Naming:
    """How fresh values are drawn: ``literal``, any unused one, or representatives.

    ``anchors``: the fresh variables that are named after the value of another variable, and
    ``names`` what they are named for each of its values. All others take the least name that is
    not active.
    """

    literal: bool
    anchors: Mapping[Draw, Binder] = field(default_factory=dict)
    names: Mapping[Draw, Mapping[Value, Value]] = field(default_factory=dict)


def possible_anchors(deployment: Deployment) -> Mapping[Draw, tuple[Binder, ...]]:
    """For each fresh variable the variables that it may be named after, the most promising first:
    parameters and variables chosen or drawn before, linked to it by inserted facts."""
    return {
        ((tool.name, number), binder.name): tuple(_linked(tool, effect, binder))
        for tool in deployment.tools
        for number, effect in enumerate(tool.effects)
        for binder in effect.fresh
    }


def _linked(tool: Tool, effect: Effect, fresh: Binder) -> Sequence[Binder]:
    """The variables in scope before a fresh one that inserted facts link it to: those that are not
    fresh themselves first, then the nearest."""
    before = takewhile(lambda s: not (isinstance(s, Fresh) and s.binder == fresh), effect.statements)
    known = {binder.name: binder for binder in tool.params}
    known |= {s.binder.name: s.binder for s in before if isinstance(s, Choose | Fresh)}
    drawn = {binder.name for binder in effect.fresh}
    together = [
        {term.name for term in s.atom.args if isinstance(term, Var)}
        for s in effect.statements
        if isinstance(s, Insert) and not s.binders
    ]
    reached, found = {fresh.name}, list[Binder]()
    while near := set[str]().union(*(names for names in together if names & reached)) - reached:
        found += [known[name] for name in sorted(near) if name in known]
        reached |= near
    return sorted(found, key=lambda binder: (binder.name in drawn, binder.sort == fresh.sort))
