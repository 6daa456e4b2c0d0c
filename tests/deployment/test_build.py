"""Deployments built in Python are those that the file gives, and are checked by the same code."""

from __future__ import annotations

import pytest

import stead_sym.logic.syntax as fo
from stead_sym.deployment.build import build_deployment, rigid, tool
from stead_sym.deployment.deployment import print_deployment
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.parts import Rule
from stead_sym.deployment.tool import Clear, Effect
from stead_sym.errors import DeclarationError, ParseError
from stead_sym.logic.compose import AF, AG, atom, exists, forall
from stead_sym.relational.instance import Fact

FILE = """
deployment tickets
sort ticket
sort state = { open, closed } rigid
sort desk = { d1, d2 }
relation State(ticket, state)
relation At(ticket, desk)
relation Paused()
init State(t0, open) At(t0, d1) Paused()
bound ticket 1
define live(t: ticket) = State(t, open)
tool close(t: ticket) "Close a \\"live\\" ticket."
  guard live(t)
  effect delete State(t, open) insert State(t, closed)
  effect when Paused clear Paused
tool wait()
view State(t, s)
view At(t, d) where live(t)
policy eager call close(t) when ~Paused call wait()
fair ~Paused
spec ends AG forall t. State(t, open) -> AF State(t, closed)
system "You work."
instructions "Choose."
"""

PARTS = {
    "sorts": {"ticket": None, "state": rigid("open", "closed"), "desk": ("d1", "d2")},
    "relations": {"State": ("ticket", "state"), "At": "ticket, desk", "Paused": ()},
    "init": ["State(t0, open)", Fact("At", ("t0", "d1")), "Paused()"],
    "bounds": {"ticket": 1},
    "define": {"live(t: ticket)": "State(t, open)"},
    "tools": [
        tool(
            "close",
            "t: ticket",
            'Close a "live" ticket.',
            guard="live(t)",
            effect=["delete State(t, open) insert State(t, closed)", "when Paused clear Paused"],
        ),
        tool("wait"),
    ],
    "views": {"State(t, s)": "true", "At(t, d)": "live(t)"},
    "policies": {"eager": ["call close(t) when ~Paused", "call wait()"]},
    "fair": ["~Paused"],
    "specs": {"ends": "AG forall t. State(t, open) -> AF State(t, closed)"},
    "system": "You work.",
    "instructions": "Choose.",
}


def test_the_two_doors_lead_to_the_same():
    built = build_deployment("tickets", **PARTS)
    assert built == parse_deployment(FILE)
    assert parse_deployment(print_deployment(built)) == built


def test_objects_may_stand_for_texts():
    ends = AG(forall("t", atom("State", "t", "open") >> AF(atom("State", "t", "closed"))))
    close = tool(
        "close",
        "t: ticket",
        'Close a "live" ticket.',
        guard=atom("live", "t"),
        effect=[
            "delete State(t, open) insert State(t, closed)",
            Effect((Clear(("Paused",)),), when=atom("Paused")),
        ],
    )
    parts = PARTS | {
        "tools": [close, PARTS["tools"][1]],
        "define": {"live(t: ticket)": atom("State", "t", "open")},
        "views": {"State(t, s)": "true", "At(t, d)": atom("live", "t")},
        "policies": {"eager": [Rule("close", (fo.Const("t"),), ~atom("Paused")), "call wait()"]},
        "fair": [~atom("Paused")],
        "specs": {"ends": ends},
    }
    assert build_deployment("tickets", **parts) == parse_deployment(FILE)


def test_the_least():
    d = build_deployment("empty", sorts={}, relations={"N": ()}, init=["N()"])
    assert (d.tools, d.specs, d.system) == ((), (), None)
    assert parse_deployment(print_deployment(d)) == d


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"specs": {"s": "AG P("}}, "spec s:1:6: unexpected end; expected a name, a number or `)`"),
        ({"specs": {"s": "forall x. State(x, opened)"}}, "spec s:1:20: unknown name opened: "),
        ({"specs": {"s": exists("t", atom("Stat", "t"))}}, "unknown relation Stat; did you mean State?"),
        ({"specs": {"a b": "true"}}, "'a b' is no name for a spec; use letters, digits and _"),
        ({"sorts": {"ticket": None, "state": rigid("not open")}}, "'not open' is no name for a value"),
        ({"bounds": {"ticket": -1}}, "the bound of ticket is -1; write 0 or more"),
        ({"bounds": {"desk": 1}}, "sort desk is finite"),
        ({"init": ["State(t0, ajar)"]}, "init:1:11: ajar is no value of sort state"),
        ({"policies": {"p": ["call shut(t)"]}}, "policy p:1:6: unknown tool shut; "),
        ({"policies": {"p": []}}, "policy p has no rule"),
        ({"system": 'a """ b'}, 'the `system` text holds """, which ends a text; leave it out'),
        ({"views": {"State(t)": "true"}}, "the view of State names 1 columns of 2"),
        ({"tools": [tool("t", effect="insert Nothing()")]}, "effect of t:1:8: unknown relation Nothing"),
    ],
)
def test_refused(change, message):
    with pytest.raises((ParseError, DeclarationError)) as error:
        build_deployment("tickets", **(PARTS | change))
    assert str(error.value).startswith(message)
