"""The result of verification without an established bound: fragments, verdicts, and causes of growth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import stead_sym.logic.syntax as fo
from stead_sym.agents.roles import Wrappers
from stead_sym.analyses.bounds import in_words
from stead_sym.analyses.deepening.fragment import Bounds, initial_bounds
from stead_sym.deployment.claims import active_outside, claim_named
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.trace import Trace
from stead_sym.errors import Span
from stead_sym.evidence.moves import Moves
from stead_sym.verification.findings.finding import AcceptedFinding, Finding
from stead_sym.verification.hypotheses import Hypotheses
from stead_sym.verification.verdict import Verdict

if TYPE_CHECKING:  # reports import this module, and most commands search for none of these
    from stead_sym.analyses.deepening.growth import Growth
    from stead_sym.analyses.deepening.remedy import Remedy
    from stead_sym.analyses.views.obstacle import Obstacle
    from stead_sym.analyses.views.proposing import Proposed
    from stead_sym.analyses.views.shown import Shown


@dataclass(frozen=True, slots=True)
class Found:
    """The result for one specification.

    ``verdict`` is `holds` if it was shown for ``every_number`` of records, or if it is a bound of a sort of
    which no effect brings in a value; else `fails` or `unknown`.
    ``within`` are the least bounds, of those tried, of a fragment that shows the specification true or false;
    None if no fragment does. ``shown``: a fragment shows it true. That is no verdict, since beyond the
    fragment neither the bounds nor the conditions of the definition are established. ``moves`` has the
    alternatives at each step of the evidence.
    """

    verdict: Verdict
    within: Bounds | None = None
    shown: bool = False
    moves: Moves | None = None
    every_number: Shown | None = None
    obstacle: Obstacle | None = None
    proposed: Proposed | None = None

    @property
    def decided(self) -> bool:
        """True if the specification is shown to be true or false, in a fragment or without one."""
        return self.within is not None or self.verdict.holds is not None


@dataclass(frozen=True, slots=True)
class Round:
    """One fragment: its ``bounds`` and the number of its reachable ``states``.

    States beyond the bounds are counted. ``exceeded`` are the sorts that have more values than the bound on
    some run. ``unseen`` are sorts that the formula of an `ensure` exceeds by more than was explored, or for
    which that is not decided. ``most`` are the largest numbers of values that are active in one of the
    states.
    """

    bounds: Bounds
    states: int
    most: Bounds
    exceeded: tuple[str, ...]
    unseen: tuple[str, ...] = ()

    @property
    def growing(self) -> tuple[str, ...]:
        """The sorts whose bounds are to be raised."""
        return tuple(sort for sort in self.bounds if sort in (*self.exceeded, *self.unseen))


@dataclass(frozen=True)
class Deepening:
    """The result of `deepen`.

    ``rounds`` are the fragments, with growing bounds; empty if the initial database is too large to be
    explored. ``found`` is by specification. ``growths`` are the loops along which sorts grow past every bound
    that was tried, by sort; ``remedy`` is a change that bounds them all, if one was found. ``limit`` is the
    largest bound that is tried. ``stopped`` is the limit that ended the analysis before, such as one on
    states, or empty. ``findings`` are signs that verdicts for every number establish less than they seem to,
    and ``accepted`` those that a comment of the file accepts. ``hypotheses`` are the assumptions of the
    verdicts. ``broken`` is the claim of the file that a run breaks, which ended the exploration, or empty.
    """

    deployment: Deployment
    agent: str
    rounds: tuple[Round, ...]
    found: Mapping[str, Found]
    limit: int
    seconds: float
    growths: Mapping[str, Growth]
    runs: Mapping[str, Trace]
    hypotheses: Hypotheses
    remedy: Remedy | None = None
    stopped: str = ""
    findings: tuple[Finding, ...] = ()
    accepted: tuple[AcceptedFinding, ...] = ()
    wrappers: Wrappers = field(default_factory=lambda: MappingProxyType({}), repr=False, compare=False)
    broken: str = ""
    doubted: bool = False

    def __getitem__(self, spec: str) -> Verdict:
        """Return the verdict of a specification."""
        return self.found[spec].verdict

    @property
    def verdicts(self) -> Mapping[str, Verdict]:
        """The verdicts by specification."""
        return {name: one.verdict for name, one in self.found.items()}

    def place(self, name: str) -> Span | None:
        """Return the position of a specification, or a claim, in the file; None for any other formula."""
        claim = claim_named(self.deployment, name)
        return self.deployment.spec(name).span if claim is None else claim.span

    @property
    def bounds(self) -> Bounds:
        """The bounds of the last fragment."""
        return self.rounds[-1].bounds if self.rounds else MappingProxyType({})

    @property
    def established(self) -> bool:
        """True if the last fragment is the whole deployment: no run exceeds its bounds.

        Of an agent that may select what it did not in a fragment (``doubted``) that is not known.
        """
        return bool(self.rounds) and not self.rounds[-1].growing and not self.doubted

    @property
    def lines(self) -> tuple[str, ...]:
        """The bounds for the file, if they are established.

        With `initially any` larger bounds admit more initial databases, so that a condition preserves these.
        """
        if not self.established:
            return ()
        d, most = self.deployment, self.rounds[-1].most
        starting = tuple(
            active_outside(d, sort, "atmost", b) for sort, b in initial_bounds(d).items() if most[sort] > b
        )
        bounds = (f"bound {sort} {b}" for sort, b in most.items() if b)
        if d.initially is None or not starting:
            return tuple(bounds)
        kept = f"initially any {d.initially.relations[0]} where {fo.conjunction(starting)}"
        return (*bounds, kept)

    def __str__(self) -> str:
        """Return the bounds and the verdicts, one a line."""
        if self.broken:
            raised = f"explored until `{self.broken}` was broken"
        elif self.rounds:
            raised = f"bounds raised to {in_words(self.bounds)}"
        else:
            raised = f"not explored from an initial database with {len(self.deployment.init):,} facts"
        said = [f"{self.deployment.name} under {self.agent}{self.deployment.harness}, {raised}"]
        return "\n".join([*said, *(f"  {one.verdict}" for one in self.found.values())])
