r"""The names that a `fresh` statement may draw: all of them (`theorem`), or representatives (`normal`).

*Why representatives are exact.* Write (D, ν) ≡ (E, μ) as in the proof of Theorem "Exact finite verification":
there is a sort-preserving bijection between ad(D) ∪ C ∪ ν(V) and ad(E) ∪ C ∪ μ(V) that fixes C, is an
isomorphism of the instances and maps ν to μ; V are the variables of a formula. By (M) of that proof ≡ is a
bisimulation, by (I) no formula with free variables in V distinguishes equivalent pairs. So a transition
system over pairs stays exact if each successor (D', ν) is replaced by any pair equivalent to it, as long as
every class of successors keeps a member.

*What an assignment is.* Call a value dead in D if it is active in no fact of D and no constant. A bijection
as above fixes or renames the living values together with D; it may map the dead ones to any others. So for a
given D, ≡ depends on ν only through (ν̂, ∼):

    ν̂(x) = ν(x) if that lives, and "dead" otherwise;
    x ∼ y  iff  x and y are dead and ν(x) = ν(y)      (an equivalence on the dead variables of each sort).

Conversely, two assignments over D with the same (ν̂, ∼) are equivalent: the identity on ad(D) ∪ C, joined
with ν(x) ↦ μ(x) for the dead x, is a function and injective since ∼ is the same, and the images of the dead x
avoid ad(D) ∪ C on both sides. A pair is therefore stored as (D, ν̂, ∼), which leaves no choice: there is one
code for each class, however many variables there are and in whatever order their values died. No part of the
code of x and y depends on another variable, so the code of ν restricted to V' ⊂ V is the code of ν without
the other variables: a set computed over V' is the set over V, for any V that includes V'.

*The successors.* Let D → D' draw W = ad(D') \ (ad(D) ∪ C), the new values in facts of D': other values of D'
are active in D or constants. In the infinite domain the drawn values are any distinct values that are neither
active in D nor constants; so each dead value of ν is either one of them, or not. Up to ≡ the successors of
(D, ν) are the injections of some of the classes of ∼ into W, sort by sort, and each of them occurs. Such a
class takes the name of the value as which it is reborn; a living value keeps its name, and is dead afterwards
if D' does not hold it; and two variables are equal afterwards, dead or alive, iff they were before.
`check.held_values` has these conditions as a relation. Values that die together remain distinct if they were
distinct while they lived; a value that died before differs from those that die now.

*The names of new values in D'.* Any renaming of W yields an equivalent pair, with ν̂ renamed too. Any choice
of names is exact that depends on the state and the action only. The default is the least name that is not
active. If an effect attaches a new value to another one (a case to the handler it is routed to, a task to the
case drawn before it), the name goes with that value instead, the i-th name with the i-th value (an *anchor*):
then the state does not have to encode a permutation. If some reachable state finds an anchored name taken,
the anchor is dropped and the search is restarted.

*Many initial states.* `initially any` admits a set I of states D0, with C the same for all: the listed values
and those of `init`. The theorem is stated for one D0 with ad(D0) ⊆ C. Its proof starts an induction over
formulas from the pair (D0, ∅) on both sides, and then considers pairs (D, ν) ≡ (E, μ) of reachable states
with at most b_S active values outside C. For D0 ∈ I with ad(D0) ⊄ C take any ι that fixes C and renames the
others into U_f, which has room: D0 holds at most b_S of them, and |(U_f)_S| ≥ |C_S| + b_S. Then

- (D0, ∅) ≡ (ι(D0), ∅), by ι itself, so the induction starts there as well, and D0 in the infinite system and
  ι(D0) in the restriction satisfy the same sentences. The sizes are those of the theorem: they count the
  values in reachable states and formulas, and D0 is one of these states;
- ι(D0) ∈ I, since I is given by a first-order sentence with constants in C, the bounds, the keys, and facts
  over C: all of these are preserved by an isomorphism that fixes C. So the initial states of the restriction
  are exactly the D0 ∈ I over U_f;
- for the same reason one D0 of each isomorphism class is enough, and all classes occur as soon as U_f has
  |C_S| + b_S values (`explore.initial`).

A sentence holds from every D0 ∈ I iff it holds from every initial state of the restriction. This gives no
cut-off for larger bounds, since the sizes depend on b_S.

*The size of the domain.* A state holds no dead value, so D needs names for its own values only: at most b_S
active ones outside C, and the f_S values that one effect draws in addition: |C_S| + b_S + f_S. For an
`ensure`, which may replace every value at once and exceed the bound doing so, f_S = b_S + 1. Dead values have
no names at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Choose, Effect, Fresh, Insert, Tool
from stead_sym.relational.schema import Value

Place: TypeAlias = tuple[str, int]
"""An alternative: the name of its tool and its number there."""

Draw: TypeAlias = tuple[Place, str]
"""A fresh variable of an alternative."""


@dataclass(frozen=True, slots=True)
class Naming:
    """The way in which fresh values are drawn: ``literal``, any unused one, or representatives.

    ``anchors`` are the fresh variables that are named after the value of another variable, and ``names`` has
    their name for each of its values. All others take the least name that is not active.
    """

    literal: bool
    anchors: Mapping[Draw, fo.Binder] = field(default_factory=dict)
    names: Mapping[Draw, Mapping[Value, Value]] = field(default_factory=dict)


def possible_anchors(deployment: Deployment) -> Mapping[Draw, tuple[fo.Binder, ...]]:
    """Return, for each fresh variable, the variables that it may be named after, the most promising first.

    These are parameters and variables chosen or drawn before, linked to it by inserted facts.
    """
    return {
        ((tool.name, number), binder.name): tuple(_linked(tool, effect, binder))
        for tool in deployment.tools_and_events
        for number, effect in enumerate(tool.effects)
        for binder in effect.fresh
    }


def _linked(tool: Tool, effect: Effect, fresh: fo.Binder) -> Sequence[fo.Binder]:
    """Return the variables in scope before a fresh one that inserted facts link to it.

    Those that are not fresh themselves come first, then the nearest.
    """
    before = takewhile(lambda s: not (isinstance(s, Fresh) and s.binder == fresh), effect.statements)
    known = {binder.name: binder for binder in tool.params}
    known |= {s.binder.name: s.binder for s in before if isinstance(s, Choose | Fresh)}
    drawn = {binder.name for binder in effect.fresh}
    together = [
        {term.name for term in s.atom.args if isinstance(term, fo.Var)}
        for s in effect.statements
        if isinstance(s, Insert) and not s.binders
    ]
    reached, found = {fresh.name}, list[fo.Binder]()
    while near := set[str]().union(*(names for names in together if names & reached)) - reached:
        found += [known[name] for name in sorted(near) if name in known]
        reached |= near
    return sorted(found, key=lambda binder: (binder.name in drawn, binder.sort == fresh.sort))
