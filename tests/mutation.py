"""Mutate decisions of the symbolic engine, and find those that no test sees.

    python tests/mutation.py                  # all of them, one at a time
    python tests/mutation.py --jobs 4
    python tests/mutation.py singles frames   # those with one of these words in their names
    python tests/mutation.py --list
    python tests/mutation.py frames --tests tests/symbolic/step

Each mutation replaces one text in a copy of the package, by something that is wrong in one way: a
confirmation switched off, a count that is one too many, a condition that has lost a part. Then tests run on
the copy until one fails: first those that mirror the module (`FIRST`), and where these pass all of `TESTS`.
A mutation is also killed where the tests come to no end (`LIMIT`, `TIMES`), as a wrong fixpoint may have it;
how many that are is counted. What no test fails on has SURVIVED, and the exit status is 1, unless the
mutation is argued to change no answer (`harmless`). A text that is no longer there, or more than once, is
an error: bring the mutation up to date. Not part of the gate.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "stead_sym"
TESTS = (
    "tests/test_semantics_pinned.py",
    "tests/symbolic/step",
    "tests/symbolic",
    "tests/test_ensure_forms.py",
    "tests/test_traces.py",
    "tests/test_engines_agree.py",
    "tests/test_workflows.py",
    "tests/test_desugarings.py",
    "tests/test_integers.py",
)
FIRST = {
    "bdd/manager": ("tests/symbolic/step/test_formulas.py", "tests/symbolic/bdd"),
    "bdd/fixpoint": ("tests/symbolic/bdd", "tests/test_action_fairness.py"),
    "bdd": ("tests/symbolic/bdd",),
    "encode/mutex": ("tests/symbolic/encode/test_mutex.py", "tests/symbolic/plan/test_guess.py"),
    "encode/values": ("tests/symbolic/encode/test_values.py", "tests/symbolic/check/test_held_values.py"),
    "encode": ("tests/symbolic/encode", "tests/symbolic/step/test_effects.py"),
    "/deployment/callers": ("tests/deployment/test_callers.py",),
    "step/history": ("tests/deployment/test_past.py", "tests/test_conformance.py"),
    "/logic/integers": ("tests/test_integers.py",),
    "step/integers": ("tests/test_integers.py",),
    "step/updates": ("tests/symbolic/step/test_updates.py", "tests/symbolic/plan/test_guess.py"),
    "step/invariants": ("tests/symbolic/step/test_invariants.py", "tests/symbolic/plan/test_guess.py"),
    "step": ("tests/symbolic/step", "tests/symbolic/plan/test_guess.py"),
    "plan": ("tests/symbolic/plan",),
    "/logic/activity": ("tests/logic/test_activity.py",),
    "/logic/derived": ("tests/logic/test_derived.py",),
    "/certificate/checker/needed": (
        "tests/test_without_bounds.py",
        "tests/test_views.py",
        "tests/certificate/test_every_number.py",
        "tests/test_views_over_more.py",
    ),
    "/certificate/checker/views": (
        "tests/certificate/test_every_number.py",
        "tests/test_views.py",
        "tests/test_views_over_more.py",
    ),
    "/certificate/checker/over_names": ("tests/certificate/test_every_number.py", "tests/test_views.py"),
    "/certificate/checker/watched": ("tests/certificate/test_every_number.py", "tests/test_views.py"),
    "/certificate/checker/weaker": ("tests/test_weaker_conditions.py",),
    "/certificate/checker/every_number": (
        "tests/test_weaker_conditions.py",
        "tests/certificate/test_every_number.py",
        "tests/test_views.py",
    ),
    "/certificate/checker/starting": ("tests/certificate/test_every_number.py", "tests/test_views.py"),
    "/certificate/checker/sliced": ("tests/certificate/test_every_number.py", "tests/test_views.py"),
    "/certificate/checker/past": ("tests/certificate/test_kept.py",),
    "/certificate/checker/held": ("tests/certificate/test_kept.py", "tests/certificate"),
    "/deployment/history": ("tests/deployment/test_past.py", "tests/test_conformance.py", "tests/version3"),
    "/deployment/messages": ("tests/deployment/test_batches.py", "tests/test_conformance.py"),
    "/relational/schema": ("tests/deployment/test_past.py",),
    "/certificate/checker": ("tests/certificate/test_temporal_obligations.py", "tests/certificate"),
    "/logic/kernel": ("tests/logic/test_kernel.py",),
    "explore/initial": ("tests/version2/test_pinned_initially.py",),
    "explore": (
        "tests/symbolic/explore",
        "tests/test_semantics_pinned.py",
        "tests/symbolic/plan/test_guess.py",
        "tests/test_blaming.py",
    ),
    "/relational/large": ("tests/relational/test_large.py",),
    "/relational/nauty": ("tests/relational/test_large.py",),
    "/relational": ("tests/relational",),
    "/agents/wrapper": ("tests/agents/test_wrapper.py",),
    "/analyses/production": ("tests/agents/test_verified_agent.py", "tests/test_unknown.py"),
    "/analyses/covered_decisions": ("tests/agents/test_verified_agent.py", "tests/test_unknown.py"),
    "check/actions": ("tests/test_action_fairness.py",),
    "check/fair_lassos": ("tests/test_action_fairness.py",),
    "check/choices": ("tests/test_whatever_is_chosen.py", "tests/test_hedges.py"),
    "/engines/explicit/choices": (
        "tests/test_whatever_is_chosen.py",
        "tests/test_symmetry.py",
        "tests/test_hedges.py",
    ),
    "/verification/orbits": (
        "tests/test_hedges.py",
        "tests/test_whatever_is_chosen.py",
        "tests/test_symmetry.py",
    ),
    "check/held_values": ("tests/symbolic/check/test_held_values.py",),
    "check/walks": ("tests/symbolic/check/test_witness.py", "tests/evidence/test_lassos.py"),
    "check/witness": ("tests/symbolic/check/test_witness.py", "tests/evidence/test_lassos.py"),
    "check/satisfaction": ("tests/test_hiding_fairness.py", "tests/symbolic/check"),
    "check": ("tests/symbolic/check",),
    "/agents/records": (
        "tests/agents/test_weight.py",
        "tests/agents/test_trie.py",
        "tests/agents/test_store.py",
    ),
    "/models/walk": ("tests/agents/test_bulk.py",),
    "/agents/joint": ("tests/agents/test_verified_agent.py",),
    "/agents/recorded": ("tests/agents/test_recorded.py", "tests/agents/test_chat.py"),
    "/agents/in_flight": ("tests/agents/test_recorded.py",),
    "/models/chat": ("tests/agents/test_chat.py",),
    "/support/printable": ("tests/agents/test_chat.py",),
    "/models/function_tools": ("tests/agents/test_chat.py",),
    "/evidence/fair_loop": ("tests/evidence/test_fair_loops.py",),
    "/evidence/replay": ("tests/test_deepening.py", "tests/evidence/test_replay.py"),
    "/agents/selection": ("tests/test_blaming.py",),
    "/models/vllm_server": ("tests/agents/test_server.py",),
    "/analyses/bounds": ("tests/test_unknown.py",),
    "/certificate/write": ("tests/test_unknown.py",),
    "/verification/answers": ("tests/test_unknown.py",),
    "/verification/audit": ("tests/test_unknown.py",),
    "/verification/hypotheses": ("tests/test_unknown.py",),
    "/verification/verify": ("tests/test_unknown.py",),
    "/data": ("tests/data",),
    "/verification/readings": ("tests/test_hiding_fairness.py",),
    "/verification/findings/starvation": ("tests/findings/test_events.py",),
    "/verification/findings/reached": ("tests/test_hiding_fairness.py", "tests/findings"),
    "/evidence": ("tests/evidence", "tests/cli/test_replay_command.py"),
    "/analyses/shield": ("tests/test_shield.py",),
    "/engines/symbolic/check/winning": ("tests/test_shield.py",),
    "/report/shield": ("tests/test_shield.py",),
    "/analyses/blame": ("tests/test_blaming.py", "tests/test_unknown.py"),
    "/report/blame": ("tests/test_blaming.py",),
    "/verification/scope": ("tests/test_narrower_agents.py", "tests/test_hedges.py"),
    "/analyses/symmetry": ("tests/test_symmetry.py",),
    "/analyses/deepening/growth": ("tests/test_growth.py",),
    "/analyses/deepening/remedy": ("tests/test_growth.py",),
    "/analyses/local": ("tests/local",),
    "/logic/candidates": ("tests/logic",),
    "/analyses/views/slicing": ("tests/test_slicing.py",),
    "/analyses/views/weakening": ("tests/test_weaker_conditions.py",),
    "/analyses/views/obstacle": ("tests/test_weaker_conditions.py",),
    "/analyses/views/growing": ("tests/test_slicing.py",),
    "/analyses/views": (
        "tests/test_views.py",
        "tests/test_weaker_conditions.py",
        "tests/test_views_over_more.py",
    ),
    "/analyses/deepening": (
        "tests/test_unknown.py",
        "tests/test_deepening.py",
        "tests/test_views.py",
        "tests/cli/test_canonical_limit.py",
    ),
}
"""The tests that are asked first, by the beginning of a module's path below `engines/symbolic/`."""
LIMIT = 300
"""So many seconds the tests that are asked first have to end: they take one minute at most unmutated."""
TIMES = 3
"""All of the tests have so many times as long as they take unmutated."""


@dataclass(frozen=True)
class Mutation:
    """``old`` stands once in ``file`` (below `engines/symbolic/`, or from the package with a leading
    slash) and becomes ``new``. ``harmless``: why no answer can change, where that is so."""

    name: str
    file: str
    old: str
    new: str
    harmless: str = ""

    @property
    def path(self) -> str:
        return self.file[1:] if self.file.startswith("/") else f"engines/symbolic/{self.file}"

    @property
    def first(self) -> tuple[str, ...]:
        """The tests that most likely fail on it."""
        return next((tests for start, tests in FIRST.items() if self.file.startswith(start)), ())

    def text(self, package: Path) -> str:
        """The file with the change; `ValueError` where the text is not there once."""
        text = (package / self.path).read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(
                f"{self.name}: this stands {text.count(self.old)} times in {self.path}:\n{self.old}"
            )
        return text.replace(self.old, self.new)

    def applied(self, package: Path) -> None:
        """Change the copy of the package."""
        (package / self.path).write_text(self.text(package), encoding="utf-8")


MUTATIONS = (
    # calls of agents in messages
    Mutation(
        "a batch is carried out in any order",
        "/deployment/messages.py",
        "            return self._none_before(place)\n        return fo.conjunction",
        "            return fo.TRUE\n        return fo.conjunction",
    ),
    Mutation(
        "calls in parallel are carried out in their order",
        "/deployment/messages.py",
        "if not self.parallel:\n            return self._none_before(place)",
        "if True:\n            return self._none_before(place)",
    ),
    Mutation(
        "a call is carried out without its guard",
        "/deployment/messages.py",
        "when=conjoin(tool.guard, e.when),",
        "when=e.when,",
    ),
    Mutation(
        "a refusal ends no message",
        "/deployment/messages.py",
        "ended = (Clear(self.relations),) if self.stops else removed",
        "ended = removed",
    ),
    Mutation(
        "a refusal in an effect ends no message",
        "/deployment/messages.py",
        "statements=ended if e.refused else (*e.statements, *removed),",
        "statements=(*e.statements, *removed),",
    ),
    Mutation(
        "events happen while a message lasts",
        "/deployment/messages.py",
        "found.append(replace(tool, guard=conjoin(tool.guard, idle), effects=tuple(effects)))",
        "found.append(replace(tool, effects=tuple(effects)))",
    ),
    Mutation(
        "an agent writes while another has a message",
        "/deployment/messages.py",
        "return replace(tool, guard=conjoin(tool.guard, others, may_write), effects=effects, writes=True)",
        "return replace(tool, guard=conjoin(tool.guard, may_write), effects=effects, writes=True)",
    ),
    Mutation(
        "a message is written on while it is carried out",
        "/deployment/messages.py",
        "may_write = fo.conjunction((fo.Not(self.full[self.most]), is_written))",
        "may_write = fo.Not(self.full[self.most])",
    ),
    Mutation(
        "a message that is full is offered more calls",
        "/deployment/messages.py",
        "may_write = fo.conjunction((fo.Not(self.full[self.most]), is_written))",
        "may_write = is_written",
    ),
    Mutation(
        "nobody comes between calls in parallel",
        "/deployment/messages.py",
        "self.lets_others = fo.disjunction((self.none, self.begun)) if self.parallel else self.none",
        "self.lets_others = self.none",
    ),
    Mutation(
        "calls in parallel come between those of a batch",
        "/deployment/messages.py",
        "guard=conjoin(is_next, others) if self.parallel else is_next,",
        "guard=is_next,",
    ),
    Mutation(
        "only later calls are left of a message in parallel",
        "/deployment/messages.py",
        "tuple(self.full[k] for k in self.places if k != place)",
        "tuple(self.full[k] for k in self.places if k > place)",
    ),
    Mutation(
        "a message in parallel that is carried out stays begun",
        "/deployment/messages.py",
        "removed += (Insert(self.begun, where=more), Delete(self.begun, where=fo.Not(more)))",
        "removed += (Insert(self.begun, where=more),)",
    ),
    Mutation(
        "a message that a refusal ends stays begun",
        "/deployment/messages.py",
        "self.relations = (*places, self.begun.relation) if self.parallel else places",
        "self.relations = places",
    ),
    Mutation(
        "a call that is written is the last step",
        "/deployment/messages.py",
        "effects=effects, writes=True)",
        "effects=effects)",
    ),
    # the last step and the past
    Mutation(
        "a call that is written is no step for since",
        "step/history.py",
        "found = self._updates(SinceThen)\n        for kept, fact in self._facts():\n"
        "            if not isinstance(kept, SinceThen):",
        "found: list[Bdd] = []\n        for kept, fact in self._facts():\n            if True:",
    ),
    Mutation(
        "what was true is not lost when it ceases",
        "step/history.py",
        "lasts = self._then(self._read(left, kept, fact)) & self._atom(fact)",
        "lasts = self._atom(fact)",
    ),
    Mutation(
        "what is true of the present is taken for what was before",
        "step/history.py",
        "true = counts & self._read(body, kept, fact)",
        "true = self._then(self._read(body, kept, fact))",
    ),
    Mutation(
        "a record that is new has the past of an old one",
        "step/history.py",
        "self._atom(fact, primed=True).equiv(self._then(counts) & true)",
        "self._atom(fact, primed=True).equiv(true)",
    ),
    Mutation(
        "any agent has made the call",
        "step/history.py",
        "is_it = self.actors.made_by(tool.name, kept.agent, is_it)",
        "pass",
    ),
    Mutation(
        "a variable loses what left with the step",
        "check/held_values.py",
        "named.equiv(active | self.of_step(sort, value, primed=True))",
        "named.equiv(active)",
    ),
    Mutation(
        "the past by definition: what was true is not lost when it ceases",
        "/deployment/history.py",
        "if known and holds(left, now, dict(zip(variables, values, strict=True))):",
        "if known:",
    ),
    Mutation(
        "the past by definition: a record that is new has a state before",
        "/deployment/history.py",
        "domains = {name: here[name] & there[name] for name in variables}",
        "domains = here",
    ),
    Mutation(
        "candidates: of the values of a bound variable one is enough",
        "/logic/candidates.py",
        "for value in few)",
        "for value in sorted(few)[:1])",
    ),
    Mutation(
        "solutions: a conjunct about two variables is not decided",
        "/logic/evaluate.py",
        "for part in decided[number]",
        "for part in decided[number] if number",
    ),
    Mutation(
        "semantics: a call may have any value for a parameter",
        "/deployment/semantics.py",
        "value in _range(deployment, param, state) for param",
        "True for param",
    ),
    Mutation(
        "the past by definition: any agent has made the call",
        "/deployment/history.py",
        "call.tool == tool and agent in (None, actor)",
        "call.tool == tool",
    ),
    Mutation(
        "the past by definition: the loop of a terminal state is a step",
        "/deployment/history.py",
        "if deployment.tool(call.tool).stays:",
        "if False:",
    ),
    Mutation(
        "the past by definition: places of an inner formula are filled one after the other",
        "/relational/schema.py",
        'return _PLACE.sub(lambda place: str(args[int(place[1]) - 1]), relation).rstrip("\\N{PRIME}")',
        'for k, arg in enumerate(args, 1):\n        relation = relation.replace(f"‹{k}›", str(arg))\n'
        '    return relation.rstrip("\\N{PRIME}")',
    ),
    Mutation(
        "the past in a certificate: what was true is not lost when it ceases",
        "/certificate/checker/past.py",
        "lasts = _read(self._later, left, kept, fact) & before",
        "lasts = before",
    ),
    Mutation(
        "the past in a certificate: a record that is new has the past of an old one",
        "/certificate/checker/past.py",
        "found.append((fact, self._counts(self._later, kept, fact) & true))",
        "found.append((fact, true))",
    ),
    Mutation(
        "the past in a certificate: what is true of the present is taken for what was before",
        "/certificate/checker/past.py",
        "true = self._counts(self._now, kept, fact) & _read(self._now, body, kept, fact)",
        "true = _read(self._later, body, kept, fact)",
    ),
    Mutation(
        "the past in a certificate: any agent has made the call",
        "/certificate/checker/past.py",
        "is_it = kept.tool == call.tool and kept.agent in (None, actor)",
        "is_it = kept.tool == call.tool",
    ),
    Mutation(
        "the past in a certificate: nothing is true at first",
        "/certificate/checker/past.py",
        "            if isinstance(kept, SinceThen):\n                true = self._counts(reading",
        "            if False:\n                true = self._counts(reading",
    ),
    Mutation(
        "the past in a certificate: what is not listed may come true",
        "/certificate/checker/past.py",
        "elif true != self.manager.false:",
        "elif False:",
    ),
    Mutation(
        "the past in a certificate: the loop of a terminal state is a step",
        "/certificate/checker/past.py",
        "if tool.stays:",
        "if False:",
    ),
    Mutation(
        "the past in a certificate: a variable loses what left with the step",
        "/certificate/checker/held.py",
        "m.ite(self._lives(sort, value, after=True), same, gone)",
        "m.ite(self._later.active(sort, value), same, gone)",
    ),
    Mutation(
        "the past in a certificate: what left with the step is held for another step",
        "/certificate/checker/held.py",
        "m.ite(self._now.active(sort, value), entries[value], back)",
        "entries[value]",
    ),
    # guesses and their confirmation
    Mutation(
        "singles are not confirmed",
        "step/updates.py",
        "broken = set(self._broken_singles(effect, case, own, shared, told)) | shared.write.broken",
        "broken = set[Key]()",
    ),
    Mutation(
        "keys are not confirmed",
        "step/updates.py",
        "elif met != m.false:",
        "elif False:",
    ),
    Mutation(
        "two insertions are not seen to meet",
        "step/invariants.py",
        "return beside | together",
        "return beside",
    ),
    Mutation(
        "an insertion is not seen to meet what stays",
        "step/invariants.py",
        "return beside | together",
        "return together",
    ),
    Mutation(
        "the fact of any relation is taken for the only one where a formula speaks of it twice",
        "step/single_facts.py",
        "return {relation for relation in single if number[relation] > 1}",
        "return {relation for relation in number if number[relation] > 1}",
    ),
    Mutation(
        "what a formula says of a single fact for the second time is forgotten",
        "step/single_facts.py",
        "equal.append(fo.Equal(left, right))",
        "pass",
    ),
    Mutation(
        "variables for a single fact may take the same new name",
        "step/single_facts.py",
        "            taken.add(name)\n",
        "",
    ),
    Mutation(
        "a variable that stands for a single fact's value is replaced by what has been replaced itself",
        "step/single_facts.py",
        "images = {name: value if image == variable else image for name, image in images.items()}",
        "pass",
    ),
    Mutation(
        "two variables for a single fact that have one name are taken for one",
        "step/single_facts.py",
        "name = fresh_name(binder.name, taken)",
        "name = binder.name",
    ),
    Mutation(
        "what makes room for a single fact is taken to happen always",
        "step/updates.py",
        "stays = held & ~self._leaving(fields, own, shared.facts)",
        "stays = m.false if own.leaving or shared.facts.leaving else held",
    ),
    Mutation(
        "a single relation's fact that never leaves is forgotten",
        "step/updates.py",
        "may_meet(m, stays | for_good, come, case, shared.common)",
        "may_meet(m, stays, come, case, shared.common)",
    ),
    Mutation(
        "what a broken key says of single relations is forgotten",
        "plan/guess.py",
        "for relation in self.singles if (relation, ()) not in broken.keys)",
        "for relation in self.singles)",
    ),
    Mutation(
        "keys of D0 are not looked at",
        "encode/mutex.py",
        "return all(sum(fact in deployment.init for fact in group) <= 1 for group in grouped)",
        "return True",
    ),
    Mutation(
        "followers: one that D0 fills without the other follows it",
        "plan/followers.py",
        "if deployment.init.tuples(relation) and not deployment.init.tuples(other):",
        "if False:",
    ),
    Mutation(
        "followers: an insertion into the other is made whatever its condition says",
        "plan/followers.py",
        "and s.atom.relation == other and not s.binders and s.where == fo.TRUE",
        "and s.atom.relation == other",
    ),
    Mutation(
        "followers: an insertion into a relation keeps that it follows the other",
        "plan/followers.py",
        "if any(isinstance(s, Insert) and s.atom.relation == relation for s in effect.statements):",
        "if False:",
    ),
    Mutation(
        "followers: the other is emptied and the relation stays",
        "plan/followers.py",
        "return relation in set(_emptied(effect)) or not any(_removes(s, other) for s in effect.statements)",
        "return True",
    ),
    Mutation(
        "followers: to delete some facts is to delete all",
        "plan/followers.py",
        "case Delete(atom, binders, where) if where == fo.TRUE:",
        "case Delete(atom, binders, _):",
    ),
    Mutation(
        "followers: an atom of variables that are the same is about every fact",
        "plan/followers.py",
        "return len(set(names)) == len(names) == len(atom.args) and bound.issuperset(names)",
        "return len(names) == len(atom.args) and bound.issuperset(names)",
    ),
    Mutation(
        "followers: an atom with a value or a parameter is about every fact",
        "plan/followers.py",
        "return len(set(names)) == len(names) == len(atom.args) and bound.issuperset(names)",
        "return len(set(names)) == len(names)",
    ),
    Mutation(
        "followers: every relation follows every other",
        "plan/followers.py",
        "and any(follows(deployment, name, other) for other in empty)",
        "and empty",
    ),
    Mutation(
        "two facts of a relation in D0 make it single",
        "encode/mutex.py",
        "and len(deployment.init.tuples(relation.name)) <= 1",
        "and len(deployment.init.tuples(relation.name)) <= 2",
    ),
    Mutation(
        "names that are taken are not seen",
        "explore/reach.py",
        "if states & stuck != self.manager.false",
        "if False",
    ),
    Mutation(
        "names without end are not seen",
        "plan/anchored_names.py",
        "self._endless.add(draw)",
        "pass",
        harmless="The exploration finds no name free where a value of the anchor has none.",
    ),
    Mutation(
        "too few names are not seen",
        "plan/anchored_names.py",
        "< bounds[sorts[draw]]",
        "< 0",
        harmless="The exploration finds the names taken, and gives the anchor up later.",
    ),
    Mutation(
        "siblings share a name",
        "plan/anchored_names.py",
        "len(self.names[draw]) * len(siblings) + siblings.index(draw)",
        "len(self.names[draw])",
    ),
    Mutation(
        "a lack of room is not seen",
        "step/room.py",
        "return outside & self._lacks(effect, values) if outside != self.manager.false else outside",
        "return self.manager.false",
    ),
    Mutation(
        "room is lacking one value late",
        "step/room.py",
        "self.manager.at_least(len(others) + 1,",
        "self.manager.at_least(len(others) + 2,",
    ),
    Mutation(
        "an `ensure` is not read beyond the literal domain",
        "plan/planner.py",
        "number = 1 if",
        "number = 0 if",
    ),
    Mutation(
        "an `ensure` may lead beyond the literal domain",
        "step/effects.py",
        "made & self.room.care_after & ~self.room.spare_active",
        "made & self.room.care_after",
    ),
    Mutation(
        "an `ensure` exceeds no bound",
        "step/effects.py",
        "exceeding=m.and_exist(self.encoding.primed_bits, made, ~self.room.care_after)",
        "exceeding=m.false",
    ),
    Mutation(
        "an effect that only inserts has room for one more",
        "step/room.py",
        "self.deployment.bounds[sort] - number, outside(",
        "self.deployment.bounds[sort] - number + 1, outside(",
    ),
    Mutation(
        "an effect that only inserts lacks room for its last",
        "step/room.py",
        "self.deployment.bounds[sort] - number, outside(",
        "self.deployment.bounds[sort] - number - 1, outside(",
    ),
    Mutation(
        "an effect that only inserts exceeds no bound",
        "step/effects.py",
        "exceeding = exceeding | params.selected(m.exist(conditions.local, possible & ~room), {})",
        "pass",
    ),
    Mutation(
        "an effect that deletes too exceeds no bound",
        "step/effects.py",
        "exceeding = exceeding | params.selected(too_many, values)",
        "pass",
    ),
    Mutation(
        "what exceeds a bound is not looked at",
        "explore/reach.py",
        "over = tool.exceeding | tool.overflow if self.restriction.exact else tool.exceeding",
        "over = tool.overflow",
    ),
    Mutation(
        "an `ensure` has no room past its bound",
        "/deployment/restriction.py",
        "{sort: bound + 1 for sort, bound in deployment.bounds.items()}",
        "{sort: bound for sort, bound in deployment.bounds.items()}",
    ),
    Mutation(
        "an `ensure` is followed to its bound only",
        "/deployment/semantics.py",
        "restriction.beyond(s, 1)",
        "restriction.beyond(s, 0)",
    ),
    Mutation(
        "fresh values get no room of their own",
        "/deployment/restriction.py",
        "return self.constants + self.bound + self.fresh",
        "return self.constants + self.bound",
    ),
    # counts and sizes
    Mutation(
        "a member counts for two",
        "bdd/manager.py",
        "range(len(reached) - 1, 0, -1)",
        "range(1, len(reached))",
    ),
    Mutation(
        "at most n allows one more",
        "/logic/kernel.py",
        'comparison="atleast", number=number + 1)',
        'comparison="atleast", number=number + 2)',
    ),
    Mutation(
        "a bound allows one more",
        "explore/reach.py",
        "self.encoding.more_active(bound, outside(s, values[s]))",
        "self.encoding.more_active(bound + 1, outside(s, values[s]))",
    ),
    Mutation(
        "the states that matter lack the fullest ones",
        "encode/encoding.py",
        "within = (~self.more_active(number, values)",
        "within = (~self.more_active(number - 1, values)",
    ),
    Mutation(
        "more than n are n or more",
        "encode/encoding.py",
        "return self._thresholds(number + 1, tuple(values))[-1]",
        "return self._thresholds(number, tuple(values))[-1]",
    ),
    Mutation(
        "the literal domain lacks a value",
        "/deployment/restriction.py",
        "return 2 * self.bound + self.constants + self.variables",
        "return 2 * self.bound + self.constants + self.variables - (self.bound > 0)",
    ),
    Mutation(
        "a field lacks its last code",
        "encode/encoding.py",
        "return self.below(bits, len(field.facts) + 1)",
        "return self.below(bits, len(field.facts))",
    ),
    Mutation("a transition by two tools counts twice", "bdd/relation.py", "new = new & ~earlier", "pass"),
    # formulas and effects
    Mutation(
        "quantifiers range over all values",
        "step/formulas.py",
        "        active = self.encoding.active(vector.sort, vector)\n        return active |",
        "        active = self.encoding.valid(vector)\n        return active |",
    ),
    Mutation(
        "counts range over all values",
        "step/formulas.py",
        "self.ranging(binder, vector, body, joint=joint) & self._some(binder, body, env)\n        return",
        "self._some(binder, body, env)\n        return",
    ),
    Mutation(
        "actions that disagree on a variable share what a bulk statement does with it",
        "step/effects.py",
        "agreeing if prod(sizes[name] for name in agreeing) <= _MAX_GROUPS else frozenset()",
        "frozenset()",
        harmless="Each action says by itself what is not said once for several of them.",
    ),
    Mutation(
        "what a bulk statement does is that of another group of actions",
        "step/effects.py",
        "dict(kind[1])",
        "dict(min(shared, default=kind)[1])",
    ),
    Mutation(
        "quantifiers of an `ensure` range over the old state",
        "step/formulas.py",
        "return active | self.encoding.active(vector.sort, vector, primed=True) if joint else active",
        "return active",
    ),
    Mutation(
        "what an `ensure` says of both states is what a guard says of one",
        "step/formulas.py",
        "key = (reading(formula, env), joint)",
        "key = (reading(formula, env), False)",
    ),
    Mutation(
        "`same` allows additions",
        "step/formulas.py",
        "atom(fact, primed=True).equiv(atom(fact))",
        "atom(fact, primed=True) | ~atom(fact)",
    ),
    Mutation(
        "a guard is not asked",
        "step/formulas.py",
        "yield from self.conjuncts(tool.guard, env)",
        "pass",
    ),
    Mutation(
        "`choose` takes inactive values",
        "step/conditions.py",
        "asked += [among, *self.compiler.conjuncts(where, scope)]",
        "asked += [encoding.valid(vector), *self.compiler.conjuncts(where, scope)]",
    ),
    Mutation(
        "`choose` takes active values only",
        "step/conditions.py",
        "among = encoding.active(vector.sort, vector) | encoding.is_among(vector, constants)",
        "among = encoding.active(vector.sort, vector)",
    ),
    Mutation(
        "`when` is not asked",
        "step/conditions.py",
        "asked, drawn = list(self.compiler.conjuncts(effect.when, scope)), m.true",
        "asked, drawn = list[Bdd](), m.true",
    ),
    Mutation(
        "a literal fresh value may be active",
        "step/conditions.py",
        "taken = [encoding.active(vector.sort, vector)]",
        "taken = [m.false]",
    ),
    Mutation(
        "two literal fresh values may be one",
        "step/conditions.py",
        "taken += [encoding.equal(vector, other) for other in others]",
        "pass",
    ),
    Mutation(
        "no literal fresh value is outside U_f",
        "step/conditions.py",
        "(encoding.valid(vector) | encoding.none(vector)) &",
        "encoding.valid(vector) &",
    ),
    Mutation(
        "what literal fresh values outside U_f write is not looked at",
        "step/updates.py",
        '(f"{name}?", encoding.none(v)),',
        "",
    ),
    Mutation(
        "the new bits are those of all literal fresh values",
        "step/updates.py",
        "yield dataclasses.replace(one, when=where & one.when)",
        "yield one",
    ),
    Mutation(
        "the least name may be drawn twice",
        "step/conditions.py",
        "taken_here = encoding.active(vector.sort, value) | m.disj(\n"
        "                encoding.is_value(other, value) for other in others\n"
        "            )",
        "taken_here = encoding.active(vector.sort, value)",
    ),
    Mutation(
        "the least name may be active",
        "step/conditions.py",
        "entries[value] = earlier_taken & ~taken_here",
        "entries[value] = earlier_taken",
    ),
    Mutation(
        "a name that goes with an anchor may be active",
        "step/conditions.py",
        "& encoding.is_value(vector, name)\n                & ~encoding.active(vector.sort, name)",
        "& encoding.is_value(vector, name)",
    ),
    Mutation(
        "with representatives an `ensure` takes any names",
        "step/effects.py",
        "yield before | ~after | smaller_used",
        "yield m.true",
        harmless="Any choice of representatives is exact (`encode.representatives`); there are more states.",
    ),
    Mutation(
        "an insertion for all values takes inactive ones",
        "step/updates.py",
        "fo.conjunction((atom, statement.where)) if isinstance(statement, Delete) else statement.where",
        "fo.conjunction((atom, statement.where))",
    ),
    Mutation(
        "deletions win over insertions",
        "step/updates.py",
        "news[bit] = news[bit] | one",
        "news[bit] = news[bit] | one & ~leaving",
    ),
    Mutation(
        "what is deleted stays",
        "step/updates.py",
        "m.var(bit) & ~leaving for bit in field.bits",
        "m.var(bit) for bit in field.bits",
    ),
    Mutation(
        "a bit that is cleared is taken to stay",
        "step/updates.py",
        "return None if m.implies(case, new.equiv(default)) else new",
        "return None if m.implies(case & new, default) else new",
    ),
    Mutation(
        "what is inserted outside U_f is dropped",
        "step/updates.py",
        "outside = outside | m.and_exist(one.bound, one.when, ~known)",
        "pass",
    ),
    Mutation(
        "numbers that distinguish records are not enumerated",
        "step/updates.py",
        "columns if all(len(each) == 1 for each in of.values()) else ()",
        "columns",
    ),
    Mutation(
        "numbers that are chosen are those of the state before",
        "step/effects.py",
        "drawn = frozenset(bits_of(loose.values())) & conditions.local",
        "drawn = frozenset(bits_of(v for v in loose.values() if v.one_hot)) & conditions.local",
    ),
    Mutation(
        "of numbers that a sum ranges over a state is taken to determine all",
        "step/integers.py",
        "return self.manager.count(member, around) == self.manager.count(some, around - bits)",
        "return True",
    ),
    # frame conditions
    Mutation(
        "bits that no action writes change",
        "bdd/union.py",
        "return manager.disj(function & still(idle.keys() - own) for",
        "return manager.disj(function for",
    ),
    Mutation(
        "bits that another action writes change",
        "bdd/union.py",
        "both = (left & around_left) |",
        "both = left |",
    ),
    Mutation(
        "bits that an action joined later writes change",
        "bdd/union.py",
        "| (right & around_right)",
        "| right",
    ),
    Mutation(
        "joined actions leave some of each other's bits",
        "bdd/union.py",
        "left_idle & around_left)",
        "left_idle)",
    ),
    Mutation(
        "what all actions do is left out",
        "step/frame_conditions.py",
        "defaults[bit] if bit in defaults else m.var(bit)",
        "m.var(bit)",
    ),
    Mutation(
        "what is asked of the state alone is left out",
        "step/effects.py",
        "steps=common & steps,",
        "steps=steps,",
    ),
    Mutation(
        "what all actions do is left out where an action writes the same fact",
        "step/updates.py",
        "leaving = self._leaving([field], own, shared.facts)",
        "leaving = self._leaving([field], own)",
    ),
    Mutation(
        "parameters that the effect does not mention are never gone through",
        "step/effects.py",
        "vectors = calls\n",
        "pass\n",
    ),
    Mutation(
        "a call has two values for a parameter",
        "step/frame_conditions.py",
        "idle |= {bit: ~m.var(bit) for vector in selectors if vector.one_hot for bit in vector.bits}",
        "pass",
    ),
    # relaxed reachability
    Mutation(
        "relaxed reachability forgets deletions",
        "plan/relaxation.py",
        "self.must[atom.relation] = self.must[atom.relation] & ~written",
        "pass",
    ),
    Mutation(
        "relaxed reachability forgets `clear`",
        "plan/relaxation.py",
        "if possible != m.false:\n",
        "if False:\n",
    ),
    Mutation(
        "relaxed reachability takes `ensure` to keep all",
        "plan/relaxation.py",
        "if not _kept(effect, name):",
        "if False:",
    ),
    Mutation(
        "relaxed reachability reads ¬f as ¬may(f)",
        "plan/relaxation.py",
        "return ~self._reads(body, env, not must)",
        "return ~self._reads(body, env, must)",
    ),
    Mutation(
        "relaxed reachability takes counts for `exists`, exactly",
        "plan/relaxation.py",
        "return self.manager.false if must and number > 1 else",
        "return",
    ),
    Mutation(
        "relaxed reachability lets `choose` take active values only",
        "plan/relaxation.py",
        "among = self.active(vector) | self.encoding.is_among(vector, constants)",
        "among = self.active(vector)",
    ),
    Mutation(
        "relaxed reachability looks at the tools once",
        "plan/relaxation.py",
        "if (self.may, self.must) == before:\n                return",
        "return",
    ),
    # exploration
    Mutation("a state may offer nothing", "explore/reach.py", "if silent != m.false:", "if False:"),
    Mutation(
        "an offered call may have no effect",
        "explore/reach.py",
        "while dead != m.false:",
        "while False:",
    ),
    Mutation(
        "a bound may be exceeded",
        "explore/reach.py",
        "if (there := states & over) != self.manager.false:",
        "if (there := self.manager.false) != self.manager.false:",
    ),
    Mutation(
        "exploration stops after the first sweep",
        "explore/reach.py",
        "if not selected and self.sweeps > 1:",
        "if self.sweeps > 1:",
    ),
    Mutation(
        "names of a context may be the same",
        "explore/contexts.py",
        "*(~encoding.equal(vector, other) for other in others if other.sort == vector.sort),",
        "",
    ),
    Mutation(
        "names of a context may be rigid",
        "explore/contexts.py",
        "*(~encoding.is_value(vector, constant) for constant in sorted(rigid)),",
        "",
    ),
    Mutation(
        "a context may offer more",
        "explore/views.py",
        '*((f"call {name}", of_tool[name]) for name in self.tools),',
        "",
    ),
    Mutation(
        "a context may show more",
        "explore/views.py",
        "*((name, of_relation[name]) for name in self.shown),",
        "",
    ),
    Mutation(
        "a context may offer less",
        "explore/contexts.py",
        "conditions.append(self._beside.offered(self.tools[said].tool, terms))",
        "pass",
    ),
    Mutation(
        "views are not cut",
        "explore/views.py",
        "compiler.formula(where, {**self._itself, **dict(zip(names, terms, strict=True))})",
        "self.manager.true",
    ),
    Mutation(
        "states that were decided for the ones at hand are not met again",
        "explore/contexts.py",
        "if met.bounded:",
        "if False:",
        harmless="The states are met anew by their own contexts, which the wrapper answers from its memory.",
    ),
    # views
    Mutation(
        "of a condition only what rests on too many records is asked",
        "/analyses/views/weakening.py",
        "        if place not in left_out:\n            own",
        "        if place in left_out:\n            own",
    ),
    Mutation(
        "an alternative says what all of them say",
        "/analyses/views/weakening.py",
        "case fo.Or(parts_) if fo.TRUE in parts_:",
        "case fo.Or(parts_) if parts_:",
    ),
    Mutation(
        "that a step is possible is asked of weaker tools",
        "/analyses/views/every_number.py",
        "tuple(claims_not_shown(closure.closing, self.selecting))",
        "tuple(claims_not_shown(closure.closing, closure.closing.deployment))",
    ),
    Mutation(
        "steps of weaker tools are told as a run",
        "/analyses/views/obstacle.py",
        "        if self.weaker:\n",
        "        if False:\n",
    ),
    Mutation(
        "a certificate chooses which conditions are checked",
        "/certificate/checker/weaker.py",
        "if not self._is_out(alternative, statement, n)",
        "if self._is_out(alternative, statement, n)",
    ),
    Mutation(
        "the checker takes what stands in the place of a condition to be false",
        "/certificate/checker/weaker.py",
        "    adding = Insert(fo.Atom(",
        "    adding = Delete(fo.Atom(",
    ),
    Mutation(
        "what stands in the place of a condition is false",
        "/analyses/views/weakening.py",
        "effects=(Effect((Insert(fact),)),)",
        "effects=(Effect(),)",
    ),
    Mutation(
        "what stands in the place of a condition is about no fact of its own",
        "/analyses/views/weakening.py",
        "                if read <= {binder.name for binder in inside}:\n",
        "                if read:\n",
    ),
    Mutation(
        "a step is looked at over the values of a part only",
        "/analyses/views/steps.py",
        "y.update(named)",
        "y.update(written)",
    ),
    Mutation(
        "more values may stand in a context than are looked at",
        "/analyses/views/asking.py",
        "return self.raised(closure) or self.ask(closure)",
        "return self.ask(closure)",
    ),
    Mutation(
        "the answers of an agent that answers differently guard its tools",
        "/analyses/views/asking.py",
        'if one.status == "not established"',
        "if False",
    ),
    Mutation(
        "a context without an answer ends what is shown beside it",
        "/analyses/views/asking.py",
        "            return True\n\n    def raised",
        "            raise\n\n    def raised",
    ),
    Mutation(
        "an agent is judged by what it answered about other parts, too",
        "/analyses/views/asking.py",
        "role, wrapper.again()",
        "role, wrapper",
    ),
    Mutation(
        "contexts that come about by what an agent selected are not put to it",
        "/analyses/views/asking.py",
        "return bool(new)",
        "return False",
    ),
    Mutation(
        "two values of kinds that share a fact somewhere are nowhere apart",
        "/analyses/views/records.py",
        "if self._sharing[pair] == pairs:",
        "if self._sharing[pair] <= pairs:",
    ),
    # contexts at places
    Mutation(
        "a context that is met at a place may show more",
        "explore/located.py",
        "few = views.no_more_than(numbers)",
        "few = m.true",
    ),
    Mutation(
        "states that show more than the items of a place are decided there",
        "explore/located.py",
        "yield Alike(contexts, few, every & few)",
        "yield Alike(contexts, few, every)",
    ),
    Mutation(
        "what is selected at a place is selected where more is shown",
        "explore/located.py",
        "append(self.joined(cases) & alike.few)",
        "append(self.joined(cases))",
    ),
    Mutation(
        "contexts are decided that no undecided state shows",
        "explore/located.py",
        "[one for one in contexts if there & joined(one.sites) != m.false]",
        "list(contexts)",
    ),
    Mutation(
        "a branch of the sites is left out",
        "explore/neighbourhoods.py",
        "todo += [(right, projected), (left, projected)]",
        "todo += [(left, projected)]",
    ),
    Mutation(
        "what is shown at the sites of one half only is looked at",
        "explore/neighbourhoods.py",
        "return _Branch(left.shown | right.shown, above - every, (left, right))",
        "return _Branch(left.shown, above - every, (left, right))",
    ),
    Mutation(
        "the tree of all shapes is not grown anew",
        "explore/located.py",
        "            self._tree = None\n",
        "",
        harmless="A shape that is not in the tree is looked at when one of its contexts is met.",
    ),
    Mutation(
        "what is selected at one place is selected under the same names at another",
        "explore/located.py",
        "frozenset(call.rename(names) for call in decision.calls)",
        "decision.calls",
    ),
    Mutation(
        "one of the calls that symmetry makes alike is selected at a place",
        "explore/located.py",
        "frozenset(call.rename(names) for call in decision.calls)",
        "frozenset(call.rename(names) for call in sorted(decision.calls)[:1])",
    ),
    Mutation(
        "an item that is not shown may be shown",
        "explore/neighbourhoods.py",
        "condition & (there if held & item else ~there)",
        "condition & (there if held & item else manager.true)",
        harmless="A state that shows one more shows more than so many (`Views.no_more_than`).",
    ),
    Mutation(
        "sets of items that no state shows are contexts",
        "explore/neighbourhoods.py",
        "elif inside == manager.false:",
        "elif False:",
    ),
    Mutation(
        "what is shown wherever a pattern is does not belong to its contexts",
        "explore/neighbourhoods.py",
        "sure |= bit",
        "pass",
    ),
    Mutation(
        "the bits of some items of a place are quantified",
        "explore/neighbourhoods.py",
        "self._bits(place.shown).union(*(self._bits(there) for _, there in left))",
        "self._bits(place.shown)",
    ),
    Mutation(
        "what is shown wherever one place is is shown wherever any is",
        "explore/neighbourhoods.py",
        "if not self.rigid >= set(item.args):",
        "if False:",
    ),
    Mutation(
        "two names of a pattern may lie in one value",
        "explore/places.py",
        "if known is None and image not in taken and image not in self.rigid:",
        "if known is None and image not in self.rigid:",
    ),
    Mutation(
        "a name of a pattern may lie in a rigid value",
        "explore/places.py",
        "if known is None and image not in taken and image not in self.rigid:",
        "if known is None and image not in taken:",
    ),
    Mutation(
        "facts of relations that change are part of a shape",
        "explore/located.py",
        "if not encoding.dynamic_facts[fact.relation]}",
        "if fact in encoding.static}",
        harmless="Such a context is met once for each shape, and the wrapper answers both alike.",
    ),
    Mutation(
        "contexts are looked for at places on a care set",
        "explore/located.py",
        "if encoding.care != self.manager.true or not names",
        "if not names",
        harmless="The diagrams are right on the care set, and every reachable state is in it.",
    ),
    Mutation(
        "states that show more than the items of a place stay undecided",
        "explore/contexts.py",
        "while left != self.manager.false:  # more is shown",
        "while False:  # more is shown",
    ),
    Mutation(
        "contexts at places get the decisions of those found one by one",
        "explore/contexts.py",
        "zip(new, decisions[len(found) :], strict=True)",
        "zip(new, decisions, strict=False)",
    ),
    Mutation(
        "of what holds on a path it is taken that it holds in all states",
        "step/updates.py",
        "if case & ~atom(fact) == m.false:",
        "if True:",
    ),
    Mutation(
        "bounds are asked of what one action writes alone",
        "step/effects.py",
        "self.room.after({**shared[kind].write.updates, **written.updates})",
        "self.room.after(written.updates)",
    ),
    Mutation(
        "what the calls of one kind do by default all calls do",
        "step/effects.py",
        "kind = frozenset(told)",
        "kind = next(iter(shared), frozenset(told))",
    ),
    Mutation(
        "the keys of what is shared and of what is an action's own are not put together",
        "step/updates.py",
        "come = self._arrivals([field], own, shared.facts)",
        "come = self._arrivals([field], own)",
    ),
    # what the shape of a formula says
    Mutation(
        "an atom that does not hold says that its values are active",
        "/logic/activity.py",
        "return not negated and fo.Var(name) in args",
        "return fo.Var(name) in args",
    ),
    Mutation(
        "what one of several cases says all of them say",
        "/logic/activity.py",
        "return (all if negated else any)(",
        "return any(",
    ),
    Mutation(
        "another variable of the same name is taken for the one that is asked about",
        "/logic/activity.py",
        "return binder.name != name and not negated and",
        "return not negated and",
    ),
    Mutation(
        "places that show more than their pattern are kept",
        "explore/places.py",
        "if shown != m.false and not self._shows_more(shown, place, image):",
        "if shown != m.false:",
        harmless="That no more is shown is asked of every context that is met at a place.",
    ),
    Mutation(
        "a function has no variables below its topmost",
        "bdd/manager.py",
        "todo += (node.low, node.high)",
        "pass",
    ),
    # fixpoints
    Mutation(
        "relations are taken apart at one level for all",
        "bdd/saturation.py",
        "key = (int(relation), level)",
        "key = (int(relation), 0)",
    ),
    Mutation(
        "of two parts that are joined one is lost",
        "bdd/relation.py",
        "joined[k] = other | part",
        "joined[k] = part",
    ),
    Mutation(
        "a one-hot vector may have two values",
        "encode/values.py",
        "(chosen.setdefault(term, value) if isinstance(term, Vector) else term) == value",
        "chosen.setdefault(term, value) if isinstance(term, Vector) else term == value",
    ),
    Mutation(
        "saturation does not close the lower half again",
        "bdd/saturation.py",
        "low = self._closure(low, within0, in0)",
        "pass",
    ),
    Mutation(
        "saturation never clears a bit",
        "bdd/saturation.py",
        "low = low | self._image(high, relation, in0)",
        "pass",
    ),
    Mutation(
        "saturation goes forward only",
        "bdd/saturation.py",
        "quarters = (a, c, b, d) if self.backward else (a, b, c, d)",
        "quarters = (a, b, c, d)",
    ),
    Mutation(
        "EG does not ask for fairness",
        "bdd/fixpoint.py",
        "for constraint in constraints:",
        "for constraint in ():",
    ),
    Mutation(
        "an action is enabled where it is offered",
        "check/actions.py",
        "m.conj([model.transitions.selected[name], *map",
        "m.conj([model.offers.calls[name], *map",
    ),
    Mutation(
        "an action is fair to one record if it is to another",
        "bdd/fixpoint.py",
        "~relation.reaching(one.met(smaller), smaller)",
        "~relation.reaching(m.exist(one.params, one.met(smaller)), smaller)",
    ),
    Mutation(
        "what is not active is counted",
        "check/actions.py",
        "absent if strong else ~enabled, steps)",
        "m.false if strong else ~enabled, steps)",
    ),
    Mutation(
        "strong fairness is weak",
        "check/actions.py",
        "absent if strong else ~enabled, steps)",
        "~enabled, steps)",
    ),
    Mutation(
        "an agent's turn is taken by another",
        "check/actions.py",
        "enabled, m.false if strong else ~enabled, steps)",
        "enabled, m.false if strong else ~enabled, lambda _: model.transitions.parts)",
    ),
    Mutation(
        "an outcome is taken where its call is made",
        "check/actions.py",
        "yield ActionSets({name: calls}, None, standing, possible, absent, taken(by), outcome=True)",
        "yield ActionSets({name: calls}, None, standing, possible, absent, taken(calls), outcome=True)",
    ),
    Mutation(
        "a state asks for an outcome, and not its call",
        "check/actions.py",
        "yield ActionSets({name: calls}, None, standing, possible, absent, taken(by), outcome=True)",
        "yield ActionSets({name: calls}, None, standing, possible, absent, taken(by))",
    ),
    Mutation(
        "an outcome is asked for of a record that comes anew",
        "check/actions.py",
        "yield ActionSets({name: calls}, None, standing, possible, absent, taken(by), outcome=True)",
        "yield ActionSets({name: calls}, None, standing, possible, m.false, taken(by), outcome=True)",
    ),
    Mutation(
        "what outcomes rule out still counts as a call of the agent",
        "check/actions.py",
        "of & ~unused.get(name, m.false)",
        "of",
    ),
    Mutation(
        "a call is kept in a replay though an outcome of it never comes",
        "/evidence/fair_loop.py",
        "made -= broken",
        "break",
    ),
    Mutation(
        "fair runs are not asked for",
        "check/operators.py",
        "return self.everywhere & self.relation.preimage(f & self.fair)",
        "return self.everywhere & self.relation.preimage(f)",
    ),
    Mutation(
        "A f U g does not ask for g",
        "/logic/kernel.py",
        'return fo.And((replace(formula, weak=True), fo.Not(fo.Globally("E", fo.Not(right)))))',
        "return replace(formula, weak=True)",
    ),
    Mutation(
        "AF asks for a run",
        "/logic/kernel.py",
        'return fo.Not(fo.Globally("E", fo.Not(body)))\n        case fo.Globally("A"',
        'return fo.Until("E", fo.TRUE, body)\n        case fo.Globally("A"',
    ),
    Mutation(
        "a few steps breadth first are taken for all",
        "bdd/relation.py",
        "return states, False",
        "return reached, True",
    ),
    Mutation(
        "breadth first ends at the first layer",
        "bdd/relation.py",
        "if layer == self.manager.false or is_wrong(layer):",
        "if True:",
    ),
    Mutation(
        "saturation leaves the states that it may go through",
        "bdd/saturation.py",
        "if states == false or relation == false or within == false:",
        "if states == false or relation == false:",
    ),
    Mutation(
        "of relations that begin with a choice one side is lost",
        "bdd/saturation.py",
        "for branch in self.manager.branches(relation) if branch",
        "for branch in self.manager.branches(relation)[:1] if branch",
    ),
    Mutation(
        "in an image of saturation one side of a choice is lost",
        "bdd/saturation.py",
        "result = self._image(states, low, within) | self._image(states, high, within)",
        "result = self._image(states, low, within)",
    ),
    Mutation(
        "images leave open which call it is",
        "bdd/relation.py",
        "self._before, self._behind = self._bits | chosen, self._copies | chosen",
        "self._before, self._behind = self._bits, self._copies",
    ),
    Mutation(
        "the steps from some states are all steps",
        "bdd/relation.py",
        "parts = (part & states for part in self._joined)",
        "parts = self._joined",
    ),
    Mutation(
        "nothing leads through what is more than the target",
        "bdd/relation.py",
        "if through <= target:",
        "if target <= through:",
    ),
    Mutation(
        "two calls that make a step make two pairs",
        "bdd/relation.py",
        "made = [m.and_exist(self.chosen, states, part) for part in self.parts]",
        "made = [states & part for part in self.parts]",
    ),
    Mutation(
        "breadth first starts from nothing",
        "bdd/relation.py",
        "reached, layer = states, new",
        "reached, layer = states, self.manager.false",
    ),
    Mutation(
        "saturation stops early where nothing leads up",
        "bdd/saturation.py",
        "if not down:  # no relation leads back",
        "if not up:",
    ),
    Mutation(
        "the complement of a node has as many models",
        "bdd/counting.py",
        "if edge != number:",
        "if False:",
    ),
    Mutation(
        "variables that a diagram skips do not double its models",
        "bdd/counting.py",
        "return found << own - rank if own != rank else found",
        "return found",
    ),
    Mutation(
        "a step of a witness need not go on fairly",
        "check/witness.py",
        "self.step_into(self.checker.fairly(satisfying), self",
        "self.step_into(satisfying, self",
    ),
    Mutation(
        "a run of a witness need not go on fairly",
        "check/witness.py",
        "target = self.checker.fairly(self._sat(right, both, assignment)[2])",
        "target = self._sat(right, both, assignment)[2]",
    ),
    # quantifiers over temporal formulas
    Mutation(
        "a temporal formula's `exists` takes inactive values",
        "check/satisfaction.py",
        "& self.ranging(binder, vector, body)",
        "& self.encoding.valid(vector)",
    ),
    Mutation(
        "`forall` asks for one that is not",
        "/logic/kernel.py",
        "return fo.Not(fo.Exists(binder, fo.Not(body)))",
        "return fo.Exists(binder, fo.Not(body))",
    ),
    Mutation(
        "A f W g asks for f or g for ever",
        "/logic/kernel.py",
        'return fo.Not(fo.Until("E", fo.Not(right), fo.And((fo.Not(left), fo.Not(right)))))',
        'return fo.Not(fo.Until("E", fo.TRUE, fo.And((fo.Not(left), fo.Not(right)))))',
    ),
    Mutation(
        "a block of quantifiers forgets its inner variables",
        "check/satisfaction.py",
        "frozenset(bits_of(vectors))",
        "frozenset(vectors[0].bits)",
    ),
    Mutation(
        "a block of quantifiers goes on past a name that it binds twice",
        "check/satisfaction.py",
        " and body.binder.name not in {known.name for known in binders}:",
        ":",
    ),
    Mutation(
        "a value that is bound may share a dead one",
        "check/satisfaction.py",
        "(self.encoding.same_dead(*pair) for pair in pairs), False)",
        "(self.encoding.same_dead(*pair) for pair in pairs if False), False)",
    ),
    Mutation(
        "what is counted is cut down to the assignments of the counted variable",
        "check/satisfaction.py",
        "self.operators(self.pairs(fo.Exists(binder, body), env)).everywhere",
        "self.operators(self.pairs(body, {**env, binder.name: vector})).everywhere",
    ),
    Mutation(
        "what is outside of the reachable states is under a temporal operator",
        "check/satisfaction.py",
        "            return everywhere & self._alike(f, env)",
        "            return self._alike(f, env)",
    ),
    Mutation(
        "first-order parts of a conjunction are not cut down",
        "check/satisfaction.py",
        "return everywhere & self.manager.conj(self._alike(part, env) for part in parts)",
        "return self.manager.conj(self._alike(part, env) for part in parts)",
        harmless="A part with a temporal operator is cut down.",
    ),
    Mutation(
        "a negation holds in states that are not reachable",
        "check/satisfaction.py",
        "return ctl.negation(here(body))",
        "return ~here(body)",
    ),
    # values that variables hold after they die
    Mutation(
        "dead values never come back",
        "check/held_values.py",
        "encoding.dead(after) | encoding.table(after, drawn)",
        "encoding.dead(after)",
    ),
    Mutation(
        "dead values come back as active ones",
        "check/held_values.py",
        "drawn[value] = active & ~encoding.active(sort, value)",
        "drawn[value] = active",
    ),
    Mutation(
        "a value that dies keeps its name",
        "check/held_values.py",
        "named.equiv(active | self.of_step(sort, value, primed=True))",
        "named",
    ),
    Mutation(
        "constants die",
        "check/held_values.py",
        "if value in constants:",
        "if False:",
    ),
    Mutation(
        "afterwards no two dead values are the same",
        "check/held_values.py",
        "encoding.equal_living(*after) | together)",
        "encoding.equal_living(*after))",
    ),
    Mutation(
        "dead values are the same or not as they like",
        "check/held_values.py",
        "yield encoding.equal(left, right).equiv(",
        "yield encoding.equal(left, right) & encoding.dead(left) | encoding.equal(left, right).equiv(",
    ),
    Mutation(
        "sameness of dead values is not transitive",
        "check/held_values.py",
        "yield ~first | m.var(encoding.same_dead(left, right))",
        "yield m.true",
    ),
    Mutation(
        "living values are the same dead one",
        "check/held_values.py",
        "yield ~m.var(encoding.same_dead(left, right)) | both",
        "yield m.true",
    ),
    Mutation(
        "no two variables hold the same dead value",
        "encode/values.py",
        "return living | m.var(self.same_dead(left, right)) if mortal else living",
        "return living",
    ),
    Mutation(
        "no variable holds a dead value",
        "encode/values.py",
        "return self.manager.cube(dict.fromkeys(vector.bits, False))",
        "return self.manager.false",
    ),
    # the language's second version: any D0, keys, orders, `x in s`, events, several agents
    Mutation(
        "a fact of `init` may be missing in D0",
        "explore/initial.py",
        "yield encoding.atom(fact)",
        "pass",
    ),
    Mutation(
        "D0 holds facts of relations that are not listed",
        "explore/initial.py",
        "yield ~encoding.atom(fact)",
        "pass",
    ),
    Mutation(
        "D0 has codes of nothing",
        "explore/initial.py",
        "yield from map(encoding.well_coded, encoding.fields)",
        "pass",
    ),
    Mutation(
        "D0 has two facts with one key",
        "explore/initial.py",
        "yield ~encoding.doubled_keys",
        "pass",
    ),
    Mutation(
        "D0 has any names of representatives",
        "explore/initial.py",
        "known if plan.naming.literal else known[:bound]",
        "known",
    ),
    Mutation(
        "D0 lacks the last name of representatives",
        "explore/initial.py",
        "known if plan.naming.literal else known[:bound]",
        "known if plan.naming.literal else known[: bound - 1]",
    ),
    Mutation(
        "D0 holds values beyond its names",
        "explore/initial.py",
        "yield ~encoding.active(sort, value)",
        "pass",
    ),
    Mutation(
        "the condition on D0 is not asked",
        "explore/initial.py",
        "yield plan.compiler.formula(deployment.initially.where, {})",
        "pass",
    ),
    Mutation(
        "no D0 is taken for a set of them",
        "explore/initial.py",
        "if result == m.false:",
        "if False:",
    ),
    Mutation(
        "relaxed reachability starts from `init` alone",
        "plan/relaxation.py",
        "self.may.update(self._may_initially())",
        "pass",
    ),
    Mutation(
        "a condition on D0 drops facts of `init`",
        "plan/relaxation.py",
        "found[name] | self.must[name] for name in lines.relations",
        "found[name] for name in lines.relations",
    ),
    Mutation(
        "a condition on D0 binds single facts for good",
        "plan/relaxation.py",
        "admitted = m.and_exist(bits, singles, self.reads(right, env))",
        "admitted = self.reads(right, env)",
    ),
    Mutation(
        "a condition on some columns of D0 is taken for all",
        "plan/relaxation.py",
        "and binders.keys() == set(names)",
        "and True",
    ),
    Mutation(
        "a condition on equal columns of D0 is taken for all",
        "plan/relaxation.py",
        "and len(set(names)) == len(names)",
        "and True",
    ),
    Mutation(
        "an existential condition on D0 is taken for a universal one",
        "plan/relaxation.py",
        "while isinstance(part, fo.Forall):",
        "while isinstance(part, fo.Forall | fo.Exists):",
    ),
    Mutation(
        "relaxed `x in s` ranges over active values",
        "plan/relaxation.py",
        "among = self.encoding.valid(vector) if binder.declared else self.active(vector, must)",
        "among = self.active(vector, must)",
    ),
    Mutation(
        "relaxed parameters of finite sorts are active",
        "plan/relaxation.py",
        "(self.encoding.valid(vector) if finite else self.active(vector))",
        "self.active(vector)",
    ),
    Mutation(
        "D0 has constants only in relaxed reachability",
        "plan/planner.py",
        "known[: len(constants[sort]) + bounds.get(sort, 0)]",
        "known[: len(constants[sort])]",
    ),
    Mutation(
        "any guessed key is taken to hold in every D0",
        "encode/mutex.py",
        "return bool(relation.keys) and set(relation.keys) <= set(key)",
        "return True",
    ),
    Mutation(
        "a field is a declared key's where its facts agree on one column",
        "encode/mutex.py",
        "return bool(keys) and all(len({fact.args[k] for fact in field.facts}) == 1 for k in keys)",
        "return bool(keys) and any(len({fact.args[k] for fact in field.facts}) == 1 for k in keys)",
    ),
    Mutation(
        "every field is a declared key's",
        "encode/mutex.py",
        "return bool(keys) and all(len({fact.args[k] for fact in field.facts}) == 1 for k in keys)",
        "return True",
    ),
    Mutation(
        "relations that D0 may fill are single",
        "encode/mutex.py",
        "and not (deployment.initially is not None and relation.name in deployment.initially.relations)\n",
        "",
    ),
    Mutation(
        "a step that doubles a key is not told apart",
        "step/updates.py",
        "doubled[field] = met",
        "pass",
    ),
    Mutation(
        "a step doubles a key of a fact that it deletes by another statement",
        "step/updates.py",
        "doubled.pop(field, None)",
        "pass",
    ),
    Mutation(
        "a step that doubles a key is no error",
        "step/effects.py",
        "exceeding = exceeding | params.selected(m.exist(drawn, inside & doubled), values)",
        "pass",
    ),
    Mutation(
        "a step that doubles a key is taken",
        "step/effects.py",
        "inside = inside & ~doubled",
        "pass",
        harmless="The step is an error as soon as its source is reached, so that nothing after it is asked.",
    ),
    Mutation(
        "keys may be doubled in a state",
        "encode/encoding.py",
        "m.at_least(2, map(self.atom, group))",
        "m.at_least(3, map(self.atom, group))",
    ),
    Mutation(
        "keys are looked for within fields only",
        "encode/encoding.py",
        "if len({self._field_of.get(fact) for fact in group}) > 1 or self.static",
        "if self.static",
    ),
    Mutation(
        "two lasting facts with one key are not seen",
        "encode/encoding.py",
        " or self.static.issuperset(group[:2])",
        "",
        harmless="`init` with two facts of one key is refused before, and nothing else lasts.",
    ),
    Mutation(
        "doubled keys are not looked for",
        "explore/reach.py",
        "(doubled := states & self.encoding.doubled_keys)",
        "(doubled := self.manager.false)",
    ),
    Mutation(
        "a numeral is active in all of its sorts",
        "encode/encoding.py",
        "return (sort, value) in zip(self.schema.relation(fact.relation).sorts, fact.args, strict=True)",
        "return value in fact.args",
    ),
    Mutation(
        "< is <=",
        "encode/values.py",
        "entries[value] = following",
        "entries[value] = above",
    ),
    Mutation(
        "<= is <",
        "encode/values.py",
        "                    entries[value] = above",
        "                    entries[value] = following",
    ),
    Mutation(
        "> is >=",
        "encode/values.py",
        'case ">":\n                    entries[value] = below',
        'case ">":\n                    entries[value] = below | named[place]',
    ),
    Mutation(
        ">= is >",
        "encode/values.py",
        "entries[value] = below | named[place]",
        "entries[value] = below",
    ),
    Mutation(
        "succ is the same value",
        "encode/values.py",
        "entries[value] = named[place + 1] if place + 1 < len(values) else m.false",
        "entries[value] = named[place]",
    ),
    Mutation(
        "succ of the last value is the first",
        "encode/values.py",
        "named[place + 1] if place + 1 < len(values) else m.false",
        "named[(place + 1) % len(values)]",
    ),
    Mutation(
        "`x in s` ranges over active values",
        "step/formulas.py",
        "if binder.declared:\n            return self.encoding.valid(vector)\n        active",
        "active",
    ),
    Mutation(
        "parameters of finite sorts are active",
        "step/formulas.py",
        "if not self.encoding.schema.is_finite(sort):",
        "if True:",
    ),
    Mutation(
        "`x in s` ranges over active values in specifications",
        "check/satisfaction.py",
        "& self.ranging(binder, vector, body)",
        "& self.encoding.active(vector.sort, vector)",
    ),
    Mutation(
        "a negation holds where its body fails somewhere",
        "check/satisfaction.py",
        "case fo.Not(body) if alone:",
        "case fo.Not(body):",
    ),
    Mutation(
        "what does not hold everywhere holds nowhere",
        "check/satisfaction.py",
        "case fo.Not(body) if alone:",
        "case fo.Not(body):",
    ),
    Mutation(
        "EF holds where it holds from some D0",
        "check/satisfaction.py",
        'case fo.Until("E", fo.Truth(True), body) if alone:',
        'case fo.Until("E", fo.Truth(True), body):',
    ),
    Mutation(
        "it is enough to hold at some D0",
        "check/satisfaction.py",
        "return self.model.initial & ~self._set(formula, {}) == self.manager.false",
        "return self.model.initial & self._set(formula, {}) != self.manager.false",
    ),
    Mutation(
        "events do not happen",
        "explore/reach.py",
        "selected = {event.name: [self.offers.calls[event.name]] for event in self.deployment.events}",
        "selected: dict[str, list[Bdd]] = {}",
    ),
    Mutation(
        "states with an event only are silent",
        "explore/reach.py",
        "silent = states & ~self.offers.by(self.tools, states)",
        "silent = states & ~self.offers.by([t.name for t in self.deployment.tools], states)",
    ),
    Mutation(
        "agents are asked where they are offered nothing",
        "explore/contexts.py",
        "undecided = self.offers.by(self.tools, states & ~self.decided)",
        "undecided = states & ~self.decided",
    ),
    Mutation(
        "something is offered wherever something is",
        "explore/policies.py",
        "return states & ~silent",
        "return states",
    ),
    Mutation(
        "an agent has the tools of all",
        "explore/contexts.py",
        "self.tools = {name: offers.tools[name] for name in agent.tools}",
        "self.tools = dict(offers.tools)",
    ),
    Mutation(
        "an agent is shown what the first is shown",
        "explore/reach.py",
        "ContextFinder(self.deployment, one,",
        "ContextFinder(self.deployment, replace(one, views=self.deployment.agents[0].views),",
    ),
    Mutation(
        "the tools of an agent that selects everything are everybody's",
        "explore/reach.py",
        "else {name: self.offers.calls[name] for name in agent.tools}",
        "else dict(self.offers.calls)",
    ),
    Mutation(
        "a bound variable's name in the scope is read too",
        "step/formulas.py",
        "names = fo.free_variables(body) - {binder.name}",
        "names = fo.free_variables(body)",
    ),
    # policies as formulas
    Mutation(
        "no line of a policy goes before another",
        "explore/policies.py",
        "matching = self._matches(rule) & ~earlier",
        "matching = self._matches(rule)",
    ),
    Mutation(
        "rules read what is not shown",
        "/deployment/selecting.py",
        "return fo.conjunction((atom, fo.disjunction(tuple(cuts))))",
        "return atom",
    ),
    Mutation(
        "rules range over all active values",
        "/deployment/selecting.py",
        "ranging = fo.And((self.occurs(binder), inner))",
        "ranging = inner",
    ),
    Mutation(
        "rules do not range over the values of offered calls",
        "/deployment/selecting.py",
        "return fo.disjunction((*self._in_facts(binder), *self._in_calls(binder)))",
        "return fo.disjunction(tuple(self._in_facts(binder)))",
    ),
    Mutation(
        "a rule's variable may stand for two values",
        "/deployment/selecting.py",
        "known = first.setdefault(term.name, arg) if isinstance(term, fo.Var) else term",
        "known = arg if isinstance(term, fo.Var) and first.setdefault(term.name, arg) else term",
    ),
    Mutation(
        "a rule's constant is any value",
        "/deployment/selecting.py",
        "known = first.setdefault(term.name, arg) if isinstance(term, fo.Var) else term",
        "known = first.setdefault(term.name, arg) if isinstance(term, fo.Var) else arg",
    ),
    Mutation(
        "a policy knows constants that the wrapper renames",
        "explore/policies.py",
        "return rules.constants <= wrapper.rigid",
        "return True",
    ),
    Mutation(
        "a policy may select nothing",
        "explore/reach.py",
        "self._check_selects(finder, states)",
        "pass",
    ),
    Mutation(
        "what is wide is selected in the first states only",
        "explore/reach.py",
        "if self._wide and states & ~self._covered != self.manager.false:",
        "if self._wide and self.sweeps == 1:",
    ),
    Mutation(
        "what is wide takes the tool from agents that select everything",
        "explore/reach.py",
        "if agent not in policies or name not in self._wide:",
        "if name not in self._wide:",
    ),
    Mutation(
        "contexts that were not met count as met",
        "explore/reach.py",
        "            return False\n        self.has_met_contexts = True",
        "            pass\n        self.has_met_contexts = True",
    ),
    Mutation(
        "two calls of a policy are no choice where contexts were not met",
        "explore/reach.py",
        "            if finder.is_among_alike(context):\n                return True\n",
        "",
    ),
    Mutation(
        "every rule that matches decides",
        "explore/reach.py",
        "left = left & ~states",
        "left = left",
    ),
    # what a decision weighs
    Mutation(
        "sampling forgets how a node is reached",
        "/agents/records/possible.py",
        "here.probability * share",
        "share",
    ),
    Mutation(
        "sampling leaves the greedy call out",
        "/agents/records/possible.py",
        "followed = after.greedily or after.probability >= least",
        "followed = after.probability >= least",
    ),
    Mutation(
        "the mass is that of the likeliest call",
        "/agents/records/possible.py",
        "math.fsum(map(math.exp, self.logprobs))",
        "math.exp(max(self.logprobs))",
    ),
    Mutation(
        "the temperature is left out",
        "/agents/records/possible.py",
        "math.exp((logprob - greatest) / temperature)",
        "math.exp(logprob - greatest)",
    ),
    Mutation(
        "the mass is the greatest",
        "/agents/records/said.py",
        "return min((branching.mass",
        "return max((branching.mass",
    ),
    Mutation(
        "too little mass is enough",
        "/agents/records/weight.py",
        "one is not None and one < mass for",
        "one is not None and one < mass / 2 for",
    ),
    Mutation(
        "answers without tokens are believed",
        "/agents/records/answer.py",
        "if not self.selected or self.selected not in several:",
        "if False:",
    ),
    # agents that are recorded: how often they are asked, what counts as an answer, who waits for what
    Mutation(
        "no question is put twice",
        "/agents/recorded.py",
        "return TIMES[self._choices - 1]",
        "return 1",
    ),
    Mutation(
        "the first sample stands for all",
        "/agents/recorded.py",
        "heard[number] for number in sorted(heard)",
        "heard[min(heard)] for number in heard",
    ),
    Mutation(
        "what is asked besides the calls is not in the key",
        "/agents/recorded.py",
        '"asked": asked,',
        '"asked": 0,',
    ),
    Mutation(
        "a pause goes past the deadline",
        "/agents/recorded.py",
        " or self._too_late(clock, pause)",
        "",
    ),
    Mutation(
        "after a failure the rest is asked",
        "/agents/in_flight.py",
        "                self._stopping = True\n            if self._stopping",
        "                pass\n            if self._stopping",
    ),
    Mutation(
        "what is in flight goes on",
        "/agents/in_flight.py",
        "                self._loop.call_soon_threadsafe(stop)",
        "                pass",
    ),
    Mutation(
        "a stored row that says otherwise is not looked at",
        "/agents/records/store.py",
        "if self.database.add(connection, name, list(rows.values())) == len(rows):",
        "if self.database.add(connection, name, list(rows.values())) >= 0:",
    ),
    Mutation(
        "a record has only the first offered call",
        "/agents/records/answer.py",
        "map(_spelled_call, self.calls)",
        "map(_spelled_call, self.calls[:1])",
    ),
    Mutation(
        "a decision's key is of the first offered call",
        "/models/walk.py",
        "_spelled_call(offered.text, offered.tokens) for offered in calls]",
        "_spelled_call(offered.text, offered.tokens) for offered in calls[:1]]",
    ),
    Mutation(
        "unknown verdicts cover decisions",
        "/analyses/covered_decisions.py",
        'if word not in ("holds", "fails"):',
        'if word not in ("holds", "fails", "unknown"):',
    ),
    Mutation(
        "undeclared values of a finite sort are live",
        "/analyses/covered_decisions.py",
        "        self._check(state)\n",
        "",
    ),
    Mutation(
        "facts of a view may offer calls",
        "/agents/joint.py",
        "relation_of(fact, self.schema)  # raises if it is unknown",
        "relation_of(fact, self._encoding.schema)",
    ),
    Mutation(
        "whatever function is called counts",
        "/models/function_tools.py",
        "    if call not in calls:",
        "    if False:",
    ),
    Mutation(
        "a redirect is followed",
        "/models/chat.py",
        "follow_redirects=False",
        "follow_redirects=True",
    ),
    Mutation(
        "a server may say the key",
        "/support/printable.py",
        'text = text.replace(secret, "***")',
        "pass",
    ),
    # fairness that hides finite runs: which states are hidden, what the completed reading lets through,
    # and what is said of it
    Mutation(
        "no state is hidden",
        "check/satisfaction.py",
        "return self.model.reached & ~self._fair\n",
        "return self.manager.false\n",
    ),
    Mutation(
        "only one constraint lets hidden states through",
        "check/satisfaction.py",
        "tuple(self._counting | reached & compiler.formula(fair, {}) for fair in self._constraints)",
        "tuple((self.manager.false if i else self._counting) | reached & compiler.formula(fair, {})"
        " for i, fair in enumerate(self._constraints))",
    ),
    Mutation(
        "lines that hide runs are not found",
        "/verification/findings/reached.py",
        "if hidden is None or not has_fair_run(engine):",
        "if True:",
    ),
    Mutation(
        "the fair reading decides alone",
        "/verification/readings.py",
        "fairly, completely = engine.holds(fo.Implies(FAIR_START, formula)), engine.completed.holds(formula)",
        "fairly = completely = engine.holds(fo.Implies(FAIR_START, formula))",
    ),
    Mutation(
        "the completed reading decides alone",
        "/verification/readings.py",
        "fairly, completely = engine.holds(fo.Implies(FAIR_START, formula)), engine.completed.holds(formula)",
        "fairly = completely = engine.completed.holds(formula)",
    ),
    # evidence: what it is built of, and what its replay asks for
    Mutation(
        "lassos are as they were found",
        "check/witness.py",
        "return found if self.checker.constraints else search.shorter(state, *found)",
        "return found",
    ),
    Mutation(
        "a run that ends is not followed by a fair one",
        "/evidence/build.py",
        "if not self.model.goes_on:",
        "if True:",
    ),
    Mutation(
        "a broken until is shown without what it waits for",
        "/evidence/build.py",
        "(never,), (never, (left, False)))",
        "(), ((left, False),))",
    ),
    Mutation(
        "where all parts matter one is shown",
        "/evidence/build.py",
        "        if all_matter:",
        "        if False:",
    ),
    Mutation(
        "evidence may begin anywhere",
        "/evidence/replay.py",
        "if not is_initial(self._starting, node.state):",
        "if False:",
    ),
    Mutation(
        "a claim may be about another state", "/evidence/replay.py", "if node.state != state:", "if False:"
    ),
    Mutation(
        "a claim may hold other values",
        "/evidence/replay.py",
        "if node.assignment != wanted:",
        "if False:",
    ),
    Mutation(
        "what is evaluated is believed",
        "/evidence/replay.py",
        "if holds(node.formula, state, wanted) != node.holds:",
        "if False:",
    ),
    Mutation(
        "anything may be left unshown",
        "/evidence/replay.py",
        "if not _is_about_all(node.formula, node.holds):",
        "if False:",
    ),
    Mutation(
        "parts need not decide",
        "/evidence/replay.py",
        "if _connected(node.formula, [known.get(k) for k in range(len(parts))]) != node.holds:",
        "if False:",
    ),
    Mutation(
        "values need not decide",
        "/evidence/replay.py",
        "if _quantified(node.formula, known, len(among)) != node.holds:",
        "if False:",
    ),
    Mutation(
        "values may be any",
        "/evidence/replay.py",
        "            if u not in among:",
        "            if False:",
    ),
    Mutation(
        "what an operator asks of a state need not be shown",
        "/evidence/replay.py",
        "for formula, truth in wanted - shown:",
        "for formula, truth in frozenset[_Aim]():",
    ),
    Mutation(
        "any call may be made",
        "/evidence/replay.py",
        "if not self._may_be_made(state, step):",
        "if False:",
    ),
    Mutation(
        "a call may lead anywhere",
        "/evidence/replay.py",
        "if not leads_to(deployment, step.call, state, step.state, near):",
        "if False:",
    ),
    Mutation(
        "runs may go on past the bounds",
        "/evidence/replay.py",
        "            if breaks_claim(deployment, state)\n",
        "            if False\n",
    ),
    Mutation(
        "a loop need not close",
        "/evidence/replay.py",
        "if not run.loop < len(run.steps) or states[run.loop] != states[-1]:",
        "if not run.loop < len(run.steps):",
    ),
    Mutation(
        "a loop need not be fair",
        "/evidence/replay.py",
        "if not any(holds(constraint, state, {}) for state in states[run.loop :]):",
        "if False:",
    ),
    Mutation(
        "a fair run needs no loop",
        "/evidence/replay.py",
        "if (self._fair or self._fair_actions) and not completed:",
        "if False:",
    ),
    Mutation(
        "recorded decisions are not compared",
        "/evidence/recorded.py",
        "elif decision.selected != selected:",
        "elif False:",
    ),
    Mutation(
        "decisions may be recorded for any context",
        "/evidence/recorded.py",
        "if decision.canonical != context:",
        "if False:",
        harmless="What is recorded for a context that is not canonical is never looked up.",
    ),
    # canonical forms from parts, production
    Mutation(
        "copies are not swapped",
        "/relational/layout.py",
        "            for one in range(start, start + size * (block.copies - 1), size):",
        "            for one in range(0):",
    ),
    Mutation(
        "automorphisms within a part are forgotten",
        "/relational/layout.py",
        "{v + start: w + start for v, w in g.items()} for g in block.shape.generators",
        "{} for g in block.shape.generators[:0]",
    ),
    Mutation(
        "automorphisms that move hubs are forgotten",
        "/relational/layout.py",
        "    if not generators:\n        return layout",
        "    if True:\n        return layout",
    ),
    Mutation(
        "the number of copies does not tell hubs apart",
        "/relational/layout.py",
        "2 * copies + 1, base + i",
        "1, base + i",
    ),
    Mutation(
        "hubs of one colour are taken as they come",
        "/relational/layout.py",
        "if len(set(colours.values())) == len(hubs):",
        "if True:",
    ),
    Mutation(
        "contexts with more copies are the same context",
        "/relational/layout.py",
        "frozenset((block.shape, block.copies) for block in found)",
        "frozenset((block.shape, 1) for block in found)",
    ),
    Mutation(
        "what a former hub connects stays apart",
        "/relational/parts.py",
        "                seeds.update(*map(_values, rows))\n",
        "",
    ),
    Mutation(
        "facts of hubs stay when they are gone",
        "/relational/parts.py",
        "        self._hub_rows -= self._touched_rows\n",
        "",
    ),
    Mutation(
        "every thread asks",
        "/agents/wrapper.py",
        "mine = [key for key in missing if key not in self._asking]",
        "mine = missing",
    ),
    Mutation(
        "what is refused is asked first",
        "/analyses/production.py",
        'self._asked(context) if self._on_unknown == "ask" else None',
        "self._asked(context)",
    ),
    Mutation(
        "an agent that now selects otherwise is covered",
        "/analyses/production.py",
        "        if calls == verified:",
        "        if True:",
    ),
    Mutation(
        "constants that the verified agent knew are renamed",
        "/analyses/covered_decisions.py",
        "Joint(deployment.schema, tools, recorded.known, canonical_timeout)",
        "Joint(deployment.schema, tools, {}, canonical_timeout)",
    ),
    # raised bounds, choices among records alike
    Mutation(
        "a count that is sure is taken for one that is possible",
        "/analyses/deepening/recover.py",
        'asked_sure = count.holds == (count.formula.comparison == "atleast")',
        "asked_sure = True",
    ),
    Mutation(
        "an equivalence is read one way",
        "/analyses/deepening/recover.py",
        "place = j if k == 0 else 1 - j",
        "place = j",
    ),
    Mutation(
        "a run that goes on fairly is left where it ends",
        "/analyses/deepening/recover.py",
        "steps = (*run.steps[: run.ends], *onward.steps)",
        "steps = (*run.steps[: run.ends], *onward.steps[:0])",
    ),
    Mutation(
        "what a claim within the bounds rests on is lost",
        "/analyses/deepening/recover.py",
        "            if k == 1:\n                return self.node(part, f)\n",
        "            pass\n",
    ),
    Mutation(
        "a loop that is gone round once is one",
        "/analyses/deepening/growth.py",
        "if rounds >= 2 and (best",
        "if rounds >= 1 and (best",
    ),
    Mutation(
        "a loop gains something each time",
        "/analyses/deepening/growth.py",
        "sizes[at + length] - sizes[at] == gained:",
        "sizes[at + length] - sizes[at] > 0:",
    ),
    Mutation(
        "every tool would delete what is left",
        "/analyses/deepening/growth.py",
        "if _deletes(tool, name))",
        "if True)",
    ),
    Mutation(
        "a loop is prolonged past the bounds",
        "/analyses/deepening/growth.py",
        "        if exceeded(self._deployment, state) is not None:\n            return\n",
        "",
    ),
    Mutation(
        "a change is suggested for a model as for rules",
        "/analyses/deepening/remedy.py",
        "ruled = all(made is None or isinstance(made.agent, RuleAgent) for made in wrappers.values())",
        "ruled = True",
    ),
    Mutation(
        "a change is suggested that bounds nothing",
        "/analyses/deepening/remedy.py",
        "return bounds if bounds.outgrown is None else None",
        "return bounds",
    ),
    Mutation(
        "guards leave room for what is there, not for what comes",
        "/analyses/deepening/remedy.py",
        "number = _room(deployment, sort) - _drawn(tool, sort)",
        "number = _room(deployment, sort)",
    ),
    Mutation(
        "of several guards all are suggested",
        "/analyses/deepening/remedy.py",
        "            if fewer is not None:",
        "            if False:",
    ),
    Mutation(
        "policies never archive",
        "/analyses/deepening/remedy.py",
        "policies=tuple(_ending(policy, rule) for policy in written.policies)",
        "policies=written.policies",
    ),
    Mutation(
        "bounds are raised past others",
        "/analyses/deepening/schedule.py",
        "level = min(bounds[sort] for sort in open_) + 1",
        "level = max(bounds[sort] for sort in open_) + 2",
    ),
    Mutation(
        "at least none is a fact about a value",
        "/certificate/checker/needed.py",
        'case fo.Count("atleast", 0):  # true',
        'case fo.Count("atleast", -1):  # true',
    ),
    Mutation(
        "a formula is not followed further than one value",
        "/analyses/deepening/deepen.py",
        "self._leapt(part) if leaps and not exceeded else ()",
        "()",
    ),
    Mutation(
        "a leap is asked about over a name too few",
        "/deployment/leaps.py",
        "names[sort] = max(names[sort], total)",
        "names[sort] = max(names[sort], total - 1)",
    ),
    Mutation(
        "a value is active without a fact",
        "/deployment/leaps.py",
        "        return sum(own == sort and columns",
        "        return any(own == sort and columns",
    ),
    Mutation(
        "what a value that is brought in asks for is asked for once",
        "/deployment/witnesses.py",
        "for key in inner})\n        raise OutsideForm(f)",
        "for key in inner})\n        return inner",
    ),
    Mutation(
        "two conjuncts need no more than one",
        "/deployment/witnesses.py",
        "total = total + more if",
        "total = total | more if",
    ),
    Mutation(
        "what is possible is said to be so",
        "/analyses/deepening/verdicts.py",
        "return (engine.evidence(sure, True) if engine.holds(sure) else None), ()",
        "return engine.evidence(possible, True), ()",
    ),
    Mutation(
        "the first bounds are those of the file",
        "/analyses/deepening/schedule.py",
        "{**dict.fromkeys(deployment.bounds, 0), **initial_bounds(deployment)}",
        "dict(deployment.bounds)",
    ),
    Mutation(
        "a limit takes back what was found",
        "/analyses/deepening/deepen.py",
        "            if not run.rounds:\n                raise\n",
        "            raise\n",
    ),
    Mutation(
        "a formula never leads further away",
        "/analyses/deepening/fragment.py",
        "    yield Effect(statements=(Insert(leaps),), when=effect.when)\n",
        "",
    ),
    Mutation(
        "a state past the bounds does not count as one",
        "/analyses/deepening/fragment.py",
        "        return fo.And((fo.Not(self.past), read,",
        "        return fo.And((read, read,",
    ),
    Mutation(
        "runs within the bounds need not go on fairly",
        "/analyses/deepening/fragment.py",
        'fairly = self.fair and ends and certain == (path == "E")',
        "fairly = False",
    ),
    Mutation(
        "fair runs past the bounds are left out",
        "/analyses/deepening/fragment.py",
        "fair=tuple(fo.Or((constraint, past)) for constraint in written.fair)",
        "fair=written.fair",
    ),
    Mutation(
        "runs under raised bounds begin anywhere within these",
        "/evidence/replay.py",
        "if not is_initial(self._starting, node.state)",
        "if not is_initial(self._deployment, node.state)",
    ),
    Mutation(
        "choices are verified for the first call alone",
        "/verification/orbits.py",
        "    for rank in range(max(sizes.values(), default=0)):",
        "    for rank in range(min(1, max(sizes.values(), default=0))):",
    ),
    Mutation(
        "fairness does not matter to what a choice changes",
        "/analyses/symmetry.py",
        "elif not fewer and quantifies",
        "elif quantifies",
    ),
    Mutation(
        "a formula that leaps is taken for one without an effect",
        "explore/reach.py",
        "                if call in may and breaks_claim(self.deployment, after):",
        "                if False:",
    ),
    # shields
    Mutation(
        "a call is allowed if some outcome is won",
        "/engines/symbolic/check/winning.py",
        "calls & ~self._leaving(name)",
        "calls & self._whole.offers.calls[name]",
    ),
    Mutation(
        "a state without a step is won",
        "/engines/symbolic/check/winning.py",
        "~game.pushed_out & ~game.stuck",
        "~game.pushed_out",
    ),
    Mutation(
        "a state that may end is lost",
        "/engines/symbolic/check/winning.py",
        "& ~going & ~self.model.compiler.formula(self.model.deployment.may_end, {})",
        "& ~going",
    ),
    Mutation(
        "events may lead out of what is won",
        "/engines/symbolic/check/winning.py",
        "& ~game.pushed_out & ~game.stuck",
        "& ~game.stuck",
    ),
    Mutation(
        "demands with paths are read once, among all states",
        "/engines/symbolic/check/winning.py",
        "checker = Checker(game.model)\n        return",
        "checker = Checker(self.model)\n        return",
    ),
    Mutation(
        "a losing run may take any call where an event wins",
        "/engines/symbolic/check/winning.py",
        "events if pushed else",
        "events if False else",
    ),
    Mutation(
        "demands of A[f W g] forget that g was",
        "/analyses/shield/shield.py",
        "fo.Or((left, fo.Since(fo.TRUE, right)))",
        "fo.Or((left, right))",
    ),
    Mutation(
        "a negated EF counts as one that grows",
        "/analyses/shield/shield.py",
        "return not fo.is_temporal(left) and _grows(right)",
        "return _grows(right)",
    ),
    Mutation(
        "a condition need not admit all that is allowed",
        "/analyses/shield/guards.py",
        "if self.allowed <= one.calls)",
        "if True)",
    ),
    Mutation(
        "a condition may admit what is denied",
        "/analyses/shield/guards.py",
        "if self.denied & one.calls == self.manager.false)",
        "if True)",
    ),
    # blame
    Mutation(
        "values alone in their cells lose their names",
        "/relational/large.py",
        "least - 1 - own for value, own",
        "least - 1 for value, own",
    ),
    Mutation(
        "parts forget the cells of their values",
        "/relational/large.py",
        "(sorts[value], cell[value])",
        "(sorts[value], 0)",
    ),
    Mutation(
        "rows of large parts that are half of what could be connect nothing",
        "/relational/large.py",
        "if len(found) < math.prod(",
        "if 2 * len(found) < math.prod(",
    ),
    Mutation(
        "parts alike are never swapped",
        "/relational/large.py",
        "for one, other in pairwise(copies):",
        "for one, other in ():",
    ),
    Mutation(
        "links that go one way count as going both",
        "/relational/large.py",
        "if cell[one] == cell[other] and link != _turned(link):",
        "if False:",
    ),
    Mutation(
        "all links are of one kind",
        "/relational/large.py",
        "enumerate(sorted(pairs), 1)",
        "((1, link) for link in sorted(pairs))",
    ),
    Mutation(
        "rows of three values are left out",
        "/relational/large.py",
        "            others.append(row)\n",
        "            pass\n",
    ),
    Mutation(
        "positions in rows of three values are not told apart",
        "/relational/large.py",
        "if cell[value] in direct:",
        "if False:",
    ),
    Mutation(
        "cells are split in an order of their own",
        "/relational/large.py",
        "split = [kinds[kind] for kind in sorted(kinds)]",
        "split = [kinds[kind] for kind in kinds]",
    ),
    Mutation(
        "cells are split by whether values are linked",
        "/relational/large.py",
        "setdefault(tuple(sorted(found)), set())",
        "setdefault((), set())",
    ),
    Mutation(
        "nauty has no limit",
        "/relational/nauty.py",
        '    signal.setitimer(signal.ITIMER_REAL, arguments["seconds"])\n',
        "    pass\n",
        harmless="the parent's own limit is a second later",
    ),
    Mutation(
        "what holds of some run is kept",
        "/analyses/symmetry.py",
        '"A" if holds else "E"',
        '"E" if holds else "A"',
    ),
    Mutation(
        "polarity does not matter to what is kept",
        "/verification/findings/occurrences.py",
        "(one.formula.path == path) == (one.polarity > 0) and one.polarity != 0",
        "one.formula.path == path",
    ),
    Mutation(
        "the polarity of what is said of a wider agent is swapped",
        "/verification/scope.py",
        'if quantifies(formula, "A" if holds',
        'if quantifies(formula, "E" if holds',
    ),
    Mutation(
        "a formula of both polarities is said of every agent",
        "/verification/scope.py",
        'return f"this rests on what {self.some} does; {self.each} may do otherwise"',
        'return ""',
    ),
    Mutation(
        "a narrower agent is treated as a wider one",
        "/verification/scope.py",
        'return "" if quantifies(formula, "E" if holds else "A") else self.sentence',
        'return "" if quantifies(formula, "A" if holds else "E") else self.sentence',
    ),
    Mutation(
        "fairness that an agent need not meet is not told",
        "/verification/scope.py",
        "if fair and asks_for_progress(formula):",
        "if False:",
    ),
    Mutation(
        "two calls of one tool are no choice",
        "/verification/scope.py",
        "for tool, f in (*twice, *pairs))",
        "for tool, f in pairs)",
    ),
    Mutation(
        "a specification for any agent is a finding all the same",
        "/verification/scope.py",
        "if not holds or ANY in spec.whom:",
        "if not holds:",
    ),
    Mutation(
        "single choices are all the first",
        "/engines/explicit/choices.py",
        "if number != min(rank, len(orbit.calls) - 1)",
        "if number != 0",
    ),
    Mutation(
        "whoever chooses on the graph chooses for the verdict",
        "/engines/explicit/choices.py",
        "any(all(map(leads, calls))",
        "any(any(map(leads, calls))",
    ),
    Mutation(
        "a negation on the graph keeps to one side of the game",
        "/engines/explicit/choices.py",
        "self._not(self.dual._sat(body, sigma))",
        "self._not(self._sat(body, sigma))",
    ),
    Mutation(
        "an equivalence on the graph keeps to one side of the game",
        "/engines/explicit/choices.py",
        "dual = self.dual",
        "dual = self",
    ),
    Mutation(
        "a game on the graph goes back from new states only",
        "/engines/explicit/choices.py",
        "while more := self._pre(reached) & left & self._not(reached):",
        "more = right\n        while more := self._pre(more) & left & self._not(reached):",
    ),
    Mutation(
        "a call of which another agent has several alike is nobody's alone",
        "/engines/explicit/choices.py",
        "if not agents or any((agent, call) not in choosing for agent in agents)",
        "if not agents or not any((agent, call) in choosing for agent in agents)",
    ),
    Mutation(
        "fairness that a choice can break is taken for kept on the graph",
        "/engines/explicit/choices.py",
        "        if self._sure.hidden:\n            return False\n",
        "",
    ),
    Mutation(
        "fairness that a choice can break is taken for kept",
        "check/choices.py",
        "        if self._sure.hidden != self._sure.manager.false:\n            return False\n",
        "",
    ),
    Mutation(
        "whoever chooses chooses for the verdict",
        "check/choices.py",
        "return m.disj(m.exist(part.selectors, part.calls) for part in self.parts) & ~lost",
        "return m.disj(m.exist(p.selectors, p.calls & p.steps.preimage(target)) for p in self.parts)",
    ),
    Mutation(
        "a state without a choice wins it",
        "check/choices.py",
        "return m.disj(m.exist(part.selectors, part.calls) for part in self.parts) & ~lost",
        "return ~lost",
    ),
    Mutation(
        "a negation keeps to one side of the game",
        "check/choices.py",
        "~self.dual._set(body, env)",
        "~self._set(body, env)",
    ),
    Mutation(
        "an equivalence keeps to one side of the game",
        "check/choices.py",
        "dual = self.dual",
        "dual = self",
    ),
    Mutation(
        "several orbits of one tool are one family",
        "check/choices.py",
        "if number == 1 == max(map(len, own.values())):",
        "if number:",
    ),
    Mutation(
        "of the calls alike at a place one is in the family",
        "explore/located.py",
        "for call in orbits.get(context, ()))",
        "for call in [*orbits.get(context, ())][:1])",
    ),
    Mutation(
        "contexts that are shown at no place are in no family",
        "explore/contexts.py",
        "                if context in self._matched:\n",
        "                if context not in self._matched:\n",
    ),
    Mutation(
        "calls without one alike are left out beside those with one",
        "check/choices.py",
        "selection = {**selection, tool: selection[tool] & ~family}",
        "selection = {**selection, tool: m.false}",
    ),
    Mutation(
        "a game goes back from new states only",
        "check/choices.py",
        "while (larger := reached | through & self.preimage(reached)) != reached:",
        "if (larger := super().reaching(reached, through)) != reached:",
    ),
    Mutation(
        "fairness is met on the transitions and not in the game",
        "check/satisfaction.py",
        "return globally(pairs.relation, self.model.reached, self.constraints, self._steps(pairs))",
        "return globally(self.model.transitions, self.model.reached, self.constraints, self._steps(pairs))",
    ),
    Mutation(
        "a step that an agent may leave out is taken for forced",
        "/verification/orbits.py",
        "            return len(offered) == 1",
        "            return True",
    ),
    Mutation(
        "a call among others alike is taken for forced",
        "/verification/orbits.py",
        "for orbit in orbits if len(orbit) == 1 for call in orbit)",
        "for orbit in orbits for call in orbit)",
    ),
    Mutation(
        "a claim about some run is taken for kept with fewer",
        "/verification/orbits.py",
        'quantifies(node.formula, "A" if node.holds else "E")',
        'quantifies(node.formula, "E" if node.holds else "A")',
    ),
    Mutation(
        "a free agent on the graph makes all its calls",
        "/engines/explicit/choices.py",
        "if len(calls) > 1)])",
        "if not calls)])",
    ),
    Mutation(
        "a free agent makes one call of each tool",
        "check/choices.py",
        "families.append({tool: calls & model.reached for tool, calls in selection.items()})",
        "families += ({tool: calls & model.reached} for tool, calls in selection.items())",
    ),
    Mutation(
        "where contexts were not met no call has others alike",
        "check/choices.py",
        "lost = m.and_exist(frozenset(self.others.values()), losing, self.alike)",
        "lost = m.false",
    ),
    Mutation(
        "choices that change a verdict together are looked at alone",
        "/verification/scope.py",
        "if not differs(Choosers(free, tied - free)):",
        "if not any(differs(one.choosers) for one in self.wider):",
    ),
    Mutation(
        "a verdict that hangs on the choice is kept",
        "/verification/orbits.py",
        "return engine.whatever_chosen(formula, choosers, holds=holds)",
        "return bool(engine)",
    ),
    Mutation(
        "only what the wrapper adds is a choice among records alike",
        "/agents/wrapper.py",
        "for decision in self.decisions for",
        "for decision in self.decisions if len(decision[1]) == 1 for",
    ),
    Mutation(
        "an agent is asked where choices are tried",
        "/verification/orbits.py",
        "name: wrapper and wrapper.from_memory()",
        "name: wrapper",
    ),
    Mutation(
        "a relation separates where it tells some call apart",
        "/analyses/symmetry.py",
        "+= all(c.rename(g) == c for",
        "+= any(c.rename(g) == c for",
    ),
    Mutation(
        "contexts alike are one for all",
        "/analyses/symmetry.py",
        "                if not decision.action_rigid:\n",
        "                if True:\n",
    ),
    Mutation(
        "only one decision is ever changed",
        "/analyses/blame.py",
        "all_tried, failing = self._larger(failing)\n",
        "all_tried, failing = self._larger(failing)[0], []\n",
    ),
    Mutation(
        "an answer that is replaced is given too",
        "explore/contexts.py",
        "(calls & ~met.states) |",
        "calls |",
    ),
    Mutation(
        "changes that leave nothing to do are enough",
        "/analyses/blame.py",
        "all(mend.idle for mend in self._mends.values()):",
        "not self._mends:",
    ),
    Mutation(
        "single calls are not tried",
        "/analyses/blame.py",
        "decision.others, *single)",
        "decision.others)",
    ),
    Mutation(
        "a decision is never widened",
        "/analyses/blame.py",
        "decision, widen=not seen_through",
        "decision, widen=False",
    ),
    Mutation(
        "what breaks in exchange is not looked at",
        "/analyses/blame.py",
        "if others else None",
        "if False else None",
    ),
    Mutation(
        "the last agent with a tool makes its calls",
        "explore/reach.py",
        "having[0] if len(having) == 1 else self.selection(state)[call]",
        "having[-1]",
    ),
    Mutation(
        "a call that several agents select is the last one's",
        "/agents/selection.py",
        "actors[0] if actors else None",
        "actors[-1] if actors else None",
    ),
    Mutation(
        "the mass of the first agent only is looked at",
        "/verification/audit.py",
        "            yield from _weight(_who(agent), wrapper, min_mass)\n",
        "            yield from _weight(_who(agent), wrapper, min_mass)\n            break\n",
    ),
    Mutation(
        "the mass of no agent is looked at",
        "/verification/audit.py",
        '                " less of its probability than is asked for (--min-mass)"\n            )\n',
        '                " less of its probability than is asked for (--min-mass)"\n            ) * 0\n',
    ),
    Mutation(
        "forced tokens that are not known are likely",
        "/verification/audit.py",
        "        elif partly:",
        "        elif False:",
    ),
    Mutation(
        "an agent that answers differently answers alike",
        "/verification/audit.py",
        "            yield from _repetition(_who(agent), wrapper)",
        "            pass",
    ),
    Mutation(
        "a domain below the theorem's is large enough",
        "/verification/audit.py",
        "    if restriction.exact:",
        "    if True:",
    ),
    Mutation(
        "an agent that knows more than the constants is equivariant",
        "/verification/audit.py",
        "elif not (beyond := _beyond(deployment, wrapper)):",
        "elif not (beyond := []):",
    ),
    Mutation(
        "bounds that are not decided are kept",
        "/verification/audit.py",
        "    if explored.open_leaps:",
        "    if False:",
    ),
    Mutation(
        "what `fair` lines hide is not looked at",
        "/verification/audit.py",
        "    elif explored.hidden is not None:",
        "    elif False:",
    ),
    Mutation(
        "where a claim is broken all states are known",
        "/verification/audit.py",
        '            yield Hypothesis(name, "not established", how, "exploration", doubt)',
        '            yield Hypothesis(name, "established", how, "exploration", doubt)',
    ),
    Mutation(
        "where a claim is broken a fair run starts everywhere",
        "/verification/audit.py",
        '            yield Hypothesis(name, "not established", _ended(explored)[0], "fairness")',
        '            yield Hypothesis(name, "established", _ended(explored)[0], "fairness")',
    ),
    Mutation(
        "a failure needs no hypothesis",
        "/verification/hypotheses.py",
        "        if not missing:",
        "        if not missing or found.holds is False:",
    ),
    Mutation(
        "what a run refutes needs all states",
        "/verification/hypotheses.py",
        '"exploration": by_run}',
        '"exploration": False}',
    ),
    Mutation(
        "bounds need no hypothesis",
        "/analyses/bounds.py",
        "            result.hypotheses.require()\n",
        "",
    ),
    Mutation(
        "decisions are covered where bounds are not established",
        "/analyses/covered_decisions.py",
        'if "bounded" in names:',
        "if False:",
    ),
    Mutation(
        "parts that hold at different D0 hold at one",
        "/certificate/checker/check.py",
        "everywhere = every or self.alone",
        "everywhere = True",
    ),
    Mutation(
        "a run from one D0 shows something of all",
        "/certificate/checker/check.py",
        "Run(states) if value and (self.alone or not every)",
        "Run(states) if value",
    ),
    Mutation(
        "what is nowhere is said to come",
        "/certificate/checker/check.py",
        "Everywhere() if not value",
        "Everywhere()",
    ),
    Mutation(
        "a bound from one side is taken for one from the other",
        "/certificate/checker/bounds.py",
        "for name in self.formulas.free(formula)), lower\n",
        "for name in self.formulas.free(formula)), True\n",
    ),
    Mutation(
        "what is bounded under some vectors is bounded under all",
        "/certificate/checker/bounds.py",
        "key = formula, tuple(scope[name] for name in self.formulas.free(formula)), lower",
        "key = formula, (), lower",
    ),
    Mutation(
        "one step leads to the next only at the start",
        "/logic/derived.py",
        'fo.Globally("A", fo.Implies(f, fo.Future("A", g)))',
        'fo.Implies(f, fo.Future("A", g))',
    ),
    Mutation(
        "what is not decided of bounds is certified",
        "/certificate/write.py",
        "    if result.engine.open_leaps:",
        "    if False:",
    ),
    Mutation(
        "what fragments show needs no hypothesis",
        "/analyses/deepening/verdicts.py",
        "verdict = decided.concluded(found.verdict, by_run=True)",
        "verdict = found.verdict",
    ),
    Mutation(
        "bounds that decisions in doubt keep are proposed",
        "/analyses/deepening/result.py",
        " and not self.doubted",
        "",
    ),
    Mutation(
        "what an agent answered about parts is not examined",
        "/analyses/deepening/deepen.py",
        "met = _meeting(met, search.asked)",
        "pass",
    ),
    Mutation(
        "a mend needs no mass",
        "/analyses/blame.py",
        "domain=domain, findings=False)",
        "domain=domain, findings=False, min_mass=None)",
    ),
    Mutation(
        "fair lines take a broken run away",
        "/verification/answers.py",
        "        if evidence is None:",
        "        if evidence is None or deployment.fair:",
    ),
    Mutation(
        "what holds of nothing says so though it is unknown",
        "/verification/verify.py",
        "verdicts[spec.name].holds is not None]",
        "True]",
    ),
    Mutation(
        "where a served model is from does not tell it apart",
        "/models/vllm_server.py",
        '            "root": without_credentials(root),\n',
        "",
    ),
    Mutation(
        "a weak until asks for progress",
        "/verification/findings/occurrences.py",
        'fo.Until("A", weak=False)',
        'fo.Until("A")',
    ),
    Mutation(
        "a column is read where it is last named",
        "/data/source.py",
        "first.setdefault(argument.name, argument)",
        "first.pop(argument.name, None); first[argument.name] = argument",
    ),
    Mutation(
        "a search that ends at its limit is complete",
        "/analyses/blame.py",
        " and all_tried and not self.limited\n",
        " and all_tried\n",
    ),
    Mutation(
        "that no decisions help is said of a search that was cut off",
        "/report/blame.py",
        "    if blame.complete:\n",
        "    if True:\n",
    ),
    Mutation(
        "single calls are always enough",
        "/analyses/blame.py",
        'not self._choices_make_fair and quantifies(formula, "A")',
        "True",
    ),
    Mutation(
        "few facts: a relation that is cleared keeps its facts",
        "/analyses/local/writes.py",
        "written.extend((relation, None, False) for relation in relations)",
        "pass",
    ),
    Mutation(
        "few facts: what a step makes of a sentence is kept for other values",
        "/analyses/local/writes.py",
        "if name in names)",
        "if False)",
    ),
    Mutation(
        "few facts: it is kept under other conditions",
        "/analyses/local/writes.py",
        "frozenset(given), about",
        "frozenset(), about",
    ),
    Mutation(
        "few facts: it is kept with other facts about its relations",
        "/analyses/local/writes.py",
        "frozenset(given), about",
        "frozenset(given)",
    ),
    Mutation(
        "few facts: it is kept with other facts that the writes read",
        "/analyses/local/writes.py",
        "self._kept.about(relations | read)",
        "self._kept.about(relations)",
    ),
    Mutation(
        "few facts: it is kept with a part that another step leaves open",
        "/analyses/local/writes.py",
        "if not variables or all(",
        "if True or all(",
    ),
    Mutation(
        "few facts: it is kept whichever values are active",
        "/analyses/local/facts.py",
        "frozenset((*fo.relations_in(formula), *active))",
        "frozenset(fo.relations_in(formula))",
    ),
    Mutation(
        "few facts: a formula is looked up for other values of its names",
        "/analyses/local/field.py",
        "key = formula, tuple(values.items()), read",
        "key = formula, read",
    ),
    Mutation(
        "few facts: a formula is looked up in a state that differs in what decides it",
        "/analyses/local/field.py",
        "key = formula, tuple(values.items()), read",
        "key = formula, tuple(values.items()), read[1:]",
    ),
    Mutation(
        "few facts: what is written under a condition always is",
        "/analyses/local/writes.py",
        "known = whole if whole == reading.false else whole & self._condition(where)",
        "known = whole",
    ),
    Mutation(
        "few facts: a quantifier's individual is the same in two statements",
        "/analyses/local/reading.py",
        "known.must == known.may or mentions_some(f)",
        "known.must == known.may",
    ),
    Mutation(
        "few facts: two quantifiers with one variable have one individual",
        "/analyses/local/values.py",
        'if "some" in kinds and "named" not in kinds:',
        "if False:",
    ),
    Mutation(
        "few facts: a sentence turns false by what is inserted",
        "/analyses/local/writes.py",
        "return inserted.may if to else deleted.may",
        "return inserted.may",
    ),
    Mutation(
        "few facts: an atom is false where a sentence about another record is",
        "/analyses/local/reading.py",
        "elif same(value_of(term, images), value) is not True:",
        "elif False:",
    ),
    Mutation(
        "few facts: two columns of a sentence with one variable have any values",
        "/analyses/local/reading.py",
        "if isinstance(term, fo.Var) and term.name not in images:",
        "if isinstance(term, fo.Var):",
    ),
    Mutation(
        "few facts: a quantifier is monotone where it is antitone",
        "/analyses/local/writes.py",
        "up |= sign == 0 or (sign > 0) is inserts",
        "up |= sign == 0 or (sign > 0) is not inserts",
    ),
    Mutation(
        "few facts: what is not surely true is surely false",
        "/analyses/local/reading.py",
        "return Known(~self.may, ~self.must)",
        "return Known(~self.must, ~self.may)",
    ),
    Mutation(
        "few facts: all values of a quantifier are constants or named",
        "/analyses/local/reading.py",
        "if binder.sort in self.open_sorts:\n            return",
        "if False:\n            return",
    ),
    Mutation(
        "few facts: what is none of the constants is any one of the others",
        "/analyses/local/reading.py",
        "if len(truths) == 1 else self.nothing",
        "if truths else self.nothing",
    ),
    Mutation(
        "few facts: an integer that no sort declares is a declared one",
        "/analyses/local/model.py",
        "if sort.values is not None and sort.name not in self._overflowing",
        "if sort.values is not None",
    ),
    Mutation(
        "few facts: every relation has at most one tuple",
        "/analyses/local/model.py",
        "self._single[relation] = self._always_without_keys(one)",
        "self._single[relation] = True",
    ),
    Mutation(
        "few facts: what is deleted was there",
        "/analyses/local/single.py",
        "return atom if core(atom) in asked else None",
        "return atom",
    ),
    Mutation(
        "few facts: two facts at first are one",
        "/analyses/local/start.py",
        "len(state.by_relation.get(relation, ())) <= 1",
        "len(state.by_relation.get(relation, ())) <= 2",
    ),
    Mutation(
        "few facts: any initial database has what the file lists",
        "/analyses/local/start.py",
        "return not is_open and len",
        "return len",
    ),
    Mutation(
        "few facts: a fair agent makes calls that it does not select",
        "/analyses/views/choices.py",
        "yield tuple(replace(tool, guard=fo.And((tool.guard, one))) for tool, one in pairs)",
        "yield tuple(tool for tool, _ in pairs)",
    ),
    Mutation(
        "few facts: an agent without a constraint has its turn",
        "/analyses/views/choices.py",
        "if constrained.isdisjoint({None, role.name}) or role.each is not None:",
        "if role.each is not None:",
    ),
    Mutation(
        "few facts: two variables have one value",
        "/analyses/local/questions.py",
        "for k in range(used[sort] + 1)]",
        "for k in range(1)]",
    ),
    Mutation(
        "few facts: every value is in the data",
        "/analyses/local/start.py",
        "                OUTSIDE,\n",
        "",
    ),
    Mutation(
        "few facts: a key is used that is not shown",
        "/analyses/local/model.py",
        "if self._always_without_keys(claim.invariant):",
        "if True:",
    ),
    Mutation(
        "few facts: what another move brings back is used up",
        "/analyses/local/lasting.py",
        "if states & back.may != self._reading.manager.false:",
        "if False:",
    ),
    Mutation(
        "few facts: there is an end to what is new",
        "/analyses/local/lasting.py",
        "if endless and any(binder.sort in sorts for binder in move.effect.fresh):",
        "if False:",
    ),
    Mutation(
        "few facts: no run ends",
        "/analyses/local/runs.py",
        "ends = region & ~lasting.surely_goes_on(region)",
        "ends = m.false",
    ),
    Mutation(
        "few facts: a part of the steps is asked of what is new to the part before",
        "/analyses/local/relations.py",
        "new, done[k] = states & ~done[k], states",
        "new, done[k] = states & ~done[k - 1], states",
    ),
    Mutation(
        "few facts: a run stays only if nothing changes",
        "/analyses/local/relations.py",
        "return self._m.disj([states & self._unchanged, *",
        "return self._m.disj([*",
    ),
    Mutation(
        "few facts: `ensure` changes nothing",
        "/analyses/local/steps.py",
        "[Move(tool, by, {}, action, lambda: self._m.false)]",
        "[Move(tool, by, {}, None, lambda: self._m.true)]",
    ),
    Mutation(
        "few facts: what is impossible for others is for the record in question",
        "/analyses/local/moves.py",
        "is_name(values[one]) and values[one] not in self.names)",
        "is_name(values[one]))",
    ),
    Mutation(
        "few facts: a run that is asked for is shown by what all runs do",
        "/analyses/local/answering.py",
        'if not isinstance(question, fo.Globally) or question.path != "A":',
        "if not isinstance(question, fo.Globally):",
    ),
    Mutation(
        "few facts: f until g is f unless g",
        "/analyses/local/questions.py",
        '            yield (), fo.Future("A", fo.Or((fo.Not(left), right)))\n',
        "",
    ),
    Mutation(
        "few facts: a fair event always changes a fact",
        "/analyses/local/runs.py",
        "met = ~fair.enabled | self._by(fair.moves).before(states)",
        "met = ~fair.enabled | self._by(fair.changing).before(states)",
    ),
    Mutation(
        "few facts: a fair event comes where it may be enabled",
        "/analyses/local/steps.py",
        "else self._reading(some).must",
        "else self._reading(some).may",
    ),
    Mutation(
        "few facts: one of the ways in which a call may go is enough for a run that is asked for",
        "/analyses/local/runs.py",
        "return ~self._by(one.moves).before(within & ~states)",
        "return self._by(one.moves).before(within & states)",
    ),
    Mutation(
        "few facts: a call that is made changes a fact",
        "/analyses/local/runs.py",
        "return ~self._by(one.moves).before(within & ~states)",
        "return ~self._by(one.changing).before(within & ~states)",
    ),
    Mutation(
        "few facts: a record that is inserted surely satisfies what may be true of it",
        "/analyses/local/reading.py",
        "must = must | m.disj(self._at(binder, body, one).must for one in self.witnesses(binder, body))",
        "must = must | m.disj(self._at(binder, body, one).may for one in self.witnesses(binder, body))",
    ),
    Mutation(
        "few facts: every agent makes each call that it is offered",
        "/analyses/views/choices.py",
        "if any(wrappers[role.name] is None for role in owners) or all(_rules(wrappers, r) for r in owners):",
        "if owners:",
    ),
    Mutation(
        "few facts: a fair event comes for values that are not active",
        "/analyses/local/steps.py",
        "elif not implies_active(core(tool.guard), param.name):",
        "elif False:",
    ),
    Mutation(
        "few facts: there always is a value for which an event comes",
        "/analyses/local/questions.py",
        'yield fo.Globally("A", fo.Or((witness.some, body)))',
        "pass",
    ),
    Mutation(
        "few facts: every record that a sentence may be about is there",
        "/analyses/local/reading.py",
        "k.must if sure else k.must & self._active(binder.sort, v)",
        "k.must",
    ),
    Mutation(
        "few facts: a record is there if a value of another sort is",
        "/analyses/local/reading.py",
        "if (fo.Const(value), sort) in zip(atom.args, self._sorts[atom.relation], strict=True)",
        "if fo.Const(value) in atom.args",
    ),
    Mutation(
        "few facts: what any initial database has makes no value active",
        "/analyses/local/start.py",
        " or (self._open and depends_on_activity(fact)):",
        ":",
    ),
    Mutation(
        "few facts: two tuples of a relation with a key are one",
        "/analyses/local/normal.py",
        "if any(one.args[column] != other.args[column] for column in key):",
        "if False:",
    ),
    Mutation(
        "few facts: what a condition equals is active",
        "/analyses/local/normal.py",
        "return alike and (binder.declared or any(implies_active(part, binder.name) for part in self.parts))",
        "return alike",
    ),
    Mutation(
        "few facts: a part that is one of the query for some values is one for all",
        "/analyses/local/normal.py",
        "if substitute(part, dict(images)) not in targets:",
        "if False:",
    ),
    Mutation(
        "few facts: a guard holds after the step, too",
        "/analyses/local/writes.py",
        "if given is not None and not any(self._write.may_change(f)):",
        "if given is not None:",
    ),
    Mutation(
        "few facts: a condition on all that is there stays as it is",
        "/analyses/local/writes.py",
        "if mentions_individuals(f) or depends_on_activity(f):",
        "if mentions_individuals(f):",
    ),
    Mutation(
        "few facts: a sentence says nothing of the records in question",
        "/analyses/local/refinement.py",
        "for value in self._facts.values[fact.binder.sort]:",
        "for value in ():",
    ),
    Mutation(
        "few facts: no value is asked about that a key determines",
        "/analyses/local/answering.py",
        "given = () if is_endless(question) else of_keys(",
        "given = () if True else of_keys(",
    ),
    Mutation(
        "few facts: a choice finds values that no formula mentions",
        "/analyses/local/steps.py",
        "takes = can_take_effect(self._deployment, effect, self._constants)",
        "takes = can_take_effect(self._deployment, effect)",
    ),
    Mutation(
        "few facts: constants of rules are not told apart",
        "/analyses/local/model.py",
        "tools = (*self.deployment.tools_and_events, *chain.from_iterable(self._turns))",
        "tools = self.deployment.tools_and_events",
    ),
    Mutation(
        "few facts: a state from where some run may lead to q is a dead end",
        "/analyses/local/runs.py",
        "return self.known(formula, self._possible).must & self._possible",
        "return self.known(formula, self._possible).may & self._possible",
    ),
    Mutation(
        "few facts: a value of a run outside C is one of C after it",
        "/analyses/local/start.py",
        "return value in self._constants[sort_of(one)]",
        "return value != OUTSIDE",
    ),
    Mutation(
        "few facts: names of two sorts of integers are different numbers",
        "/analyses/local/questions.py",
        "return is_numeral(left) or is_numeral(right) or len(sorts) > 1",
        "return is_numeral(left) or is_numeral(right)",
    ),
    Mutation(
        "few facts: less is taken for a stage than was shown",
        "/analyses/local/stages.py",
        "if leads_on(fewer):",
        "if fewer:",
    ),
    Mutation(
        "few facts: what is known at the end of a run is said of each of its states",
        "/evidence/prefix.py",
        "if at < len(self.run.steps) or not self._known:",
        "if not self._known:",
    ),
    Mutation(
        "few facts: what is claimed of all runs need not be known",
        "/evidence/prefix.py",
        "return core(closed if truth else fo.Not(closed)) in self._known",
        "return True",
    ),
    Mutation(
        "few facts: parts of a premise with a quantifier are one fact",
        "/analyses/local/questions.py",
        "case fo.Implies(fo.And(parts), right) if any(isinstance(part, fo.Exists) for part in parts):",
        "case fo.Implies(fo.And(parts), right) if False:",
    ),
    Mutation(
        "few facts: a part of a premise is left out",
        "/analyses/local/questions.py",
        "return tuple(binders), fo.conjunction(tuple(opened))",
        "return tuple(binders), fo.conjunction(tuple(opened[1:]))",
    ),
    Mutation(
        "few facts: runs that a constraint on states leaves out do not count",
        "/analyses/local/abstraction.py",
        "endless = not deployment.fair and any(",
        "endless = any(",
    ),
    Mutation(
        "a slice does not know which values are in use",
        "/analyses/views/slicing.py",
        "more = (slicing.unsaid & tracked) - using.keys()",
        "more = set()",
    ),
    Mutation(
        "what is inserted elsewhere is not in use",
        "/analyses/views/slicing.py",
        "if sort in self.using and not known:",
        "if False:",
    ),
    Mutation(
        "values stay in use",
        "/analyses/views/slicing.py",
        "tools=(*tools, *self._forgetting((*relations, *in_use), tools)),",
        "tools=tools,",
    ),
    Mutation(
        "conditions of statements are weakened",
        "/analyses/views/growing_slices.py",
        "_closed(deployment, frozenset(name for sentence in asked for name in fo.relations_in(sentence)))",
        "frozenset(name for sentence in asked for name in fo.relations_in(sentence))",
    ),
    Mutation(
        "a value that is asked for is one of the facts that are kept",
        "/analyses/views/slicing.py",
        "return fo.TRUE  # the value may be active by another relation",
        "pass",
    ),
    Mutation(
        "what is left out is false where it stands negatively and positively",
        "/analyses/views/slicing.py",
        "return f if relation in self.kept else fo.TRUE if positive else fo.FALSE",
        "return f if relation in self.kept else fo.FALSE",
    ),
    Mutation(
        "of a sentence the quantifiers may miss values",
        "/analyses/views/slicing.py",
        "            slicing.exactly(sentence)\n",
        "            pass\n",
    ),
    Mutation(
        "parameters need not be active",
        "/analyses/views/slicing.py",
        "guard=self._ranging(listed, guard)",
        "guard=guard",
    ),
    Mutation(
        "an agent that selects several calls cannot select fewer",
        "/analyses/blame.py",
        "for call in sorted(offered))",
        "for call in sorted(decision.others))",
    ),
    # for every number of records
    Mutation(
        "the checker looks at a step over one record less",
        "/certificate/checker/needed.py",
        "return max(0, k + named + kept - min(fewest))",
        "return max(0, k + named + kept - min(fewest) - 1)",
    ),
    Mutation(
        "the checker takes a sentence to be about facts of its relations that is about all values",
        "/certificate/checker/needed.py",
        "if not (binder.declared or names_in_fact(body, binder.name)):",
        "if False:",
    ),
    Mutation(
        "the checker looks at no step for what a sentence is about",
        "/certificate/checker/needed.py",
        "return about is None or atom.relation in about",
        "return about is None",
    ),
    Mutation(
        "the checker looks at one value of a variable for what is assumed",
        "/certificate/checker/formulas.py",
        "yield from (there & one for one in false)",
        "yield from (there & one for one in false)\n                    break",
    ),
    Mutation(
        "a sentence is taken to be about facts of its relations that is about all values",
        "/analyses/views/needs.py",
        "if not (binder.declared or is_old(body, binder.name, frozenset())):",
        "if False:",
    ),
    Mutation(
        "no step is looked at for what a sentence is about",
        "/analyses/views/steps.py",
        "if relations is not None and atom.relation not in relations:",
        "if relations is not None:",
    ),
    Mutation(
        "the number of a kind with many records is that of its sort",
        "/analyses/views/records.py",
        "self._number = Counter(own.of.values())",
        "self._number = Counter(dict.fromkeys(own.of.values(), 1))",
    ),
    Mutation(
        "values that effects bring in keep a bound that many identifiers have",
        "/analyses/deepening/deepen.py",
        "        if fresh.get(sort)\n",
        "        if False\n",
    ),
    Mutation(
        "the checker counts a witness once for all values of a variable",
        "/certificate/checker/needed.py",
        "return prod(number for number in numbers if number is not None)",
        "return 1",
    ),
    Mutation(
        "the checker takes a value to be active in every part",
        "/certificate/checker/needed.py",
        "else self.beside(binder.sort)",
        "else 0",
    ),
    Mutation(
        "the checker takes fewer values of a bounded sort than there may be",
        "/certificate/checker/views.py",
        "unbounded + sum(self._bounds.values())",
        "unbounded",
    ),
    Mutation(
        "the checker takes a fact to have as many values of a bounded sort as a part",
        "/certificate/checker/needed.py",
        "values = self._bounds.get(binder.sort, k)",
        "values = k",
    ),
    Mutation(
        "nothing keeps a parameter of a bounded sort active for the checker",
        "/certificate/checker/needed.py",
        "infinite = [param for param in tool.params if self._infinite(param.sort)]",
        "infinite = [param for param in tool.params if self.open(param.sort)]",
    ),
    Mutation(
        "nothing keeps a chosen value of a bounded sort active for the checker",
        "/certificate/checker/needed.py",
        "if self._infinite(binder.sort):\n",
        "if self.open(binder.sort):\n",
    ),
    Mutation(
        "the checker takes a part of a view for a view",
        "/certificate/checker/views.py",
        'self._true(part in self.given.views, "a part of a view is a view", place)',
        "pass",
        harmless="instances over n names have names among them that are not active, which parts may have",
    ),
    Mutation(
        "the checker takes any k",
        "/certificate/checker/views.py",
        "self.given.k >= max(1, columns)",
        "True",
    ),
    Mutation(
        "the checker looks at no initial database",
        "/certificate/checker/views.py",
        "there.ledger.within(start, there.viewed(own), ",
        "there.ledger.within(start, start, ",
    ),
    Mutation(
        "the checker does not ask whether invariants are kept",
        "/certificate/checker/over_names.py",
        "            self.broken.append((name, tuple(formulas.refuting(sentence, {}))))",
        "            pass",
    ),
    Mutation(
        "the checker lets anything be watched for",
        "/certificate/checker/watched.py",
        "not all(map(_is_about_facts, found))",
        "False",
    ),
    Mutation(
        "the checker remembers less",
        "/certificate/checker/watched.py",
        "Insert(seen, part.binders, fo.And((part.since, open_)))",
        "Insert(seen, part.binders, fo.FALSE)",
    ),
    Mutation(
        "the checker takes what is mentioned for a value",
        "/certificate/checker/every_number.py",
        "if not known.issuperset(mentioned(here, (*claimed, *invariants.values()))):",
        "if False:",
    ),
    Mutation(
        "two values of kinds that share a fact somewhere are nowhere apart to the checker",
        "/certificate/checker/starting.py",
        "return self._sharing[self._pair(one, other)] < pairs",
        "return not self._sharing[self._pair(one, other)]",
    ),
    Mutation(
        "the checker does not look at the parts of large data",
        "/certificate/checker/views.py",
        'self._true(part in self.given.views, "the parts of each D0 are views", place)',
        "pass",
    ),
    Mutation(
        "a value that is chosen is active to the checker",
        "/certificate/checker/views.py",
        "any_value=self.given.records is not None",
        "any_value=False",
    ),
    Mutation(
        "the checker does not count what an agent is shown",
        "/certificate/checker/views.py",
        "for sentence in answered.few():",
        "for sentence in ():",
    ),
    Mutation(
        "the checker does not ask for the contexts of an agent",
        "/certificate/checker/views.py",
        "wrong = there.admitted & ~there.formulas(answered.covered(), {})",
        "wrong = there.space.manager.false",
    ),
    Mutation(
        "the checker takes parameters of a slice to be in use",
        "/certificate/checker/sliced.py",
        "                self._has_all(binder)\n                if binder.sort in self.used:\n",
        "                if binder.sort in self.used:\n",
    ),
    Mutation(
        "values stay in use in the slice of the checker",
        "/certificate/checker/sliced.py",
        "for sort in sorted(self.used):\n            atom",
        "for sort in ():\n            atom",
    ),
    Mutation(
        "claims are about values that a slice of the checker has not",
        "/certificate/checker/sliced.py",
        "            self._same(sentence, False)",
        "            pass",
    ),
    Mutation(
        "an invariant is looked for in large data where it is assumed",
        "/analyses/views/closure.py",
        "lambda sizes, _: (sizes, start.over(sizes))",
        "lambda sizes, _: (sizes, self.gluing.over(sizes))",
    ),
    Mutation(
        "a value is taken to be active in every part",
        "/analyses/views/needs.py",
        "return own if is_old(body, binder.name, frozenset()) else own + self.active(binder.sort)",
        "return own",
    ),
    Mutation(
        "sides of a disjunction below a quantifier share their witnesses",
        "/analyses/views/needs.py",
        "return sum(needs, Counter()) if positive or every else reduce(or_, needs)",
        "return sum(needs, Counter()) if positive else reduce(or_, needs)",
    ),
    Mutation(
        "a witness for each record counts once",
        "/analyses/views/needs.py",
        "                raise _Each(f)",
        "                need[names - {binder.name}, sort] += each",
    ),
    Mutation(
        "a witness for each listed value counts once",
        "/analyses/views/needs.py",
        "+= len(values) * each",
        "+= each",
    ),
    Mutation(
        "so many witnesses count for one",
        "/analyses/views/needs.py",
        "{(free, sort): number * each for",
        "{(free, sort): each for",
    ),
    Mutation(
        "parameters are taken to be active",
        "/analyses/views/steps.py",
        "            kept += needs.active(param.sort)\n",
        "            pass\n",
    ),
    Mutation(
        "a step is looked at over one record less",
        "/analyses/views/steps.py",
        "                yield y + kept",
        "                yield y + kept - Counter(sorted(x)[:1])",
    ),
    Mutation(
        "a step is looked at where its first change is",
        "/analyses/views/steps.py",
        "for written in beside:\n            y = Counter(x)",
        "for written in beside[:1]:\n            y = Counter(x)",
    ),
    Mutation(
        "what a step names besides what it writes is not looked at",
        "/analyses/views/steps.py",
        "            y.update(named)\n",
        "            y.update({sort: n for sort, n in named.items() if not x[sort]})\n",
    ),
    Mutation(
        "the condition of an alternative needs nothing",
        "/analyses/views/steps.py",
        "kept = needs.kept(tool.guard) + needs.kept(effect.when)",
        "kept = needs.kept(tool.guard)",
    ),
    Mutation(
        "the condition of a chosen value needs nothing",
        "/analyses/views/steps.py",
        "                kept += needs.kept(where)\n",
        "                pass\n",
    ),
    Mutation(
        "the condition of a bulk statement counts for one record",
        "/analyses/views/steps.py",
        "each * prod(sizes[name] for name in names & sizes.keys())",
        "each",
    ),
    Mutation(
        "what is inserted in bulk is taken to be active",
        "/analyses/views/steps.py",
        "total[sort] += each * sizes[binder.name]",
        "total[sort] += 0",
    ),
    Mutation(
        "views are not closed under permutations",
        "/analyses/views/gluing.py",
        "self.views[sizes] |= self.diagrams.symmetric(found, sizes)",
        "self.views[sizes] |= found",
    ),
    Mutation(
        "a name changes places with the one before alone",
        "/analyses/views/diagrams.py",
        "for u in names[:place]]",
        "for u in names[max(0, place - 1) : place]]",
    ),
    Mutation(
        "parts of views need not be views",
        "/analyses/views/gluing.py",
        "                        if not beside <= self.views[wider]:",
        "                        if False:",
        harmless="over one name fewer, and one that is not active, a step leads to the part without a value",
    ),
    Mutation(
        "γ asks for the parts of one choice of names",
        "/analyses/views/gluing.py",
        "for part, names in self._parts(sizes, last):",
        "for part, names in list(self._parts(sizes, last))[:1]:",
    ),
    Mutation(
        "what is assumed does not cut γ down",
        "/analyses/views/gluing.py",
        "            glued &= sentence\n",
        "            pass\n",
    ),
    Mutation(
        "views with fresh values are left out",
        "/analyses/views/image.py",
        "own = (*names[: step.used[sort]], *names[step.sizes[sort] :])",
        "own = names[: step.used[sort]]",
    ),
    Mutation(
        "of a step only parts with what it names are views",
        "/analyses/views/image.py",
        "(*some, *others[: most - n])",
        "(*some, *others[: most - n]) if n else ()",
    ),
    Mutation(
        "two parameters are never the same record",
        "/analyses/views/image.py",
        "[: draft.used[sort] + 1]):",
        "[draft.used[sort] : draft.used[sort] + 1], draft.used[sort]):",
    ),
    Mutation(
        "parameters need not be active",
        "/analyses/views/image.py",
        "case = chosen.case if listed else chosen.case & ground.active(param.sort, value)",
        "case = chosen.case",
    ),
    Mutation(
        "a rule is taken whatever those before it match",
        "/analyses/views/choices.py",
        "cases.append(fo.conjunction((*before, selecting.matched(rule, own_args(tool)))))",
        "cases.append(selecting.matched(rule, own_args(tool)))",
    ),
    Mutation(
        "a tool of two agents is called as one of them does",
        "/analyses/views/choices.py",
        "if not known or None in known:",
        "if not known:",
    ),
    Mutation(
        "a policy is followed that knows a record by its name",
        "/analyses/views/choices.py",
        " and agent.constants <= wrapper.rigid else",
        " else",
    ),
    Mutation(
        "what follows a policy is said of every agent",
        "/analyses/views/every_number.py",
        "self._follows = guarded.tools != deployment.tools",
        "self._follows = False",
    ),
    Mutation(
        "initial databases are as large as a view",
        "/analyses/views/closure.py",
        "number, asked = wider, [*asked, *kept]",
        "asked = [*asked, *kept]",
    ),
    Mutation(
        "what is remembered is active by that alone",
        "/analyses/views/watching.py",
        "not binder.declared and is_old(f, binder.name, frozenset())",
        "not binder.declared or is_old(f, binder.name, frozenset())",
    ),
    Mutation(
        "what is watched for may rest on what is remembered",
        "/analyses/views/watching.py",
        "if one is None or (values and not one.is_known()):",
        "if one is None:",
    ),
    Mutation(
        "what has come is remembered for the next time",
        "/analyses/views/watching.py",
        "ended = fo.And((seen, self.right))",
        "ended = fo.And((seen, fo.Not(self.right)))",
    ),
    Mutation(
        "what is to be until something comes is forgotten",
        "/analyses/views/watching.py",
        "(Delete(seen, self.binders, ended), Insert(seen, self.binders, asked))",
        "(Delete(seen, self.binders, ended),)",
    ),
    Mutation(
        "what is to be in the next state is remembered for ever",
        "/analyses/views/watching.py",
        "(Clear((seen.relation,)), Insert(seen, self.binders, self.since))",
        "(Insert(seen, self.binders, self.since),)",
    ),
    Mutation(
        "an invariant is assumed initially",
        "/analyses/views/closure.py",
        "            if one.starting:\n",
        "            if one.sort:\n",
    ),
    Mutation(
        "an invariant is assumed that asks for a record",
        "/analyses/views/every_number.py",
        "if needs.kept(sentence).total():",
        "if False:",
    ),
    Mutation(
        "an invariant that a step breaks is not left out",
        "/analyses/views/closure.py",
        "                    if case != self.diagrams.manager.false:\n"
        "                        return Closure(self, rounds",
        "                    if case != self.diagrams.manager.false and not one.starting:\n"
        "                        return Closure(self, rounds",
    ),
    Mutation(
        "an invariant is looked at over as many records as a view",
        "/analyses/views/closure.py",
        "self._work([self.needs.refuted(one.sentence)], one.relations)",
        "self._work([Counter()], one.relations)",
    ),
    Mutation(
        "a key that is not kept is assumed",
        "/analyses/views/closure.py",
        "                    if case != self.diagrams.manager.false:\n"
        "                        return Closure(self, rounds",
        '                    if case != self.diagrams.manager.false and "key of" not in one.name:\n'
        "                        return Closure(self, rounds",
    ),
    Mutation(
        "a bound that is not kept is assumed",
        "/analyses/views/closure.py",
        "                    if case != self.diagrams.manager.false:\n"
        "                        return Closure(self, rounds",
        '                    if case != self.diagrams.manager.false and "bound" not in one.name:\n'
        "                        return Closure(self, rounds",
    ),
    Mutation(
        "a specification is asked of the views alone",
        "/analyses/views/closure.py",
        "sizes = self.gluing.sizes(number)\n            refuted",
        "sizes = tuple(min(n, self.k) for n in self.gluing.sizes(number))\n            refuted",
    ),
    Mutation(
        "fewer values of a bounded sort are looked at than there may be",
        "/analyses/views/needs.py",
        "min(n, bounds.get(sort, n))",
        "min(n, bounds.get(sort, n + 1) - 1)",
    ),
    Mutation(
        "what may be possible later is taken for what always is",
        "/analyses/views/shown.py",
        'case fo.Globally("A", body) if not fo.is_temporal(body):',
        "case fo.Globally(_, body) if not fo.is_temporal(body):",
    ),
    Mutation(
        "the names of a record that a step takes away are kept",
        "/analyses/views/obstacle.py",
        "{**self._parts.sort_of(origin.before or ()), **sort_of}",
        "sort_of",
    ),
    Mutation(
        "what is true of the initial databases within bounds is called shown",
        "/analyses/deepening/verdicts.py",
        "(shown.root.holds and starting_beyond(self.deployment))",
        "(shown.root.holds and False)",
    ),
    Mutation(
        "a bound beside a sort without one is not claimed",
        "/analyses/deepening/deepen.py",
        'if deployment.unbounded and claim.name.startswith("bound ")',
        "if False",
    ),
    Mutation(
        "a sum of one more than the limit is within it",
        "/logic/integers.py",
        "return True if high <= 0 else False if low > 0",
        "return True if high <= 1 else False if low > 0",
    ),
    Mutation(
        "a difference is a sum",
        "/logic/integers.py",
        'times if sign == "+" else -times',
        "times",
    ),
    Mutation(
        "sorts of integers begin at 0",
        "step/integers.py",
        "return 0 if term.one_hot else times * self.encoding.first[term.sort]",
        "return 0",
    ),
    Mutation(
        "facts of which several may hold exclude each other in a sum",
        "step/integers.py",
        "if group and where & union != m.false:",
        "if False:",
    ),
    Mutation(
        "no step leaves a sort of integers",
        "step/effects.py",
        "if beyond != m.false:",
        "if False:",
    ),
    Mutation(
        "one of many is offered the calls of all",
        "/deployment/callers.py",
        "if role.me in (None, who):",
        "if True:",
    ),
    Mutation(
        "many decide as one",
        "/deployment/callers.py",
        "who = caller(deployment, role, call).me",
        "who = role.me",
    ),
    Mutation(
        "the guards of all are those of one of many",
        "/deployment/callers.py",
        "return replace(tool, guard=fo.conjunction((fo.Equal(fo.Var(SELF), fo.Const(role.me)), tool.guard)))",
        "return tool",
    ),
    Mutation(
        "nobody of many is itself in views",
        "/deployment/callers.py",
        "return {} if role.me is None else {SELF: role.me}",
        'return {} if role.me is None else {SELF: "nobody"}',
    ),
    Mutation(
        "a call of one of many is of the first parameter",
        "/deployment/callers.py",
        "return [param.name for param in tool.params].index(SELF)",
        "return 0",
    ),
    Mutation(
        "only one of many is found",
        "explore/reach.py",
        "return [replace(agent, me=value) for value in self.encoding.values[agent.each]]",
        "return [replace(agent, me=self.encoding.values[agent.each][0])]",
    ),
    Mutation(
        "calls of all of many are those of one",
        "explore/contexts.py",
        "return {name: of & self.encoding.is_value(selves[name], me) for name, of in calls.items()}",
        "return calls",
    ),
    Mutation(
        "many that may choose between them may choose",
        "/verification/scope.py",
        "own = [param.name for param in tool.params if role.each is None or param.name != SELF]",
        "own = [param.name for param in tool.params]",
    ),
)


@dataclass(frozen=True)
class Outcome:
    """The result of the tests for a mutation: the first that fails, nothing where none does, or ``endless``:
    they came to no end within their time."""

    killer: str = ""
    endless: bool = False
    seconds: float = 0.0

    @property
    def killed(self) -> bool:
        return bool(self.killer) or self.endless

    def __str__(self) -> str:
        return f"killed: no end in {self.seconds:.0f} s" if self.endless else f"killed by {self.killer}"


def outcome(mutation: Mutation | None, tests: tuple[str, ...] = TESTS, limit: float | None = None) -> Outcome:
    """Return what tests say of a copy of the package, mutated or not, within ``limit`` seconds for all."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(
            shutil.copytree(PACKAGE, Path(folder) / "stead_sym", ignore=shutil.ignore_patterns("__pycache__"))
        )
        if mutation is not None:
            mutation.applied(copy)
        found = Outcome()
        if mutation is not None and mutation.first:
            found = _first_failure(folder, mutation.first, LIMIT)
        if not found.killed:
            found = _first_failure(folder, tests, limit)
        return replace(found, seconds=time.monotonic() - started)


def _first_failure(package: str, tests: tuple[str, ...], limit: float | None) -> Outcome:
    """Return what the tests say of the package in a folder."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "--tb=no",
        "-m",
        "",  # those of the gate too
        *tests,
    ]
    environment = {**os.environ, "PYTHONPATH": package, "PYTHONDONTWRITEBYTECODE": "1"}
    environment["HYPOTHESIS_PROFILE"] = "unshrunk"
    try:
        ended = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return Outcome(endless=True)
    failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", ended.stdout, re.MULTILINE)
    if not failed and ended.returncode:
        return Outcome(
            f"pytest, which ended with {ended.returncode}: {ended.stdout[-300:]}{ended.stderr[-300:]}"
        )
    return Outcome(failed[0] if failed else "")


def main() -> int:
    parser = argparse.ArgumentParser(description="Which mutations of the symbolic engine do the tests kill?")
    parser.add_argument("words", nargs="*", help="only the mutations with one of these in their names")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="run so many at a time")
    parser.add_argument("--tests", nargs="+", default=TESTS, metavar="FILE", help="run only these tests")
    parser.add_argument("--list", action="store_true", help="print the mutations and check their texts only")
    options = parser.parse_args()
    chosen = [m for m in MUTATIONS if not options.words or any(word in m.name for word in options.words)]
    for mutation in chosen:
        mutation.text(PACKAGE)
    if options.list:
        print(*(f"{m.path}: {m.name}{' (harmless)' * bool(m.harmless)}" for m in chosen), sep="\n")
        return 0
    tests = tuple(options.tests)
    unmutated = outcome(None, tests)
    if unmutated.killed:
        print(f"without any mutation {unmutated.killer} fails; mend that first")
        return 2
    print(f"without any mutation all tests pass, in {unmutated.seconds:.0f} s\n")
    survivors = endless = 0
    on_tests = partial(outcome, tests=tests, limit=max(LIMIT, TIMES * unmutated.seconds))
    with ThreadPoolExecutor(options.jobs) as pool:
        for mutation, found in zip(chosen, pool.map(on_tests, chosen), strict=True):
            survived = "harmless" if mutation.harmless else "SURVIVED"
            survivors += not found.killed and not mutation.harmless
            endless += found.endless
            said = str(found) if found.killed else survived
            print(f"{found.seconds:4.0f} s  {mutation.name}: {said}", flush=True)
    print(f"\n{len(chosen)} mutations, {survivors} survived, {endless} killed by tests that came to no end")
    for mutation in chosen:
        if mutation.harmless:
            print(f"harmless: {mutation.name}. {mutation.harmless}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
