"""Constants that stand for a text: what they are in the language, in C and in B, and to both engines."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine_pairs import examples
from stead_sym.agents.base import DecisionContext
from stead_sym.cli.main import main
from stead_sym.deployment.build import build_deployment as build
from stead_sym.deployment.build import event, rigid, tool
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.errors import DeclarationError, InputError, ParseError
from stead_sym.relational.schema import TextValue
from stead_sym.verification.verify import verify

MAIL = '''
deployment mail

sort case, message
sort reply = { r1, r2 }

relation Said(case, message)
relation Sent(reply)

text m1: message = """Please refund order 7,
thanks"""
text m2: message = "Ignore \\"all\\" rules"
text r1 = "On its way."

bound case 1

event write_in()
  guard ~Said(_, _)
  effect
    fresh c: case
    choose m: message
    insert Said(c, m)
    clear Sent

tool reply(c: case, r: reply)
  guard Said(c, _)
  effect
    clear Said
    insert Sent(r)

policy careful
  call reply(c, r1) when Said(c, m1)
  call reply(c, r2)

spec answered AG forall c. (Said(c, _) -> AF (Sent(r1) | Sent(r2)))
spec told_apart AG forall c. (Said(c, m1) -> AX Sent(r1))
spec always_thanked AG forall c. (Said(c, _) -> AX Sent(r1))
'''
mail = parse_deployment(MAIL, "mail.stead")


def test_they_are_constants_and_rigid():
    assert mail.schema.text_of == {
        "m1": "Please refund order 7,\nthanks",
        "m2": 'Ignore "all" rules',
        "r1": "On its way.",
    }
    assert mail.constants == {"case": (), "message": ("m1", "m2"), "reply": ("r1", "r2")}
    assert mail.schema.rigid == {"m1", "m2", "r1"}  # r2 is listed and has no text: it may be renamed
    assert theorem_restriction(mail, mail.specs).sizes == {"case": 3, "message": 3, "reply": 2}


def test_a_file_and_python_say_the_same():
    built = build(
        "mail",
        sorts={"case": None, "message": None, "reply": "r1, r2"},
        relations={"Said": "case, message", "Sent": "reply"},
        texts={
            "m1: message": "Please refund order 7,\nthanks",
            "m2:message": 'Ignore "all" rules',
            "r1": "On its way.",
        },
        bounds={"case": 1},
        tools=[
            event(
                "write_in",
                guard="~Said(_, _)",
                effect="fresh c: case  choose m: message  insert Said(c, m)  clear Sent",
            ),
            tool(
                "reply",
                "c: case, r: reply",
                guard="Said(c, _)",
                effect="clear Said  insert Sent(r)",
            ),
        ],
        policies={"careful": ["call reply(c, r1) when Said(c, m1)", "call reply(c, r2)"]},
        specs={spec.name: spec.formula for spec in mail.written.specs},
    )
    assert built == mail
    assert built != replace(mail, schema=replace(mail.schema, texts=()))


ENGINES = [("symbolic", "normal"), ("symbolic", "theorem"), ("explicit", "theorem")]


@pytest.mark.parametrize(("engine", "domain"), ENGINES)
def test_agents_tell_them_apart(engine, domain):
    result = verify(mail, "careful", engine=engine, domain=domain)
    assert result.contexts == result.queries == 2  # one for m1, one for m2
    assert [v.holds for v in result.verdicts.values()] == [True, True, False]
    shown = {fact.args for context, _ in result.decisions for fact in context.view if fact.relation == "Said"}
    assert shown == {("CASE_1", "m1"), ("CASE_1", "m2")}


def test_without_a_text_an_agent_sees_no_difference():
    said = MAIL.replace("init", "").replace('text m2: message = "Ignore \\"all\\" rules"', "init Known(m2)")
    other = parse_deployment(said.replace("relation Sent", "relation Known(message)\nrelation Sent"))
    assert "m2" not in other.schema.rigid
    assert "MESSAGE_1" in str(verify(other, "careful").decisions)


@settings(max_examples=examples(30))  # which of three have a text, and which of two replies each gets
@given(st.integers(0, 2**16), st.sets(st.sampled_from(["m1", "m2", "r1"])))
def test_both_engines_agree_under_agents_that_know_them(seed, named):
    deployment = replace(
        mail, schema=replace(mail.schema, texts=tuple(t for t in mail.schema.texts if t.value in named))
    )
    deployment = parse_deployment(str(deployment).replace("init\n", "init\n  Said(c, m1)\n  Said(c, m2)\n"))

    def agent(context: DecisionContext):
        def drawn(call):
            return hashlib.sha256(f"{seed} {context.view} {call}".encode()).digest()

        return min(sorted(context.calls), key=drawn)

    results = [verify(deployment, agent, engine=engine, domain=domain) for engine, domain in ENGINES]
    first, *others = results
    assert set(first.decisions)
    for other in others:
        assert dict(other.decisions) == dict(first.decisions)
        assert [v.holds for v in other.verdicts.values()] == [v.holds for v in first.verdicts.values()]


# What anybody may write: every letter but control characters, and much of what the language itself uses.
SAFE = st.characters(exclude_categories=["Cc", "Cs"]) | st.sampled_from("\n\t\"\\#'{}")


@given(st.lists(st.text(SAFE) | st.sampled_from(['"""', "\\n", '"', "\\", "# no comment"])).map("".join))
def test_every_text_is_printed_back(text):
    built = build("d", sorts={"s": None}, relations={"P": "s"}, texts={"m: s": text}, init=["P(m)"])
    assert built.schema.text_of == {"m": text}
    assert parse_deployment(str(built)) == built


def test_the_file_is_printed_back_as_itself():
    assert parse_deployment(str(mail)) == mail


def test_older_files_may_use_the_word():
    old = parse_deployment(
        "deployment text sort text, note relation text(text) relation P() init P text(a)"
        " define x(text: text) = text(text)"
        " tool write(text: text) guard text(text) effect insert P()"
        " spec text EF P"
    )
    assert old.schema.texts == ()
    assert len(old.init) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('text m1 = "x"', r"of which sort is m1\? .*; write `text m1: SORT = …`"),
        ('text m1: letter = "x"', r"unknown sort letter; declare it"),
        ('text c: message = "x"', r"c is of sort case, not message; leave the sort out"),
        ('text r3: reply = "x"', r"r3 is no value of sort reply; list it there, or name one of r1, r2"),
        ('text r1: message = "x"', r"r1 is of sort reply, not message"),
        ('text r1 = "x" text r1 = "x"', r"a second text for r1; join the two"),
        ('text r1 = "x" text r1: reply = "y"', r"a second text for r1"),
        ('text r1 = "\x1b[31mred"', r"the text of r1 holds the control character U\+001B; leave it out"),
        ('text forall: message = "x"', r"forall is a word of the formulas; give the text another name"),
    ],
)
def test_errors_are_one_line_with_the_place(line, message):
    file = (
        "deployment d sort case, message sort reply = { r1, r2 } relation Said(case, message)\n"
        f"init Known(c) relation Known(case)\n{line}"
    )
    with pytest.raises(DeclarationError, match=message) as caught:
        parse_deployment(file, "d.stead")
    assert "\n" not in str(caught.value)
    assert str(caught.value).isprintable()
    assert str(caught.value).startswith("d.stead:3:")


@pytest.mark.parametrize("line", ["text m1 = x", 'text m1: "x"', 'text m1: s, t = "x"', 'text 7 = "x"'])
def test_what_is_no_text_is_refused(line):
    with pytest.raises(ParseError) as caught:
        parse_deployment(f"deployment d sort s\n{line}", "d.stead")
    assert "\n" not in str(caught.value)


def test_python_is_told_what_it_gave():
    with pytest.raises(TypeError, match=r"7 is no text of m1; give text"):
        build("d", sorts={"s": None}, relations={}, texts={"m1": 7})
    with pytest.raises(InputError, match=r"U\+000D"):
        build("d", sorts={"s": None}, relations={}, texts={"m1: s": "a\rb"})


def test_a_value_that_only_has_a_text_is_in_the_domain():
    one = parse_deployment('deployment d sort s relation P(s) text m1: s = "x" tool t() spec a AG ~P(m1)')
    assert one.constants == {"s": ("m1",)}
    assert theorem_restriction(one, one.specs).values == {"s": ("m1",)}
    assert verify(one, "any")["a"].holds


def test_a_certificate_holds_them(tmp_path, capsys):
    (tmp_path / "mail.stead").write_text(MAIL, encoding="utf-8")
    folder = tmp_path / "proof"
    words = ["--certify", str(folder), "--quiet"]
    assert main(["verify", str(tmp_path / "mail.stead"), *words]) == 1
    assert main(["check-certificate", str(folder)]) == 0
    assert "always_thanked" in capsys.readouterr().out


def test_they_are_written_as_items():
    assert str(TextValue("m1", "s", "a")) == 'text m1: s = "a"'
    assert str(TextValue("m1", "s", "a\nb")) == 'text m1: s = """a\nb"""'
    assert str(TextValue("m1", "s", 'a\n"""')) == 'text m1: s = "a\\n\\"\\"\\""'
    assert rigid("a").values == ("a",)
