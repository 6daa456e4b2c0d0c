"""Sorts, relation symbols and schemas (Definition "Typed schema and instance" of the paper).

A value is a plain string. Sorts are disjoint, so the name of a value determines its sort. The schema has the
sort of every value that it *lists* (in a finite sort, or with a text), an instance the sort of every value
that occurs in it. Live data in which identifiers of two sorts are spelled alike are handled by the canonical
wrapper, which takes values with their sorts. Only numerals may be listed by several sorts: the 2 of one is
not the 2 of another, and its position determines which one is meant. That is enough, because numerals are
rigid, so no renaming affects them, and formulas never compare values of two sorts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from stead_sym.errors import DeclarationError, Located, Span

Value: TypeAlias = str


MOST_NUMBERS = 10_000
"""The maximum number of values of a numeric sort; each of them is a constant."""


@dataclass(frozen=True)
class Sort(Located):
    """A sort S with its domain U_S.

    ``values is None``: U_S is infinite. Otherwise U_S is the finite set ``values``, whose members are
    constants. If ``rigid``, they belong to B, so the agent may refer to them by name. An ``ordered`` sort is
    rigid, and lists its values in their order. Raises `DeclarationError` for a sort that violates this.
    """

    name: str
    values: tuple[Value, ...] | None = None
    rigid: bool = False
    ordered: bool = False

    def __post_init__(self) -> None:
        """Check the declaration."""
        if self.values is None:
            if self.rigid or self.ordered:
                what = "ordered" if self.ordered else "rigid"
                raise DeclarationError(
                    f"sort {self.name} has no listed values to be {what}; list them", self.span
                )
            return
        if self.ordered and not self.rigid:
            raise DeclarationError(
                f"sort {self.name} is ordered and not rigid; whoever sees an order tells its values apart",
                self.span,
            )
        if not self.values:
            raise DeclarationError(f"sort {self.name} is empty; list at least one value", self.span)
        seen: set[Value] = set()
        for value in self.values:
            if value in seen:
                raise DeclarationError(f"sort {self.name} lists {value} twice", self.span)
            seen.add(value)

    @classmethod
    def numbers(cls, name: str, first: int, last: int, span: Span | None = None) -> Sort:
        """Return the ordered sort `sort n = first..last`.

        Raise `DeclarationError` if it is empty or too large.
        """
        if first > last:
            raise DeclarationError(f"sort {name} = {first}..{last} has no values; count up", span)
        if last - first >= MOST_NUMBERS:
            raise DeclarationError(
                f"sort {name} has {last - first + 1:,} values; write bands such as"
                f" `{{ small < large }}`, or {MOST_NUMBERS:,} numbers at most",
                span,
            )
        return cls(name, tuple(map(str, range(first, last + 1))), rigid=True, ordered=True, span=span)

    @cached_property
    def is_numeric(self) -> bool:
        """True for a sort of integers: the values are the numerals of a range."""
        if not self.ordered or self.values is None or not all(map(is_numeral, self.values)):
            return False
        first = int(self.values[0])
        return self.values == tuple(map(str, range(first, first + len(self.values))))

    @cached_property
    def rank(self) -> Mapping[Value, int]:
        """The position of each listed value, from 0."""
        return {value: place for place, value in enumerate(self.values or ())}

    def __str__(self) -> str:
        """Return the declaration as it is written in the language."""
        if self.values is None:
            return f"sort {self.name}"
        if self.is_numeric:
            return f"sort {self.name} = {self.values[0]}..{self.values[-1]}"
        if self.ordered:
            return f"sort {self.name} = {{ {' < '.join(self.values)} }}"
        return f"sort {self.name} = {{ {', '.join(self.values)} }}{' rigid' * self.rigid}"


@dataclass(frozen=True, slots=True)
class Relation(Located):
    """A relation symbol P with its sort signature σ ∈ S^q; q = 0 is allowed.

    ``keys`` are the columns (from 0, ascending) that determine the others: no reachable state may hold two
    tuples that agree on them. Without a declared key it is empty. ``columns`` are the columns' names, "" for
    a column without one, and empty if no column has one. ``refers`` has the columns whose values are in the
    key of another relation, each with its name. ``total`` names a relation of which every value of the key is
    in this one too. A relation with ``tells_history`` is no table of the database: it records past calls and
    truths (`deployment.history`), and its facts make no value active (`Schema.references`).
    """

    name: str
    sorts: tuple[str, ...]
    keys: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    refers: tuple[tuple[int, str], ...] = ()
    total: str | None = None
    tells_history: bool = False

    @classmethod
    def of_columns(
        cls,
        name: str,
        columns: Sequence[Sequence[str]],
        keys: tuple[int, ...],
        refers: tuple[tuple[int, str], ...] = (),
        total: str | None = None,
        span: Span | None = None,
    ) -> Relation:
        """Return the relation whose columns are each given as a sort, or as a name and a sort."""
        names = tuple(column[0] if len(column) > 1 else "" for column in columns)
        sorts = tuple(column[-1] for column in columns)
        return cls(name, sorts, keys, names if any(names) else (), refers, total, span=span)

    @property
    def arity(self) -> int:
        """The number of columns."""
        return len(self.sorts)

    def key(self, args: tuple[Value, ...]) -> tuple[Value, ...]:
        """Return the components of a tuple in the key columns."""
        return tuple(args[column] for column in self.keys)

    def __str__(self) -> str:
        """Return the declaration as it is written in the language."""
        names = self.columns or ("",) * self.arity
        to = {column: f" references {target}" for column, target in self.refers}
        columns = (
            f"{name}{': ' * bool(name)}{sort}{' key' * (k in self.keys)}{to.get(k, '')}"
            for k, (name, sort) in enumerate(zip(names, self.sorts, strict=True))
        )
        total = "" if self.total is None else f" total {self.total}"
        return f"relation {self.name}({', '.join(columns)}){total}"

    def column(self, place: int) -> str:
        """Return the name of a column, or its number, from 1."""
        return (self.columns[place] if self.columns else "") or str(place + 1)


@dataclass(frozen=True, slots=True)
class Reference(Located):
    """The inclusion claimed by `references` and `total`, with its ``name``.

    Every value in column ``column`` of ``relation`` is also in column ``into`` of the relation ``target``.
    """

    name: str
    relation: str
    column: int
    target: str
    into: int


def tells_history(relation: str) -> bool:
    """Return True if a relation of this name records the past: its name is a formula, with spaces."""
    return " " in relation


def message_place(tool: str, place: int) -> str:
    """Return the name of the relation that holds the call of a tool at this place of a message."""
    return f"{tool}@{place}"


def message_begun(agent: str) -> str:
    """Return the name of the relation, without columns, that calls of the agent's message are carried out."""
    return f"{agent}@carried"


def holds_message(relation: str) -> bool:
    """Return True if a relation of this name is about a message; a file can only read its calls.

    One that `tells_history` of such a relation is not.
    """
    return "@" in relation and not tells_history(relation)


def in_words(relation: str, args: Sequence[object]) -> str:
    """Return a fact or an atom as it is written: `P(a, b)`.

    For a relation that `tells_history`, return the formula that is its name, with the arguments in place of
    ‹1›, ‹2›, … For one that `holds_message`, return `call 1 of the message: t(a, b)`,
    or that they are carried out.
    """
    if holds_message(relation):
        tool, _, place = relation.partition("@")
        if not place.isdigit():
            return f"the calls of {f'a message of {tool}' if tool else 'the message'} are carried out"
        return f"call {place} of the message: {tool}({', '.join(map(str, args))})"
    if not tells_history(relation):
        return f"{relation}({', '.join(map(str, args))})"
    # In one pass, because an argument may itself be a placeholder of another name.
    return _PLACE.sub(lambda place: str(args[int(place[1]) - 1]), relation).rstrip("\N{PRIME}")


_PLACE = re.compile(r"‹(\d+)›")


@dataclass(frozen=True, slots=True)
class TextValue(Located):
    """A constant in B that denotes a text, which a prompt displays instead of it."""

    value: Value
    sort: str
    text: str

    def __str__(self) -> str:
        """Return the item `text m1: message = "…"`, in triple quotes if the text has several lines."""
        if "\n" in self.text and '"""' not in self.text:
            return f'text {self.value}: {self.sort} = """{self.text}"""'
        return f'text {self.value}: {self.sort} = "{escaped(self.text)}"'


@dataclass(frozen=True)
class Schema:
    """A sorted relational schema. Raises `DeclarationError` for a name that is missing or declared twice.

    ``texts`` are the constants that denote a text, of finite sorts, which list them too, and of others.
    ``history`` are the relations outside the database that record its past; they can be looked up by name,
    and are not among the ``relations``.
    """

    sorts: tuple[Sort, ...]
    relations: tuple[Relation, ...]
    texts: tuple[TextValue, ...] = ()
    history: tuple[Relation, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        """Check the declarations."""
        _refuse_doubles("sort", self.sorts)
        _refuse_doubles("relation", self.relations)
        names = {sort.name for sort in self.sorts}
        for relation in self.relations:
            for name in relation.sorts:
                if name not in names:
                    there = f", or name one of {', '.join(s.name for s in self.sorts)}" if names else ""
                    raise DeclarationError(
                        f"relation {relation.name} uses the unknown sort {name}; write `sort {name}`{there}",
                        relation.span,
                    )
        owner: dict[Value, Sort] = {}
        for sort in self.sorts:
            for value in sort.values or ():
                if value in owner and not is_numeral(value):
                    raise DeclarationError(
                        f"the constant {value} is in two sorts, {owner[value].name} and "
                        f"{sort.name}; rename one",
                        sort.span,
                    )
                owner[value] = sort
        self._check_texts(owner)
        assert self.references is not None, "which refuses what does not fit"

    def _check_texts(self, owner: Mapping[Value, Sort]) -> None:
        texts: set[Value] = set()
        for text in self.texts:
            values = self.sort(text.sort, text.span).values
            if text.value in texts:
                raise DeclarationError(f"a second text for {text.value}; join the two", text.span)
            if values is not None and text.value not in values:
                raise DeclarationError(
                    f"{text.value} is no value of sort {text.sort}; list it there, or name one of"
                    f" {', '.join(values)}",
                    text.span,
                )
            if values is None and text.value in owner:
                raise DeclarationError(
                    f"{text.value} is of sort {owner[text.value].name}, not {text.sort}; rename one",
                    text.span,
                )
            texts.add(text.value)

    @cached_property
    def _sorts(self) -> Mapping[str, Sort]:
        return {sort.name: sort for sort in self.sorts}

    @cached_property
    def _relations(self) -> Mapping[str, Relation]:
        return {relation.name: relation for relation in (*self.relations, *self.history)}

    def sort(self, name: str, span: Span | None = None) -> Sort:
        """Return the sort of that name; raise `DeclarationError` at ``span`` if there is none."""
        try:
            return self._sorts[name]
        except KeyError:
            raise DeclarationError(f"unknown sort {name}; declare it with `sort {name}`", span) from None

    def is_finite(self, sort: str) -> bool:
        """Return True if the sort of that name lists its values."""
        return self.sort(sort).values is not None

    @cached_property
    def infinite_sorts(self) -> tuple[str, ...]:
        """The names of the sorts that list no values."""
        return tuple(sort.name for sort in self.sorts if sort.values is None)

    def relation(self, name: str, span: Span | None = None) -> Relation:
        """Return the relation symbol of that name; raise `DeclarationError` at ``span`` if there is none."""
        try:
            return self._relations[name]
        except KeyError:
            raise DeclarationError(
                f"unknown relation {name}; declare it with `relation {name}(…)`", span
            ) from None

    def has_relation(self, name: str) -> bool:
        """Return True if there is a relation of that name, also one that records the past."""
        return name in self._relations

    @cached_property
    def telling(self) -> frozenset[str]:
        """The names of the relations that record the past."""
        return frozenset(name for name, relation in self._relations.items() if relation.tells_history)

    def revealing(self, names: Collection[str]) -> Schema:
        """Return the schema of an agent's view that includes the history relations of these names."""
        told = tuple(relation for relation in self.history if relation.name in names)
        return replace(self, relations=(*self.relations, *told), history=()) if told else self

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """The inclusions claimed by the columns with `references` and the relations with `total`."""
        return tuple(reference for relation in self.relations for reference in self._references(relation))

    def _references(self, relation: Relation) -> Iterator[Reference]:
        for column, name in relation.refers:
            claim = f"{relation.name}.{relation.column(column)} references {name}"
            target = self._referenced(name, claim, relation.span)
            [into] = target.keys
            if relation.sorts[column] != target.sorts[into]:
                raise DeclarationError(
                    f"{claim}, but the column is of sort {relation.sorts[column]} and the key of {name} of"
                    f" sort {target.sorts[into]}; reference a relation whose key has the sort of the column",
                    relation.span,
                )
            yield Reference(claim, relation.name, column, name, into, span=relation.span)
        if relation.total is not None:
            claim = f"{relation.name} total {relation.total}"
            target = self._referenced(relation.total, claim, relation.span)
            [key] = target.keys
            columns = [k for k in relation.keys if relation.sorts[k] == target.sorts[key]]
            if len(columns) != 1:
                raise DeclarationError(
                    f"{claim}, but {relation.name} has {len(columns)} key columns of the sort"
                    f" {target.sorts[key]}; mark one column of it as `key`",
                    relation.span,
                )
            yield Reference(claim, target.name, key, relation.name, columns[0], span=relation.span)

    def _referenced(self, name: str, claim: str, span: Span | None) -> Relation:
        """Return the referenced relation, which must have a key of one column."""
        if not self.has_relation(name):
            raise DeclarationError(f"{claim}, but there is no relation {name}; declare it", span)
        target = self.relation(name)
        if len(target.keys) != 1:
            raise DeclarationError(
                f"{claim}, but {len(target.keys)} columns of {name} are its key; a reference is to a key of"
                f" one column: mark one of {name} as `key`",
                span,
            )
        return target

    @cached_property
    def rigid(self) -> frozenset[Value]:
        """B: the values of the rigid sorts, and those that denote a text."""
        return frozenset(v for s in self.sorts if s.rigid for v in s.values or ()) | self.text_of.keys()

    @cached_property
    def text_of(self) -> Mapping[Value, str]:
        """The text of every value that denotes one."""
        return {text.value: text.text for text in self.texts}

    @cached_property
    def listed(self) -> Mapping[Value, tuple[str, ...]]:
        """The sort of every value that a finite sort lists or that has a text; a numeral may have several."""
        sorts: dict[Value, tuple[str, ...]] = {
            text.value: (text.sort,) for text in self.texts if not self.is_finite(text.sort)
        }
        for sort in self.sorts:
            for value in sort.values or ():
                sorts[value] = (*sorts.get(value, ()), sort.name)
        return sorts

    def __str__(self) -> str:
        """Return the declarations as they are written in the language."""
        return "\n".join(map(str, (*self.sorts, *self.relations, *self.texts)))


def is_numeral(text: str) -> bool:
    """Return True if the text is an integer in decimal digits, perhaps with a leading `-`."""
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal()


def escaped(text: str) -> str:
    """Return a text with escapes for a literal in double quotes of the language."""
    for character, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(character, escape)
    return text


def _refuse_doubles(kind: str, items: Iterable[Sort] | Iterable[Relation]) -> None:
    seen: set[str] = set()
    for item in items:
        if item.name in seen:
            raise DeclarationError(f"{kind} {item.name} is declared twice; rename one", item.span)
        seen.add(item.name)
