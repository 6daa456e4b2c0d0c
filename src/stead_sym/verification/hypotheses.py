"""From hypotheses to a verdict: the one place that returns `unknown`.

An engine decides a specification in the part that it has explored. The verdict about the deployment is this
truth value if every hypothesis that it needs is established. Otherwise it is `unknown`, with the missing
hypothesis as the reason. Every verdict passes through `Hypotheses.concluded`; `audit` establishes the
hypotheses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from stead_sym.errors import Undecided
from stead_sym.support.html import Displayed, paragraph, table
from stead_sym.verification.verdict import Verdict
from stead_sym.verification.widened import Widened

Status: TypeAlias = Literal["established", "by construction", "not established"]

Ground: TypeAlias = Literal["exploration", "fairness", "domain", "decisions", "system"]
"""The subject of a hypothesis, which determines the verdicts that need it.

``exploration``: all reachable states were explored. Every verdict needs it, except a failure that a finite
run shows: that run is one of the deployment.

``fairness``: a fair run starts in every state in which one is required. A verdict needs it if the two
readings of `readings` differ without it.

``domain``: truth in the domain is truth in the deployment. Every verdict about the deployment needs it.

``decisions``: the agents mean what they decided. Every verdict needs it.

``system``: a running system does what the deployment says. A verdict is about the deployment, so that none
needs it; it says what the verdict means for the system.
"""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A hypothesis with its status, and how it was established or why it was not.

    ``doubt`` is the reason for `unknown` in a verdict that misses it: the words after "it holds" or "it
    fails", as in "it fails on the forced domain", or a full sentence if the truth value is open. It is empty
    if the hypothesis is established, or is missing only because another one is.
    """

    name: str
    status: Status
    how: str
    ground: Ground = "domain"
    doubt: str = ""

    def __str__(self) -> str:
        """Return the hypothesis with its status as one line."""
        return f"{self.name}: {self.status}; {self.how}"


@dataclass(frozen=True, slots=True)
class Activity:
    r"""The largest active domain of a sort and its bound.

    ``most`` is max |(ad(D) \ C) ∩ U_S| over the reachable states D, exactly; ``bound`` is b_S.
    """

    bound: int
    most: int


@dataclass(frozen=True, slots=True)
class Hypotheses(Displayed):
    """The hypotheses of one verification.

    ``activity`` is per unbounded sort. ``widened`` are the contexts in which a selected call stands for
    several.
    """

    all: tuple[Hypothesis, ...]
    activity: Mapping[str, Activity]
    widened: tuple[Widened, ...] = ()

    @property
    def missing(self) -> tuple[Hypothesis, ...]:
        """The hypotheses that are not established."""
        return tuple(hypothesis for hypothesis in self.all if hypothesis.status == "not established")

    def missing_for(self, holds: bool | None, *, by_run: bool = False) -> tuple[Hypothesis, ...]:
        """Return the hypotheses that a verdict needs and that are not established, the most important first.

        ``holds`` is the answer, None if only a fair run could decide it. ``by_run``: a finite run shows that
        the specification fails.
        """
        idle = {"fairness": holds is not None, "exploration": by_run}
        needed = (one for one in self.missing if one.doubt and not idle.get(one.ground))
        return tuple(sorted(needed, key=lambda one: one.ground != "fairness"))

    def require(self) -> None:
        """Raise `Undecided` if a hypothesis is missing for an answer over all reachable states."""
        if missing := self.missing_for(True):
            [one, *_] = missing
            raise Undecided(f"unknown: {one.how if one.ground == 'exploration' else one}")

    def concluded(self, found: Verdict, *, by_run: bool = False) -> Verdict:
        """Return the verdict unchanged if no hypothesis is missing for it, and as `unknown` otherwise.

        An unknown verdict keeps its evidence, which is about the explored part, and makes no claim.
        """
        missing = self.missing_for(found.holds, by_run=by_run)
        if not missing:
            assert found.holds is not None, f"{found.spec} is neither true nor false, and nothing is missing"
            return found
        doubt = missing[0].doubt
        reason = doubt if found.holds is None else f"it {found.word} {doubt}"
        return replace(found, holds=None, reason=reason, scope=())

    def __str__(self) -> str:
        """Return the hypotheses and widened contexts, one a line."""
        return "\n".join(map(str, (*self.all, *self.widened)))

    def _repr_html_(self) -> str:
        rows = [(h.name, h.status, h.how.replace("; ", "\n")) for h in self.all]
        widened = "".join(paragraph(f"widened: {one}") for one in self.widened)
        return table("", ("hypothesis", "status", "how"), rows) + widened
