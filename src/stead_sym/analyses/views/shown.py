"""Results of the search for every number of records, their proofs, and the reasons why there are none.

Reports and certificates import this module. The search is in `views.every_number`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import stead_sym.logic.syntax as fo
from stead_sym.analyses.views.asking import Answers
from stead_sym.analyses.views.closure import Closing, Closure
from stead_sym.analyses.views.needs import Needs, Outside
from stead_sym.analyses.views.parts import Facts
from stead_sym.analyses.views.weakening import LeftOut, stronger
from stead_sym.deployment.claims import claims
from stead_sym.deployment.deployment import Deployment
from stead_sym.errors import Undecided
from stead_sym.relational.schema import Value

LACKING = (
    "it asks that there is a record, which a part of a database may lack: keep what it asks for in a fact"
    " about the records that it names"
)

NOT_ALWAYS = (
    "it cannot be shown this way: only `AG` of a first-order sentence, and some of `A[… W …]`, `AX` and `AG`"
    " below it, are shown so; write a bound to ask this within it"
)

OF_STEPS = (
    "nothing is shown so where states keep the last step or the past; write a bound to ask this within it"
)
"""The update of `f since g` by a step is about D', and whether the values of σ are active there. A part of D'
on these values need not show that: the facts that keep them active may hold other values. So a part of D and
of what is kept does not say what the same part is after the step, and the update is not in the fragment."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The data that shows specifications: invariant ``views``, and the deployment that they are of.

    There may be millions of views, so they are listed from the ``closure`` only if they are read, and proofs
    are compared without them.
    The tools ``followed`` are guarded by what their agents select. If the deployment is watched for one
    specification, ``watched`` are the added relations, in the order of its parts. If constants were made
    values (`views.records`), ``constants`` are those of open sorts that are left. ``answers`` are those of
    agents that were asked.

    For a slice (`views.slicing`) ``kept`` are its relations, and ``using`` the relations of values in use, by
    sort. The written bounds of the sorts ``without_bounds`` are not assumed. The conjuncts ``left_out`` are
    removed from the tools (`views.weakening`), and ``left_out_of_slice`` from the tools of a slice.
    """

    closure: Closure = field(compare=False, repr=False)
    followed: tuple[str, ...]
    watched: tuple[str, ...] = ()
    constants: tuple[Value, ...] | None = None
    answers: tuple[Answers, ...] = ()
    kept: tuple[str, ...] | None = None
    using: tuple[tuple[str, str], ...] = ()
    without_bounds: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    left_out_of_slice: tuple[LeftOut, ...] = ()

    @property
    def views(self) -> frozenset[Facts]:
        """Return the views."""
        return self.closure.views


@dataclass(frozen=True, slots=True)
class Shown:
    """The result that a specification holds for every number of values of the ``sorts``.

    It is shown by ``views`` parts on ``k`` values. The claims ``left_open``, that there is always a step, are
    not shown with it. If what the agents select is not ``followed``, the result is true for whatever they
    select. The ``invariants`` of the file were shown with it. ``proof`` is what shows it. If it was shown of
    a slice (`views.slicing`), that has these ``relations``.
    """

    k: int
    views: int
    sorts: tuple[str, ...]
    left_open: tuple[str, ...] = ()
    followed: bool = False
    invariants: tuple[str, ...] = ()
    proof: Proof | None = field(default=None, compare=False, repr=False)
    relations: tuple[str, ...] = ()

    @property
    def scope(self) -> tuple[str, ...]:
        """Return what a reader has to know besides `holds`."""
        whoever = "" if self.followed else ", whatever an agent selects"
        said = f"for every number of {' and '.join(self.sorts)}{whoever} ({self.by_views})"
        left = f"not shown for every number: {', '.join(self.left_open)}"
        return (said, left) if self.left_open else (said,)

    @property
    def by_views(self) -> str:
        """Return a short description of the views."""
        shown_with = f", shown with {' and '.join(self.invariants)}" if self.invariants else ""
        about = f" of {', '.join(self.relations)}" if self.relations else ""
        return f"{self.k}-views{about}: {self.views} of them{shown_with}"


def always(formula: fo.Expanded) -> tuple[fo.Expanded, ...] | None:
    """Return the first-order sentences that a specification states to be always true.

    Returns None for a specification that states something else.
    """
    match formula:
        case fo.Globally("A", body) if not fo.is_temporal(body):
            return (body,)
        case fo.Globally("A", fo.And(parts)):
            return always(fo.And(tuple(fo.Globally("A", part) for part in parts)))
        case fo.Globally("A", fo.Globally("A") as inner):
            return always(inner)
        case fo.Not(fo.Future("E", body)):
            return always(fo.Globally("A", fo.Not(body)))
        case fo.And(parts):
            found = [always(part) for part in parts]
            return None if None in found else tuple(f for one in found if one is not None for f in one)
        case _:
            return None


def asks_for_a_record(needs: Needs, sentences: Iterable[fo.Expanded]) -> bool:
    """Return whether a part of an instance may lack a record that one of the sentences requires."""
    try:
        return any(needs.kept(sentence).total() for sentence in sentences)
    except Outside:
        return True


def claims_not_shown(closing: Closing, deployment: Deployment) -> Iterator[str]:
    """Yield the claims that are not shown: that there is always a step, and that it has an effect."""
    for claim in claims(deployment):
        if not claim.name.startswith(("bound ", "key of ")):
            sentence = stronger(closing.needs, claim.invariant)
            try:
                if sentence != fo.TRUE and not closing.shows([sentence]):
                    yield claim.name
            except (Outside, Undecided):
                yield claim.name
