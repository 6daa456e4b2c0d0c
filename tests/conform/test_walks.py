"""Walks through a system: they find what single calls on loaded states do not see, and are made short."""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import pytest
from test_refund_app import FILE

import stead_sym as st
from refund_app.binding import binding as refunds
from stead_sym.conformance.binding import Binding
from stead_sym.conformance.conform import conform
from stead_sym.conformance.kept import assert_agrees
from stead_sym.conformance.kept import tests_of as module_of

TEXT = """\
deployment lamps
sort lamp
sort light = { off, on } rigid
relation Lamps(id: lamp key, light: light)
initially any Lamps
bound lamp 2
tool press(i: lamp)
  guard Lamps(i, off)
  effect
    set Lamps(i).light = on
tool release(i: lamp)
  guard Lamps(i, on)
  effect
    set Lamps(i).light = off
terminal
"""
SCHEMA = (
    "CREATE TABLE lamps (id INTEGER PRIMARY KEY, light TEXT NOT NULL CHECK (light IN ('off', 'on')),"
    " pressed INTEGER NOT NULL DEFAULT 0)"
)
PRESS = "UPDATE lamps SET light = 'on', pressed = pressed + 1 WHERE id = :i AND light = 'off'"
RELEASE = "UPDATE lamps SET light = 'off' WHERE id = :i AND light = 'on'"


def lamps(press=PRESS, release=RELEASE):
    return Binding("sqlite://", {"press": press, "release": release}, scratch=True, schema=SCHEMA)


WORN = f"{PRESS} AND pressed < 2"
"""A lamp that can be pressed twice only, by a column that no relation has."""


def test_a_system_that_agrees_on_each_state_agrees_on_walks():
    found = conform(st.parse_deployment(TEXT), lamps(), walks=30)
    assert found.agrees
    assert found.walks == 30
    assert found.walked > 20 * 12  # some begin where there is no lamp
    assert conform(st.parse_deployment(TEXT), lamps()).walks is None


def test_a_walk_finds_what_is_kept_outside_of_the_relations_and_is_the_shortest():
    deployment = st.parse_deployment(TEXT)
    assert conform(deployment, lamps(WORN)).agrees
    found = conform(deployment, lamps(WORN), walks=40)
    assert not found.agrees
    [difference] = found.differences
    walk = difference.walk
    assert len(walk.start) == 1  # one lamp is enough
    [(_, (lamp, light))] = walk.start.facts
    presses = ["press", "release", "press", "release", "press"]
    assert [call.tool for call in walk.calls] == (presses if light == "off" else ["release", *presses])
    assert {call.args for call in walk.calls} == {(lamp,)}
    assert (difference.kind, difference.call.tool) == ("other result", "press")
    assert difference.found == difference.before


def test_what_a_tool_keeps_in_its_process_is_found_too():
    pressed = set()

    def press(connection, i):
        if connection.exec_driver_sql("SELECT light FROM lamps WHERE id = ?", (i,)).scalar() != "off":
            raise ValueError("it is on, or not there")
        connection.exec_driver_sql("UPDATE lamps SET light = 'on' WHERE id = ?", (i,))
        pressed.add(i)

    def release(connection, i):
        connection.exec_driver_sql(RELEASE.replace(":i", "?"), (i,))
        if i in pressed:
            pressed.discard(i)
            if len(pressed) == 1:  # both were pressed
                connection.exec_driver_sql("UPDATE lamps SET light = 'off'")

    [difference] = conform(st.parse_deployment(TEXT), lamps(press, release), walks=60).differences
    assert difference.call.tool == "release"


def test_the_refund_desk_agrees_on_walks_with_new_identifiers():
    found = conform(st.load(FILE), refunds, walks=40)
    assert found.differences == ()
    assert found.walked > 60


def test_a_walk_keeps_within_the_bounds():
    deployment = st.load(FILE)
    found = conform(deployment.within({"refund": 1, "order": 1, "staff": 1}), refunds, walks=20)
    assert found.agrees


def test_a_walk_is_kept_as_a_test(tmp_path, monkeypatch):
    (tmp_path / "lamps.stead").write_text(TEXT, encoding="utf-8")
    (tmp_path / "worn.py").write_text(
        f"from stead_sym.conformance.binding import Binding\nbinding = {lamps(WORN)!r}\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    found = conform(st.parse_deployment(TEXT), lamps(WORN), walks=40)
    text = module_of(found, repr(str(tmp_path / "lamps.stead")), "worn")
    (tmp_path / "test_worn.py").write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("test_worn", tmp_path / "test_worn.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    [test] = [one for name, one in vars(module).items() if name.startswith("test_")]
    with pytest.raises(AssertionError, match="press"):
        test()
    [difference] = found.differences
    assert_agrees(
        tmp_path / "lamps.stead",
        replace(lamps(), database="sqlite://"),
        before=[str(fact) for fact in difference.walk.start],
        call=str(difference.call),
        after=[str(call) for call in difference.walk.calls[:-1]],
    )
