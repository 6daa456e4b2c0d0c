"""Deployments whose tools write many facts at once, and whose specifications are about some record.

Beside `generated.crowds`: all conditions are about few relations of one column, so that two statements of one
tool often read the same condition of different records, and two sentences are true of different records.
"""

from __future__ import annotations

from random import Random

RELATIONS = "ABCD"


class Bulk:
    """The text of one deployment, by a seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._pair = self._random.sample(RELATIONS, 2)

    def _relation(self) -> str:
        return self._random.choice(RELATIONS)

    def _source(self) -> str:
        """A relation, rarely one of the two into which records are sorted."""
        others = [name for name in RELATIONS if name not in self._pair]
        return self._random.choice(others) if self._random.random() < 0.8 else self._relation()

    def _condition(self, variable: str) -> str:
        """A conjunction of literals about a record, some of them about another."""
        other = "j" if variable == "i" else "i"
        literals = [
            f"{self._relation()}({variable})",
            f"~{self._relation()}({variable})",
            f"(exists {other}. ({self._relation()}({other}) & {other} != {variable}))",
        ]
        chosen = self._random.choices(literals, (3, 3, 1), k=self._random.choice((1, 2, 2, 3)))
        return " & ".join([f"{self._relation()}({variable})", *chosen[1:]] if len(chosen) > 1 else chosen)

    def _sentence(self) -> str:
        """A sentence with a quantifier."""
        variable = self._random.choice("ij")
        return f"({'~' * self._random.choice((0, 0, 1))}(exists {variable}. {self._condition(variable)}))"

    def _statement(self) -> str:
        """A statement about many records."""
        variable = self._random.choice("ij")
        kind = self._random.choice(("clear", "insert", "insert", "delete"))
        if kind == "clear":
            return f"clear {self._relation()}"
        return f"{kind} {self._relation()}({variable}) for {variable} where {self._condition(variable)}"

    def _statements(self) -> list[str]:
        """The statements of a tool; some sort the records by a condition into two relations."""
        if self._random.random() < 0.5:
            return [self._statement() for _ in range(self._random.choice((2, 3, 4)))]
        (one, other), variable = self._pair, self._random.choice("ij")
        read, source = self._condition(variable), self._source()
        return [
            *(f"clear {relation}" for relation in (one, other) if self._random.random() < 0.8),
            f"insert {one}({variable}) for {variable} where {source}({variable}) & {read}",
            f"insert {other}({variable}) for {variable} where {source}({variable}) & ~({read})",
        ]

    def _alarm(self) -> str:
        """Two sentences at once, often that there are records of either kind."""
        if self._random.random() < 0.5:
            return f"{self._sentence()} & {self._sentence()}"
        one, other = self._pair
        return f"(exists i. {one}(i)) & (exists j. {other}(j))"

    def text(self) -> str:
        """The deployment: records arrive and are marked, tools move them, and an alarm notices a sentence."""
        facts = [f"  {self._relation()}({record})" for record in self._random.choice(("", "r", "rs"))]
        tools = [
            f"tool t{k}()\n"
            + f"  guard {self._sentence()}\n" * self._random.choice((0, 1))
            + "  effect\n"
            + "".join(f"    {statement}\n" for statement in self._statements())
            for k in range(self._random.choice((1, 2)))
        ]
        return "\n".join((
            "deployment bulk\nsort item",
            *(f"relation {name}(item)" for name in RELATIONS),
            "relation Alarm()\nbound item 2",
            *(["init", *facts] if facts else []),
            f"event arrive()\n  guard atmost 1 i. ({' | '.join(f'{name}(i)' for name in RELATIONS)})",
            f"  effect\n    fresh n: item\n    insert {self._source()}(n)",
            f"event mark(i: item)\n  guard {self._condition('i')}\n  effect\n    insert {self._source()}(i)",
            *tools,
            "tool idle()",
            f"event alarm()\n  guard {self._alarm()}\n  effect\n    insert Alarm()",
            "spec quiet AG ~Alarm()",
            f"spec next AG ({self._sentence()} -> AX {self._sentence()})",
            f"spec never {self._sentence()}",
        ))  # fmt: skip
