"""Drafts: they parse and verify whatever the schema and the tools are, and say what a schema says."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from engine_pairs import examples
from stead_sym.deployment.language import parse_deployment
from stead_sym.imports.draft import draft
from stead_sym.imports.tables import ForeignKey, Table, TableColumn, Tables
from stead_sym.imports.tools import Parameter, ToolSchema
from stead_sym.verification.verify import verify

_CUSTOMERS = Table(
    "customers",
    (
        TableColumn("id", "number", False),
        TableColumn("name", "text"),
        TableColumn("active", "boolean", False),
    ),
    ("id",),
)
_ORDERS = Table(
    "orders",
    (
        TableColumn("id", "text", False),
        TableColumn("customer_id", "number", False),
        TableColumn("status", "text", False, ("pending", "on hold")),
        TableColumn("priority", "number", False, low=1, high=3),
        TableColumn("approver_id", "number"),
        TableColumn("total", "number"),
    ),
    ("id",),
    (ForeignKey(("customer_id",), "customers"), ForeignKey(("approver_id",), "customers", ("id",))),
)
_LINES = Table(
    "order_lines",
    (TableColumn("order_id", "text", False), TableColumn("line", "number", False)),
    ("order_id", "line"),
    (ForeignKey(("order_id",), "orders", ("id",)),),
)
_RETURNS = Table(
    "returns",
    (
        TableColumn("order_id", "text", False),
        TableColumn("line", "number", False),
        TableColumn("n", "number", False),
    ),
    ("n",),
    (ForeignKey(("order_id", "line"), "order_lines", ("order_id", "line")),),
)


def declared(text):
    """The relations that a draft declares, by name."""
    return {line.split("(")[0].split()[1]: line for line in text.splitlines() if line.startswith("relation ")}


def test_keys_references_lists_of_values_and_null():
    text = draft("shop", Tables((_CUSTOMERS, _ORDERS, _LINES)), ()).text
    assert declared(text) == {
        "Customers": "relation Customers(id: customer key, active: flag)",
        "Orders": "relation Orders(id: order key, customer_id: customer references Customers, status: status,"
        " priority: priority)",
        "OrdersApproverId": "relation OrdersApproverId(id: order key references Orders,"
        " approver_id: customer references Customers)",
        "OrderLines": "relation OrderLines(order_id: order key references Orders, line: line key)",
    }
    assert "sort status = { pending, status_on_20_hold } rigid" in text
    assert "sort priority = 1..3" in text
    assert "# customers, left out: name (texts)" in text


def test_a_foreign_key_of_several_columns_is_a_condition_on_the_databases():
    text = draft("shop", Tables((_ORDERS, _LINES, _RETURNS)), ()).text
    condition = "Returns(order_id = v0, line = v1) -> OrderLines(order_id = v0, line = v1)"
    assert condition in text
    result = verify(parse_deployment(text), "any", [])
    kept = f"spec kept AG forall v0: order, v1: line. ({condition})"
    deployment = parse_deployment(f"{text}\n{kept}")
    assert result.explored
    assert verify(deployment, "any", ["kept"])["kept"].holds


def test_a_small_table_of_texts_is_a_list_of_values():
    states = Table(
        "states", (TableColumn("code", "text", False),), ("code",), rows=({"code": "new"}, {"code": "old"})
    )
    things = Table(
        "things",
        (TableColumn("id", "number", False), TableColumn("state", "text", False)),
        ("id",),
        (ForeignKey(("state",), "states"),),
    )
    text = draft("d", Tables((states, things)), ()).text
    assert declared(text) == {"Things": "relation Things(id: thing key, state: state)"}
    assert "sort state = { new, old } rigid" in text


def test_parameters_take_the_sorts_of_the_columns_that_they_name():
    tools = [
        ToolSchema(
            "approve",
            "Approve an order.",
            (
                Parameter("order_id", "text"),
                Parameter("newCustomerId", "integer"),
                Parameter("status", "text", values=("on hold",)),
                Parameter("line", "list"),
                Parameter("note", "text"),
                Parameter("amount", "number"),
                Parameter("urgent", "boolean"),
                Parameter("level", "integer", low=0, high=2),
            ),
            reads=False,
        ),
        ToolSchema("get_order", "Look at an order.", (), reads=True),
    ]
    made = draft("shop", Tables((_CUSTOMERS, _ORDERS, _LINES)), tools)
    head = next(line for line in made.text.splitlines() if line.startswith("tool "))
    assert head == (
        "tool approve(order_id: order, newCustomerId: customer, status: status, line: line, urgent: flag,"
        ' level: level) "Approve an order."'
    )
    assert "# one call for each element of line" in made.text
    assert "# Not here, since they only read: get_order" in made.text
    assert any("note" in line for line in made.left_out)
    assert any("amount" in line for line in made.left_out)


def test_tables_that_no_tool_speaks_of_are_left_out_unless_asked_for():
    tool = ToolSchema("cancel", "Cancel it.", (Parameter("order_id", "text"),), reads=False)
    tables = Tables((_CUSTOMERS, _ORDERS, _LINES))
    assert set(declared(draft("d", tables, [tool]).text)) == {"Orders", "OrdersApproverId"}
    assert "Customers" in declared(draft("d", tables, [tool], keep=["CUSTOMERS"]).text)


_NAMES = st.one_of(
    st.sampled_from(
        [
            "id",
            "key",
            "total",
            "not",
            "AG",
            "status",
            "2nd",
            "Order Items",
            "état",
            "in",
            "a-b",
            "true",
            "sort",
        ]
    ),
    st.text(min_size=1, max_size=6),
)
_VALUES = st.lists(
    st.one_of(_NAMES, st.sampled_from(["1", "2", "", "pending"])), max_size=3, unique=True
).map(tuple)


@st.composite
def schemas(draw):
    """Any schema: odd names, keys and references of several columns, to tables that are not there too."""
    tables = []
    names = draw(st.lists(_NAMES, min_size=1, max_size=3, unique_by=str.lower))
    for name in names:
        columns = draw(st.lists(_NAMES, min_size=1, max_size=3, unique_by=str.lower))
        made = tuple(
            TableColumn(
                column,
                draw(st.sampled_from(["text", "number", "boolean", "time", "other"])),
                draw(st.booleans()),
                draw(_VALUES),
                *draw(st.sampled_from([(None, None), (1, 3), (0, 999), (None, 3)])),
            )
            for column in columns
        )
        key = tuple(columns[: draw(st.integers(0, 2))])
        foreign = tuple(
            ForeignKey(tuple([*columns, "nowhere"][:n]), draw(st.sampled_from([*names, "elsewhere"])))
            for n in draw(st.lists(st.integers(1, len(columns) + 1), max_size=2))
        )
        rows = tuple({column: draw(_NAMES) for column in columns} for _ in range(draw(st.integers(0, 2))))
        tables.append(Table(name, made, key, foreign, rows=rows))
    return Tables(tuple(tables))


@st.composite
def agent_tools(draw, tables):
    """Any tools, whose parameters mostly name columns."""
    columns = sorted({column.name for table in tables.tables for column in table.columns})
    names = draw(st.lists(_NAMES, max_size=2, unique_by=lambda name: re.sub("[^A-Za-z0-9]", "_", name)))
    return [
        ToolSchema(
            name,
            draw(_NAMES),
            tuple(
                Parameter(
                    p,
                    draw(st.sampled_from(["text", "integer", "boolean", "list", "unknown"])),
                    values=draw(_VALUES),
                )
                for p in draw(st.lists(st.one_of(st.sampled_from(columns), _NAMES), max_size=2, unique=True))
            ),
            reads=False,
        )
        for name in names
    ]


@settings(max_examples=examples(200))
@given(st.data(), schemas())
def test_every_draft_verifies(data, tables):
    tools = data.draw(agent_tools(tables))
    made = draft("drafted", tables, tools)
    verify(parse_deployment(made.text), "any", [], findings=False)
