"""Grammars of identifiers, for a search among names."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from stead_sym.errors import InputError


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


_ELEMENT = re.compile(r"(?:\[(?P<class>(?:\w-\w|\w)+)\]|(?P<plain>[\w.@:-]))(?:\{(?P<count>[1-9]\d?)\})?")


def _members(text: str) -> str:
    members: list[str] = []
    for first, last, single in re.findall(r"(\w)-(\w)|(\w)", text):
        members += [single] if single else map(chr, range(ord(first), ord(last) + 1))
    if not members:
        raise InputError(f"the class [{text}] is empty; write the lesser character first")
    return "".join(sorted(set(members)))
