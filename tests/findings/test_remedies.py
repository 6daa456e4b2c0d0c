"""A remedy that is text of the language does what it is proposed for, pasted into the file of its finding.

Pasted, it parses; the finding is gone; and no specification comes to hold, without a finding, for an agent
that does nothing where it failed for that agent before. Files are pasted into as they are printed, so that a
formula stands in the text as a finding quotes it. What is proposed under a condition may come to hold for
such an agent (`exists x in s`, "if one that no fact holds is to count": that is for the author to say).

`STEAD_REMEDIES`, folders separated by `:`, adds all files below them, and all of the corpus to the sample.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import hypothesis.strategies
import pytest
from hypothesis import event, given, settings

import stead_sym as st
import stead_sym.logic.syntax as fo
from engine_pairs import examples
from finding_traps import BASE, TRAPS
from generated.deployments import deployments
from stead_sym.deployment.deployment import print_deployment
from stead_sym.verification.findings.occurrences import occurrences, replaced, without_part

TESTS = Path(__file__).resolve().parents[1]
FOLDERS = (TESTS.parent / "src/stead_sym/examples", TESTS / "conformance", TESTS / "conformance2")
pytestmark = pytest.mark.gate

MORE = [Path(folder) for folder in os.environ.get("STEAD_REMEDIES", "").split(":") if folder]
EVERY = 1 if MORE else 30
"""Of the generated files every so many are looked at."""


def corpus():
    yield from (
        (f"{trap.kind}-{number}-{which}", BASE + getattr(trap, which))
        for number, trap in enumerate(TRAPS)
        for which in ("falls", "stays_out")
    )
    for folder in FOLDERS:
        files = sorted(folder.glob("*.stead"))
        for path in files if "examples" in folder.name else files[::EVERY]:
            yield f"{folder.name}/{path.stem}", path.read_text(encoding="utf-8")
    for folder in MORE:
        for path in sorted(folder.rglob("*.stead")):
            yield f"{folder.name}/{path.stem}", path.read_text(encoding="utf-8")


def offset(text, place):
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: place.line - 1]) + place.column - 1


def exchanged(text, place, old, new):
    """The text with ``new`` for ``old`` at the place."""
    at = offset(text, place)
    return text[:at] + new + text[at + len(old) :] if text.startswith(old, at) else None


def without_line(text, place):
    lines = text.split("\n")
    return "\n".join(lines[: place.line - 1] + lines[place.line :])


def pasted(text, finding):
    """Return what the remedy of the finding makes of the text, in each way that it proposes; nothing where
    it is prose, or has a place to fill in that only the author can fill."""
    quoted = re.findall(r"`([^`]*)`", finding.remedy)
    about = re.findall(r"`([^`]*)`", finding.text)
    place = finding.place
    match finding.kind:
        case "starvation" if "add th" in finding.remedy:
            lines = [line for line in about if line.startswith("fair ")]
            yield "add `fair …`", "\n".join([text.rstrip(), *lines, ""])
        case "about no given agent" if quoted:
            name = quoted[0].removeprefix("spec ")  # its place is that of the name
            written = name.replace(" for any, ", " for ").removesuffix(" for any")
            yield "`for any`", exchanged(text, place, written, name)
        case "inactive values" if "in the place of `_`" not in finding.remedy:
            # all variables of a list; what is about a later one of them proposes the same
            head = re.match(rf"{about[0]}\b[\w:, ]*\.", text[offset(text, place) :])
            yield "`in s`", exchanged(text, place, head.group(), quoted[-1]) if head else None
        case "identifiers return":
            body = about[0].removeprefix("AG ").removeprefix("~EF ")
            body = body if about[0].startswith("AG") else f"~{body}"
            yield "`A[… W …]`", exchanged(text, place, about[0], quoted[0].replace("…", body, 1))
        case "key at risk":
            yield "`set`", exchanged(text, place, about[0], quoted[0])
        case "no value initially":
            for prefix in quoted:
                yield f"`{prefix[:2]} …`", exchanged(text, place, "", f"{prefix[:2]} ")
        case "vacuous" if quoted or "leave it out" in finding.remedy or "write that" in finding.remedy:
            yield "simpler", simpler(text, finding, about, quoted)
        case "unused define" | "rule never matches" | "rule never selects":
            yield "remove it", without_line(text, place)
        case _:
            pass


def simpler(text, finding, about, quoted):
    """The text with the specification of a vacuous finding as its remedy has it."""
    deployment = st.parse_deployment(text, "f")
    spec = next(spec for spec in deployment.specs if spec.name == finding.spec)
    part = next(
        o for o in occurrences(spec.formula) if str(o.formula) == about[0] and o.place == finding.place
    )
    path, parent, child = part.path[:-1], part.above[-1], part.path[-1]
    if "write that" in finding.remedy:
        whole = replaced(spec.formula, part.path, deployment.formula(about[1], scope(part)))
    elif "leave it out" in finding.remedy:
        left = without_part(parent, child, by=about[1] == "true")
        assert left is not None
        whole = replaced(spec.formula, path, left)
    else:
        assert quoted[1] == str(parent)
        whole = replaced(spec.formula, path, deployment.formula(quoted[0], scope(part)))
    written = next(spec for spec in deployment.written.specs if spec.name == finding.spec)
    line = re.search(rf"(?m)^spec {spec.name}\b[^\n]*\n  (?={re.escape(str(written.formula))}$)", text)
    return text[: line.end()] + str(whole) + text[line.end() + len(str(written.formula)) :]


def scope(occurrence):
    """The sorts of the variables that the formulas around the occurrence bind."""
    return {f.binder.name: f.binder.sort for f in occurrence.above if isinstance(f, fo.Quantified)}


def idle_policy(deployment):
    """A policy, as text, that only makes calls of tools without an effect."""
    if len(deployment.agents) != 1 or deployment.agents[0].name:
        return ""
    quiet = [tool for tool in deployment.tools if not any(effect.statements for effect in tool.effects)]
    calls = [f"  call {tool.name}({', '.join(p.name for p in tool.params)})" for tool in quiet]
    return "\n".join(["", "policy does_nothing", *calls, ""]) if calls else ""


def green(text, agent):
    """The specifications that hold without a finding, and those that do not hold."""
    deployment = st.parse_deployment(text, "f")
    result = st.verify(deployment, agent)
    doubted = {finding.spec for finding in result.findings}
    holds = {name for name, verdict in result.verdicts.items() if verdict.holds}
    return holds - doubted, result.verdicts.keys() - holds


def told(result):
    """Return how often each kind is found of each specification, as findings may quote what is pasted."""
    return Counter((finding.kind, finding.spec) for finding in result.findings)


def examined(name, source):
    """(kind, way, outcome, details) for each remedy that is pasted into the file, under each policy."""
    text = print_deployment(st.parse_deployment(source, name))
    deployment = st.parse_deployment(text, "f")
    policies = [p.name for p in deployment.policies] if len(deployment.agents) == 1 else []
    idle = idle_policy(deployment)
    try:
        fails_idle = green(text + idle, "does_nothing")[1] if idle else frozenset()
    except st.errors.AgentError:  # somewhere no such call is offered
        idle, fails_idle = "", frozenset()
    for agent in ("any", *policies):
        before = st.verify(deployment, agent)
        for finding in before.findings:
            for way, after in pasted(text, finding):
                yield finding, agent, way, *outcome(after, finding, agent, before, idle, fails_idle)


def outcome(after, finding, agent, before, idle, fails_idle):
    known = told(before)
    if after is None:
        return "no place", ""
    try:
        result = st.verify(st.parse_deployment(after, "f"), agent)
    except st.SteadError as error:
        return "error", str(error)
    found, same = told(result), (finding.kind, finding.spec)
    if finding.kind == "inactive values" and known[same] == 1:
        if result.verdicts[finding.spec].holds is before.verdicts[finding.spec].holds:
            return "same verdict", before.verdicts[finding.spec]
        if about_exists(finding):  # then it may be meant as it stands, whatever an idle agent does
            return "fine", ""
    if finding.kind == "vacuous":
        if result.verdicts[finding.spec].holds is not True:
            return "other verdict", result.verdicts[finding.spec]
        if "unused variable" in {kind for kind, _ in found - known} or finding.spec in {
            spec for _, spec in found - known
        }:
            return "new finding of it", (found - known, after)
    if found[same] >= known[same]:
        return "stays", ""
    if idle and (turned := fails_idle & green(after + idle, "does_nothing")[0]):
        return "idle turns green", sorted(turned)
    if new := found - known:
        return "new finding", sorted(str(f) for f in result.findings if (f.kind, f.spec) in new)
    return "fine", ""


def about_exists(finding):
    return finding.text.startswith("`exists")


LAW_BROKEN = ("error", "stays", "idle turns green", "other verdict", "same verdict", "new finding of it")


@pytest.mark.parametrize(("name", "source"), [pytest.param(*one, id=one[0]) for one in corpus()])
def test_what_a_remedy_proposes_can_be_pasted(name, source):
    broken = [
        (str(finding), agent, way, what, details)
        for finding, agent, way, what, details in examined(name, source)
        if what in LAW_BROKEN
    ]
    assert not broken


@given(deployments())
@settings(max_examples=examples(40), deadline=None)
def test_what_a_remedy_proposes_for_a_generated_deployment_can_be_pasted(deployment):
    tried = list(examined("generated", print_deployment(deployment)))
    for finding, _, _, what, _ in tried:
        event(f"{finding.kind}: {what}")
    broken = [
        (str(finding), agent, way, what, details)
        for finding, agent, way, what, details in tried
        if what in LAW_BROKEN
    ]
    assert not broken


GUARDED = """
deployment guarded
sort n = 0..3
sort lead
relation Count(n)
relation Needs(lead)
relation Answered(lead)
relation Done()
init Count(0)
bound lead 2
tool up(a: n, b: n)
  guard Count(a) & succ(a, b) & a < 2
  effect
    delete Count(a)
    insert Count(b)
tool down(a: n, b: n)
  guard Count(a) & succ(b, a)
  effect
    delete Count(a)
    insert Count(b)
tool answer(l: lead)
  guard Needs(l)
  effect
    delete Needs(l)
    insert Answered(l)
event ask()
  guard atmost 1 l. (Needs(l) | Answered(l))
  effect
    fresh l: lead
    insert Needs(l)
tool wait()
spec s {}
"""
ABOUT_N = ("Count(a)", "a <= 2", "a < 2", "a = 0", "~Count(a)", "a >= 1", "a != 3")
ABOUT_LEADS = ("Needs(l)", "Answered(l)", "~Answered(l)", "l = l", "(Needs(l) | Answered(l))")
PLAIN = ("Done()", "~Done()", "(exists k: lead. Needs(k))", "(forall b: n. (Count(b) -> b < 3))")
LATER = ("AX ~Done()", "EF Count(2)", "AG (exists b: n. Count(b))", "A[~Done() W Count(1)]", "AF Done()")


@hypothesis.strategies.composite
def guarded(draw):
    """A specification about every state: quantifiers over a part that conditions guard."""
    binders, parts = draw(
        hypothesis.strategies.sampled_from(
            (
                ("forall a: n. ", (*ABOUT_N, *PLAIN[:2])),
                ("forall l: lead. ", (*ABOUT_LEADS, *PLAIN)),
                ("forall a: n. forall l: lead. ", (*ABOUT_N, *ABOUT_LEADS)),
                ("~exists a: n. ~", ABOUT_N),
                ("atmost 1 a: n. ", ABOUT_N),
                ("", (*PLAIN, *LATER)),
            )
        )
    )

    def term(depth):
        if depth == 0 or draw(hypothesis.strategies.integers(0, 3)) == 0:
            return draw(hypothesis.strategies.sampled_from((*parts, *LATER[:1])))
        word = draw(hypothesis.strategies.sampled_from(("->", "->", "&", "|")))
        return f"({term(depth - 1)} {word} {term(depth - 1)})"

    return f"AG {binders}({term(2)} -> {term(1)})"


@given(guarded())
@settings(max_examples=examples(150), deadline=None)
def test_what_is_said_of_a_condition_that_does_not_matter_can_be_followed(formula):
    deployment = st.parse_deployment(GUARDED.format(formula), "f")
    for finding, _, _, what, details in examined("guarded", print_deployment(deployment)):
        event(f"{finding.kind}: {what}")
        assert what not in LAW_BROKEN, (str(finding), what, details)
