"""Represent runs of a deployment, as evidence for a verdict or for an error.

One decision: steps that repeat earlier ones are shown to a reader as one line. Steps repeat if they have the
same calls, by the same agents, with the same arguments. An argument may also differ from one repetition to
the next if it is each time a value that the repetition before has added. So a run that adds new values
forever is shown as a repetition too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from stead_sym.deployment.tool import Call
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Value
from stead_sym.support.html import Displayed, paragraph, table

_LEAST_REPEATED = 3
"""Steps are folded if they are repeated at least this many times after the first time."""

_FactChanges = tuple[Sequence[Fact], Sequence[Fact]]
"""The facts that a step adds and removes."""


@dataclass(frozen=True, slots=True)
class Step:
    """A transition D → D' by ``call``; ``state`` is D'.

    ``actor`` is the name of the agent that makes the call, empty if there is only one; None for an event.
    Of many agents with this name it is ``me`` (`deployment.callers`).
    """

    call: Call
    state: Instance
    actor: str | None = ""
    me: Value | None = None

    @property
    def who(self) -> str:
        """Return the name of the agent, `worker(w1)` for one of many; an empty text for an event."""
        return (self.actor or "") if self.me is None else f"{self.actor}({self.me})"

    @property
    def label(self) -> str:
        """Return the call, with the agent that makes it if there are several."""
        if self.actor is None:
            return f"{self.call}, an event"
        return f"{self.who}: {self.call}" if self.actor else str(self.call)


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a step, as people read it: a fact that is ``added`` or ``removed``, or both.

    It is both for a row of a relation with a key that another row of that key replaces.
    """

    added: Fact | None
    removed: Fact | None
    text: str

    @property
    def relation(self) -> str:
        """Return the relation of the fact."""
        fact = self.added or self.removed
        assert fact is not None
        return fact.relation

    @property
    def sign(self) -> str:
        """Return `+` or `-`, or an empty text for a row that is replaced."""
        return "-" if self.added is None else "+" if self.removed is None else ""

    def __str__(self) -> str:
        """Return the text with its sign."""
        return f"{self.sign} {self.text}".lstrip()


def as_changes(schema: Schema, added: Iterable[Fact], removed: Iterable[Fact]) -> tuple[Change, ...]:
    """Return these facts, sorted, as changes.

    If a key has one row before and one after, the text has the other columns that differ, by their names or
    sorts if there are several: `Order(order1): open -> paid`. For a column with a name it is
    `Order(order1).state: open -> paid`.
    """
    gone, new = _by_key(schema, removed), _by_key(schema, added)
    replaced = [
        (before[0], new[key][0])
        for key, before in gone.items()
        if len(before) == len(new.get(key, ())) == 1 and schema.relation(key[0]).keys
    ]
    whole = {fact for pair in replaced for fact in pair}
    return (
        *(Change(fact, None, str(fact)) for fact in sorted(added) if fact not in whole),
        *(
            Change(after, before, _replaced(schema.relation(before.relation), before, after))
            for before, after in sorted(replaced)
        ),
        *(Change(None, fact, str(fact)) for fact in sorted(removed) if fact not in whole),
    )


def _by_key(schema: Schema, facts: Iterable[Fact]) -> Mapping[tuple[str, tuple[Value, ...]], Sequence[Fact]]:
    found: dict[tuple[str, tuple[Value, ...]], list[Fact]] = {}
    for fact in facts:
        found.setdefault((fact.relation, schema.relation(fact.relation).key(fact.args)), []).append(fact)
    return found


def _replaced(relation: Relation, before: Fact, after: Fact) -> str:
    others = [column for column in range(relation.arity) if column not in relation.keys]
    sorts = [relation.sorts[column] for column in others]
    row, parts = str(Fact(relation.name, relation.key(before.args))), []
    changed = [column for column in others if before.args[column] != after.args[column]]
    for column in changed:
        sort, name = relation.sorts[column], relation.columns[column] if relation.columns else ""
        which = name or (f"column {column + 1}" if sorts.count(sort) > 1 else sort if len(others) > 1 else "")
        if name and len(changed) == 1:
            row, which = f"{row}.{name}", ""
        parts.append(f"{which} {before.args[column]} -> {after.args[column]}".lstrip())
    return f"{row}: {', '.join(parts)}"


@dataclass(frozen=True, slots=True)
class Folded:
    """The steps from number ``first``, counted from 0, to the one before ``last``.

    They repeat the steps just before them ``times`` times. ``changes`` describes what they change, by
    relation.
    """

    first: int
    last: int
    times: int
    calls: str
    changes: tuple[str, ...]

    @property
    def numbers(self) -> str:
        """Return the numbers of the steps, counted from 1."""
        return f"{self.first + 1}-{self.last}"

    @property
    def words(self) -> str:
        """Return a description of the steps."""
        return f"{self.calls}, {self.times} times more"


def folded(
    steps: Sequence[Step], changes: Sequence[_FactChanges], loop: int | None = None
) -> list[int | Folded]:
    """Return the numbers of the steps of a run, with a `Folded` in place of steps that repeat those before.

    ``changes`` has what each step changes. Steps before the ``loop`` of a run are not folded together with
    steps in it.
    """
    found: list[int | Folded] = []
    for begin, end in [(0, len(steps))] if loop is None else [(0, loop), (loop, len(steps))]:
        at = begin
        while at < end:
            again = _Folding(steps, changes, at, end).folded()
            if again is None:
                found.append(at)
                at += 1
            else:
                found += [*range(at, again.first), again]
                at = again.last
    return found


@dataclass(frozen=True, slots=True)
class _Folding:
    """The steps from number ``at`` on, before the step ``end``."""

    steps: Sequence[Step]
    changes: Sequence[_FactChanges]
    at: int
    end: int

    def folded(self) -> Folded | None:
        """Return the repetition with the smallest period that is repeated often enough to be folded."""
        for period in range(1, (self.end - self.at) // (_LEAST_REPEATED + 1) + 1):
            times = 0
            while self._again(self.at + times * period, period):
                times += 1
            if times >= _LEAST_REPEATED:
                first, last = self.at + period, self.at + (times + 1) * period
                calls = ", ".join(self._common(self.at + k, last, period) for k in range(period))
                return Folded(first, last, times, calls, tuple(self._changed(first, last)))
        return None

    def _again(self, first: int, period: int) -> bool:
        """Return whether the ``period`` steps from ``first`` on are followed by a repetition of them."""
        if first + 2 * period > self.end:
            return False
        new = {v for k in range(first, first + period) for fact in self.changes[k][0] for v in fact.args}
        return all(
            one.call.tool == other.call.tool
            and one.actor == other.actor
            and all(u == v or v in new for u, v in zip(one.call.args, other.call.args, strict=True))
            for one, other in zip(
                self.steps[first : first + period],
                self.steps[first + period : first + 2 * period],
                strict=True,
            )
        )

    def _common(self, first: int, last: int, period: int) -> str:
        """Return the call of every ``period``-th step, with `_` for an argument that differs."""
        calls = [step.call for step in self.steps[first:last:period]]
        columns = zip(*(call.args for call in calls), strict=True)
        args = ", ".join(values[0] if len(set(values)) == 1 else "_" for values in columns)
        return f"{calls[0].tool}({args})"

    def _changed(self, first: int, last: int) -> Iterator[str]:
        added = Counter(fact.relation for k in range(first, last) for fact in self.changes[k][0])
        removed = Counter(fact.relation for k in range(first, last) for fact in self.changes[k][1])
        yield from (f"+ {number} of {relation}" for relation, number in added.items())
        yield from (f"- {number} of {relation}" for relation, number in removed.items())


@dataclass(frozen=True, slots=True)
class Trace(Displayed):
    """A finite run from ``start``, or a lasso.

    With ``loop = k`` the state after the last step is the state after the first k steps (k = 0: the start),
    so that the steps from k on repeat forever. ``bindings`` are the values that quantifiers took on the way.
    ``claim`` describes what the last state, or the loop, shows. ``of_many``: the start is one of several
    initial states, so that the output has to include it.
    """

    start: Instance
    steps: tuple[Step, ...] = ()
    loop: int | None = None
    bindings: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))
    claim: str = ""
    of_many: bool = False

    @property
    def states(self) -> tuple[Instance, ...]:
        """Return the start and the state after each step."""
        return (self.start, *(step.state for step in self.steps))

    @property
    def last(self) -> Instance:
        """Return the last state."""
        return self.steps[-1].state if self.steps else self.start

    def changes(self, index: int) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
        """Return the facts that step ``index`` added and removed, each sorted."""
        before, after = self.states[index].evident, self.states[index + 1].evident
        return tuple(sorted(after - before)), tuple(sorted(before - after))

    @property
    def repeats(self) -> str:
        """Return which steps repeat forever, counted from 1; an empty text without a loop."""
        if self.loop is None:
            return ""
        first, last = self.loop + 1, len(self.steps)
        return f"step {first} repeats for ever" if first == last else f"steps {first}-{last} repeat for ever"

    @property
    def remarks(self) -> tuple[tuple[str, str], ...]:
        """Return what is printed below the steps: the loop, the values of the variables, the claim.

        If there are no steps, the state is included.
        """
        state = "" if self.steps else ", ".join(map(str, sorted(self.start.database.facts))) or "no facts"
        bindings = ", ".join(f"{name} = {value}" for name, value in self.bindings.items())
        labelled = (("loop", self.repeats), ("state", state), ("with", bindings), ("shows", self.claim))
        return tuple((label, text) for label, text in labelled if text)

    def _changes(self, index: int) -> str:
        changes = as_changes(self.start.schema, *self.changes(index))
        return "\n".join(map(str, changes)) or "(no change)"

    @property
    def folded(self) -> list[int | Folded]:
        """Return the steps by their numbers from 0, with repeated ones together."""
        return folded(self.steps, [self.changes(index) for index in range(len(self.steps))], self.loop)

    def __str__(self) -> str:
        """Return the run as plain text: each call with the facts it adds and removes, then the remarks."""
        lines = [f"from {self.start}"] if self.of_many else []
        for part in self.folded:
            if isinstance(part, Folded):
                lines += [f"{part.numbers}. {part.words}", *(f"     {change}" for change in part.changes)]
                continue
            lines.append(f"{part + 1}. {self.steps[part].label}")
            lines.extend(f"     {change}" for change in self._changes(part).split("\n"))
        return "\n".join([*lines, *(f"{label}: {text}" for label, text in self.remarks)])

    def _repr_html_(self) -> str:
        rows = [
            (part.numbers, part.words, "\n".join(part.changes))
            if isinstance(part, Folded)
            else (str(part + 1), self.steps[part].label, self._changes(part))
            for part in self.folded
        ]
        steps = table("", ("step", "call", "facts"), rows) if rows else ""
        start = paragraph(f"from {self.start}") if self.of_many else ""
        return start + steps + "".join(paragraph(f"{label}: {text}") for label, text in self.remarks)
