"""The report as a page: what stands in it, that nothing of it can run, and that it stays small."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from families import desks
from hostile import PAYLOADS, hostile

import stead_sym as st
from stead_sym.cli.main import main
from stead_sym.report.page import MARKER
from stead_sym.support.html import Html, joined, tag
from stead_sym.support.printable import printable_lines

VOID = frozenset({"meta", "br", "hr", "link", "img", "input"})


class Page(HTMLParser):
    """A parsed page: its elements with their attributes, the text in each kind of element, and whether all
    were closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, str] = {}
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        for name in {*self.open, "all"}:
            self.text[name] = self.text.get(name, "") + data

    def values(self, attribute: str) -> list[str]:
        return [attrs[attribute] or "" for _, attrs in self.elements if attribute in attrs]


@pytest.fixture(scope="module")
def refund() -> Page:
    return Page(st.report_html(st.verify(st.load("refund"), "baseline")))


def test_verdicts_and_findings_come_first(refund):
    headings = [attrs["id"] for name, attrs in refund.elements if name == "section" and "id" in attrs]
    assert headings[:3] == ["verdicts", "findings", "hypotheses"]
    assert "Of 2 specifications, 1 fails, 1 holds." in refund.text["header"]
    assert "obtain_approval is offered, but baseline never selects it" in refund.text["main"]


def test_everything_of_the_report_is_in_it(refund):
    text = refund.text["main"]
    for part in (
        "AG forall t: task, c: case",
        "issue_refund(task1)",
        "t = task1, c = case1, s = s1, a = a1",
        "the canonical wrapper asks it once per isomorphism class of contexts",
        "context 2 · 2 states",
        "0 + 1 + 1 = 2",
        "tool issue_refund(task_id: task)",
    ):
        assert part in text


def test_every_link_leads_to_something_in_the_page(refund):
    ids = refund.values("id")
    assert len(ids) == len(set(ids))
    links = refund.values("href")
    assert links
    assert {link.removeprefix("#") for link in links} <= set(ids)
    assert {name for ref in refund.values("aria-labelledby") for name in ref.split()} <= set(ids)


def test_the_page_allows_its_own_style_and_script_and_nothing_else(refund):
    [policy] = [a["content"] for _, a in refund.elements if a.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    digest = {
        name: f"'sha256-{b64encode(sha256(refund.text[name].encode()).digest()).decode()}'"
        for name in ("style", "script")
    }
    assert rules == {
        "default-src": "'none'",
        "style-src": digest["style"],
        "script-src": digest["script"],
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert [name for name, _ in refund.elements].count("script") == 1
    assert refund.values("style") == []  # the policy would not apply it


def test_it_refers_to_nothing_outside():
    page = st.report_html(st.verify(st.load("ward")))
    assert not re.search(r"(?:src|href|url|import)\W{1,4}(?:https?:)?//", page)


def test_no_text_becomes_markup():
    """The elements of a page with hostile texts are of the kinds that pages have, without an attribute that
    could run anything, and every text can be read in it."""
    html = st.report_html(hostile())
    html.encode("utf-8")
    page = Page(html)
    names = [name for name, _ in page.elements]
    assert (names.count("script"), names.count("style"), names.count("body")) == (1, 1, 1)
    assert not {"img", "iframe", "object", "embed", "form", "base", "link"} & set(names)
    assert not [a for _, attrs in page.elements for a in attrs if a.startswith("on")]
    assert all(link.startswith("#") for link in page.values("href"))
    for payload in PAYLOADS:
        assert printable_lines(payload) in page.text["main"]


def test_hostile_texts_in_drawings_stay_texts():
    from stead_sym.report.diagram import Arc, Diagram, Vertex, Words, diagram_dot
    from stead_sym.report.drawing import diagram_svg

    vertices = tuple(Vertex((Words(p, "head"), Words(p, "fact")), p, f"#{p}", True) for p in PAYLOADS)
    arcs = tuple(Arc(k, (k + 1) % len(PAYLOADS), (p,)) for k, p in enumerate(PAYLOADS))
    loops = tuple(Arc(k, k, (p,), "event") for k, p in enumerate(PAYLOADS))
    diagram = Diagram(PAYLOADS[3], vertices, (*arcs, *loops), PAYLOADS)
    svg = diagram_svg(diagram).svg
    page = Page(svg)
    kinds = {"svg", "title", "style", "rect", "text", "g", "a", "path"}
    assert {name for name, _ in page.elements} == kinds
    dot = diagram_dot(diagram)
    assert re.fullmatch(r'(?:[^"\\]|"(?:[^"\\]|\\.)*")*', dot)
    assert "\x00" not in svg + dot


def test_a_page_of_astronomically_many_states_is_small_and_summed_up_exactly():
    result = st.verify(desks(8), "baseline")
    page = Page(st.report_html(result))
    assert f"{8 * 3**7:,} states" in page.text["figure"]
    bank = st.verify(st.load("bank"), "fast")
    html = st.report_html(bank)
    assert "Summarised: 55 contexts are more than can be drawn" in html
    assert len(html) < 2**19


def test_what_does_not_fit_is_counted():
    from dataclasses import replace

    result = st.verify(st.load("refund"), "baseline")
    run = result.agents[""]
    many = replace(result, agents={"": replace(run, decisions=run.decisions * 200)})
    text = Page(st.report_html(many)).text["main"]
    assert "There is no drawing: there are 800 contexts, and more than 400 are not drawn" in text
    assert "500 more decisions left out" in text


def test_an_agent_that_is_never_asked_has_no_decisions():
    text = Page(st.report_html(st.verify(st.load("refund"), "any"))).text["main"]
    assert "Nobody was asked: whatever is offered may happen." in text


def test_an_endless_run_says_what_repeats_and_unknown_why():
    looping = st.verify(st.load("refund"), "any", ["prog"])
    page = Page(st.report_html(looping))
    assert page.values("data-loop") == [str(looping["prog"].trace.loop)]
    assert "repeat for ever" in page.text["main"] or "repeats for ever" in page.text["main"]
    forced = st.verify(st.load("refund"), "baseline", domain={"case": 2}, force=True)
    page = Page(st.report_html(forced))
    assert "Both specifications are unknown." in page.text["header"]
    assert "not established" in page.text["main"]
    assert "it fails on the forced domain" in page.text["main"]
    assert "shown by a run of 2 steps" in page.text["main"]


def test_a_question_has_its_formula_and_a_number():
    asked = "EF exists t. RefundIssued(t)"
    page = Page(st.report_html(st.verify(st.load("refund"), "baseline", ["auth", asked])))
    headings = page.text["h3"]
    assert "auth fails" in headings
    assert "question 2 holds" in headings
    assert asked not in headings
    assert "EF exists t: task. RefundIssued(t)" in page.text["pre"]


def test_evidence_of_several_runs_is_a_tree():
    """A run that begins in a state of another links to that state."""
    claim = "EF (CaseStatus(_, open) & (EG CaseStatus(_, open)) & EF CaseStatus(_, resolved))"
    result = st.verify(st.load("refund"), "any", [claim])
    page = Page(st.report_html(result))
    assert page.text["h4"].count("Run ") == 2
    assert "Run 2 of 2, from the state after step 1 of run 1" in page.text["h4"]
    assert "#run-1-1-1" in page.values("href")


def test_prompts_stand_once_and_are_there():
    desk = st.load("refund")
    replayed = st.verify(desk, st.agents.ReplayAgent("smollm2", st.Prompt.of(desk)), domain="theorem")
    html = st.report_html(replayed)
    prompts = {message for answer in replayed.answers for message in answer.prompt}
    page = Page(html)
    for message in prompts:
        assert page.text["main"].count(printable_lines(message.content)) >= 1
    shared = [m for m in prompts if sum(m in a.prompt for a in replayed.answers) > 1]
    assert all(page.text["main"].count(printable_lines(m.content)) == 1 for m in shared)


# the command and the function


def test_the_command_writes_the_page(tmp_path, capsys):
    out = tmp_path / "out.html"
    assert main(["verify", "refund", "--policy", "baseline", "--report", str(out), "--quiet"]) == 1
    assert out.read_text(encoding="utf-8").startswith(MARKER)
    assert capsys.readouterr().out == "auth fails\nprog holds\n"


def test_only_an_earlier_report_is_written_over(tmp_path, capsys):
    mine = tmp_path / "mine.html"
    mine.write_text("<p>my own page</p>")
    assert main(["verify", "refund", "--policy", "baseline", "--report", str(mine), "--quiet"]) == 2
    assert "is there already, and is no report" in capsys.readouterr().err
    assert mine.read_text() == "<p>my own page</p>"
    result = st.verify(st.load("refund"), "baseline")
    path = st.write_report(result, tmp_path / "report.html")
    assert st.write_report(result, path) == path
    with pytest.raises(st.InputError, match="cannot be written"):
        st.write_report(result, tmp_path / "nowhere" / "report.html")


def test_a_run_that_ends_early_leaves_no_empty_page(tmp_path):
    out = tmp_path / "out.html"
    assert main(["verify", "refund", "--spec", "nothing", "--report", str(out), "--quiet"]) == 2
    assert not out.exists()


# markup


def test_markup_is_escaped_by_construction():
    assert str(tag("p", 'a < b & "c"', 1, None, ["x", tag("br")])) == (
        "<p>a &lt; b &amp; &quot;c&quot;1x<br></p>"
    )
    assert str(tag("a", "x", href='"><script>', class_="k", data_k=None, hidden=True)) == (
        '<a href="&quot;&gt;&lt;script&gt;" class="k" hidden>x</a>'
    )
    assert str(joined(Html("<b>"), "<b>")) == "<b>&lt;b&gt;"


def test_the_script_finds_the_facts_of_a_replaced_row():
    """It adds up states from these; the text tells a row that is replaced in one line."""
    result = st.verify(st.load("returns_desk"), "generous", ["sound_only"], findings=False)
    page = st.report_html(result)
    assert (
        '<li class="changed" data-relation="Request" data-added="Request(request1, refunded)" '
        'data-removed="Request(request1, announced)"><span><code>Request(request1): announced -&gt; refunded'
    ) in page
