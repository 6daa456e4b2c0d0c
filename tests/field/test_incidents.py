"""Incidents that were reported of agents, each as a deployment that has the fault and one that does not.

With `--strict` a faulty one ends with status 1 and a correct one with 0: nothing that is said of a correct
deployment counts against it.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from stead_sym.cli.main import main


@dataclass(frozen=True)
class Incident:
    """A text in which ``fault`` stands, what stands there when it is mended, and the options of either."""

    text: str
    fault: str
    mended: str
    faulty: tuple[str, ...] = ()
    correct: tuple[str, ...] = ()


SHELL = """
deployment shell
sort input = { look, merge, push, edit } rigid
relation Window()
relation Merged()
relation Pushed()
relation Edited()
tool run(i: input) "One command of the agent."
  effect
    insert Merged() where i = merge
    insert Pushed() where i = push
    insert Edited() where i = edit
event open_window()
  guard ~Window()
  effect insert Window()
event close_window()
  guard Window()
  effect clear Window
event next_task()
  guard Merged() | Pushed() | Edited()
  effect clear Merged, Pushed, Edited
gate review
  permit run(_)
  forbid run(merge) when ~Window()
LINE
policy careful
  call run(push) when Window() & ~Pushed()
  call run(merge) when Window() & ~Merged()
  call run(look)
policy eager
  call run(merge) when ~Merged()
  call run(look)
spec merge_gated AG (~Window() & ~Merged() -> AX ~Merged())
spec push_gated AG (~Window() & ~Pushed() -> AX ~Pushed())
spec can_push for any, review AG EF Pushed()
"""
GUARDED = "  forbid run(push) when ~Window()"

REPOSITORIES = """
deployment repositories
sort repo
sort kind = { plain, poisoned } rigid
relation Public(repo)
relation Private(repo)
relation Issue(repo key, kind)
relation Seen(repo)
relation Copied(repo, repo)
bound repo 2
initially any Public, Private
  where forall r: repo. ~(Public(r) & Private(r))
event report(r: repo, k: kind)
  guard Public(r) & ~Issue(r, _)
  effect insert Issue(r, k)
event triage(r: repo)
  guard Issue(r, _)
  effect delete Issue(r, _)
event new_session()
  guard Seen(_)
  effect clear Seen
tool read(r: repo)
  guard Public(r) | Private(r)
  effect insert Seen(r)
tool propose(r: repo) "A pull request with all that was read."
  guard Public(r) | Private(r)
  effect insert Copied(p, r) for p where Seen(p)
tool wait()
gate one_repo
  permit read(r) when forall p. (Seen(p) -> p = r)
  permit propose(r) when forall p. (Seen(p) -> p = r)
  permit wait()
policy helpful
  call read(r) when (exists q. Issue(q, poisoned)) & Private(r) & ~Seen(r)
  call propose(r) when Public(r) & Seen(r) & ~Copied(r, r)
  call read(r) when Public(r) & ~Seen(r)
  call propose(r) when Issue(r, poisoned)
  call wait()
spec no_leak AG forall p, q. (Copied(p, q) & Private(p) -> ~Public(q))
spec useful for any AG forall r. (Public(r) -> EF Copied(r, r))
""".replace("(exists q. Issue(q, poisoned))", "(exists q. Issue(q, poisoned))")

APPROVALS = """
deployment approvals
sort call
sort name = { refund, lookup } rigid
sort phase = { pending, executed, refused } rigid
relation Call(id: call key, tool: name, phase: phase)
relation Always(name)
relation Refused(call)
bound call 1
define approved(c: call) = exists t. (Call(c, t, _) & Always(t))LINE
tool request(t: name)
  guard ~Call(_, _, _)
  effect
    fresh c: call
    insert Call(id = c, tool = t, phase = pending)
tool rest()
event say_no(c: call)
  guard Call(c, _, pending) & ~Refused(c)
  effect insert Refused(c)
event always(c: call, t: name)
  guard Call(c, t, pending) & ~Always(t)
  effect insert Always(t)
event run(c: call)
  guard Call(c, _, pending) & approved(c)
  effect set Call(c).phase = executed
event refuse(c: call)
  guard Call(c, _, pending) & Refused(c)
  effect set Call(c).phase = refused
event collect(c: call)
  guard Call(c, _, executed) | Call(c, _, refused)
  effect
    delete Call(id = c)
    delete Refused(c)
spec no_means_no AG forall c. (Refused(c) -> ~Call(c, _, executed))
""".replace("relation Said(call)\n", "")

PARALLEL = """
deployment parallel
sort times = 0..2
relation Refunded(times)
init Refunded(0)
calls batch 2
tool refund()
  guard LINE
  effect
    choose m: times where exists n. (Refunded(n) & succ(n, m))
    clear Refunded
    insert Refunded(m)
tool wait()
policy stutters
  call refund() when Refunded(0)
  call wait()
spec once AG forall n. (Refunded(n) -> n <= 1)
spec paid EF Refunded(1)
"""

STALE = """
deployment stale
sort task, file
relation Task(task)
relation File(file)
relation Fresh(task, file)
relation Lost(file)
bound task 2
bound file 1
event create()
  guard ~File(_)
  effect
    fresh f: file
    insert File(f)
event start()
  guard atmost 1 t. Task(t)
  effect
    fresh t: task
    insert Task(t)
event edit(f: file) "Somebody else."
  guard File(f)
  effect delete Fresh(_, f)
tool read(t: task, f: file)
  guard Task(t) & File(f)
  effect insert Fresh(t, f)
tool write(t: task, f: file)
  guard Task(t) & File(f)LINE
  effect
    insert Lost(f) where ~Fresh(t, f)
    delete Fresh(u, f) for u where u != t
tool rest()
spec nothing_lost AG ~Lost(_)
"""

COUNTER = """
deployment counter
sort n = 0..4
relation Running(n)
init Running(0)
tool start(a: n, b: n)
  guard Running(a) & succ(a, b)LINE
  effect
    delete Running(a)
    insert Running(b)
tool finish(a: n, b: n)
  guard Running(a) & succ(b, a)
  effect
    delete Running(a)
    insert Running(b)
spec limit AG forall a. (Running(a) -> a <= 2)
"""

LEADS = """
deployment leads
sort lead
relation Needs(lead)
relation Answered(lead)
relation Done()
bound lead 2
initially any Needs
tool answer(l: lead)
  guard Needs(l) & ~Answered(l) & ~Done()
  effect insert Answered(l)
tool finish()
  guard ~Done()LINE
  effect insert Done()
tool rest()
spec all_answered AG (Done() -> forall l. (Needs(l) -> Answered(l)))
"""

INCIDENTS = {
    "the shell's gate leaves pushing out": Incident(
        SHELL, "", GUARDED, ("--gate", "review", "--agent", "any"), ("--gate", "review", "--agent", "any")
    ),
    "the shell's gate is read with a policy that never pushes": Incident(
        SHELL, GUARDED, GUARDED,
        ("--gate", "review", "--policy", "eager", "--spec", "push_gated"),
        ("--gate", "review", "--policy", "careful", "--spec", "push_gated", "merge_gated"),
    ),
    "a poisoned issue": Incident(
        REPOSITORIES, "", "", ("--policy", "helpful"), ("--gate", "one_repo", "--agent", "any")
    ),
    "an approval for always": Incident(APPROVALS, "", " & ~Refused(c)"),
    "two calls in one message": Incident(
        PARALLEL, "~Refunded(2)", "Refunded(0)", ("--policy", "stutters"), ("--policy", "stutters")
    ),
    "a write over what was changed since": Incident(STALE, "", " & Fresh(t, f)"),
    "a limit of a counter": Incident(COUNTER, "", " & a < 2"),
    "done before all are answered": Incident(
        LEADS, "", " & forall l. (Needs(l) -> Answered(l))"
    ),
}  # fmt: skip


def status(tmp_path, text, options):
    file = tmp_path / "incident.stead"
    file.write_text(text, encoding="utf-8")
    return main(["verify", str(file), "--strict", *options])


@pytest.mark.parametrize("incident", INCIDENTS.values(), ids=INCIDENTS.keys())
def test_a_faulty_deployment_is_told_from_a_correct_one(incident, tmp_path, capsys):
    assert status(tmp_path, incident.text.replace("LINE", incident.fault), incident.faulty) == 1
    capsys.readouterr()
    assert status(tmp_path, incident.text.replace("LINE", incident.mended), incident.correct) == 0, (
        capsys.readouterr().out
    )


def test_what_is_said_of_a_gate_alone_is_hedged_until_it_says_for_any(tmp_path, capsys):
    """That some agent can push behind the gate says nothing of the one that will run, so that the line has
    to say that this is meant; the gate that it names stays in it."""
    text = SHELL.replace("LINE", GUARDED).replace("for any, review", "for review")
    gated = ("--gate", "review", "--agent", "any")
    assert status(tmp_path, text, gated) == 1
    assert "write `spec can_push for any, review` if" in " ".join(capsys.readouterr().out.split())
    assert status(tmp_path, text.replace("for review", "for any, review"), gated) == 0
