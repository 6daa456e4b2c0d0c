"""The whole language: what a file means, what is refused and where, and printing it back."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from shared_folder import shared_folder
from stead_sym.deployment.deployment import print_deployment
from stead_sym.deployment.language import parse_deployment, read_deployment
from stead_sym.deployment.parts import Rule
from stead_sym.deployment.tool import Choose, Clear, Delete, Effect, Ensure, Fresh, Insert
from stead_sym.errors import DeclarationError, InputError, ParseError
from stead_sym.logic.evaluate import holds
from stead_sym.logic.sorts import variables_by_sort
from stead_sym.relational.instance import Fact
from stead_sym.verification.findings.static import lint

CASES = [f"conformance/g{number:03}.stead" for number in range(60)] + ["examples/refund.stead"]


@pytest.mark.parametrize("case", CASES)
def test_a_file_of_the_collection_prints_and_reads_back(case):
    deployment = read_deployment(shared_folder() / case)
    printed = print_deployment(deployment)
    again = parse_deployment(printed)
    assert again == deployment
    assert print_deployment(again) == printed


def test_the_desks_print_and_read_back():
    script = shared_folder() / "examples" / "desks.py"
    text = subprocess.run(
        [sys.executable, str(script), "3"], check=True, capture_output=True, text=True
    ).stdout
    deployment = parse_deployment(text)
    assert parse_deployment(print_deployment(deployment)) == deployment
    assert [view.relation for view in deployment.views][:2] == ["Focus", "CaseStatus"]
    archive = deployment.tool("archive_case").effects[0].statements
    assert [b.sort for s in archive if isinstance(s, Delete) for b in s.binders] == [
        "status", "service", "task", "service", "task", "task",
    ]  # fmt: skip


def test_sizes_of_the_collection_follow_from_bounds_constants_and_variables():
    """2·b_S + |C ∩ U_S| + var_S for unbounded sorts, the number of values for finite ones."""
    folder = shared_folder() / "conformance"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    for name, runs in expected.items():
        deployment = read_deployment(folder / f"{name}.stead")
        counts = [variables_by_sort(spec.formula) for spec in deployment.specs]
        sizes = {
            s.name: len(s.values)
            if s.values is not None
            else 2 * deployment.bounds[s.name]
            + len(deployment.constants[s.name])
            + max(count.get(s.name, 0) for count in counts)
            for s in deployment.schema.sorts
        }
        assert sizes == runs["p"]["domain"], name


BASE = """
deployment d
sort a, b
sort k = { k1, k2 } rigid
sort m = { m1, m2 }
relation P(a)
relation R(a, k)
relation N()
init P(c0) R(c0, k1)
bound a 2
"""


def parsed(text):
    return parse_deployment(BASE + text, "f")


def effect_of(text):
    return parsed(f"tool t(p: a, q: k) effect {text}").tool("t").effects[0]


def test_schema_initial_state_and_bounds():
    d = parsed("")
    assert [str(sort) for sort in d.schema.sorts] == [
        "sort a", "sort b", "sort k = { k1, k2 } rigid", "sort m = { m1, m2 }",
    ]  # fmt: skip
    assert d.init.facts == {Fact("P", ("c0",)), Fact("R", ("c0", "k1"))}
    assert d.constants == {"a": ("c0",), "b": (), "k": ("k1", "k2"), "m": ("m1", "m2")}
    assert d.bounds == {"a": 2, "b": 0}
    assert d.bound_spans["a"].line == 10
    assert d.schema.rigid == {"k1", "k2"}


def test_items_stand_in_any_order():
    forwards = parsed("define D(x: a) = P(x)\ntool t(x: a) guard D(x)\npolicy p call t(x)\nspec s N")
    backwards = """
        spec s N  policy p call t(x)  tool t(x: a) guard D(x)  define D(x: a) = P(x)
        bound a 2  init P(c0) R(c0, k1)  relation P(a) relation R(a, k) relation N()
        sort a, b  sort k = { k1, k2 } rigid  sort m = { m1, m2 }  deployment d
    """
    assert parse_deployment(backwards) == forwards


def test_a_tool_without_effect_or_guard():
    tool = parsed('tool t() "Say \\"no\\".\\nTwice: \\\\n, \\d."').tool("t")
    assert tool.description == 'Say "no".\nTwice: \\n, \\d.'
    assert (tool.guard, tool.effects) == (fo.TRUE, (Effect(),))


def test_statements():
    statements = effect_of("""when N
        choose x: a where P(x) & x != p
        fresh y: a
        insert R(y, q)
        insert P(z) for z where R(z, q)
        insert N where P(p)
        delete R(z, w) for z, w
        clear P, R
    """).statements
    z, w = fo.Binder("z", "a"), fo.Binder("w", "k")
    assert statements == (
        Choose(fo.Binder("x", "a"), fo.Atom("P", (fo.Var("x"),)) & ~fo.Equal(fo.Var("x"), fo.Var("p"))),
        Fresh(fo.Binder("y", "a")),
        Insert(fo.Atom("R", (fo.Var("y"), fo.Var("q")))),
        Insert(fo.Atom("P", (fo.Var("z"),)), (z,), fo.Atom("R", (fo.Var("z"), fo.Var("q")))),
        Insert(fo.Atom("N"), (), fo.Atom("P", (fo.Var("p"),))),
        Delete(fo.Atom("R", (fo.Var("z"), fo.Var("w"))), (z, w)),
        Clear(("P", "R")),
    )


def test_several_effects_are_alternatives():
    effects = parsed("tool t() effect effect when N clear P effect insert P(c0)").tool("t").effects
    assert [len(e.statements) for e in effects] == [0, 1, 1]
    assert [e.when for e in effects] == [fo.TRUE, fo.Atom("N"), fo.TRUE]


def test_ensure():
    (statement,) = effect_of("ensure forall x. P'(x) <-> P(x) & x != p").statements
    assert isinstance(statement, Ensure)
    assert str(statement.formula) == "forall x: a. P'(x) <-> P(x) & x != p"
    assert len(effect_of("ensure same(R) & empty(P) ensure ~N'()").statements) == 2


def test_a_variable_declared_again_in_an_effect_gets_a_name_of_its_own():
    effect = effect_of("insert P(p) choose p: a where p = c0 insert P(p) fresh p: a insert P(p)")
    names = [s.binder.name for s in effect.statements if isinstance(s, Choose | Fresh)]
    assert names == ["p_1", "p_2"]
    inserted = [str(s.atom) for s in effect.statements if isinstance(s, Insert)]
    assert inserted == ["P(p)", "P(p_1)", "P(p_2)"]
    assert str(effect.statements[1].where) == "p_1 = c0"


def test_a_binder_of_a_bulk_statement_may_shadow_a_parameter():
    (statement,) = effect_of("insert P(p) for p where R(p, q)").statements
    assert statement.binders == (fo.Binder("p", "a"),)
    assert str(statement.where) == "R(p, q)"


def test_views():
    (view,) = parsed("view R(x, y) where P(x) & y = k1").views
    assert view.params == (fo.Binder("x", "a"), fo.Binder("y", "k"))
    assert str(view.where) == "P(x) & y = k1"


def test_rules_tell_constants_from_variables():
    d = parsed("tool t(p: a, q: k) policy p call t(x, k1) when P(x) call t(c0, m1) call t(k2, y)")
    assert d.policy("p").rules == (
        Rule("t", (fo.Var("x"), fo.Const("k1")), fo.Atom("P", (fo.Var("x"),))),
        Rule("t", (fo.Const("c0"), fo.Var("m1"))),  # m1 is a constant, but of another sort
        Rule("t", (fo.Var("k2"), fo.Var("y"))),
    )


def test_texts_are_taken_as_written():
    d = parsed('system """\n  You "are" \\n a clerk.""""\ninstructions "Choose."')
    assert d.system == '\n  You "are" \\n a clerk."'
    assert d.instructions == "Choose."
    assert parse_deployment(print_deployment(d)) == d


def test_words_of_the_items_are_free_names_elsewhere():
    d = parse_deployment("""
        deployment deployment
        sort sort, view  sort bool = { true, false } rigid
        relation tool(sort) relation bound(view, bool) relation when()
        init tool(init) bound(guard, true) view(effect) when()
        relation view(sort)
        tool clear(insert: sort)
          guard tool(insert) & when
          effect delete tool(insert) where bound(guard, true)
        policy call call clear(choose) when tool(choose)
        spec spec exists where, call: bool. bound(where, call) & true = call
    """)
    assert [str(fact) for fact in d.init] == [
        "bound(guard, true)", "tool(init)", "view(effect)", "when()",
    ]  # fmt: skip
    assert parse_deployment(print_deployment(d)) == d


# -- what is refused: `@` marks the place that the message has to name


REFUSED = [
    # the text
    ("@$", 'unexpected "$"; expected an item (`sort`, `relation`, `init`, `tool`, `spec`, …)'),
    ("@guard N",
     'unexpected "guard"; expected an item (`sort`, `relation`, `init`, `tool`, `spec`, …) or the end'),
    ("tool t(x: @)", 'unexpected ")"; expected a name'),
    ("tool t() guard P(c0) @R(c0, k1)", 'unexpected "R"; expected '),
    ("tool t() effect insert P(c0) @P(c0)", 'unexpected "P"; a fact is put in with `insert`'),
    ("bound b @-1", 'unexpected "-1"; expected a number'),
    ("bound b @12345678901", "a number of 11 digits; write one of 9 at most"),
    ("spec s@", "unexpected end; expected a formula"),
    ('system @"""never ends', "a text that is not closed; end it with"),
    ('tool t() @"never ends', "a text that is not closed; end it with"),
    ("tool t() guard N @guard N", "a second guard of t; join the two with `&`"),
    ("sort z = { z1, @}", 'unexpected "}"; expected a name'),
    ("tool t() effect insert P(x) @forx: a", 'unexpected "forx"; expected '),
    # doubled
    ("@deployment e", "a second `deployment` line; a file holds one deployment"),
    ("sort @a", "sort a is declared twice (first at 3:6); rename or remove one"),
    ("relation @P(b)", "relation P is declared twice (first at 6:10); rename or remove one"),
    ("bound @a 3", "the bound of a is declared twice (first at 10:7); rename or remove one"),
    ("sort z = { k1 } relation Z(z)", "the constant k1 is in two sorts, k and z; rename one"),
    ("tool t()\ntool @t()", "tool t is declared twice (first at 11:6); rename or remove one"),
    ("spec s N spec @s N", "spec s is declared twice"),
    ("tool t() policy p call t() policy @p call t()", "policy p is declared twice"),
    ("view P(x) view @P(y)", "view of P is declared twice"),
    ("define D() = N define @D() = N", "define D is declared twice"),
    ("define @P(x: a) = N", "P is a relation as well as a define; rename one"),
    ("tool t(x: a, @x: b)", "parameter of t, x is declared twice"),
    ("view R(x, @x)", "column of the view of R, x is declared twice"),
    ("tool t() effect insert R(x, x) for x, @x", "variable of this insert, x is declared twice"),
    ('system """a"""\n@system """b"""', "a second `system` text; join the two"),
    # unknown
    ("relation @Z(zz)", "relation Z uses the unknown sort zz; "),
    ("init @Z(c0)", "unknown relation Z; declare it with `relation Z(…)`"),
    ("bound @aa 1", "unknown sort aa; declare it with `sort aa`"),
    ("tool t(@x: zz)", "unknown sort zz; declare it with `sort zz`"),
    ("tool t(@x)", "the parameter x of t has no sort; write `x: SORT`"),
    ("tool t() effect choose @x", "`choose x` has no sort; write `choose x: SORT`"),
    ("tool t() effect clear P, Z", "unknown relation Z; declare it with `relation Z(…)`"),
    ("tool t() effect insert P(@y) fresh y: a", "unknown name y: "),
    ("tool t(p: a) effect insert P(@pp)", "unknown name pp: "),
    ("tool t(p_id: a) effect insert P(@p_di)", "; did you mean p_id?"),
    ("view @Z(x)", "unknown relation Z"),
    ("tool tick() policy p call @tack()", "unknown tool tack; did you mean tick?"),
    ("spec s forall x. P(x) & P(@y)", "unknown name y: no binder declares it and it is no constant of the "
                                      "deployment; introduce it (a quantifier; in an effect `choose` "
                                      "or `fresh`), or put it in a finite sort or `init`"),
    ("tool t(x: a) policy p call t(x) when P(@z)", "unknown name z: "),
    # sort and arity
    ("init R(c0, @c1)", "c1 is no value of sort k, which argument 2 of R takes; write k1 or k2"),
    ("relation B(b) init B(@c0)", "c0 is of sort a (from 9:8), but argument 1 of B takes b; rename one"),
    ("relation B(b) init B(@k1)", "k1 is of sort k, but argument 1 of B takes b; rename one of the two"),
    ("init @P(c0, c1)", "the fact P(c0, c1) has 2 arguments, but P takes 1; give it that many"),
    ("bound @k 1", "sort k is finite: its values are all constants, which no bound limits; remove the line"),
    ("tool t() effect @fresh x: k", "sort k is finite: its values are all constants, so none is fresh; "),
    ("tool t() effect insert P(@k1)", "k1 is of sort k, but argument 1 of P is of sort a"),
    ("tool t() effect insert N for @x where x = x", "nothing says of which sort x is; write `x: SORT`"),
    ("define D() = N tool t() effect insert @D()", "D is a define, not data; name a relation"),
    ("view @R(x)", "the view of R names 1 columns of 2; name them all"),
    ("view P(@x: k)", "column x of P is of sort a, not k; leave the sort out"),
    ("tool t(x: a) policy p call @t()", "t takes 1 arguments (x: a), not 0; give it that many"),
    ("tool t(x: a, y: k) policy p call t(z, @z)", "z stands for a a and for a k; use two variables"),
    ("sort @z = { }", "sort z is empty; list at least one value"),
    # where things may stand
    ("tool t() guard @AX N",
     "a temporal operator stands in a first-order formula; only `spec` may hold them"),
    ("fair @EF N", "a temporal operator stands in a first-order formula; "),
    ("define D() = @AG N", "a temporal operator stands in a first-order formula"),
    ("tool t() guard @P'(c0)", "P' reads the state after the call; only `ensure` may do so"),
    ("tool t() effect insert P(c0) where @empty(P)", "empty(P) reads the state after the call"),
    ("tool t() effect ensure N @clear P", "`ensure` stands in place of other statements, not beside them"),
    ("policy @p", "policy p has no rule; write `call TOOL(…)` lines"),
    ("define D() = E define E() = @D",
     "the define D leads back to itself (D uses E uses D); break the cycle"),
    # names
    ("relation @not(a)", "not is a word of the formulas; give the relation another name"),
    ("relation B(b) init B(@exists)",
     "exists is a word of the formulas; give the constant another name"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[text for text, _ in REFUSED])
def test_refused_in_one_line_with_the_place(text, message):
    full = BASE + text
    with pytest.raises((ParseError, DeclarationError)) as error:
        parse_deployment(full.replace("@", ""), "f.stead")
    line = str(error.value)
    assert "\n" not in line
    assert message in line
    if "@" in full:
        before = full[: full.index("@")]
        place = f"f.stead:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}: "
        assert line.startswith(place)


TOKENS = re.findall(r'"[^"]*"|\w+|\S', print_deployment(parse_deployment(BASE + """
define D(x: a) = P(x)
tool t(p: a, q: k) "Do." guard D(p) effect when N choose x: a where x = p fresh y: a insert R(y, q) for z: k
view R(x, y) where P(x)
policy p call t(x, k1) when ~P(x)
fair N
spec s AG forall x. A[P(x) U N] -> atleast 1 y. R(x, y)
system "Work."
""")))  # fmt: skip


@given(st.data())
def test_any_text_is_a_deployment_or_refused_in_one_line(data):
    tokens = list(TOKENS)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(tokens) - 1))
        other = data.draw(st.sampled_from(TOKENS))
        match data.draw(st.sampled_from(["drop", "swap", "insert"])):
            case "drop":
                del tokens[place]
            case "swap":
                tokens[place] = other
            case "insert":
                tokens.insert(place, other)
    refusal = "f:1:1: none"
    try:
        deployment = parse_deployment(" ".join(tokens), "f")
    except InputError as error:
        refusal = str(error)
    else:
        assert parse_deployment(print_deployment(deployment)) == deployment
    assert "\n" not in refusal
    assert refusal.startswith(("f:1:", "the deployment has no name"))
    assert ": " in refusal


def test_the_deepest_formula_goes_all_the_way():
    deep = "~" * (fo.MAX_DEPTH - 6) + "N"  # the items around a formula count as well
    d = parse_deployment(BASE + f"define D() = {deep} tool t() guard {deep} effect ensure {deep} spec s AG D")
    assert parse_deployment(print_deployment(d)) == d
    assert holds(d.tools[0].guard, d.init) is False
    assert not lint(d)


def test_a_file_without_a_name():
    with pytest.raises(DeclarationError, match=r"the deployment has no name; start with `deployment NAME`"):
        parse_deployment("sort a")


# -- files


def test_files_that_are_no_text(tmp_path):
    binary = tmp_path / "binary.stead"
    binary.write_bytes(b"deployment \xff\xfe")
    with pytest.raises(InputError, match=r"binary.stead: not a text file \(byte 11 is not UTF-8\)"):
        read_deployment(binary)
    with pytest.raises(InputError, match=r"missing.stead: cannot be read \(No such file or directory\)"):
        read_deployment(tmp_path / "missing.stead")
    with pytest.raises(InputError, match=r"cannot be read \(Is a directory\)"):
        read_deployment(tmp_path)
    with pytest.raises(InputError, match="not a path"):
        read_deployment("a\0b")


def test_a_file_of_another_system(tmp_path):
    file = tmp_path / "d.stead"
    file.write_bytes(b"\xef\xbb\xbf" + BASE.replace("\n", "\r\n").encode())
    assert read_deployment(file) == parse_deployment(BASE)
