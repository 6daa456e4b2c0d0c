"""Crews: workers that are many and alike, with the tools that each of them has for jobs.

The same crew has one agent for each worker with its tools and policy written by hand, if its workers are
listed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

T = TypeVar("T")
WORKERS = ("w1", "w2")
RELATIONS = ("Open(job)", "Mine(worker, job)", "Idle(worker)", "Late(job)")


@dataclass(frozen=True)
class Tool:
    """A tool of a worker; `{me}` in its formulas is the worker."""

    name: str
    guard: str
    effect: tuple[str, ...]

    def text(self, name: str, params: str, me: str) -> str:
        """Return the tool as an item of a file."""
        effect = "".join(f"\n    {line.format(me=me)}" for line in self.effect)
        return f"tool {name}({params})\n  guard {self.guard.format(me=me)}\n  effect{effect}"


@dataclass(frozen=True)
class Crew:
    """A deployment with an agent `worker` for each worker, and perhaps a `boss`."""

    head: str
    tools: tuple[Tool, ...]
    views: tuple[str, ...]
    rules: tuple[tuple[str, str], ...]
    rest: str

    @property
    def many(self) -> str:
        """Return the file with `agent worker for each`."""
        heads = {"give": "j: job, self: worker"}  # which parameter it is does not matter
        tools = [t.text(t.name, heads.get(t.name, "self: worker, j: job"), "self") for t in self.tools]
        args = {"give": "j, self"}
        calls = {tool.name: f"{tool.name}({args.get(tool.name, 'self, j')})" for tool in self.tools}
        agent = self._agent("worker for each w: worker", calls, "self")
        return "\n".join([self.head, *tools, agent, self.rest])

    @property
    def by_hand(self) -> str:
        """Return the file with an agent and tools for each worker."""
        tools = [tool.text(f"{tool.name}_{w}", "j: job", w) for w in WORKERS for tool in self.tools]
        agents = (self._agent(w, {t.name: f"{t.name}_{w}(j)" for t in self.tools}, w) for w in WORKERS)
        return "\n".join([self.head, *tools, *agents, self.rest])

    def _agent(self, name: str, calls: Mapping[str, str], me: str) -> str:
        lines = [f"agent {name}", f"  tools {', '.join(call.split('(')[0] for call in calls.values())}"]
        lines += (f"  view {view.format(me=me)}" for view in self.views)
        lines.append("  policy p")
        lines += (f"    call {calls[tool]} when {when.format(me=me)}" for tool, when in self.rules)
        return "\n".join(lines)


class _Writer:
    def __init__(self, seed: int, *, listed: bool) -> None:
        self.random = Random(seed)
        self.listed = listed

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def pick(self, options: Sequence[T]) -> T:
        return self.random.choice(list(options))

    def literal(self, worker: str, job: str) -> str:
        atom = self.pick(["Open({j})", "Mine({w}, {j})", "Idle({w})", "Late({j})", "Mine({w}, {j})"])
        return ("~" if self.chance(0.35) else "") + atom.format(w=worker, j=job)

    def condition(self, me: str, job: str, depth: int = 1) -> str:
        """Return a condition on a worker and a job; of other workers it says `v in worker` if listed."""
        roll = self.random.random()
        if depth == 0 or roll < 0.35:
            return self.literal(me, job)
        if roll < 0.6:
            joined = self.pick(["&", "|"])
            return f"({self.condition(me, job, depth - 1)} {joined} {self.condition(me, job, depth - 1)})"
        quantifier = self.pick(["exists", "~exists", "forall"])
        if roll < 0.8:
            return f"({quantifier} k: job. ({self.literal(me, 'k')} & {self.literal(me, job)}))"
        other = "v in worker" if self.listed else "v: worker"
        return f"({quantifier} {other}. ({self.literal('v', job)} & {self.pick(['v != ' + me, 'true'])}))"

    def statement(self, me: str) -> str:
        word = self.pick(["insert", "delete", "delete"])
        return (
            f"{word} {self.pick(['Open(j)', f'Mine({me}, j)', f'Mine({me}, j)', f'Idle({me})', 'Late(j)'])}"
        )


def crew(seed: int, *, listed: bool, rigid: bool = False) -> Crew:
    """Return the crew of a seed, whose workers are `listed` or come and go."""
    write = _Writer(seed, listed=listed)
    jobs_listed = write.chance(0.5)
    sorts = "sort worker = { w1, w2 }" + " rigid" * rigid if listed else "sort worker\nbound worker 1"
    sorts += "\nsort job = { j1, j2 }" if jobs_listed else "\nsort job"
    facts = ["Open(j1)", "Idle(w1)", *(["Open(j2)"] if write.chance(0.5) else []), "Mine(w2, j1)"]
    relations = "\n".join(f"relation {relation}" for relation in RELATIONS)
    init = "init\n" + "\n".join(f"  {fact}" for fact in facts)
    tools = tuple(
        Tool(
            name,
            write.condition("{me}", "j"),
            tuple(dict.fromkeys(write.statement("{me}") for _ in range(write.pick([1, 2, 2])))),
        )
        for name in ("take", "give")[: write.pick([1, 2, 2])]
    )
    tools += (Tool("wait", "true", ("delete Late(j) where false",)),)
    views = ()
    if write.chance(0.6):
        views = (
            f"Open(k) where {write.condition('{me}', 'k', 0)}" if write.chance(0.5) else "Open(k)",
            f"Mine(v, k) where v = {{me}} | {write.literal('{me}', 'k')}",
            *(("Idle(v)",) if write.chance(0.6) else ()),
        )
    rules = [(write.pick(tools).name, write.condition("{me}", "j")) for _ in range(write.pick([1, 2, 3]))]
    rules.append(("wait", "true"))
    rest = []
    if not listed:
        rest.append("event hire()\n  effect\n    fresh v: worker\n    insert Idle(v)")
        rest[-1] += "\n    delete Idle(v) for v"
    if write.chance(0.5):
        rest.append("event late(j: job)\n  guard Open(j)\n  effect insert Late(j)")
    if write.chance(0.3):
        rest.append("tool close(j: job)\n  guard Late(j)\n  effect delete Late(j)\nagent boss\n  tools close")
    among = "in worker" if listed else ": worker"
    rest.append(f"spec one AG forall v {among}. forall j: job, k: job. Mine(v, j) & Mine(v, k) -> j = k")
    rest.append(f"spec safe AG forall j: job. {write.condition('w1', 'j')}")
    rest.append(f"spec some EF exists v {among}. exists j: job. {write.literal('v', 'j')}")
    rest.append("spec ends AF exists j: job. Late(j) | ~Open(j)")
    return Crew(f"deployment crew\n{sorts}\n{relations}\n{init}", tools, views, tuple(rules), "\n".join(rest))
