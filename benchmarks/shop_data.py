"""Shops of many records in CSV files, without bounds on how many more come in.

In `orders` each order has an owner and a status, so that all orders are alike but for these. In `references`
customers, orders, items and products refer to one another. In `prices` each customer has besides a grade, and
each product a price, so that there are many kinds of records.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from random import Random

STATUS = ("open", "packed", "sent", "returned")
GRADES, PRICES = 20, 60

_ORDERS = """deployment orders
sort order, user
sort status = { open, packed, sent, returned } rigid
relation Owner(order key, user)
relation Status(order key, status)
relation Claimed(order)
bound order any
bound user any
init from "orders.csv" into Owner(order, user), Status(order, status)
event place(u: user)
  guard Owner(_, u)
  effect
    fresh o: order
    insert Owner(o, u)
    insert Status(o, open)
event claim(o: order)
  guard Status(o, sent)
  effect
    insert Claimed(o)
tool pack(o: order)
  guard Status(o, open)
  effect
    set Status(o, packed)
tool send(o: order)
  guard Status(o, packed)
  effect
    set Status(o, sent)
tool take_back(o: order)
  guard Status(o, sent) & Claimed(o)
  effect
    set Status(o, returned)
    delete Claimed(o)
tool wait()
spec claimed_is_sent AG forall o. (Claimed(o) -> Status(o, sent))
spec one_owner       AG forall o. atmost 1 u. Owner(o, u)
spec returned_stays  AG forall o. (Status(o, returned) -> AG Status(o, returned))
"""

_REFERENCES = """deployment references
sort customer, order, item, product
sort status = {{ open, packed, sent, returned }} rigid
{sorts}relation Customer(customer key)
relation Product(product)
relation Owner(order key, customer references Customer)
relation Status(order key, status)
relation PartOf(item key, order)
relation Of(item key, product)
relation Similar(product, product)
relation Refunded(item)
{relations}bound customer any
bound order any
bound item any
init from "customers.csv" into Customer(customer){grade}
init from "products.csv" into Product(product), Similar(product, similar){price}
init from "orders.csv" into Owner(order, customer), Status(order, status)
init from "items.csv" into PartOf(item, order), Of(item, product)
event place(c: customer, p: product)
  guard Customer(c) & Product(p)
  effect
    fresh o: order
    fresh i: item
    insert Owner(o, c)
    insert Status(o, open)
    insert PartOf(i, o)
    insert Of(i, p)
tool pack(o: order)
  guard Status(o, open)
  effect
    set Status(o, packed)
tool send(o: order)
  guard Status(o, packed)
  effect
    set Status(o, sent)
tool take_back(o: order)
  guard Status(o, sent)
  effect
    set Status(o, returned)
tool refund(i: item)
  guard exists o. (PartOf(i, o) & Status(o, returned))
  effect
    insert Refunded(i)
tool wait()
spec refunded_is_returned AG forall i, o. (Refunded(i) & PartOf(i, o) -> Status(o, returned))
spec one_order            AG forall i. atmost 1 o. PartOf(i, o)
spec of_the_shop          AG forall i, p. (Of(i, p) -> Product(p))
"""


def _table(path: Path, columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *rows])


def write_orders(folder: Path, facts: int) -> Path:
    """Write a shop of so many facts into a folder, and return its file."""
    random, number = Random(7), facts // 2
    rows = ((f"A-{k}", random.randrange(1, 1 + number // 3), random.choice(STATUS)) for k in range(number))
    _table(folder / "orders.csv", ("order", "user", "status"), rows)
    return _written(folder / "orders.stead", _ORDERS)


def write_references(folder: Path, facts: int, *, priced: bool = False) -> Path:
    """Write a shop of so many facts, those about grades and prices included, and return its file."""
    random = Random(7)
    customers, products, orders = facts // 20, facts // 40, facts // 5
    about = (1 + priced) * customers + (2 + priced) * products + 2 * orders
    grades = ((k, random.randrange(GRADES)) for k in range(customers))
    prices = ((k, random.randrange(products), random.randrange(PRICES)) for k in range(products))
    _table(folder / "customers.csv", ("customer", "grade"), grades)
    _table(folder / "products.csv", ("product", "similar", "price"), prices)
    owned = ((k, random.randrange(customers), random.choice(STATUS)) for k in range(orders))
    _table(folder / "orders.csv", ("order", "customer", "status"), owned)
    items = ((k, random.randrange(orders), random.randrange(products)) for k in range((facts - about) // 2))
    _table(folder / "items.csv", ("item", "order", "product"), items)
    words = dict.fromkeys(("sorts", "relations", "grade", "price"), "")
    if priced:
        words = {
            "sorts": f"sort grade = 0..{GRADES - 1}\nsort price = 0..{PRICES - 1}\n",
            "relations": "relation Grade(customer key, grade)\nrelation Price(product key, price)\n",
            "grade": ", Grade(customer, grade)",
            "price": ", Price(product, price)",
        }
    return _written(folder / "references.stead", _REFERENCES.format(**words))


def write_prices(folder: Path, facts: int) -> Path:
    """Write a shop with grades and prices, and return its file."""
    return write_references(folder, facts, priced=True)


def _written(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


SHOPS = {"orders": write_orders, "references": write_references, "prices": write_prices}
