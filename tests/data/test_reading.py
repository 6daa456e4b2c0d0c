"""Facts from files and databases: what becomes of cells, which row an error names, and what is never said."""

from __future__ import annotations

import csv
import datetime
import gzip
import re
import sqlite3
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as strategies

import stead_sym as st
import stead_sym.logic.syntax as fo
from engine_pairs import examples
from stead_sym.cli.main import main
from stead_sym.data.source import Column, FactsFrom, File, Into
from stead_sym.data.spelling import MOST_CHARACTERS, Unusable, text_of
from stead_sym.deployment.resolve import Items, Text, resolve_items
from stead_sym.evidence.data import text_digest

HEAD = """
deployment shop

sort order, user
sort status = { open, paid, status_in_20_transit } rigid

relation Owner(order, user)
relation Status(order key, status)
relation Any()
"""
TAIL = """
event pay(o: order)
  guard Status(o, open)
  effect
    set Status(o, paid)

event wait()

spec all_paid
  EF forall o: order. (Status(o, _) -> Status(o, paid))
spec one_open
  EF exists o: order. Status(o, open)
"""
BY_HAND = """
init
  Owner(order_1, ann)
  Owner(order_2, user_b_40_x_2e_com)
  Owner(order_C_3, ann)
  Status(order_1, open)
  Status(order_C_3, status_in_20_transit)
"""
COLUMNS = ("order", "user", "the status")
ROWS = (("1", "ann", "open"), ("2", "b@x.com", ""), ("C-3", "ann", "in transit"), ("1", "ann", "open"))
INTO = 'into Owner(order, user), Status(order, "the status"?)'


def test_columns_are_in_the_order_in_which_they_are_first_named():
    spelled = (("a", "b"), ("b", "c", "a"))
    into = tuple(Into("P", tuple(map(Column, names))) for names in spelled)
    assert [column.name for column in FactsFrom(File("t.csv"), into).columns] == ["a", "b", "c"]


def loaded(folder: Path, init: str, head: str = HEAD) -> st.Deployment:
    """The deployment with these items, in a file in the folder."""
    file = folder / "shop.stead"
    file.write_text(head + init + TAIL, encoding="utf-8")
    return st.load(file)


def write_csv(path: Path, rows: Sequence[Sequence[str]], header: Sequence[str] = COLUMNS) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def write_database(path: Path) -> None:
    """The rows with NULL where a cell is empty, beside a table whose numbers are numbers."""
    with sqlite3.connect(path) as connection:
        connection.execute('create table orders ("order" text, user text, "the status" text)')
        rows = [tuple(cell or None for cell in row) for row in ROWS]
        connection.executemany("insert into orders values (?, ?, ?)", rows)
        connection.execute("create table plain (number integer, weight real)")
        connection.executemany("insert into plain values (?, ?)", [(1, 1.0), (2, None), (3, 2.5)])


def test_files_and_databases_say_what_facts_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_csv(tmp_path / "orders.csv", ROWS)
    (tmp_path / "marked.csv").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "orders.csv").read_bytes())
    (tmp_path / "orders.csv.gz").write_bytes(gzip.compress((tmp_path / "orders.csv").read_bytes()))
    (tmp_path / "orders.tsv").write_text(
        "\n".join("\t".join(row) for row in (COLUMNS, *ROWS)), encoding="utf-8"
    )
    write_database(tmp_path / "orders.sqlite")
    monkeypatch.setenv("SHOP", "sqlite:///orders.sqlite")
    expected = st.parse_deployment(HEAD + BY_HAND + TAIL)
    for source in (
        '"orders.csv"',
        '"marked.csv"',
        '"orders.csv.gz"',
        '"orders.tsv"',
        '"sqlite:///orders.sqlite" table "orders"',
        'env SHOP table "orders"',
        "\"sqlite:///orders.sqlite\" query \"select * from orders where 'a:b' <> 'c'\"",
    ):
        found = loaded(tmp_path, f"init from {source} {INTO}")
        assert found == expected, source
        assert str(found) == str(expected)
        assert found.constants == expected.constants
        assert text_digest(found) == text_digest(expected)
        assert [(one.rows, one.facts) for one in found.loaded] == [(4, 5)]
    for engine in ("symbolic", "explicit"):
        result = st.verify(found, engine=engine)  # type: ignore[arg-type]
        assert {name: v.holds for name, v in result.verdicts.items()} == {"all_paid": False, "one_open": True}


@pytest.mark.gate
def test_parquet_says_what_a_file_of_text_says(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs the extra data")
    from pyarrow import parquet

    columns = {
        "order": [1, 2, None, 3],
        "day": [datetime.date(2026, 1, 2), None, datetime.date(2026, 1, 3), datetime.date(2026, 1, 3)],
        "weight": [Decimal("1.50"), Decimal("2.00"), None, Decimal("0.25")],
        "kind": pa.array(["a", "b", "a", "c d"]).dictionary_encode(),
    }
    parquet.write_table(pa.table(columns), tmp_path / "orders.parquet", row_group_size=2)
    cells = [
        ("1", "2026-01-02", "1.5", "a"),
        ("2", "", "2", "b"),
        ("", "2026-01-03", "", "a"),
        ("3", "2026-01-03", "0.25", "c d"),
    ]
    write_csv(tmp_path / "orders.csv", cells, tuple(columns))
    head = "deployment d\nsort order, day, weight, kind\nrelation On(order, day)\nrelation Is(weight, kind)\n"
    into = "into On(order?, day?), Is(weight?, kind)"
    tail = "\nevent wait()\nspec s AG true"
    texts = []
    for file in ("orders.parquet", "orders.csv"):
        (tmp_path / "d.stead").write_text(f'{head}init from "{file}" {into}{tail}', encoding="utf-8")
        texts.append(str(st.load(tmp_path / "d.stead")))
    assert texts[0] == texts[1]
    for fact in ("On(order_3, day_2026_01_03)", "Is(weight_1_2e_5, a)", "Is(weight_2, b)"):
        assert f"  {fact}\n" in texts[0]
    far = {"order": pa.array([10**9 - 1], pa.int32()).cast(pa.date32())}
    parquet.write_table(pa.table(far), tmp_path / "far.parquet")
    (tmp_path / "broken.parquet").write_bytes((tmp_path / "orders.parquet").read_bytes()[:-30])
    parquet.write_table(pa.table({"order": [[1], [2]]}), tmp_path / "nested.parquet")
    for init, message in {
        '"orders.parquet" into On(order, day?)': r"orders\.parquet, row 3: the column order is empty;",
        '"broken.parquet" into On(order, day)': r"broken\.parquet: no Parquet file that can be read",
        "\"far.parquet\" into On(order, 'x')": r"far\.parquet: cannot be read \(date value out of range\)",
        "\"nested.parquet\" into On(order, 'x')": r"nested\.parquet, row 1: the column order holds list",
    }.items():
        (tmp_path / "d.stead").write_text(f"{head}init from {init}{tail}", encoding="utf-8")
        with pytest.raises(st.InputError, match=message):
            st.load(tmp_path / "d.stead")


ERRORS: dict[str, tuple[bytes, str, str]] = {
    "empty cell": (
        b"order,user\n1,ann\n2,\n",
        "Owner(order, user)",
        "t.csv:3: the column user is empty; fill it in, or write `?` after the column to leave such rows out",
    ),
    "no value of a finite sort": (
        b"order,s\n1,open\n2,opne\n",
        "Status(order, s)",
        "t.csv:3: the column s holds 'opne', which sort status does not list; list it there, or mend the row:"
        " there are open, paid, status_in_20_transit",
    ),
    "no column": (
        b"order,user\n1,ann\n",
        "Owner(order, usr)",
        "shop.stead:10:37: t.csv has no column usr; did you mean user?",
    ),
    "no header": (
        b"1,ann\n",
        "Owner(order, user)",
        "shop.stead:10:30: t.csv has no column order; its columns are 1, ann",
    ),
    "a column twice": (
        b"order,user,user\n1,ann,ben\n",
        "Owner(order, user)",
        "shop.stead:10:37: t.csv has 2 columns user; rename all but one",
    ),
    "empty file": (
        b"",
        "Owner(order, user)",
        "t.csv:1: the table is empty; name the columns in the first line",
    ),
    "too many cells": (
        b'order,user\n1,"a\nb"\n\n2,ann,x\n',
        "Owner(order, user)",
        "t.csv:5: 3 cells under 2 columns; quote what holds a separator, or mend the row",
    ),
    "an open quote": (
        b'order,user\n1,"ann\n',
        "Owner(order, user)",
        "t.csv:2: no row of a table (unexpected end of data); mend it",
    ),
    "another encoding": (
        b"order,user\n1,ann\n2,J\xfcrgen\n",
        "Owner(order, user)",
        "t.csv:3: not in UTF-8; save the file in UTF-8",
    ),
    "a key twice": (
        b"order,s\n1,open\n2,open\n1,paid\n",
        "Status(order, s)",
        "t.csv:4: Status(order_1, open) and Status(order_1, paid) have the same key, of which a state may"
        " hold one fact; remove one",
    ),
    "a value of two sorts": (
        b"order,user\n1,ann\nann,ben\n",
        "Owner(order, user)",
        "t.csv:3: the column order holds 'ann', which is a user as well as a order; give one of the two a"
        " prefix",
    ),
    "two spellings alike": (
        b"order,user\n1,ann\norder_1,ann\n",
        "Owner(order, user)",
        "t.csv:3: the column order holds 'order_1', and '1' stands elsewhere: both are spelled order_1;"
        " change one",
    ),
    "too long": (
        b"order,user\n1,ann\n" + b"x" * 201 + b",ben\n",
        "Owner(order, user)",
        "t.csv:3: the column order holds 201 characters; give what identifies a record, 200 at most",
    ),
    "too few arguments": (
        b"order,user\n1,ann\n",
        "Owner(order)",
        "shop.stead:10:24: Owner(order) has 1 arguments, but Owner takes 2; give it that many",
    ),
    "no relation": (
        b"order,user\n1,ann\n",
        "Ownr(order, user)",
        "shop.stead:10:24: unknown relation Ownr; did you mean Owner?",
    ),
    "no constant of the sort": (
        b"order,user\n1,ann\n",
        "Status(order, 'lost')",
        "shop.stead:10:24: the constant 'lost' holds 'lost', which sort status does not list; list it"
        " there, or mend the row: there are open, paid, status_in_20_transit",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_names_the_row(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content, into, message = ERRORS[case]
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_bytes(content)
    with pytest.raises(st.InputError) as caught:
        loaded(Path(), f'init from "t.csv" into {into}')
    assert str(caught.value) == message


def test_what_is_no_table_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv.gz").write_bytes(gzip.compress(b"order,user\n1,ann\n" * 50)[:-12])
    Path("text.csv.gz").write_bytes(b"order,user\n1,ann\n")
    write_database(Path("orders.sqlite"))
    Path("text.sqlite").write_text("no database" * 100, encoding="utf-8")
    for source, message in {
        '"t.csv.gz"': r"t\.csv\.gz: cannot be unpacked",
        '"text.csv.gz"': r"text\.csv\.gz: cannot be unpacked",
        '"none.csv"': r"none\.csv: cannot be read \(No such file or directory\)",
        '"t.xlsx"': r"shop\.stead:10:1: t\.xlsx is no kind of table",
        '"sqlite:///none.sqlite" table "x"': r"none\.sqlite: there is no such database",
        '"sqlite:///orders.sqlite" table "order"': r"sqlite has no table order",
        '"sqlite:///orders.sqlite" table "plain"': r"table plain has no column order; its columns",
        '"sqlite:///orders.sqlite" query "select 1 from no"': r"the query cannot be read \(no such table",
        '"sqlite:///text.sqlite" table "x"': r"table x cannot be read \(file is not a database\)",
        '"nothing" table "x"': r"the database's URL cannot be read; write sqlite",
        '"sqlight:///x" table "x"': r"no kind of database that SQLAlchemy knows",
        'env SHOP_NOT_SET table "x"': r"the environment variable SHOP_NOT_SET is not set",
    }.items():
        with pytest.raises(st.InputError, match=message) as caught:
            loaded(Path(), f"init from {source} into Owner(order, user)")
        assert "\n" not in str(caught.value)


def test_the_row_of_a_database_is_named(tmp_path: Path) -> None:
    write_database(tmp_path / "orders.sqlite")
    with pytest.raises(st.InputError, match=r"sqlite, table plain, row 2: the column weight is empty"):
        loaded(tmp_path, 'init from "sqlite:///orders.sqlite" table "plain" into Owner(number, weight)')
    found = loaded(tmp_path, 'init from "sqlite:///orders.sqlite" table "plain" into Owner(number, weight?)')
    assert {str(fact) for fact in found.init} == {
        "Owner(order_1, user_1)",
        "Owner(order_3, user_2_2e_5)",
    }


def test_a_query_is_sent_as_it_is_written(tmp_path: Path) -> None:
    """Colons are no parameters of it, and backslashes stay."""
    write_database(tmp_path / "orders.sqlite")
    cells = {
        r"':x'": "_3a_x",
        r"'a::b'": "a_3a__3a_b",
        r"'\a\:b'": "_5c_a_5c__3a_b",
        "'%s%%'": "_25_s_25__25_",
    }
    for cell, code in cells.items():
        query = f"select {cell} as a, 'ann' as b".replace("\\", "\\\\")
        found = loaded(tmp_path, f'init from "sqlite:///orders.sqlite" query "{query}" into Owner(a, b)')
        assert {str(fact) for fact in found.init} == {f"Owner(order_{code}, ann)"}


@pytest.mark.parametrize("query", ["attach database '{}' as other", "vacuum into '{}'"])
def test_a_query_makes_no_other_database(query: str, tmp_path: Path) -> None:
    write_database(tmp_path / "orders.sqlite")
    asked = query.format(tmp_path / "other.sqlite")
    with pytest.raises(st.InputError, match="the query cannot be read"):
        loaded(tmp_path, f'init from "sqlite:///orders.sqlite" query "{asked}" into Any()')
    assert not (tmp_path / "other.sqlite").exists()


def test_a_database_is_only_read(tmp_path: Path) -> None:
    write_database(tmp_path / "orders.sqlite")
    before = (tmp_path / "orders.sqlite").read_bytes()
    with pytest.raises(st.InputError, match="readonly database"):
        loaded(tmp_path, 'init from "sqlite:///orders.sqlite" query "delete from orders" into Any()')
    assert (tmp_path / "orders.sqlite").read_bytes() == before


@pytest.mark.parametrize("url", ["postgresql://me:s3cret@localhost/shop", "mysql://h/d?password=s3cret"])
def test_no_password_is_ever_said(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(st.InputError, match="put the URL into an environment variable") as caught:
        loaded(tmp_path, f'init from "{url}" table "x" into Any()')
    assert "s3cret" not in str(caught.value)
    monkeypatch.setenv("SHOP", url)
    with pytest.raises(st.InputError) as caught:
        loaded(tmp_path, 'init from env SHOP table "x" into Any()')
    assert "s3cret" not in str(caught.value)
    assert caught.value.__suppress_context__
    monkeypatch.setenv("SHOP", "sqlite:///s3cret.sqlite?key=s3cret")
    sqlite3.connect(tmp_path / "s3cret.sqlite").close()
    with pytest.raises(st.InputError) as caught:
        loaded(tmp_path, 'init from env SHOP query "select s3cret" into Any()')
    assert "s3cret" not in str(caught.value)
    assert "***" in str(caught.value)


def test_a_text_alone_opens_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a text comes with a certificate or a report, perhaps from somebody else."""
    monkeypatch.chdir(tmp_path)
    write_csv(Path("orders.csv"), ROWS)
    text = f'{HEAD}init from "orders.csv" {INTO}{TAIL}'
    with pytest.raises(st.InputError, match="a text alone reads no files"):
        st.parse_deployment(text)
    assert len(st.parse_deployment(text, folder=tmp_path).init) == 5


def test_what_is_kept_of_a_deployment_holds_the_facts(tmp_path: Path) -> None:
    """A certificate, a digest and another process see the data as they were read."""
    write_csv(tmp_path / "orders.csv", ROWS)
    deployment = loaded(tmp_path, f'init from "orders.csv" {INTO}')
    result = st.verify(deployment, specs=["one_open"])
    st.write_certificate(result, tmp_path / "certificate")
    (tmp_path / "orders.csv").unlink()
    checked = st.check_certificate(tmp_path / "certificate")
    assert "one_open" in str(checked)
    apart = st.verify_apart(deployment, specs=["one_open"])
    assert apart["digest"] == text_digest(deployment)
    write_csv(tmp_path / "orders.csv", [*ROWS[:-1], ("1", "ben", "open")])
    assert text_digest(loaded(tmp_path, f'init from "orders.csv" {INTO}')) != text_digest(deployment)


def test_show_prints_where_the_facts_come_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_csv(tmp_path / "orders.csv", ROWS)
    items = f"init\n  Owner(order_9, ann)\ninit from \"orders.csv\" {INTO}, Owner(order, 'it''s')"
    deployment = loaded(tmp_path, items)
    file = tmp_path / "shop.stead"
    assert main(["show", str(file)]) == 0
    shown = capsys.readouterr().out
    assert '# 8 facts of 4 rows\ninit from "orders.csv"\n  into Owner(order, user), Status(order' in shown
    assert "order_1" not in shown
    file.write_text(shown, encoding="utf-8")
    assert st.load(file) == deployment
    assert main(["show", str(file)]) == 0
    assert capsys.readouterr().out == shown
    assert main(["show", "--facts", str(file)]) == 0
    assert st.parse_deployment(capsys.readouterr().out) == deployment


def test_facts_from_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_csv(tmp_path / "orders.csv", ROWS)
    write_database(tmp_path / "orders.sqlite")
    monkeypatch.chdir(tmp_path)

    def built(*init: object) -> st.Deployment:
        return st.build_deployment(
            "shop",
            sorts={"order": None, "user": None},
            relations={"Owner": "order, user"},
            init=init,  # type: ignore[arg-type]
        )

    expected = built("Owner(order_1, ann)  Owner(order_2, user_b_40_x_2e_com)", "Owner(order_C_3, ann)")
    url = f"sqlite:///{tmp_path}/orders.sqlite"
    assert built(st.facts_from("orders.csv", "Owner(order, user)")) == expected
    assert (
        built(st.facts_from(tmp_path / "orders.csv", "Owner(order, user)"), "Owner(order_1, ann)") == expected
    )
    assert built(st.facts_from(url, "Owner(order, user)", table="orders")) == expected
    monkeypatch.setenv("SHOP", url)
    assert built(st.facts_from("env SHOP", "Owner(order, user)", query="select * from orders")) == expected
    with pytest.raises(TypeError, match="a table and a query"):
        st.facts_from(url, "Owner(order, user)", table="orders", query="select 1")
    with pytest.raises(st.errors.ParseError):
        st.facts_from("orders.csv", "Owner(order, ")


def test_older_files_keep_their_names() -> None:
    """`from`, `env`, `table`, `query` and `into` are words only where an `init from` has them."""
    text = """deployment d
sort into
relation from(into)  relation env()  relation table()  relation query()
init from(table) env table() query
event wait()
spec s AG exists query: into. from(query)"""
    deployment = st.parse_deployment(text)
    assert {str(fact) for fact in deployment.init} == {"from(table)", "env()", "table()", "query()"}
    assert st.parse_deployment(str(deployment)) == deployment


PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
CELLS = strategies.one_of(
    strategies.text(strategies.characters(codec="utf-8", exclude_characters="\r"), min_size=0, max_size=6),
    strategies.sampled_from(
        [
            "",
            "open",
            "AX",
            "true",
            "_",
            "7",
            "007",
            "-",
            "a-b",
            "a_b",
            " a",
            'q"q',
            "l\nl",
            "x,y",
            "ü",
            "'",
            "#",
        ]
    ),
    strategies.text("ab-_ 1", max_size=4),
)


def expected_value(sort: str, text: str) -> str:
    """The rule of the language's page, character by character."""
    if PLAIN.fullmatch(text) and text not in {"_", "open", "paid", "AX", "true"}:
        return text
    if all(part.isascii() and part.isalnum() for part in text.split("-")):
        return f"{sort}_{text.replace('-', '_')}"
    return f"{sort}_" + "".join(
        c if (c.isascii() and c.isalnum()) or c == "_" else f"_{ord(c):x}_" for c in text
    )


@settings(max_examples=examples(150, quick=19), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=strategies.lists(strategies.tuples(CELLS, CELLS), max_size=12))
def test_random_tables_read_back(rows: list[tuple[str, str]], tmp_path: Path) -> None:
    """Odd cells give the facts that the rule gives, or are told to be spelled alike."""
    names = [(f"o{a}" if a else "", f"u-{b}" if b else "") for a, b in rows]  # no value of both sorts
    write_csv(tmp_path / "t.csv", names, ("order", "user"))
    path = tmp_path / "t.sqlite"
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        connection.execute('create table t ("order" text, user text)')
        connection.executemany("insert into t values (?, ?)", names)
    expected = {(expected_value("order", a), expected_value("user", b)): (a, b) for a, b in names if a and b}
    apart = {(a, b) for a, b in names if a and b}
    for source in ('"t.csv"', '"sqlite:///t.sqlite" table "t"'):
        init = f"init from {source} into Owner(order?, user?)"
        if len({x for pair in expected for x in pair}) < len({x for pair in apart for x in pair}):
            with pytest.raises(st.InputError, match="both are spelled"):
                loaded(tmp_path, init)
            continue
        found = loaded(tmp_path, init)
        assert found.init.tuples("Owner") == set(expected)
        assert len(expected) == len(apart)
        assert st.parse_deployment(str(found)) == found


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cells=strategies.lists(CELLS, min_size=1, max_size=30), bad=strategies.integers(0, 29))
def test_the_line_of_an_error_is_where_the_row_starts(cells: list[str], bad: int, tmp_path: Path) -> None:
    rows = [(f"o{k}", cell, "open") for k, cell in enumerate(cells)]
    bad %= len(rows)
    rows[bad] = (rows[bad][0], rows[bad][1], "nothing")
    write_csv(tmp_path / "t.csv", rows, ("order", "note", "s"))
    lines = 2 + bad + sum(row[1].count("\n") for row in rows[:bad])
    with pytest.raises(st.InputError, match=rf"t\.csv:{lines}: the column s holds 'nothing'"):
        loaded(tmp_path, 'init from "t.csv" into Status(order, s)')


def test_rows_past_the_first_batch_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stead_sym.data.files.BATCH", 7)
    rows = [(str(k), "a\nb" if k % 3 else "a", "" if k == 40 else "open") for k in range(50)]
    write_csv(tmp_path / "t.csv", rows, ("order", "note", "s"))
    line = 2 + 40 + sum(row[1].count("\n") for row in rows[:40])
    with pytest.raises(st.InputError, match=rf"t\.csv:{line}: the column s is empty"):
        loaded(tmp_path, 'init from "t.csv" into Status(order, s)')
    assert len(loaded(tmp_path, 'init from "t.csv" into Status(order, s?)').init) == 49


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, ""),
        (3, "3"),
        (3.0, "3"),
        (1.5, "1.5"),
        (Decimal("1.50"), "1.5"),
        (Decimal("3E+2"), "300"),
        (Decimal("-0.00"), "0"),
        (True, "true"),
        (datetime.datetime(2026, 1, 2, 3, 4), "2026-01-02T03:04:00"),
        (datetime.time(3, 4), "03:04:00"),
    ],
)
def test_cells_as_text(cell: object, text: str) -> None:
    assert text_of(cell) == text


@given(strategies.decimals(-1000, 1000, places=35), strategies.integers(1, 3))
def test_two_numbers_have_one_text_where_they_are_equal(number: Decimal, apart: int) -> None:
    """With more digits than the context of `decimal` keeps."""
    sign, digits, exponent = number.as_tuple()
    longer = Decimal((sign, (*digits, 0, 0), int(exponent) - 2))
    assert text_of(longer) == text_of(number)
    assert Decimal(text_of(number)) == number
    assert text_of(Decimal((sign, (*digits, 0, apart), int(exponent) - 2))) != text_of(number)


@pytest.mark.parametrize(
    "cell",
    [float("nan"), float("inf"), Decimal("NaN"), Decimal("1e999999"), b"x", [1], "x" * (MOST_CHARACTERS + 1)],
)
def test_cells_that_are_no_values(cell: object) -> None:
    with pytest.raises(Unusable, match=r"; (give|leave)"):
        text_of(cell)


def test_a_finite_sort_costs_what_an_open_one_costs(tmp_path: Path) -> None:
    """Calls of Python, which do not depend on the machine, of 500 and of 2,000 values: linear in both."""
    counts: dict[tuple[bool, int], int] = {}
    for number in (500, 2000):
        write_csv(tmp_path / "t.csv", [(f"o{k}", "ann", "") for k in range(number)])
        finite = f"sort user\nsort order = {{ {', '.join(f'o{k}' for k in range(number))} }}"
        for head in (HEAD, HEAD.replace("sort order, user", finite)):
            counts[head is HEAD, number] = _comparisons(
                lambda head=head: loaded(tmp_path, 'init from "t.csv" into Owner(order, user)', head)  # type: ignore[misc]
            )
    assert counts[False, 2000] < 6 * counts[False, 500]
    # A value that is listed is a token, and one of a file is not.
    assert counts[False, 2000] < 16 * counts[True, 2000]


class _Counted(str):
    """A text that counts how often it is compared."""

    __slots__ = ()
    __hash__ = str.__hash__
    times = 0

    def __eq__(self, other: object) -> bool:
        _Counted.times += 1
        return str.__eq__(self, other)


def _comparisons(load: Callable[[], object]) -> int:
    """The lines of Python that loading runs."""
    import sys

    lines = 0

    def count(*_: object) -> object:
        nonlocal lines
        lines += 1
        return None

    before = sys.getprofile()
    sys.setprofile(lambda *_: count())
    try:
        load()
    finally:
        sys.setprofile(before)
    return lines


def test_a_list_of_values_is_gone_through_once() -> None:
    """Looking for doubles by counting each value, and for the value of a fact in the list, took the square of
    their number: 45,000 comparisons here."""
    values = tuple(_Counted(f"v{k}") for k in range(300))
    _Counted.times = 0
    sort = st.relational.Sort("s", values, rigid=True)
    assert _Counted.times < 1000
    facts = tuple(fo.Atom("P", (fo.Const(f"v{k}"),)) for k in range(300))
    items = Items((Text("d"),), sorts=(sort,), relations=(st.relational.Relation("P", ("s",)),), facts=facts)
    found = resolve_items(items)
    assert _Counted.times < 6000
    st.Instance.of(found.schema, found.init.facts)
    assert _Counted.times < 7000
