"""Errands: a few items pass through stages, by tools and events that may use something up, or bring it back.

Some of them come to an end, each in its own way: a stage is left for good, a note is made once, a slot is
taken, or a pair is turned round; others undo what they did.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

_LITERALS = (
    "At(i, {s})",
    "~At(i, {s})",
    "Held(i)",
    "~Held(i)",
    "Noted(i)",
    "~Noted(i)",
    "~Held(_)",
    "~Noted(_)",
    "Slot()",
    "~Slot()",
    "(At(i, {s}) | At(i, {t}))",
    "(Held(i) | Noted(i))",
    "(~Noted(i) | Slot())",
    "Next(i, j)",
    "~Next(i, j)",
    "Held(j)",
    "i != j",
    "exists k. Next(i, k)",
    "~exists k. (Held(k) & ~Noted(k))",
    "Asked({s})",
    "exists u. (Asked(u) & At(i, u))",
)
_STATEMENTS = (
    "set At(i, {s})",
    "set At(i, {s})",
    "insert Held(i)",
    "delete Held(i)",
    "clear Held",
    "insert Noted(i)",
    "delete Noted(i)",
    "delete Noted(_)",
    "insert Slot()",
    "delete Slot()",
    "delete Next(i, j)\n    insert Next(j, i)",
    "delete Next(i, _)",
    "insert Next(i, j)",
    "set At(k, {s}) for k where Held(k)",
    "insert Noted(k) for k where Next(i, k)",
    "clear Asked\n    insert Asked({s})",
    "delete At(i, _)",
)
_ABOUT = ("At(x, {s})", "Held(x)", "Noted(x)", "Next(x, _)", "~Held(x)", "~Noted(x)", "(Held(x) & ~Noted(x))")


def errand(seed: int) -> str:
    """Return the file of a deployment; the agent has the policy `rules`."""
    draw = Random(seed)
    stages = ["new", "open", "shut"]

    def filled(text: str) -> str:
        return text.format(s=draw.choice(stages), t=draw.choice(stages), events="")

    parts = list[str]()
    names: dict[str, list[str]] = {"event": [], "tool": []}
    for number in range(draw.randint(3, 6)):
        kind = draw.choice(["event", "tool", "tool"])
        name = f"{kind[0]}{number}"
        names[kind].append(name)
        guard = [filled(one) for one in draw.sample(_LITERALS, draw.randint(1, 3))]
        effects = [_effect(draw, filled) for _ in range(draw.choice([1, 1, 1, 2]))]
        two = any("j" in text for text in (*guard, *effects))
        params = "i: item, j: item" if two else "i: item"
        active = ["At(i, _)"] + ["At(j, _)"] * two if draw.random() < 0.8 else []
        lines = "\n".join(f"  effect\n    {effect}" for effect in effects)
        parts.append(f"{kind} {name}({params})\n  guard {' & '.join([*active, *guard])}\n{lines}")
        names[name] = [params]
    if draw.random() < 0.3:
        names["event"].append("come")
        when = draw.choice(["Slot()", "~Noted(_)", "~Held(_) & Slot()"])
        then = draw.choice(["delete Slot()", "insert Noted(i)", "delete Slot()\n    insert Noted(i)"])
        parts.append(
            f"event come()\n  guard {when}\n  effect\n    fresh i: item\n    insert At(i, new)\n    {then}"
        )
    names["tool"].append("rest")
    parts.append("tool rest()" + draw.choice(["", "\n  guard Held(_)", "\n  guard ~Held(_)"]))
    rules = [_rule(draw, filled, name, names[name][0]) for name in names["tool"] if name != "rest"]
    draw.shuffle(rules)
    fair = "\n".join(f"fair event {one}" for one in names["event"] if draw.random() < 0.7)
    fair += draw.choice(["", "\nfair agent", ""])
    facts = [f"At(i{k}, {draw.choice(stages)})" for k in (1, 2)]
    facts += [
        fact
        for fact in ("Held(i1)", "Noted(i2)", "Slot()", "Next(i1, i2)", "Asked(new)")
        if draw.random() < 0.5
    ]
    specs = (f"spec s{k} {filled(draw.choice(_ABOUT).replace('(x', '(i1'))}" for k in range(3))
    return "\n".join(
        (
            "deployment errands",
            "sort item",
            f"sort stage = {{ {', '.join(stages)} }}",
            "relation At(item key, stage)\nrelation Held(item)\nrelation Noted(item)\nrelation Slot()",
            "relation Next(item, item)\nrelation Asked(stage)",
            "init\n  " + "\n  ".join(facts),
            "bound item 1",
            *parts,
            "policy rules",
            *rules,
            "  call rest()",
            fair,
            draw.choice(["", "terminal when true"]),
            *specs,
        )
    )


def specifications(seed: int) -> list[str]:
    """Return questions about what every item comes to."""
    draw = Random(-seed)

    def one() -> str:
        return draw.choice(_ABOUT).format(s=draw.choice(["new", "open", "shut"]))

    found = [f"AG forall x. ({one()} -> AF {one()})" for _ in range(6)]
    found += [f"AG forall x. ({one()} -> A[{one()} U {one()}])" for _ in range(2)]
    found += ["AF Slot()", "AG (Slot() -> AF ~Slot())", "AG ((exists x. Held(x)) -> AF ~exists x. Held(x))"]
    return found


def _effect(draw: Random, filled: Callable[[str], str]) -> str:
    return "\n    ".join(filled(one) for one in draw.sample(_STATEMENTS, draw.choice([1, 1, 2])))


def _rule(draw: Random, filled: Callable[[str], str], name: str, params: str) -> str:
    args = ", ".join(part.split(":")[0] for part in params.split(", "))
    when = draw.choice(["", "", " when Held(i)", " when ~Noted(i)", filled(" when At(i, {s})")])
    return f"  call {name}({args}){when}"
