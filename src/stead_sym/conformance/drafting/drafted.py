"""Draft guard and effect of tools from their runs.

One decision: a draft is checked as the deployment that it is written in, on every run. If one run contradicts
it, it is not proposed, and that run is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

import stead_sym.logic.syntax as fo
from stead_sym.conformance.binding import Binding
from stead_sym.conformance.conform import Comparison
from stead_sym.conformance.drafting.changes import Change
from stead_sym.conformance.drafting.effects import Explanation, Unexplained
from stead_sym.conformance.drafting.literals import Case, Own, Rows, Templates
from stead_sym.conformance.drafting.runs import Observed, Observer, Run
from stead_sym.conformance.drafting.separate import Inseparable, separate
from stead_sym.conformance.drafting.statements import Line, effect_lines
from stead_sym.conformance.drafting.written import Writer
from stead_sym.conformance.system import opened
from stead_sym.conformance.walks import small_restriction
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.semantics import databases, is_possible
from stead_sym.deployment.tool import Effect, Tool
from stead_sym.errors import InputError, SteadError
from stead_sym.evidence.data import text_digest
from stead_sym.relational.canonical import isomorphic
from stead_sym.relational.instance import Instance
from stead_sym.support.progress import Progress

MOST_RUNS = 1_000
"""The default limit on the runs of each tool."""
_ROUNDS = 4
"""The number of parts of the runs. After each drafts are made, or compared with the runs of the part."""


@dataclass(frozen=True, slots=True)
class DraftedGuard:
    """A literal of a guard; ``alone`` is the number of runs that it alone excludes."""

    text: str
    alone: int


@dataclass(frozen=True, slots=True)
class DraftedTool:
    """The draft of one tool, with its evidence.

    ``later`` is the number of runs that were made after the draft, and agreed with it. ``why`` says why there
    is no draft, and ``shown`` are the runs that show it, the smallest first. ``beyond`` are the columns that
    it writes and no relation has, and ``outside`` is a run with an identifier that is not there that changed
    something, which no guard can say.
    """

    tool: Tool
    guard: tuple[DraftedGuard, ...] = ()
    effect: tuple[Line, ...] = ()
    runs: int = 0
    changed: int = 0
    refused: int = 0
    later: int = 0
    why: str | None = None
    shown: tuple[Run, ...] = ()
    beyond: tuple[str, ...] = ()
    outside: Run | None = None
    unlisted: Run | None = None
    """The smallest run that writes a value which no sort lists; such runs support nothing."""
    raised: int = 0
    """The number of runs that changed something and refused the call."""
    reasons: tuple[tuple[str, int], ...] = ()
    """The texts of refusals, the most frequent first."""

    @property
    def is_drafted(self) -> bool:
        """Return True if there is an effect."""
        return bool(self.effect)

    @property
    def body(self) -> list[str]:
        """Return the lines of guard and effect."""
        if not self.is_drafted:
            return ["effect"]
        guard = [f"guard {' & '.join(one.text for one in self.guard)}"] if self.guard else []
        return [*guard, "effect", *(f"  {line.text}" for line in self.effect)]


@dataclass(frozen=True, slots=True)
class Drafted:
    """The drafts of all tools; ``left`` are those that have an effect already or that nothing runs.

    ``refused`` are the reasons for which the database did not take states.
    """

    tools: tuple[DraftedTool, ...]
    left: Mapping[str, str]
    states: int
    refused: Mapping[str, Instance]


def has_effect(tool: Tool) -> bool:
    """Return True if a file says anything of a tool but its parameters."""
    return tool.guard != fo.TRUE or tool.effects != (Effect(),)


def draft_tools(
    deployment: Deployment,
    binding: Binding,
    *,
    named: Sequence[str] = (),
    max_runs: int = MOST_RUNS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Drafted:
    """Run the tools of a system, and draft those that have no guard and no effect yet, or are ``named``.

    Raise `InputError` if the binding does not fit, or if there is no such tool.
    """
    alone = deployment.one_by_one()
    if alone.history:
        raise InputError("the deployment reads the past, which no database can be loaded with")
    tools = [tool for tool in alone.tools_and_events if tool.is_written]
    known = {tool.name for tool in tools}
    for name in named:
        if name not in known:
            raise InputError(f"there is no tool {name}; there are {', '.join(sorted(known))}")
    left: dict[str, str] = {}
    asked = []
    for tool in tools:
        if named and tool.name not in named:
            continue
        if tool.name not in binding.tools:
            left[tool.name] = "the binding does not run it"
        elif not named and has_effect(tool):
            left[tool.name] = "it has a guard or an effect already; name it with --tool to draft it again"
        else:
            asked.append(tool)
    with opened(alone, binding) as system:
        comparison = Comparison(
            alone, binding, system, small_restriction(alone), text_digest(alone), progress
        )
        observer = Observer(comparison, asked, Random(seed), progress)
        drafts: dict[str, DraftedTool] = {}
        done: set[str] = set()
        for part in range(1, _ROUNDS + 1):
            observer.observe(-(-max_runs * part // _ROUNDS), done)
            for name, observed in observer.observed.items():
                if name not in done:
                    drafts[name] = _again(alone, observed, drafts.get(name), last=part == _ROUNDS)
                    if drafts[name].later:
                        done.add(name)
    return Drafted(tuple(drafts.values()), left, observer.loaded, observer.refused)


def _again(
    deployment: Deployment, observed: Observed, before: DraftedTool | None, *, last: bool
) -> DraftedTool:
    """Return the draft of before if all later runs agree with it, or else a new one; at last none."""
    if before is not None and before.is_drafted and observed.unlike is None:
        later = observed.runs[before.runs :]
        contradicted = _contradicted(deployment, before, later)
        if contradicted is None and (any(run.changed for run in later) or last):
            return replace(_counted(before, observed), later=len(later))
        if last and contradicted is not None:
            why = f"what explains the first {before.runs:,} runs is contradicted by a later one"
            none = DraftedTool(observed.tool, why=why, shown=(contradicted,))
            return _counted(none, observed)
        if contradicted is None:
            return before
    return draft_tool(deployment, observed)


def draft_tool(deployment: Deployment, observed: Observed) -> DraftedTool:
    """Return the draft of a tool from its runs."""
    made = _counted(DraftedTool(observed.tool), observed)
    if observed.unlike is not None:
        return replace(
            made, why="two runs of one call on one database end differently", shown=observed.unlike
        )
    changed = observed.changed
    if not changed and made.unlisted is not None:
        return replace(
            made, why=f"it writes what no sort lists: {made.unlisted.trouble}", shown=(made.unlisted,)
        )
    if not changed:
        return replace(made, why="no run changed anything")
    params = [Own(param.name, param.sort) for param in observed.tool.params]
    taken = names_taken(deployment, observed.tool)
    known = deployment.all_constants
    changes = [
        Change(r.number, r.before, observed.tool.given(r.call), r.after, known) for r in changed if r.after
    ]
    try:
        statements = list(Explanation(deployment, params, taken, changes).statements())
    except Unexplained as error:
        return replace(made, why=error.reason, shown=(observed.runs[error.change.number],))
    made = replace(made, effect=tuple(effect_lines(deployment.schema, taken, statements)))
    return _guarded(deployment, observed, made, taken)


def _guarded(
    deployment: Deployment, observed: Observed, made: DraftedTool, taken: frozenset[str]
) -> DraftedTool:
    """Return the draft with the smallest guard that tells the runs apart, checked on all runs.

    Of a run that changed nothing, though the effect would not have either, nobody can tell if it is allowed.
    So such runs are excluded only if some guard does that.
    """
    tool = observed.tool
    templates = Templates(deployment, [Own(param.name, param.sort) for param in tool.params])
    positives = observed.changed
    still = [run for run in observed.runs if not run.changed]
    idle = _idle(deployment, made, still)
    must = [run for run in still if run.number not in idle]
    open_ = [run for run in still if run.number in idle]
    signals = any(run.said is not None for run in still) and all(run.said is not None for run in must)
    agreed = [run for run in open_ if run.said is None]
    objected = [run for run in open_ if run.said is not None]
    attempts: list[tuple[list[Run], list[Run]]] = []
    if signals:
        active = [run for run in agreed if run.is_known]
        attempts += [([*positives, *active], [*must, *objected]), (positives, [*must, *objected])]
    else:
        attempts += [(positives, still)]
    attempts += [(positives, must)]
    trouble: Run | None = None
    for allowed, others in attempts:
        others = sorted(others, key=lambda run: run.size)
        found = separate(templates, [_case(tool, r) for r in allowed], [_case(tool, r) for r in others])
        if isinstance(found, Inseparable):
            trouble = others[found.number]
            continue
        writer = Writer(deployment.schema, taken)
        guard = tuple(
            DraftedGuard(writer.literal(one), alone)
            for one, alone in zip(found.literals, found.alone, strict=True)
        )
        drafted = replace(made, guard=guard)
        contradicted = _contradicted(deployment, drafted, observed.runs)
        if contradicted is None:
            return drafted
        trouble = contradicted
    assert trouble is not None
    what = "no guard of the templates tells this run from those that change something"
    if trouble.changed:
        what = "no template explains this run together with the others"
    return replace(made, effect=(), why=what, shown=(trouble,))


def _case(tool: Tool, run: Run) -> Case:
    return Case(Rows(run.before), tool.given(run.call))


def _counted(made: DraftedTool, observed: Observed) -> DraftedTool:
    """Return a draft with the numbers of the runs."""
    runs = observed.runs
    outside = [run for run in runs if run.changed and not run.is_known]
    unlisted = [run for run in runs if run.trouble is not None and run.is_known]
    return replace(
        made,
        runs=len(runs),
        changed=len(observed.changed),
        refused=sum(run.said is not None and not run.changed for run in runs),
        unlisted=min(unlisted, key=lambda run: run.size, default=None),
        raised=sum(run.said is not None and run.changed for run in runs),
        beyond=tuple(dict.fromkeys(name for run in runs for name in run.beyond)),
        reasons=tuple(Counter(r.said for r in runs if r.said is not None and not r.changed).most_common()),
        outside=min(outside, key=lambda run: run.size, default=None),
    )


def names_taken(deployment: Deployment, tool: Tool) -> frozenset[str]:
    """Return the names that variables of a draft must not have."""
    schema = deployment.schema
    return frozenset(
        [
            *(param.name for param in tool.params),
            *deployment.all_constants,
            *(relation.name for relation in schema.relations),
            *(sort.name for sort in schema.sorts),
        ]
    )


# the check of a draft, as a deployment


def with_draft(deployment: Deployment, made: DraftedTool) -> tuple[Deployment, Tool]:
    """Return a deployment of the same schema with the drafted tool alone, and that tool."""
    text = "\n".join([*_declarations(deployment), *_tool_lines(made), "terminal", ""])
    parsed = parse_deployment(text)
    return parsed, parsed.tool(made.tool.name)


def _declarations(deployment: Deployment) -> Iterator[str]:
    yield "deployment draft"
    yield from map(str, (*deployment.schema.sorts, *deployment.schema.relations, *deployment.schema.texts))
    facts = sorted(deployment.init)
    if facts:
        yield "init"
        yield from (f"  {fact}" for fact in facts)


def _tool_lines(made: DraftedTool) -> Iterator[str]:
    params = ", ".join(f"{param.name}: {param.sort}" for param in made.tool.params)
    yield f"tool {made.tool.name}({params})"
    yield from (f"  {line}" for line in made.body)


def _idle(deployment: Deployment, made: DraftedTool, runs: Sequence[Run]) -> set[int]:
    """Return the numbers of the runs on whose states the effect of a draft would change nothing."""
    with_effect, _ = with_draft(deployment, replace(made, guard=()))
    found = set()
    for run in runs:
        restriction = small_restriction(with_effect, run.before)
        if all(after == run.before for after in databases(with_effect, run.call, run.before, restriction)):
            found.add(run.number)
    return found


def _contradicted(deployment: Deployment, made: DraftedTool, runs: Sequence[Run]) -> Run | None:
    """Return the smallest run that ends otherwise than the draft says, None if there is none."""
    try:
        drafted, _ = with_draft(deployment, made)
    except SteadError as error:
        raise AssertionError(f"a draft is no text of the language: {error}\n{made.body}") from error
    constants = drafted.all_constants
    for run in sorted(runs, key=lambda run: run.size):
        if not run.is_known or run.trouble is not None:
            continue
        offered = is_possible(drafted, run.call, run.before)
        if not offered:
            if run.changed:
                return run
            continue
        restriction = small_restriction(drafted, run.before)
        ends = list(databases(drafted, run.call, run.before, restriction))
        if run.after in ends:
            continue
        fixed = constants.union(run.call.args, *run.before.active_domain.values())
        if run.after is None or not any(isomorphic(run.after, end, fixed) for end in ends):
            return run
    return None
