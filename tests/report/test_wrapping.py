"""No identifier is broken where a line has room for it, in text and in tables."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich import text as rich_text
from rich.cells import cell_len
from rich.console import Console

import stead_sym
from stead_sym.report.terminal import print_verification
from stead_sym.support.wrapping import Table, Text

IDENTIFIER = re.compile(r"\w+")


def printed(thing, width):
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, markup=False, color_system=None).print(thing)
    return out.getvalue()


@given(st.text("ab_1 +,(~日-", max_size=60), st.integers(8, 30))
def test_text_keeps_what_it_says_in_lines_that_fit(words, width):
    lines = [line.plain for line in Text(words).wrap(Console(), width)]
    assert "".join(lines).replace(" ", "") == words.replace(" ", "")
    assert all(cell_len(line) <= width for line in lines)
    if all(cell_len(piece) + 4 <= width for piece in IDENTIFIER.findall(words)) and not re.search(
        r"[^\w ]{3}", words
    ):
        assert IDENTIFIER.findall("\n".join(lines)) == IDENTIFIER.findall(words)
    if all(cell_len(word) <= width for word in words.split()) and words[:1] not in (" ", "+", "-"):
        usual = rich_text.Text(words).wrap(Console(), width)
        assert lines == [line.plain.rstrip() for line in usual]


@given(st.lists(st.lists(st.integers(1, 30), min_size=3, max_size=3), min_size=1, max_size=4))
def test_a_table_breaks_no_identifier_that_it_has_room_for(lengths):
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in "abc":
        table.add_column(name)
    for row in lengths:
        table.add_row(*(f"{'x' * length}, {'y' * length} {'z' * length}" for length in row))
    room = sum(max(column) + 1 for column in zip(*lengths, strict=True)) + 2 * 2
    for width in (room, room + 9):
        shown = printed(table, width)
        assert sorted(re.findall("[xyz]+", shown)) == sorted(
            letter * length for row in lengths for length in row for letter in "xyz"
        )
        assert all(len(line) <= width for line in shown.splitlines())


LONG = """\
deployment long_names
sort reservation_of_a_seat
sort state_of_it = { requested_by_phone, confirmed_by_letter } rigid
relation ReservationOfACustomer(reservation_of_a_seat key, state_of_it)
bound reservation_of_a_seat 1
event somebody_reserves_a_seat()
  guard ~ReservationOfACustomer(_, _)
  effect
    fresh r: reservation_of_a_seat
    insert ReservationOfACustomer(r, requested_by_phone)
tool confirm_reservation_of_seat(r: reservation_of_a_seat)
  guard ReservationOfACustomer(r, requested_by_phone)
  effect
    set ReservationOfACustomer(r, confirmed_by_letter)
tool wait_for_the_next_call()
spec a_reservation_is_never_confirmed AG ~ReservationOfACustomer(_, confirmed_by_letter)
"""


@pytest.mark.parametrize("text", [LONG, "bank", "returns_desk", "pull_requests"])
def test_a_report_of_80_columns_has_the_identifiers_of_a_wide_one(text):
    deployment = stead_sym.parse_deployment(text) if "\n" in text else stead_sym.load(text)
    result = stead_sym.verify(deployment, "any")
    reports = []
    for width in (2000, 80, 72):
        out = io.StringIO()
        console = Console(file=out, width=width, highlight=False, markup=False, color_system=None)
        print_verification(result, console, hypotheses=True)
        reports.append(set(IDENTIFIER.findall(out.getvalue())))
    wide, *narrow = reports
    assert [found - wide for found in narrow] == [set(), set()]
