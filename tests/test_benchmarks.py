"""The benchmarks run, their figures are right where they can be computed, and a page shows the rows."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cliffs
import databases
import families
import handwritten
import held_out
import pytest
import records
import runs
import scaling
import service_desk
import tables
import unknown
from service_desk import Desk

import stead_sym as st
from stead_sym.analyses.local.verify import localise
from stead_sym.verification.options import EngineName
from stead_sym.verification.verify import verify

pytestmark = pytest.mark.gate


def run(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(scaling.ROOT / "benchmarks" / script), *words]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def row(setting: str, size: int, seconds: float, **figures: object) -> runs.Row:
    made = runs.row_of(runs.Run("refunds", size, "any", setting), "finished")
    answer = {"verdicts": {"auth": "fails"}, "contexts": 4, "queries": 4, "states": 7, "transitions": 8}
    return {**made, **answer, "seconds": seconds, "agent_seconds": 0.0, **figures}


# the families have the sizes that their descriptions say


@pytest.mark.parametrize("k", [1, 2, 3])
def test_states_of_desks(k: int) -> None:
    desk = families.desks(k)
    for policy, phases, queries in (("baseline", 3, 4), ("approving", 4, 5)):
        result = verify(desk, desk.policy(policy), ["focused"])
        assert (result.states, result.queries) == (phases**k * (k + 1), queries)


def test_states_of_refunds() -> None:
    for b, n in ((1, 3), (2, 5)):
        states = sum(math.comb(n, k) * math.perm(n, k) * 6**k for k in range(b + 1))
        assert verify(families.refunds(b), specs=["auth"], domain="theorem").states == states
    assert [verify(families.refunds(b), specs=["auth"]).states for b in (1, 2, 5)] == [7, 7**2, 7**5]


def test_queries_of_service_desk() -> None:
    """There is every shape of wallet, with as many orders as an owner can have, among nine orders."""
    queries = []
    for n in (9, 12):
        desk = families.service_desk(n)
        queries.append(verify(desk, desk.policy("careful"), ["own_wallet"]).queries)
    assert queries[0] == queries[1]


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("agent", ["careful", "hasty", "any"])
def test_the_engines_agree_on_a_returns_desk(agent: str, n: int) -> None:
    desk = families.returns_desk(n)
    plain, literal, normal = (
        verify(desk, agent, engine=engine, domain=domain, findings=False)
        for engine, domain in (("explicit", "theorem"), ("symbolic", "theorem"), ("symbolic", "normal"))
    )
    for other in (literal, normal):  # no value is ever fresh, so that the domains are the same
        assert (other.states, other.transitions, other.contexts) == (
            plain.states,
            plain.transitions,
            plain.contexts,
        )
        assert {name: verdict.word for name, verdict in other.verdicts.items()} == {
            name: verdict.word for name, verdict in plain.verdicts.items()
        }
        if plain.contexts is not None:
            assert runs.digest(other) == runs.digest(plain)
    fails = {name for name, verdict in plain.verdicts.items() if not verdict.holds}
    # whoever has a delivered order and a second method can have the money sent there: the second order
    assert fails == (set() if agent == "careful" else {"asked_first"} | ({"where_paid"} if n > 1 else set()))


def test_a_returns_desk_is_the_beginning_of_any_larger_one() -> None:
    """Its specifications ask about single orders, and with more orders there is more to find."""
    small, large = families.returns_desk(40), families.returns_desk(400)
    assert small.init.facts < large.init.facts
    statuses = Counter(status for _, status in large.init.tuples("Status"))
    assert len(statuses) == 6
    assert statuses["delivered"] > 3 * statuses["cancelled"]
    assert set(Counter(user for _, user in large.init.tuples("Owner")).values()) == {1, 2, 3, 4, 5}
    assert set(Counter(user for user, _ in large.init.tuples("Wallet")).values()) == {1, 2, 3, 4}


FAILS_IN_A_WAREHOUSE = {"put_down", "can_ship", "all_shipped"}
FAILS_AT_A_DESK = {"off_the_desk", "few_paged", "all_handled"}


@pytest.mark.parametrize(
    ("family", "fails"),
    [
        ("booking_desk", set()),
        ("warehouse", FAILS_IN_A_WAREHOUSE),
        ("ticket_system", FAILS_AT_A_DESK),
    ],
)
def test_what_the_guards_of_a_gate_leave_to_fail(family: str, fails: set[str]) -> None:
    result = verify(runs.FAMILIES[f"{family}_gated"](2), "any", findings=False)
    assert len(result.verdicts) == 12
    assert {name for name, verdict in result.verdicts.items() if verdict.word == "fails"} == fails
    assert all(verdict.holds for name, verdict in result.verdicts.items() if name not in fails)


def test_what_a_warehouse_orders_comes_in_since_some_supplier_sends_it() -> None:
    """A fair event answers for each supplier; that there is one is a question on more than 16 facts."""
    found = localise(runs.FAMILIES["warehouse"](20), "any", ["comes_in"])
    assert found.verdicts["comes_in"].holds, found.verdicts["comes_in"].reason
    assert found.shown["comes_in"].facts > 16


def test_a_serious_ticket_with_a_low_priority_is_found_among_a_hundred() -> None:
    """The search tries states with one image in turn; the first ticket that may do cannot become serious."""
    verdict = localise(runs.FAMILIES["ticket_system"](100), "any", ["serious_first"]).verdicts[
        "serious_first"
    ]
    assert verdict.word == "fails", verdict.reason


def test_tables_are_skewed_and_the_same_each_time() -> None:
    for family, make in runs.WRITTEN.items():
        assert make(40) == make(40) != make(40, seed=1), family
    desk = runs.FAMILIES["booking_desk"](200)
    legs = Counter(reservation for reservation, _ in desk.init.tuples("Leg"))
    assert set(legs.values()) == {1, 2, 3, 4}
    assert len(desk.schema.relations) >= 20
    travellers = Counter(passenger for _, passenger in desk.init.tuples("Travels"))
    assert 1 < max(travellers.values()) < 10


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
@pytest.mark.parametrize(("agent", "phases"), [("any", 4 * 10), ("careful", 4 * 7 + 2)])
def test_states_of_a_service_desk_over_any_database_of_one_order(
    engine: EngineName, agent: str, phases: int
) -> None:
    """An order of 4 names has an owner of 2, one of 4 statuses, and a wallet with one of 3 methods; or there
    is no order. Any agent: no request, or one of 3 kinds, then authenticated, then granted. The careful one
    asks for a confirmation in two cases, of a status and a kind each."""
    desk = families.service_desk_any(1, methods=1)
    result = verify(desk, agent, engine=engine, domain="theorem", findings=False)
    assert dict(result.domain) == {"order": 4, "user": 2, "method": 3, "kind": 3, "status": 4}
    assert (result.initial, result.states) == (1 + 4 * 2 * 3 * 4, 1 + 4 * 2 * 3 * phases)
    fails = {name for name, verdict in result.verdicts.items() if not verdict.holds}
    assert fails == {"may_close", "never_returned"}
    # a request, and then authenticated, of 3 kinds for 4 statuses; and the two cases
    assert result.contexts == (None if agent == "any" else 2 * 3 * 4 + 2)


def test_what_a_service_desk_over_any_database_comes_to() -> None:
    """The agent is shown one order at a time: whatever there is besides, it is asked the same. For wallets of
    one, two and three methods 3 · 4 requests and as many with the owner authenticated; and with the order
    granted cancelling a pending one, taking back a delivered one and, where there is another method, changing
    the payment of one in any status. That two orders may be charged to one method takes two orders."""
    results = [verify(families.service_desk_any(n), "careful") for n in (1, 2)]
    for result, two in zip(results, (False, True), strict=True):
        assert result.contexts == (24 + 2) + 2 * (24 + 2 + 4)
        fails = {name for name, verdict in result.verdicts.items() if not verdict.holds}
        assert fails == {"may_close", "never_returned"} | ({"own_method"} if two else set())
    one, two = ({str(context): calls for context, calls in result.decisions} for result in results)
    assert one == two
    assert runs.digest(results[0]) == runs.digest(results[1])


@pytest.mark.parametrize(
    "sizes", [("transfers", range(1, 9)), ("chain", (11, 15, 21, 30)), ("payments", (14, 20, 24))]
)
def test_no_size_needs_many_times_the_nodes_of_its_neighbour(sizes: tuple[str, range]) -> None:
    family, chosen = sizes
    case, rows = cliffs.CASES[family], []
    for size in chosen:
        desk = case.make(size)
        result = verify(desk, desk.policy(case.policy) if case.policy else "any", findings=False)
        rows.append(cliffs.Row(size, result.engine.statistics["nodes"], None))
    assert len(rows) == len(chosen)
    assert max(times for _, times in cliffs.jumps(rows)) <= cliffs.MOST


def test_the_literal_domain_has_no_cliff_either() -> None:
    rows = []
    for n in range(3, 11):
        result = verify(families.refunds(1), domain={"case": n, "task": n}, findings=False)
        assert result.states == 6 * n * n + 1
        rows.append(cliffs.Row(n, result.engine.statistics["nodes"], None))
    assert max(times for _, times in cliffs.jumps(rows)) <= cliffs.MOST


# what the tables compute


def test_slope_of_a_power() -> None:
    assert tables.slope([(x, 3.0 * x**1.7) for x in (8, 16, 64)]) == pytest.approx(1.7)


def test_growth_needs_three_sizes_in_the_range() -> None:
    rows = [row("normal", size, 0.01 * size**2) for size in (1, 8, 16)]
    assert tables.growth("refunds", rows) is None
    grown = tables.growth("refunds", [*rows, row("normal", 32, 0.01 * 32**2)])
    assert grown == tables.Growth(pytest.approx(2.0), 8, 32)


def test_ratio_at_the_largest_size_of_both() -> None:
    normal = [row("normal", 1, 0.5), row("normal", 2, 0.25), row("normal", 4, 1.0)]
    assert tables.ratio(normal, [row("explicit", 1, 1.0), row("explicit", 2, 50.0)]) == (2, 200.0)
    assert tables.ratio(normal, []) is None


@pytest.mark.parametrize(
    ("count", "text"),
    [(999_999, "999,999"), (1_619_647, "1.6·10⁶"), (9_990_000_000, "1.0·10¹⁰"), (37 * 10**899, "3.7·10⁹⁰⁰")],
)
def test_numbers(count: int, text: str) -> None:
    assert tables.number(count) == text


def test_from_which_size_on_nothing_changed() -> None:
    words = ["fails", "holds", "fails", "fails", "fails"]
    rows = [row("normal", size, 1.0, verdicts={"s": word}) for size, word in enumerate(words, 1)]
    assert databases.same_since(rows, "verdicts") == 3
    assert databases.same_since(rows, "states") == 1
    assert databases.same_since(rows[:2], "verdicts") == 2


def test_shops_of_data_are_verified_for_every_number() -> None:
    rows = run("every_number.py", "--data", "1200").stdout.splitlines()[2:]
    assert [line.split(" | ")[:3] for line in rows] == [
        ["| `orders`", "1,200", "3 of 3 hold"],
        ["| `references`", "1,200", "4 of 4 hold"],
        ["| `prices`", "1,200", "4 of 4 hold"],
    ]


# plain code by hand


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9])
def test_plain_code_and_both_engines_agree_on_a_service_desk(n: int) -> None:
    """Orders of one user and of several, wallets of one, two and three methods (9), no status delivered (1).
    Every specification but `never_returned` holds at all sizes."""
    desk = families.service_desk(n)
    results = [verify(desk, "careful", engine="symbolic", domain="normal", findings=False)]
    if n <= 4:
        results.append(verify(desk, "careful", engine="explicit", findings=False))
    plain = service_desk.solve(n)
    for result in results:
        assert (plain.states, plain.transitions) == (result.states, result.transitions)
        assert plain.verdicts == {name: verdict.holds for name, verdict in result.verdicts.items()}
    assert [name for name, holds in plain.verdicts.items() if not holds] == ["never_returned"] * (n > 1)


def _charged_elsewhere(desk: Desk) -> None:
    """The second order may be charged to a method that its owner's wallet does not have."""
    [size] = {*desk.wallets}
    desk.closing.append(service_desk.Closing(service_desk.CHANGE, desk.paid, size, [desk.bdd.true] * 2))


def _two_at_a_time(desk: Desk) -> None:
    """A request about two orders."""
    both = desk.here[0] & desk.here[1]
    desk.request = replace(desk.request, new=desk.request.new | desk.authenticate.guard & both)


def _for_ever(desk: Desk) -> None:
    """Return what is granted may be granted again."""
    desk.backward.append(service_desk.Step(desk.grant.new, desk.phase.cube, desk.grant.new))


def _cancelled_by_taking_back(desk: Desk) -> None:
    """A delivered order that is taken back is cancelled."""
    take_back = desk.closing[1]
    assert take_back.kind == service_desk.TAKE_BACK
    desk.closing[1] = replace(take_back, new=service_desk.CANCELLED)


def _never_granted(desk: Desk) -> None:
    """Nothing leads to a granted request."""
    desk.backward.remove(desk.grant)


@pytest.mark.parametrize(
    ("change", "spec"),
    [
        (_charged_elsewhere, "own_wallet"),
        (_two_at_a_time, "one_at_a_time"),
        (_for_ever, "answered"),
        (_cancelled_by_taking_back, "delivered_stays"),
        (_never_granted, "may_close"),
    ],
)
def test_plain_code_finds_what_breaks_a_specification(change: Callable[[Desk], None], spec: str) -> None:
    desk = Desk(2)
    assert service_desk.verdicts(desk, desk.reach())[spec]
    change(desk)
    assert not service_desk.verdicts(desk, desk.reach())[spec]


def test_no_time_where_plain_code_and_the_engine_disagree(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = runs.Limits(60, 2048)
    right = handwritten.by_hand(2)
    [told] = handwritten.compared([2], limits)
    assert told.startswith("| 2 | 56 | ")
    for wrong in (
        {"states": 57},
        {"transitions": 81},
        {"verdicts": {**right["verdicts"], "answered": "fails"}},
    ):
        monkeypatch.setattr(handwritten, "by_hand", lambda size, wrong=wrong: {**right, **wrong})
        with pytest.raises(SystemExit, match=f"2 orders: {next(iter(wrong))}: "):
            list(handwritten.compared([2], limits))


# no times where engines differ


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (row("theorem", 1, 2.0, verdicts={"auth": "holds"}), ["normal and theorem: auth fails and holds"]),
        (row("theorem", 1, 2.0, queries=5), ["normal and theorem: 4 and 5 queries"]),
        (row("theorem", 1, 2.0, states=55), []),  # another domain
    ],
)
def test_differences(other: runs.Row, found: list[str]) -> None:
    assert list(runs.differences([row("normal", 1, 1.0), other])) == found


def test_states_differ_on_one_domain() -> None:
    rows = [row("theorem", 1, 1.0), row("explicit", 1, 1.0, states=55)]
    assert list(runs.differences(rows)) == ["theorem and explicit: 7 and 55 states"]


def test_a_disagreement_has_no_times() -> None:
    [one] = runs.Disagreement("refunds 1", [row("normal", 1, 1.0)]).rows
    assert one["seconds"] is None
    assert tables.finished([one]) == []


# the commands


def test_rows_figure_and_table(tmp_path: Path) -> None:
    small = ("--small", "--limit", "60", "--folder", str(tmp_path))
    made = run("scaling.py", *small, "--only", "refunds", "--up-to", "2")
    assert made.returncode == 0, made.stderr
    kept = scaling.RowFile(tmp_path / "scaling.jsonl")
    [session] = kept.sessions
    assert session["command"].startswith("python benchmarks/scaling.py --small")
    assert {"machine", "versions", "limits"} <= session.keys()
    done = {(r["setting"], r["size"], *r["specs"]): r for r in kept.rows}
    assert len(done) == 8
    assert {r["outcome"] for r in kept.rows} == {"finished"}
    assert done["explicit", 2]["states"] == done["theorem", 2]["states"] == 7351
    assert all(r["seconds"] > 0 and r["mib"] > 0 for r in kept.rows)
    assert "| `refunds` | any | normal | 2 | 49 |" in made.stdout
    drawn = (tmp_path / "scaling.svg").read_bytes()
    assert drawn.startswith(b"<?xml")

    again = run("scaling.py", "--plot", "--folder", str(tmp_path))
    assert again.stdout == made.stdout
    assert (tmp_path / "scaling.svg").read_bytes() == drawn

    more = run("scaling.py", *small, "--only", "service_desk", "--up-to", "3")
    assert more.returncode == 0, more.stderr
    both = scaling.RowFile(tmp_path / "scaling.jsonl")
    assert len(both.sessions) == 2
    assert both.rows[:8] == kept.rows
    assert {r["case"] for r in both.rows[8:]} == {"service_desk"}
    assert (tmp_path / "scaling.svg").read_bytes() != drawn


def test_any_database_of_one_size_and_the_next() -> None:
    made = run("databases.py", "--up-to", "2", "--limit", "60")
    assert made.returncode == 0, made.stderr
    _, _, one, two, _, last = made.stdout.splitlines()
    assert [line.split(" | ")[-3:] for line in (one, two)] == [
        ["86", "86", "`may_close`, `never_returned` |"],
        ["86", "86", "`may_close`, `never_returned`, `own_method` |"],
    ]
    assert last == (
        "up to n = 2: the same verdicts from n = 2 on, the same contexts and answers from n = 1 on"
    )


def test_databases_that_take_too_long_end_the_run() -> None:
    ended = run("databases.py", "--up-to", "2", "--limit", "0")
    assert ended.returncode == 1
    assert ended.stdout.splitlines()[-1].startswith("n = 1 did not finish (time)")


def test_a_run_ends_at_its_limit_and_larger_ones_are_skipped() -> None:
    ended = run("compare.py", "refunds", "4", "5", "--settings", "explicit", "--limit", "1")
    first, second = map(json.loads, ended.stdout.splitlines())
    assert (first["outcome"], first["limit"]) == ("time", 1.0)
    assert second["outcome"] == "skipped"
    assert "seconds" not in first


def test_a_run_ends_at_its_memory() -> None:
    ended = run("compare.py", "refunds", "3", "--settings", "theorem", "--limit", "60", "--memory", "20")
    [one] = map(json.loads, ended.stdout.splitlines())
    assert (one["outcome"], one["limit"]) == ("memory", 20)


def test_nothing_to_plot(tmp_path: Path) -> None:
    ended = run("scaling.py", "--plot", "--folder", str(tmp_path))
    assert ended.returncode != 0
    assert ended.stderr.strip() == f"{tmp_path / 'scaling.jsonl'}: no rows; make them with --full or --small"


def test_canonical_forms_of_graphs() -> None:
    made = run("canonical.py", "graphs", "binary tree", "cfi", "--up-to", "127", "--limit", "0.0001")
    assert [json.loads(line) for line in made.stdout.splitlines()] == [
        {"family": family, "size": size, "past": 0.0001} for family, size in (("binary tree", 63), ("cfi", 4))
    ]
    rows = {}
    for more in ([], ["--plain"]):
        made = run("canonical.py", "graphs", "binary tree", "--up-to", "127", *more)
        rows[bool(more)] = [json.loads(line) for line in made.stdout.splitlines()]
    for own, plain in zip(rows[False], rows[True], strict=True):
        assert own["facts"] == plain["facts"] == 3 * own["vertices"] - 2
    assert [row["most vertices for nauty"] for row in rows[True]] == [63 + 4 * 62, 127 + 4 * 126]
    assert rows[False][1]["most vertices for nauty"] < rows[True][0]["most vertices for nauty"] + 1


def test_canonical_forms_have_the_classes_of_the_paper_s() -> None:
    made = run("canonical.py", "brute")
    assert made.returncode == 0, made.stderr
    assert [json.loads(line)["values"] for line in made.stdout.splitlines()] == [2, 3, 4, 5, 6, 7]


# what is in the repository


def test_the_documentation_shows_the_rows() -> None:
    page = scaling.PAGE.read_text(encoding="utf-8")
    rows = scaling.RowFile(scaling.FIGURES / "scaling.jsonl").rows
    assert rows
    assert scaling.with_table(page, rows) == page


def test_the_figure_runs_all_families() -> None:
    assert {series.family for series in scaling.FULL} == set(tables.RANGES)
    others = {
        databases.FAMILY,
        *(run.family for run in [*records.RUNS, *held_out.RUNS]),
    }  # which have scripts of their own
    assert set(runs.FAMILIES) == set(tables.RANGES) | others
    desks = [series for series in scaling.FULL if series.family == "desks"]
    assert {series.policy for series in desks} == {policy.name for policy in families.desks(1).policies}


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        (
            "nothing refutes it within the bounds a 2; a can exceed them; for every number: 2-views do not"
            " exclude { P(a1), Q(a1) }; t is taken without `atleast 4 x: a. P(x)`, which rests on 4 further"
            " records",
            "N-views do not exclude …, conditions being left out",
        ),
        ("for every number: a step of t1 takes databases of 12 records, and 6 are looked at; name x in its",
         "a step of … takes databases of N records, and N are looked at"),
        ("for every number: key of Ord is not shown by 2-views", "… is not shown by N-views"),
        ("the time is over", "the time is over"),
    ],
)  # fmt: skip
def test_reasons_for_unknown_are_counted_by_kind(reason: str, kind: str) -> None:
    assert unknown.kind(reason) == kind


def test_what_is_counted_is_within_the_fragment() -> None:
    deployment = st.parse_deployment(
        "deployment d\nsort a\nrelation P(a)\nrelation R(a, a)\nbound a any\n"
        "tool t() effect fresh x: a insert P(x)\ntool wait()\n"
        "spec one AG atmost 1 x. P(x)\nspec record AG forall x. (P(x) -> exists y. R(x, y))\n"
        "spec later AF P(_)\ninvariant helps atmost 1 x. P(x)\n"
    )
    assert unknown.within_fragment(deployment) == ("one",)
    condition = "tool u() guard forall x. (P(x) -> exists y. R(x, y)) effect clear P\n"
    assert unknown.within_fragment(st.parse_deployment(f"{deployment}\n{condition}")) == ()


def test_the_checks_of_a_guard_are_timed() -> None:
    ended = run("guard.py", "--records", "200", "--checks", "5")
    assert ended.returncode == 0, ended.stderr
    rows = [json.loads(line) for line in ended.stdout.splitlines()]
    answers = ["allowed", "not allowed", "not offered"]
    assert [(row["answer"], row["others"]) for row in rows] == [
        (answer, others) for others in ("without", "five") for answer in answers
    ]
