"""Bad input gives one line, with the place where it stands, and exit status 2 without a stack trace."""

from __future__ import annotations

import re

import pytest

import whole
from stead_sym.cli.main import main
from stead_sym.deployment.language import read_deployment
from stead_sym.errors import AgentError, BoundExceeded, DefinitionError, InputError, NoEffect, NothingOffered
from stead_sym.verification.verify import verify

GOOD = """deployment desk
sort job
sort place = { inbox, outbox } rigid
relation At(job, place)
relation Seen(job)
init
  At(first, inbox)
bound job 1
define waiting(j: job) = At(j, inbox)
tool idle() "Do nothing."
tool move(j: job) "Move a job on."
  guard waiting(j)
  effect
    delete At(j, inbox)
    insert At(j, outbox)
view At(j, p)
policy mover
  call move(j) when At(j, inbox)
  call idle()
spec moved AG forall j. (At(j, inbox) -> EF At(j, outbox))
"""


def edit(old, new):
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


TEXTS = {
    "unknown sort": (edit("relation Seen(job)", "relation Seen(jobb)"), 5, "sort", "jobb"),
    "unknown sort of a parameter": (edit("move(j: job)", "move(j: jb)"), 11, "sort", "jb"),
    "unknown sort of a binder": (edit("forall j. (", "forall j: jobs. ("), 20, "sort", "jobs"),
    "a relation for a sort": (edit("forall j. (", "forall j in At. ("), 20, "At is a relation", "x"),
    "unknown sort of a bound": (edit("bound job 1", "bound jab 1"), 8, "sort", "jab"),
    "unknown relation in init": (edit("  At(first, inbox)", "  Att(first, inbox)"), 7, "relation", "Att"),
    "unknown relation in an effect": (
        edit("insert At(j, outbox)", "insert Ta(j, outbox)"), 15, "relation", "Ta"
    ),
    "unknown relation in a spec": (edit("EF At(j, outbox)", "EF Ats(j, outbox)"), 20, "relation", "Ats"),
    "unknown relation cleared": (
        edit("delete At(j, inbox)", "clear Sent"), 14, "relation", "Sent"
    ),
    "unknown tool": (edit("call idle()", "call idel()"), 19, "tool", "idel"),
    "unknown variable": (edit("when At(j, inbox)", "when At(i, inbox)"), 18, "unknown name", "i"),
    "unknown variable in a guard": (edit("guard waiting(j)", "guard waiting(k)"), 12, "unknown name", "k"),
    "too many arguments": (edit("EF At(j, outbox)", "EF At(j, outbox, j)"), 20, "2 arguments", "At"),
    "too few arguments": (edit("guard waiting(j)", "guard waiting()"), 12, "1 argument", "waiting"),
    "arity of a fact": (edit("  At(first, inbox)", "  At(first)"), 7, "1 arguments", "At"),
    "arity of a rule": (edit("call move(j)", "call move(j, j)"), 18, "1 arguments", "move"),
    "arity of a view": (edit("view At(j, p)", "view At(j)"), 16, "columns", "At"),
    "a variable of two sorts": (
        edit("-> EF At(j, outbox)", "-> EF At(first, j)"), 20, "of sort job", "place"
    ),
    "a constant in two sorts": (
        edit("sort job", "sort job\nsort thing = { inbox, jar }"), 4, "two sorts", "inbox"
    ),
    "a constant of init in two sorts": (
        edit("relation Seen(job)", "sort day\nrelation Seen(day)").replace(
            "  At(first, inbox)", "  At(first, inbox)\n  Seen(first)"
        ),
        9, "of sort job", "first",
    ),
    "a constant of the wrong sort": (edit("guard waiting(j)", "guard waiting(inbox)"), 12, "sort", "inbox"),
    "a value that the sort does not list": (
        edit("  At(first, inbox)", "  At(first, nowhere)"), 7, "no value of sort place", "nowhere"
    ),
    "a temporal operator in a guard": (
        edit("guard waiting(j)", "guard EF waiting(j)"), 12, "temporal operator", "spec"
    ),
    "a temporal operator in a view": (
        edit("view At(j, p)", "view At(j, p) where AG At(j, p)"), 16, "temporal operator", "spec"
    ),
    "a temporal operator in a rule": (
        edit("when At(j, inbox)", "when AX At(j, inbox)"), 18, "temporal operator", "spec"
    ),
    "a temporal operator in a define": (
        edit("= At(j, inbox)", "= EX At(j, inbox)"), 9, "temporal operator", "spec"
    ),
    "a temporal operator in an effect": (
        edit("insert At(j, outbox)", "insert At(j, outbox) where AF Seen(j)"), 15, "temporal", "spec"
    ),
    "a policy without rules": (
        edit("  call move(j) when At(j, inbox)\n  call idle()\n", ""), 17, "no rule", "mover"
    ),
    "a primed symbol outside ensure": (edit("guard waiting(j)", "guard At'(j, inbox)"), 12, "ensure", "At'"),
    "a fresh value of a finite sort": (
        edit("delete At(j, inbox)", "fresh p: place"), 14, "finite", "choose"
    ),
    "a name declared twice": (edit("relation Seen(job)", "relation At(job)"), 5, "twice", "At"),
    "an empty sort": (edit("{ inbox, outbox }", "{ }"), 3, "empty", "place"),
    "a sort that nothing determines": (
        edit("spec moved AG", "spec odd AG exists x. true\nspec moved AG"), 20, "of which sort", "x"
    ),
    "something that is no item": (edit("view At(j, p)", "veiw At(j, p)"), 16, "", "veiw"),
    "a bracket that is missing": (edit("guard waiting(j)", "guard (waiting(j)"), 13, "", ""),
    "a bound that is no number": (edit("bound job 1", "bound job many"), 8, "", "many"),
}  # fmt: skip


def one_line(message, path, line):
    """The message is one line that starts with the place."""
    assert "\n" not in message
    assert "Traceback" not in message
    match = re.match(rf"{re.escape(str(path))}:(\d+):(\d+): \S", message)
    assert match, message
    assert int(match[1]) == line, message
    assert int(match[2]) >= 1


def test_the_text_that_the_cases_vary_is_right(tmp_path):
    path = tmp_path / "desk.stead"
    path.write_text(GOOD, encoding="utf-8")
    assert main(["verify", str(path), "--policy", "mover"]) == 0


@pytest.mark.parametrize("case", TEXTS)
def test_a_wrong_text(case, tmp_path, capsys):
    text, line, what, name = TEXTS[case]
    path = tmp_path / "desk.stead"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_deployment(path)
    message = str(caught.value)
    one_line(message, path, line)
    assert what in message
    assert name in message
    assert ";" in message or "expected" in message  # what to do
    assert main(["verify", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    shown = err.strip()
    assert message in shown
    assert "\n" not in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00deployment", b"\x7fELF\x02\x01\xb2\xff", b"deployment caf\xe9\n"]
)
def test_a_file_that_is_not_text(content, tmp_path, capsys):
    path = tmp_path / "desk.stead"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a text file") as caught:
        read_deployment(path)
    assert str(path) in str(caught.value)
    assert main(["verify", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b"# nothing here\n"])
def test_a_file_with_nothing_to_read(content, tmp_path, capsys):
    path = tmp_path / "desk.stead"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_deployment(path)
    assert "\n" not in str(caught.value)
    assert main(["verify", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.strip().splitlines()) == 1


def test_a_file_that_is_not_there(tmp_path, capsys):
    path = tmp_path / "nothing.stead"
    with pytest.raises(InputError, match=re.escape(str(path))):
        read_deployment(path)
    assert main(["verify", str(path)]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_folder_is_no_file(tmp_path, capsys):
    with pytest.raises(InputError, match="cannot be read"):
        read_deployment(tmp_path)
    assert main(["verify", str(tmp_path)]) == 2
    assert "Traceback" not in capsys.readouterr().err


BREACHES = {
    "a bound that is exceeded": (
        BoundExceeded,
        edit("  guard waiting(j)\n  effect\n", "  effect\n    fresh n: job\n    insert Seen(n)\n"),
    ),
    "a state that offers nothing": (NothingOffered, edit('tool idle() "Do nothing."\n', "").replace(
        "  call idle()\n", ""
    )),
    "an offered call without effect, at the start": (NoEffect, edit("  effect\n", "  effect when Seen(j)\n")),
}  # fmt: skip


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
@pytest.mark.parametrize("case", BREACHES)
def test_a_breach_of_the_definition(case, engine, tmp_path, capsys):
    kind, text = BREACHES[case]
    path = tmp_path / "desk.stead"
    path.write_text(text, encoding="utf-8")
    deployment = read_deployment(path)
    """It is a verdict, on a claim of the file, but for what is wrong before anybody has done anything."""
    with pytest.raises(DefinitionError) as caught:
        whole.verify(deployment, engine=engine)
    error = caught.value
    assert type(error) is kind
    assert error.trace.start == deployment.init
    one_line(str(error), path, error.span.line)
    status = main(["verify", str(path), "--agent", "any", "--engine", engine])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    if kind is NoEffect:
        assert not error.trace.steps
        assert status == 2
        assert str(error).split(";")[0] in err
    else:
        assert error.trace.steps
        assert status == 1
        assert f"{error.claim}  fails" in out
    for step in error.trace.steps:  # the run that leads there is shown
        assert str(step.call) in out + err


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
def test_a_policy_that_selects_nothing(engine, tmp_path, capsys):
    path = tmp_path / "desk.stead"
    path.write_text(edit("  call idle()\n", ""), encoding="utf-8")
    deployment = read_deployment(path)
    with pytest.raises(AgentError, match="selects nothing") as caught:
        verify(deployment, deployment.policy("mover"), engine=engine)
    one_line(str(caught.value), path, 17)
    assert main(["verify", str(path), "--policy", "mover", "--engine", engine]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--policy", "movr"],
        ["--spec", "moevd"],
        ["--engine", "quantum"],
        ["--domain", "job=0"],
        ["--domain", "jab=5"],
        ["--domain", "job=many"],
        ["--no-such-option"],
    ],
)
def test_wrong_options(options, tmp_path, capsys):
    path = tmp_path / "desk.stead"
    path.write_text(GOOD, encoding="utf-8")
    agent = [] if "--policy" in options else ["--agent", "any"]
    assert main(["verify", str(path), *agent, *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err
