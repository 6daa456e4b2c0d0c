"""Read the schema of a database from its SQL, with the library `sqlglot`.

One decision: the text is split into statements by the tokens of the dialect, and each is parsed by itself. A
dump holds functions, triggers and settings that no parser reads in every dialect, and they do not matter
here; a statement about a table that cannot be parsed is reported with its line.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stead_sym.errors import InputError
from stead_sym.imports.sql import bare, first_line, library, literal_of
from stead_sym.imports.tables import COMPUTED, ForeignKey, Kind, Table, TableColumn, Tables, on_delete

DIALECTS = ("postgres", "mysql", "sqlite", "tsql", "oracle")
"""The dialects that are tried, in this order, if none is named."""

_MOST_CHARACTERS = 20_000
"""The longest text of INSERT statements of a table that are read; larger tables are no lists of values."""

_PASSING = frozenset(["TEMPORARY", "TEMP", "EXTERNAL"])
"""Words of tables that are no part of the schema."""
_STORED = re.compile(r"\b(?:NON)?CLUSTERED\b", re.IGNORECASE)
"""Words that say how an index is stored."""

_MATTERS = re.compile(r"\b(?:CREATE\s+TABLE|PRIMARY|FOREIGN|UNIQUE|CHECK|ENUM)\b", re.IGNORECASE)
"""Words of statements without which a schema would say something else."""

_COPIED = re.compile(
    r"^COPY\b[^;]*\bFROM\s+stdin\b[^;]*;$.*?^\\\.$|^\\.*?$", re.MULTILINE | re.DOTALL | re.IGNORECASE
)
"""Lines that psql reads itself: the rows of COPY in a dump, and its own commands."""

_KINDS: Mapping[Kind, str] = {
    "text": "CHAR NCHAR VARCHAR NVARCHAR BPCHAR TEXT TINYTEXT MEDIUMTEXT LONGTEXT NAME UUID UNIQUEIDENTIFIER",
    "number": "TINYINT UTINYINT SMALLINT USMALLINT MEDIUMINT UMEDIUMINT INT UINT BIGINT UBIGINT INT128 INT256"
    " FLOAT DOUBLE DECIMAL UDECIMAL BIGDECIMAL MONEY SMALLMONEY SERIAL SMALLSERIAL BIGSERIAL ROWVERSION",
    "boolean": "BOOLEAN BIT",
    "time": "DATE DATE32 DATETIME DATETIME2 DATETIME64 SMALLDATETIME TIME TIMETZ TIMESTAMP TIMESTAMPTZ"
    " TIMESTAMPLTZ TIMESTAMPNTZ TIMESTAMP_S INTERVAL YEAR",
}
"""The types of `sqlglot` by what a column of them holds."""


def read_ddl(text: str, dialect: str | None = None) -> Tables:
    """Return the tables that SQL text creates.

    Without a dialect, that of `DIALECTS` is taken that leaves the fewest statements unread. Raise
    `InputError` if `sqlglot` is not installed, or if no statement creates a table.
    """
    if dialect is not None:
        read = _read(text, dialect)
    else:
        library()  # so that its absence is not taken for a text that is no SQL
        best: Tables | None = None
        for one in DIALECTS:
            try:
                tried = _read(text, one)
            except InputError:
                continue
            if best is None or _fewest(tried) < _fewest(best):
                best = tried
            if best.tables and not best.unread:
                break
        if best is None:
            raise InputError("the text is no SQL; give the statements that create the tables")
        read = best
    if not read.tables:
        why = f" that can be read ({read.unread[0]})" if read.unread else ""
        raise InputError(f"no statement{why} creates a table; give the statements that create the tables")
    return read


def _blank(found: re.Match[str]) -> str:
    """Return the line ends of a text, so that what follows keeps its line."""
    return "\n" * found[0].count("\n")


def _fewest(read: Tables) -> tuple[int, int]:
    """Return what is smaller the more has been read."""
    return -len(read.tables), len(read.unread)


def with_checks(
    columns: Mapping[str, TableColumn], conditions: Iterable[str], dialect: str
) -> dict[str, TableColumn]:
    """Return the columns, by names in lower case, with the values that CHECK conditions list.

    A condition that cannot be parsed says nothing. Raise `InputError` if `sqlglot` is not installed.
    """
    reader = _Reader(dialect)
    draft = _Draft("", dict(columns))
    for condition in conditions:
        reader.check(draft, condition)
    return draft.columns


@dataclass
class _Draft:
    """A table while its statements are read."""

    name: str
    columns: dict[str, TableColumn] = field(default_factory=dict)
    primary_key: tuple[str, ...] = ()
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    unique: set[tuple[str, ...]] = field(default_factory=set)
    inserts: list[str] = field(default_factory=list)
    rows: list[Mapping[str, str | None]] = field(default_factory=list)

    @property
    def table(self) -> Table:
        """Return the table; a column of its primary key is never NULL."""
        key = {name.lower() for name in self.primary_key}
        columns = (
            replace(c, nullable=c.nullable and c.name.lower() not in key) for c in self.columns.values()
        )
        foreign = tuple(dict.fromkeys(self.foreign_keys))
        return Table(
            self.name, tuple(columns), self.primary_key, foreign, frozenset(self.unique), tuple(self.rows)
        )


def _read(text: str, dialect: str) -> Tables:
    """Return the tables of a text in this dialect."""
    return _Reader(dialect).read(text)


class _Reader:
    """Statements of one dialect, in the order of the text."""

    def __init__(self, dialect: str) -> None:
        """Look for the library; raise `InputError` if it is not installed."""
        sqlglot = library()
        logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of each statement that it skips
        self._sqlglot: Any = sqlglot
        self._exp: Any = sqlglot.exp
        self._dialect = dialect
        self._drafts: dict[str, _Draft] = {}
        self._types: dict[str, TableColumn] = {}
        self._unread: list[str] = []

    def read(self, text: str) -> Tables:
        """Return the tables of a text."""
        text = _COPIED.sub(_blank, text)
        for line, words, statement in self._statements(text):
            table = _inserted_into(words)
            if table is not None:
                if draft := self._drafts.get(table.lower()):
                    draft.inserts.append(statement)
            elif _is_about_tables(words):
                self._statement(line, words, statement)
        for draft in self._drafts.values():
            if draft.inserts and sum(map(len, draft.inserts)) <= _MOST_CHARACTERS:
                self._insert(draft)
        return Tables(tuple(draft.table for draft in self._drafts.values()), tuple(self._unread))

    def _statements(self, text: str) -> Iterator[tuple[int, Sequence[str], str]]:
        """Yield the statements with their first lines and their first words, in upper case but for names."""
        try:
            tokens = self._sqlglot.tokenize(text, read=self._dialect)
        except self._sqlglot.errors.TokenError as error:
            raise InputError(f"the SQL cannot be read as {self._dialect}: {first_line(error)}") from None
        begin = depth = 0
        for n, token in enumerate((*tokens, None)):
            word = "" if token is None else token.text.upper()
            depth = max(0, depth + (word == "(") - (word == ")"))
            creates = (
                word == "CREATE"
                and depth == 0
                and [t.text.upper() for t in tokens[n + 1 : n + 2]] == ["TABLE"]
            )
            ends = token is None or word == ";" or (word == "GO" and _alone(tokens, n))
            if not ends and not creates:  # in CREATE SCHEMA, tables follow each other without a sign
                continue
            if begin < n:
                words = [one.text for one in tokens[begin : begin + 8]]
                yield tokens[begin].line, words, text[tokens[begin].start : tokens[n - 1].end + 1]
            begin = n if creates else n + 1
            depth = 0

    def _statement(self, line: int, words: Sequence[str], statement: str) -> None:
        """Read a statement that is about tables, or note that it cannot be read."""
        upper = [word.upper() for word in words]
        domain = upper[:2] == ["CREATE", "DOMAIN"]
        if domain:  # as a table with one column, which the condition calls VALUE
            at = upper.index("AS") if "AS" in upper else 3
            kind = re.split(r"\bAS\b", statement, maxsplit=1, flags=re.IGNORECASE)[-1]
            statement = f'CREATE TABLE "{words[at - 1]}" (VALUE {kind})'
        parsed = self._parsed(_STORED.sub("", statement), line, words)
        if parsed is None:
            return
        exp = self._exp
        if domain:
            self._create(parsed, types=True)
        elif isinstance(parsed, exp.Create) and parsed.kind == "TABLE":
            self._create(parsed)
        elif isinstance(parsed, exp.Create) and parsed.kind == "TYPE":
            self._enum(parsed)
        elif isinstance(parsed, exp.Create) and parsed.kind == "INDEX":
            if parsed.args.get("unique") and (draft := self._draft(parsed.this.args.get("table"))):
                params = parsed.this.args.get("params")
                names = _names(exp, params.args.get("columns") or () if params else ())
                draft.unique.add(names)
        elif isinstance(parsed, exp.Alter):
            if draft := self._draft(parsed.this):
                for action in parsed.args.get("actions") or ():
                    self._alter(draft, action)
        elif isinstance(parsed, exp.Command) and _MATTERS.search(statement):
            self._unread.append(f"line {line}, {' '.join(words[:4])}: of no known form")

    def _parsed(self, statement: str, line: int, words: Sequence[str]) -> Any:
        """Return the parsed statement, None if it cannot be parsed.

        A CREATE TABLE statement is parsed without the parts that cannot be parsed by themselves.
        """
        errors = self._sqlglot.errors.SqlglotError
        try:
            return self._sqlglot.parse_one(statement, dialect=self._dialect)
        except errors as error:
            problem = first_line(error)
        parts = _parts(self._sqlglot.tokenize(statement, read=self._dialect), statement)
        head, good = parts[0], list[str]()
        for part in parts[1:]:
            try:
                self._sqlglot.parse_one(f"{head} ({part})", dialect=self._dialect)
            except errors:
                self._unread.append(f"line {line}, {' '.join(words[:3])}: `{' '.join(part.split())[:60]}`")
            else:
                good.append(part)
        if good:
            return self._sqlglot.parse_one(f"{head} ({', '.join(good)})", dialect=self._dialect)
        if _MATTERS.search(statement):
            self._unread.append(f"line {line}, {' '.join(words[:3])}: {problem}")
        return None

    def _draft(self, table: Any) -> _Draft | None:
        """Return the table that an expression names, if a statement before it creates it."""
        return None if table is None else self._drafts.get(table.name.lower())

    def _create(self, parsed: Any, *, types: bool = False) -> None:
        """Read a CREATE TABLE statement; with ``types`` its column is a type of this name."""
        exp = self._exp
        if not isinstance(parsed.this, exp.Schema):
            return  # CREATE TABLE … AS SELECT
        draft = _Draft(parsed.this.this.name)
        for part in parsed.this.expressions:
            if isinstance(part, exp.ColumnDef):
                self._column(draft, part)
            else:
                self._constraint(draft, part)
        if types:
            [column], [part] = draft.columns.values(), parsed.this.expressions
            plain = column.kind == "text" and not part.args.get("constraints")
            named = plain or column.values or column.low is not None or column.high is not None
            self._types[draft.name.lower()] = replace(column, type=draft.name if named else None)
        else:
            self._drafts.setdefault(draft.name.lower(), draft)

    def _enum(self, parsed: Any) -> None:
        """Read a CREATE TYPE … AS ENUM statement."""
        listed = parsed.args.get("expression")
        if listed is not None and (values := tuple(literal_of(v) or "" for v in listed.expressions)):
            name = parsed.this.name
            self._types[name.lower()] = TableColumn(name, "text", values=values, type=name)

    def _column(self, draft: _Draft, part: Any) -> None:
        """Read the definition of a column."""
        name = part.name
        column = self._typed(name, part.kind)
        draft.columns[name.lower()] = column
        for constraint in part.args.get("constraints") or ():
            exp, kind = self._exp, constraint.kind
            if isinstance(kind, exp.NotNullColumnConstraint):
                allowed = bool(kind.args.get("allow_null"))
                draft.columns[name.lower()] = replace(draft.columns[name.lower()], nullable=allowed)
            elif isinstance(kind, exp.PrimaryKeyColumnConstraint):
                draft.primary_key = (name,)
            elif isinstance(kind, exp.UniqueColumnConstraint):
                draft.unique.add((name,))
            elif isinstance(kind, exp.Reference):
                draft.foreign_keys.append(_reference(exp, (name,), kind))
            elif isinstance(kind, exp.CheckColumnConstraint):
                self._check(draft, kind.this)
            elif isinstance(kind, exp.DefaultColumnConstraint):
                null = isinstance(bare(kind.this), exp.Null)
                default = None if null else (literal_of(kind.this) or COMPUTED)
                draft.columns[name.lower()] = replace(draft.columns[name.lower()], default=default)

    def _typed(self, name: str, kind: Any) -> TableColumn:
        """Return the column of a type, without its constraints."""
        if kind is None:
            return TableColumn(name, "other")
        word = kind.this.name if hasattr(kind.this, "name") else str(kind.this)
        known = self._types.get(
            str(kind.args.get("kind") or kind.sql()).rpartition(".")[2].strip('"').lower()
        )
        if known is not None:
            return replace(known, name=name)
        if word == "ENUM":
            return TableColumn(name, "text", values=tuple(literal_of(v) or "" for v in kind.expressions))
        if word == "TINYINT" and [literal_of(p.this) for p in kind.expressions] == ["1"]:
            return TableColumn(name, "boolean")
        for found, words in _KINDS.items():
            if word in words.split():
                return TableColumn(name, found)
        return TableColumn(name, "other")

    def _alter(self, draft: _Draft, action: Any) -> None:
        """Read what ALTER TABLE adds."""
        exp = self._exp
        if isinstance(action, exp.AddConstraint):
            for part in action.expressions:
                self._constraint(draft, part)
        elif isinstance(action, exp.ColumnDef):
            self._column(draft, action)
        elif isinstance(action, exp.AlterRename):
            self._drafts[action.this.name.lower()] = self._drafts.pop(draft.name.lower())
            for other in self._drafts.values():
                other.foreign_keys = [
                    replace(key, table=action.this.name) if key.table.lower() == draft.name.lower() else key
                    for key in other.foreign_keys
                ]
            draft.name = action.this.name
        elif isinstance(action, exp.Drop) and action.kind == "COLUMN":
            for column in action.args.get("tables") or [action.this]:
                draft.columns.pop(column.name.lower(), None)

    def _constraint(self, draft: _Draft, part: Any) -> None:
        """Read a constraint of a table."""
        exp = self._exp
        if isinstance(part, exp.Constraint):
            kinds = part.expressions
            if kinds and isinstance(kinds[0], exp.PrimaryKeyColumnConstraint):  # PRIMARY KEY CLUSTERED (…)
                for kind in kinds[1:]:
                    draft.primary_key = draft.primary_key or _names(exp, kind.this or ())
            for kind in kinds:
                self._constraint(draft, kind)
        elif isinstance(part, exp.PrimaryKey):
            draft.primary_key = _names(exp, part.expressions)
        elif isinstance(part, exp.ForeignKey):
            reference = part.args.get("reference")
            if reference is not None:
                draft.foreign_keys.append(_reference(exp, _names(exp, part.expressions), reference))
        elif isinstance(part, exp.UniqueColumnConstraint):
            draft.unique.add(_names(exp, part.this.expressions if part.this is not None else ()))
        elif isinstance(part, exp.CheckColumnConstraint):
            self._check(draft, part.this)

    def _check(self, draft: _Draft, condition: Any) -> None:
        """Read a CHECK that lists the values of a column, or bounds them; any other is left out."""
        exp = self._exp
        for part in _conjuncts(exp, condition):
            if (listed := _listed(exp, part)) is not None:
                name, values = listed
                if name in draft.columns and not draft.columns[name].values:
                    draft.columns[name] = replace(draft.columns[name], values=tuple(dict.fromkeys(values)))
            for name, low, high in _bounds(exp, part):
                if name in draft.columns:
                    column = draft.columns[name]
                    draft.columns[name] = replace(
                        column,
                        low=column.low if low is None else low,
                        high=column.high if high is None else high,
                    )

    def check(self, draft: _Draft, condition: str) -> None:
        """Read the text of a CHECK condition."""
        try:
            self._check(draft, self._sqlglot.parse_one(condition, dialect=self._dialect))
        except self._sqlglot.errors.SqlglotError:
            return

    def _insert(self, draft: _Draft) -> None:
        """Read the rows that INSERT statements list; none if one of them is of another form."""
        exp = self._exp
        for statement in draft.inserts:
            try:
                parsed = self._sqlglot.parse_one(statement, dialect=self._dialect)
            except self._sqlglot.errors.SqlglotError:
                draft.rows.clear()
                return
            target, values = parsed.this, parsed.args.get("expression")
            if not isinstance(values, exp.Values):
                draft.rows.clear()
                return
            named = _names(exp, target.expressions) if isinstance(target, exp.Schema) else ()
            names = named or tuple(column.name for column in draft.columns.values())
            for row in values.expressions:
                cells = row.expressions if isinstance(row, exp.Tuple) else [row]
                draft.rows.append(dict(zip(names, (literal_of(cell) for cell in cells), strict=False)))


def _parts(tokens: Sequence[Any], statement: str) -> Sequence[str]:
    """Return what stands before the first parenthesis, and the parts between its commas.

    Without a parenthesis, and if the statement creates nothing, the only part is the statement.
    """
    depth, begin, parts = 0, 0, list[str]()
    for token in tokens:
        if token.text == "(":
            depth += 1
            if depth == 1:
                parts.append(statement[: token.start])
                begin = token.end + 1
        elif token.text in (",", ")") and depth == 1:
            parts.append(statement[begin : token.start])
            begin = token.end + 1
        if token.text == ")":
            depth -= 1
            if depth == 0:
                break
    return parts if parts and statement.split(None, 1)[0].upper() == "CREATE" else [statement]


def _is_about_tables(words: Sequence[str]) -> bool:
    """Return True for a statement that creates or alters a table, or creates a type or a unique index."""
    upper = [word.upper() for word in words]
    if upper[:2] in (["ALTER", "TABLE"], ["CREATE", "TYPE"], ["CREATE", "DOMAIN"], ["CREATE", "UNIQUE"]):
        return True
    return upper[:1] == ["CREATE"] and "TABLE" in upper[1:4] and not _PASSING & set(upper[1:3])


def _inserted_into(words: Sequence[str]) -> str | None:
    """Return the name of the table that a statement inserts into, without its schema."""
    upper = [word.upper() for word in words]
    if upper[:1] != ["INSERT"] or "INTO" not in upper[:3]:
        return None
    at = upper.index("INTO") + 1
    while at + 2 < len(words) and words[at + 1] == ".":
        at += 2
    return words[at] if at < len(words) else None


def _alone(tokens: Sequence[Any], n: int) -> bool:
    """Return True if a token is the only one of its line."""
    line = tokens[n].line
    before = n > 0 and tokens[n - 1].line == line
    return not before and not (n + 1 < len(tokens) and tokens[n + 1].line == line)


def _names(exp: Any, parts: Iterable[Any]) -> tuple[str, ...]:
    """Return the names of columns, as identifiers, columns, or columns with an order."""
    return tuple(part.this.name if isinstance(part, exp.Ordered) else part.name for part in parts)


def _reference(exp: Any, columns: tuple[str, ...], reference: Any) -> ForeignKey:
    """Return the foreign key of a REFERENCES clause."""
    target = reference.this
    options = (str(option).upper() for option in reference.args.get("options") or ())
    words = next(
        (option.removeprefix("ON DELETE") for option in options if option.startswith("ON DELETE")), ""
    )
    if isinstance(target, exp.Schema):
        names = _names(exp, target.expressions)
        return ForeignKey(columns, target.this.name, names, on_delete(words))
    return ForeignKey(columns, target.name, on_delete=on_delete(words))


def _number(part: Any) -> int | None:
    """Return the integer of a literal, or None."""
    text = literal_of(part)
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def _column_name(exp: Any, part: Any) -> str | None:
    """Return the name of a column in lower case, None for any other expression."""
    part = bare(part)
    return part.name.lower() if isinstance(part, exp.Column) else None


def _conjuncts(exp: Any, condition: Any) -> Iterator[Any]:
    """Yield the parts of a conjunction."""
    condition = bare(condition)
    if isinstance(condition, exp.And):
        yield from _conjuncts(exp, condition.left)
        yield from _conjuncts(exp, condition.right)
    elif condition is not None:
        yield condition


def _listed(exp: Any, part: Any) -> tuple[str, tuple[str, ...]] | None:
    """Return a column and its values for `c IN (…)`, `c = ANY (ARRAY[…])`, or a disjunction of equations."""
    if isinstance(part, exp.Or):
        left, right = _listed(exp, bare(part.left)), _listed(exp, bare(part.right))
        if left is None or right is None or left[0] != right[0]:
            return None
        return left[0], (*left[1], *right[1])
    if isinstance(part, exp.In):
        name, values = _column_name(exp, part.this), [literal_of(v) for v in part.expressions]
    elif isinstance(part, exp.EQ):
        name, right = _column_name(exp, part.left), bare(part.right)
        if isinstance(right, exp.Any):
            array = bare(right.this)
            values = [literal_of(v) for v in array.expressions] if isinstance(array, exp.Array) else []
        else:
            values = [literal_of(right)]
    else:
        return None
    known = tuple(value for value in values if value is not None)
    return (name, known) if name is not None and known and len(known) == len(values) else None


def _bounds(exp: Any, part: Any) -> Iterator[tuple[str, int | None, int | None]]:
    """Yield a column with its least and greatest number for `BETWEEN` and for comparisons."""
    if isinstance(part, exp.Between):
        name = _column_name(exp, part.this)
        low, high = _number(part.args.get("low")), _number(part.args.get("high"))
        if name is not None:
            yield name, low, high
        return
    for form, low_by, high_by in (
        (exp.GTE, 0, None),
        (exp.GT, 1, None),
        (exp.LTE, None, 0),
        (exp.LT, None, -1),
    ):
        if isinstance(part, form):
            name, number = _column_name(exp, part.left), _number(part.right)
            if name is not None and number is not None:
                yield (
                    name,
                    None if low_by is None else number + low_by,
                    None if high_by is None else number + high_by,
                )
