"""Draft a deployment from the schema of a database and the schemas of tools.

One decision: the draft verifies as it is, and says in comments what is to be filled in and what was left out.
Nothing in it is claimed to be right: a schema says nothing of what tools refuse or change.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

import stead_sym.logic.syntax as fo
from stead_sym.deployment.printer import print_statement
from stead_sym.deployment.tool import Fresh
from stead_sym.imports.conditions import Layout, OutsideSubset
from stead_sym.imports.effects import translate
from stead_sym.imports.sorts import DraftSort, Place, Sorts, distinct, named, place, singular
from stead_sym.imports.tables import ForeignKey, Table, TableColumn, Tables
from stead_sym.imports.tools import Parameter, ToolSchema
from stead_sym.imports.transactions import Transaction, tools_of_transactions, with_literals
from stead_sym.logic.folding import conjoin
from stead_sym.logic.printer import print_formula
from stead_sym.relational.schema import escaped

_WIDTH = 110
_REASONS = {"text": "texts", "number": "numbers", "time": "dates and times", "other": "of other types"}


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of a deployment, and what of schema and tools it has not taken over."""

    text: str
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Column:
    """A column that is kept, with its sort and the relation that it refers to, if any."""

    column: TableColumn
    name: str
    sort: DraftSort
    references: str | None = None

    def written(self, *, key: bool) -> str:
        """Return the column as a relation declares it."""
        to = f" references {self.references}" if self.references else ""
        return f"{self.name}: {self.sort.name}{' key' * key}{to}"


@dataclass(frozen=True, slots=True)
class _Relation:
    """A relation of the draft: the columns of a table, or its key with one column that may be NULL."""

    name: str
    table: Table
    columns: tuple[_Column, ...]
    keys: int

    def written(self) -> str:
        """Return the declaration."""
        listed = (one.written(key=n < self.keys) for n, one in enumerate(self.columns))
        return f"relation {self.name}({', '.join(listed)})"


def draft(
    name: str,
    tables: Tables,
    tools: Sequence[ToolSchema],
    *,
    keep: Sequence[str] = (),
    transactions: Sequence[Transaction] = (),
) -> Draft:
    """Draft a deployment of this name.

    With tools, the tables are those that a tool's parameters or description speak of, and those in ``keep``;
    without any, all tables. A tool of the name of a transaction has the guard and the effect of that.
    """
    tables, named = with_literals(tables, transactions)
    described = {tool.name: tool.description for tool in tools}
    by_sql = [
        replace(tool, description=described.get(tool.name) or tool.description)
        for tool in tools_of_transactions(tables, transactions)
    ]
    replaced = {tool.name for tool in by_sql}
    every = [*(tool for tool in tools if tool.name not in replaced), *by_sql]
    return _Drafting(name, tables, every, keep, transactions, named).draft()


@dataclass(frozen=True, slots=True)
class _Body:
    """The lines of a tool after its first, and the parameters that it does not have."""

    lines: tuple[str, ...]
    dropped: frozenset[str] = frozenset()


class _Drafting:
    """A draft while it is made."""

    def __init__(
        self,
        name: str,
        tables: Tables,
        tools: Sequence[ToolSchema],
        keep: Sequence[str],
        transactions: Sequence[Transaction],
        named: Mapping[Place, Sequence[str]],
    ) -> None:
        self._name = name
        self._transactions = {one.name: one for one in transactions}
        self._named = named
        self._layouts: dict[str, Layout] = {}
        self._new: dict[str, int] = {}
        """By sort, the most identifiers that one call brings in."""
        self._tables = tables
        self._tools = [tool for tool in tools if not tool.reads]
        self._reading = [tool for tool in tools if tool.reads]
        self._keep = {one.lower() for one in keep}
        self._left: list[str] = [f"not read: {one}" for one in tables.unread]
        self._sorts = Sorts(tables, self._named_by_parameters(), self._mentioned())
        self._relations: dict[str, _Relation] = {}
        parameters = dict.fromkeys(parameter for tool in self._tools for parameter in tool.parameters)
        self._sort_of = {parameter: self._sorted(parameter) for parameter in parameters}
        """The sort of each parameter, or why it has none."""
        self._spelled = self._sorts.spelled()

    def draft(self) -> Draft:
        """Return the draft."""
        chosen = self._chosen()
        skipped = [
            t.name for t in self._tables.tables if t not in chosen and t.name.lower() not in self._sorts.lists
        ]
        if skipped:
            self._left.append(f"no tool speaks of the tables {', '.join(skipped)}")
        names = self._relation_names(chosen)
        relations = [self._table(table, names) for table in chosen]
        called = distinct({tool.name: tool.name for tool in self._tools})
        tools = [self._tool(tool, called[tool.name]) for tool in self._tools]
        parts = [
            self._head(),
            self._declared_sorts(),
            *relations,
            self._initially(),
            *tools,
            self._only_read(),
            "# Where nothing can be done any more, nothing happens.\nterminal",
            "# To fill in: what has to hold, for instance\n# spec never_twice AG …",
        ]
        text = "\n\n".join(part for part in parts if part) + "\n"
        return Draft(text, tuple(self._left))

    def _head(self) -> str:
        tools = " and of the tools of an agent" if self._tools else ""
        told = _comment(
            f"Drafted from the schema of a database{tools}. To fill in: what each tool refuses (guard) and"
            " changes (effect), and what has to hold (spec). Nothing here has been compared with the system."
        )
        return "\n".join([*told, f"deployment {named(self._name)}"])

    # tables

    def _mentioned(self) -> set[str]:
        """Return the tables that a tool's name, description or parameters name."""
        told = [tool.name for tool in self._tools] + [tool.description for tool in self._tools]
        told += [p.name for tool in self._tools for p in tool.parameters]
        words = {word for text in told for word in _words(text)}
        by_sql = (one.tables(self._tables) for one in self._transactions.values() if not one.reads)
        return {
            table.name.lower()
            for table in self._tables.tables
            if set(_words(singular(table.name))) <= {*words, *map(singular, words)}
        }.union(*by_sql)

    def _chosen(self) -> list[Table]:
        """Return the tables that become relations, in the order of the schema."""
        tables = [table for table in self._tables.tables if table.name.lower() not in self._sorts.lists]
        if not self._tools:
            return [t for t in tables if not self._keep or t.name.lower() in self._keep]
        mentioned = self._mentioned() | self._keep
        sorts = {
            sort
            for tool in self._tools
            for p in tool.parameters
            if isinstance(sort := self._sort_of[p], DraftSort) and not sort.finite
        }
        for table in tables:
            key = {self._sorts.of(table, name) for name in table.primary_key}
            if len(table.primary_key) == 1 and key & sorts:
                mentioned.add(table.name.lower())
        extra = {table for table, _ in self._named_by_parameters()}
        chosen = [t for t in tables if t.name.lower() in mentioned | extra]
        return chosen or tables

    def _relation_names(self, chosen: Sequence[Table]) -> dict[str, str]:
        """Return the names of the relations by tables."""
        return distinct({table.name.lower(): camel(table.name) for table in chosen})

    def _table(self, table: Table, names: dict[str, str]) -> str:
        """Return the relations of a table, and what is left out of it."""
        name = names[table.name.lower()]
        key = {one.lower() for one in table.primary_key}
        called = distinct({column.name: column.name for column in table.columns})
        kept = {c.name.lower(): self._kept(table, c, called[c.name], names) for c in table.columns}
        keyed = [kept[one.lower()] for one in table.primary_key if one.lower() in kept]
        others = [kept[c.name.lower()] for c in table.columns if c.name.lower() not in key]
        plain = [c for c in others if c is not None and not c.column.nullable]
        maybe = [c for c in others if c is not None and c.column.nullable]
        keys = [c for c in keyed if c is not None]
        lines: list[str] = []
        gone: dict[str, list[str]] = {}
        for column in table.columns:
            if kept[column.name.lower()] is None:
                gone.setdefault(_REASONS.get(column.kind, "of other types"), []).append(column.name)
        if not keys:
            for one in maybe:
                gone.setdefault("may be NULL in a table without a key", []).append(one.column.name)
            maybe = []
        found = []
        if keys or plain:
            found.append(_Relation(name, table, (*keys, *plain), len(keys)))
        whole = [replace(one, references=name) for one in keys] if len(keys) == 1 else keys
        for one in maybe:
            taken = {*names.values(), *self._relations, *(relation.name for relation in found)}
            split = distinct({"": f"{name}{camel(one.column.name)}"}, taken)[""]
            found.append(_Relation(split, table, (*whole, one), len(keys)))
        for relation in found:
            self._relations[relation.name] = relation
            lines.append(relation.written())
        if keys and len(keys) == len(table.primary_key):
            split_names = {
                one.column.name: relation.name for one, relation in zip(maybe, found[1:], strict=True)
            }
            self._layouts[table.name.lower()] = Layout(
                table,
                name,
                {one.column.name.lower(): (one.name, one.sort) for one in (*keys, *plain)},
                {
                    one.column.name.lower(): (split_names[one.column.name], one.name, one.sort)
                    for one in maybe
                },
            )
        for column in table.columns:
            if texts := self._named.get(place(table, column.name)):
                lines = [*_comment(f"{column.name} is any text; taken are those of the tools"), *lines]
                self._left.append(f"{table.name}.{column.name}: texts other than {', '.join(texts)}")
        if not found:
            self._left.append(f"{table.name} has no column that identifies anything")
            return ""
        if gone:
            listed = "; ".join(f"{', '.join(columns)} ({why})" for why, columns in gone.items())
            lines = [*_comment(f"{table.name}, left out: {listed}"), *lines]
            self._left += [f"{table.name}: {', '.join(columns)} ({why})" for why, columns in gone.items()]
        if maybe:
            listed = ", ".join(c.column.name for c in maybe)
            at = len(lines) - len(maybe)
            lines[at:at] = _comment(f"{listed} may be NULL: then there is no fact")
        return "\n".join(lines)

    def _kept(self, table: Table, column: TableColumn, called: str, names: dict[str, str]) -> _Column | None:
        """Return a column with its sort, None if it is left out; ``called`` is its name in the draft."""
        sort = self._sorts.of(table, column.name)
        if sort is None:
            return None
        for key in table.foreign_keys:
            if [one.lower() for one in key.columns] == [column.name.lower()]:
                target = self._referred(key, names)
                if target is not None:
                    return _Column(column, called, sort, target)
        return _Column(column, called, sort)

    def _referred(self, key: ForeignKey, names: dict[str, str]) -> str | None:
        """Return the relation that a foreign key of one column refers to, if it is the only key of one."""
        found = self._sorts.reference(key)
        if found is None or found[0].name.lower() not in names:
            return None
        target, columns = found
        alone = [one.lower() for one in target.primary_key] == [one.lower() for one in columns]
        return names[target.name.lower()] if alone and len(columns) == 1 else None

    # sorts and data

    def _declared_sorts(self) -> str:
        """Return the declarations of the sorts that relations and tools use."""
        used = {c.sort.name for r in self._relations.values() for c in r.columns}
        used |= {
            s.name for t in self._tools for p in t.parameters if isinstance(s := self._sort_of[p], DraftSort)
        }
        sorts = [sort for sort in self._sorts.all if sort.name in used]
        lines = wrap(
            "sort " + ", ".join(sort.name for sort in sorts if not sort.finite),
            _WIDTH,
            subsequent_indent="  ",
            break_long_words=False,
        )
        if not any(not sort.finite for sort in sorts):
            lines = []
        for sort in sorts:
            if sort.values:
                values = ", ".join(self._spelled[sort.name, text] for text in sort.values)
                lines.append(f"sort {sort.name} = {{ {values} }} rigid")
            elif sort.low is not None:
                lines.append(f"sort {sort.name} = {sort.low}..{sort.high}")
        return "\n".join(lines)

    def _initially(self) -> str:
        """Return the databases to begin with: the rows of the system, or any database of the schema."""
        infinite = [s.name for s in self._sorts.all if not s.finite and self._is_used(s)]
        if self._tables.url is not None:
            lines = []
            for table in dict.fromkeys(r.table for r in self._relations.values()):
                into = ", ".join(
                    f"{r.name}({', '.join(map(_cell, r.columns))})"
                    for r in self._relations.values()
                    if r.table is table
                )
                lines.append(f'init from {self._tables.url} table "{escaped(table.name)}" into {into}')
            more = (
                f"# Let a tool that brings in new values claim how many: bound {infinite[0]} 1"
                if infinite
                else ""
            )
            return "\n".join([*lines, more]).rstrip()
        if not self._relations:
            return ""
        listed = wrap(
            f"initially any {', '.join(self._relations)}",
            _WIDTH,
            subsequent_indent="  ",
            break_long_words=False,
        )
        conditions = [*self._inclusions(), *self._unique()]
        if conditions:
            listed.append("  where " + "\n    & ".join(f"({one})" for one in conditions))
        bounds = [f"bound {name} {1 + self._new.get(name, 0)}" for name in infinite]
        return "\n".join(["# Any database of the schema with so few values.", *listed, *bounds])

    def _is_used(self, sort: DraftSort) -> bool:
        return any(c.sort is sort for r in self._relations.values() for c in r.columns)

    def _inclusions(self) -> Iterator[str]:
        """Yield the foreign keys of several columns, and those to columns that are no key, as formulas."""
        whole = {r.table.name.lower(): r for r in reversed(self._relations.values())}
        for relation in list(self._relations.values()):
            if whole.get(relation.table.name.lower()) is not relation:
                continue
            for key in relation.table.foreign_keys:
                found = self._sorts.reference(key)
                if found is None or found[0].name.lower() not in whole:
                    continue
                target, columns = whole[found[0].name.lower()], found[1]
                here = {c.column.name.lower(): c for c in relation.columns}
                there = {c.column.name.lower(): c for c in target.columns}
                pairs = list(zip(key.columns, columns, strict=True))
                if any(a.lower() not in here or b.lower() not in there for a, b in pairs):
                    continue
                if here[pairs[0][0].lower()].references is not None and len(pairs) == 1:
                    continue
                ours = [here[a.lower()] for a, _ in pairs]
                theirs = [there[b.lower()] for _, b in pairs]
                binders = ", ".join(f"v{n}: {one.sort.name}" for n, one in enumerate(ours))
                left, right = f"{relation.name}({_named(ours)})", f"{target.name}({_named(theirs)})"
                yield f"forall {binders}. ({left} -> {right})"

    def _unique(self) -> Iterator[str]:
        """Yield the formulas that say that two rows do not agree on columns that are UNIQUE."""
        for layout in self._layouts.values():
            for unique in sorted(layout.table.unique):
                columns = [name.lower() for name in unique]
                sorts = [sort for one in columns if (sort := layout.sort(one)) is not None]
                if set(columns) == set(layout.key) or len(sorts) < len(columns):
                    continue
                values = {one: fo.Var(f"v{n}") for n, one in enumerate(columns)}
                binders = [f"{values[one]}: {sort.name}" for one, sort in zip(columns, sorts, strict=True)]
                rows = []
                for side in "ab":
                    keys = {c: fo.Var(f"{side}{n}") for n, c in enumerate(layout.key) if c not in columns}
                    binders += [f"{key}: {layout.terms[column][1].name}" for column, key in keys.items()]
                    own = [one for one in columns if one in layout.terms and one not in layout.key]
                    names = (*layout.key_names, *(layout.terms[one][0] for one in own))
                    pinned = [keys.get(column) or values[column] for column in layout.key]
                    parts = [
                        fo.Atom(layout.relation, (*pinned, *(values[one] for one in own)), columns=names)
                    ]
                    for one in columns:
                        if one in layout.maybe:
                            relation, name, _ = layout.maybe[one]
                            named = (*layout.key_names, name)
                            parts.append(fo.Atom(relation, (*pinned, values[one]), columns=named))
                    rows.append((keys.values(), parts))
                (left, first), (right, second) = rows
                same = [fo.Equal(a, b) for a, b in zip(left, right, strict=True)]
                agree = fo.Implies(fo.conjunction((*first, *second)), fo.conjunction(tuple(same)))
                yield f"forall {', '.join(binders)}. ({agree})"

    # tools

    def _tool(self, tool: ToolSchema, called: str) -> str:
        """Return a tool of this name with the parameters that have a sort."""
        names = distinct({parameter.name: _element(parameter) for parameter in tool.parameters})
        params, gone, lists = [], dict[str, list[str]](), list[str]()
        for parameter in tool.parameters:
            match self._sort_of[parameter]:
                case DraftSort(name=sort):
                    params.append(f"{names[parameter.name]}: {sort}")
                    lists += [parameter.name] * (parameter.kind == "list")
                case str() as why:
                    gone.setdefault(why, []).append(parameter.name)
        body = self._body(tool, names)
        params = [one for one in params if one.partition(":")[0] not in body.dropped]
        described = " ".join(tool.description.split())
        words = f' "{escaped(described)}"' if described else ""
        lines = [f"tool {called}({', '.join(params)}){words}"]
        if gone:
            listed = "; ".join(f"{', '.join(names)} ({why})" for why, names in gone.items())
            lines += [f"  {line}" for line in _comment(f"left out: {listed}")]
            self._left += [f"{tool.name}: {', '.join(names)} ({why})" for why, names in gone.items()]
        if lists:
            lines += [f"  # one call for each element of {', '.join(lists)}"]
        return "\n".join([*lines, *body.lines])

    def _body(self, tool: ToolSchema, names: Mapping[str, str]) -> _Body:
        """Return guard and effect of a tool: those of its transaction, or empty ones to be filled in."""
        transaction = self._transactions.get(tool.name)
        empty = _Body(("  # guard …", "  effect"))
        if transaction is None:
            return empty
        parameters = {p.name: (names[p.name], self._sort_of[p]) for p in tool.parameters}
        try:
            found = translate(transaction, self._tables, self._layouts, parameters, self._spelled)
        except OutsideSubset as error:
            self._left.append(f"{tool.name}, {error}")
            return replace(
                empty, lines=(*(f"  {one}" for one in _comment(f"not translated: {error}")), *empty.lines)
            )
        lines = (
            [f"  {one}" for one in _comment(f"left out: {', '.join(found.left_out)}")]
            if found.left_out
            else []
        )
        self._left += [f"{tool.name}: {one}" for one in found.left_out]
        for one in found.unknown:
            lines += [f"  # {names[one]} is known here; the system may accept one that is nowhere yet"]
            self._left.append(f"{tool.name}: a {one} that is nowhere yet, which the system may accept")
        guard = [*fo.conjuncts(found.guard)]
        new = Counter(one.binder.sort for one in found.statements if isinstance(one, Fresh))
        for sort, number in new.items():
            self._new[sort] = max(self._new.get(sort, 0), number)
            if self._tables.url is None:
                lines += [f"  # no more than 1 {sort} before: a limit of this file, as the bound is"]
                guard.append(fo.Count("atmost", 1, fo.Binder("one", sort), fo.TRUE))
        if (whole := conjoin(*guard)) != fo.TRUE:
            lines.append(f"  guard {print_formula(whole)}")
        lines += ["  effect", *(f"    {print_statement(one)}" for one in found.statements)]
        return _Body(tuple(lines), frozenset(names[one] for one in found.dropped))

    def _only_read(self) -> str:
        if not self._reading:
            return ""
        return "\n".join(
            _comment(f"Not here, since they only read: {', '.join(t.name for t in self._reading)}")
        )

    def _sorted(self, parameter: Parameter) -> DraftSort | str:
        """Return the sort of a parameter, or why it has none."""
        if parameter.kind == "object":
            return "an object"
        if parameter.kind == "list":
            of_element = self._sorted(replace(parameter, name=_element(parameter), kind="unknown"))
            return of_element if isinstance(of_element, DraftSort) else "a list"
        if parameter.values:
            return self._sorts.listing(parameter.name, parameter.values, parameter.name)
        if parameter.kind == "boolean":
            return self._sorts.listing("flag", self._tables.booleans)
        found = self._columns(parameter)
        sorts = list(dict.fromkeys(sort for where in found if (sort := self._sorts.at(where)) is not None))
        if len(sorts) == 1:
            return sorts[0]
        if parameter.columns is not None and not sorts:
            return "a value of no column that is kept"
        if sorts:
            return f"one of {', '.join(sort.name for sort in sorts)}"
        low, high = parameter.low, parameter.high
        if parameter.kind == "integer" and low is not None and high is not None and high - low < 33:
            return next(
                (s for s in self._sorts.all if (s.low, s.high) == (low, high)), None
            ) or self._sorts.numbers(parameter.name, low, high)
        if parameter.kind in ("number", "integer"):
            return "a number that no key, reference or range speaks of"
        return "a text that no key, reference or list of values speaks of"

    def _columns(self, parameter: Parameter) -> Sequence[Place]:
        """Return the columns that a parameter stands for.

        If that is not known, they are the columns that its name names, those of keys first.

        `order_id` names the key of orders, and any column of this name. Words before it are left out as long
        as nothing fits: `new_order_id`.
        """
        if parameter.columns is not None:
            return parameter.columns
        lower = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", _element(parameter)).lower()
        while True:
            keys = [
                place(table, table.primary_key[0])
                for table in self._tables.tables
                if len(table.primary_key) == 1
                and lower
                in (
                    singular(table.name),
                    f"{singular(table.name)}_id",
                    f"{singular(table.name)}_{table.primary_key[0].lower()}",
                )
            ]
            if keys:
                return keys
            same = [
                place(table, column.name)
                for table in self._tables.tables
                for column in table.columns
                if re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column.name).lower() == lower
            ]
            if same:
                return same
            _, _, lower = lower.partition("_")
            if not lower or lower == "id":
                return []

    def _named_by_parameters(self) -> set[Place]:
        """Return the columns of texts that a parameter of a tool names and that nothing else gives a sort."""
        return {
            where
            for tool in self._tools
            for parameter in tool.parameters
            if parameter.kind in ("text", "unknown", "list") and not parameter.values
            for where in self._columns(parameter)
            if (table := self._tables.table(where[0])) is not None
            and (column := table.column(where[1])) is not None
            and column.kind == "text"
        }


def _element(parameter: Parameter) -> str:
    """Return the name of a parameter, that of one element if it is a list.

    A parameter that has a place only is called like its column.
    """
    if parameter.name.isdigit() and parameter.columns:
        return parameter.columns[0][1]
    return singular(parameter.name) if parameter.kind == "list" else parameter.name


def _words(text: str) -> list[str]:
    """Return the words of a text, of names too, in lower case."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return re.findall(r"[a-z0-9]+", apart.lower())


def camel(name: str) -> str:
    """Return the name of a relation: `OrderItems` for order_items."""
    return named("".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name) if part))


def _named(columns: Sequence[_Column]) -> str:
    """Return the columns of an atom, with the variables v0, v1 and so on."""
    return ", ".join(f"{one.name} = v{n}" for n, one in enumerate(columns))


def _cell(column: _Column) -> str:
    """Return a column as `init from` reads it."""
    name = column.column.name
    written = name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else f'"{escaped(name)}"'
    return f"{written}{'?' * column.column.nullable}"


def _comment(text: str) -> list[str]:
    """Return a text as lines of comments."""
    return [f"# {line}" for line in wrap(text, _WIDTH - 4, break_long_words=False)]
