"""Laws of data at sizes where nothing can be enumerated: what the names are, in which order facts come, what
lies beside, and a second copy of everything."""

from __future__ import annotations

import csv
import random
import re

import pytest
from returns import returns_desk

import stead_sym

_RECORD = re.compile(r"\b(?:[om]\d+_)?u\d+\b")


def figures(text, folder=None):
    deployment = stead_sym.parse_deployment(text, folder=folder)
    result = stead_sym.verify(deployment, deployment.policy("hasty"), findings=False).with_contexts()
    verdicts = {name: verdict.word for name, verdict in result.verdicts.items()}
    return verdicts, set(result.decisions), (result.states, result.transitions)


@pytest.fixture(scope="module", params=[4, 14])
def desk(request):
    text = str(returns_desk(request.param))
    return text, figures(text)


def parts(text):
    """Return what stands before the facts of `init`, these, and what stands behind them."""
    head, facts, tail = re.fullmatch(r"(.*?\ninit\n)((?:  [^\n]*\n)+)(.*)", text, re.DOTALL).groups()
    return head, facts.splitlines(keepends=True), tail


def test_names_and_the_order_of_facts_are_of_no_importance(desk):
    text, expected = desk
    head, facts, tail = parts(text)
    shuffle = random.Random(7).shuffle
    shuffle(facts)
    names = sorted(set(_RECORD.findall("".join(facts))))
    taken = [f"z{k}" for k in range(len(names))]
    shuffle(taken)
    new = dict(zip(names, taken, strict=True))
    renamed = _RECORD.sub(lambda name: new[name[0]], "".join(facts))
    assert renamed != "".join(facts)
    assert figures(head + renamed + tail) == expected


def test_what_nobody_can_reach_changes_nothing(desk):
    """Users without an order, with wallets of all kinds."""
    text, expected = desk
    head, facts, tail = parts(text)
    lonely = [
        f"  {fact}\n"
        for k in range(3)
        for fact in (f"Wallet(lonely{k}, card{k})", f"Type(card{k}, paypal)", f"Wallet(lonely{k}, card0)")
    ]
    assert figures(head + "".join([*lonely, *facts]) + tail) == expected


def test_a_second_copy_shows_nothing_new(desk):
    """One request is in hand at a time: the agent sees what it saw, and what held of all orders holds."""
    text, (verdicts, decisions, (states, _)) = desk
    head, facts, tail = parts(text)
    copy = _RECORD.sub(lambda name: f"second_{name[0]}", "".join(facts))
    found = figures(head + "".join(facts) + copy + tail)
    assert found[:2] == (verdicts, decisions)
    assert found[2][0] > states


def test_the_order_of_rows_is_of_no_importance(desk, tmp_path):
    text, expected = desk
    head, facts, tail = parts(text)
    rows = {}
    for name, args in re.findall(r"(\w+)\((.*)\)", "".join(facts)):
        rows.setdefault(name, []).append(args.split(", "))
    items = []
    for name, listed in rows.items():
        columns = [f"c{k}" for k in range(len(listed[0]))]
        random.Random(3).shuffle(listed)
        with open(tmp_path / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([columns, *listed, listed[0]])
        items.append(f'init from "{name}.csv" into {name}({", ".join(columns)})\n')
    assert figures(head.removesuffix("init\n") + "".join(items) + tail, tmp_path) == expected
