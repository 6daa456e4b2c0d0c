"""The audit of C-equivariance, and a search for names that violate it.

The decision: an audit is of one decision context and one renaming ρ, and is exact:

    Π̂(ρ(D), ρ(A)) = ρ(Π̂(D, A))

holds or does not. The search generates names of an identifier grammar and ranks them by the lead of the
expected call over its rivals; it can find a violation, but never prove that there is none.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from stead_sym.agents.base import Agent, DecisionContext
from stead_sym.agents.prompts.prompt import Message
from stead_sym.agents.records.answer import Answer
from stead_sym.deployment.tool import Call
from stead_sym.errors import InputError
from stead_sym.models.agent import ModelAgent
from stead_sym.relational.schema import Value

_ELEMENT = re.compile(r"(?:\[(?P<class>(?:\w-\w|\w)+)\]|(?P<plain>[\w.@:-]))(?:\{(?P<count>[1-9]\d?)\})?")


@dataclass(frozen=True, slots=True)
class Grammar:
    """An identifier grammar: the allowed characters for every position."""

    slots: tuple[str, ...]

    @classmethod
    def of(cls, pattern: str) -> Grammar:
        """Return the grammar of `[a-z][a-z0-9]{6}_[a-z0-9]{8}`: classes, counts and plain characters.

        Raise `InputError` for another pattern.
        """
        slots: list[str] = []
        position = 0
        while position < len(pattern):
            match = _ELEMENT.match(pattern, position)
            if match is None:
                raise InputError(
                    f"the identifier grammar {pattern!r} is wrong at character {position + 1};"
                    " write classes, counts and plain characters, such as [a-z]{4}_[0-9]{2}"
                )
            slots += [_members(match["class"]) if match["class"] else match["plain"]] * int(
                match["count"] or 1
            )
            position = match.end()
        if not slots:
            raise InputError("the identifier grammar is empty; write one such as [a-z]{4}_[0-9]{2}")
        return cls(tuple(slots))

    def sample(self, dice: random.Random) -> str:
        """Return a random name."""
        return "".join(map(dice.choice, self.slots))

    def mutate(self, name: str, dice: random.Random) -> str:
        """Return ``name``, of this grammar, with one or two positions redrawn."""
        letters = list(name)
        for position in dice.sample(range(len(letters)), min(len(letters), dice.randint(1, 2))):
            letters[position] = dice.choice(self.slots[position])
        return "".join(letters)


def _members(text: str) -> str:
    members: list[str] = []
    for first, last, single in re.findall(r"(\w)-(\w)|(\w)", text):
        members += [single] if single else map(chr, range(ord(first), ord(last) + 1))
    if not members:
        raise InputError(f"the class [{text}] is empty; write the lesser character first")
    return "".join(sorted(set(members)))


@dataclass(frozen=True, slots=True)
class Audit:
    """The selections of an agent before and after a renaming."""

    context: DecisionContext
    renaming: Mapping[Value, Value]
    before: frozenset[Call]
    after: frozenset[Call]

    @property
    def expected(self) -> frozenset[Call]:
        """The renamed selection, ρ(Π̂(D, A))."""
        return frozenset(call.rename(self.renaming) for call in self.before)

    @property
    def follows(self) -> bool:
        """True if the selection is equivariant under the renaming."""
        return self.after == self.expected


def audit(
    agent: Agent, context: DecisionContext, renamings: Sequence[Mapping[Value, Value]], fixed: Set[Value]
) -> list[Audit]:
    """Return one audit per renaming; all contexts are passed to the agent in one batch.

    Raise `InputError` for a renaming that moves a value of B = ``fixed``, or one onto it, or two values onto
    one.
    """
    for renaming in renamings:
        _check(context, renaming, fixed)
    moved = [rename(context, renaming) for renaming in renamings]
    before, *after = (frozenset(calls) for calls in agent.select([context, *moved]))
    return [Audit(context, rho, before, calls) for rho, calls in zip(renamings, after, strict=True)]


def rename(context: DecisionContext, renaming: Mapping[Value, Value]) -> DecisionContext:
    """Return (ρ(D), ρ(A))."""
    return DecisionContext(
        context.view.rename(renaming), frozenset(call.rename(renaming) for call in context.calls)
    )


def values(context: DecisionContext) -> frozenset[Value]:
    """Return the values in a context."""
    shown: set[Value] = {value for call in context.calls for value in call.args}
    return frozenset(shown.union(*context.view.active_domain.values()))


_NEW_NAMES_PER_SORT = 5
"""The number of new names of each sort in a random renaming."""


def random_renaming(context: DecisionContext, fixed: Set[Value], dice: random.Random) -> dict[Value, Value]:
    """Return a random renaming of the values outside ``fixed``, within each sort.

    The images are the names of the sort in the context and `_NEW_NAMES_PER_SORT` new ones. A new name is
    spelled like a canonical one, S_7. Values that only calls mention keep their names.
    """
    renaming: dict[Value, Value] = {}
    for sort, shown in sorted(context.view.active_domain.items()):
        names = sorted(shown - fixed)
        new = (f"{sort.upper()}_{number}" for number in range(1, len(names) + _NEW_NAMES_PER_SORT + 1))
        pool = sorted({*names, *(name for name in new if name not in values(context) and name not in fixed)})
        renaming.update(zip(names, dice.sample(pool, len(names)), strict=True))
    return renaming


def changed_places(
    before: Iterable[Message], after: Iterable[Message], renaming: Mapping[Value, Value]
) -> int | None:
    """Return the number of places in which a renaming changed a prompt; None if anything else changed.

    Replacing all occurrences of the old names simultaneously must transform the one prompt into the other;
    and no new name may occur in the original prompt.
    """
    moved = {old: new for old, new in renaming.items() if old != new}
    if not moved:
        return 0 if tuple(before) == tuple(after) else None
    old_names = re.compile("|".join(map(re.escape, sorted(moved, key=len, reverse=True))))
    places = 0
    for one, other in zip(before, after, strict=True):
        text, count = old_names.subn(lambda match: moved[match[0]], one.content)
        if text != other.content or one.role != other.role:
            return None
        if any(new in one.content for new in moved.values() if new not in moved):
            return None
        places += count
    return places


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name that was tried for a value.

    ``lead`` is the least lead of the expected call, in log-probability, at a node; it is negative if the call
    lost. ``places`` is the number of occurrences of the name in the prompt.
    """

    name: Value
    lead: float
    places: int
    audit: Audit


def search(
    agent: ModelAgent,
    context: DecisionContext,
    value: Value,
    grammar: Grammar,
    fixed: Set[Value],
    *,
    rounds: int = 20,
    batch: int = 16,
    seed: int = 0,
) -> list[Candidate]:
    """Return names for ``value``, those with the smallest lead first.

    The search stops when one violates equivariance or after ``rounds`` rounds. The expected call is the one
    selected for ``context``, renamed. Only candidates that pass the rename audit are kept: exactly the
    occurrences of the identifier changed in the prompt. Raise `InputError` for a value that may not be
    renamed.
    """
    dice = random.Random(seed)
    taken = values(context)
    if value not in taken or value in fixed:
        known = _some(taken - fixed)
        raise InputError(f"the context has no value {value} that may be renamed; name one of {known}")
    messages = agent.prompt.messages(context)
    kept: dict[Value, Candidate] = {}
    for _ in range(rounds):
        best = sorted(kept.values(), key=lambda c: (c.lead, c.name))[: max(1, batch // 4)]
        names = {grammar.sample(dice) for _ in range(batch if not best else batch // 4)}
        names |= {grammar.mutate(dice.choice(best).name, dice) for _ in range(batch) if best}
        fresh = [name for name in sorted(names) if name not in kept and name not in taken][:batch]
        renamings = [{value: name} for name in fresh]
        for result in audit(agent, context, renamings, fixed):
            moved = rename(context, result.renaming)
            places = changed_places(messages, agent.prompt.messages(moved), result.renaming)
            answer = agent.answer(moved)
            if places and answer is not None:
                name = result.renaming[value]
                kept[name] = Candidate(name, lead(answer, result.expected), places, result)
        if any(not candidate.audit.follows for candidate in kept.values()):
            break
    return sorted(kept.values(), key=lambda c: (c.audit.follows, c.lead, c.name))


def lead(answer: Answer, wanted: Set[Call]) -> float:
    """Return the least lead of the wanted calls' tokens at the visited branching nodes on their paths.

    It is infinite if there is no such node.
    """
    wanted_tokens = [offered.tokens for offered in answer.calls if offered.call in wanted]
    leads = [float("inf")]
    for branching in answer.branchings:
        depth = len(branching.path)
        good = {tokens[depth] for tokens in wanted_tokens if tokens[:depth] == branching.path}
        said = dict(zip(branching.allowed, branching.logprobs, strict=True))
        rivals = [p for token, p in said.items() if token not in good]
        if good and rivals:
            leads.append(max(said[token] for token in good) - max(rivals))
    return min(leads)


def _check(context: DecisionContext, renaming: Mapping[Value, Value], fixed: Set[Value]) -> None:
    moved = {old: new for old, new in renaming.items() if old != new}
    if rigid := sorted(set(moved) & fixed | set(moved.values()) & fixed):
        raise InputError(f"the renaming moves the rigid value {rigid[0]}; rename other values only")
    shown = values(context)
    if missing := sorted(set(moved) - shown):
        raise InputError(f"the context has no value {missing[0]}; name one of {_some(shown - fixed)}")
    images = [renaming.get(value, value) for value in sorted(shown)]
    if len(set(images)) < len(images):
        raise InputError("the renaming takes two values to one; give every value a name of its own")


def _some(names: Iterable[Value]) -> str:
    return ", ".join(sorted(names)) or "none: there is nothing to rename"
