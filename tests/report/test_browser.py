"""The report in a browser: it opens without a network or an error, runs can be stepped through by keyboard,
the drawing zooms, hostile texts do nothing, and a checker of accessibility finds nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import AXE, chromium
from families import desks
from hostile import hostile

import stead_sym as st

pytestmark = pytest.mark.gate

WARD = {"bed_agent": "careful", "discharge_agent": "careful"}
LONG = """deployment long
sort n = 0..420
relation At(n)
init At(0)
tool step() guard ~At(420)
  effect
    choose x: n where At(x)
    choose y: n where succ(x, y)
    delete At(x)
    insert At(y)
tool stay() guard At(420)
spec far EF At(420)
"""
"""A run of more steps than a page shows."""
MANY = f"""deployment many
sort s
relation Held(s)
init {" ".join(f"Held(a{k})" for k in range(519))} Held(zz)
tool drop() effect delete Held(zz)
spec gone EF ~Held(zz)
"""
"""A first state with more facts than a page shows."""
SIZES = {"wide": (1280, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def reports(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    results = {
        "refund": st.verify(st.load("refund"), "baseline"),
        "loop": st.verify(st.load("refund"), "any"),
        "unknown": st.verify(st.load("refund"), "baseline", domain={"case": 2}, force=True),
        "ward": st.verify(st.load("ward"), WARD),
        "endless": st.verify(st.load("refund"), "baseline", ["AF false"]),
        "hostile": hostile(),
        "long": st.verify(st.parse_deployment(LONG), "any", findings=False),
        "many": st.verify(st.parse_deployment(MANY), "any", engine="explicit", findings=False),
    }
    return {name: st.write_report(r, folder / f"{name}.html") for name, r in results.items()}


@pytest.fixture
def opened(browser, reports):
    """Opens a report; in the end, nothing was asked of a network, and nothing was said on the console."""
    said: list[str] = []
    contexts = []

    def open_page(name, size="wide", fragment="", **settings):
        width, height = SIZES[size]
        context = browser.new_context(viewport={"width": width, "height": height}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda r: r.url.startswith("file:") or said.append(r.url))
        page.goto(reports[name].as_uri() + fragment)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["refund", "loop", "unknown", "ward", "hostile"])
def test_it_opens_and_fits(opened, name, size):
    page = opened(name, size)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("h1").is_visible()


def test_hostile_texts_do_nothing(opened):
    page = opened("hostile")
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true })")
    page.locator(".timeline .head").first.focus()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    assert "owned" in page.title()  # as part of a text that the title quotes
    assert page.title().startswith("refund under </script><script>")
    assert page.evaluate("document.querySelectorAll('script').length") == 1
    assert page.locator("main").is_visible()


def test_steps_that_a_page_has_no_room_for_are_counted(opened):
    page = opened("long")
    where = page.locator(".where").first
    assert where.inner_text() == "start, 420 steps"
    page.locator(".timeline .head").first.focus()
    page.keyboard.press("End")
    assert where.inner_text() == "step 400 of 420"
    assert "1 fact" in page.locator(".panel p.quiet").all_inner_texts()
    assert "The first 400 of 420 steps; --evidence DIR writes all." in page.locator("main").inner_text()


def test_facts_that_a_page_has_no_room_for_are_counted(opened):
    """The step takes away one of them."""
    page = opened("many")
    said = page.locator(".panel p.quiet")
    assert said.all_inner_texts() == ["520 facts", "20 facts of the beginning not shown"]
    page.locator(".timeline .head").first.focus()
    page.keyboard.press("ArrowRight")
    assert said.all_inner_texts() == ["519 facts", "19 facts of the beginning not shown"]
    assert page.locator(".panel del code").all_inner_texts() == ["Held(zz)"]


def test_nothing_runs_that_is_put_into_the_page_later(browser, reports):
    context = browser.new_context()
    page = context.new_page()
    page.goto(reports["refund"].as_uri())
    blocked: list[str] = []
    page.on("console", lambda message: blocked.append(message.text))
    page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'document.title = 1';"
        " document.body.append(s); }"
    )
    assert page.title() != "1"
    assert any("Content Security Policy" in text for text in blocked)
    context.close()


def test_a_run_is_stepped_through_by_keyboard(opened):
    page = opened("refund")
    panel, where = page.locator(".panel").first, page.locator(".where").first
    assert where.inner_text() == "start, 2 steps"
    page.locator(".timeline .head").first.focus()
    page.keyboard.press("ArrowRight")
    assert where.inner_text() == "step 1 of 2"
    assert page.evaluate("document.activeElement.textContent").startswith("1 ingest_case()")
    page.keyboard.press("End")
    assert where.inner_text() == "step 2 of 2"
    assert panel.locator("ins code").all_inner_texts() == ["RefundIssued(task1)"]
    assert panel.locator("code").all_inner_texts() == [
        "Approver(s1, a1)",
        "Approver(s2, a2)",
        "CaseStatus(case1, open)",
        "Handler(case1, s1)",
        "PartOf(task1, case1)",
        "RefundIssued(task1)",
    ]
    page.keyboard.press("ArrowRight")
    assert where.inner_text() == "step 2 of 2"
    page.keyboard.press("Home")
    assert panel.locator("code").all_inner_texts() == ["Approver(s1, a1)", "Approver(s2, a2)"]


def test_the_state_shown_is_that_of_the_run(opened):
    """What the script of the page adds up is the state that the evidence has, at every step of every run."""
    result = st.verify(st.load("ward"), WARD)
    page = opened("ward")
    runs = [v.trace for v in result.verdicts.values() if v.trace is not None]
    assert len(runs) > 1
    for number, trace in enumerate(runs):
        run = page.locator(".run").nth(number)
        for k, state in enumerate(trace.states):
            if k:
                run.locator(".controls button").nth(2).click()
            shown = run.locator(".panel li > :not(del) > code, .panel li > code").all_inner_texts()
            assert sorted(shown) == sorted(map(str, state))


def test_a_loop_goes_on_where_it_began(opened):
    page = opened("endless", fragment="#evidence-1")
    trace = st.verify(st.load("refund"), "baseline", ["AF false"])["AF false"].trace
    assert (trace.loop, len(trace.steps)) == (0, 4)
    run = page.locator("#evidence-1 .run").first
    run.locator(".head").first.focus()
    page.keyboard.press("End")
    assert run.locator(".where").inner_text() == "step 4 of 4, then again from step 1"
    page.keyboard.press("ArrowRight")
    assert run.locator(".where").inner_text() == "step 1 of 4"
    shown = run.locator(".panel li > :not(del) > code").all_inner_texts()
    assert sorted(shown) == sorted(map(str, trace.states[1]))


def test_a_node_of_the_drawing_leads_to_its_decision(opened):
    page = opened("refund")
    decision = page.locator("#decision-0-2")
    assert not decision.evaluate("one => one.open")
    page.locator("svg a[href='#decision-0-2']").click()
    page.wait_for_selector("#decision-0-2[open]")
    assert decision.locator("text=obtain_approval(TASK_1, SERVICE_2)").is_visible()


def test_a_drawing_zooms(opened):
    page = opened("ward")
    figure = page.locator(".graph").first
    width = figure.locator("svg").evaluate("one => one.getBoundingClientRect().width")
    figure.locator("button[aria-label=Larger]").click()
    larger = figure.locator("svg").evaluate("one => one.getBoundingClientRect().width")
    assert larger == pytest.approx(1.25 * width, rel=0.01)
    figure.locator(".canvas").focus()
    page.keyboard.press("-")
    assert figure.locator("svg").evaluate("one => one.getBoundingClientRect().width") == pytest.approx(
        width, rel=0.01
    )


def test_without_scripts_everything_can_be_read(browser, reports):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(reports["refund"].as_uri())
    assert page.locator(".changes ins").first.is_visible()
    assert page.locator("svg .vertex").count() == 4
    assert not page.locator("kbd").first.is_visible()
    context.close()


def test_in_print_nothing_is_left_out_that_is_seen(opened):
    page = opened("refund")
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator("nav").is_visible()
    assert not page.locator(".panel").first.is_visible()
    assert page.locator(".changes ins").first.is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["refund", "unknown", "ward"])
def test_accessibility(opened, name, size, scheme):
    """axe-core finds nothing. Its script is let in past the page's policy."""
    page = opened(name, size, color_scheme=scheme, bypass_csp=True)
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true })")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    assert [(v["id"], v["help"], [n["html"][:120] for n in v["nodes"]][:3]) for v in found] == []


def test_a_large_report_is_small_and_opens_at_once(browser, tmp_path):
    """64 desks, 2·10^32 states: under 2 MiB, and done in far less than the two seconds that a reader waits
    (five on a machine that does something else too)."""
    path = st.write_report(st.verify(desks(64), "baseline", ["auth", "no_double"]), tmp_path / "desks.html")
    assert path.stat().st_size < 2 * 2**20
    page = browser.new_page()
    page.goto(path.as_uri())
    done = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    assert 0 < done < 5000
    assert "3.43e30 states" in page.locator("figure").first.inner_text()
    page.close()
