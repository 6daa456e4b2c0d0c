"""Schemas read from SQL: in the spellings of four databases, and where no parser reads the whole."""

from __future__ import annotations

import sys

import pytest

from stead_sym.errors import InputError
from stead_sym.imports.ddl import read_ddl
from stead_sym.imports.tables import ForeignKey

pytest.importorskip("sqlglot")

_SPELLINGS = {
    "postgres": """
        SET search_path = public;
        CREATE TYPE mood AS ENUM ('calm', 'cross');
        CREATE TABLE public.people (id integer DEFAULT nextval('s'::regclass) NOT NULL, name text,
          mood mood NOT NULL);
        CREATE TABLE public.tickets (id uuid PRIMARY KEY, owner integer, state text NOT NULL
          CHECK (((state)::text = ANY (
            (ARRAY['open'::character varying, 'done'::character varying])::text[]))),
          urgency integer CHECK (urgency BETWEEN 1 AND 3));
        ALTER TABLE ONLY public.people ADD CONSTRAINT people_pkey PRIMARY KEY (id);
        ALTER TABLE ONLY public.tickets ADD CONSTRAINT t FOREIGN KEY (owner) REFERENCES public.people(id);
        CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN INSERT INTO people VALUES (1); RETURN NEW; END; $$
          LANGUAGE plpgsql;
        """,
    "mysql": """
        DELIMITER ;;
        CREATE TRIGGER t AFTER INSERT ON `tickets` FOR EACH ROW BEGIN SET @x = 1; END ;;
        DELIMITER ;
        CREATE TABLE `people` (`id` INT UNSIGNED NOT NULL AUTO_INCREMENT, `name` VARCHAR(9),
          `mood` ENUM('calm','cross') NOT NULL, PRIMARY KEY (`id`), KEY `n` (`name`)) ENGINE=InnoDB;
        CREATE TABLE `tickets` (`id` CHAR(36) NOT NULL, `owner` INT UNSIGNED,
          `state` ENUM('open','done') NOT NULL, `urgency` INT, PRIMARY KEY (`id`),
          CONSTRAINT `f` FOREIGN KEY (`owner`) REFERENCES `people` (`id`),
          CHECK (`urgency` >= 1 AND `urgency` < 4));
        """,
    "sqlite": """
        CREATE TABLE [people] (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT,
          mood TEXT NOT NULL CHECK (mood IN ('calm', 'cross')));
        CREATE TABLE [tickets] (id TEXT PRIMARY KEY, owner INTEGER REFERENCES people,
          state TEXT NOT NULL CHECK (state = 'open' OR state = 'done'),
          urgency INTEGER CHECK (urgency > 0 AND urgency <= 3));
        """,
    "tsql": """
        CREATE TABLE [dbo].[people] ([id] INT NOT NULL IDENTITY, [name] NVARCHAR(9),
          [mood] VARCHAR(5) NOT NULL CHECK ([mood] IN ('calm', 'cross')),
          CONSTRAINT [PK] PRIMARY KEY CLUSTERED ([id]))
        GO
        CREATE TABLE [dbo].[tickets] ([id] UNIQUEIDENTIFIER NOT NULL, [owner] INT, [state] VARCHAR(5) NOT NULL
          CHECK ([state] IN ('open', 'done')), [urgency] INT CHECK ([urgency] BETWEEN 1 AND 3),
          PRIMARY KEY NONCLUSTERED ([id]))
        GO
        ALTER TABLE [dbo].[tickets] ADD CONSTRAINT [F] FOREIGN KEY ([owner]) REFERENCES [dbo].[people] ([id])
        GO
        """,
}


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("dialect", _SPELLINGS)
def test_one_schema_in_four_spellings(dialect, named):
    read = read_ddl(_SPELLINGS[dialect], dialect if named else None)
    assert not read.unread
    people, tickets = read.tables
    assert (people.name, people.primary_key, tickets.primary_key) == ("people", ("id",), ("id",))
    assert people.column("mood").values == ("calm", "cross")
    assert not people.column("mood").nullable
    assert people.column("name").nullable
    assert not people.column("id").nullable
    assert tickets.column("state").values == ("open", "done")
    assert (tickets.column("urgency").low, tickets.column("urgency").high) == (1, 3)
    [key] = tickets.foreign_keys
    assert (key.columns, key.table, key.referenced or ("id",)) == (("owner",), "people", ("id",))


def test_what_cannot_be_parsed_is_named_with_its_line_and_the_rest_is_kept():
    read = read_ddl(
        "CREATE TABLE a (id int PRIMARY KEY,\n  x BLOB SUB_TYPE TEXT,\n  y int NOT NULL);", "sqlite"
    )
    [table] = read.tables
    assert [column.name for column in table.columns] == ["id", "y"]
    assert read.unread == ("line 1, CREATE TABLE a: `x BLOB SUB_TYPE TEXT`",)


def test_what_psql_reads_itself_and_tables_within_a_schema():
    text = "\\pset tuples_only on\nCREATE SCHEMA s\n CREATE TABLE a (id int PRIMARY KEY)\n"
    text += " CREATE TABLE b (id int);\n"
    text += "COPY s.a (id) FROM stdin;\n1\nit's (\n\\.\nCREATE TABLE c (x BLOB SUB_TYPE TEXT, y int);"
    read = read_ddl(text, "postgres")
    assert [table.name for table in read.tables] == ["a", "b", "c"]
    assert read.unread == ("line 9, CREATE TABLE c: `x BLOB SUB_TYPE TEXT`",)


def test_a_domain_is_the_type_of_a_column():
    text = "CREATE DOMAIN grade AS integer CONSTRAINT c CHECK (VALUE >= 1 AND VALUE <= 6);"
    [table] = read_ddl(f"{text} CREATE TABLE a (id int PRIMARY KEY, g grade);", "postgres").tables
    assert (table.column("g").low, table.column("g").high, table.column("g").type) == (1, 6, "grade")


def test_rows_of_small_tables_are_read_and_those_of_large_ones_are_not():
    small = "CREATE TABLE s (c text PRIMARY KEY); INSERT INTO s (c) VALUES ('x'), ('y');"
    small += "INSERT INTO s VALUES ('z');"
    assert [row["c"] for row in read_ddl(small).tables[0].rows] == ["x", "y", "z"]
    large = "CREATE TABLE s (c text PRIMARY KEY);" + "".join(
        f"INSERT INTO s VALUES ('{n:09}');" for n in range(999)
    )
    assert read_ddl(large).tables[0].rows == ()
    selected = (
        "CREATE TABLE s (c text PRIMARY KEY); INSERT INTO s VALUES ('x'); INSERT INTO s SELECT c FROM t;"
    )
    assert read_ddl(selected).tables[0].rows == ()


def test_temporary_tables_are_no_part_of_the_schema():
    read = read_ddl(
        "CREATE TEMPORARY TABLE t (id int); CREATE TABLE a (id int PRIMARY KEY, b int REFERENCES c (k, l));"
    )
    assert [table.name for table in read.tables] == ["a"]
    assert read.tables[0].foreign_keys == (ForeignKey(("b",), "c", ("k", "l")),)


@pytest.mark.parametrize(
    "text", ["", "SELECT 1;", "no SQL at all", "CREATE TABLE", "CREATE TABLE a (", "'", "\0"]
)
@pytest.mark.parametrize("dialect", [None, "postgres"])
def test_text_without_a_table_is_an_error_in_one_line(text, dialect):
    with pytest.raises(InputError) as error:
        read_ddl(text, dialect)
    assert "\n" not in str(error.value)


def test_without_the_library_the_error_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(InputError, match="SQL is read by sqlglot"):
        read_ddl("CREATE TABLE t (id INTEGER PRIMARY KEY)")
