"""Tools of τ-bench drafted from what they do: python benchmarks/tau_bench.py CHECKOUT [TOOL ...].

CHECKOUT is one of https://github.com/sierra-research/tau-bench. Its tools are methods over a dictionary; here
that is made of the rows of a small database for each call, and written back afterwards. An answer that begins
with "Error" refuses the call. What the schemas below lack, such as texts of addresses, is one value.

The table has for each tool the lines that are drafted, and how many calls on other databases agree with them.
The drafts of a domain without a difference that make no new rows are then one file with a few rows to begin
with, and `conform` runs the tools on every database that is reached from these.
"""

from __future__ import annotations

import importlib
import sys
import time
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from random_databases import compare_calls
from rich.console import Console

import stead_sym as st
from stead_sym.conformance.binding import Binding
from stead_sym.conformance.conform import conform
from stead_sym.conformance.drafting.drafted import DraftedTool, draft_tools
from stead_sym.conformance.drafting.text import text_with
from stead_sym.conformance.found import Difference
from stead_sym.conformance.printed import print_conformance
from stead_sym.deployment.deployment import Deployment

Data = dict[str, Any]
STATUSES = {
    "pending": "pending",
    "item_modified": "pending (item modified)",
    "processed": "processed",
    "delivered": "delivered",
    "cancelled": "cancelled",
    "return_requested": "return requested",
    "exchange_requested": "exchange requested",
}
REASONS = {"no_need": "no longer needed", "mistake": "ordered by mistake", "other": "other"}

RETAIL = f"""\
deployment retail
sort user, address, method, order, item, product
sort source = {{ gift_card, paypal, credit_card }} rigid
sort money = 0..3
sort status = {{ {", ".join(STATUSES)} }} rigid
sort reason = {{ {", ".join(REASONS)} }} rigid
sort stock = {{ available, gone }} rigid
relation Users(id: user key, address: address)
relation Methods(id: method key, owner: user references Users, source: source, balance: money)
relation Orders(id: order key, owner: user references Users, status: status, address: address)
relation Payments(id: order key references Orders, method: method references Methods, amount: money)
relation OrdersReason(id: order key references Orders, reason: reason)
relation Variants(id: item key, product: product, stock: stock)
relation OrderItems(id: order references Orders, item: item references Variants)
relation Returns(id: order key references Orders, item: item, method: method)
relation Exchanges(id: order key references Orders, item: item, other: item, method: method)
"""
INVARIANT = """\
invariant paid_by_the_owner
  forall o: order, m: method, u: user.
    (Payments(o, m, _) & Orders(id = o, owner = u) -> Methods(id = m, owner = u))
"""
ROWS = """\
init
  Users(u1, a1)
  Users(u2, a2)
  Methods(m1, u1, gift_card, 1)
  Methods(m2, u1, credit_card, 0)
  Methods(m3, u2, paypal, 0)
  Variants(i1, p1, available)
  Variants(i2, p1, available)
  Variants(i3, p1, gone)
  Orders(o1, u1, pending, a1)
  Payments(o1, m1, 2)
  OrderItems(o1, i1)
  Orders(o2, u2, delivered, a2)
  Payments(o2, m3, 1)
  OrderItems(o2, i2)
"""
AIRLINE_ROWS = """\
init
  Users(u1)
  Users(u2)
  Methods(m1, u1, gift_card, 3)
  Methods(m2, u1, credit_card, 0)
  Methods(m3, u2, certificate, 1)
  Parties(q1, one)
  Parties(q2, two)
  Reservations(r1, u1, q1, 1, 0)
  Reservations(r2, u2, q2, 0, 0)
"""
AIRLINE = """\
deployment airline
sort user, method, reservation, party
sort source = { gift_card, certificate, credit_card } rigid
sort money = 0..3
sort bags = 0..2
sort size = { one, two } rigid
relation Users(id: user key)
relation Methods(id: method key, owner: user references Users, source: source, amount: money)
relation Parties(id: party key, size: size)
relation Reservations(id: reservation key, owner: user references Users, passengers: party references Parties,
  carried: bags, nonfree: bags)
relation Cancelled(id: reservation key references Reservations)
"""
ITEM = "order_id: order, item: item"
RETAIL_TOOLS = {
    "cancel_pending_order": "order_id: order, reason: reason",
    "modify_pending_order_address": "order_id: order, address: address",
    "modify_user_address": "user_id: user, address: address",
    "modify_pending_order_payment": "order_id: order, payment_method_id: method",
    "modify_pending_order_items": f"{ITEM}, new_item: item, payment_method_id: method",
    "exchange_delivered_order_items": f"{ITEM}, new_item: item, payment_method_id: method",
    "return_delivered_order_items": f"{ITEM}, payment_method_id: method",
}
AIRLINE_TOOLS = {
    "cancel_reservation": "reservation_id: reservation",
    "send_certificate": "user_id: user, amount: money",
    "update_reservation_baggages": (
        "reservation_id: reservation, carried: bags, nonfree: bags, payment_id: method"
    ),
    "update_reservation_passengers": "reservation_id: reservation, passengers: party",
}


def rows(connection: sa.Connection, table: str) -> list[Mapping[str, Any]]:
    """The rows of a table, as mappings."""
    return [dict(row._mapping) for row in connection.execute(sa.text(f"SELECT * FROM {table}"))]


def write(connection: sa.Connection, table: str, made: list[dict[str, Any]]) -> None:
    """Replace the rows of a table."""
    connection.execute(sa.text(f"DELETE FROM {table}"))
    for row in made:
        names = ", ".join(row)
        marks = ", ".join(f":{name}" for name in row)
        connection.execute(sa.text(f"INSERT INTO {table} ({names}) VALUES ({marks})"), row)


def called(data: Data, tool: type, arguments: dict[str, Any]) -> None:
    """Call a tool on the dictionary; raise `ValueError` if it answers with an error."""
    answer = tool.invoke(data, **arguments)  # type: ignore[attr-defined]
    if str(answer).startswith("Error"):
        raise ValueError(answer)


def method_id(row: Mapping[str, Any]) -> str:
    """The identifier of a method of payment, which has its source in it, as tools expect."""
    return f"{row['source']}_{row['id']}"


def own_id(text: str) -> str:
    """The identifier of a method without its source."""
    return next(
        text.removeprefix(f"{s}_")
        for s in ("gift_card", "credit_card", "certificate", "paypal")
        if text.startswith(s)
    )


def address(name: str) -> dict[str, str]:
    """An address, all of it in its first line."""
    return dict.fromkeys(("address2", "city", "state", "country", "zip"), "-") | {"address1": name}


def retail(name: str, tool: type) -> Callable[..., None]:
    """The function that runs a tool of the shop on the database."""
    spelled = {text: value for value, text in STATUSES.items()}

    def run(connection: sa.Connection, **given: str) -> None:
        users, methods, orders = (rows(connection, t) for t in ("users", "methods", "orders"))
        payments = {row["id"]: row for row in rows(connection, "payments")}
        variants = {row["id"]: row for row in rows(connection, "variants")}
        names = {row["id"]: method_id(row) for row in methods}
        data: Data = {"users": {}, "orders": {}, "products": {}}
        for row in users:
            own = {
                names[m["id"]]: {"source": m["source"], "id": names[m["id"]], "balance": int(m["balance"])}
                for m in methods
                if m["owner"] == row["id"]
            }
            data["users"][row["id"]] = {"address": address(row["address"]), "payment_methods": own}
        for key, row in variants.items():
            product = data["products"].setdefault(row["product"], {"variants": {}})
            product["variants"][key] = {"available": row["stock"] == "available", "price": 1, "options": {}}
        items: dict[str, list[str]] = {}
        for row in rows(connection, "order_items"):
            items.setdefault(row["id"], []).append(row["item"])
        for row in orders:
            paid = payments.get(row["id"])
            history = (
                [
                    {
                        "transaction_type": "payment",
                        "amount": int(paid["amount"]),
                        "payment_method_id": names[paid["method"]],
                    }
                ]
                if paid
                else []
            )
            data["orders"][row["id"]] = {
                "user_id": row["owner"],
                "status": STATUSES[row["status"]],
                "address": address(row["address"]),
                "items": [
                    {"item_id": i, "product_id": variants[i]["product"], "price": 1, "options": {}}
                    for i in sorted(items.get(row["id"], []))
                ],
                "payment_history": history,
            }
        arguments: dict[str, Any] = dict(given)
        if "payment_method_id" in arguments:
            arguments["payment_method_id"] = names.get(given["payment_method_id"], "paypal_unknown")
        if "reason" in arguments:
            arguments["reason"] = REASONS[given["reason"]]
        if "address" in arguments:
            arguments |= address(arguments.pop("address"))
        if "item" in arguments:
            arguments["item_ids"] = [arguments.pop("item")]
        if "new_item" in arguments:
            arguments["new_item_ids"] = [arguments.pop("new_item")]
        called(data, tool, arguments)
        write(
            connection,
            "users",
            [{"id": key, "address": user["address"]["address1"]} for key, user in data["users"].items()],
        )
        balances = {
            m: user["payment_methods"][m]["balance"]
            for user in data["users"].values()
            for m in user["payment_methods"]
        }
        write(connection, "methods", [{**row, "balance": str(balances[names[row["id"]]])} for row in methods])
        write(
            connection,
            "orders",
            [
                {
                    "id": key,
                    "owner": o["user_id"],
                    "status": spelled[o["status"]],
                    "address": o["address"]["address1"],
                }
                for key, o in data["orders"].items()
            ],
        )
        write(
            connection,
            "order_items",
            [{"id": key, "item": one["item_id"]} for key, o in data["orders"].items() for one in o["items"]],
        )
        for key, o in data["orders"].items():
            extra: list[tuple[str, dict[str, Any]]] = []
            if "cancel_reason" in o:
                value = next(v for v, text in REASONS.items() if text == o["cancel_reason"])
                extra.append(("orders_reason", {"reason": value}))
            if "return_items" in o:
                back = own_id(o["return_payment_method_id"])
                extra.append(("returns", {"item": o["return_items"][0], "method": back}))
            if "exchange_items" in o:
                cells = {"item": o["exchange_items"][0], "other": o["exchange_new_items"][0]}
                extra.append(("exchanges", {**cells, "method": own_id(o["exchange_payment_method_id"])}))
            for table, cells in extra:
                connection.execute(sa.text(f"DELETE FROM {table} WHERE id = :id"), {"id": key})
                named = ", ".join(f":{name}" for name in ("id", *cells))
                connection.execute(
                    sa.text(f"INSERT INTO {table} ({', '.join(('id', *cells))}) VALUES ({named})"),
                    {"id": key, **cells},
                )

    return with_parameters(name, RETAIL_TOOLS[name], run)


def airline(name: str, tool: type) -> Callable[..., None]:
    """The function that runs a tool of the airline on the database."""
    sizes = {"one": 1, "two": 2}

    def run(connection: sa.Connection, **given: str) -> None:
        users, methods = rows(connection, "users"), rows(connection, "methods")
        parties = {row["id"]: row for row in rows(connection, "parties")}
        gone = {row["id"] for row in rows(connection, "cancelled")}
        names = {row["id"]: method_id(row) for row in methods}
        data: Data = {"users": {}, "reservations": {}}
        for row in users:
            own = {
                names[m["id"]]: {"source": m["source"], "id": names[m["id"]], "amount": int(m["amount"])}
                for m in methods
                if m["owner"] == row["id"]
            }
            data["users"][row["id"]] = {"payment_methods": own}

        def people(party: str) -> list[dict[str, str]]:
            return [{"party": party}] * sizes[parties[party]["size"]]

        reservations = rows(connection, "reservations")
        for row in reservations:
            made: Data = {
                "user_id": row["owner"],
                "passengers": people(row["passengers"]),
                "payment_history": [],
            }
            made |= {"total_baggages": int(row["carried"]), "nonfree_baggages": int(row["nonfree"])}
            if row["id"] in gone:
                made["status"] = "cancelled"
            data["reservations"][row["id"]] = made
        arguments: dict[str, Any] = dict(given)
        if "payment_id" in arguments:
            arguments["payment_id"] = names.get(given["payment_id"], "credit_card_unknown")
        if "passengers" in arguments:
            party = arguments["passengers"]
            arguments["passengers"] = people(party) if party in parties else [{"party": party}]
        for short, long in (("carried", "total_baggages"), ("nonfree", "nonfree_baggages")):
            if short in arguments:
                arguments[long] = int(arguments.pop(short))
        if "amount" in arguments:
            arguments["amount"] = int(arguments["amount"])
        called(data, tool, arguments)
        found = [
            {
                "id": own_id(key) if key in names.values() else f"m_{user}_{key}",
                "owner": user,
                "source": m["source"],
                "amount": str(m.get("amount", 0)),
            }
            for user, one in data["users"].items()
            for key, m in one["payment_methods"].items()
        ]
        write(connection, "methods", found)
        write(
            connection,
            "reservations",
            [
                {
                    "id": key,
                    "owner": r["user_id"],
                    "passengers": r["passengers"][0]["party"],
                    "carried": str(r["total_baggages"]),
                    "nonfree": str(r["nonfree_baggages"]),
                }
                for key, r in data["reservations"].items()
            ],
        )
        write(
            connection,
            "cancelled",
            [{"id": key} for key, r in data["reservations"].items() if r.get("status") == "cancelled"],
        )

    return with_parameters(name, AIRLINE_TOOLS[name], run)


def with_parameters(name: str, params: str, run: Callable[..., None]) -> Callable[..., None]:
    """The function with the parameters by name, as a binding expects."""
    listed = ", ".join(part.split(":")[0].strip() for part in params.split(","))
    given = ", ".join(f"{one}={one}" for one in listed.split(", "))
    space: dict[str, Any] = {"run": run}
    exec(f"def {name}(connection, {listed}):\n    run(connection, {given})", space)
    return space[name]  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Domain:
    """One of the two domains: its schema, its tools, and how they are run."""

    name: str
    schema: str
    invariant: str
    rows: str
    tools: Mapping[str, str]
    adapter: Callable[[str, type], Callable[..., None]]


DOMAINS = (
    Domain("retail", RETAIL, INVARIANT, ROWS, RETAIL_TOOLS, retail),
    Domain("airline", AIRLINE, "", AIRLINE_ROWS, AIRLINE_TOOLS, airline),
)


def tool_class(checkout: Path, domain: str, name: str) -> type:
    """The class of a tool, from its file alone: what the packages around it import is not needed."""
    for package in (
        "tau_bench",
        "tau_bench.envs",
        f"tau_bench.envs.{domain}",
        f"tau_bench.envs.{domain}.tools",
    ):
        module = sys.modules.setdefault(package, types.ModuleType(package))
        module.__path__ = [str(checkout.joinpath(*package.split(".")))]
    module = importlib.import_module(f"tau_bench.envs.{domain}.tools.{name}")
    return getattr(module, "".join(part.capitalize() for part in name.split("_")))  # type: ignore[no-any-return]


def tables(deployment: Deployment) -> str:
    """The SQL of the tables, whose columns are texts."""
    made = []
    for relation in deployment.schema.relations:
        columns = ", ".join(f"{name} TEXT NOT NULL" for name in relation.columns)
        key = ", ".join(relation.columns[k] for k in relation.keys)
        table = "".join(f"_{c.lower()}" if c.isupper() else c for c in relation.name).strip("_")
        made.append(f"CREATE TABLE {table} ({columns}{f', PRIMARY KEY ({key})' if key else ''});\n")
    return "".join(made)


def compared(text: str, binding: Binding, number: int) -> tuple[int, int, list[Difference]]:
    """Return how many calls a draft offers of how many on random databases, and the differences."""
    offered, calls, differences = 0, 0, list[Difference]()
    for is_offered, found in compare_calls(st.parse_deployment(text), binding, seed=1234, number=number):
        calls += 1
        offered += is_offered
        if found is None or found.kind == "value not listed":
            continue
        if not any(argument.endswith("_unknown") for argument in found.call.args):
            differences.append(found)
    return offered, calls, differences


def conformed(domain: Domain, drafts: Mapping[str, str], binding: Binding) -> None:
    """Print what `conform` finds for all drafts of a domain on the databases that are reached."""
    tools = "".join(drafts.values())
    deployment = st.parse_deployment(f"{domain.schema}{domain.rows}{tools}terminal\n{domain.invariant}")
    begun = time.monotonic()
    found = conform(deployment, binding, max_states=3_000, walks=50)
    print(f"\n## {domain.name}: {len(drafts)} tools as one file ({time.monotonic() - begun:.0f} s)")
    print_conformance(deployment, found, Console(width=140))


def report(domain: Domain, name: str, made: DraftedTool, text: str, binding: Binding, seconds: float) -> bool:
    """Print the draft of a tool and the row of the table; return if there is a draft and nothing differs."""
    print(f"\n## {domain.name}: {name} ({made.runs:,} runs, {made.changed:,} changed, {seconds:.0f} s)")
    print(text[text.index(f"tool {name}(") :].rpartition("terminal")[0].rstrip())
    offered, calls, differences = compared(text, binding, 400) if made.is_drafted else (0, 0, [])
    lines = len(made.guard) + sum(line.support is not None for line in made.effect)
    print(f"| {name} | {lines} | {offered:,} of {calls:,} | {len(differences)} | {made.why or ''} |")
    for difference in differences[:1]:
        print(f"  {difference.kind}: {difference.call} in {difference.before}; {difference.found}")
    return made.is_drafted and not differences


def main(checkout: Path, names: list[str], max_runs: int = 3_000) -> None:
    """Draft the tools, each alone, compare each on other databases, and all on those that are reached."""
    for domain in DOMAINS:
        drafts, runs = dict[str, str](), dict[str, Callable[..., None]]()
        for name, params in domain.tools.items():
            if names and name not in names:
                continue
            begun = time.monotonic()
            deployment = st.parse_deployment(
                f"{domain.schema}tool {name}({params})\n  effect\nterminal\n{domain.invariant}"
            )
            run = domain.adapter(name, tool_class(checkout, domain.name, name))
            binding = Binding("sqlite://", {name: run}, scratch=True, schema=tables(deployment))
            drafted = draft_tools(deployment, binding, max_runs=max_runs)
            [made] = drafted.tools
            text = text_with(deployment, drafted)
            agrees = report(domain, name, made, text, binding, time.monotonic() - begun)
            if agrees and "fresh " not in text:  # a tool that only adds reaches any number of rows
                drafts[name] = text[text.index(f"tool {name}(") :].rpartition("terminal")[0]
                runs[name] = run
        if drafts:
            deployment = st.parse_deployment(f"{domain.schema}{domain.rows}")
            conformed(domain, drafts, Binding("sqlite://", runs, scratch=True, schema=tables(deployment)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
