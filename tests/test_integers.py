"""Terms that are integers: both engines in both domains on deployments that are dense in them, laws, what is
refused, what a step that leaves a sort is, and how large comparisons of sums become."""

from __future__ import annotations

import os
from random import Random

import pytest

import stead_sym.logic.syntax as fo
from generated.integers import Texts, integer_deployment
from stead_sym.agents.rules import RuleAgent
from stead_sym.deployment.deployment import print_deployment
from stead_sym.deployment.language import parse_deployment
from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.encode import variable_order
from stead_sym.engines.symbolic.encode.encoding import Encoding
from stead_sym.engines.symbolic.step.formulas import Compiler
from stead_sym.errors import (
    DeclarationError,
    DefinitionError,
    InputError,
    ParseError,
    Undecided,
    ValueOutOfRange,
)
from stead_sym.logic.compose import atom, compare, count, did, equal, exists, forall, minus, plus, total
from stead_sym.logic.evaluate import holds
from stead_sym.logic.integers import linear_in
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.printer import print_formula
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Schema, Sort
from stead_sym.verification.findings.static import lint
from stead_sym.verification.verify import verify

CASES = int(os.environ.get("INTEGER_CASES", "40"))
ENGINES = (
    {"engine": "explicit", "max_states": 400},
    {"engine": "symbolic"},
    {"engine": "symbolic", "domain": "theorem"},
)


def found(deployment, **options):
    """The verdicts and the number of states; None where the deployment is at fault."""
    try:
        result = verify(deployment, "any", findings=False, **options)
    except DefinitionError:
        return None
    if result.broken is not None:
        return None
    literal = options.get("domain") == "theorem" or options["engine"] == "explicit"
    return {n: v.holds for n, v in result.verdicts.items()}, result.explored.states if literal else None


@pytest.mark.parametrize("seed", range(CASES))
def test_engines_and_domains_agree(seed, monkeypatch):
    """With the bits of small fields interleaved as those of large ones for every second seed."""
    monkeypatch.setattr(variable_order, "_LARGE", 1 if seed % 2 else 32)
    try:
        deployment = parse_deployment(integer_deployment(seed))
        explicit = found(deployment, **ENGINES[0])
    except (InputError, Undecided):  # a numeral that its column's sort does not have; too many states
        return
    assert parse_deployment(print_deployment(deployment)) == deployment
    normal, theorem = (found(deployment, **options) for options in ENGINES[1:])
    assert explicit == theorem
    assert (explicit and explicit[0]) == (normal and normal[0])


BUDGET = """
deployment budget
sort order
sort amount = 0..3
sort money = -2..9
relation Paid(id: order key, sum: amount)
relation Left(money)
bound order 2
init Left(4)
event come()
  guard (count o: order. Paid(o, _)) < 2
  effect fresh o: order  insert Paid(o, 0)
tool pay(o: order, a: amount)
  guard Paid(o, _){guard}
  effect
    set Paid(o).sum = b + a for b where Paid(o, b)
    delete Left(_)
    insert Left(l - a) for l where Left(l)
tool wait()
spec kept AG forall l. (Left(l) -> l + (sum b for o: order, b: amount. Paid(o, b)) = 4)
spec some EF exists o, b: amount. (Paid(o, b + 1) & b = 1)
"""


@pytest.mark.parametrize("options", ENGINES, ids=["explicit", "normal", "theorem"])
def test_a_step_out_of_a_sort_is_an_error_with_its_run(options):
    result = verify(parse_deployment(BUDGET.format(guard="")), "any", **options)
    assert isinstance(result.broken, ValueOutOfRange)
    assert result.broken.claim == "range of Paid"
    assert len(result.broken.trace.steps) == 3
    assert not result["range of Paid"].holds
    guard = " & (forall b. (Paid(o, b) -> a + b <= 3)) & forall l. (Left(l) -> 0 <= l - a)"
    result = verify(parse_deployment(BUDGET.format(guard=guard)), "any", **options)
    assert result.broken is None
    assert result["kept"].holds
    assert result["some"].holds


@pytest.mark.parametrize("seed", range(60))
def test_printing_is_undone_by_reading(seed):
    formula = parse_formula(Texts(Random(seed)).formula({}, 4))
    assert parse_formula(print_formula(formula)) == formula


@pytest.mark.parametrize("seed", range(40))
def test_a_sum_is_that_of_all_combinations(seed):
    """`sum` and `count` against the sum over all tuples of active values, written out."""
    random = Random(seed)
    deployment = parse_deployment(BUDGET.format(guard=""))
    records = ("o1", "o2", "o3")
    facts = [("Paid", (o, str(random.randint(0, 3)))) for o in records if random.random() < 0.8]
    facts += [("Left", (str(random.randint(-2, 4)),)) for _ in range(2)]
    state = Instance.of(deployment.schema, facts)
    texts = Texts(random)
    body = deployment.formula(
        f"exists o: order, a: amount, l: money. (Paid(o, a) & a {texts.pick('<>')} l)"
    ).body
    condition = body.body.body
    total = number = 0
    for o in state.active_domain["order"]:
        for a in state.active_domain["amount"]:
            for money in state.active_domain["money"]:
                if holds(condition, state, {"o": o, "a": a, "l": money}):
                    number += 1
                    total += int(a) - int(money)
    over = f"o: order, a: amount, l: money. {print_formula(condition)}"
    assert holds(deployment.formula(f"(count {over}) = {number}"), state)
    assert holds(deployment.formula(f"(sum a - l for {over}) = {total}"), state)
    assert not holds(deployment.formula(f"(sum a - l for {over}) != {total}"), state)


REFUSED = [
    ("AG Paid(_, 12)", "12 is no value of sort amount; take one of it"),
    ("AG exists o: order. o = 3", "o is of sort order and 3 is a number: no value is of both"),
    ("AG exists o: order. o + 1 = 3", "o is of sort order, which has no numbers; `+`, `-` and `sum`"),
    ("AG exists x. x = 3", "nothing says of which sort x is; write `x: SORT`"),
    ("AG exists x: amount. x < y + 1", "unknown name y"),
    ("AG exists o. Paid(o + 1, 2)", "o + 1 is a number, but argument 1 of Paid is of sort order"),
    ("(count o: order. AX Paid(o, 1)) = 1", "`count` and `sum` are about one state"),
    ("AG (count o: order, o: amount. Paid(o, 1)) = 1", "the variable o is declared twice"),
    ("AG exists l: money. Paid(_, l)", "write `l + 0` for the integer"),
    ("AG exists x: amount. sum(x)", "write `count x: s. f`, or `sum t for x: s. f`"),
]


@pytest.mark.parametrize(("formula", "expected"), REFUSED)
def test_what_is_refused(formula, expected):
    with pytest.raises((DeclarationError, ParseError)) as error:
        parse_deployment(BUDGET.format(guard="") + f"spec wrong {formula}")
    assert expected in str(error.value)


RECEIPTS = """
deployment receipts
sort k = {{ k1, k2 }} rigid
sort n = 0..3
relation Owed(k key, n)
init Owed(k1, 2)
tool pay(x: k, a: n)
  guard exists b. (Owed(x, b) & a + 0 <= b)
  effect set Owed(x, b - a) for b where Owed(x, b)
tool wait()
spec s {}
"""


@pytest.mark.parametrize("options", ENGINES, ids=["explicit", "normal", "theorem"])
def test_arguments_of_did_are_integers(options):
    """Each beside what it denotes, in the old way: a variable of the parameter's sort that equals it. One of
    them asks for a step within an argument."""
    for told, otherwise in [
        ("did pay(k1, 1 + 1)", "did pay(k1, 2)"),
        ("did pay(k1, 2 + 3)", "false"),
        ("did pay(_, 0 - 1)", "false"),
        (
            "did pay(k1, 2 - sum b for x: k, b: n. Owed(x, b))",
            "exists a in n. (did pay(k1, a) & Owed(k1, 2 - a))",
        ),
        ("did pay(_, count x: k. Owed(x, _))", "did pay(_, 1)"),
        ("did pay(k1, count x in k. did pay(x, _))", "did pay(k1, 1)"),
    ]:
        for formula in (f"AG ({told} <-> {otherwise})", f"EF {told}"):
            result = verify(parse_deployment(RECEIPTS.format(formula)), "any", **options)
            assert result["s"].holds == (formula.startswith("AG") or otherwise != "false"), formula


def test_integers_are_composed_in_python():
    """As the text that is read."""
    amounts = total("a", "o: order, a: amount", atom("Paid", "o", "a"))
    for composed, text in [
        (compare(amounts, "<=", 3), "(sum a for o: order, a: amount. Paid(o, a)) <= 3"),
        (equal(minus(amounts, 1), count("o: order", atom("Paid", "o", "_"))),
         "(sum a for o: order, a: amount. Paid(o, a)) - 1 = count o: order. Paid(o, _)"),
        (forall("a: amount", atom("Left", plus("a", -2))), "forall a: amount. Left(a + -2)"),
        (exists("a: amount", did("pay", "_", minus("a", minus(1, "a")))),
         "exists a: amount. did pay(_, a - (1 - a))"),
        (compare(count("a in amount, l: money", compare("a", "<", "l")), ">", 2),
         "(count a in amount, l: money. a < l) > 2"),
    ]:  # fmt: skip
        assert composed == parse_formula(text)
    with pytest.raises(TypeError, match="True is no text"):
        plus("a", True)


def test_a_policy_compares_with_numerals_that_no_sort_lists():
    """Such a numeral is no value, so that no agent can know it by name."""
    text = (
        "deployment d sort k = { k1, k2 } sort n = 0..2 relation R(k key, n) init R(k1, 0)"
        " tool up(x: k, a: n) guard R(x, a) & a < 2 effect set R(x, a + 1)"
        " tool wait()"
        " policy p"
        "   call up(x, a) when (sum y for z: k, y: n. R(z, y)) != 7 & a + 1 < 12 & (count z: k. R(z, _)) > -1"
        "   call wait()"
        " spec full AF R(_, 2)"
    )
    deployment = parse_deployment(text)
    assert not RuleAgent.of(deployment, "p").constants
    assert not [finding for finding in lint(deployment) if finding.kind == "known constant"]
    for options in ENGINES:
        assert verify(deployment, "p", **options)["full"].holds


@pytest.mark.parametrize("sorts", [("a", "b"), ("a", "n"), ("n", "a")])
def test_an_equality_across_sorts_that_are_not_both_of_integers_is_refused(sorts):
    """By whoever reads a formula that no resolver has seen: codes of values are no integers."""
    schema = Schema((Sort("a"), Sort("b"), Sort.numbers("n", 0, 2)), ())
    formula = fo.Equal(fo.Var("x"), fo.Var("y"))
    values = {"a": ("a1", "a2", "a3"), "b": ("b1", "b2", "b3"), "n": ("0", "1", "2")}
    encoding = Encoding(Manager(), schema, values)
    env = dict(zip("xy", encoding.distinct(sorts), strict=True))
    with pytest.raises(TypeError, match="which have no value in common"):
        Compiler(encoding).formula(formula, env)
    assert linear_in(formula, {"x": "0", "y": encoding.distinct("n")[0]}, schema) is None


def test_a_variable_takes_the_sort_of_what_it_is_compared_with():
    deployment = parse_deployment(BUDGET.format(guard=""))
    assert str(deployment.formula("exists x, o. (Paid(o, _) & Paid(o, x) & exists y. y < x)")).endswith(
        "exists y: amount. y < x"
    )
    one = parse_deployment("deployment d sort n = 0..3 relation N(n) tool t() spec s exists x. x > 7")
    assert str(one.spec("s").formula) == "exists x: n. x > 7"


@pytest.mark.parametrize(
    ("records", "most", "limit"), [(25, 4, 25), (50, 4, 50), (24, 19, 24), (100, 19, 100)]
)
def test_a_sum_over_many_records_against_a_limit_is_small(records, most, limit):
    """For each record there are at most as many sums so far as the limit tells apart, and one node or two for
    each bit of its amount. Before: to explore what may be paid takes time in records times amounts."""
    facts = " ".join(f"Paid(o{k}, 0)" for k in range(records))
    deployment = parse_deployment(
        f"deployment d sort order sort amount = 0..{most} relation Paid(order key, amount) init {facts}"
        " tool pay(o: order, a: amount) guard Paid(o, _) effect set Paid(o, a)"
    )
    engine = verify(deployment, "any", [], findings=False).explored
    compiler = Compiler(engine.checker.encoding)
    condition = deployment.formula(f"(sum a for o: order, a: amount. Paid(o, a)) <= {limit}")
    assert compiler.formula(condition, {}).dag_size <= 2 * most.bit_length() * 2 * records * (limit + 1)


def test_sorts_of_a_thousand_numbers():
    deployment = parse_deployment(
        "deployment d sort n = 0..999 relation At(n) init At(0)"
        " tool go(a: n) guard At(a) & a + 1 < 999 effect delete At(a) insert At(a + 1) tool wait()"
        " spec s AG forall a: n. (At(a) -> a + a <= 1996)"
    )
    engine = verify(deployment, "any", ["AG exists a. At(a)"], findings=False).explored
    env = dict(zip("xyz", engine.checker.encoding.distinct(["n", "n", "n"]), strict=True))
    formula = deployment.spec("s").formula  # of three numbers of ten bits a few carries per bit
    compare = parse_deployment(
        "deployment d sort n = 0..999 relation At(n) tool t() define f(x: n, y: n, z: n) = x + y <= z + 7"
    ).written.definitions[0]
    assert formula is not None
    assert Compiler(engine.checker.encoding).formula(compare.body, env).dag_size < 400


BANK = """
deployment bank
sort account = {{ a, b }}
sort amount = 0..999
relation Balance(of: account key, amount: amount)
init Balance(a, {0}) Balance(b, {1})
tool transfer(x: account, y: account, m: amount)
  guard x != y & (exists s: amount. (Balance(x, s) & s >= m)){guard}
  effect
    set Balance(x).amount = s - m for s where Balance(x, s)
    set Balance(y).amount = s + m for s where Balance(y, s)
spec kept AG (sum m for x: account, m: amount. Balance(x, m)) = {total}
spec positive AG forall x: account, m: amount. (Balance(x, m) -> 0 <= m)
spec limit AG forall x: account, m: amount. (Balance(x, m) -> m <= {total})
spec drained EF Balance(a, 0)
spec back AG EF Balance(b, 0)
"""


def test_two_accounts_of_a_thousand_numbers():
    """No number is gone through: an action for each pair of accounts, and a relation that grows with the
    number of amounts, not with its square."""
    deployment = parse_deployment(BANK.format(500, 499, guard="", total=999))
    result = verify(deployment, "any", findings=False)
    assert all(verdict.holds for verdict in result.verdicts.values())
    assert result.states == 1000
    assert result.transitions == 1000 * 1000
    tool = result.explored.checker.model.tools["transfer"]
    assert tool.actions == 2
    assert tool.steps.dag_size < 1000 * 1000


def test_a_step_out_of_a_sort_of_a_thousand_numbers_is_an_error_with_its_run():
    deployment = parse_deployment(BANK.format(500, 500, guard="", total=1000))
    broken = verify(deployment, "any").broken
    assert isinstance(broken, ValueOutOfRange)
    assert len(broken.trace.steps) == 1
    room = " & exists s: amount. (Balance(y, s) & s + m <= 999)"
    deployment = parse_deployment(BANK.format(500, 500, guard=room, total=1000))
    result = verify(deployment, "any", ["kept"], findings=False)
    assert result["kept"].holds
    assert result.states == 999


STOCK = """
deployment stock
sort item
sort n = 0..2
relation Stock(item key, n)
bound item 2
event deliver(k: n)
  guard (count i: item. Stock(i, _)) < 2
  effect
    fresh i: item
    insert Stock(i, k)
tool take(i: item)
  guard exists k: n. (Stock(i, k) & k > 0)
  effect set Stock(i, k - 1) for k where Stock(i, k)
event lose(i: item)
  guard Stock(i, _)
  effect delete Stock(i, _)
"""


def expanded(comparison: str, limit: int) -> str:
    """Return that the sum of the stock, of at most two items, is this, written out as contents of the
    store."""
    meets = {"<=": int.__le__, ">": int.__gt__, "=": int.__eq__}[comparison]
    cases = ["(~exists i: item, k: n. Stock(i, k))"] if meets(0, limit) else []
    cases += [
        f"((exactly 1 i: item. exists k: n. Stock(i, k)) & exists i: item. Stock(i, {a}))"
        for a in range(3)
        if meets(a, limit)
    ]
    cases += [
        f"(exists i: item, j: item. (i != j & Stock(i, {a}) & Stock(j, {b})))"
        for a in range(3)
        for b in range(3)
        if meets(a + b, limit)
    ]
    return f"({' | '.join(cases)})" if cases else "false"


@pytest.mark.parametrize("options", ENGINES, ids=["explicit", "normal", "theorem"])
def test_sums_and_counts_are_their_expanded_formulas_in_every_state(options):
    """As what always is, and as what can come to be or be avoided for ever."""
    laws = [
        (f"((sum k for i: item, k: n. Stock(i, k)) {comparison} {limit})", expanded(comparison, limit))
        for comparison in ("<=", ">", "=")
        for limit in range(5)
    ]
    laws += [
        (
            f"((count i: item. exists k: n. Stock(i, k)) >= {k})",
            f"(atleast {k} i: item. exists k: n. Stock(i, k))",
        )
        for k in range(1, 4)
    ]
    laws += [
        (
            f"((count k: n. exists i: item. Stock(i, k)) = {k})",
            f"(exactly {k} k: n. exists i: item. Stock(i, k))",
        )
        for k in range(3)
    ]
    laws += [("((count k in n. ~exists i: item. Stock(i, k)) = 3)", "(~exists i: item, k: n. Stock(i, k))")]
    specs = [f"spec s{i} AG ({left} <-> {right})" for i, (left, right) in enumerate(laws)]
    specs += [
        f"spec {name}{i} {operator} {side}"
        for i, law in enumerate(laws)
        for operator in ("EF", "EG")
        for name, side in zip((f"a{operator}", f"b{operator}"), law, strict=True)
    ]
    result = verify(parse_deployment(STOCK + "\n".join(specs)), "any", findings=False, **options)
    for i, _ in enumerate(laws):
        assert result[f"s{i}"].holds
        for operator in ("EF", "EG"):
            assert result[f"a{operator}{i}"].holds == result[f"b{operator}{i}"].holds
    assert len({result[f"aEF{i}"].holds for i, _ in enumerate(laws)}) == 2
