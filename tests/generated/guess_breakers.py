"""Hypothesis strategies for deployments that break what the symbolic engine guesses (`symbolic.plan.guess`).

The decision: each strategy draws effects that look as if a guess held, and some of them break it: a second
insertion, a deletion whose condition does not always hold, a name that is still in use. Where a guess is
broken something can happen that could not otherwise, so that the verdicts tell whether that was found out.
What is drawn is the text of a deployment file, to be read as such where a test fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import parse_deployment

_COLUMNS = (("item",), ("item", "k"), ("item", "k"), ("k", "item"), ("item", "item"))
_FLAGS = ("On()", "~On()")


@dataclass(frozen=True, slots=True)
class _Target:
    """A relation `T` with the columns ``key`` that its insertions seem to respect."""

    sorts: tuple[str, ...]
    key: tuple[int, ...]
    items: int

    @property
    def others(self) -> tuple[int, ...]:
        return tuple(k for k in range(len(self.sorts)) if k not in self.key)

    def values(self, sort: str) -> tuple[str, ...]:
        return ("k1", "k2") if sort == "k" else tuple(f"i{k}" for k in range(1, self.items + 1))

    def fact(self, terms: Sequence[str]) -> str:
        return f"T({', '.join(terms)})"

    def variables(self, letter: str, columns: Sequence[int]) -> str:
        """Variables for these columns, declared: "y0: item, y1: k"."""
        return ", ".join(f"{letter}{k}: {self.sorts[k]}" for k in columns)

    def with_others(self, terms: Sequence[str], letter: str) -> str:
        """The fact with the key of ``terms`` and variables in the other columns."""
        return self.fact([t if k in self.key else f"{letter}{k}" for k, t in enumerate(terms)])

    @property
    def two(self) -> str:
        """Two facts agree on the key."""
        binders = [self.variables("x", self.key), self.variables("u", self.others)]
        binders.append(self.variables("v", self.others))
        keys = [f"x{k}" for k in range(len(self.sorts))]
        facts = [self.with_others(keys, "u"), self.with_others(keys, "v")]
        differ = " | ".join(f"u{k} != v{k}" for k in self.others)
        return f"exists {', '.join(filter(None, binders))}. {facts[0]} & {facts[1]} & ({differ})"


@st.composite
def crowded_relations(draw: st.DrawFn) -> Deployment:
    """A relation `T` that looks as if it held one fact per key (of no columns, perhaps: one fact at most),
    and often does not. `Bad()` can be reached where it ever holds two."""
    sorts = draw(st.sampled_from(_COLUMNS))
    keys = [(), (0,), (0,), (1,)] if len(sorts) == 2 else [()]
    target = _Target(sorts, draw(st.sampled_from(keys)), draw(st.sampled_from((2, 4))))
    items = target.values("item")
    initial = [f"Item({item})" for item in items]
    for k in range(draw(st.sampled_from((0, 0, 1, 2)))):
        initial.append(target.fact([target.values(s)[k] for s in sorts]))
    initial += draw(st.sampled_from(([], ["On()"])))
    tools = [draw(_writers(target, f"write{i}")) for i in range(draw(st.integers(1, 3)))]
    return parse_deployment(
        "\n".join(
            [
                "deployment generated",
                f"sort item = {{ {', '.join(items)} }}",
                "sort k = { k1, k2 } rigid",
                "relation Item(item)",
                "relation On()",
                "relation Bad()",
                f"relation T({', '.join(sorts)})",
                "init",
                *(f"  {fact}" for fact in initial),
                "tool idle()",
                "tool flip()\n  effect\n    delete On() where On()\n    insert On() where ~On()",
                *tools,
                f"tool notice()\n  guard {target.two}\n  effect\n    insert Bad()",
                "spec never AG ~Bad()",
                f"spec one AG ~({target.two})",
                "spec still AG (Bad() -> EX ~On())",
                f"spec goes EF EG exists {target.variables('x', range(len(sorts)))}."
                f" {target.fact([f'x{k}' for k in range(len(sorts))])}",
            ]
        )
    )


@st.composite
def _writers(draw: st.DrawFn, target: _Target, name: str) -> str:
    """A tool that inserts into `T` by one alternative or two; another changes nothing, so that every call
    has an effect."""
    params = draw(st.lists(st.sampled_from(sorted(set(target.sorts))), max_size=2))
    scope = {f"p{i}": sort for i, sort in enumerate(params)}
    effects = [draw(_effects(target, scope)) for _ in range(draw(st.integers(1, 2)))]
    head = ", ".join(f"{p}: {sort}" for p, sort in scope.items())
    return "\n".join([f"tool {name}({head})", *effects, "  effect", "    insert Item(i1)"])


@st.composite
def _effects(draw: st.DrawFn, target: _Target, params: dict[str, str]) -> str:
    """An alternative with an insertion or two, each of which something seems to make room for: `clear`, a
    deletion of all facts with its key or of one that is there, a condition that there is none."""
    chosen = draw(st.sampled_from((None, *target.sorts)))
    scope = params if chosen is None else {**params, "c": chosen}
    lines: list[str] = []
    asked: list[str] = []

    def term(k: int) -> str:
        sort = target.sorts[k]
        variables = [name for name, of in scope.items() if of == sort]
        if variables and draw(st.integers(0, 2)) > 0:
            return draw(st.sampled_from(variables))
        return draw(st.sampled_from(target.values(sort)))

    for _ in range(draw(st.integers(1, 2))):
        bulk = bool(target.key) and draw(st.booleans())
        terms = [f"b{k}" if bulk and k in target.key else term(k) for k in range(len(target.sorts))]
        over = target.variables("b", target.key) if bulk else ""
        others = target.variables("y", target.others)
        where = draw(st.sampled_from(("", "", *(f" where {flag}" for flag in _FLAGS))))
        match draw(st.sampled_from(("clear", "all", "all", *(() if bulk else ("one", "unless"))))):
            case "clear":
                lines.append("clear T")
            case "all":
                free = ", ".join(filter(None, (over, others)))
                lines.append(f"delete {target.with_others(terms, 'y')} for {free}{where}")
            case "one":
                old = target.fact([t if k in target.key else term(k) for k, t in enumerate(terms)])
                asked.append(old)
                lines.append(f"delete {old}{where}")
            case _:
                asked.append(f"~(exists {others}. {target.with_others(terms, 'y')})")
        lines.append(f"insert {target.fact(terms)}" + (f" for {over}" if bulk else ""))
    condition = " & ".join(asked) or "true"
    if chosen is None:
        return "\n".join([f"  effect when {condition}", *(f"    {line}" for line in lines)])
    lines.insert(0, f"choose c: {chosen} where {condition}")
    return "\n".join(["  effect", *(f"    {line}" for line in lines)])


@st.composite
def named_after_others(draw: st.DrawFn) -> Deployment:
    """Cases that are created beside a holder, tasks beside a case, cases beside a case: their names could go
    with what they are created beside, until that creates again while the name is in use."""
    bound = draw(st.sampled_from((1, 2, 2, 2)))
    holders = [f"h{k}" for k in range(1, draw(st.integers(1, 3)) + 1)]
    after_case = draw(st.sampled_from(("", "", "task", "case")))
    twins = bound == 2 and draw(st.booleans())
    room = f"(atmost {bound - 1 - twins} x: case. true)"
    free = draw(st.sampled_from(("true", "true", "~(exists x. H(x, g))", "~(exists x. Old(x))")))
    lines = ["    fresh c: case", "    insert H(c, g)"]
    if twins:
        lines += ["    fresh d: case", f"    insert H(d, {draw(st.sampled_from(('g', 'h1')))})"]
    if after_case == "task":
        lines += ["    fresh t: task", "    insert Part(t, c)"]
    if draw(st.booleans()):
        opens = [f"tool open(g: holder)\n  guard {room} & {free}\n  effect", *lines]
    else:
        opens = [f"tool open()\n  guard {room}\n  effect\n    choose g: holder where {free}", *lines]
    tools = ["\n".join([*opens, "  effect", "    insert Place(h1)"])]
    removes = "    delete H(c, y) for y: holder\n    delete Old(c)"
    if after_case:
        part = "Part(t, c) for t: task" if after_case == "task" else "Next(x, c) for x: case"
        removes += f"\n    delete {part}"
    if after_case == "case":
        removes += "\n    delete Next(c, x) for x: case"
    tools.append(f"tool close(c: case)\n  effect\n{removes}")
    if draw(st.booleans()):
        ages = "delete H(c, y) for y: holder\n    insert Old(c)"
        tools.append(f"tool age(c: case)\n  effect\n    {ages}")
    if draw(st.booleans()):
        moves = "choose g: holder where true\n    delete H(c, y) for y: holder\n    insert H(c, g)"
        tools.append(f"tool move(c: case)\n  effect\n    {moves}")
    if after_case == "task" and draw(st.booleans()):
        again = "(atmost 0 x: task. true)"
        tools.append(
            f"tool split(c: case)\n  guard {again}\n  effect\n    fresh t: task\n    insert Part(t, c)"
        )
    if after_case == "case":
        one_less = f"(atmost {bound - 1} x: case. true)"
        linked = "fresh d: case\n    insert Next(d, c)"
        tools.append(f"tool follow(c: case)\n  guard {one_less}\n  effect\n    {linked}")
    tasks = ["sort task", f"bound task {bound}", "relation Part(task, case)"] if after_case == "task" else []
    return parse_deployment(
        "\n".join(
            [
                "deployment generated",
                "sort case",
                f"sort holder = {{ {', '.join(holders)} }}",
                "relation Place(holder)",
                "relation H(case, holder)",
                "relation Old(case)",
                *(["relation Next(case, case)"] if after_case == "case" else []),
                *tasks,
                f"bound case {bound}",
                "init",
                *(f"  Place({holder})" for holder in holders),
                "tool idle()",
                *tools,
                "spec creates AG ((~exists x: case. true) -> EX exists x: case. true)",
                f"spec another AG ({room} -> EX ~{room})",
                "spec beside AG ((exists x. H(x, h1)) -> EF exactly 2 x. H(x, h1))",
                "spec leaves AG forall x: case. AX AG (H(x, h1) -> EX ~H(x, h1))",
            ]
        )
    )


@st.composite
def short_of_room(draw: st.DrawFn) -> Deployment:
    """Effects that draw and insert more fresh values than the bound allows, some of the time, and an
    `ensure` that may leap past the bound by one value; every tool can change nothing instead."""
    bound = draw(st.integers(0, 2))
    lines: list[str] = []
    for i in range(draw(st.integers(1, bound + 2))):
        lines.append(f"    fresh v{i}: a")
        if draw(st.integers(0, 3)):
            lines.append(f"    insert P(v{i}){draw(st.sampled_from(('', '', ' where On()')))}")
    if draw(st.booleans()):
        lines.append("    clear P")
    nothing = "  effect\n    insert Q(x) for x where Q(x)"
    when = draw(st.sampled_from(("true", "On()", "exists x: a. true", f"atmost {bound} x: a. true")))
    tools = ["\n".join([f"tool make()\n  effect when {when}", *lines, nothing])]
    if draw(st.booleans()):
        number = draw(st.integers(0, bound + 1))
        amount = draw(st.sampled_from(("exactly", "atleast")))
        frame = draw(st.sampled_from(("forall x. P'(x) -> ~P(x)", "forall x. P(x) -> P'(x)", "true")))
        condition = draw(st.sampled_from(("true", "On()", "exists x. P(x)")))
        formula = f"({amount} {number} x. P'(x)) & ({frame}) & same(Q) & same(On) & same(Seen)"
        tools.append(f"tool leap()\n  effect when {condition}\n    ensure {formula}\n{nothing}")
    specs = ["spec seen AG ~Seen()"]
    if draw(st.booleans()):
        specs.append("spec leaves AG forall x. (P(x) -> EX ~P(x))")
    return parse_deployment(
        "\n".join(
            [
                "deployment generated",
                "sort a",
                f"bound a {bound}",
                "relation P(a)",
                "relation Q(a)",
                "relation On()",
                "relation Seen()",
                "tool flip()\n  effect\n    delete On() where On()\n    insert On() where ~On()",
                "tool drop()\n  effect\n    clear P",
                *tools,
                f"tool see()\n  guard atleast {max(bound, 1)} x. P(x)\n  effect\n    insert Seen()",
                *specs,
            ]
        )
    )
