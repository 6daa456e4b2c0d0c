"""The incidents of the documentation against the same files without the constructs that they are about.

Who could not say `calls batch`, `once did` or `gate` wrote facts of the state. The verdicts have to be the
same, and the table of the page has the lines that were saved.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import stead_sym as st

PAGE = (Path(__file__).parents[2] / "docs" / "incidents.md").read_text(encoding="utf-8")
BY_HAND = Path(__file__).parent / "by_hand"
ASKED = {
    "fan_out": [("counting", ()), ("any", ())],
    "approvals": [("any", ())],
    "handoffs": [("polite", ()), ("any", ()), ("polite", "there_and_not_back")],
    "rules_allows": [("any", "allows")],
    "rules_forbids": [("any", "forbids")],
    "assistant": [("helpful", ()), ("any", ()), ("any", "one_repository"), ("helpful", "one_repository")],
    "stale": [("any", ()), ("any", "read_first"), ("any", "read_again")],
}


def of_page(name: str) -> str:
    """The deployment of this name, with what the page adds to it.

    The gate of `fan_out` is asked again when a call is carried out, so that by hand it is another file.
    """
    blocks = re.findall(r"^```stead( more)?\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    found = ""
    for more, text in blocks:
        if more and found.startswith(f"deployment {name}\n"):
            found += text * (name != "fan_out")
        elif text.startswith(f"deployment {name}\n"):
            found = text
        elif not more and found:
            break
    return found


@pytest.mark.parametrize("name", ASKED)
def test_an_incident_by_hand_has_the_same_verdicts(name: str) -> None:
    page, _, rule = name.partition("_") if name.startswith("rules") else (name, "", "")
    said, by_hand = st.parse_deployment(of_page(page)), st.load(BY_HAND / f"{name}.stead")
    for agent, gates in ASKED[name]:
        first = st.verify(said, agent, gates=gates, findings=False)
        second = st.verify(by_hand, agent, gates=() if rule else gates, findings=False)
        assert first.verdicts.keys() == second.verdicts.keys()
        for spec, verdict in first.verdicts.items():
            assert second[spec].holds == verdict.holds, (agent, gates, spec)


def test_the_table_counts_the_lines() -> None:
    def lines(text: str) -> int:
        return sum(bool(line.strip()) for line in text.splitlines())

    rows = re.findall(r"^\| `(\w+)` \|[^|]*\| (\d+) \| (\d+) \|", PAGE, re.MULTILINE)
    counted = [
        (name, lines(of_page(name)), sum(lines(f.read_text()) for f in BY_HAND.glob(f"{name}*.stead")))
        for name in dict.fromkeys(name.split("_allows")[0].split("_forbids")[0] for name in ASKED)
    ]
    assert [(name, int(said), int(by_hand)) for name, said, by_hand in rows] == counted
